//! Two ways of writing that a file allows to spare its author brackets: a bare name for a table with nothing but its
//! `kind`, and a single table for a list of one.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A choice with parameters: `"rfc6298"`, or `{ kind = "rfc6298", min = "200 ms" }`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Named<T>(pub T);

impl<T: Serialize> Serialize for Named<T> {
    /// As the bare name if there is nothing else to say.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = serde_json::to_value(&self.0).map_err(serde::ser::Error::custom)?;
        match whole.as_object().and_then(|table| if table.len() == 1 { table.get("kind") } else { None }) {
            Some(Value::String(name)) => serializer.serialize_str(name),
            _ => self.0.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for NameOrTable<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a table")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
                T::deserialize(MapDeserializer::new(std::iter::once(("kind", name))))
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table))
            }
        }

        deserializer.deserialize_any(NameOrTable(PhantomData)).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = names_without_parameters(T::json_schema(generator).as_value());
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, table] })
    }
}

/// The kinds all of whose parameters have defaults.
fn names_without_parameters(schema: &Value) -> Vec<Value> {
    let kinds = schema.get("oneOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    kinds
        .iter()
        .filter(|kind| kind.get("required").and_then(Value::as_array).is_some_and(|keys| keys.len() == 1))
        .filter_map(|kind| kind.pointer("/properties/kind/const").cloned())
        .collect()
}

/// A list that may be written without brackets if it has one entry.
#[derive(Clone, PartialEq, Debug)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> OneOrMany<T> {
    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableOrList<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for TableOrList<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table or a list of tables")
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Vec<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(|one| vec![one])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list))
            }
        }

        deserializer.deserialize_any(TableOrList(PhantomData)).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
