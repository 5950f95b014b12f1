//! Path models: `path = "leo"` on a link stands for plain keys of the link, and for changes of it.
//!
//! Lives here: the models, which are data (`models/*.toml`), and their expansion in the tree of a file. Must not live here:
//! the meaning of a key. An expanded model is checked as if its keys had been written in the file.
//!
//! | where | holds |
//! | --- | --- |
//! | `models/` | a file for each model: text, parameters, sources, figures, keys of the link, changes |
//! | `model.rs` | such a file as a type |
//! | `expand.rs` | from `path` to plain keys |

mod expand;
mod model;

pub(crate) use expand::tree;
pub(crate) use model::{MODELS, Model};

use serde_json::{Value as Json, json};

/// The key of a link that names a model.
const KEY: &str = "path";

/// Adds the key `path` to the schema of a link. The types do not have it, because it is replaced while a file is read.
pub(crate) fn admit(schema: &mut Json) {
    let names = MODELS.iter().map(|model| json!({ "const": model.name, "description": model.facts.title }));
    let tables = MODELS.iter().map(|model| {
        let parameters = model.facts.parameter.iter().map(|(name, parameter)| {
            let value = json!({
                "type": "string",
                "description": parameter.meaning,
                "default": parameter.default,
            });
            (name.clone(), value)
        });
        let model = ("model".to_owned(), json!({ "const": model.name, "description": model.facts.summary }));
        let properties: serde_json::Map<String, Json> = std::iter::once(model).chain(parameters).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": ["model"],
            "additionalProperties": false,
        })
    });
    let forms: Vec<Json> = names.chain(tables).collect();
    schema["$defs"]["Path"] = json!({
        "description": "A path model: its name, or a table with its name and its parameters.",
        "anyOf": forms,
    });
    schema["$defs"]["Link"]["properties"][KEY] = json!({
        "description": "A path model: it stands for keys of the link and for changes of it. Keys that are written beside it \
                        replace those of the model. The first node of `between` is the user's side. Default: none.",
        "$ref": "#/$defs/Path",
    });
}
