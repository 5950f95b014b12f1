//! The tree of a scenario file.

use crate::flow::{End, Flow, among};
use crate::network::change::Change;
use crate::network::{Host, Hub, Link};
use crate::paths;
use crate::reading::schema_of;
use crate::tcp::table::{TcpError, TcpTable};
use crate::values::quantity::Duration;
use indexmap::{IndexMap, IndexSet};
use netspurt_tcp::config::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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
    /// What changes on links, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// The flows. A network alone is enough for programs of one's own (`netspurt emulate`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
}

pub(crate) static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let mut schema = schema_of::<Scenario>();
    paths::admit(&mut schema);
    among::admit(&mut schema);
    schema["title"] = "netspurt scenario".into();
    schema
});

/// The JSON Schema of the scenario file.
pub fn schema() -> serde_json::Value {
    let mut schema = SCHEMA.clone();
    among::relax(&mut schema);
    schema
}

impl Scenario {
    /// Every name in a `between`, then every station of a hub, in the order of the file.
    pub fn nodes(&self) -> Vec<&str> {
        let ends = self.link.values().flat_map(|link| link.between.iter());
        let stations = self.hub.values().flat_map(|hub| hub.stations.iter());
        let names: IndexSet<&str> = ends.chain(stations).map(String::as_str).collect();
        names.into_iter().collect()
    }

    /// The nodes at which flows begin or end; without flows, those that nothing lies behind. In the order of
    /// [`nodes`](Self::nodes).
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

    /// The choices about TCP at one end of a flow: those of the flow, then those of the host, then those of
    /// [`Scenario::tcp`]. Phases of ticks are zero; the driver sets them.
    ///
    /// Algorithms of the user are not included: [`Scenario::build_with`] finds them.
    pub fn tcp_for(&self, flow: usize, end: End) -> Result<Config, TcpError> {
        let Some(flow) = self.flow.get(flow) else {
            return Err(TcpError { keys: ["profile"; 2], message: format!("there is no flow {flow}") });
        };
        self.choices(flow, end).config()
    }

    /// The settings for TCP at one end of a flow.
    pub(crate) fn choices(&self, flow: &Flow, end: End) -> TcpTable {
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

    /// The scenario as a file with all its values, which [`Scenario::parse`] reads to the same scenario.
    pub fn merged_toml(&self) -> String {
        crate::reading::written(self)
    }
}
