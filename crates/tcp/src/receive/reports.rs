//! What ACKs report beyond RCV.NXT: SACK blocks and NAKs.

use crate::ranges::Range;
use crate::receive::reassembly::Reassembly;
use crate::receive::receiver::Receiver;
use crate::wire::options::{Nak, SackBlock, SackBlocks};

/// Places of an ACK at one of which each block has been once before it moves on: ACKs may be lost (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

impl Receiver {
    /// Whether there is a SACK or NAK report to send.
    #[inline]
    pub(crate) fn has_reports(&self, sack: bool) -> bool {
        self.reassembly.is_some() && (self.has_nak() || (sack && self.has_blocks()))
    }

    /// Whether there are SACK blocks to send.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        // Of many ranges that are held, the last reports may all be acknowledged.
        let waits = |r: &Reassembly| r.duplicate.is_some() || r.reports_above(self.nxt) || r.reports_filled;
        self.reassembly.as_ref().is_some_and(|reassembly| waits(reassembly))
    }

    /// The reports, if one is that of the peer's FIN behind a gap.
    #[inline]
    pub(crate) fn reports_with_fin(&self) -> Option<[Range; 4]> {
        self.reassembly
            .as_ref()
            .filter(|reassembly| reassembly.reports_fin)
            .map(|reassembly| reassembly.recent)
    }

    /// The gap below these reports is filled, and the next ACK repeats them.
    #[cold]
    pub(crate) fn report_filled(&mut self, recent: [Range; 4]) {
        let reassembly = self.reassembly.get_or_insert_default();
        (reassembly.recent, reassembly.reports_fin, reassembly.reports_filled) = (recent, true, true);
    }

    /// Whether the ACK that waits behind a gap must leave before `len` bytes at `start` are reported: they would be the third block or
    /// a later one, and could push out one that no ACK has reported (`TCP_SACK_BLOCKS_EXPECTED` in `tcp_sack_new_ofo_skb()`).
    #[inline]
    pub(crate) fn must_report_before(&self, start: i64, len: u32) -> bool {
        self.waits_behind_gap() && self.is_reported_late(start, len)
    }

    #[cold]
    fn is_reported_late(&self, start: i64, len: u32) -> bool {
        let Some(reassembly) = self.reassembly.as_ref().filter(|_| start > self.nxt as i64) else {
            return false;
        };
        let data = Range::new(start as u64, start as u64 + u64::from(len));
        reassembly.place_of(data, self.nxt) >= BLOCKS_EXPECTED
    }

    /// At most `room` blocks: first the D-SACK, once (RFC 2883, section 4), then the last changed ranges.
    pub(crate) fn take_blocks(&mut self, room: usize) -> SackBlocks {
        let (irs, nxt) = (self.irs, self.nxt);
        let reported_fin = self.reported_fin();
        let block = |r: Range| SackBlock { left: irs.plus(r.start as u32), right: irs.plus(r.end as u32) };
        let mut blocks = SackBlocks::EMPTY;
        let Some(reassembly) = &mut self.reassembly else { return blocks };
        if let Some(duplicate) = reassembly.duplicate.take() {
            blocks.push(block(duplicate));
        }
        let filled = core::mem::take(&mut reassembly.reports_filled);
        for r in reassembly.recent.iter().filter(|r| r.start > nxt || filled && !r.is_empty()) {
            if blocks.as_slice().len() < room {
                blocks.push(block(Range::new(r.start, r.end + u64::from(r.end == reported_fin))));
            }
        }
        blocks
    }

    /// The number of SACK blocks that wait, without a limit.
    #[cold]
    pub(crate) fn waiting_blocks(&self) -> usize {
        self.reassembly.as_ref().map_or(0, |reassembly| {
            let recent = reassembly.recent.iter().filter(|range| range.start > self.nxt).count();
            recent + usize::from(reassembly.duplicate.is_some())
        })
    }

    /// Removes the waiting NAK and returns it as an option.
    #[inline]
    pub(crate) fn take_nak(&mut self) -> Option<Nak> {
        let reassembly = self.reassembly.as_mut()?;
        let (position, count) = reassembly.nak.take()?;
        reassembly.last_nak = position;
        Some(Nak { first: self.seq(position), count })
    }

    /// Whether a NAK waits.
    #[inline]
    pub(crate) fn has_nak(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|reassembly| reassembly.nak.is_some())
    }

    /// Removes and returns the range that the last segment delivered out of order.
    pub(crate) fn take_held(&mut self) -> Option<Range> {
        let taken = core::mem::take(&mut self.reassembly.as_mut()?.taken);
        (!taken.is_empty()).then_some(taken)
    }
}
