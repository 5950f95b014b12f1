//! How much BBR keeps in flight: what the path holds, what hosts hold, what lumps of ACKs need; and less while it recovers.

use super::{Bbr, Mode, UNIT};
use crate::congestion::View;
use crate::delivery_rate::{RateSample, Repairing};
use crate::pacing;

/// Segments that are always in flight: two that a receiver acknowledges together, twice.
const LEAST: u32 = 4;
/// What a path of which nothing is known is taken to hold, in segments.
const UNKNOWN: u64 = 10;
/// A sender hands over what leaves within 2⁻¹⁰ s at once, but no more than this many bytes and segments,
const BURST_SHIFT: u32 = 10;
const BURST_BYTES: u64 = 65_215;
const BURST_SEGMENTS: u64 = 127;
/// and no less than two segments, from 1.2 Mbit/s on.
const SLOW: u64 = 150_000;

/// The least window.
pub(super) fn least(mss: u32) -> u32 {
    mss.saturating_mul(LEAST)
}

impl Bbr {
    /// What goes through the hosts at once (`bbr_tso_segs_goal()`).
    fn burst(&self, mss: u64) -> u64 {
        let least = if self.pacing_rate < SLOW { 1 } else { 2 };
        let segments = (self.pacing_rate >> BURST_SHIFT).min(BURST_BYTES) / mss.max(1);
        segments.max(least).min(BURST_SEGMENTS) * mss
    }

    /// What the path holds, times a gain, in whole segments (`bbr_bdp()`).
    fn path_volume(&self, rate: u64, gain: u64, mss: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return UNKNOWN * mss };
        let volume = u128::from(pacing::volume(rate, min_rtt)) * u128::from(gain) / u128::from(UNIT);
        u64::try_from(volume).unwrap_or(u64::MAX / 4).min(u64::MAX / 4).next_multiple_of(mss.max(1))
    }

    /// With what the hosts hold, in pairs of segments (`bbr_quantization_budget()`).
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

    /// What will be in the network when the next segment leaves, itself counted while more is wanted there
    /// (`bbr_packets_in_net_at_edt()`).
    pub(super) fn in_network_at_departure(&self, sample: &RateSample, in_flight: u64, view: &View) -> u64 {
        let until = sample.next_departure - view.now;
        let more = if self.pacing_gain() > UNIT { self.burst(u64::from(view.mss)) } else { 0 };
        (in_flight + more).saturating_sub(pacing::volume(self.rate(), until))
    }

    /// A cwnd that was good enough, to come back to (`bbr_save_cwnd()`).
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
        let narrow = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let mss = u64::from(view.mss);
        let acked = sample.newly_delivered;
        let mut cwnd = self.recovering(sample, view);
        if self.conserving {
            return cwnd.max(narrow(sample.in_flight + acked));
        }
        let path = self.path_volume(self.rate(), self.cwnd_gain(), mss);
        let lumps = if self.is_full { self.aggregation.allowance(self.rate()) } else { 0 };
        let target = self.with_hosts(path + lumps, mss);
        let grown = u64::from(cwnd) + acked;
        if self.is_full {
            cwnd = narrow(grown.min(target));
        } else if u64::from(cwnd) < target || sample.delivered < UNKNOWN * mss {
            cwnd = narrow(grown);
        }
        cwnd.max(least(view.mss))
    }

    /// cwnd less what was lost; what is in flight when a recovery begins, and what it was before when it ends
    /// (`bbr_set_cwnd_to_recover_or_restore()`).
    fn recovering(&mut self, sample: &RateSample, view: &View) -> u32 {
        let lost = u32::try_from(sample.newly_lost).unwrap_or(u32::MAX);
        let mut cwnd = if lost > 0 { self.cwnd.saturating_sub(lost).max(view.mss) } else { self.cwnd };
        match (self.repairing, sample.repairing) {
            (Repairing::Nothing | Repairing::Timeout, Repairing::Loss) => {
                self.conserving = true;
                self.round_end = sample.delivered;
                cwnd = u32::try_from(sample.in_flight + sample.newly_delivered).unwrap_or(u32::MAX);
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
