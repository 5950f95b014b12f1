//! Reassembly: what is held beyond a gap, and in which order SACK reports it.

use crate::ranges::{Range, RangeSet};

/// What is held beyond the left edge, and in which order SACK reports it.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    pub(super) held: RangeSet,
    /// The ranges that last changed, latest first (RFC 2018, section 4).
    pub(super) recent: [Range; 4],
    /// A duplicate to be reported once (RFC 2883, section 4).
    pub(super) duplicate: Option<Range>,
    /// Position of the last NAK, which is not repeated (RFC 1106, section 2.1).
    pub(super) last_nak: u64,
    /// The NAK that waits: position and count.
    pub(super) nak: Option<(u64, u8)>,
    /// What was held last and no driver has fetched yet.
    pub(super) taken: Range,
}

impl Reassembly {
    /// What of `range` is held already is a duplicate: the first such part is reported, unless one below it will be
    /// (RFC 2883, section 4.2).
    #[inline]
    pub(super) fn note_overlap(&mut self, range: Range) {
        if let Some(held) = self.held.at_or_after(range.start)
            && held.start < range.end
            && self.duplicate.is_none()
        {
            self.duplicate = Some(Range::new(held.start.max(range.start), held.end.min(range.end)));
        }
    }

    /// Nothing is held or waits to be told, and the hole of the last NAK lies behind the left edge.
    pub(super) fn is_of_no_more_use(&self, nxt: u64) -> bool {
        self.held.is_empty() && self.duplicate.is_none() && self.nak.is_none() && self.last_nak < nxt
    }
}
