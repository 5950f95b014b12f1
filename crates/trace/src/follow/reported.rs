//! What SACK has reported of a stream.

use netspurt_tcp::ranges::{Range, RangeSet};

/// Places of a capture begin anywhere and may lie before the first that was seen; positions do not.
const ORIGIN: i64 = 1 << 62;
/// More ranges than any receiver reports; what would be one more is passed over.
const MOST: usize = 1024;

/// Reported and not yet acknowledged places of a stream.
#[derive(Debug, Default)]
pub(super) struct Reported(RangeSet);

impl Reported {
    /// Adds a block; whether any of it is new.
    pub(super) fn add(&mut self, left: i64, right: i64) -> bool {
        left < right && self.0.len() < MOST && self.0.insert(range(left, right)).1 > 0
    }

    /// The first place from `left` up to `right` that is not reported yet.
    pub(super) fn first_missing(&self, left: i64, right: i64) -> Option<i64> {
        self.0.missing_in(range(left, right)).next().map(|gap| gap.start.cast_signed() - ORIGIN)
    }

    /// Everything before `ack` is acknowledged.
    #[inline]
    pub(super) fn acknowledged(&mut self, ack: i64) {
        if !self.0.is_empty() {
            self.0.remove_below(position(ack));
        }
    }

    /// How many places.
    pub(super) fn count(&self) -> u64 {
        self.0.covered()
    }

    /// Whether all from `start` to `end` is reported.
    pub(super) fn holds(&self, start: i64, end: i64) -> bool {
        !self.0.is_empty() && self.0.covered_within(range(start, end)) == range(start, end).len()
    }

    /// How many places from `start` on are reported.
    pub(super) fn above(&self, start: i64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.covered_within(range(start, i64::MAX)) }
    }
}

fn position(place: i64) -> u64 {
    place.saturating_add(ORIGIN).max(0).cast_unsigned()
}

fn range(start: i64, end: i64) -> Range {
    Range::new(position(start), position(end))
}
