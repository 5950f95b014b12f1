//! CUBIC, RFC 9438, in integer arithmetic, so that results are the same on every machine.

use super::growth::Window;
use crate::config::choices::{Counting, Growth, HyStart as HyStartChoice};
use crate::congestion::slow_start::Exit;
use crate::congestion::slow_start::hystart::Pace;
use crate::congestion::{CongestionControl, Signal, View};
use crate::time::{Span, Time};

/// The window as a cubic function of the time since the last loss, not of the round trips.
///
/// C = 0.4 segments/s³ and β = 0.7 (sections 4.6 and 5.1), with fast convergence (section 4.7). Section numbers below
/// are RFC 9438's. Time within the curve is counted in 2⁻²⁰ s, windows in bytes; fractions of the increase per ACK are
/// kept.
///
/// * A cwnd that the sender does not use does not grow, and such times do not count in `t` (sections 4.2 and 5.8).
/// * Slow start is RFC 5681's (section 4.10) and ends *at* ssthresh: a reduction leaves cwnd = ssthresh, and that is
///   avoidance, as RFC 5681, section 3.1, permits.
/// * [`Growth`] determines how an ACK is counted: with [`Counting::Acks`] a segment, else its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cubic {
    state: State,
    /// The state before the last reduction, for Undo (section 4.9.2).
    undo: Option<State>,
    initial: u32,
    in_recovery: bool,
    /// The rule that ends slow start without a loss.
    hystart: Option<Exit>,
    /// A mark reduces cwnd less than a loss (RFC 8511).
    abe: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    window: Window,
    w_max: u32,
    /// cwnd when ssthresh was last set; 0 before that.
    cwnd_prior: u32,
    /// Bytes times [`EST_ONE`].
    w_est: u64,
    /// K in 2⁻²⁰ s.
    k: u64,
    /// The fraction of the increase that cwnd does not yet include: bytes times cwnd.
    credit: u64,
    epoch: Time,
    last_ack: Time,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Not in avoidance; the next stage starts from the present cwnd, K = 0 (sections 4.8 and 4.10).
    Fresh,
    /// Not in avoidance; the next stage grows towards W_max.
    AfterLoss,
    /// In avoidance since `epoch`.
    Avoidance,
}

/// β in hundredths.
const BETA: u64 = 70;

/// W_est is kept in 1/65536 bytes.
const EST_ONE: u32 = 1 << 16;

impl Cubic {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        let window = Window::new(cwnd, ssthresh, growth);
        let (epoch, last_ack) = (Time::ZERO, Time::ZERO);
        let stage = Stage::Fresh;
        let state =
            State { window, w_max: 0, cwnd_prior: 0, w_est: 0, k: 0, credit: 0, epoch, last_ack, stage };
        Self { state, undo: None, initial: cwnd, in_recovery: false, hystart: None, abe: false }
    }

    /// The same with a rule that ends slow start before a loss.
    #[must_use]
    pub fn with_hystart(self, rule: HyStartChoice) -> Self {
        Self { hystart: Exit::new(rule), ..self }
    }

    /// The same with the alternative backoff of RFC 8511, or without.
    #[must_use]
    pub fn with_abe(self, abe: bool) -> Self {
        Self { abe, ..self }
    }

    /// An ACK of new data in slow start with HyStart.
    fn slow_start_watched(&mut self, bytes: u32, view: &View) {
        let Some(hystart) = &mut self.hystart else { return self.state.acked(bytes, view) };
        let before = self.state.window.cwnd;
        let pace = hystart.on_ack(view, before);
        match pace {
            Pace::Full | Pace::Quarter => {}
            Pace::Over => self.state.window.set(before, before),
            Pace::OverAt(cwnd) => self.state.window.set(cwnd, cwnd),
        }
        self.state.acked(bytes, view);
        let window = &mut self.state.window;
        window.cwnd = pace.opened(before, window.cwnd);
    }

    /// A mark: section 4.6. RFC 8511, sections 3.1 and 4.1: beta_ecn is 0.85.
    fn mark(&mut self, view: &View) {
        let beta = if self.abe { 85 } else { BETA };
        self.reduce(view, 1, beta);
    }

    /// Sections 4.6 and 4.7. `floor` is the least cwnd in segments; `beta` is in hundredths.
    fn reduce(&mut self, view: &View, floor: u32, beta: u64) {
        self.undo = Some(self.state);
        let state = &mut self.state;
        let cwnd = state.window.cwnd;
        let converging = cwnd < state.w_max;
        state.w_max = if converging { scaled(cwnd, 17, 20) } else { cwnd };
        state.cwnd_prior = cwnd;
        // RFC 9438, section 4.6: the data in flight, but at most cwnd. The outstanding data may be more, because it
        // includes data that has arrived after a gap.
        let reduced = scaled(view.flight.min(cwnd), beta, 100);
        let least = |segments: u32| reduced.max(view.mss.saturating_mul(segments));
        state.window.set(least(floor), least(2));
        state.stage = Stage::AfterLoss;
    }

    /// Section 4.8.
    fn time_out(&mut self, first: bool, view: &View) {
        if first {
            let before = self.undo.filter(|_| self.in_recovery);
            self.reduce(view, 2, BETA);
            self.undo = before.or(self.undo);
        }
        self.state.window.set(view.mss, self.state.window.ssthresh);
        self.state.stage = Stage::Fresh;
        self.in_recovery = false;
    }
}

