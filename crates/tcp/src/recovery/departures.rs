//! The log of transmissions with what is inferred from it. It exists if losses are detected by time, or if delivery rates are
//! measured.

use super::flight::{Flight, LeastRtt};
use super::rack::Rack;
use super::tail_probe::Answer;

/// The log of transmissions, and what is inferred from it.
#[derive(Debug, Default)]
pub(super) struct Departures {
    pub(super) flight: Flight,
    /// The minimum RTT.
    pub(super) least: LeastRtt,
    /// The state of loss detection by time, if it is used.
    pub(super) rack: Option<Rack>,
}

impl Departures {
    /// Everything below `una` is acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64) {
        self.flight.forget_below(una);
        if let Some(rack) = &mut self.rack {
            rack.acknowledge(una);
        }
    }
}

/// What an ACK shows once its reports are processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Concluded {
    /// Bytes that it is the first to report as delivered.
    pub(crate) delivered: u64,
    /// What it shows about a tail loss probe.
    pub(crate) answer: Answer,
}
