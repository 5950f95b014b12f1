//! Replaces `path` on a link by the plain keys that it stands for, in the tree of the file.
//!
//! A value of the model has the place of the key `path`, so that an error points there; a parameter has its own place.

use super::KEY;
use super::model::Model;
use crate::reading::tree::{At, Entry, Fault, Node, Value};
use crate::values::{path, suggest};
use indexmap::IndexMap;

type Table = IndexMap<String, Entry>;

/// The tree of a file with its overrides applied and all path models expanded.
///
/// An override of a whole key of a link counts as if it were written beside `path`. An override inside a value of the model
/// (`link.x.queue.limit`) is applied after the model is expanded.
pub(crate) fn tree(text: &str, overrides: &[(&str, &str)]) -> Result<Node, Fault> {
    let mut tree = Node::parse(text)?;
    let mut waiting = Vec::new();
    for (index, (path, value)) in overrides.iter().enumerate() {
        if reaches_into_model(&tree, path) {
            waiting.push((index, path, value));
        } else {
            tree.set(path, value, index)?;
        }
    }
    expand(&mut tree)?;
    for (index, path, value) in waiting {
        tree.set(path, value, index)?;
    }
    Ok(tree)
}

fn reaches_into_model(tree: &Node, written: &str) -> bool {
    let Ok(steps) = path::split(written) else { return false };
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let ["link", name, key, _, ..] = steps[..] else { return false };
    key != KEY && tree.has(&["link", name, KEY]) && !tree.has(&["link", name, key])
}

/// Replaces every `path` by plain keys.
fn expand(tree: &mut Node) -> Result<(), Fault> {
    let Value::Table(file) = &mut tree.value else { return Ok(()) };
    let Some(Entry { node: Node { value: Value::Table(links), .. }, .. }) = file.get_mut("link") else {
        return Ok(());
    };
    let mut changes = Vec::new();
    for (name, link) in links {
        let Value::Table(keys) = &mut link.node.value else { continue };
        if let Some(written) = keys.shift_remove(KEY) {
            let chosen = Chosen::read(name, written.node)?;
            chosen.put(name, keys, &mut changes);
        }
    }
    let Some(first) = changes.first() else { return Ok(()) };
    let at = first.at;
    let none = || Entry { key_at: at, node: Node { at, value: Value::Array(Vec::new()) } };
    // A value that is not a list is left to the check of the shape.
    if let Value::Array(list) = &mut file.entry("change".to_owned()).or_insert_with(none).node.value {
        list.extend(changes);
    }
    Ok(())
}

/// A model, and the parameters that the file gives.
struct Chosen {
    model: &'static Model,
    at: At,
    given: Table,
}

impl Chosen {
    fn read(link: &str, written: Node) -> Result<Self, Fault> {
        let fault = |at, message: String| Fault { at, message: format!("link.{link}.{KEY}: {message}") };
        let known = || Model::names().collect::<Vec<_>>().join(", ");
        let at = written.at;
        let (name, name_at, given) = match written.value {
            Value::String(name) => (name, at, Table::new()),
            Value::Table(mut table) => {
                // An override of a parameter turns a name without parameters into a table with a kind.
                let named = ["model", "kind"].into_iter().find_map(|key| table.shift_remove(key));
                match named.map(|entry| entry.node) {
                    Some(Node { at, value: Value::String(name) }) => (name, at, table),
                    Some(Node { at, .. }) => {
                        return Err(fault(at, format!("the model must be a name: one of {}", known())));
                    }
                    None => {
                        let message = format!(
                            "the key \"model\" is missing: write {{ model = \"…\" }}, one of {}",
                            known()
                        );
                        return Err(fault(at, message));
                    }
                }
            }
            _ => {
                let message = format!("expected a path model: one of {}, or a table with a model", known());
                return Err(fault(at, message));
            }
        };
        let Some(model) = Model::by_name(&name) else {
            let message = format!("unknown path model \"{name}\": {}", suggest::among(&name, Model::names()));
            return Err(fault(name_at, message));
        };
        for (key, entry) in &given {
            if !model.facts.parameter.contains_key(key) {
                let known = model.facts.parameter.keys().map(String::as_str);
                let message = if model.facts.parameter.is_empty() {
                    format!(
                        "the path model \"{name}\" has no parameters: write the keys of the link beside it instead"
                    )
                } else {
                    let known = suggest::among(key, known);
                    format!("the path model \"{name}\" has no parameter \"{key}\": {known}")
                };
                return Err(fault(entry.key_at, message));
            }
            if !matches!(entry.node.value, Value::String(_)) {
                let example = &model.facts.parameter[key].default;
                let message =
                    format!("the parameter \"{key}\" is a text with its unit, such as \"{example}\"");
                return Err(fault(entry.node.at, message));
            }
        }
        Ok(Self { model, at, given })
    }

    /// Adds the missing keys to those of the link, and the changes of the model to the changes.
    fn put(&self, link: &str, keys: &mut Table, changes: &mut Vec<Node>) {
        let own: Vec<String> = keys.keys().cloned().collect();
        let replaced = |key: &str| {
            let key = key.split('.').next().unwrap_or(key);
            own.iter().any(|own| own == key || (own == "trace" && key == "rate"))
        };
        let Ok(Node { value: Value::Table(mut model), .. }) = Node::parse(self.model.text) else { return };
        if let Some(Entry { node: Node { value: Value::Table(model), .. }, .. }) = model.shift_remove("link")
        {
            for (key, entry) in model {
                if !replaced(&key) {
                    keys.insert(key, Entry { key_at: self.at, node: self.filled(entry.node) });
                }
            }
        }
        let Some(Entry { node: Node { value: Value::Array(list), .. }, .. }) = model.shift_remove("change")
        else {
            return;
        };
        for change in list {
            let mut change = self.filled(change);
            if let Value::Table(table) = &mut change.value
                && let Some(Entry { node: Node { value: Value::Table(set), .. }, .. }) = table.get_mut("set")
            {
                let named = |(key, entry): (String, Entry)| (format!("link.{}.{key}", quoted(link)), entry);
                *set = std::mem::take(set).into_iter().filter(|(key, _)| !replaced(key)).map(named).collect();
                if !set.is_empty() {
                    changes.push(change);
                }
            }
        }
    }

    /// A value of the model, with the parameters filled in.
    fn filled(&self, node: Node) -> Node {
        let value = match node.value {
            Value::String(text) => {
                let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
                let Some((name, parameter)) =
                    name.and_then(|name| self.model.facts.parameter.get_key_value(name))
                else {
                    return Node { at: self.at, value: Value::String(text) };
                };
                match self.given.get(name) {
                    Some(given) => return given.node.clone(),
                    None => Value::String(parameter.default.clone()),
                }
            }
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.filled(item)).collect()),
            Value::Table(table) => Value::Table(
                table
                    .into_iter()
                    .map(|(key, entry)| (key, Entry { key_at: self.at, node: self.filled(entry.node) }))
                    .collect(),
            ),
            plain => plain,
        };
        Node { at: self.at, value }
    }
}

/// A name as a step of a path.
fn quoted(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}
