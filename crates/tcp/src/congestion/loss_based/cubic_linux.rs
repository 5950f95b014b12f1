//! CUBIC as in Linux (`tcp_cubic.c`; S. Ha, I. Rhee and L. Xu, "CUBIC", ACM SIGOPS OSR 42(5), 2008).

use super::cubic::cube_root;
use super::growth::Window;
use super::reduction::Reduction;
use crate::config::choices::{Growth, HyStart as HyStartChoice};
use crate::congestion::slow_start::Exit;
use crate::congestion::slow_start::hystart::Pace;
use crate::congestion::{CongestionControl, Signal, View};
use crate::time::{Span, Time};

/// The implementation on which RFC 9438 is based, with these differences:
///
/// * Before the first loss, and after a timeout until the next one, there is no W_max. The curve from K = 0 would
///   hardly grow, so the minimum growth is a twentieth of cwnd per RTT. It matters because HyStart ends slow start
///   early.
/// * All counts are whole segments. The number of ACKs per segment is a quotient that is rounded down, so growth is up
///   to 50 % faster where the curve is steep.
/// * W_cubic is evaluated one *minimum* RTT ahead, without queueing delay.
/// * The Reno window estimate grows by eight segments in fifteen windows; cwnd follows it within one RTT.
/// * The clock of the curve stops only when data is sent while nothing is in flight: for the time since the last
///   transmission, the round trip of that included.
/// * Undo restores cwnd and ssthresh, but not the curve; a new one starts.
///
/// The unit of its clock is 2⁻¹⁰ s, about a jiffy with HZ = 1000.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CubicLinux {
    window: Window,
    initial: u32,
    last: Reduction,
    curve: Curve,
    rule: HyStartChoice,
    /// `None` after it has ended slow start, until a timeout.
    hystart: Option<Exit>,
}

/// CUBIC without signals: none has come yet, or none will come any more. Many connections send data in one direction only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unused {
    cwnd: u32,
    ssthresh: u32,
    growth: Growth,
    rule: HyStartChoice,
}

impl Unused {
    /// With the given `cwnd` and `ssthresh` in bytes, and a rule that ends slow start.
    pub(crate) fn new(cwnd: u32, ssthresh: u32, growth: Growth, rule: HyStartChoice) -> Self {
        Self { cwnd, ssthresh, growth, rule }
    }

    /// The first signal comes.
    pub(crate) fn begin(self) -> CubicLinux {
        CubicLinux::new(self.cwnd, self.ssthresh, self.growth, self.rule)
    }
}

impl CongestionControl for Unused {
    /// A signal begins the algorithm instead.
    fn on(&mut self, _: Signal, _: &View) {}

    fn cwnd(&self) -> u32 {
        self.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.ssthresh
    }
}

/// What avoidance needs of an ACK of new data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AvoidanceAck {
    /// Bytes that it acknowledges.
    pub(crate) bytes: u32,
    pub(crate) now: Time,
    /// Bytes of a full segment, at least 1.
    pub(crate) mss: u32,
    /// See [`View::rtt`].
    pub(crate) rtt: Option<Span>,
    /// See [`View::cwnd_limited`].
    pub(crate) cwnd_limited: bool,
}

impl AvoidanceAck {
    fn of(bytes: u32, view: &View) -> Self {
        Self { bytes, now: view.now, mss: view.mss.max(1), rtt: view.rtt, cwnd_limited: view.cwnd_limited }
    }
}

/// The state of avoidance. Windows in segments, times in 2⁻¹⁰ s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Curve {
    /// 0: no loss yet.
    w_max: u32,
    origin: u32,
    k: u64,
    /// When this stage of avoidance began.
    epoch: Option<Time>,
    shortest_rtt: Option<Span>,
    /// The number of acknowledged segments per increase of one segment (`cnt`).
    price: u32,
    /// The cwnd and the time of the last update of `price`.
    priced: (u32, u64),
    /// Until when it holds if cwnd stays.
    steady_until: Time,
    /// Segments acknowledged and not yet counted in `w_est`.
    uncounted: u32,
    w_est: u32,
}

