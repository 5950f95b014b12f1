//! Checks whether a file has the shape that the schema describes: known keys, known names, units, ranges.
//!
//! The schema comes from the types, so only what is declared there is checked. The check follows the file as it was
//! written, so an error has the place of the wrong key or value.

use crate::own;
use crate::reading::tree::{At, Entry, Fault, Node, Value};
use crate::values::{decimal, directed, quantity, share, suggest};
use indexmap::IndexMap;
use serde_json::Value as Json;

/// The first error in `node`. A percentage becomes a number.
pub(crate) fn check(schema: &Json, node: &mut Node) -> Result<(), Fault> {
    Walk { root: schema, path: Vec::new() }.value(schema, node)
}

struct Walk<'a> {
    root: &'a Json,
    path: Vec<String>,
}

impl<'a> Walk<'a> {
    fn fault(&self, at: At, message: impl AsRef<str>) -> Fault {
        let place = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path.join(".")) };
        Fault { at, message: format!("{place}{}", message.as_ref()) }
    }

    fn value(&mut self, schema: &'a Json, node: &mut Node) -> Result<(), Fault> {
        let forms = forms(self.root, schema);
        let form = |wanted: &str| forms.iter().find(|form| form["type"] == wanted).copied();
        let at = node.at;
        let mismatch = || self.fault(at, format!("expected {}", expected(self.root, &forms, &self.path)));
        if forms.iter().any(|form| form["format"] == share::FORMAT)
            && let Value::String(text) = &node.value
        {
            let share = share::parse(text).map_err(|message| self.fault(at, message))?;
            node.value = Value::Float(share);
        }
        match &mut node.value {
            Value::String(text) => self.text(&forms, node.at, text),
            Value::Boolean(_) => form("boolean").map(drop).ok_or_else(mismatch),
            Value::Integer(number) => {
                if let Some(format) = forms.iter().find_map(|form| quantity_of(form)) {
                    let units = format.units.iter().copied();
                    return Err(self.fault(node.at, decimal::no_unit(&number.to_string(), units)));
                }
                let form = form("integer").or_else(|| form("number")).ok_or_else(mismatch)?;
                self.range(form, node.at, *number as f64)
            }
            Value::Float(number) => {
                if let Some(format) = forms.iter().find_map(|form| quantity_of(form)) {
                    let units = format.units.iter().copied();
                    return Err(self.fault(node.at, decimal::no_unit(&number.to_string(), units)));
                }
                if names(&forms).contains(&format!("{number:?}").as_str()) {
                    let message =
                        format!("{number:?} is a name here: write it in quotation marks, \"{number:?}\"");
                    return Err(self.fault(node.at, message));
                }
                self.range(form("number").ok_or_else(mismatch)?, node.at, *number)
            }
            Value::Date => Err(mismatch()),
            Value::Array(items) => {
                // Among several forms, a list inside the list selects the form with two directions.
                let lists = || forms.iter().filter(|form| form["type"] == "array").copied();
                let nested = items.iter().any(|item| matches!(item.value, Value::Array(_)));
                let meant = lists().find(|form| is_directed(form) == nested);
                let form = meant.or_else(|| lists().next()).ok_or_else(mismatch)?;
                self.list(form, node.at, items)
            }
            Value::Table(table) => {
                let tables: Vec<&Json> =
                    forms.iter().filter(|form| form["type"] == "object").copied().collect();
                if tables.is_empty() {
                    return Err(mismatch());
                }
                self.one_of(&tables, node.at, table)
            }
        }
    }

    fn text(&self, forms: &[&Json], at: At, text: &str) -> Result<(), Fault> {
        if let Some(format) = forms.iter().find_map(|form| quantity_of(form)) {
            return (format.check)(text).map_err(|message| self.fault(at, message));
        }
        if forms.iter().any(|form| form["format"] == own::FORMAT) && text.starts_with(own::PREFIX) {
            return own::OwnName::fault(text).map_or(Ok(()), |message| Err(self.fault(at, message)));
        }
        let names = names(forms);
        if !names.is_empty() {
            if names.contains(&text) {
                return Ok(());
            }
            let needy = forms.iter().filter_map(|form| kind_of(form)).any(|kind| kind == text);
            return Err(self.fault(
                at,
                if needy {
                    format!("\"{text}\" has parameters without default: write {{ kind = \"{text}\", … }}")
                } else {
                    format!("unknown name \"{text}\": {}", suggest::among(text, names.into_iter()))
                },
            ));
        }
        if forms.iter().any(|form| form["type"] == "string") {
            return Ok(());
        }
        Err(self.fault(at, format!("expected {}", expected(self.root, forms, &self.path))))
    }

    fn range(&self, form: &Json, at: At, number: f64) -> Result<(), Fault> {
        let bound = |name: &str| form[name].as_f64();
        let (least, most) = (bound("minimum"), bound("maximum"));
        // A comparison with NaN is false.
        if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
            return Ok(());
        }
        let allowed = match (least, most) {
            (Some(least), Some(most)) => format!("between {least} and {most}"),
            (Some(least), None) => format!("at least {least}"),
            (None, Some(most)) => format!("at most {most}"),
            (None, None) => "a number".to_owned(),
        };
        Err(self.fault(at, format!("{number} is out of range: it must be {allowed}")))
    }

    fn list(&mut self, form: &'a Json, at: At, items: &mut [Node]) -> Result<(), Fault> {
        let count = items.len() as u64;
        let least = form["minItems"].as_u64().unwrap_or(0);
        let most = form["maxItems"].as_u64().unwrap_or(u64::MAX);
        if (count < least || count > most) && is_directed(form) {
            return Err(self.fault(
                at,
                format!(
                    "there are {count} entries, but a link has two directions: write one value for both, or a list of \
                     two, from the first node of \"between\" to the second and back"
                ),
            ));
        }
        if count < least || count > most {
            let wanted = if least == most { format!("{least}") } else { format!("at least {least}") };
            let have =
                if count == 1 { "there is 1 entry".to_owned() } else { format!("there are {count} entries") };
            return Err(self.fault(at, format!("{have}: there must be {wanted}")));
        }
        for (index, item) in items.iter_mut().enumerate() {
            self.path.push(index.to_string());
            self.value(&form["items"], item)?;
            self.path.pop();
        }
        Ok(())
    }

    /// A table with several forms, distinguished by `kind`.
    fn one_of(
        &mut self,
        tables: &[&'a Json],
        at: At,
        table: &mut IndexMap<String, Entry>,
    ) -> Result<(), Fault> {
        let kinds: Vec<&str> = tables.iter().filter_map(|form| kind_of(form)).collect();
        if kinds.is_empty() {
            return self.table(tables[0], at, table);
        }
        let Some(kind) = table.get("kind") else {
            let known = kinds.join(", ");
            return Err(self.fault(at, format!("the table needs a key \"kind\", one of {known}")));
        };
        let Value::String(name) = &kind.node.value else {
            return Err(self.fault(kind.node.at, format!("kind must be one of {}", kinds.join(", "))));
        };
        match tables.iter().find(|form| kind_of(form) == Some(name)) {
            Some(form) => self.table(form, at, table),
            None => {
                let known = suggest::among(name, kinds.into_iter());
                Err(self.fault(kind.node.at, format!("unknown kind \"{name}\": {known}")))
            }
        }
    }

    /// Whether the key of a table of named tables, such as `[link]`, is one that the named tables have.
    fn lacks_name(&self, named: &Json, key: &str, value: &Value) -> bool {
        let is_key = |form: &&Json| form["properties"].get(key).is_some();
        !matches!(value, Value::Table(_)) && forms(self.root, named).iter().any(is_key)
    }

    fn table(&mut self, form: &'a Json, at: At, table: &mut IndexMap<String, Entry>) -> Result<(), Fault> {
        let keys = form["properties"].as_object();
        for (key, entry) in &mut *table {
            let inner = match keys.and_then(|keys| keys.get(key)) {
                Some(inner) => inner,
                None if form["additionalProperties"].is_object() => {
                    let inner = &form["additionalProperties"];
                    if self.lacks_name(inner, key, &entry.node.value) {
                        let kind = self.path.last().map_or("", String::as_str);
                        let message = format!(
                            "\"{key}\" is a key of a {kind}, and the table has no name: begin it with [{kind}.NAME]"
                        );
                        return Err(self.fault(entry.key_at, message));
                    }
                    inner
                }
                None => {
                    let known = keys.into_iter().flat_map(|keys| keys.keys().map(String::as_str));
                    let known = match file_with(key) {
                        Some(other) if self.path.is_empty() => other.to_owned(),
                        _ => suggest::among(key, known),
                    };
                    return Err(self.fault(entry.key_at, format!("unknown key \"{key}\": {known}")));
                }
            };
            self.path.push(key.clone());
            self.value(inner, &mut entry.node)?;
            self.path.pop();
        }
        let required = form["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        for key in required {
            if !table.contains_key(key) {
                return Err(self.fault(at, format!("the key \"{key}\" is missing")));
            }
        }
        Ok(())
    }
}

