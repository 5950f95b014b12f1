//! Detects spurious retransmissions by the ACKs that follow.

use crate::follow::stream::pieces::Piece;
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

/// Number of stored retransmissions per stream; the oldest are dropped first.
const MOST: usize = 256;

/// The proof that a retransmission was spurious.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Proof {
    /// The data was acknowledged, or reported by SACK, before the retransmission passed the capture point.
    Acknowledged,
    /// A D-SACK: the receiver got the data twice (RFC 2883; RFC 3708).
    DSack,
    /// The ACK echoes the timestamp of an earlier transmission (RFC 3522, "Eifel").
    Timestamps,
    /// The ACK that covers it was caused by a segment sent before it, or came sooner than a round trip after it.
    Order,
    /// The original passes the capture point after its retransmission, as their timestamps show.
    Original,
}

impl Proof {
    /// Every proof, in declaration order.
    pub const ALL: [Self; 5] =
        [Self::Acknowledged, Self::DSack, Self::Timestamps, Self::Order, Self::Original];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::DSack => "d-sack",
            Self::Timestamps => "timestamps",
            Self::Order => "order",
            Self::Original => "original",
        }
    }
}

/// A retransmission that may be spurious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) struct Suspect {
    pub(in crate::follow) start: i64,
    pub(in crate::follow) end: i64,
}

/// A stream's latest retransmissions without proof.
#[derive(Debug, Default)]
pub(in crate::follow) struct Suspects(VecDeque<Suspect>);

impl Suspects {
    pub(in crate::follow) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::follow) fn add(&mut self, suspect: Suspect) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(suspect);
    }

    /// The receiver got `start` to `end` twice. Removes and returns the retransmission of it.
    pub(in crate::follow) fn prove(&mut self, start: i64, end: i64) -> Option<Suspect> {
        let at = self.0.iter().position(|suspect| suspect.start < end && start < suspect.end)?;
        self.0.remove(at)
    }
}

/// Eifel detection (RFC 3522, section 3.2): the first ACK after a retransmission echoes an older timestamp than the
/// retransmission's. Only the piece at the left edge is checked; for later ones an old echo is no proof.
pub(in crate::follow) fn eifel(front: &Piece, echo: u32) -> bool {
    let (Some(first), Some(last)) = (front.first.value, front.last.value) else { return false };
    front.resent && first != last && echo.wrapping_sub(last).cast_signed() < 0
}

/// Whether the ACK that filled the hole at `front` shows that the retransmission of a later piece was spurious.
///
/// A receiver acknowledges at once when a hole is filled (RFC 5681, section 4.2), and echoes the timestamp of the segment
/// that filled it (RFC 7323, section 4.3). What was sent after that segment had not arrived then, so the ACK covers an
/// earlier transmission. Timestamps must differ: a receiver may answer several segments with equal ones together.
pub(in crate::follow) fn was_sent_later(front: &Piece, piece: &Piece, echo: u32) -> bool {
    let (Some(filled), Some(value)) = (front.last.value, piece.last.value) else { return false };
    front.resent && piece.resent && filled == echo && value.wrapping_sub(echo).cast_signed() > 0
}

/// Whether the ACK at `now` covers a retransmission that cannot have reached the receiver by then: `least` is the least RTT.
pub(in crate::follow) fn is_too_soon(piece: &Piece, now: Stamp, least: Span) -> bool {
    piece.resent && now.since(piece.last.at) < least
}

/// Whether the first block of a SACK option is a D-SACK (RFC 2883, section 4): below the acknowledgment, or within the
/// second block.
pub(in crate::follow) const fn is_d_sack(first: (i64, i64), ack: i64, second: Option<(i64, i64)>) -> bool {
    if first.1 <= ack {
        return true;
    }
    match second {
        Some((left, right)) => left <= first.0 && first.1 <= right,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::stream::pieces::Sending;

    #[test]
    fn an_echo_older_than_the_retransmission_proves_the_original_arrived() {
        let sending = |value| Sending { at: Stamp(0), value: Some(value), identification: 0 };
        let piece = Piece { last: sending(9), resent: true, ..Piece::new(0, 10, sending(5)) };
        assert!(eifel(&piece, 5) && eifel(&piece, 8) && eifel(&piece, u32::MAX));
        assert!(!eifel(&piece, 9) && !eifel(&piece, 10));
        assert!(!eifel(&Piece { last: sending(5), ..piece }, 4), "both have the same timestamp");
        assert!(!eifel(&Piece { resent: false, ..piece }, 5));
    }

    #[test]
    fn an_ack_that_echoes_an_earlier_retransmission_proves_a_later_one_spurious() {
        let sending = |value| Sending { at: Stamp(0), value: Some(value), identification: 0 };
        let resent = |start, value| Piece {
            last: sending(value),
            resent: true,
            ..Piece::new(start, start + 10, sending(1))
        };
        let front = resent(0, 9);
        assert!(was_sent_later(&front, &resent(10, 10), 9));
        assert!(!was_sent_later(&front, &resent(10, 9), 9), "one ACK may answer both");
        assert!(!was_sent_later(&front, &resent(10, 10), 10), "the later one caused the ACK");
        assert!(!was_sent_later(&front, &Piece::new(10, 20, sending(10)), 9), "it was sent once");
        assert!(
            !was_sent_later(&Piece::new(0, 10, sending(9)), &resent(10, 10), 9),
            "the first did not fill a hole"
        );
    }

    #[test]
    fn an_ack_within_less_than_a_round_trip_proves_a_retransmission_spurious() {
        let sending = |at| Sending { at: Stamp(at), value: None, identification: 0 };
        let piece = Piece { last: sending(1000), resent: true, ..Piece::new(0, 10, sending(0)) };
        let least = Span::from_ns(800);
        assert!(is_too_soon(&piece, Stamp(1799), least));
        assert!(!is_too_soon(&piece, Stamp(1800), least));
        assert!(!is_too_soon(&Piece { resent: false, ..piece }, Stamp(1001), least));
    }

    #[test]
    fn a_first_block_below_the_ack_or_within_the_second_is_a_d_sack() {
        assert!(is_d_sack((5, 10), 10, None));
        assert!(!is_d_sack((15, 20), 10, None));
        assert!(is_d_sack((15, 20), 10, Some((15, 30))));
        assert!(!is_d_sack((15, 20), 10, Some((25, 30))));
    }

    #[test]
    fn each_retransmission_is_proved_spurious_once() {
        let mut suspects = Suspects::default();
        suspects.add(Suspect { start: 0, end: 10 });
        assert_eq!(suspects.prove(10, 20), None);
        assert_eq!(suspects.prove(5, 10), Some(Suspect { start: 0, end: 10 }));
        assert_eq!(suspects.prove(5, 10), None);
    }
}
