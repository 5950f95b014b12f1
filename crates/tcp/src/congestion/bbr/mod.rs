//! BBR version 1, as Linux has it (`tcp_bbr.c`; Cardwell et al., "BBR: Congestion-based congestion control", ACM Queue 14(5),
//! 2016).
//!
//! It goes by a model of the path: the largest delivery rate of the last ten rounds and the least round trip of the last ten
//! seconds. It paces at that rate, and keeps no more in flight than twice what the path holds. Losses tell it nothing, but
//! for the first round of a recovery and for [`policer`].
//!
//! In *startup* it doubles its rate in each round until that brings no more; it *drains* the queue that this has made; then
//! it *probes the bandwidth*, for a round at a quarter more in each eight, and *the round trip* every ten seconds, with four
//! segments in flight. All in bytes, where Linux counts packets.

mod policer;
mod window;

use super::model::{
    Aggregation, Chance, Delivered, Lull, MIN_RTT_HOLDS, Pace, Plateau, Rounds, UNIT, WindowedMax, least,
    scaled,
};
use super::{CongestionControl, PathModel, Signal, View};
use crate::congestion::delivery_rate::{Interval, RateSample, Repairing};
use crate::time::{Span, Time};
use policer::{Policer, Shown};

/// 2/ln 2: the least gain at which the rate doubles in each round.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Its inverse: what startup has queued is gone in a round.
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// In flight, for each of the path's volume: so that late and stretched ACKs do no harm.
const CWND_GAIN: u64 = UNIT * 2;
/// A round at more, one at less, six at the rate.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The rate is the largest of so many rounds.
const BANDWIDTH_ROUNDS: u64 = CYCLE.len() as u64 + 2;
/// Rounds that an excess of what was acknowledged is kept: as long, and as long again.
const EXCESS_ROUNDS: u8 = 5;

/// What it is about.
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
    pace: Pace,

    bandwidth: WindowedMax,
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    policer: Policer,
    aggregation: Aggregation,

    rounds: Rounds,
    /// Whether the pipe has been found full.
    plateau: Plateau,
    is_full: bool,

    /// Which part of the cycle, and since when.
    phase: usize,
    phase_began: Time,
    lull: Lull,
    resumed: bool,

    /// cwnd before a recovery, or before the round trip was probed.
    prior_cwnd: u32,
    repairing: Repairing,
    /// The first round of a recovery: as much leaves as arrives.
    conserving: bool,
    /// Totals as they last were.
    delivered: u64,
    lost: u64,
    chance: Chance,
}

impl Bbr {
    /// With the given initial `cwnd` in bytes. `seed` decides where in the cycle it begins, so that flows do not probe in
    /// step.
    pub fn new(cwnd: u32, seed: u32) -> Self {
        Self {
            mode: Mode::Startup,
            cwnd,
            ssthresh: u32::MAX,
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

    /// The estimate of the rate that the path carries, in bytes per second.
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

    /// `bbr_update_cycle_phase()`: a part of the cycle is over after a round trip, and when it has done what it was for.
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

    /// Anywhere but in the part that drains what the first one has queued.
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

    /// The round trip has been probed for long enough.
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
            // No faster than the path, since there was no queue before.
            Mode::ProbeBandwidth => self.set_pacing_rate(UNIT, view),
            Mode::ProbeRtt if self.lull.is_over(view.now) => self.end_lull(view.now),
            Mode::ProbeRtt | Mode::Startup | Mode::Drain => {}
        }
    }

    /// `bbr_set_state()`, and what `tcp_enter_loss()` leaves of cwnd.
    fn time_out(&mut self, first: bool, view: &View) {
        if first {
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
            Signal::EnterRecovery => self.save_cwnd(),
            Signal::Timeout { first } => self.time_out(first, view),
            Signal::Undo => {
                self.plateau.restart(0);
                let shown = self.shown(view.now, false, false);
                self.policer.reset(&shown);
            }
            Signal::Resumed => self.resume(view),
            // All else it sees in the samples, or not at all.
            Signal::Acked { .. }
            | Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::ExitRecovery
            | Signal::EcnCe
            | Signal::RoundMarked { .. }
            | Signal::IdleRestart => {}
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

    fn cwnd(&self) -> u32 {
        self.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.pace.get()).filter(|&rate| rate > 0)
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
