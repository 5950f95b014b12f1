//! The most recently sent segment that was delivered. Segments sent before it and not delivered are late or lost (RFC
//! 8985, section 6.2).

use crate::follow::stream::pieces::{Piece, Sending};
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

/// Number of stored deliveries. A sender with RACK reacts to a loss at one of the next ACKs.
const REMEMBERED: usize = 64;

/// The delivered segment that was sent last, and the deliveries before it.
#[derive(Clone, Debug, Default)]
pub(in crate::follow) struct Delivered {
    /// Deliveries of segments that were sent later than all delivered before, oldest first.
    arrivals: VecDeque<Arrival>,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// When it was sent, and where it ends: of two sent at the same instant, the one with the higher end was sent later
    /// (RFC 8985, section 6.2, `RACK_sent_after`).
    sent: (Stamp, i64),
    received: Stamp,
}

/// A segment that was sent later has been delivered earlier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) struct Overtaken {
    /// Time since that was known; a lower bound if it was long ago.
    pub(in crate::follow) known_for: Span,
    /// RTT of the latest delivery (RFC 8985, section 6.2, step 2: `RACK.rtt`).
    pub(in crate::follow) rtt: Span,
}

impl Delivered {
    /// `piece` was acknowledged or reported by SACK at `at`. For a retransmitted piece, an RTT below the minimum means
    /// that an earlier transmission was acknowledged (RFC 8985, section 6.2, step 2).
    #[inline]
    pub(in crate::follow) fn process(&mut self, piece: &Piece, at: Stamp, least: Span) {
        let sending = &piece.last;
        let too_soon = piece.resent && at.since(sending.at) < least;
        if too_soon || self.arrivals.back().is_some_and(|last| last.sent >= (sending.at, piece.end)) {
            return;
        }
        if self.arrivals.len() == REMEMBERED {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(Arrival { sent: (sending.at, piece.end), received: at });
    }

    /// Whether a segment sent after `sending`, which ends at `end`, was delivered by `now`, and since when.
    pub(in crate::follow) fn overtook(&self, sending: &Sending, end: i64, now: Stamp) -> Option<Overtaken> {
        let latest = self.arrivals.back()?;
        let first = self.arrivals.partition_point(|arrival| arrival.sent <= (sending.at, end));
        let first = self.arrivals.get(first)?;
        Some(Overtaken { known_for: now.since(first.received), rtt: latest.received.since(latest.sent.0) })
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
    fn segments_sent_before_a_delivered_one_are_overtaken() {
        let mut delivered = Delivered::default();
        let now = sending(20).at;
        assert_eq!(delivered.overtook(&sending(0), 1, now), None);
        delivered.process(&piece(5), sending(15).at, Span::from_ms(10));
        delivered.process(&piece(3), sending(16).at, Span::from_ms(10));
        let overtaken = Overtaken { known_for: Span::from_ms(5), rtt: Span::from_ms(10) };
        assert_eq!(delivered.overtook(&sending(4), 1, now), Some(overtaken));
        assert_eq!(delivered.overtook(&sending(5), 1, now), None);
    }

    #[test]
    fn the_first_later_delivery_counts() {
        let mut delivered = Delivered::default();
        for ms in 5..10 {
            delivered.process(&piece(ms), sending(2 * ms + 10).at, Span::from_ms(10));
        }
        let overtaken = Overtaken { known_for: Span::from_ms(6), rtt: Span::from_ms(19) };
        assert_eq!(delivered.overtook(&sending(6), 1, sending(30).at), Some(overtaken));
    }

    #[test]
    fn an_ack_below_the_minimum_rtt_belongs_to_an_earlier_transmission() {
        let mut delivered = Delivered::default();
        let again = Piece { resent: true, ..piece(5) };
        delivered.process(&again, sending(14).at, Span::from_ms(10));
        assert_eq!(delivered.overtook(&sending(4), 1, sending(20).at), None);
        delivered.process(&piece(5), sending(14).at, Span::from_ms(10));
        assert!(delivered.overtook(&sending(4), 1, sending(20).at).is_some(), "it was sent only once");
    }

    #[test]
    fn of_two_sent_at_the_same_instant_the_higher_one_was_sent_later() {
        let mut delivered = Delivered::default();
        delivered.process(&Piece::new(100, 200, sending(5)), sending(15).at, Span::from_ms(10));
        assert!(delivered.overtook(&sending(5), 100, sending(20).at).is_some());
        assert_eq!(delivered.overtook(&sending(5), 300, sending(20).at), None);
    }
}