/// β = 717/1024.
const BETA: u32 = 717;
const ONE: u32 = 1024;

/// C = 410/1024 segments/s³.
const C: u128 = 410;

/// While cwnd is constant, the price is not updated for 1/32 s.
const STEADY: u64 = 32;

/// Without W_max: the largest number of ACKs per segment.
const UNKNOWN: u32 = 20;

/// The smallest number of ACKs per segment.
const DEAREST: u32 = 2;

/// RTT samples are ignored for this time after a recovery.
const SETTLING: Span = Span::from_secs(1);

impl CubicLinux {
    /// With the given initial `cwnd` and `ssthresh` in bytes, and a rule that ends slow start.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth, rule: HyStartChoice) -> Self {
        Self {
            window: Window::new(cwnd, ssthresh, growth),
            initial: cwnd,
            last: Reduction::NONE,
            curve: Curve::default(),
            rule,
            hystart: Exit::new(rule),
        }
    }

    /// What remains when no signal will come any more.
    pub(crate) fn windows_only(&self) -> Unused {
        let Window { cwnd, ssthresh, growth, .. } = self.window;
        Unused { cwnd, ssthresh, growth, rule: self.rule }
    }

    /// `cubictcp_acked()` and `cubictcp_cong_avoid()`.
    fn acked(&mut self, bytes: u32, view: &View) {
        let ack = AvoidanceAck::of(bytes, view);
        if self.is_avoiding() {
            self.acked_in_avoidance(ack);
            return;
        }
        self.curve.measure(ack.now, ack.rtt);
        let pace = self.slow_start_pace(view);
        if !ack.cwnd_limited {
            return;
        }
        let mut segments = self.window.segments(bytes, ack.mss);
        if self.window.cwnd < self.window.ssthresh {
            segments = self.slow_start(segments, ack.mss, pace);
        }
        if segments > 0 {
            self.avoid(segments, ack.mss, ack.now);
        }
    }

    /// Whether slow start is over.
    #[inline]
    pub(in crate::congestion) const fn is_avoiding(&self) -> bool {
        self.window.cwnd >= self.window.ssthresh
    }

    /// The same when slow start is over, with less than a [`View`]. Returns the new cwnd.
    #[inline(always)]
    pub(in crate::congestion) fn acked_in_avoidance(&mut self, ack: AvoidanceAck) -> u32 {
        self.curve.measure(ack.now, ack.rtt);
        if ack.cwnd_limited {
            let segments = self.window.segments(ack.bytes, ack.mss);
            if segments > 0 {
                self.avoid(segments, ack.mss, ack.now);
            }
        }
        self.window.cwnd
    }

    /// Looks for the end of slow start.
    fn slow_start_pace(&mut self, view: &View) -> Pace {
        let cwnd = self.window.cwnd;
        let pace = self.hystart.as_mut().map_or(Pace::Full, |hystart| hystart.on_ack(view, cwnd));
        match pace {
            Pace::Full | Pace::Quarter => {}
            Pace::Over => {
                self.window.ssthresh = cwnd;
                self.hystart = None;
            }
            Pace::OverAt(reduced) => {
                self.set(reduced, reduced);
                self.hystart = None;
            }
        }
        pace
    }

    /// `tcp_slow_start()`: up to ssthresh; returns the rest for avoidance.
    fn slow_start(&mut self, segments: u32, mss: u32, pace: Pace) -> u32 {
        let (before, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        self.window.slow_start(segments.saturating_mul(mss), mss);
        let cwnd = pace.opened(before, self.window.cwnd);
        self.window.cwnd = cwnd.min(ssthresh);
        (cwnd - self.window.cwnd) / mss
    }

    /// `tcp_cong_avoid_ai()`.
    #[inline(always)]
    fn avoid(&mut self, segments: u32, mss: u32, now: Time) {
        let price = match self.curve.steady_price(self.window.cwnd, segments, mss, now) {
            Some(price) => price,
            None => self.curve.price((self.window.cwnd / mss).max(1), segments, now),
        };
        self.window.avoid_at(price, segments, mss);
    }

    /// `cubictcp_recalc_ssthresh()`: based on the data in flight or on cwnd, as configured, but at most cwnd.
    fn threshold(&mut self, view: &View) -> u32 {
        let mss = view.mss.max(1);
        let cwnd = self.window.cwnd;
        self.last.remember(&self.window, mss);
        self.curve.lost_at(cwnd / mss);
        let segments = u64::from(view.flight.min(cwnd) / mss) * u64::from(BETA) / u64::from(ONE);
        mss.saturating_mul(segments.max(2) as u32)
    }

    fn set(&mut self, cwnd: u32, ssthresh: u32) {
        self.window.set(cwnd, ssthresh);
    }

    fn reduce(&mut self, view: &View) {
        let ssthresh = self.threshold(view);
        self.set(ssthresh, ssthresh);
    }

    /// `tcp_enter_loss()`; the state of the curve is reset (`bictcp_reset()`).
    fn time_out(&mut self, first: bool, view: &View) {
        let again = !first || self.last.is_in_recovery();
        let ssthresh = if again { self.window.ssthresh } else { self.threshold(view) };
        self.set(view.mss, ssthresh);
        self.last.end();
        self.curve = Curve::default();
        self.hystart = Exit::new(self.rule);
    }
}

