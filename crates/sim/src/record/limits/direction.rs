//! One direction of a connection, and its timeline of limits.

use super::exchanges::Exchange;
use super::measures::Measures;
use crate::record::end::End;
use netspurt_budget::{Limit, Measured, Timeline};
use netspurt_tcp::time::Time;

/// One direction of a connection: the flow, its connection, and the end that sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Direction {
    /// The flow, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The sender of the data.
    pub end: End,
}

impl Direction {
    /// The other direction of the same connection.
    pub(super) const fn reverse(self) -> Self {
        let end = match self.end {
            End::Client => End::Server,
            End::Server => End::Client,
        };
        Self { end, ..self }
    }
}

/// The timeline of one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Limited {
    /// The direction.
    pub direction: Direction,
    /// When the connection was opened: the begin of the timeline.
    pub opened: Time,
    /// Stream bytes that were acknowledged.
    pub bytes: u64,
    /// Whether data was sent that was never acknowledged; the timeline then ends with the last segment.
    pub outstanding: bool,
    /// The least round-trip time in seconds; 0 without a sample.
    pub rtt_least_s: f64,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Those before this time, if it is a part of the run.
    pub(super) retransmitted_before: u64,
    /// The limits.
    pub timeline: Timeline,
    /// What the sender measured.
    pub(super) measures: Measures,
    /// Requests with their responses, in the direction of the client only, if there are two or more.
    pub exchanges: Vec<Exchange>,
}

impl Limited {
    /// The part from `from` until `until` of the run; its timeline begins there, or where the connection was opened. Requests are left out.
    #[must_use]
    pub fn within(&self, from: Time, until: Time) -> Self {
        let on_timeline = |at: Time| Time::ZERO + at.since(self.opened);
        let timeline = self.timeline.between(on_timeline(from), on_timeline(until));
        let (before, after) = (self.measures.counts_before(from), self.measures.counts_before(until));
        Self {
            opened: self.opened.max(from),
            bytes: after.0 - before.0,
            retransmitted: u64::from(after.1 - before.1),
            retransmitted_before: u64::from(before.1),
            timeline,
            measures: self.measures.clone(),
            exchanges: Vec::new(),
            ..*self
        }
    }

    /// Whether it is open at some time from `from` on and before `until`.
    pub fn touches(&self, from: Time, until: Time) -> bool {
        self.opened < until && self.opened + self.timeline.end().since(Time::ZERO) >= from
    }

    /// What was measured during the longest interval of a limit; only zeros if it never applied.
    pub fn measured(&self, limit: Limit) -> Measured {
        let Some(longest) = self.timeline.longest(limit) else { return Measured::default() };
        let on_clock = |at: Time| self.opened + at.since(Time::ZERO);
        Measured {
            retransmitted_in_all: self.retransmitted,
            retransmitted_before: self.retransmitted_before,
            ..self.measures.between(on_clock(longest.from), on_clock(longest.until))
        }
    }
}
