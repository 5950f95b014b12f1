//! Ranges of a stream that were passed over by what came: lost before the place of capture, late, or not captured.

use super::pieces::Sending;
use std::collections::VecDeque;

/// The lowest are forgotten if there are more.
const MOST: usize = 1024;

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gap {
    pub(super) start: i64,
    pub(super) end: i64,
    /// How the segment was sent that passed it over.
    pub(super) opener: Sending,
    /// The opener's number among the segments with data.
    pub(super) order: u64,
}

/// All of a stream, in order of place.
#[derive(Debug, Default)]
pub(super) struct Gaps(VecDeque<Gap>);

impl Gaps {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    #[cold]
    pub(super) fn open(&mut self, gap: Gap) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(gap);
    }

    /// The gap that `start` to `end` lies in as a whole.
    pub(super) fn around(&self, start: i64, end: i64) -> Option<&Gap> {
        let at = self.0.partition_point(|gap| gap.end <= start);
        self.0.get(at).filter(|gap| gap.start <= start && end <= gap.end)
    }

    /// `start` to `end` has come.
    pub(super) fn close(&mut self, start: i64, end: i64) {
        let mut at = self.0.partition_point(|gap| gap.end <= start);
        while let Some(&gap) = self.0.get(at).filter(|gap| gap.start < end) {
            self.0.remove(at);
            let rest = [Gap { end: start.min(gap.end), ..gap }, Gap { start: end.max(gap.start), ..gap }];
            for part in rest {
                if part.start < part.end && self.0.len() < MOST {
                    self.0.insert(at, part);
                    at += 1;
                }
            }
        }
    }

    /// Everything before `ack` is acknowledged. Takes out the first gap, or part of one, that was not captured at all.
    #[inline]
    pub(super) fn take_below(&mut self, ack: i64) -> Option<Gap> {
        let first = self.0.front_mut().filter(|gap| gap.start < ack)?;
        let taken = Gap { end: first.end.min(ack), ..*first };
        if first.end <= ack {
            self.0.pop_front();
        } else {
            first.start = ack;
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Stamp;

    fn gap(start: i64, end: i64) -> Gap {
        let opener = Sending { at: Stamp(0), value: None, identification: 0 };
        Gap { start, end, opener, order: 0 }
    }

    #[test]
    fn what_comes_closes_a_gap_or_splits_it() {
        let mut gaps = Gaps::default();
        gaps.open(gap(10, 20));
        gaps.open(gap(30, 60));
        assert_eq!(gaps.around(12, 20), Some(&gap(10, 20)));
        assert_eq!(gaps.around(12, 21), None);
        gaps.close(40, 50);
        gaps.close(5, 12);
        assert_eq!(gaps.0, [gap(12, 20), gap(30, 40), gap(50, 60)]);
        gaps.close(0, 55);
        assert_eq!(gaps.0, [gap(55, 60)]);
        assert_eq!(gaps.take_below(57), Some(gap(55, 57)));
        assert_eq!(gaps.take_below(57), None);
    }
}
