//! The latest sending that has arrived: what went before it and has not is late or lost (RFC 8985, section 6.2).

use super::pieces::{Piece, Sending};
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

/// How many arrivals are remembered: a sender that knows times acts on a loss at one of the next few.
const REMEMBERED: usize = 64;

/// When that which was sent last of all that has arrived was sent, and how that came about.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivered {
    /// Arrivals of what was sent later than all before, oldest first.
    arrivals: VecDeque<Arrival>,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// When it was sent, and where it ends: of two that were sent at the same instant, the one with the higher end was sent later
    /// (RFC 8985, section 6.2, `RACK_sent_after`).
    sent: (Stamp, i64),
    heard: Stamp,
}

/// Something that was sent after a segment has arrived before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Overtaken {
    /// Since that was heard of, or less if it was long ago.
    pub(super) known_for: Span,
    /// What the latest to arrive took (RFC 8985, section 6.2, step 2: `RACK.rtt`).
    pub(super) rtt: Span,
}

impl Delivered {
    /// `piece` was acknowledged or reported at `at`. If it was sent again, and that is sooner than the least round trip, an
    /// earlier sending was meant (RFC 8985, section 6.2, step 2).
    #[inline]
    pub(super) fn hear(&mut self, piece: &Piece, at: Stamp, least: Span) {
        let sending = &piece.last;
        let too_soon = piece.resent && at.since(sending.at) < least;
        if too_soon || self.arrivals.back().is_some_and(|last| last.sent >= (sending.at, piece.end)) {
            return;
        }
        if self.arrivals.len() == REMEMBERED {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(Arrival { sent: (sending.at, piece.end), heard: at });
    }

    /// Whether something that was sent after `sending`, which ends at `end`, has arrived by `now`, and since when.
    pub(super) fn overtook(&self, sending: &Sending, end: i64, now: Stamp) -> Option<Overtaken> {
        let latest = self.arrivals.back()?;
        let first = self.arrivals.partition_point(|arrival| arrival.sent <= (sending.at, end));
        let first = self.arrivals.get(first)?;
        Some(Overtaken { known_for: now.since(first.heard), rtt: latest.heard.since(latest.sent.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(ms: u64) -> Sending {
        Sending { at: Stamp(ms * 1_000_000), value: None, identification: 0 }
    }

    fn piece(ms: u64) -> Piece {
        Piece::new(0, 1, sending(ms))
    }

    #[test]
    fn what_was_sent_before_something_that_arrived_is_overtaken() {
        let mut delivered = Delivered::default();
        let now = sending(20).at;
        assert_eq!(delivered.overtook(&sending(0), 1, now), None);
        delivered.hear(&piece(5), sending(15).at, Span::from_ms(10));
        delivered.hear(&piece(3), sending(16).at, Span::from_ms(10));
        let overtaken = Overtaken { known_for: Span::from_ms(5), rtt: Span::from_ms(10) };
        assert_eq!(delivered.overtook(&sending(4), 1, now), Some(overtaken));
        assert_eq!(delivered.overtook(&sending(5), 1, now), None);
    }

    #[test]
    fn the_first_arrival_of_something_later_is_what_tells() {
        let mut delivered = Delivered::default();
        for ms in 5..10 {
            delivered.hear(&piece(ms), sending(2 * ms + 10).at, Span::from_ms(10));
        }
        let overtaken = Overtaken { known_for: Span::from_ms(6), rtt: Span::from_ms(19) };
        assert_eq!(delivered.overtook(&sending(6), 1, sending(30).at), Some(overtaken));
    }

    #[test]
    fn an_answer_that_comes_too_soon_speaks_of_an_earlier_sending() {
        let mut delivered = Delivered::default();
        let again = Piece { resent: true, ..piece(5) };
        delivered.hear(&again, sending(14).at, Span::from_ms(10));
        assert_eq!(delivered.overtook(&sending(4), 1, sending(20).at), None);
        delivered.hear(&piece(5), sending(14).at, Span::from_ms(10));
        assert!(delivered.overtook(&sending(4), 1, sending(20).at).is_some(), "it was sent but once");
    }

    #[test]
    fn of_two_that_were_sent_at_the_same_instant_the_higher_one_was_sent_later() {
        let mut delivered = Delivered::default();
        delivered.hear(&Piece::new(100, 200, sending(5)), sending(15).at, Span::from_ms(10));
        assert!(delivered.overtook(&sending(5), 100, sending(20).at).is_some());
        assert_eq!(delivered.overtook(&sending(5), 300, sending(20).at), None);
    }
}
