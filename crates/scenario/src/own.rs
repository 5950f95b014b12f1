//! A choice that may be an algorithm of the user: a built-in one by its name, or `"python:NAME"`.

use netspurt_sim::host::app::Application;
use netspurt_sim::host::own::Make;
use netspurt_tcp::congestion::CongestionControl;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::transmit::Policy;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The prefix of the name of a user's algorithm.
pub(crate) const PREFIX: &str = "python:";

/// How the schema marks a text that may name one.
pub(crate) const FORMAT: &str = "own-algorithm";

/// The name of a user's algorithm, written `"python:NAME"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnName(String);

impl OwnName {
    /// The name without the prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The error in a text that begins like one.
    pub(crate) fn fault(text: &str) -> Option<String> {
        let name = text.strip_prefix(PREFIX)?;
        let fine = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '-';
        (name.is_empty() || !name.chars().all(fine)).then(|| {
            format!(
                "\"{text}\" names no algorithm: write \"{PREFIX}NAME\", with a name of letters, digits and _"
            )
        })
    }
}

impl Serialize for OwnName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{PREFIX}{}", self.0))
    }
}

impl<'de> Deserialize<'de> for OwnName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fault = || serde::de::Error::custom(format!("\"{text}\" does not begin with \"{PREFIX}\""));
        text.strip_prefix(PREFIX).map(|name| Self(name.to_owned())).ok_or_else(fault)
    }
}

impl JsonSchema for OwnName {
    fn schema_name() -> Cow<'static, str> {
        "OwnName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": FORMAT,
            "pattern": "^python:[\\w.-]+$",
            "description": "A class of the user's own, by the name under which the run was given it.",
        })
    }
}

/// A built-in choice, or one of the user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Choice<T> {
    /// One of the user.
    Own(OwnName),
    /// A built-in one.
    BuiltIn(T),
}

impl<T: Clone> Choice<T> {
    /// The built-in one, if it is.
    pub fn built_in(&self) -> Option<T> {
        match self {
            Self::BuiltIn(choice) => Some(choice.clone()),
            Self::Own(_) => None,
        }
    }

    /// The name of the user's algorithm, if it is one.
    pub fn own(&self) -> Option<&str> {
        match self {
            Self::Own(name) => Some(name.as_str()),
            Self::BuiltIn(_) => None,
        }
    }
}

impl<T: JsonSchema> JsonSchema for Choice<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrOwn", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (built_in, own) = (generator.subschema_for::<T>(), generator.subschema_for::<OwnName>());
        json_schema!({ "anyOf": [built_in, own] })
    }
}

/// Finds the algorithms that a scenario names `"python:NAME"`. Each method returns a function that makes the algorithm, or
/// a sentence that says why there is none.
#[expect(clippy::missing_errors_doc, reason = "said above, for all of them")]
pub trait Algorithms {
    /// A congestion control.
    fn congestion(&self, name: &str) -> Result<Make<dyn CongestionControl>, String>;
    /// An RTO estimator.
    fn rto(&self, name: &str) -> Result<Make<dyn RtoEstimator>, String>;
    /// A transmission policy.
    fn transmit(&self, name: &str) -> Result<Make<dyn Policy>, String>;
    /// One end of an application.
    fn application(&self, name: &str) -> Result<Make<dyn Application>, String>;
}

/// There are no algorithms of the user.
#[derive(Clone, Copy, Debug)]
pub struct NoAlgorithms;

impl NoAlgorithms {
    fn none<T>(name: &str) -> Result<T, String> {
        Err(format!("no algorithm \"{name}\" was given: only a run from Python can have one of its own"))
    }
}

impl Algorithms for NoAlgorithms {
    fn congestion(&self, name: &str) -> Result<Make<dyn CongestionControl>, String> {
        Self::none(name)
    }
    fn rto(&self, name: &str) -> Result<Make<dyn RtoEstimator>, String> {
        Self::none(name)
    }
    fn transmit(&self, name: &str) -> Result<Make<dyn Policy>, String> {
        Self::none(name)
    }
    fn application(&self, name: &str) -> Result<Make<dyn Application>, String> {
        Self::none(name)
    }
}
