//! BBR version 1, as in Linux (`tcp_bbr.c`; Cardwell et al., "BBR: Congestion-based congestion control", ACM Queue
//! 14(5), 2016).
//!
//! It uses a model of the path: the largest delivery rate of the last ten rounds and the minimum RTT of the last ten
//! seconds. It paces at that rate and limits the data in flight to twice the bandwidth-delay product. It ignores
//! losses, except in the first round of a recovery and in [`policer`].
//!
//! In *startup* it doubles its rate in each round until the delivery rate no longer increases. It then *drains* the
//! resulting queue. Later it *probes the bandwidth* with a rate 25 % higher in one round of eight, and *the RTT* every
//! ten seconds with four segments in flight. Its amounts are in bytes; Linux counts packets.

mod policer;
mod window;

use super::path_model::{
    Aggregation, Chance, Delivered, Lull, MIN_RTT_HOLDS, Pace, Plateau, Rounds, UNIT, WindowedMax, least,
    scaled,
};
use crate::congestion::delivery_rate::{Interval, RateSample, Repairing};
use crate::congestion::{CongestionControl, PathModel, Signal, View};
use crate::time::{Span, Time};
use policer::{Policer, Shown};

/// 2/ln 2: the least gain at which the rate doubles in each round.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Its inverse, which drains the queue of startup in one round.
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// The gain of cwnd over the bandwidth-delay product, which tolerates delayed and stretch ACKs.
const CWND_GAIN: u64 = UNIT * 2;
/// One round above the rate, one below it, six at it.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The length of the bandwidth filter in rounds.
const BANDWIDTH_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// The length of each of the two windows of the ACK aggregation filter in rounds.
const EXCESS_ROUNDS: u8 = 5;

/// The mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// The state of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bbr {
    mode: Mode,
    cwnd: u32,
    ssthresh: u32,
    /// What an undo restores (`prior_ssthresh`); 0 if nothing.
    prior_ssthresh: u32,
    pace: Pace,

    bandwidth: WindowedMax,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    policer: Policer,
    aggregation: Aggregation,

    rounds: Rounds,
    /// The detection of a full pipe.
    plateau: Plateau,
    is_full: bool,

    /// The phase of the gain cycle and its start.
    phase: usize,
    phase_began: Time,
    lull: Lull,
    resumed: bool,

    /// cwnd before a recovery or an RTT probe.
    prior_cwnd: u32,
    repairing: Repairing,
    /// Packet conservation in the first round of a recovery.
    conserving: bool,
    /// The totals at the last sample.
    delivered: u64,
    lost: u64,
    chance: Chance,
}

impl Bbr {
    /// With the given initial `cwnd` in bytes. `seed` selects the first phase of the cycle, so that flows do not probe
    /// at the same time.
    pub fn new(cwnd: u32, seed: u32) -> Self {
        Self {
            mode: Mode::Startup,
            cwnd,
            ssthresh: u32::MAX,
            prior_ssthresh: 0,
            pace: Pace::default(),
            bandwidth: WindowedMax::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            rounds: Rounds::default(),
            plateau: Plateau::default(),
            is_full: false,
            phase: 0,
            phase_began: Time::ZERO,
            lull: Lull::default(),
            resumed: false,
            prior_cwnd: 0,
            repairing: Repairing::Nothing,
            conserving: false,
            delivered: 0,
            lost: 0,
            chance: Chance(seed),
        }
    }

