//! The scenario file: one tree of types is its keys, defaults, help and schema.
//!
//! | file | holds |
//! | --- | --- |
//! | `network.rs`, `queue.rs`, `trace.rs`, `flow.rs`, `app.rs`, `distribution.rs`, `tcp.rs`, `choices.rs`, `parametric.rs`, `acking.rs` | the types, whose doc comments are the file's reference |
//! | `convert.rs` | choices to and from the types of `tcp` |
//! | `quantity.rs`, `decimal.rs` | values with units, exact |
//! | `own.rs` | a built-in choice, or a user's own |
//! | `form.rs` | a bare name for a table, a table for a list |
//! | `tree.rs`, `shape.rs`, `meaning.rs`, `suggest.rs`, `error.rs` | from text to a [`Scenario`], or to a sentence that says where |
//! | `estimator.rs` | one RTO estimator, outside a scenario |
//! | `path.rs` | a synthetic path, outside a scenario |
//! | `catalogue.rs` | the lists of profiles and mechanisms |
//!
//! A file is read in four steps: TOML with the place of every key and value; overrides put into it; its shape held
//! against the schema; its meaning checked. The types are only filled once the shape is right.

mod acking;
mod app;
mod build;
mod catalogue;
mod choices;
mod convert;
mod decimal;
mod distribution;
mod error;
mod estimator;
mod flow;
mod form;
mod meaning;
mod network;
mod own;
mod parametric;
mod path;
mod quantity;
mod queue;
mod shape;
mod suggest;
mod tcp;
mod trace;
mod tree;

pub use acking::Acking;
pub use app::{App, Closes, Endless, Files as FilesApp, HowOften, Http, Lasts, Message, Order, Web, Written};
pub use catalogue::{mechanisms_json, profiles_json};
pub use choices::{
    Congestion, Cutting, DupAcksBesideNaks, Grows, LossMeans, MssCounts, Recovery, Transmit, WindowGrowth,
    WindowOption,
};
pub use distribution::{Count, Drawn, Files, Kind, Measure};
pub use error::ScenarioError;
pub use estimator::estimator;
pub use flow::{End, Flow};
pub use form::{Named, OneOrMany};
pub use network::{
    Access, Corrupt, Duplex, Duplicate, Handover, Host, Hub, Link, Loss, Ports, Processor, Reader, Reorder,
    Reuse,
};
pub use own::{Choice, OwnName};
pub use parametric::{Counting, KeepAlive, OptionLayout, Rto};
pub use path::{Calibrate, Glitch, GlitchShape, Length, Line, PathLoss, SyntheticPath};
pub use quantity::{
    Cap, Direction, Duration, Grain, InitialCwnd, Limit, Packets, Patience, Quantity, Rate, Size, Window,
};
pub use queue::Queue;
pub use tcp::{ProfileName, TcpError, TcpTable};
pub use trace::Trace;

use indexmap::{IndexMap, IndexSet};
use netspurt_tcp::config::Config;
use schemars::{JsonSchema, Schema, transform::RecursiveTransform};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use tree::{At, Fault, Node, Part};

/// A network, and the flows over it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// When the simulation ends. Without flows, as an emulation may have it, there is nothing to simulate.
    #[serde(default, skip_serializing_if = "Duration::is_nothing")]
    pub duration: Duration,
    /// Choices about TCP for every host.
    #[serde(default, skip_serializing_if = "TcpTable::is_empty")]
    pub tcp: TcpTable,
    /// The links by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub link: IndexMap<String, Link>,
    /// The hubs by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub hub: IndexMap<String, Hub>,
    /// What is particular about single nodes, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub host: IndexMap<String, Host>,
    /// The flows. A network alone is enough for programs of one's own (`netspurt emulate`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
}

static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let mut schema = schema_of::<Scenario>();
    schema["title"] = "netspurt scenario".into();
    schema
});

fn schema_of<T: JsonSchema>() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(|schema: &mut Schema| without_null(schema)))
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Reads text with overrides in it as a type, against the type's schema.
fn shaped<T: DeserializeOwned>(
    schema: &serde_json::Value,
    text: &str,
    overrides: &[(&str, &str)],
) -> Result<(Node, T), Fault> {
    let mut tree = Node::parse(text)?;
    for (index, (path, value)) in overrides.iter().enumerate() {
        tree.set(path, value, index)?;
    }
    shape::check(schema, &tree)?;
    // The shape is right, so this does not fail; if the two ever disagree, the whole file is named.
    let read = T::deserialize(tree.to_toml())
        .map_err(|error| Fault { at: At::File(0), message: error.message().trim().replace('\n', "; ") })?;
    Ok((tree, read))
}

/// The JSON Schema of the scenario file.
pub fn schema() -> serde_json::Value {
    SCHEMA.clone()
}

/// TOML has no null: a key that need not be there is left out.
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

