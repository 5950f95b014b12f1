//! The flows of a scenario: their ends and their applications.

pub(crate) mod among;
pub(crate) mod app;
pub(crate) mod arrivals;
pub(crate) mod closes;
pub(crate) mod datagrams;
pub(crate) mod incast;
pub(crate) mod streams;
pub(crate) mod video;

use crate::flow::app::App;
use crate::tcp::table::TcpTable;
use crate::values::dscp::Dscp;
use crate::values::quantity::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One or more connections that are alike.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in the results. Default: the kind of its application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its application.
    pub app: App,
    /// The node that opens the connection.
    pub from: String,
    /// The node that accepts it.
    pub to: String,
    /// The differentiated services codepoint of its packets, in both directions. Default: `CS0`.
    ///
    /// Document: RFC 2474.
    #[serde(default, skip_serializing_if = "Dscp::is_default")]
    pub dscp: Dscp,
    /// When it is opened.
    #[serde(default)]
    pub start: Duration,
    /// How many connections alike, numbered from 0.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// How much later than the one before it each of them starts.
    #[serde(default)]
    pub stagger: Duration,
    /// Choices about TCP for both ends.
    #[serde(default, skip_serializing_if = "TcpTable::is_empty")]
    pub tcp: TcpTable,
}

const fn one() -> u32 {
    1
}

impl Flow {
    /// Its name in the results.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.app.label())
    }
}

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The end that opens the connection.
    From,
    /// The end that accepts it.
    To,
}
