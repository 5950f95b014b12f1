//! A path model: its text, its parameters, where its numbers are from, and the keys that it stands for.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A path model.
#[derive(Debug)]
pub(crate) struct Model {
    /// As a scenario file calls it.
    pub(crate) name: &'static str,
    /// Its file.
    pub(crate) text: &'static str,
    /// What its file says of it.
    pub(crate) facts: Facts,
}

/// What the file of a model says of it, besides its keys.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// A few words.
    pub(crate) title: String,
    /// One or two sentences.
    pub(crate) summary: String,
    /// What is modelled, with the keys that do it.
    pub(crate) modelled: Vec<String>,
    /// What is not.
    pub(crate) not_modelled: Vec<String>,
    /// What a user may choose.
    #[serde(default)]
    pub(crate) parameter: IndexMap<String, Parameter>,
    /// Where its numbers are from.
    pub(crate) source: Vec<Source>,
    /// Published figures beside which the model is measured.
    #[serde(default)]
    pub(crate) figure: Vec<Figure>,
}

/// What a user may choose.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameter {
    /// Its value where the user gives none.
    pub(crate) default: String,
    /// What it is.
    pub(crate) meaning: String,
}

/// Where a number is from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Authors, title, where and when; or `choice`.
    pub(crate) cite: String,
    /// What the model takes from there.
    pub(crate) gives: String,
}

/// A figure of a source, which the tests measure on the model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// What is measured.
    pub(crate) quantity: Measured,
    /// Of all values, the one that this share lies below. None for a mean.
    #[serde(default)]
    pub(crate) quantile: Option<f64>,
    /// The published value: milliseconds, or Mbit/s.
    pub(crate) published: f64,
    /// How far, as a share of it, the model may be away.
    pub(crate) within: f64,
    /// Number of its source in the list, from 0.
    pub(crate) source: usize,
}

/// What a figure is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Measured {
    /// Round trip of small packets on the idle path, ms.
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

/// All models, in the order in which they are listed.
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
    /// The model of a name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// The names of all.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        MODELS.iter().map(|model| model.name)
    }
}
