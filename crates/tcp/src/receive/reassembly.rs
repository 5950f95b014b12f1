//! Reassembly: out-of-order data, and the order of SACK reports.

use crate::ranges::{Range, RangeSet};

/// The out-of-order data, and the order of SACK reports.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    pub(super) held: RangeSet,
    /// The ranges that last changed, latest first (RFC 2018, section 4).
    pub(super) recent: [Range; 4],
    /// A duplicate to be reported once (RFC 2883, section 4).
    pub(super) duplicate: Option<Range>,
    /// Blocks that end at the peer's FIN report it too.
    pub(super) reports_fin: bool,
    /// The next ACK reports what it acknowledges, too.
    pub(super) reports_filled: bool,
    /// Position of the last NAK, which is not repeated (RFC 1106, section 2.1).
    pub(super) last_nak: u64,
    /// The NAK to send: position and count.
    pub(super) nak: Option<(u64, u8)>,
    /// The last stored range, until the driver fetches it.
    pub(super) taken: Range,
}

/// Whether two ranges overlap, or one begins where the other ends.
const fn touches(one: &Range, other: &Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

impl Reassembly {
    /// Reads a field of each cache line: see [`crate::Connection::fetch_losses`].
    #[inline]
    pub(super) fn fetch(&self) -> u64 {
        let Self { duplicate, held, recent: [first, ..], last_nak, reports_fin, .. } = self;
        let reported = duplicate.map_or(0, |range| range.start);
        let lowest = held.first().map_or(0, |range| range.start);
        reported ^ lowest ^ held.covered() ^ first.start ^ last_nak ^ u64::from(*reports_fin)
    }

    /// Records the first part of `range` that was received before as a duplicate, unless one below it is already
    /// recorded (RFC 2883, section 4.2).
    #[inline]
    pub(super) fn note_overlap(&mut self, range: Range) {
        if let Some(held) = self.held.at_or_after(range.start)
            && held.start < range.end
            && self.duplicate.is_none()
        {
            self.duplicate = Some(Range::new(held.start.max(range.start), held.end.min(range.end)));
        }
    }

    /// `changed` is reported first from now on, together with the reports that it touches. Without a place for it, the last report
    /// is forgotten. Linux does not look at what is stored (`tcp_sack_new_ofo_skb()`): behind four other reports, it reports data
    /// anew alone, although data beside it had been reported before.
    #[inline]
    pub(super) fn report(&mut self, changed: Range, nxt: u64) {
        let recent = self.recent;
        let known = || recent.iter().filter(|known| known.start > nxt);
        let join = |one: Range, other: &Range| Range::new(one.start.min(other.start), one.end.max(other.end));
        let first =
            known().find(|known| touches(known, &changed)).map_or(changed, |known| join(changed, known));
        let whole =
            known().fold(first, |all, known| if touches(known, &all) { join(all, known) } else { all });
        let others = known().filter(|known| !touches(known, &whole));
        self.recent = [whole, Range::default(), Range::default(), Range::default()];
        for (slot, known) in self.recent[1..].iter_mut().zip(others) {
            *slot = *known;
        }
    }

    /// The place of the report that `range` touches, or of one behind all others.
    pub(super) fn place_of(&self, range: Range, nxt: u64) -> usize {
        let known = || self.recent.iter().filter(|known| known.start > nxt);
        known().position(|known| touches(known, &range)).unwrap_or_else(|| known().count())
    }

    /// How far stored data lies ahead of `next`.
    pub(super) fn ahead_of(&self, next: u64) -> u32 {
        self.held.last().map_or(0, |last| last.end.saturating_sub(next) as u32)
    }

    /// Whether a report of data or of a FIN above `nxt` exists.
    pub(super) fn reports_above(&self, nxt: u64) -> bool {
        self.recent.iter().any(|range| range.start > nxt)
    }

    /// Whether no data is stored, no report waits, and the gap of the last NAK is filled.
    pub(super) fn is_of_no_more_use(&self, nxt: u64) -> bool {
        let reports_fin = self.reports_fin && self.reports_above(nxt);
        self.held.is_empty()
            && self.duplicate.is_none()
            && self.nak.is_none()
            && self.last_nak < nxt
            && !reports_fin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::fetch::reach_every_line;
    use core::mem::offset_of;

    #[test]
    fn out_of_order_data_is_prefetched_as_a_whole() {
        let fetched = [
            offset_of!(Reassembly, duplicate),
            offset_of!(Reassembly, held),
            // The last field of the set is read, too: whether there are many ranges.
            offset_of!(Reassembly, held) + size_of::<RangeSet>() - 8,
            offset_of!(Reassembly, recent),
            offset_of!(Reassembly, last_nak),
            offset_of!(Reassembly, reports_fin),
        ];
        assert!(reach_every_line(size_of::<Reassembly>(), &fetched), "{fetched:?}");
    }
}
