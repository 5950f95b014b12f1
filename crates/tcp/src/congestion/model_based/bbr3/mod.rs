//! BBR version 3 (draft-ietf-ccwg-bbr).
//!
//! Like version 1 it uses a model of the path: the largest delivery rate of two probing cycles and the minimum RTT of
//! ten seconds. In contrast to version 1 it reacts to losses and marks. If more than 2 % is lost, the data in flight at
//! that time becomes an upper bound ([`bounds`]). Between probes, each lossy round reduces rate and volume towards the
//! delivered amounts, until the next probe.
//!
//! In *startup* it doubles its rate in each round until the delivery rate no longer increases or losses occur. It then
//! *drains* the resulting queue. Later it probes the bandwidth in four states ([`cycle`]), and the RTT every five
//! seconds ([`round_trip`]).

mod bounds;
mod cycle;
mod loss;
mod probe_rtt;
mod probing;
mod round_trip;
mod state;
mod window;

use super::path_model::{Aggregation, Chance, Delivered, Pace, Plateau, Rounds, UNIT, least, scaled};
use crate::congestion::delivery_rate::{Interval, LostSegment, RateSample, Repairing};
use crate::congestion::{CongestionControl, PathModel, Signal, View};
use crate::time::{Span, Time};
use bounds::{Bounds, Latest, Saved};
use probing::Probing;
use round_trip::RoundTrip;
use state::State;

/// The length of each of the two windows of the ACK aggregation filter in rounds: in startup, and later.
const EXCESS_ROUNDS: [u8; 2] = [1, 5];
/// Startup ends when a round of a recovery has this number of lost ranges and a loss rate above the threshold.
const STARTUP_HOLES: u32 = 6;
/// The maximum number of rounds in drain. After it the rate was probably overestimated.
const DRAIN_ROUNDS: u64 = 3;

impl State {
    /// The pacing gain over the estimated rate.
    const fn pacing_gain(self) -> u64 {
        match self {
            // 4 ln 2, rounded up: the smallest gain that doubles the rate in each round.
            Self::Startup => UNIT * 277 / 100 + 1,
            Self::Drain => UNIT / 2,
            Self::Down => UNIT * 9 / 10,
            Self::Cruise | Self::Refill | Self::ProbeRtt => UNIT,
            Self::Up => UNIT * 5 / 4,
        }
    }

    /// The gain of cwnd over the bandwidth-delay product.
    const fn cwnd_gain(self) -> u64 {
        match self {
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => UNIT * 2,
            Self::Up => UNIT * 9 / 4,
            Self::ProbeRtt => UNIT / 2,
        }
    }

