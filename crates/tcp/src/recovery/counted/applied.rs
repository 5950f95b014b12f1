//! Counted duplicate ACKs in the recovery of a sender.

use super::{Counted, Counting, MOST_REORDERING, Outstanding, shows_loss};
use crate::ranges::{Range, RangeSet};
use crate::recovery::departures::Purpose;
use crate::recovery::flight::Parts;
use crate::recovery::rack::Rack;
use crate::recovery::{LossRecovery, Phase};

impl LossRecovery {
    /// The connection has no SACK: duplicate ACKs are counted as reports.
    pub(crate) fn begin_counting(&mut self) {
        self.log.begin(Purpose::ByCount);
    }

    /// Whether duplicate ACKs count as reports of segments.
    #[inline]
    pub(crate) fn counts_dup_acks(&self) -> bool {
        self.rack().is_some_and(|rack| rack.counted.is_some())
    }

    /// Whether duplicate ACKs report nothing now: after a timeout, only those that follow new data count
    /// (`tcp_process_loss()`). The others answer data that was sent again needlessly. The same is assumed of those that repeat the
    /// last ACK of a recovery (`tcp_try_undo_recovery()`).
    pub(crate) fn ignores_dup_acks(&self, una: u64, max: u64) -> bool {
        self.counts_dup_acks()
            && match self.loss.phase {
                Phase::Open => false,
                Phase::Fast => una >= self.loss.recover,
                Phase::Loss => una >= self.loss.recover || max <= self.loss.recover,
            }
    }

    /// Bytes that are lost. What was sent again counts as lost until it is acknowledged (`lost_out`), or until an undo.
    pub(crate) fn known_lost(&self) -> u64 {
        let resent = || self.rack().map_or(0, |rack| rack.resent_as_lost(self.loss.reported()));
        self.lost() + if self.loss.phase == Phase::Open { 0 } else { resent() }
    }

    /// A duplicate ACK.
    pub(crate) fn count_dup_ack(&mut self, una: u64, max: u64, mss: u64) {
        let ignored = self.ignores_dup_acks(una, max);
        // With the padding of short segments.
        let bytes = max - una + self.padding_outstanding();
        let data = Outstanding { bytes, lost: self.known_lost(), mss };
        let Some(rack) = self.rack_for_change() else { return };
        if let Some(counted) = &mut rack.counted
            && !ignored
        {
            let Counting { newly, overtaken } = counted.add(data);
            rack.delivered += newly;
            rack.repairs.forget_extent_if(overtaken);
        }
    }

    /// Bytes that duplicate ACKs report.
    pub(crate) fn counted(&self) -> u64 {
        self.rack().map_or(0, Rack::counted)
    }

    /// `acked` is acknowledged, of data up to `max`: which of it the duplicate ACKs had reported. No report remains outside
    /// fast recovery, and at its end (`tcp_reset_reno_sack()`). A part of a segment says nothing of them (`FLAG_ACKED`).
    pub(crate) fn acknowledge_counted(&mut self, (acked, parts): (Range, Parts), max: u64, mss: u64) {
        // The end of the recovery of a timeout leaves them (`tcp_process_loss()`).
        let remains = match self.loss.phase {
            Phase::Open => false,
            Phase::Fast => acked.end < self.loss.recover,
            Phase::Loss => acked.end >= self.loss.recover,
        };
        let Some(rack) = self.rack_for_change() else { return };
        let lost = rack.repairs.lost.covered() - rack.repairs.lost.covered_within(acked);
        let padding = rack.short.outstanding() - rack.short.reported();
        if let Some(counted) = &mut rack.counted {
            // With the padding of short segments.
            let bytes = max - acked.end + parts.cut_off() + padding;
            if parts.completes_any() {
                let Counting { newly, overtaken } =
                    counted.acknowledge(rack.delivered, Outstanding { bytes, lost, mss });
                rack.delivered = newly;
                rack.repairs.forget_extent_if(overtaken);
            }
            if !remains {
                *counted = counted.forget();
            }
        }
    }

    /// Marks the first outstanding segment lost if the present ACK shows its loss: `threshold` duplicate ACKs do, until the
    /// order of segments was seen to change. What they report does not outlast an ACK that ends a recovery. Returns whether it
    /// was marked, and whether a recovery must begin.
    pub(crate) fn detect_by_count(
        &mut self,
        first: Range,
        threshold: u8,
        mss: u64,
        advanced: bool,
    ) -> (bool, bool) {
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return (false, false) };
        let Some(rack) = &mut departures.rack else { return (false, false) };
        let Some(counted) = rack.counted else { return (false, false) };
        let enough = dup_acks_needed(rack, counted, threshold, mss) * mss;
        let shows = !first.is_empty() && shows_loss(loss, counted, first.start, enough, advanced);
        if core::mem::take(&mut rack.ended) {
            rack.forget_counted();
        }
        if !shows {
            return (false, false);
        }
        // The mark of what was sent again stays: an ACK of a part of it marks nothing (`tcp_newreno_mark_lost()`).
        if loss.phase == Phase::Fast && rack.is_marked_and_resent(first) {
            return (false, false);
        }
        let known = rack.repairs.lost.covered_within(first) == first.len();
        rack.lose(first, &RangeSet::new());
        (!known, loss.phase == Phase::Open)
    }

    /// Without SACK: how many duplicate ACKs reveal a loss; `threshold` until the order of segments was seen to change.
    pub(crate) fn dup_acks_needed(&self, threshold: u8, mss: u64) -> Option<u64> {
        let rack = self.rack()?;
        rack.counted.map(|counted| dup_acks_needed(rack, counted, threshold, mss))
    }
}

/// A late original shows reordering, too (`tcp_try_undo_partial()`).
fn dup_acks_needed(rack: &Rack, counted: Counted, threshold: u8, mss: u64) -> u64 {
    let overtaken = rack.repairs.reordering.extent().1.div_ceil(mss.max(1)).min(MOST_REORDERING);
    counted.threshold(threshold).max(overtaken)
}
