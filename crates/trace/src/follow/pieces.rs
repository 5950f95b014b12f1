//! What was sent and is not acknowledged yet, piece by piece, with the times.

use crate::stamp::Stamp;
use std::collections::VecDeque;

/// More pieces than a stream may have outstanding; the oldest are forgotten then.
const MOST: usize = 1 << 19;
/// In a longer queue nothing is put into the middle any more: whoever makes us do so is not a sender.
const MOST_TO_SHIFT: usize = 1 << 14;
/// So many pieces are remembered after they were acknowledged.
const PAST: usize = 32;

/// One sending of a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sending {
    pub(super) at: Stamp,
    /// TSval, if there was one.
    pub(super) value: Option<u32>,
    /// IPv4's identification; 0 if the packet has none.
    pub(super) identification: u16,
}

/// A range of the stream that was sent in one segment, and all of it as often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) first: Sending,
    pub(super) last: Sending,
    /// Whether it went more than once, or may have before we saw it.
    pub(super) resent: bool,
}

impl Piece {
    pub(super) const fn new(start: i64, end: i64, sending: Sending) -> Self {
        Self { start, end, first: sending, last: sending, resent: false }
    }

    pub(super) const fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// The pieces outstanding, in order of place and without overlap. Between two there may be a hole: something that was not
/// captured.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    outstanding: VecDeque<Piece>,
    past: VecDeque<Piece>,
}

impl Pieces {
    pub(super) fn len(&self) -> usize {
        self.outstanding.len()
    }

    /// When the hindmost piece that is remembered was sent last.
    pub(super) fn newest(&self) -> Option<Stamp> {
        self.outstanding.back().or(self.past.back()).map(|piece| piece.last.at)
    }

    /// Adds what stands behind all others.
    #[inline]
    pub(super) fn push(&mut self, piece: Piece) {
        debug_assert!(self.outstanding.back().is_none_or(|last| last.end <= piece.start));
        if self.outstanding.len() == MOST {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back(piece);
    }

    /// Adds what fills a hole, or part of one.
    pub(super) fn fill(&mut self, piece: Piece) {
        let at = self.outstanding.partition_point(|other| other.start < piece.start);
        if self.outstanding.len() < MOST_TO_SHIFT {
            self.outstanding.insert(at, piece);
        }
    }

    /// The piece that holds `place`, though it may be acknowledged by now.
    pub(super) fn find(&self, place: i64) -> Option<&Piece> {
        let at = self.outstanding.partition_point(|piece| piece.end <= place);
        let holds = |piece: &&Piece| (piece.start..piece.end).contains(&place);
        self.outstanding.get(at).filter(holds).or_else(|| self.past.iter().rev().find(holds))
    }

    /// What lies from `start` to `end` was sent again.
    pub(super) fn send_again(&mut self, start: i64, end: i64, sending: Sending) {
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

    /// Makes two pieces of the one that `place` lies within.
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

    /// Takes out the first piece that `ack` covers, or the part of it that it covers.
    #[inline]
    pub(super) fn take_below(&mut self, ack: i64) -> Option<Piece> {
        let first = self.outstanding.front_mut().filter(|piece| piece.start < ack)?;
        let taken = Piece { end: first.end.min(ack), ..*first };
        if first.end <= ack {
            self.outstanding.pop_front();
        } else {
            first.start = ack;
        }
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(taken);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(at: u64) -> Sending {
        Sending { at: Stamp(at), value: None, identification: 0 }
    }

    #[test]
    fn part_of_a_long_piece_may_go_again() {
        let mut pieces = Pieces::default();
        pieces.push(Piece::new(0, 10, sending(1)));
        pieces.push(Piece::new(10, 30, sending(2)));
        pieces.send_again(5, 20, sending(7));
        let seen: Vec<_> = core::iter::from_fn(|| pieces.take_below(25))
            .map(|piece| (piece.start, piece.end, piece.last.at.0, piece.resent))
            .collect();
        assert_eq!(seen, [(0, 5, 1, false), (5, 10, 7, true), (10, 20, 7, true), (20, 25, 2, false)]);
        assert_eq!(pieces.len(), 1);
        assert_eq!(
            pieces.find(22).unwrap().first,
            sending(2),
            "what is acknowledged is remembered for a while"
        );
        assert_eq!(pieces.find(27).unwrap().start, 25);
        assert_eq!(pieces.find(30), None);
    }

    #[test]
    fn a_hole_is_filled_in_its_place() {
        let mut pieces = Pieces::default();
        pieces.push(Piece::new(0, 10, sending(1)));
        pieces.push(Piece::new(20, 30, sending(2)));
        assert_eq!(pieces.find(15), None);
        pieces.fill(Piece::new(10, 20, sending(3)));
        assert_eq!(pieces.find(15).unwrap().first, sending(3));
    }
}
