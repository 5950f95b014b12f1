//! Incast: many servers respond to one client at the same time. Keys, checks, and the conversion for the simulator.

use crate::values::distribution::{Drawn, Draws};
use crate::values::quantity::{Duration, Size};
use netspurt_sim::host::session::{Closes, Fetch, Lasts, SessionSpec};
use netspurt_sim::random::distribution::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `from` sends requests to many servers at `to` at the same time, and repeats this when all have responded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// The number of servers, each with its own connection.
    #[schemars(range(min = 1, max = 100_000))]
    pub servers: u32,
    /// Length of each answer.
    pub size: Drawn<Size>,
    /// Length of the question to each server.
    #[serde(default = "short_request")]
    pub request: Drawn<Size>,
    /// From the last byte of the last answer to the next question.
    #[serde(default = "at_once")]
    pub think: Drawn<Duration>,
    /// How many questions. Default: as long as the simulation lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub queries: Option<u32>,
    /// Whether the connections stay open.
    #[serde(default)]
    pub connections: Connections,
}

/// Whether connections stay open from one question to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// They stay open, and keep their congestion windows.
    #[default]
    Kept,
    /// New ones for each question.
    New,
}

const fn short_request() -> Drawn<Size> {
    Drawn::Always(Size(64))
}

fn at_once() -> Drawn<Duration> {
    Drawn::Always(Duration::default())
}

impl Incast {
    pub(super) fn build(&self) -> SessionSpec {
        let lasts = match self.connections {
            Connections::Kept => Lasts::Session,
            Connections::New => Lasts::Page,
        };
        SessionSpec {
            port: 5001,
            files: Distribution::constant(f64::from(self.servers)),
            request: self.request.distribution(),
            think: self.think.distribution(),
            pages: self.queries.map(u64::from),
            fetch: Fetch::Fan { lasts },
            closes: Closes::Client,
            ..SessionSpec::files(self.size.distribution())
        }
    }

    /// What is drawn, by its key.
    pub(super) fn distributions(&mut self) -> Vec<(&'static str, &mut dyn Draws)> {
        vec![("size", &mut self.size), ("request", &mut self.request), ("think", &mut self.think)]
    }
}
