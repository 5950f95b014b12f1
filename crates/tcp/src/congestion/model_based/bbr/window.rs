//! The cwnd of BBR: the bandwidth-delay product, plus space for bursts in hosts and for ACK aggregation, and less
//! during recovery.

use super::{Bbr, Mode, UNIT};
use crate::congestion::View;
use crate::congestion::delivery_rate::{RateSample, Repairing};
use crate::congestion::model_based::path_model::{least, narrow, path_volume};
use crate::congestion::pacing;

/// The assumed bandwidth-delay product of an unknown path, in segments.
const UNKNOWN: u64 = 10;
/// A burst is the data of 2⁻¹⁰ s, but at most this number of bytes and segments,
const BURST_SHIFT: u32 = 10;
const BURST_BYTES: u64 = 65_215;
const BURST_SEGMENTS: u64 = 127;
/// and at least two segments from 1.2 Mbit/s on.
const SLOW: u64 = 150_000;

impl Bbr {
    /// The least number of segments of a burst (`bbr_min_tso_segs()`).
    pub(super) fn least_in_burst(&self) -> u64 {
        if self.pace.get() < SLOW { 1 } else { 2 }
    }

    /// The size of a burst in the hosts (`bbr_tso_segs_goal()`).
    fn burst(&self, mss: u64) -> u64 {
        let least = self.least_in_burst();
        let segments = (self.pace.get() >> BURST_SHIFT).min(BURST_BYTES) / mss.max(1);
        segments.max(least).min(BURST_SEGMENTS) * mss
    }

    /// The bandwidth-delay product times a gain, in whole segments (`bbr_bdp()`).
    fn path_volume(&self, rate: u64, gain: u64, mss: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return UNKNOWN * mss };
        path_volume(rate, min_rtt, gain).next_multiple_of(mss.max(1))
    }

    /// The volume plus the bursts in hosts, in pairs of segments (`bbr_quantization_budget()`).
    fn with_hosts(&self, volume: u64, mss: u64) -> u64 {
        let volume = (volume + 3 * self.burst(mss)).next_multiple_of(2 * mss.max(1));
        let probes = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        if probes { volume + 2 * mss } else { volume }
    }

    /// Bytes in flight that fill the path at a gain.
    pub(super) fn inflight(&self, rate: u64, gain: u64, mss: u32) -> u64 {
        let mss = u64::from(mss);
        self.with_hosts(self.path_volume(rate, gain, mss), mss)
    }

    /// The bytes in flight when the next segment is sent. They include that segment while the gain is above one
    /// (`bbr_packets_in_net_at_edt()`).
    pub(super) fn in_network_at_departure(&self, sample: &RateSample, in_flight: u64, view: &View) -> u64 {
        let until = sample.next_departure - view.now;
        let more = if self.pacing_gain() > UNIT { self.burst(u64::from(view.mss)) } else { 0 };
        // In whole packets, as in Linux.
        let mss = u64::from(view.mss).max(1);
        (in_flight + more).saturating_sub(pacing::volume(self.rate(), until) / mss * mss)
    }

    /// Saves cwnd, to restore it later (`bbr_save_cwnd()`).
    pub(super) fn save_cwnd(&mut self) {
        let was_cut = self.repairing != Repairing::Nothing || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if was_cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `bbr_set_cwnd()`.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample, view: &View) {
        if sample.newly_delivered > 0 {
            self.cwnd = self.next_cwnd(sample, view);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(least(view.mss));
        }
    }

    fn next_cwnd(&mut self, sample: &RateSample, view: &View) -> u32 {
        // Linux counts the SYN as delivered, too.
        let mss = u64::from(view.mss).max(1);
        let acked = sample.newly_delivered;
        let mut cwnd = self.recovering(sample, view);
        if self.conserving {
            return cwnd.max(narrow(sample.in_flight + acked));
        }
        let path = self.path_volume(self.rate(), self.cwnd_gain(), mss);
        let lumps = if self.is_full { self.aggregation.allowance(self.rate()) / mss * mss } else { 0 };
        let target = self.with_hosts(path + lumps, mss);
        let grown = u64::from(cwnd) + acked;
        if self.is_full {
            cwnd = narrow(grown.min(target));
        } else if u64::from(cwnd) < target || sample.delivered + mss < UNKNOWN * mss {
            cwnd = narrow(grown);
        }
        cwnd.max(least(view.mss))
    }

    /// cwnd minus the lost bytes; the data in flight at the start of a recovery, and the old value at its end
    /// (`bbr_set_cwnd_to_recover_or_restore()`).
    fn recovering(&mut self, sample: &RateSample, view: &View) -> u32 {
        let lost = narrow(sample.newly_lost);
        let mut cwnd = if lost > 0 { self.cwnd.saturating_sub(lost).max(view.mss) } else { self.cwnd };
        match (self.repairing, sample.repairing) {
            (Repairing::Nothing | Repairing::Timeout, Repairing::Loss) => {
                self.conserving = true;
                self.rounds.restart(sample.delivered);
                cwnd = narrow(sample.in_flight + sample.newly_delivered);
            }
            (Repairing::Loss | Repairing::Timeout, Repairing::Nothing) => {
                cwnd = cwnd.max(self.prior_cwnd);
                self.conserving = false;
            }
            _ => {}
        }
        self.repairing = sample.repairing;
        cwnd
    }
}
