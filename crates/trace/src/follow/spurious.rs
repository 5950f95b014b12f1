//! Which retransmissions were needless, by what comes back afterwards.

use super::pieces::Piece;
use std::collections::VecDeque;

/// So many of a stream's latest retransmissions wait for proof.
const MOST: usize = 256;

/// What shows that a retransmission was needless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Proof {
    /// It was acknowledged, or reported by SACK, before it came by here.
    Acknowledged,
    /// The receiver says that it came twice (RFC 2883; RFC 3708).
    DSack,
    /// The ACK echoes the timestamp of an earlier sending (RFC 3522, "Eifel").
    Timestamps,
}

impl Proof {
    /// Every proof, in declaration order.
    pub const ALL: [Self; 3] = [Self::Acknowledged, Self::DSack, Self::Timestamps];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::DSack => "d-sack",
            Self::Timestamps => "timestamps",
        }
    }
}

/// A retransmission that may turn out to have been needless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Suspect {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// A stream's latest retransmissions of which nothing is proved.
#[derive(Debug, Default)]
pub(super) struct Suspects(VecDeque<Suspect>);

impl Suspects {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, suspect: Suspect) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(suspect);
    }

    /// `start` to `end` came twice: the retransmission that this is said of, if there is one.
    pub(super) fn convict(&mut self, start: i64, end: i64) -> Option<Suspect> {
        let at = self.0.iter().position(|suspect| suspect.start < end && start < suspect.end)?;
        self.0.remove(at)
    }
}

/// Eifel detection (RFC 3522, section 3.2): the first ACK after a retransmission echoes a timestamp older than the
/// retransmission's. Only the piece at the left edge is judged: for those behind it an old echo proves nothing.
pub(super) fn eifel(front: &Piece, echo: u32) -> bool {
    let (Some(first), Some(last)) = (front.first.value, front.last.value) else { return false };
    front.resent && first != last && echo.wrapping_sub(last).cast_signed() < 0
}

/// Whether the first block of a SACK option is a D-SACK (RFC 2883, section 4): below the acknowledgment, or within the
/// second block.
pub(super) const fn is_d_sack(first: (i64, i64), ack: i64, second: Option<(i64, i64)>) -> bool {
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
    use crate::follow::pieces::Sending;
    use crate::stamp::Stamp;

    #[test]
    fn an_echo_older_than_the_retransmission_speaks_of_the_original() {
        let sending = |value| Sending { at: Stamp(0), value: Some(value), identification: 0 };
        let piece = Piece { last: sending(9), resent: true, ..Piece::new(0, 10, sending(5)) };
        assert!(eifel(&piece, 5) && eifel(&piece, 8) && eifel(&piece, u32::MAX));
        assert!(!eifel(&piece, 9) && !eifel(&piece, 10));
        assert!(!eifel(&Piece { last: sending(5), ..piece }, 4), "one tick for both");
        assert!(!eifel(&Piece { resent: false, ..piece }, 5));
    }

    #[test]
    fn a_first_block_below_the_ack_or_within_the_second_is_a_d_sack() {
        assert!(is_d_sack((5, 10), 10, None));
        assert!(!is_d_sack((15, 20), 10, None));
        assert!(is_d_sack((15, 20), 10, Some((15, 30))));
        assert!(!is_d_sack((15, 20), 10, Some((25, 30))));
    }

    #[test]
    fn each_retransmission_is_convicted_once() {
        let mut suspects = Suspects::default();
        suspects.add(Suspect { start: 0, end: 10 });
        assert_eq!(suspects.convict(10, 20), None);
        assert_eq!(suspects.convict(5, 10), Some(Suspect { start: 0, end: 10 }));
        assert_eq!(suspects.convict(5, 10), None);
    }
}