    /// Whether it probes the bandwidth in a cycle.
    const fn cycles(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether it sends faster, or fills the path, to probe. Losses then do not reduce the short-term bounds.
    const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The state of BBR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bbr3 {
    state: State,
    cwnd: u32,
    ssthresh: u32,
    initial: u32,
    pace: Pace,

    /// The largest delivery rate of this cycle and of the one before.
    bandwidth: [u64; 2],
    round_trip: RoundTrip,
    aggregation: Aggregation,
    bounds: Bounds,
    latest: Latest,
    rounds: Rounds,
    probing: Probing,

    /// The detection of a full pipe: its present result, and whether it was ever full.
    plateau: Plateau,
    full_now: bool,
    full_reached: bool,
    drain_began: u64,

    /// The sender restarts after a pause of the application.
    resumed: bool,
    /// cwnd before a recovery or an RTT probe.
    prior_cwnd: u32,
    repairing: Repairing,
    /// The values to restore if the losses were spurious.
    saved: Saved,
    /// The total of delivered bytes, and whether the peer uses SACK.
    delivered: u64,
    selective: bool,
    chance: Chance,
}

impl Bbr3 {
    /// With the given initial `cwnd` in bytes. `seed` determines when it probes, so that flows do not probe at the same
    /// time.
    pub fn new(cwnd: u32, seed: u32) -> Self {
        Self {
            state: State::Startup,
            cwnd,
            ssthresh: u32::MAX,
            initial: cwnd,
            pace: Pace::default(),
            bandwidth: [0; 2],
            round_trip: RoundTrip::default(),
            aggregation: Aggregation::default(),
            bounds: Bounds::NONE,
            latest: Latest::default(),
            rounds: Rounds::default(),
            probing: Probing::default(),
            plateau: Plateau::default(),
            full_now: false,
            full_reached: false,
            drain_began: 0,
            resumed: false,
            prior_cwnd: 0,
            repairing: Repairing::Nothing,
            saved: Saved::default(),
            delivered: 0,
            selective: true,
            chance: Chance(seed),
        }
    }

    /// `BBR.max_bw`: the largest measured bandwidth in bytes per second.
    fn most_bandwidth(&self) -> u64 {
        self.bandwidth[0].max(self.bandwidth[1])
    }

    /// `BBR.bw`: the same, limited by the short-term bound.
    fn rate(&self) -> u64 {
        self.most_bandwidth().min(self.bounds.rate_lo)
    }

    /// `UpdateMaxBw()`.
    fn update_bandwidth(&mut self, sample: &RateSample) {
        let prior = sample.interval.map(|interval| interval.prior_delivered);
        if self.rounds.see(prior, sample.delivered) {
            self.probing.rounds_since += 1;
        }
        if let Some(interval) = sample.interval {
            let rate = interval.rate();
            if !interval.app_limited || rate >= self.most_bandwidth() {
                self.bandwidth[0] = self.bandwidth[0].max(rate);
            }
        }
    }

    /// `AdvanceMaxBwFilter()`: the end of a cycle. A cycle without a sample does not count.
    fn advance_bandwidth(&mut self) {
        if self.bandwidth[0] > 0 {
            self.bandwidth = [0, self.bandwidth[0]];
        }
    }

    /// `UpdateACKAggregation()`.
    fn update_aggregation(&mut self, sample: &RateSample, view: &View) {
        if sample.newly_delivered > 0 && sample.interval.is_some() {
            self.aggregation.add(Delivered {
                at: sample.delivered_at,
                bytes: sample.newly_delivered,
                mss: u64::from(view.mss),
                bandwidth: self.rate(),
                cwnd: u64::from(self.cwnd),
                round_start: self.rounds.start,
                unit: 1,
                window: EXCESS_ROUNDS[usize::from(self.full_reached)],
            });
        }
    }

    /// `ResetFullBW()`: restarts the detection of a full pipe at this rate.
    fn look_for_plateau(&mut self, rate: u64) {
        self.plateau.restart(rate);
        self.full_now = false;
    }

    /// `CheckFullBWReached()`.
    fn check_full(&mut self, interval: Option<Interval>) {
        let Some(interval) = interval.filter(|interval| !interval.app_limited) else { return };
        if !self.full_now && self.rounds.start && self.plateau.is_reached(interval.rate()) {
            (self.full_now, self.full_reached) = (true, true);
        }
    }

    /// `CheckStartupDone()`.
    fn check_startup(&mut self, sample: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        if !self.full_reached && self.loses_in_startup(sample) {
            self.saved.state = Some(State::Startup);
            self.full_reached = true;
            self.bounds.inflight_hi = self.path_volume(UNIT).max(self.latest.inflight);
        }
        if self.full_reached {
            self.state = State::Drain;
            self.drain_began = self.rounds.count;
            self.ssthresh = super::path_model::narrow(self.path_volume(UNIT));
        }
    }

    /// `CheckStartupHighLoss()`: whether a round of a recovery had too many losses. A mark counts the same, because the
    /// document does not define its weight.
    fn loses_in_startup(&self, sample: &RateSample) -> bool {
        let Some(round) = self.latest.closed else { return false };
        let too_much = sample.interval.is_some_and(|i| self.is_too_high(i.lost, i.tx_in_flight));
        let enough = if self.selective { round.holes >= STARTUP_HOLES && too_much } else { round.lossy };
        round.marked || (sample.repairing == Repairing::Loss && enough)
    }

    /// `CheckDrainDone()`.
    fn check_drain(&mut self, sample: &RateSample, view: &View) {
        let drained = || {
            sample.in_flight <= self.inflight(self.rate(), view.mss)
                || self.rounds.count > self.drain_began + DRAIN_ROUNDS
        };
        if self.state == State::Drain && drained() {
            self.start_down(view.now);
        }
    }

    fn set_pacing_rate(&mut self, gain: u64, view: &View) {
        self.pace.begin(self.cwnd, view.srtt, State::Startup.pacing_gain());
        self.pace.want(scaled(self.rate(), gain), self.full_reached);
    }

    /// `HandleRestartFromIdle()`: at the bandwidth of the path, because there is no queue after the pause.
    fn resume(&mut self, view: &View) {
        self.resumed = true;
        self.aggregation.restart(view.now);
        if self.state.cycles() {
            self.set_pacing_rate(UNIT, view);
        } else if self.state == State::ProbeRtt && self.round_trip.lull.is_over(view.now) {
            self.end_lull(view.now);
        }
    }

    /// The initial values before the first sample.
    fn begin(&mut self, sample: &RateSample, now: Time) {
        if self.delivered == 0 && self.round_trip.least.is_none() {
            self.round_trip.begin(sample.min_rtt, now);
            self.aggregation.restart(now);
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::EnterRecovery => self.save(),
            Signal::Timeout { first } => {
                if first {
                    self.save();
                }
                self.repairing = Repairing::Timeout;
                self.cwnd = view.mss;
            }
            Signal::Undo => self.come_back(),
            Signal::Resumed => self.resume(view),
            Signal::EcnCe => {
                self.save();
                self.note_mark(view);
            }
            // Other events appear in the samples or have no effect.
            Signal::Acked { .. }
            | Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::ExitRecovery
            | Signal::RoundMarked { .. }
            | Signal::IdleRestart { .. } => {}
        }
    }

    fn lost(&mut self, segment: &LostSegment, view: &View) {
        self.note_loss();
        self.latest.note_hole(segment);
        if self.probing.is_sampled && self.is_too_high(segment.lost, segment.tx_in_flight) {
            self.overshoot(bounds::inflight_at_loss(segment), segment.app_limited, view);
        }
    }

    fn delivered(&mut self, sample: &RateSample, view: &View) {
        self.begin(sample, view.now);
        (self.delivered, self.selective) = (sample.delivered, sample.selective);
        self.latest.see(sample);
        self.update_bandwidth(sample);
        self.adapt_lower_bounds();
        self.update_aggregation(sample, view);
        self.check_full(sample.interval);
        self.check_startup(sample);
        self.check_drain(sample, view);
        self.update_cycle(sample, view);
        self.round_trip.update(sample, view.now);
        self.check_lull(sample, view);
        self.latest.advance(sample);
        self.set_pacing_rate(self.state.pacing_gain(), view);
        self.set_cwnd(sample, view);
    }

    fn begin_pace(&mut self, srtt: Option<Span>) {
        self.pace.begin(self.cwnd, srtt, State::Startup.pacing_gain());
    }

    /// ssthresh has no meaning for a path model.
    fn set_windows(&mut self, cwnd: u32, _: u32) {
        self.cwnd = cwnd;
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
        self.state == State::ProbeRtt
    }

    fn path(&self) -> Option<PathModel> {
        Some(PathModel { bandwidth: self.most_bandwidth(), min_rtt: self.round_trip.least })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
