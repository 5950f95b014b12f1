//! Gaps in a stream as seen at the capture point: lost before it, late, or not captured.

use crate::follow::stream::pieces::Sending;
use std::collections::VecDeque;

/// Maximum of stored gaps; the lowest are dropped first.
const MOST: usize = 1024;

/// A gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::follow) struct Gap {
    pub(in crate::follow) start: i64,
    pub(in crate::follow) end: i64,
    /// The transmission that created the gap, by skipping it.
    pub(in crate::follow) opener: Sending,
    /// Its number among the segments with data.
    pub(in crate::follow) order: u64,
}

/// All gaps of a stream, sorted by position.
#[derive(Debug, Default)]
pub(in crate::follow) struct Gaps(VecDeque<Gap>);

impl Gaps {
    pub(in crate::follow) fn len(&self) -> usize {
        self.0.len()
    }

    #[cold]
    pub(in crate::follow) fn open(&mut self, gap: Gap) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(gap);
    }

    /// The gap that contains all of `start` to `end`.
    pub(in crate::follow) fn around(&self, start: i64, end: i64) -> Option<&Gap> {
        let at = self.0.partition_point(|gap| gap.end <= start);
        self.0.get(at).filter(|gap| gap.start <= start && end <= gap.end)
    }

    /// Removes `start` to `end`, which has arrived.
    pub(in crate::follow) fn close(&mut self, start: i64, end: i64) {
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

    /// Removes the first gap below `ack`, or the part of it. That data was acknowledged but not captured.
    #[inline]
    pub(in crate::follow) fn take_below(&mut self, ack: i64) -> Option<Gap> {
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
    fn arriving_data_closes_or_splits_a_gap() {
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