    /// The bandwidth estimate in bytes per second.
    fn rate(&self) -> u64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    fn pacing_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth if self.policer.rate().is_some() => UNIT,
            Mode::ProbeBandwidth => CYCLE[self.phase],
            Mode::ProbeRtt => UNIT,
        }
    }

    fn cwnd_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth => CWND_GAIN,
            Mode::ProbeRtt => UNIT,
        }
    }

    /// `bbr_update_bw()`.
    fn update_bandwidth(&mut self, sample: &RateSample, view: &View) {
        let prior = sample.interval.map(|interval| interval.prior_delivered);
        if self.rounds.see(prior, sample.delivered) {
            self.conserving = false;
        }
        let Some(interval) = sample.interval else { return };
        let shown = self.shown(view.now, sample.newly_lost > 0, interval.app_limited);
        if self.policer.watch(&shown) {
            self.begin_cycle(view.now);
        }
        let rate = interval.rate();
        if !interval.app_limited || rate >= self.bandwidth.get() {
            self.bandwidth.add(BANDWIDTH_ROUNDS, self.rounds.count, rate);
        }
    }

    fn shown(&self, at: Time, is_loss: bool, app_limited: bool) -> Shown {
        Shown {
            at,
            delivered: self.delivered,
            lost: self.lost,
            is_loss,
            round_start: self.rounds.start,
            app_limited,
            cycling: self.mode == Mode::ProbeBandwidth,
        }
    }

    /// `bbr_update_cycle_phase()`: a phase of the cycle ends after one RTT, when it has reached its goal.
    fn update_cycle(&mut self, sample: &RateSample, view: &View) {
        if self.mode != Mode::ProbeBandwidth {
            return;
        }
        let lasted = self.min_rtt.is_some_and(|rtt| sample.delivered_at - self.phase_began > rtt);
        let gain = self.pacing_gain();
        let in_network = self.in_network_at_departure(sample, sample.prior_in_flight, view);
        let room = |gain| self.inflight(self.bandwidth.get(), gain, view.mss);
        let is_over = if gain > UNIT {
            lasted && (sample.newly_lost > 0 || in_network >= room(gain))
        } else if gain < UNIT {
            lasted || in_network <= room(UNIT)
        } else {
            lasted
        };
        if is_over {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_began = sample.delivered_at;
        }
    }

    /// Starts the cycle in any phase except the one that drains the queue.
    fn begin_cycle(&mut self, now: Time) {
        self.mode = Mode::ProbeBandwidth;
        let back = self.chance.below(7) as usize;
        self.phase = (CYCLE.len() - back) % CYCLE.len();
        self.phase_began = now;
    }

    /// `bbr_check_full_bw_reached()`.
    fn check_full(&mut self, interval: Option<Interval>) {
        let app_limited = interval.is_some_and(|interval| interval.app_limited);
        if !self.is_full && self.rounds.start && !app_limited {
            self.is_full = self.plateau.is_reached(self.bandwidth.get());
        }
    }

    /// `bbr_check_drain()`.
    fn check_drain(&mut self, sample: &RateSample, view: &View) {
        let path = self.inflight(self.bandwidth.get(), UNIT, view.mss);
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
            self.ssthresh = u32::try_from(path).unwrap_or(u32::MAX);
        }
        let drained = || self.in_network_at_departure(sample, sample.in_flight, view) <= path;
        if self.mode == Mode::Drain && drained() {
            self.begin_cycle(sample.delivered_at);
        }
    }

    /// `bbr_update_min_rtt()`.
    fn update_min_rtt(&mut self, sample: &RateSample, view: &View) {
        let expired = view.now - self.min_rtt_at > MIN_RTT_HOLDS;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|least| rtt <= least) || (expired && !sample.maybe_delayed))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), view.now);
        }
        if expired && !self.resumed && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.lull = Lull::default();
        }
        let is_low = sample.in_flight <= u64::from(least(view.mss));
        if self.mode == Mode::ProbeRtt && self.lull.see(view.now, is_low, &mut self.rounds, sample.delivered)
        {
            self.end_lull(view.now);
        }
        if sample.newly_delivered > 0 {
            self.resumed = false;
        }
    }

    /// Ends the RTT probe.
    fn end_lull(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.begin_cycle(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_set_pacing_rate()`.
    fn set_pacing_rate(&mut self, gain: u64, view: &View) {
        self.pace.begin(self.cwnd, view.srtt, HIGH_GAIN);
        self.pace.want(scaled(self.rate(), gain), self.is_full);
    }

    /// `bbr_cwnd_event()`: the application has paused.
    fn resume(&mut self, view: &View) {
        self.resumed = true;
        self.aggregation.restart(view.now);
        match self.mode {
            // At the bandwidth of the path, because there is no queue after the pause.
            Mode::ProbeBandwidth => self.set_pacing_rate(UNIT, view),
            Mode::ProbeRtt if self.lull.is_over(view.now) => self.end_lull(view.now),
            Mode::ProbeRtt | Mode::Startup | Mode::Drain => {}
        }
    }

    /// A recovery begins. Linux restores three quarters of cwnd as ssthresh after it, if it was spurious
    /// (`tcp_current_ssthresh()`, `tcp_undo_cwnd_reduction()`), although it has no meaning for a path model.
    fn remember_ssthresh(&mut self, view: &View) {
        let segments = self.cwnd / view.mss.max(1);
        self.prior_ssthresh = self.ssthresh.max((segments / 2 + segments / 4).saturating_mul(view.mss));
    }

    /// `bbr_set_state()`, and the reduction of cwnd in `tcp_enter_loss()`.
    fn time_out(&mut self, first: bool, view: &View) {
        if first {
            self.remember_ssthresh(view);
            self.save_cwnd();
        }
        self.repairing = Repairing::Timeout;
        self.plateau.restart(0);
        self.rounds.start = true;
        let shown = self.shown(view.now, true, false);
        self.policer.watch(&shown);
        self.cwnd = view.mss;
    }
}

impl CongestionControl for Bbr {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            // `bbr_ssthresh()`, which a mark calls too, although it has no other effect.
            Signal::EnterRecovery => {
                self.remember_ssthresh(view);
                self.save_cwnd();
            }
            Signal::EcnCe => self.save_cwnd(),
            Signal::Timeout { first } => self.time_out(first, view),
            Signal::Undo => {
                self.plateau.restart(0);
                let shown = self.shown(view.now, false, false);
                self.policer.reset(&shown);
                self.ssthresh = self.ssthresh.max(self.prior_ssthresh);
            }
            Signal::Resumed => self.resume(view),
            // Other events appear in the samples or have no effect.
            Signal::Acked { .. }
            | Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::ExitRecovery
            | Signal::RoundMarked { .. }
            | Signal::IdleRestart { .. } => {}
        }
    }

    fn delivered(&mut self, sample: &RateSample, view: &View) {
        if self.delivered == 0 && self.min_rtt.is_none() {
            (self.min_rtt, self.min_rtt_at) = (sample.min_rtt, view.now);
            self.aggregation.restart(view.now);
        }
        (self.delivered, self.lost) = (sample.delivered, sample.lost);
        self.update_bandwidth(sample, view);
        if sample.newly_delivered > 0 && sample.interval.is_some() {
            self.aggregation.add(Delivered {
                at: sample.delivered_at,
                bytes: sample.newly_delivered,
                mss: u64::from(view.mss),
                bandwidth: self.rate(),
                cwnd: u64::from(self.cwnd),
                round_start: self.rounds.start,
                unit: u64::from(view.mss),
                window: EXCESS_ROUNDS,
            });
        }
        self.update_cycle(sample, view);
        self.check_full(sample.interval);
        self.check_drain(sample, view);
        self.update_min_rtt(sample, view);
        self.set_pacing_rate(self.pacing_gain(), view);
        self.set_cwnd(sample, view);
    }

    /// `bbr_init()`.
    fn begin_pace(&mut self, srtt: Option<Span>) {
        self.pace.begin(self.cwnd, srtt, HIGH_GAIN);
    }

    /// ssthresh has no meaning for a path model.
    fn set_windows(&mut self, cwnd: u32, _: u32) {
        self.cwnd = cwnd;
    }

    fn set_prior_ssthresh(&mut self, ssthresh: u32) -> u32 {
        core::mem::replace(&mut self.prior_ssthresh, ssthresh)
    }

    fn cwnd(&self) -> u32 {
        self.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pace.get()).filter(|&rate| rate > 0)
    }

    fn least_burst(&self) -> u64 {
        self.least_in_burst()
    }

    fn is_sparing(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn path(&self) -> Option<PathModel> {
        Some(PathModel { bandwidth: self.rate(), min_rtt: self.min_rtt })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
