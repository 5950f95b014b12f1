//! Which end closes a connection.

use netspurt_sim::host::session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which end closes a connection that has done its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Closes {
    /// The client, when it has read the last byte.
    Client,
    /// The one that answers, behind the last byte.
    #[default]
    Server,
}

impl Closes {
    pub(super) const fn build(self) -> session::Closes {
        match self {
            Self::Client => session::Closes::Client,
            Self::Server => session::Closes::Server,
        }
    }
}
