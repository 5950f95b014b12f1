//! In which order connections are served, so that none waits for the large transfers of others.
//!
//! A connection with a change goes first if it has sent little lately: a short response is complete before long ones go
//! on (least attained service). The others take turns of one quantum, as in deficit round robin. Each round serves both,
//! so neither can stop the other.

use super::id::Id;
use netspurt_tcp::time::{Span, Time};
use std::collections::VecDeque;

/// Bytes of payload that a connection sends in one turn: half a super-segment. With a whole one, short responses wait
/// longer beside large transfers, and the large ones are no faster.
const QUANTUM: u64 = 30_000;
/// Bytes that the connections that take turns send before arrived packets are read again.
pub(super) const ROUND: u64 = QUANTUM;
/// Few connections have longer turns, which cost less: this number of bytes, divided among them.
const SHARED: u64 = 16 * QUANTUM;
/// A connection that has sent more lately takes turns.
const LITTLE: u64 = 4 * QUANTUM;
/// A connection that has sent nothing for this time starts anew.
const PAUSE: Span = Span::from_ms(50);

/// What a connection has sent lately.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Recent {
    /// Bytes of payload since the last pause.
    sent: u64,
    /// The time of the last of them.
    at: Time,
}

impl Recent {
    /// It has sent this number of bytes.
    pub(super) fn add(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.sent = if self.is_over(now) { bytes } else { self.sent.saturating_add(bytes) };
            self.at = now;
        }
    }

    /// Whether it is served before those that take turns.
    pub(super) fn goes_first(&self, now: Time) -> bool {
        self.sent <= LITTLE || self.is_over(now)
    }

    fn is_over(&self, now: Time) -> bool {
        now - self.at >= PAUSE
    }
}

/// The connections that have something to do.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Those with a change.
    changed: Vec<Id>,
    /// Those that take turns, the longest-waiting first.
    waiting: VecDeque<Id>,
}

impl Turns {
    /// A connection has a change, and is in neither list.
    pub(super) fn changed(&mut self, id: Id) {
        self.changed.push(id);
    }

    /// A connection takes a turn after those that wait already.
    pub(super) fn wait(&mut self, id: Id) {
        self.waiting.push_back(id);
    }

    /// Whether both lists are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.waiting.is_empty()
    }

    /// Takes the list of connections with a change.
    pub(super) fn take_changed(&mut self) -> Vec<Id> {
        core::mem::take(&mut self.changed)
    }

    /// Returns the list's memory for further use, if it is not needed already.
    pub(super) fn reuse(&mut self, list: Vec<Id>) {
        if self.changed.is_empty() {
            self.changed = list;
        }
    }

    /// Bytes that a connection sends in one turn, if `others` have changes too.
    pub(super) fn quantum(&self, others: usize) -> u64 {
        (SHARED / (others + self.waiting.len() + 1) as u64).max(QUANTUM)
    }

    /// Takes the connection that has waited longest.
    pub(super) fn next_waiting(&mut self) -> Option<Id> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_goes_first_until_it_has_sent_much_and_again_after_a_pause() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut recent = Recent::default();
        assert!(recent.goes_first(at(0)));
        recent.add(at(0), LITTLE);
        assert!(recent.goes_first(at(0)));
        recent.add(at(40), 1);
        assert!(!recent.goes_first(at(89)), "49 ms are no pause");
        assert!(recent.goes_first(at(90)));
        recent.add(at(90), 1);
        assert!(recent.goes_first(at(91)), "what was before the pause does not count");
    }
}
