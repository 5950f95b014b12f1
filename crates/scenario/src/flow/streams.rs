//! Parallel files over one connection with windows of the application, as in HTTP/2. Keys and checks.

use crate::values::quantity::Size;
use netspurt_sim::host::app::StreamsSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `from` fetches several files from `to` side by side over one connection, each with a flow-control window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streams {
    /// Length of each file.
    pub bytes: Size,
    /// How many files.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub streams: u32,
    /// How much of one file may be sent without credit (`SETTINGS_INITIAL_WINDOW_SIZE`).
    #[serde(default = "initial_window")]
    pub window: Size,
    /// How much of all files together may be sent without credit.
    #[serde(default = "initial_window")]
    pub connection_window: Size,
    /// Length of the request for each file.
    #[serde(default = "request")]
    pub request: Size,
}

const fn one() -> u32 {
    1
}

/// RFC 9113, section 6.9.2.
const fn initial_window() -> Size {
    Size(65_535)
}

const fn request() -> Size {
    Size(100)
}

/// The largest window (RFC 9113, section 6.9.1).
const LARGEST: u64 = (1 << 31) - 1;

impl Streams {
    /// What it must not say, and the key at fault.
    pub(super) fn check(&self) -> Result<(), (Vec<&'static str>, String)> {
        let fault = |key, message: String| Err((vec![key], message));
        for (key, window) in [("window", self.window), ("connection_window", self.connection_window)] {
            if window.0 < 2 || window.0 > LARGEST {
                return fault(
                    key,
                    format!(
                        "a window of {} bytes: it must be from 2 bytes to 2^31 - 1 (RFC 9113, section 6.9.1)",
                        window.0
                    ),
                );
            }
        }
        if self.bytes.0 == 0 || self.request.0 == 0 {
            let key = if self.bytes.0 == 0 { "bytes" } else { "request" };
            return fault(key, "0 bytes: there must be 1 at least".to_owned());
        }
        Ok(())
    }

    pub(super) fn build(&self) -> StreamsSpec {
        StreamsSpec {
            streams: u64::from(self.streams),
            bytes: self.bytes.0,
            request: self.request.0,
            window: self.window.0,
            connection_window: self.connection_window.0,
        }
    }
}