/// What the file is in truth, if it has a key that another kind of file begins with.
fn file_with(key: &str) -> Option<&'static str> {
    match key {
        "scenario" | "grid" | "sample" => Some("this is a sweep, which 'netspurt sweep' reads"),
        "duration" | "link" | "flow" => Some("this is a scenario, which 'netspurt run' reads"),
        _ => None,
    }
}

/// The forms that a value may have, with references resolved and alternatives listed.
pub(crate) fn forms<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    if let Some(target) = schema["$ref"].as_str().and_then(|path| root.pointer(path.trim_start_matches('#')))
    {
        return forms(root, target);
    }
    for alternatives in ["anyOf", "oneOf"] {
        if let Some(list) = schema[alternatives].as_array() {
            return list.iter().flat_map(|form| forms(root, form)).collect();
        }
    }
    vec![schema]
}

/// Whether a list has an entry for each direction of a link.
fn is_directed(form: &Json) -> bool {
    form["format"] == directed::FORMAT
}

/// The `kind` of a tagged table.
pub(crate) fn kind_of(form: &Json) -> Option<&str> {
    form.pointer("/properties/kind/const").and_then(Json::as_str)
}

fn quantity_of(form: &Json) -> Option<quantity::Format> {
    if form["type"] == "string" { form["format"].as_str().and_then(quantity::format) } else { None }
}

