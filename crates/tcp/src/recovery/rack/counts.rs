//! What RACK knows of the outstanding data: which of it is lost, sent again, or in the network.

use crate::ranges::{Range, RangeSet};
use crate::record::info::Segments;
use crate::recovery::counted::Counted;
use crate::recovery::flight::Flight;
use crate::recovery::rack::Rack;
use crate::time::Time;

impl Rack {
    /// The first segment of `mss` bytes, or what there is of it, that is held lost.
    pub(in crate::recovery) fn first_lost(&self, mss: u16) -> Option<Range> {
        let hole = self.repairs.lost.first()?;
        Some(Range::new(hole.start, hole.end.min(hole.start + u64::from(mss))))
    }

    /// Bytes in the network, with so much `padding`: what duplicate ACKs report includes it. A retransmission that was there at
    /// an undo counts beside its original, which is not lost any more (`tcp_packets_in_flight()`).
    pub(in crate::recovery) fn pipe(&self, una: u64, max: u64, sacked: u64, padding: u64) -> u64 {
        let sent = max - una + padding + self.repairs.spared.covered();
        sent.saturating_sub(sacked + self.counted() + self.repairs.lost.covered())
    }

    /// Whether as much was sent again as counts as lost: then no more is. Retransmissions that were in the network at an undo
    /// count among the former alone (`tcp_xmit_retransmit_queue()`).
    pub(in crate::recovery) fn resends_all_lost(&self) -> bool {
        let (spared, lost) = (self.repairs.spared.covered(), self.repairs.lost.covered());
        spared > 0 && lost + self.short.lost() <= spared
    }

    /// Bytes that duplicate ACKs report.
    pub(in crate::recovery) fn counted(&self) -> u64 {
        self.counted.map_or(0, Counted::bytes)
    }

    /// Whether all of `range` was sent more than once.
    pub(in crate::recovery) fn was_resent(&self, range: Range) -> bool {
        self.repairs.resent.covered_within(range) == range.len()
    }

    /// Whether nothing of `range` was sent more than once.
    pub(in crate::recovery) fn has_not_resent(&self, range: Range) -> bool {
        self.repairs.resent.covered_within(range) == 0
    }

    /// Whether a retransmission is in the network (`retrans_out`).
    pub(in crate::recovery) fn has_resends(&self, flight: &Flight, sacked: &RangeSet) -> bool {
        self.has_resends_above(0, flight, sacked)
    }

    /// The same of data above `una`.
    pub(in crate::recovery) fn has_resends_above(
        &self,
        una: u64,
        flight: &Flight,
        sacked: &RangeSet,
    ) -> bool {
        flight.has_resends(una, &self.repairs.resent, sacked)
    }

    /// How many retransmitted segments are neither acknowledged nor reported, and when the first of them was sent.
    pub(in crate::recovery) fn resends(&self, flight: &Flight, sacked: &RangeSet) -> (u32, Option<Time>) {
        flight.resends(&self.repairs.resent, sacked)
    }

    /// How many of these are not marked lost either (`retrans_out`, in segments).
    pub(in crate::recovery) fn resends_in_network(&self, flight: &Flight, sacked: &RangeSet) -> u32 {
        let unreported = flight.unreported_resends(&self.repairs.resent, sacked);
        unreported.filter(|sent| self.repairs.lost.covered_within(sent.range) == 0).count() as u32
    }

    /// Bytes of retransmissions that are not known to have arrived or to be lost (`retrans_out`).
    pub(in crate::recovery) fn resent(&self, sacked: &RangeSet) -> u64 {
        let unreported = self.repairs.resent.iter_down().flat_map(|range| sacked.missing_in(range));
        unreported.map(|piece| piece.len() - self.repairs.lost.covered_within(piece)).sum()
    }

    /// Bytes of these that count as lost until they are acknowledged: no undo has removed the mark.
    pub(in crate::recovery) fn resent_as_lost(&self, sacked: &RangeSet) -> u64 {
        let spared = self.repairs.spared.iter_down().flat_map(|range| sacked.missing_in(range));
        self.resent(sacked).saturating_sub(spared.map(|piece| piece.len()).sum())
    }

    /// All outstanding segments, by what is known of them.
    pub(in crate::recovery) fn segments(&self, flight: &Flight, sacked: &RangeSet) -> Segments {
        flight.all_within(Range::new(0, u64::MAX)).fold(Segments::default(), |mut all, sent| {
            all.unacknowledged += 1;
            if sacked.covered_within(sent.range) == sent.range.len() {
                all.sacked += 1;
            } else if self.repairs.lost.covered_within(sent.range) > 0 {
                all.lost += 1;
            } else if sent.again && self.repairs.probed.covered_within(sent.range) == 0 {
                all.resent += 1;
                all.spared += u32::from(self.is_spared(sent.range));
            }
            all
        })
    }

    /// Bytes of these that only tail loss probes have sent again.
    pub(in crate::recovery) fn probed(&self, sacked: &RangeSet) -> u64 {
        let unreported = self.repairs.probed.iter_down().flat_map(|range| sacked.missing_in(range));
        unreported.map(|piece| piece.len() - self.repairs.lost.covered_within(piece)).sum()
    }
}