impl Curve {
    /// The shortest round trip.
    #[inline]
    fn measure(&mut self, now: Time, rtt: Option<Span>) {
        let settling = || self.epoch.is_some_and(|epoch| now.since(epoch) < SETTLING);
        if let Some(rtt) = rtt
            && self.shortest_rtt.is_none_or(|known| rtt < known)
            && !settling()
        {
            self.shortest_rtt = Some(rtt);
        }
    }

    /// Data is sent while nothing is in flight. The time since the last transmission does not count on the clock of the
    /// curve (`cubictcp_cwnd_event()`).
    fn skip_pause(&mut self, now: Time, pause: Span) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + pause).min(now);
        }
    }

    /// The end of a stage by a loss at `cwnd` segments. Below the last W_max, fast convergence applies.
    fn lost_at(&mut self, cwnd: u32) {
        let converging = cwnd < self.w_max;
        let wide = u64::from(cwnd) * u64::from(ONE + BETA) / u64::from(2 * ONE);
        self.w_max = if converging { wide as u32 } else { cwnd };
        self.epoch = None;
    }

    fn begin(&mut self, cwnd: u32, now: Time) -> Time {
        self.epoch = Some(now);
        (self.uncounted, self.w_est) = (0, cwnd);
        let below = self.w_max.saturating_sub(cwnd);
        self.origin = cwnd + below;
        self.k = cube_root((u128::from(below) << 40) / C);
        now
    }

    /// [`Self::price`], if it was updated lately for a cwnd of as many bytes: then it is the same.
    #[inline(always)]
    fn steady_price(&mut self, cwnd: u32, segments: u32, mss: u32, now: Time) -> Option<u32> {
        let priced = u64::from(self.priced.0) * u64::from(mss);
        let holds = now < self.steady_until && priced == u64::from(cwnd) && self.epoch.is_some();
        holds.then(|| {
            self.uncounted = self.uncounted.saturating_add(segments);
            self.price
        })
    }

    /// `bictcp_update()`: the number of acknowledged segments per increase, after `segments` more were acknowledged.
    fn price(&mut self, cwnd: u32, segments: u32, now: Time) -> u32 {
        let tick = ticks(now.since(Time::ZERO));
        let (for_cwnd, at) = self.priced;
        let same_tick = match self.epoch {
            Some(_) if cwnd == for_cwnd && tick - at.min(tick) <= STEADY => {
                self.uncounted = self.uncounted.saturating_add(segments);
                return self.price;
            }
            Some(_) => tick == at,
            None => false,
        };
        let epoch = self.epoch.unwrap_or_else(|| self.begin(cwnd, now));
        self.uncounted = self.uncounted.saturating_add(segments);
        if !same_tick {
            self.priced = (cwnd, tick);
            self.steady_until = Time::from_ps((tick + STEADY + 1).saturating_mul(TICK));
            let target = self.at(now.since(epoch) + self.shortest_rtt.unwrap_or(Span::ZERO));
            self.price = match target.checked_sub(cwnd) {
                Some(ahead @ 1..) => cwnd / ahead,
                _ => cwnd.saturating_mul(100),
            };
            if self.w_max == 0 {
                self.price = self.price.min(UNKNOWN);
            }
        }
        self.price = self.price.min(self.as_reno(cwnd)).max(DEAREST);
        self.price
    }

    /// W_cubic. Below the origin the offset is rounded so that the value is higher, above it lower.
    fn at(&self, t: Span) -> u32 {
        let t = ticks(t);
        let distance = u128::from(t.abs_diff(self.k).min(1 << 26));
        let off = u32::try_from((C * distance * distance * distance) >> 40).unwrap_or(u32::MAX);
        if t < self.k { self.origin.saturating_sub(off) } else { self.origin.saturating_add(off) }
    }

    /// The price with which `cwnd` reaches the Reno window within one RTT, if that window is larger. The equivalent
    /// additive increase is 3 (1 − β) / (1 + β), here 8/15.
    fn as_reno(&mut self, cwnd: u32) -> u32 {
        let one = u32::try_from(u64::from(cwnd) * 15 / 8).unwrap_or(u32::MAX).max(1);
        let steps = self.uncounted.saturating_sub(1) / one;
        self.uncounted -= steps * one;
        self.w_est = self.w_est.saturating_add(steps);
        match self.w_est.checked_sub(cwnd) {
            Some(ahead @ 1..) => cwnd / ahead,
            _ => u32::MAX,
        }
    }
}

