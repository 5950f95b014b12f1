//! Segments of which an ACK acknowledges a part.

use super::Flight;
use crate::ranges::Range;

/// The parts of segments at both ends of what an ACK acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Parts {
    /// Bytes of a segment that it completes and that were acknowledged before.
    before: u64,
    /// Bytes of a segment that it does not complete.
    behind: u64,
    /// It completes no segment.
    completes_none: bool,
    /// Bytes of a segment that it does not complete, also if that was reported before.
    cut_off: u64,
    /// 1 if its last byte is a FIN in a full segment.
    fin: u64,
}

impl Parts {
    /// Whether an ACK with these parts acknowledges the end of a segment.
    pub(crate) const fn completes_any(self) -> bool {
        !self.completes_none
    }

    /// The bytes that an ACK with these parts acknowledges of a segment that goes on behind.
    pub(crate) const fn cut_off(self) -> u64 {
        self.cut_off
    }

    /// Whether the ACK of `acked`, which has these parts, acknowledges all of `segment`. Without parts, every segment counts.
    pub(crate) const fn has_all_of(self, segment: Range, acked: Range) -> bool {
        self.cut_off == 0 || segment.end <= acked.end
    }

    /// The same if the segments at the ends were reported before: they have counted as a whole.
    pub(crate) const fn without_reported(self, first: bool, last: bool) -> Self {
        let before = if first { 0 } else { self.before };
        let behind = if last { 0 } else { self.behind };
        Self { before, behind, ..self }
    }

    /// The same, of which the last byte is a FIN in a full segment, if `fin` is 1.
    pub(crate) const fn with_fin(self, fin: u64) -> Self {
        Self { fin, ..self }
    }

    /// The bytes of whole segments that an ACK of `acked` bytes completes; the same if there are no parts.
    pub(crate) const fn in_whole_segments(self, acked: u64) -> u64 {
        (acked + self.before).saturating_sub(self.behind + self.fin)
    }
}

impl Flight {
    /// A part of the first entry may be acknowledged now, if there is one.
    #[cold]
    pub(super) fn cut_first(&mut self) {
        if self.cut_from == 0 && !self.entries.is_empty() {
            (self.cut_from, self.unusual) = (self.edge, self.unusual + 1);
        }
    }

    /// Where the first segment begins, if a part of it was acknowledged before, and `range` acknowledges the rest. Not if it
    /// was sent again.
    pub(crate) fn completes_first(&self, range: Range) -> Option<u64> {
        let first = self.entries.front().filter(|first| !first.again && first.end <= range.end)?;
        debug_assert!(first.end > self.edge);
        self.cut_from()
    }

    /// The acknowledged bytes of the first segment; the log is of what is not acknowledged below `una`.
    #[inline(always)]
    pub(crate) fn part_of_first(&self, una: u64) -> u64 {
        if self.cut_from == 0 { 0 } else { una.saturating_sub(self.cut_from) }
    }

    /// The parts of segments at both ends of `range`, which begins at the first unacknowledged byte.
    pub(crate) fn parts_at(&self, range: Range) -> Parts {
        let completes_none = self.entries.front().is_some_and(|first| first.end > range.end);
        let cut_from = self.cut_from().filter(|_| !completes_none);
        let before = cut_from.map_or(0, |start| range.start.saturating_sub(start));
        let last = self.index_of(range.end);
        let start = self.start_of(last).max(range.start);
        let behind = if last < self.entries.len() { range.end.saturating_sub(start) } else { 0 };
        Parts { before, behind, completes_none, cut_off: behind, fin: 0 }
    }

    /// Where the first segment begins, if a part of it was acknowledged before.
    pub(crate) fn cut_from(&self) -> Option<u64> {
        (self.cut_from > 0).then_some(self.cut_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    #[test]
    fn an_ack_counts_a_segment_when_all_of_it_is_acknowledged() {
        let mut flight = Flight::default();
        for start in [1, 1001, 2001] {
            flight.add(start, start + 1000, Time::ZERO);
        }
        let mut counted = |acked: Range| {
            let parts = flight.parts_at(acked);
            flight.forget_below(acked.end);
            (parts.completes_any(), parts.in_whole_segments(acked.len()))
        };
        assert_eq!(counted(Range::new(1, 401)), (false, 0));
        assert_eq!(counted(Range::new(401, 1501)), (true, 1000));
        assert_eq!(counted(Range::new(1501, 3001)), (true, 2000));
    }

    #[test]
    fn the_rest_of_a_segment_that_is_sent_again_is_a_segment_of_its_own() {
        let mut flight = Flight::default();
        flight.add(1, 1001, Time::ZERO);
        flight.forget_below(401);
        let rest = Range::new(401, 1001);
        assert_eq!(flight.parts_at(rest).in_whole_segments(600), 1000);
        flight.add_again(rest, Time::ZERO);
        assert_eq!(flight.parts_at(rest).in_whole_segments(600), 600, "and its padding");
        flight.forget_below(1001);
        assert_eq!(flight.cut_from(), None);
    }
}
