//! Which ACKs are RTT samples, and of which segment.

pub(super) mod distribution;
pub(super) mod estimate;
pub(super) mod turnaround;

use crate::follow::stream::pieces::{Piece, Sending};

/// The data that an ACK covers for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Covered {
    /// Its last piece.
    pub(super) newest: Option<Piece>,
    /// Whether any piece of it was sent more than once.
    pub(super) resent: bool,
    /// Whether some of it was not captured.
    pub(super) unseen: bool,
    /// Whether SACK had reported the last piece before.
    pub(super) reported: bool,
    /// The transmission whose timestamp the ACK echoes.
    pub(super) echoed: Option<Echoed>,
}

/// A transmission whose timestamp was echoed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Echoed {
    /// This one, of a piece of this length.
    One(Sending, u32),
    /// One of two with the same timestamp, because the sender's clock is coarse.
    Either,
}

/// Why an ACK is no RTT sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoSample {
    /// It covers no captured data.
    Nothing,
    /// It covers retransmitted data, so the ACK may belong to either transmission.
    Resent,
    /// It covers data that was not captured, and may have waited for that.
    Unseen,
    /// The receiver reported the segment by SACK before.
    Reported,
    /// It echoes a timestamp of data that it does not cover.
    Foreign,
    /// Two transmissions had the timestamp that it echoes.
    Coarse,
}

/// Karn's rule (RFC 6298, section 3): the ACK belongs to the last segment that it covers, unless any of the covered
/// data was retransmitted. The ACK of a segment sent once may have waited for the retransmission of another. Returns
/// the transmission and its length.
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

/// Timestamps (RFC 7323, section 4.1): an ACK of new data echoes the timestamp of the segment that caused it,
/// retransmitted or not. Returns the transmission and its length.
#[inline]
pub(super) const fn by_timestamps(covered: &Covered) -> Result<(Sending, u32), NoSample> {
    match covered.echoed {
        None => Err(NoSample::Foreign),
        Some(Echoed::Either) => Err(NoSample::Coarse),
        Some(Echoed::One(sending, len)) => Ok((sending, len)),
    }
}

/// The transmission of a piece with the timestamp `value`.
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
    fn an_ack_measures_the_last_segment_that_it_covers() {
        assert_eq!(by_karn(&covered()), Ok((sending(1, 5), 10)));
        assert_eq!(by_karn(&Covered::default()), Err(NoSample::Nothing));
    }

    #[test]
    fn a_retransmission_anywhere_below_the_ack_prevents_a_sample() {
        assert_eq!(by_karn(&Covered { resent: true, ..covered() }), Err(NoSample::Resent));
        assert_eq!(by_karn(&Covered { unseen: true, ..covered() }), Err(NoSample::Unseen));
        assert_eq!(by_karn(&Covered { reported: true, ..covered() }), Err(NoSample::Reported));
    }

    #[test]
    fn a_timestamp_identifies_the_transmission() {
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
