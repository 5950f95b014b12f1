//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus), for background transfers: it yields to other flows.
//!
//! The queueing delay is the RTT minus its minimum. Above a target of 60 ms cwnd decreases, below it cwnd grows more
//! slowly than Reno's. Periodic slowdowns empty the queue, so that the minimum RTT can be measured.

use crate::config::choices::Growth;
use crate::congestion::loss_based::increase::{Increase, THOUSAND};
use crate::congestion::{CongestionControl, Reno, Signal, View};
use crate::time::{Span, Time};

/// TARGET: the queueing delay.
const TARGET: Span = Span::from_ms(60);
/// The largest divisor of the gain.
const SLOWEST: u64 = 16;
/// The number of RTT samples of the current delay (CURRENT_FILTER).
const CURRENT: usize = 4;
/// The base delay is the minimum of this number of minutes (BASE_HISTORY).
const MINUTES: usize = 10;
const MINUTE: Span = Span::from_secs(60);
/// cwnd in a slowdown and at the start, in segments.
const LOW: u32 = 2;
/// The RTTs between the end of the first slow start and the first slowdown, and those of a slowdown.
const PAUSE: u64 = 2;
/// The interval between slowdowns is this number of times their duration.
const INTERVAL: u64 = 9;

/// The minimum RTT of each of the last minutes, and the last samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Delays {
    base: [Span; MINUTES],
    minute_began: Time,
    current: [Span; CURRENT],
    next: usize,
}

impl Delays {
    const NONE: Self =
        Self { base: [Span::MAX; MINUTES], minute_began: Time::ZERO, current: [Span::MAX; CURRENT], next: 0 };

    fn add(&mut self, rtt: Span, now: Time) {
        if now.since(self.minute_began) >= MINUTE {
            self.base.rotate_right(1);
            (self.base[0], self.minute_began) = (rtt, now);
        }
        self.base[0] = self.base[0].min(rtt);
        self.current[self.next] = rtt;
        self.next = (self.next + 1) % CURRENT;
    }

    /// The base delay; `None` before the first sample.
    fn base(&self) -> Option<Span> {
        self.base.iter().copied().min().filter(|&base| base != Span::MAX)
    }

    fn queueing(&self) -> Span {
        let current = self.current.iter().copied().min().filter(|&rtt| rtt != Span::MAX);
        match (self.base(), current) {
            (Some(base), Some(current)) => current.saturating_sub(base),
            _ => Span::ZERO,
        }
    }
}

/// What the sender does besides the control by delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The first slow start.
    First,
    /// Control by delay until the next slowdown, if its time is known.
    Steady(Option<Time>),
    /// A slowdown that began at the first time and keeps cwnd low until the second.
    Low(Time, Time),
    /// Slow start to the cwnd before the slowdown, which began at this time.
    Rise(Time),
}

/// The state of LEDBAT++. Reno handles losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ledbat {
    reno: Reno,
    increase: Increase,
    delays: Delays,
    phase: Phase,
    /// The end of the round in which cwnd was decreased by delay.
    decreased_until: u64,
}

