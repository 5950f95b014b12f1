//! The RTT probe: few bytes are in flight for a short time, so that the queue is empty.

use super::Rounds;
use crate::time::{Span, Time};

/// The minimum duration; it also lasts at least one round.
const LASTS: Span = Span::from_ms(200);

/// The state of the probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Lull {
    /// The end of the probe, set when few enough bytes are in flight.
    until: Option<Time>,
    /// A round has passed since.
    round_passed: bool,
}

impl Lull {
    /// Processes an ACK during the probe. `delivered` is the total of delivered bytes; `is_low` means that few enough
    /// bytes are in flight. Returns whether the probe is over.
    pub(in crate::congestion) fn see(
        &mut self,
        now: Time,
        is_low: bool,
        rounds: &mut Rounds,
        delivered: u64,
    ) -> bool {
        if self.until.is_some() {
            self.round_passed |= rounds.start;
            return self.round_passed && self.is_over(now);
        }
        if is_low {
            *self = Self { until: Some(now + LASTS), round_passed: false };
            rounds.restart(delivered);
        }
        false
    }

    /// Whether the probe has reached its duration.
    pub(in crate::congestion) fn is_over(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}