/// The names that a value may have.
fn names<'a>(forms: &[&'a Json]) -> Vec<&'a str> {
    let single = forms.iter().filter_map(|form| form["const"].as_str());
    let listed = forms.iter().filter_map(|form| form["enum"].as_array()).flatten().filter_map(Json::as_str);
    single.chain(listed).collect()
}

/// A list, with how it is written if its entries are all tables or all texts.
fn list_of(root: &Json, list: &Json, path: &[String]) -> String {
    let entries = self::forms(root, &list["items"]);
    let all = |wanted: &str| entries.iter().all(|entry| entry["type"] == wanted);
    if all("object") {
        match path {
            [key] => format!("a list of tables, each of which begins with [[{key}]]"),
            _ => "a list of tables".to_owned(),
        }
    } else if all("string") && entries.iter().all(|&entry| quantity_of(entry).is_none()) {
        "a list such as [\"a\", \"b\"]".to_owned()
    } else {
        "a list".to_owned()
    }
}

/// A table, with the keys that it must have, or how tables with names are written.
fn table_of(form: &Json, path: &[String]) -> String {
    let required: Vec<String> =
        form["required"].as_array().into_iter().flatten().map(|key| format!("{key}")).collect();
    match (path, required.as_slice()) {
        ([key], []) if form["additionalProperties"].is_object() => {
            format!("tables with names, each of which begins with [{key}.NAME]")
        }
        (_, []) => "a table".to_owned(),
        (_, [one]) => format!("a table with the key {one}"),
        (_, keys) => format!("a table with the keys {}", keys.join(", ")),
    }
}

/// What would be correct, as text.
fn expected(root: &Json, forms: &[&Json], path: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    if let Some(format) = forms.iter().find_map(|form| quantity_of(form)) {
        let example = format.examples.first().copied().unwrap_or_default();
        words.push(format!("{} such as \"{example}\"", format.meaning));
    }
    let names = names(forms);
    if !names.is_empty() {
        words.push(format!("one of {}", names.join(", ")));
    }
    let kinds: Vec<&str> = forms.iter().filter_map(|form| kind_of(form)).collect();
    if !kinds.is_empty() {
        words.push(format!("a table with kind = one of {}", kinds.join(", ")));
    }
    for form in forms {
        let word = match form["type"].as_str() {
            Some("boolean") => "true or false",
            Some("integer") => "a whole number",
            Some("number") => "a number",
            Some("array") if is_directed(form) => "a list of two for the two directions",
            Some("array") => &list_of(root, form, path),
            Some("object") if kinds.is_empty() => &table_of(form, path),
            Some("string") if form["format"] == share::FORMAT => "a percentage such as \"0.1%\"",
            Some("string") if names.is_empty() && quantity_of(form).is_none() => "a text in quotation marks",
            _ => continue,
        };
        words.push(word.to_owned());
    }
    words.join(", or ")
}
