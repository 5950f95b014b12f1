//! The scoreboard of a stream: data that was sent and is not acknowledged, with its transmission times.

use crate::stamp::Stamp;
use netspurt_tcp::time::Span;
use std::collections::VecDeque;

/// Maximum of outstanding pieces; the oldest are dropped first.
const MOST: usize = 1 << 19;
/// Above this length, nothing is inserted in the middle, because a hostile capture could make that slow.
const MOST_TO_SHIFT: usize = 1 << 14;
/// Number of pieces that are kept after their acknowledgment.
const PAST: usize = 32;
/// The same during a recovery. One ACK may then acknowledge a whole window, and retransmissions of that data may follow it.
const PAST_IN_REPAIR: usize = 4096;

/// A transmission of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) struct Sending {
    pub(in crate::follow) at: Stamp,
    /// TSval; `None` without the option.
    pub(in crate::follow) value: Option<u32>,
    /// IPv4's identification; 0 if the packet has none.
    pub(in crate::follow) identification: u16,
}

impl Sending {
    /// How much later than `other` it left, by the timestamps in the usual unit of 1 ms; `None` if it did not, or without them.
    pub(in crate::follow) fn left_after(&self, other: &Self) -> Option<Span> {
        let ticks = self.value?.wrapping_sub(other.value?).cast_signed();
        u64::try_from(ticks).ok().filter(|&ticks| ticks > 0).map(Span::from_ms)
    }
}

/// A range of the stream that was sent in one segment each time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) struct Piece {
    pub(in crate::follow) start: i64,
    pub(in crate::follow) end: i64,
    pub(in crate::follow) first: Sending,
    pub(in crate::follow) last: Sending,
    /// Whether it was sent more than once, or may have been before the capture.
    pub(in crate::follow) resent: bool,
}

impl Piece {
    pub(in crate::follow) const fn new(start: i64, end: i64, sending: Sending) -> Self {
        Self { start, end, first: sending, last: sending, resent: false }
    }

    pub(in crate::follow) const fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// The outstanding pieces, sorted by position, without overlap. Data between two pieces was not captured.
#[derive(Debug, Default)]
pub(in crate::follow) struct Pieces {
    outstanding: VecDeque<Piece>,
    past: VecDeque<Piece>,
}

impl Pieces {
    pub(in crate::follow) fn len(&self) -> usize {
        self.outstanding.len()
    }

    /// When the last piece was last sent.
    pub(in crate::follow) fn newest(&self) -> Option<Stamp> {
        self.newest_sending().map(|last| last.at)
    }

    /// The last transmission of the last piece.
    pub(in crate::follow) fn newest_sending(&self) -> Option<Sending> {
        self.outstanding.back().or(self.past.back()).map(|piece| piece.last)
    }

