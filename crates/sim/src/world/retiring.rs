//! Flows that end: when both ends of a connection are over, its results are recorded and its endpoints become free.
//!
//! An endpoint that is over stays for a while after the other one is over, since neither could know this at once. So what
//! happens at one end does not depend on events at the other end at the same time, and the ends can be simulated in
//! parallel.

use netspurt_tcp::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How long a pair of endpoints stays after both are over. No message of a run on several threads takes longer.
pub(crate) const LINGER: Span = Span::from_secs(1);

/// The pairs of endpoints of which at least one is over.
#[derive(Debug, Default)]
pub(crate) struct Retiring {
    /// Since when each endpoint is over, by the client's index.
    over: BTreeMap<u32, [Option<Time>; 2]>,
    /// When the pairs that are over at both ends become free.
    due: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Retiring {
    /// When the next pair becomes free.
    pub(super) fn next(&self) -> Time {
        self.due.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    /// The endpoint `place` is over since `since`. Returns whether this was not known.
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

    /// A pair that becomes free at `now`.
    pub(super) fn take_due(&mut self, now: Time) -> Option<u32> {
        if self.next() > now {
            return None;
        }
        let Reverse((_, client)) = self.due.pop()?;
        self.over.remove(&client);
        Some(client)
    }
}
