//! The round trip is probed: little is in flight for a while, so that no queue is left.

use super::Rounds;
use crate::time::{Span, Time};

/// It lasts so long at least, and a round.
const LASTS: Span = Span::from_ms(200);

/// How far that has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::congestion) struct Lull {
    /// When it has lasted for long enough, once little enough is in flight.
    until: Option<Time>,
    /// A round has passed since.
    round_passed: bool,
}

impl Lull {
    /// An acknowledgment comes while it lasts, `delivered` bytes in all; `is_low` says that little is in flight. Returns
    /// whether it is over.
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

    /// Whether it has lasted for long enough.
    pub(in crate::congestion) fn is_over(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}
