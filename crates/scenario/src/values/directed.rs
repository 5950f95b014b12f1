//! Keys of a link whose directions may differ: one value for both, or a list of two.
//!
//! The first of two is from the first node of `between` to the second, the other is back. A key that takes a list anyway
//! takes a list of two lists: a list that holds a list names the directions, any other holds what applies to both.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    BoolDeserializer, F64Deserializer, I64Deserializer, MapAccessDeserializer, SeqAccessDeserializer,
    StrDeserializer,
};
use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The `format` of a list of two directions in the schema.
pub(crate) const FORMAT: &str = "directions";

/// One value for both directions of a link, or one for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directed<T> {
    /// The same in both.
    Both(T),
    /// From the first node to the second, and back.
    Each([T; 2]),
}

impl<T: Default> Default for Directed<T> {
    fn default() -> Self {
        Self::Both(T::default())
    }
}

impl<T> Directed<T> {
    /// The value of a direction: 0 or 1.
    pub const fn of(&self, way: usize) -> &T {
        match self {
            Self::Both(value) => value,
            Self::Each(each) => &each[way],
        }
    }

    /// What was written, each with the step to it below the key, if there is one.
    pub fn written(&self) -> impl Iterator<Item = (Option<&'static str>, &T)> {
        const STEPS: [Option<&str>; 2] = [Some("0"), Some("1")];
        match self {
            Self::Both(value) => [Some((None, value)), None],
            Self::Each([there, back]) => [Some((STEPS[0], there)), Some((STEPS[1], back))],
        }
        .into_iter()
        .flatten()
    }

    /// The same to be changed.
    pub(crate) fn written_mut(&mut self) -> impl Iterator<Item = (Option<&'static str>, &mut T)> {
        match self {
            Self::Both(value) => [Some((None, value)), None],
            Self::Each([there, back]) => [Some((Some("0"), there)), Some((Some("1"), back))],
        }
        .into_iter()
        .flatten()
    }
}

impl<T: Serialize> Serialize for Directed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Both(value) => value.serialize(serializer),
            Self::Each(each) => each.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Directed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrTwo<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for OneOrTwo<T> {
            type Value = Directed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list of two")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                T::deserialize(StrDeserializer::new(text)).map(Directed::Both)
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
                T::deserialize(BoolDeserializer::new(flag)).map(Directed::Both)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                T::deserialize(I64Deserializer::new(number)).map(Directed::Both)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                T::deserialize(F64Deserializer::new(number)).map(Directed::Both)
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(Directed::Both)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                let list: Vec<T> = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                two(list).map(Directed::Each)
            }
        }

        deserializer.deserialize_any(OneOrTwo(PhantomData))
    }
}

fn two<T, E: Error>(list: Vec<T>) -> Result<[T; 2], E> {
    list.try_into().map_err(|list: Vec<T>| E::invalid_length(list.len(), &"two directions"))
}

impl<T: JsonSchema> JsonSchema for Directed<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Directed{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, ways(&one)] })
    }
}

/// A list of two of these.
fn ways(one: &Schema) -> Schema {
    json_schema!({ "type": "array", "format": FORMAT, "items": one, "minItems": 2, "maxItems": 2 })
}

/// A table, or `"none"` for a direction that has nothing of the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OrNone<T> {
    /// Nothing.
    None(Nothing),
    /// This.
    Some(T),
}

/// The word for nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum Nothing {
    /// Nothing of the kind.
    None,
}

impl<T> OrNone<T> {
    /// What there is.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::None(_) => None,
            Self::Some(value) => Some(value),
        }
    }
}

/// A list, which may be written without brackets if it has one entry, for both directions of a link; or a list of two
/// such lists, at least one of them in brackets.
#[derive(Clone, PartialEq, Debug)]
pub struct Several<T>(pub Directed<Vec<T>>);

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self(Directed::Both(Vec::new()))
    }
}

impl<T> Several<T> {
    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Directed::Both(all) if all.is_empty())
    }

    /// Whether the place in the file says the direction.
    pub const fn is_directed(&self) -> bool {
        matches!(self.0, Directed::Each(_))
    }

    /// What applies in a direction, or in both.
    pub fn of(&self, way: usize) -> &[T] {
        self.0.of(way)
    }

    /// Every entry with the steps to it below the key. The step of an only entry is left out, as if it were written
    /// without brackets.
    pub fn written(&self) -> impl Iterator<Item = (Vec<String>, &T)> {
        self.0.written().flat_map(|(way, all)| {
            let alone = all.len() == 1;
            all.iter().enumerate().map(move |(index, one)| {
                let way = way.map(str::to_owned);
                (way.into_iter().chain((!alone).then(|| index.to_string())).collect(), one)
            })
        })
    }

    /// The same to be changed.
    pub(crate) fn written_mut(&mut self) -> impl Iterator<Item = (Vec<String>, &mut T)> {
        self.0.written_mut().flat_map(|(way, all)| {
            let alone = all.len() == 1;
            all.iter_mut().enumerate().map(move |(index, one)| {
                let way = way.map(str::to_owned);
                (way.into_iter().chain((!alone).then(|| index.to_string())).collect(), one)
            })
        })
    }
}

impl<T: Serialize> Serialize for Several<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Directed::Both(all) => match &all[..] {
                [one] => one.serialize(serializer),
                many => many.serialize(serializer),
            },
            Directed::Each(each) => each.serialize(serializer),
        }
    }
}

/// What may stand in a list: an entry, or the list of a direction.
enum Item<T> {
    Entry(T),
    Way(Vec<T>),
}

impl<T> Item<T> {
    fn into_list(self) -> Vec<T> {
        match self {
            Self::Entry(one) => vec![one],
            Self::Way(all) => all,
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableOrList<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for TableOrList<T> {
            type Value = Item<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table or a list of tables")
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(Item::Entry)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Item::Way)
            }
        }

        deserializer.deserialize_any(TableOrList(PhantomData))
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists<T>(PhantomData<T>);

        impl<'de, T: DeserializeOwned> Visitor<'de> for Lists<T> {
            type Value = Directed<Vec<T>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table, a list of tables, or a list of two such lists")
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(table)).map(|one| Directed::Both(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                let items: Vec<Item<T>> = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                if items.iter().any(|item| matches!(item, Item::Way(_))) {
                    let lists = items.into_iter().map(Item::into_list).collect();
                    return two(lists).map(Directed::Each);
                }
                Ok(Directed::Both(items.into_iter().flat_map(Item::into_list).collect()))
            }
        }

        deserializer.deserialize_any(Lists(PhantomData)).map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for Several<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Several{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let list = json_schema!({ "type": "array", "items": one });
        let way = json_schema!({ "anyOf": [one, list] });
        json_schema!({ "anyOf": [one, list, ways(&way)] })
    }
}
