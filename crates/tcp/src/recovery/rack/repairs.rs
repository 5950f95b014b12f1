//! What RACK keeps of losses, retransmissions and reordering. It takes no memory before the first of them.

use super::reordering::Reordering;
use crate::ranges::{Range, RangeSet};
use crate::recovery::prr::Prr;
use crate::recovery::spurious::undo::Undo;

/// What a sender knows of its losses and their repair.
#[derive(Debug, Default)]
pub(in crate::recovery) struct Repairs {
    pub(in crate::recovery) reordering: Reordering,
    /// Data that is marked lost and has not been retransmitted since.
    pub(in crate::recovery) lost: RangeSet,
    /// Data marked lost since the last query, if anyone queries it.
    pub(in crate::recovery) found: Option<Vec<Range>>,
    /// Data that was sent more than once.
    pub(super) resent: RangeSet,
    /// Of that, what only tail loss probes have sent again: Linux counts it neither as lost nor as retransmitted
    /// (`tcp_send_loss_probe()`).
    pub(in crate::recovery) probed: RangeSet,
    /// Retransmissions that were in the network at an undo (Linux), until they are acknowledged or found lost: a timeout sends
    /// them again then. They count in the network beside their originals, also behind a report (`retrans_out`).
    pub(super) spared: RangeSet,
    /// The present ACK has undone a recovery. In Linux it reports before it does (`tcp_sacktag_one()`): what it reports is spared
    /// no longer.
    pub(super) undone_now: bool,
    /// Segments that D-SACKs have reported so far.
    pub(in crate::recovery) duplicates: u64,
    pub(in crate::recovery) prr: Option<Prr>,
    pub(in crate::recovery) undo: Option<Undo>,
    /// The SACK blocks of the last ACK that had any, in ascending order; the rest is empty.
    pub(in crate::recovery) blocks: [Range; 4],
    /// The timestamp of the first retransmission of a recovery that an undo has not ended (`retrans_stamp`).
    pub(in crate::recovery) outlives_undo: Option<u32>,
}

impl Repairs {
    /// Marks `piece` lost.
    pub(super) fn lose(&mut self, piece: Range) {
        if let Some(found) = &mut self.found {
            found.extend(self.lost.missing_in(piece));
        }
        self.lost.insert(piece);
    }

    /// The loss detection was spurious: nothing counts as lost. `as_linux`: retransmissions in the network are spared.
    pub(super) fn hold_nothing_lost(&mut self, as_linux: bool, sacked: &RangeSet) {
        if as_linux {
            self.undone_now = true;
            for range in self.resent.iter_down() {
                for unreported in sacked.missing_in(range) {
                    for piece in self.lost.missing_in(unreported) {
                        self.spared.insert(piece);
                    }
                }
            }
        }
        self.lost.clear();
    }
}

/// [`Repairs`] from their first change on. Before it, they read as [`NONE`].
#[derive(Debug)]
pub(in crate::recovery) struct Kept(Option<Box<Repairs>>);

/// Nothing was lost, retransmitted or reordered.
static NONE: Repairs = Repairs {
    reordering: Reordering::NONE,
    lost: RangeSet::new(),
    found: None,
    resent: RangeSet::new(),
    probed: RangeSet::new(),
    spared: RangeSet::new(),
    undone_now: false,
    duplicates: 0,
    prr: None,
    undo: None,
    blocks: [Range::new(0, 0); 4],
    outlives_undo: None,
};

impl core::ops::Deref for Kept {
    type Target = Repairs;

    #[inline]
    fn deref(&self) -> &Repairs {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self(None)
    }

    pub(super) fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// For a change; they are created if there are none.
    pub(in crate::recovery) fn change(&mut self) -> &mut Repairs {
        self.0.get_or_insert_default()
    }

    /// For a change that has no effect while there are none.
    #[inline]
    pub(in crate::recovery) fn known(&mut self) -> Option<&mut Repairs> {
        self.0.as_deref_mut()
    }

    /// Whether an ACK of the next data changes nothing here.
    #[inline(always)]
    pub(super) fn are_calm(&self) -> bool {
        let calm = |repairs: &Repairs| repairs.resent.is_empty() && !repairs.reordering.awaits_delivery();
        self.0.as_deref().is_none_or(calm)
    }

    /// `range` is delivered later than data behind it. What was sent again of it shows no reordering.
    pub(super) fn note_late(&mut self, range: Range) {
        let first = self.resent.missing_in(range).next();
        if let Some(first) = first {
            self.change().reordering.note_late(first.start);
        }
    }

    /// See [`Reordering::forget_extent_if`].
    pub(in crate::recovery) fn forget_extent_if(&mut self, overtaken: bool) {
        if let Some(repairs) = self.known() {
            repairs.reordering.forget_extent_if(overtaken);
        }
    }

    /// No window is being reduced.
    pub(in crate::recovery) fn end_reduction(&mut self) {
        if let Some(repairs) = self.known() {
            repairs.prr = None;
        }
    }
}
