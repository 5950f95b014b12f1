//! The data of a stream that SACK has reported.

use netspurt_tcp::ranges::{Range, RangeSet};

/// Positions in a capture can be negative; those of a range set cannot.
const ORIGIN: i64 = 1 << 62;
/// Maximum of ranges; no receiver reports as many. Further ones are ignored.
const MOST: usize = 1024;

/// The positions that were reported and not acknowledged.
#[derive(Debug, Default)]
pub(in crate::follow) struct Reported(RangeSet);

impl Reported {
    /// Adds a block. Returns whether any of it is new.
    pub(in crate::follow) fn add(&mut self, left: i64, right: i64) -> bool {
        left < right && self.0.len() < MOST && self.0.insert(range(left, right)).1 > 0
    }

    /// The first position from `left` up to `right` that was not reported.
    pub(in crate::follow) fn first_missing(&self, left: i64, right: i64) -> Option<i64> {
        self.0.missing_in(range(left, right)).next().map(|gap| gap.start.cast_signed() - ORIGIN)
    }

    /// Removes positions below `ack`.
    #[inline]
    pub(in crate::follow) fn acknowledged(&mut self, ack: i64) {
        if !self.0.is_empty() {
            self.0.remove_below(position(ack));
        }
    }

    /// Number of positions.
    pub(in crate::follow) fn count(&self) -> u64 {
        self.0.covered()
    }

    /// Whether all of `start` to `end` was reported.
    pub(in crate::follow) fn holds(&self, start: i64, end: i64) -> bool {
        !self.0.is_empty() && self.0.covered_within(range(start, end)) == range(start, end).len()
    }

    /// Number of reported positions from `start` on.
    pub(in crate::follow) fn above(&self, start: i64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.covered_within(range(start, i64::MAX)) }
    }
}

fn position(place: i64) -> u64 {
    place.saturating_add(ORIGIN).max(0).cast_unsigned()
}

fn range(start: i64, end: i64) -> Range {
    Range::new(position(start), position(end))
}
