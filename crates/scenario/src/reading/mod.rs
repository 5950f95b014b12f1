//! From text to a type: parses TOML and keeps the place of every key and value, applies overrides, and compares the shape
//! with the type's schema. An error is a sentence and its place.
//!
//! Lives here: what every kind of file needs. Must not live here: any key.

pub(crate) mod error;
mod shape;
mod syntax;
pub(crate) mod tree;

pub(crate) use shape::{forms, kind_of};

use crate::values::share;
use schemars::{JsonSchema, Schema, transform::RecursiveTransform};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tree::{At, Fault, Node};

/// The schema of a type.
pub(crate) fn schema_of<T: JsonSchema>() -> serde_json::Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(|schema: &mut Schema| without_null(schema)))
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    share::admit(&mut schema);
    schema
}

/// Reads text with overrides as a type, using the type's schema.
pub(crate) fn shaped<T: DeserializeOwned>(
    schema: &serde_json::Value,
    text: &str,
    overrides: &[(&str, &str)],
) -> Result<(Node, T), Fault> {
    let mut tree = Node::parse(text)?;
    for (index, (path, value)) in overrides.iter().enumerate() {
        tree.set(path, value, index)?;
    }
    shaped_tree(schema, tree)
}

/// Reads a tree as a type, using the type's schema.
pub(crate) fn shaped_tree<T: DeserializeOwned>(
    schema: &serde_json::Value,
    mut tree: Node,
) -> Result<(Node, T), Fault> {
    shape::check(schema, &mut tree)?;
    // The shape is correct, so this does not fail. If the two checks ever disagree, the error names the whole file.
    let read = T::deserialize(tree.to_toml())
        .map_err(|error| Fault { at: At::File(0), message: error.message().trim().replace('\n', "; ") })?;
    Ok((tree, read))
}

/// TOML has no null: an optional key without a value is left out.
fn without_null(schema: &mut Schema) {
    let null = |value: &serde_json::Value| value == "null" || value["type"] == "null";
    for key in ["type", "anyOf"] {
        let Some(serde_json::Value::Array(list)) = schema.get_mut(key) else { continue };
        list.retain(|value| !null(value));
        if list.len() != 1 {
            continue;
        }
        let only = list.remove(0);
        schema.remove(key);
        match only {
            serde_json::Value::Object(inner) => {
                for (key, value) in inner {
                    if schema.get(&key).is_none() {
                        schema.insert(key, value);
                    }
                }
            }
            only => {
                schema.insert(key.to_owned(), only);
            }
        }
    }
    if schema.get("default").is_some_and(serde_json::Value::is_null) {
        schema.remove("default");
    }
}

/// The text of a file with these values.
///
/// It is made from a [`toml::Value`]: each type is then compiled for one serializer, not for the five that write TOML directly.
pub(crate) fn written<T: Serialize>(values: &T) -> String {
    let tree = toml::Value::try_from(values).expect("every type in the tree has a form in TOML");
    toml::to_string(&tree).expect("every value has a form in TOML")
}