impl State {
    /// The start of an avoidance stage: section 4.2, figure 2; sections 4.3, 4.8 and 4.10.
    fn begin(&mut self, now: Time, mss: u32) {
        let cwnd = self.window.cwnd;
        if self.stage == Stage::Fresh || self.w_max <= cwnd {
            (self.w_max, self.k) = (cwnd, 0);
        } else {
            // K³ = (W_max − cwnd) / C, in (2⁻²⁰ s)³; C = 4/10 segments/s³.
            let cube = ((u128::from(self.w_max - cwnd) * 10) << 60) / (4 * u128::from(mss));
            self.k = cube_root(cube);
        }
        if self.cwnd_prior == 0 {
            self.cwnd_prior = cwnd;
        }
        self.w_est = u64::from(cwnd) * u64::from(EST_ONE);
        self.credit = 0;
        self.epoch = now;
        self.stage = Stage::Avoidance;
    }

    /// W_cubic(t): section 4.2, figure 1.
    fn curve(&self, t: Span, mss: u32) -> u32 {
        let t = fine(t);
        let distance = u128::from(t.abs_diff(self.k).min(1 << 31));
        let rise = (distance * distance * distance * (4 * u128::from(mss))) >> 60;
        let rise = u32::try_from(rise as u64 / 10).unwrap_or(u32::MAX);
        if t < self.k { self.w_max.saturating_sub(rise) } else { self.w_max.saturating_add(rise) }
    }

    /// One ACK of new data in avoidance: sections 4.2 to 4.5.
    fn avoid(&mut self, bytes: u32, view: &View) {
        let mss = view.mss.max(1);
        if self.stage != Stage::Avoidance {
            self.begin(view.now, mss);
        }
        let counted = match self.window.growth.counting {
            Counting::Acks => mss,
            Counting::AcksByRfc5681 => bytes.min(mss),
            Counting::Bytes { .. } => bytes,
        };
        let cwnd = self.window.cwnd.max(1);

        // Section 4.3: α = 3 (1 − β) / (1 + β) = 9/17 until W_est has reached cwnd_prior, then 1.
        let reached = self.w_est >= u64::from(self.cwnd_prior) * u64::from(EST_ONE);
        let (num, den) = if reached { (1, 1) } else { (9, 17) };
        let share = (u64::from(mss) * u64::from(EST_ONE) * num).saturating_mul(u64::from(counted));
        self.w_est = self.w_est.saturating_add(share / (den * u64::from(cwnd)));
        let w_est = u32::try_from(self.w_est / u64::from(EST_ONE)).unwrap_or(u32::MAX);

        let t = view.now.since(self.epoch);
        if self.curve(t, mss) < w_est {
            self.window.cwnd = cwnd.max(w_est);
            return;
        }
        let ahead = t + view.srtt.unwrap_or(Span::ZERO);
        let target = self.curve(ahead, mss).clamp(cwnd, cwnd.saturating_add(cwnd / 2));
        self.credit = self.credit.saturating_add(u64::from(target - cwnd) * u64::from(counted));
        let step = self.credit / u64::from(cwnd);
        self.credit -= step * u64::from(cwnd);
        self.window.cwnd = cwnd.saturating_add(u32::try_from(step).unwrap_or(u32::MAX));
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        if !view.cwnd_limited {
            // The clock `t` of the stage stops meanwhile.
            self.epoch += view.now.since(self.last_ack.max(self.epoch));
        } else if self.window.cwnd < self.window.ssthresh {
            self.window.slow_start(bytes, view.mss);
        } else {
            self.avoid(bytes, view);
        }
        self.last_ack = view.now;
    }
}

impl CongestionControl for Cubic {
    #[inline]
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } if self.state.window.cwnd < self.state.window.ssthresh => {
                self.slow_start_watched(bytes, view);
            }
            Signal::Acked { bytes } => self.state.acked(bytes, view),
            Signal::EnterRecovery => {
                self.reduce(view, 2, BETA);
                self.in_recovery = true;
            }
            // Section 4.6: marks may take cwnd, not ssthresh, down to one segment.
            Signal::EcnCe if !self.in_recovery => self.mark(view),
            Signal::Timeout { first } => self.time_out(first, view),
            Signal::ExitRecovery => self.in_recovery = false,
            Signal::Undo => {
                // Section 4.9.2: only if cwnd has not passed cwnd_prior meanwhile.
                let lower = self.state.window.cwnd < self.state.cwnd_prior;
                self.state = self.undo.take().filter(|_| lower).unwrap_or(self.state);
                self.in_recovery = false;
            }
            Signal::IdleRestart { .. } => {
                let cwnd = self.initial.min(self.state.window.cwnd);
                self.state.window.set(cwnd, self.state.window.ssthresh);
                self.state.stage = match self.state.stage {
                    Stage::Fresh => Stage::Fresh,
                    Stage::AfterLoss | Stage::Avoidance => Stage::AfterLoss,
                };
            }
            Signal::EcnCe
            | Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::RoundMarked { .. }
            | Signal::Resumed => {}
        }
    }

    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.state.window.set(cwnd, ssthresh);
    }

    fn cwnd(&self) -> u32 {
        self.state.window.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.state.window.ssthresh
    }
}

/// A span in 2⁻²⁰ s, limited to 20 hours: 2²⁰ / 10¹² = 2⁸ / 5¹².
fn fine(span: Span) -> u64 {
    (span.as_ps().min((1 << 56) - 1) << 8) / 5_u64.pow(12)
}

fn scaled(bytes: u32, num: u64, den: u64) -> u32 {
    (u64::from(bytes) * num / den) as u32
}

/// The largest integer whose cube does not exceed `n`, for n < 2^126.
pub(super) fn cube_root(n: u128) -> u64 {
    let mut root = 0_u64;
    for bit in (0..42).rev() {
        let trial = root | 1 << bit;
        if u128::from(trial).pow(3) <= n {
            root = trial;
        }
    }
    root
}

#[cfg(test)]
#[path = "cubic_tests.rs"]
mod tests;
