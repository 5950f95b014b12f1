//! How the bandwidth is probed: down, cruise, refill, up (draft-ietf-ccwg-bbr, "ProbeBW").
//!
//! A flow probes every two to three seconds. On a path with a small bandwidth-delay product it probes as often as Reno
//! would fill the path, so that Reno and CUBIC can grow in between.

use super::bounds::INFINITE;
use super::probing::{Feedback, Probing};
use super::{Bbr3, State};
use crate::congestion::View;
use crate::congestion::delivery_rate::RateSample;
use crate::congestion::model_based::path_model::narrow;
use crate::time::{Span, Time};

/// The maximum number of rounds between probes.
const MOST_ROUNDS: u64 = 63;
/// The minimum wait, and the maximum random addition, in milliseconds.
const WAIT: Span = Span::from_secs(2);
const MORE_MS: u64 = 1000;
/// The maximum number of doublings of the slope of the upper bound.
const MOST_DOUBLINGS: u32 = 30;

impl Bbr3 {
    /// `UpdateProbeBWCyclePhase()`.
    pub(super) fn update_cycle(&mut self, sample: &RateSample, view: &View) {
        if !self.full_reached || sample.newly_delivered == 0 || self.adapt_upper_bound(sample, view) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(view) => self.start_refill(),
            State::Down if self.is_time_to_cruise(sample, view) => self.state = State::Cruise,
            State::Refill if self.rounds.start => {
                self.probing.is_sampled = true;
                self.start_up(sample);
            }
            State::Up if self.is_time_to_go_down(sample, view) => {
                self.probing.too_high = false;
                self.start_down(view.now);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN()`.
    pub(super) fn start_down(&mut self, now: Time) {
        self.latest.reset();
        self.probing.per_segment = INFINITE;
        self.probing.rounds_since = self.chance.below(2);
        self.probing.wait = WAIT + Span::from_ms(self.chance.below(MORE_MS));
        self.probing.began = now;
        self.stop_feedback();
        self.state = State::Down;
    }

    /// The ACKs of another round still belong to the probe.
    pub(super) fn stop_feedback(&mut self) {
        self.probing.feedback = Feedback::Stopping;
        self.rounds.restart(self.delivered);
    }

    /// Starts without draining, because there is no queue.
    pub(super) fn start_cruise(&mut self, now: Time) {
        self.start_down(now);
        self.state = State::Cruise;
    }

    /// `StartProbeBW_REFILL()`.
    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_short_term();
        (self.probing.doublings, self.probing.acked) = (0, 0);
        self.probing.cautious = false;
        self.probing.feedback = Feedback::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP()`.
    fn start_up(&mut self, sample: &RateSample) {
        self.probing.feedback = Feedback::Starting;
        self.rounds.restart(self.delivered);
        self.look_for_plateau(sample.interval.map_or(0, |interval| interval.rate()));
        self.state = State::Up;
        self.steepen();
    }

    /// `IsTimeToProbeBW()`.
    fn is_time_to_probe(&self, view: &View) -> bool {
        let Probing { began, wait, rounds_since, .. } = self.probing;
        // As many rounds as segments: Reno needs this time to fill a queue of one bandwidth-delay product.
        let segments = self.target() / u64::from(view.mss.max(1));
        view.now > began + wait || rounds_since >= segments.min(MOST_ROUNDS)
    }

    /// `IsTimeToCruise()`: the queue is empty, and there is headroom for other flows.
    fn is_time_to_cruise(&self, sample: &RateSample, view: &View) -> bool {
        sample.in_flight <= self.with_headroom(view.mss)
            && sample.in_flight <= self.inflight(self.most_bandwidth(), view.mss)
    }

    /// `IsTimeToGoDown()`.
    fn is_time_to_go_down(&mut self, sample: &RateSample, view: &View) -> bool {
        if self.probing.too_high && sample.in_flight >= self.bounds.inflight_hi {
            self.probing.cautious = true;
            return true;
        }
        if self.is_at_upper_bound(sample, view) {
            self.look_for_plateau(sample.interval.map_or(0, |interval| interval.rate()));
            return false;
        }
        self.full_now
    }

    /// Whether cwnd limits the sender and the upper bound limits cwnd.
    fn is_at_upper_bound(&self, sample: &RateSample, view: &View) -> bool {
        let cwnd = u64::from(self.cwnd);
        sample.prior_in_flight + u64::from(view.mss) > cwnd && cwnd >= self.bounds.inflight_hi
    }

    /// `RaiseInflightLongtermSlope()`: by one segment in the first round, by two in the next, and so on.
    fn steepen(&mut self) {
        self.probing.per_segment = u64::from(self.cwnd) >> self.probing.doublings;
        self.probing.doublings = (self.probing.doublings + 1).min(MOST_DOUBLINGS);
    }

    /// `AdaptLongTermModel()`. Returns whether the state has changed.
    fn adapt_upper_bound(&mut self, sample: &RateSample, view: &View) -> bool {
        match (self.probing.feedback, self.rounds.start) {
            (Feedback::Starting, true) => self.probing.feedback = Feedback::Probe,
            (Feedback::Stopping, true) => {
                self.probing.is_sampled = false;
                self.probing.feedback = Feedback::None;
                if self.state.cycles() {
                    if sample.interval.is_some_and(|interval| !interval.app_limited) {
                        self.advance_bandwidth();
                    }
                    if self.probing.cautious && !self.probing.too_high {
                        self.start_refill();
                        return true;
                    }
                }
            }
            _ => {}
        }
        if let Some(interval) = sample.interval
            && self.bounds.inflight_hi != INFINITE
            && !self.is_too_high(interval.lost, interval.tx_in_flight)
        {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(interval.tx_in_flight);
            if self.state == State::Up {
                self.raise_upper_bound(sample, view);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward()`.
    fn raise_upper_bound(&mut self, sample: &RateSample, view: &View) {
        if !self.is_at_upper_bound(sample, view) {
            return;
        }
        let mss = u64::from(view.mss);
        let per_segment = self.probing.per_segment.max(mss);
        self.probing.acked += sample.newly_delivered;
        self.bounds.inflight_hi += self.probing.acked / per_segment * mss;
        self.probing.acked %= per_segment;
        if self.rounds.start {
            self.steepen();
        }
    }

    /// `TargetInflight()`: the bandwidth-delay product, unless losses have reduced cwnd.
    pub(super) fn target(&self) -> u64 {
        u64::from(self.cwnd.min(narrow(self.path_volume(super::UNIT))))
    }
}
