//! Flows that end: when both ends of a connection are over, what it came to is recorded and its places are free again.
//!
//! An end that is over stays where it is for a while after the other one is over, as neither could know at once. So what
//! happens at one end does not depend on what happens at the other at the same instant, and the ends can be simulated
//! side by side.

use netspurt_tcp::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How long a pair of ends stays after both are over. No window of a run on several threads is longer.
pub(crate) const LINGER: Span = Span::from_secs(1);

/// The pairs of which an end is over.
#[derive(Debug, Default)]
pub(crate) struct Retiring {
    /// Since when each end is, by the client's place.
    over: BTreeMap<u32, [Option<Time>; 2]>,
    /// When the pairs of which both ends are over leave.
    due: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Retiring {
    /// When the next pair leaves.
    pub(super) fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    /// The end at `place` is over since `since`. Whether that is news.
    pub(super) fn note(&mut self, since: Time, place: u32) -> bool {
        let client = place & !1;
        let ends = self.over.entry(client).or_default();
        if ends[(place & 1) as usize].replace(since).is_some() {
            return false;
        }
        if let [Some(one), Some(other)] = *ends {
            self.due.push(Reverse((one.max(other) + LINGER, client)));
        }
        true
    }

    /// A pair that leaves at `now`.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u32> {
        if self.next() > now {
            return None;
        }
        let Reverse((_, client)) = self.due.pop()?;
        self.over.remove(&client);
        Some(client)
    }
}
