//! The cwnd (draft-ietf-ccwg-bbr, "Congestion Window").

use super::bounds::INFINITE;
use super::{Bbr3, State, UNIT, least};
use crate::congestion::View;
use crate::congestion::delivery_rate::{RateSample, Repairing};
use crate::congestion::model_based::path_model::{narrow, path_volume};

/// The time of a burst as a part of a second, and its upper limit in bytes. A burst has at least two segments;
const QUANTA_PER_SECOND: u64 = 1000;
const QUANTUM: u64 = 65_536;
/// three of these bursts fit: one in the sender's queue, one in its segmentation, and one in the receiver.
const QUANTA: u64 = 3;
/// The headroom for other flows is three parts in this number: 15 %.
const HEADROOM_PARTS: u64 = 20;

impl Bbr3 {
    /// `BDPMultiple()`.
    pub(super) fn path_volume(&self, gain: u64) -> u64 {
        self.volume_at(self.rate(), gain)
    }

    fn volume_at(&self, rate: u64, gain: u64) -> u64 {
        match self.round_trip.least {
            Some(rtt) => path_volume(rate, rtt, gain),
            None => u64::from(self.initial),
        }
    }

    /// `QuantizationBudget()`.
    fn with_hosts(&self, volume: u64, mss: u64) -> u64 {
        let quantum = (self.pace.get() / QUANTA_PER_SECOND).min(QUANTUM).max(2 * mss);
        let volume = volume.max(QUANTA * quantum);
        if self.state == State::Up { volume + 2 * mss } else { volume }
    }

    /// `Inflight(1.0)`: bytes in flight that fill a path of this rate.
    pub(super) fn inflight(&self, rate: u64, mss: u32) -> u64 {
        self.with_hosts(self.volume_at(rate, UNIT), u64::from(mss))
    }

    /// `InflightWithHeadroom()`.
    pub(super) fn with_headroom(&self, mss: u32) -> u64 {
        let hi = self.bounds.inflight_hi;
        if hi == INFINITE {
            return INFINITE;
        }
        let headroom = (hi / HEADROOM_PARTS * 3).max(u64::from(mss));
        hi.saturating_sub(headroom).max(u64::from(least(mss)))
    }

    /// `ProbeRTTCwnd()`.
    pub(super) fn lull_volume(&self, mss: u32) -> u64 {
        self.path_volume(State::ProbeRtt.cwnd_gain()).max(u64::from(least(mss)))
    }

    /// `SaveCwnd()`: saves cwnd, to restore it later.
    pub(super) fn save_cwnd(&mut self) {
        let was_cut = self.repairing != Repairing::Nothing || self.state == State::ProbeRtt;
        self.prior_cwnd = if was_cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `SetCwnd()`.
    pub(super) fn set_cwnd(&mut self, sample: &RateSample, view: &View) {
        if self.repairing != Repairing::Nothing && sample.repairing == Repairing::Nothing {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.repairing = sample.repairing;

        let lumps = self.aggregation.allowance(self.rate());
        let target = self.with_hosts(self.path_volume(self.state.cwnd_gain()) + lumps, u64::from(view.mss));
        let cwnd = u64::from(self.cwnd);
        let grown = cwnd + sample.newly_delivered;
        let next = if self.full_reached {
            grown.min(target)
        } else if cwnd < target || sample.delivered < u64::from(self.initial) {
            grown
        } else {
            cwnd
        };
        let least = u64::from(least(view.mss));
        self.cwnd = narrow(next.max(least).min(self.cap(view.mss).max(least)));
    }

    /// `BoundCwndForProbeRTT()` and `BoundCwndForModel()`.
    fn cap(&self, mss: u32) -> u64 {
        let bound = match self.state {
            State::Startup | State::Drain => INFINITE,
            State::Down | State::Refill | State::Up => self.bounds.inflight_hi,
            State::Cruise => self.with_headroom(mss),
            State::ProbeRtt => self.with_headroom(mss).min(self.lull_volume(mss)),
        };
        bound.min(self.bounds.inflight_lo)
    }
}