    /// Appends a piece after all others.
    #[inline]
    pub(in crate::follow) fn push(&mut self, piece: Piece) {
        debug_assert!(self.outstanding.back().is_none_or(|last| last.end <= piece.start));
        if self.outstanding.len() == MOST {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back(piece);
    }

    /// Inserts a piece between others.
    pub(in crate::follow) fn fill(&mut self, piece: Piece) {
        let at = self.outstanding.partition_point(|other| other.start < piece.start);
        if self.outstanding.len() < MOST_TO_SHIFT {
            self.outstanding.insert(at, piece);
        }
    }

    /// The piece that contains `place`, also if it was acknowledged recently.
    pub(in crate::follow) fn find(&self, place: i64) -> Option<&Piece> {
        let at = self.outstanding.partition_point(|piece| piece.end <= place);
        let holds = |piece: &&Piece| (piece.start..piece.end).contains(&place);
        self.outstanding.get(at).filter(holds).or_else(|| {
            let at = self.past.partition_point(|piece| piece.end <= place);
            self.past.get(at).filter(holds)
        })
    }

    /// Records a retransmission of `start` to `end`.
    pub(in crate::follow) fn send_again(&mut self, start: i64, end: i64, sending: Sending) {
        self.cut(start);
        self.cut(end);
        let from = self.outstanding.partition_point(|piece| piece.end <= start);
        for piece in self.outstanding.range_mut(from..) {
            if piece.start >= end {
                break;
            }
            piece.last = sending;
            piece.resent = true;
        }
    }

    /// Splits the piece that contains `place`.
    fn cut(&mut self, place: i64) {
        let at = self.outstanding.partition_point(|piece| piece.end <= place);
        let full = self.outstanding.len() >= MOST_TO_SHIFT;
        if let Some(piece) = self.outstanding.get_mut(at)
            && piece.start < place
            && !full
        {
            let behind = Piece { start: place, ..*piece };
            piece.end = place;
            self.outstanding.insert(at + 1, behind);
        }
    }

    /// The pieces that begin below `ack`.
    pub(in crate::follow) fn below(&self, ack: i64) -> impl Iterator<Item = &Piece> {
        self.outstanding.iter().take_while(move |piece| piece.start < ack)
    }

    /// Removes the first piece below `ack`, or the part of it below `ack`. More is kept if the sender is `repairing` losses.
    #[inline]
    pub(in crate::follow) fn take_below(&mut self, ack: i64, repairing: bool) -> Option<Piece> {
        let first = self.outstanding.front_mut().filter(|piece| piece.start < ack)?;
        let taken = Piece { end: first.end.min(ack), ..*first };
        if first.end <= ack {
            self.outstanding.pop_front();
        } else {
            first.start = ack;
        }
        self.keep(taken, if repairing { PAST_IN_REPAIR } else { PAST });
        Some(taken)
    }

    /// Keeps a piece that was acknowledged. If more than `most` are left of a recovery, two older ones go for each new one.
    #[inline]
    fn keep(&mut self, piece: Piece, most: usize) {
        for _ in 0..2 {
            if self.past.len() >= most {
                self.past.pop_front();
            }
        }
        // They stay sorted. What was captured late may lie before them.
        if self.past.back().is_none_or(|last| last.end <= piece.start) {
            self.past.push_back(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(at: u64) -> Sending {
        Sending { at: Stamp(at), value: None, identification: 0 }
    }

    #[test]
    fn a_part_of_a_piece_can_be_retransmitted() {
        let mut pieces = Pieces::default();
        pieces.push(Piece::new(0, 10, sending(1)));
        pieces.push(Piece::new(10, 30, sending(2)));
        pieces.send_again(5, 20, sending(7));
        let seen: Vec<_> = core::iter::from_fn(|| pieces.take_below(25, false))
            .map(|piece| (piece.start, piece.end, piece.last.at.0, piece.resent))
            .collect();
        assert_eq!(seen, [(0, 5, 1, false), (5, 10, 7, true), (10, 20, 7, true), (20, 25, 2, false)]);
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces.find(22).unwrap().first, sending(2), "acknowledged pieces are kept for a while");
        assert_eq!(pieces.find(27).unwrap().start, 25);
        assert_eq!(pieces.find(30), None);
    }

    #[test]
    fn more_is_kept_of_a_recovery_and_fades_behind_it() {
        let mut pieces = Pieces::default();
        for n in 0..9000 {
            pieces.push(Piece::new(n, n + 1, sending(1)));
        }
        while pieces.take_below(8000, true).is_some() {}
        assert!(pieces.find(4000).is_some() && pieces.find(3000).is_none());
        while pieces.take_below(8500, false).is_some() {}
        assert!(pieces.find(8000 - 3000).is_some() && pieces.find(4500).is_none());
        pieces.push(Piece::new(9000, 20_000, sending(1)));
        for ack in 8501..=20_000 {
            pieces.take_below(ack, false);
        }
        assert_eq!(pieces.past.len(), PAST);
    }

    #[test]
    fn a_piece_is_inserted_in_a_gap() {
        let mut pieces = Pieces::default();
        pieces.push(Piece::new(0, 10, sending(1)));
        pieces.push(Piece::new(20, 30, sending(2)));
        assert_eq!(pieces.find(15), None);
        pieces.fill(Piece::new(10, 20, sending(3)));
        assert_eq!(pieces.find(15).unwrap().first, sending(3));
    }
}