impl CongestionControl for CubicLinux {
    #[inline]
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } => self.acked(bytes, view),
            Signal::EnterRecovery => {
                self.reduce(view);
                self.last.begin();
            }
            Signal::EcnCe => {
                if !self.last.is_in_recovery() {
                    self.reduce(view);
                }
                self.last.set_ssthresh(0);
            }
            Signal::Timeout { first } => self.time_out(first, view),
            Signal::ExitRecovery => self.last.end(),
            Signal::Undo => self.last.undo(&mut self.window),
            Signal::IdleRestart { timeouts } => self.window.restart(self.initial, timeouts, view.mss.max(1)),
            Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::RoundMarked { .. }
            | Signal::Resumed => {}
        }
    }

    fn set_prior_ssthresh(&mut self, ssthresh: u32) -> u32 {
        self.last.set_ssthresh(ssthresh)
    }

    fn measure(&mut self, now: Time, rtt: Option<Span>) {
        self.curve.measure(now, rtt);
    }

    fn begins_to_send(&mut self, now: Time, pause: Span) {
        self.curve.skip_pause(now, pause);
    }

    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.set(cwnd, ssthresh);
    }

    fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }
}

/// Picoseconds in 2⁻¹⁰ s: 10¹² / 2¹⁰ = 2² · 5¹².
const TICK: u64 = 4 * 5_u64.pow(12);

/// A span in 2⁻¹⁰ s.
fn ticks(span: Span) -> u64 {
    (span.as_ps() >> 2) / (TICK / 4)
}

#[cfg(test)]
#[path = "cubic_linux_tests.rs"]
mod tests;
