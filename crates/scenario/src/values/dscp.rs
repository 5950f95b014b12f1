//! Differentiated services codepoints: by name, or by number.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The names of RFC 2474 (CS0 … CS7), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA) and RFC 8622 (LE).
const NAMES: [(&str, u8); 23] = [
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

/// A differentiated services codepoint: `"EF"`, or 46.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Dscp(pub u8);

impl Dscp {
    /// Whether it is the default one.
    pub(crate) fn is_default(&self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => serializer.serialize_str(name),
            None => serializer.serialize_u8(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrNumber;

        impl Visitor<'_> for NameOrNumber {
            type Value = Dscp;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a codepoint by name, or by number from 0 to 63")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Dscp, E> {
                let known = NAMES.iter().find(|(name, _)| *name == text);
                known
                    .map(|(_, number)| Dscp(*number))
                    .ok_or_else(|| E::custom(format!("unknown name \"{text}\"")))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Dscp, E> {
                let codepoint = u8::try_from(number).ok().filter(|number| *number < 64);
                codepoint.map(Dscp).ok_or_else(|| E::custom(format!("{number} is out of range")))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Dscp, E> {
                self.visit_u64(
                    u64::try_from(number).map_err(|_| E::custom(format!("{number} is out of range")))?,
                )
            }
        }

        deserializer.deserialize_any(NameOrNumber)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        json_schema!({
            "description": "a differentiated services codepoint: its name, or its number",
            "anyOf": [{ "type": "string", "enum": names }, { "type": "integer", "minimum": 0, "maximum": 63 }],
        })
    }
}