impl Ledbat {
    /// With the given initial `cwnd` and `ssthresh` in bytes. The draft permits an initial window of two segments at most.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            increase: Increase::default(),
            delays: Delays::NONE,
            phase: Phase::First,
            decreased_until: 0,
        }
    }

    /// GAIN = 1 / min(16, ceil(2 · TARGET / base)), in thousandths (section 4.2).
    fn gain(&self) -> u64 {
        let base = self.delays.base().unwrap_or(Span::ZERO).as_ps().max(1);
        THOUSAND / (2 * TARGET.as_ps()).div_ceil(base).clamp(1, SLOWEST)
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        if let Some(rtt) = view.rtt {
            self.delays.add(rtt, view.now);
        }
        self.change_phase(view);
        if let Phase::Low(..) = self.phase {
            return;
        }
        let gain = self.gain();
        let queueing = self.delays.queueing();
        let window = self.reno.window();
        let may_grow = window.opens(view);
        if window.cwnd < window.ssthresh {
            if may_grow {
                // Section 4.3: slow start with the gain.
                let before = window.cwnd;
                window.slow_start(bytes, view.mss);
                let step = u64::from(window.cwnd - before) * gain / THOUSAND;
                window.cwnd = before.saturating_add((step as u32).max(1));
            }
        } else if queueing <= TARGET {
            if may_grow {
                let counted = window.counted(bytes, view.mss);
                self.increase.add(window, counted, view.mss, gain);
            }
        } else if view.acknowledged > self.decreased_until {
            self.decrease(gain, queueing, view);
        }
    }

    /// Section 4.2: W += max(GAIN − W (delay / TARGET − 1), −W / 2), once per RTT; at least two segments.
    fn decrease(&mut self, gain: u64, queueing: Span, view: &View) {
        self.decreased_until = view.sent;
        let (mss, cwnd) = (u64::from(view.mss), self.reno.cwnd());
        let over = u128::from((queueing.saturating_sub(TARGET)).as_ps());
        let less = (u128::from(cwnd) * over / u128::from(TARGET.as_ps())).min(u128::from(u32::MAX)) as u64;
        let less = less.saturating_sub(gain * mss / THOUSAND).min(u64::from(cwnd / 2));
        let next = cwnd.saturating_sub(less as u32).max(view.mss.saturating_mul(LOW)).min(cwnd);
        self.reno.steer(next, next);
        self.increase.restart();
    }

    /// A receiver with this control has seen a loss: half of the window, at least two segments.
    pub(crate) fn halve(&mut self, view: &View) {
        let cwnd = self.reno.cwnd();
        let next = (cwnd / 2).max(view.mss.saturating_mul(LOW)).min(cwnd);
        self.reno.steer(next, next);
        self.end_growth(view);
    }

    /// A congestion event ends the first slow start, and the return from a slowdown.
    fn end_growth(&mut self, view: &View) {
        self.increase.restart();
        if let Phase::First = self.phase {
            let pause = view.srtt.map_or(Span::ZERO, |srtt| srtt.scale(PAUSE, 1));
            self.phase = Phase::Steady(Some(view.now + pause));
        }
    }

    /// Sections 4.3 and 4.4.
    fn change_phase(&mut self, view: &View) {
        let (cwnd, ssthresh) = (self.reno.cwnd(), self.reno.ssthresh());
        let round_trips = |n: u64| view.srtt.map_or(Span::ZERO, |srtt| srtt.scale(n, 1));
        match self.phase {
            Phase::First => {
                // Three quarters of the target end the first slow start.
                if self.delays.queueing() > TARGET.scale(3, 4) {
                    self.reno.steer(cwnd, cwnd);
                }
                if self.reno.cwnd() >= self.reno.ssthresh() {
                    self.phase = Phase::Steady(Some(view.now + round_trips(PAUSE)));
                }
            }
            Phase::Steady(Some(until)) if view.now >= until => {
                self.reno.steer(view.mss.saturating_mul(LOW).min(cwnd), cwnd);
                self.phase = Phase::Low(view.now, view.now + round_trips(PAUSE));
            }
            Phase::Low(began, until) if view.now >= until => self.phase = Phase::Rise(began),
            Phase::Rise(began) if cwnd >= ssthresh => {
                let duration = view.now.since(began);
                self.phase = Phase::Steady(Some(view.now + duration.scale(INTERVAL, 1)));
            }
            Phase::Steady(_) | Phase::Low(..) | Phase::Rise(_) => {}
        }
    }
}

