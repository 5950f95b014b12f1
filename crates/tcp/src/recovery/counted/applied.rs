//! Counted duplicate ACKs in the recovery of a sender.

use super::{Counted, shows_loss};
use crate::ranges::{Range, RangeSet};
use crate::recovery::rack::Rack;
use crate::recovery::{LossRecovery, Phase};

impl LossRecovery {
    /// The connection has no SACK: duplicate ACKs are counted as reports.
    pub(crate) fn begin_counting(&mut self) {
        self.begin_by_time();
        if let Some(rack) = self.rack_mut() {
            rack.counted = Some(Counted::default());
        }
    }

    /// Whether duplicate ACKs count as reports of segments.
    #[inline]
    pub(crate) fn counts_dup_acks(&self) -> bool {
        self.rack().is_some_and(|rack| rack.counted.is_some())
    }

    /// A duplicate ACK. After a timeout, only those that follow new data count (`tcp_process_loss()`).
    pub(crate) fn count_dup_ack(&mut self, una: u64, max: u64, mss: u64) {
        let ignored = self.loss.phase == Phase::Loss && max <= self.loss.recover;
        let most = (max - una).saturating_sub(self.lost().max(mss));
        let Some(rack) = self.rack_mut() else { return };
        if let Some(counted) = &mut rack.counted
            && !ignored
        {
            rack.delivered += counted.add(mss, most);
        }
    }

    /// Bytes that duplicate ACKs report.
    pub(crate) fn counted(&self) -> u64 {
        self.rack().map_or(0, Rack::counted)
    }

    /// `acked` is acknowledged: which of them the duplicate ACKs had reported. No report remains outside
    /// fast recovery, and at its end (`tcp_reset_reno_sack()`).
    pub(crate) fn acknowledge_counted(&mut self, acked: Range, mss: u64) {
        let remains = self.loss.phase == Phase::Fast && acked.end < self.loss.recover;
        let Some(rack) = self.rack_mut() else { return };
        if let Some(counted) = &mut rack.counted {
            rack.delivered = counted.acknowledge(acked.len(), mss);
            if !remains {
                *counted = Counted::default();
            }
        }
    }

    /// Marks the first outstanding segment lost if the present ACK shows its loss. Returns whether it was marked, and whether
    /// a recovery must begin.
    pub(crate) fn detect_by_count(&mut self, first: Range, enough: u64, advanced: bool) -> (bool, bool) {
        let Self { departures: Some(departures), loss, .. } = self else { return (false, false) };
        let Some(rack) = &mut departures.rack else { return (false, false) };
        let Some(counted) = rack.counted else { return (false, false) };
        if first.is_empty() || !shows_loss(loss, counted, first.start, enough, advanced) {
            return (false, false);
        }
        let known = rack.lost.covered_within(first) == first.len();
        rack.lose(first, &RangeSet::new());
        (!known, loss.phase == Phase::Open)
    }
}
