//! The file as it was written. Each key and value has its place, for error messages.

use super::syntax;
use crate::values::{path, suggest};
use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a key or a value was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum At {
    /// At this byte of the file.
    File(usize),
    /// In the override with this index.
    Override(usize),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) value: Value,
}

/// A key's place, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key_at: At,
    pub(crate) node: Node,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date. No key of a scenario has one.
    Date,
    Array(Vec<Node>),
    Table(IndexMap<String, Entry>),
}

/// An error and its place.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) at: At,
    pub(crate) message: String,
}

/// The part of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Key,
    Value,
}

impl Node {
    /// Reads a whole file.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let message = syntax::explained(error.message().trim(), text, &span);
            Fault { at: At::File(span.start), message }
        })?;
        let at = At::File(table.span().start);
        Ok(Self { at, value: Value::Table(Self::table(table.get_ref(), &At::File)?) })
    }

    fn read(value: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> At) -> Result<Self, Fault> {
        let at = place(value.span().start);
        let out_of_range = |text: &str| Fault { at, message: format!("the number {text} is out of range") };
        let value = match value.get_ref() {
            DeValue::String(text) => Value::String(text.clone().into_owned()),
            DeValue::Integer(number) => Value::Integer(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| out_of_range(&number.to_string()))?,
            ),
            DeValue::Float(number) => {
                let finite = number.as_str().parse().ok().filter(|number: &f64| number.is_finite());
                Value::Float(finite.ok_or_else(|| out_of_range(&number.to_string()))?)
            }
            DeValue::Boolean(flag) => Value::Boolean(*flag),
            DeValue::Datetime(_) => Value::Date,
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| Self::read(item, place)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(Self::table(table, place)?),
        };
        Ok(Self { at, value })
    }

    fn table(table: &DeTable<'_>, place: &impl Fn(usize) -> At) -> Result<IndexMap<String, Entry>, Fault> {
        table
            .iter()
            .map(|(key, value)| {
                let entry = Entry { key_at: place(key.span().start), node: Self::read(value, place)? };
                Ok((key.get_ref().clone().into_owned(), entry))
            })
            .collect()
    }

    /// Sets the value written as `text` at `path`, for the override with this index. The text is read as TOML if possible,
    /// otherwise as a string.
    pub(crate) fn set(&mut self, path: &str, text: &str, index: usize) -> Result<(), Fault> {
        let at = At::Override(index);
        let fault = |message: String| Fault { at, message };
        let mut new = match DeValue::parse(text) {
            Ok(value) => Self::read(&value, &|_| at)?,
            Err(_) => Self { at, value: Value::String(text.to_owned()) },
        };
        new.at = at;
        let steps = path::split(path).map_err(fault)?;
        let mut here = self;
        for (depth, step) in steps.iter().enumerate() {
            here = here.descend(step, &steps[..depth], at).map_err(fault)?;
        }
        *here = new;
        Ok(())
    }

    /// One step down. A missing table is created, and a name without parameters becomes a table with that `kind`.
    fn descend(&mut self, step: &str, above: &[String], at: At) -> Result<&mut Self, String> {
        if let Value::String(name) = &mut self.value {
            let kind = Self { at: self.at, value: Value::String(std::mem::take(name)) };
            let entry = Entry { key_at: self.at, node: kind };
            self.value = Value::Table(IndexMap::from([("kind".to_owned(), entry)]));
            self.at = at;
        }
        match &mut self.value {
            Value::Table(table) => {
                // A new link cannot be made key by key, so an unknown name is an error.
                if above == ["link"] && !table.contains_key(step) {
                    let known = suggest::among(step, table.keys().map(String::as_str));
                    return Err(format!("there is no link \"{step}\": {known}"));
                }
                let missing =
                    || Entry { key_at: at, node: Self { at, value: Value::Table(IndexMap::new()) } };
                Ok(&mut table.entry(step.to_owned()).or_insert_with(missing).node)
            }
            Value::Array(items) => {
                let count = items.len();
                step.parse::<usize>().ok().and_then(|index| items.get_mut(index)).ok_or_else(|| {
                    format!(
                        "\"{step}\" is no index of {}, which has {count}, numbered from 0",
                        above.join(".")
                    )
                })
            }
            _ => Err(format!("{} is no table, so there is no \"{step}\" in it", above.join("."))),
        }
    }

    /// The place of `path`, or of the nearest written entry above it.
    pub(crate) fn locate(&self, path: &[&str], part: Part) -> At {
        let Some((step, rest)) = path.split_first() else { return self.at };
        match &self.value {
            Value::Table(table) => match table.get(*step) {
                Some(entry) if rest.is_empty() && part == Part::Key => entry.key_at,
                Some(entry) => entry.node.locate(rest, part),
                None => self.at,
            },
            Value::Array(items) => match step.parse::<usize>().ok().and_then(|index| items.get(index)) {
                Some(item) => item.locate(rest, part),
                None => self.at,
            },
            _ => self.at,
        }
    }

    /// Whether something was written at `path`.
    pub(crate) fn has(&self, path: &[&str]) -> bool {
        let Some((step, rest)) = path.split_first() else { return true };
        match &self.value {
            Value::Table(table) => table.get(*step).is_some_and(|entry| entry.node.has(rest)),
            Value::Array(items) => step
                .parse::<usize>()
                .ok()
                .and_then(|index| items.get(index))
                .is_some_and(|item| item.has(rest)),
            _ => false,
        }
    }

    /// The value alone.
    pub(crate) fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::String(text) => toml::Value::String(text.clone()),
            Value::Integer(number) => toml::Value::Integer(*number),
            Value::Float(number) => toml::Value::Float(*number),
            Value::Boolean(flag) => toml::Value::Boolean(*flag),
            Value::Date => toml::Value::String(String::new()),
            Value::Array(items) => toml::Value::Array(items.iter().map(Self::to_toml).collect()),
            Value::Table(table) => toml::Value::Table(
                table.iter().map(|(key, entry)| (key.clone(), entry.node.to_toml())).collect(),
            ),
        }
    }
}