impl CongestionControl for Ledbat {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } => return self.acked(bytes, view),
            Signal::EnterRecovery | Signal::EcnCe | Signal::Timeout { .. } => self.end_growth(view),
            _ => {}
        }
        self.reno.on(signal, view);
    }

    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.reno.set_windows(cwnd, ssthresh);
    }

    fn cwnd(&self) -> u32 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> u32 {
        self.reno.ssthresh()
    }

    fn is_sparing(&self) -> bool {
        matches!(self.phase, Phase::Low(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{GROWTH, view};

    const MSS: u32 = 1000;

    fn at(ms: u64, rtt: u64, cwnd: u32) -> View {
        let rtt = Some(Span::from_ms(rtt));
        View { now: Time::ZERO + Span::from_ms(ms), rtt, srtt: rtt, ..view(MSS, cwnd) }
    }

    /// In steady state without a slowdown to come, with this base delay and this RTT.
    fn steady(cwnd: u32, base: u64, rtt: u64) -> Ledbat {
        let mut cc = Ledbat::new(cwnd, MSS, GROWTH);
        cc.phase = Phase::Steady(None);
        cc.delays.add(Span::from_ms(base), Time::ZERO);
        (0..CURRENT).for_each(|_| cc.delays.add(Span::from_ms(rtt), Time::ZERO));
        cc
    }

    #[test]
    fn the_gain_is_the_formula_of_the_draft() {
        for base in [1_u64, 5, 7, 8, 10, 20, 50, 60, 100, 119, 120, 300] {
            let expected = 1.0 / (2.0 * 60.0 / base as f64).ceil().min(16.0);
            let seen = steady(20 * MSS, base, base).gain() as f64 / 1000.0;
            assert!((seen - expected).abs() < 0.001, "{base}: {seen} {expected}");
        }
    }

    #[test]
    fn below_the_target_the_window_grows_by_the_gain_per_round() {
        for (base, gain) in [(120, 1000), (60, 500), (5, 62)] {
            let mut cc = steady(100 * MSS, base, base + 20);
            (0..100).for_each(|n| cc.on(Signal::Acked { bytes: MSS }, &at(n, base + 20, 100 * MSS)));
            let grown = cc.cwnd() - 100 * MSS;
            assert!(grown.abs_diff(gain) <= gain / 100 + 1, "{base}: {grown}");
        }
    }

    #[test]
    fn above_the_target_it_decreases_in_proportion_and_by_half_at_most() {
        // Base 120 ms: the gain is a segment. 90 ms of queueing delay: half of cwnd, less the gain.
        for (queueing, cwnd) in [(66, 91_000), (75, 76_000), (84, 61_000), (90, 51_000), (200, 50_000)] {
            let mut cc = steady(100 * MSS, 120, 120 + queueing);
            cc.on(
                Signal::Acked { bytes: MSS },
                &View { acknowledged: 1, sent: 100_000, ..at(1, 120 + queueing, 100 * MSS) },
            );
            assert!(cc.cwnd().abs_diff(cwnd) <= 1, "{queueing}: {}", cc.cwnd());
            cc.on(
                Signal::Acked { bytes: MSS },
                &View { acknowledged: 1000, sent: 100_000, ..at(2, 120 + queueing, 100 * MSS) },
            );
            assert!(cc.cwnd().abs_diff(cwnd) <= 1, "once per round");
        }
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target_and_a_slowdown_follows() {
        let mut cc = Ledbat::new(2 * MSS, u32::MAX, GROWTH);
        cc.on(Signal::Acked { bytes: MSS }, &at(0, 120, 2 * MSS));
        assert_eq!(cc.cwnd(), 3 * MSS, "a gain of one");
        cc.reno.steer(50 * MSS, u32::MAX);
        for n in 0..CURRENT as u64 {
            cc.on(Signal::Acked { bytes: MSS }, &at(100 + n, 166, 50 * MSS));
        }
        let reached = cc.cwnd();
        assert!(cc.ssthresh() <= reached, "45 ms and more");
        // Two round trips later: two segments for two round trips.
        cc.on(Signal::Acked { bytes: MSS }, &at(500, 166, reached));
        assert_eq!(cc.cwnd(), 2 * MSS);
        cc.on(Signal::Acked { bytes: MSS }, &at(800, 120, 2 * MSS));
        assert_eq!(cc.cwnd(), 2 * MSS);
        // Then slow start to the value before, and nine times that duration until the next.
        let mut now = 840;
        while cc.cwnd() < cc.ssthresh() {
            now += 10;
            cc.on(Signal::Acked { bytes: MSS }, &at(now, 120, cc.cwnd()));
        }
        cc.on(Signal::Acked { bytes: MSS }, &at(now, 120, cc.cwnd()));
        let next = Time::ZERO + Span::from_ms(now + 9 * (now - 500));
        assert_eq!(cc.phase, Phase::Steady(Some(next)));
    }

    #[test]
    fn the_base_delay_is_that_of_ten_minutes() {
        let mut delays = Delays::NONE;
        delays.add(Span::from_ms(50), Time::ZERO + Span::from_secs(60));
        for minute in 2..=10 {
            delays.add(Span::from_ms(80), Time::ZERO + Span::from_secs(60 * minute));
        }
        assert_eq!(delays.base(), Some(Span::from_ms(50)));
        delays.add(Span::from_ms(80), Time::ZERO + Span::from_secs(660));
        assert_eq!(delays.base(), Some(Span::from_ms(80)));
    }
}