impl Scenario {
    /// Reads the text of a scenario file, puts the overrides (path, value) into it in their order, and checks the whole.
    /// `file` is the name that errors carry.
    ///
    /// A scenario that names other files is refused: [`Scenario::parse_with`] reads them.
    pub fn parse(text: &str, file: &str, overrides: &[(&str, &str)]) -> Result<Self, ScenarioError> {
        let alone = |_: &str| Err("this scenario stands alone, without a directory".to_owned());
        Self::parse_with(text, file, overrides, &alone)
    }

    /// The same for a scenario that may name other files, which `files` reads. What is in them becomes part of the
    /// scenario.
    pub fn parse_with(
        text: &str,
        file: &str,
        overrides: &[(&str, &str)],
        files: Files<'_>,
    ) -> Result<Self, ScenarioError> {
        Self::read(text, overrides, files).map_err(|fault| ScenarioError::new(fault, text, file, overrides))
    }

    fn read(text: &str, overrides: &[(&str, &str)], files: Files<'_>) -> Result<Self, Fault> {
        let (tree, mut scenario) = shaped::<Self>(&SCHEMA, text, overrides)?;
        let placed = |objection: meaning::Objection| {
            let path: Vec<&str> = objection.path.iter().map(String::as_str).collect();
            Fault { at: locate(&tree, &path, objection.part), message: objection.message }
        };
        meaning::resolve(&mut scenario, files).map_err(placed)?;
        meaning::check(&scenario).map_err(placed)?;
        meaning::check_tcp(&scenario).map_err(|objection| Fault {
            at: locate_choice(&tree, &objection),
            message: objection.error.message,
        })?;
        Ok(scenario)
    }

    /// Every name in a `between`, then every station of a hub, in the order of the file.
    pub fn nodes(&self) -> Vec<&str> {
        let ends = self.link.values().flat_map(|link| link.between.iter());
        let stations = self.hub.values().flat_map(|hub| hub.stations.iter());
        let names: IndexSet<&str> = ends.chain(stations).map(String::as_str).collect();
        names.into_iter().collect()
    }

    /// The nodes at which flows begin or end; without flows, those that nothing lies behind. In the order of [`nodes`](Self::nodes).
    pub fn hosts(&self) -> Vec<&str> {
        let nodes = self.nodes();
        let of = |is_host: &dyn Fn(&str) -> bool| -> Vec<&str> {
            nodes.iter().copied().filter(|node| is_host(node)).collect()
        };
        let ends = of(&|node| self.flow.iter().any(|flow| flow.from == node || flow.to == node));
        if !ends.is_empty() {
            return ends;
        }
        let links = |node: &str| {
            let at_links = self.link.values().filter(|link| link.between.iter().any(|end| end == node));
            let at_hubs = self.hub.values().filter(|hub| hub.stations.iter().any(|station| station == node));
            at_links.count() + at_hubs.count()
        };
        let leaves = of(&|node| links(node) == 1);
        if leaves.is_empty() { nodes } else { leaves }
    }

    /// The choices about TCP at one end of a flow: those of [`Scenario::tcp`], under those of the host, under those of
    /// the flow. Phases of ticks are zero, for the driver to set.
    ///
    /// What is a user's own is not in there: [`Scenario::build_with`] finds it.
    pub fn tcp_for(&self, flow: usize, end: End) -> Result<Config, TcpError> {
        let Some(flow) = self.flow.get(flow) else {
            return Err(TcpError { keys: ["profile"; 2], message: format!("there is no flow {flow}") });
        };
        self.choices(flow, end).config()
    }

    /// What is said about TCP at one end of a flow.
    fn choices(&self, flow: &Flow, end: End) -> TcpTable {
        let node = match end {
            End::From => &flow.from,
            End::To => &flow.to,
        };
        let mut table = self.tcp.clone();
        if let Some(host) = self.host.get(node) {
            table.overlay(&host.tcp);
        }
        table.overlay(&flow.tcp);
        table
    }

    /// The scenario as it is in force, as a file that [`Scenario::parse`] reads to the same scenario.
    pub fn merged_toml(&self) -> String {
        toml::to_string(self).expect("every type in the tree has a form in TOML")
    }
}

/// A loss or a trace that is written as a list of one lies a step deeper than one that is written as a table.
fn locate(tree: &Node, path: &[&str], part: Part) -> At {
    if let [kind @ ("link" | "hub"), name, list @ ("loss" | "trace"), key] = path {
        let listed = [kind, name, list, "0", key];
        if tree.has(&listed) {
            return tree.locate(&listed, part);
        }
    }
    tree.locate(path, part)
}

/// The nearest place that names a key at fault; else the nearest profile; else the flow.
fn locate_choice(tree: &Node, objection: &meaning::TcpObjection) -> At {
    let [first, second] = objection.error.keys;
    for keys in [&[first, second][..], &["profile"]] {
        for place in &objection.places {
            for key in keys {
                let mut path: Vec<&str> = place.iter().map(String::as_str).collect();
                path.push(key);
                if tree.has(&path) {
                    return tree.locate(&path, Part::Value);
                }
            }
        }
    }
    let flow: Vec<&str> = objection.places.first().into_iter().flatten().map(String::as_str).collect();
    tree.locate(flow.get(..2).unwrap_or_default(), Part::Value)
}
