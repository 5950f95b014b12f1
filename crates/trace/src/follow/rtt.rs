//! Which ACK measures a round-trip time, and of which segment.

use super::pieces::{Piece, Sending};

/// What an ACK covers for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Covered {
    /// The last piece of it.
    pub(super) newest: Option<Piece>,
    /// Whether any piece of it was sent more than once.
    pub(super) resent: bool,
    /// Whether some of it was not captured.
    pub(super) unseen: bool,
    /// Whether SACK had reported the newest piece before.
    pub(super) reported: bool,
    /// The sending whose timestamp the ACK echoes.
    pub(super) echoed: Option<Echoed>,
}

/// A sending whose timestamp came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Echoed {
    /// This one, of a piece so long.
    One(Sending, u32),
    /// One of two with the same timestamp: the clock was too coarse.
    Either,
}

/// Why an ACK measures nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoSample {
    /// Nothing that it covers was captured.
    Nothing,
    /// It covers something that was sent more than once: it may answer either, or have waited for it.
    Resent,
    /// It covers something that was not captured: it may have waited for that.
    Unseen,
    /// The receiver reported the segment long ago.
    Reported,
    /// It echoes the timestamp of nothing that it covers.
    Foreign,
    /// It echoes a timestamp that two sendings had.
    Coarse,
}

/// Karn's rule (RFC 6298, section 3): the newest segment that the ACK covers is the one that it answers, unless a
/// retransmission is involved. That holds for all that the ACK covers: the ACK of a segment sent once may have waited
/// for another to be sent again. Returns the sending and the length of what was sent.
#[inline]
pub(super) const fn by_karn(covered: &Covered) -> Result<(Sending, u32), NoSample> {
    match covered.newest {
        None => Err(NoSample::Nothing),
        Some(_) if covered.resent => Err(NoSample::Resent),
        Some(_) if covered.unseen => Err(NoSample::Unseen),
        Some(_) if covered.reported => Err(NoSample::Reported),
        Some(newest) => Ok((newest.first, newest.len())),
    }
}

/// Timestamps (RFC 7323, section 4.1): an ACK that covers something new echoes the timestamp of the segment that it
/// answers, retransmission or not. Returns the sending and the length of what was sent.
#[inline]
pub(super) const fn by_timestamps(covered: &Covered) -> Result<(Sending, u32), NoSample> {
    match covered.echoed {
        None => Err(NoSample::Foreign),
        Some(Echoed::Either) => Err(NoSample::Coarse),
        Some(Echoed::One(sending, len)) => Ok((sending, len)),
    }
}

/// The sending of a piece that bore the timestamp `value`.
#[inline]
pub(super) fn sending_with(piece: &Piece, value: u32) -> Option<Echoed> {
    let bears = |sending: &Sending| sending.value == Some(value);
    match (bears(&piece.first), bears(&piece.last), piece.resent) {
        (true, true, true) => Some(Echoed::Either),
        (true, ..) => Some(Echoed::One(piece.first, piece.len())),
        (_, true, _) => Some(Echoed::One(piece.last, piece.len())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Stamp;

    const fn sending(at: u64, value: u32) -> Sending {
        Sending { at: Stamp(at), value: Some(value), identification: 0 }
    }

    fn covered() -> Covered {
        Covered { newest: Some(Piece::new(0, 10, sending(1, 5))), ..Covered::default() }
    }

    #[test]
    fn the_newest_segment_is_the_one_that_is_answered() {
        assert_eq!(by_karn(&covered()), Ok((sending(1, 5), 10)));
        assert_eq!(by_karn(&Covered::default()), Err(NoSample::Nothing));
    }

    #[test]
    fn a_retransmission_anywhere_below_the_ack_spoils_the_sample() {
        assert_eq!(by_karn(&Covered { resent: true, ..covered() }), Err(NoSample::Resent));
        assert_eq!(by_karn(&Covered { unseen: true, ..covered() }), Err(NoSample::Unseen));
        assert_eq!(by_karn(&Covered { reported: true, ..covered() }), Err(NoSample::Reported));
    }

    #[test]
    fn a_timestamp_tells_which_sending_was_answered() {
        let twice =
            |second| Piece { last: sending(9, second), resent: true, ..Piece::new(0, 10, sending(1, 5)) };
        assert_eq!(sending_with(&twice(8), 5), Some(Echoed::One(sending(1, 5), 10)));
        assert_eq!(sending_with(&twice(8), 8), Some(Echoed::One(sending(9, 8), 10)));
        assert_eq!(sending_with(&twice(8), 7), None);
        assert_eq!(sending_with(&twice(5), 5), Some(Echoed::Either));
        let with = |echoed| by_timestamps(&Covered { echoed, resent: true, ..covered() });
        assert_eq!(with(Some(Echoed::One(sending(9, 8), 10))), Ok((sending(9, 8), 10)));
        assert_eq!(with(Some(Echoed::Either)), Err(NoSample::Coarse));
        assert_eq!(with(None), Err(NoSample::Foreign));
    }
}
