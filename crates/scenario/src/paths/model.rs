//! A path model: its text, its parameters, the sources of its numbers, and the keys that it stands for.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A path model.
#[derive(Debug)]
pub(crate) struct Model {
    /// Its name in a scenario file.
    pub(crate) name: &'static str,
    /// Its file.
    pub(crate) text: &'static str,
    /// The descriptive part of its file.
    pub(crate) facts: Facts,
}

/// The descriptive part of a model's file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// A few words.
    pub(crate) title: String,
    /// One or two sentences.
    pub(crate) summary: String,
    /// What is modelled, with the keys for it.
    pub(crate) modelled: Vec<String>,
    /// What is not modelled.
    pub(crate) not_modelled: Vec<String>,
    /// The parameters.
    #[serde(default)]
    pub(crate) parameter: IndexMap<String, Parameter>,
    /// The sources of its numbers.
    pub(crate) source: Vec<Source>,
    /// Published figures that are compared with the model.
    #[serde(default)]
    pub(crate) figure: Vec<Figure>,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameter {
    /// Its default value.
    pub(crate) default: String,
    /// Its meaning.
    pub(crate) meaning: String,
}

/// A source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Authors, title, publication and year; or `choice`.
    pub(crate) cite: String,
    /// The values that the model takes from it.
    pub(crate) gives: String,
}

/// A published figure; the tests measure it on the model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// The measured quantity.
    pub(crate) quantity: Measured,
    /// The quantile of the values; `None` for the mean.
    #[serde(default)]
    pub(crate) quantile: Option<f64>,
    /// The published value: milliseconds, or Mbit/s.
    pub(crate) published: f64,
    /// The accepted difference of the model, as a share of the published value.
    pub(crate) within: f64,
    /// The number of its source in the list, counted from 0.
    pub(crate) source: usize,
}

/// A measured quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measured {
    /// Round-trip time of small packets on the idle path, ms.
    Rtt,
    /// Rate to the user, Mbit/s.
    Down,
    /// Rate from the user, Mbit/s.
    Up,
}

macro_rules! models {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("models/", $name, ".toml")))),*]
    };
}

/// All models, in the order of the list.
pub(crate) static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let files = models![
        "adsl",
        "vdsl",
        "docsis",
        "gpon",
        "wifi",
        "lte",
        "5g",
        "leo",
        "geo",
        "transatlantic",
        "data-centre",
        "cloud-vm",
    ];
    let read = |(name, text)| Model {
        name,
        text,
        facts: toml::from_str(text).unwrap_or_else(|error| panic!("the path model {name}: {error}")),
    };
    files.into_iter().map(read).collect()
});

impl Model {
    /// The model with this name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// The names of all models.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        MODELS.iter().map(|model| model.name)
    }
}
