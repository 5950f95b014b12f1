//! H-TCP (D. Leith and R. Shorten, draft-leith-tcp-htcp-06; "H-TCP: TCP for high-speed and long-distance networks",
//! PFLDnet 2004).
//!
//! The additive increase depends on the time since the last congestion event. In the first second it is that of Reno.
//! The reduction depends on the queue: with RTTmin / RTTmax it empties the queue and keeps the link busy.

use super::increase::{Increase, THOUSAND};
use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Reno, Signal, View, pacing};
use crate::time::{Span, Time};

/// Delta_L: the time during which H-TCP behaves like Reno.
const LOW_SPEED: Span = Span::from_secs(1);
/// The bounds of beta in thousandths (beta_min, beta_max).
const BETA: (u64, u64) = (500, 800);
/// Delta_B: if the throughput of two epochs differs by more than this number of thousandths, beta is its minimum.
const SWITCH: u64 = 200;

/// The state of H-TCP. Reno handles slow start and the end of recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Htcp {
    reno: Reno,
    increase: Increase,
    /// The last congestion event; `None` before the first ACK.
    congested_at: Option<Time>,
    /// The reduction, in thousandths.
    beta: u64,
    /// RTTmin of all, RTTmax of this epoch.
    shortest: Option<Span>,
    longest: Option<Span>,
    throughput: Throughput,
}

/// The achieved throughput: the maximum of this epoch and of the last one in bytes per second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Throughput {
    since: Time,
    acked: u64,
    smooth: u64,
    max: u64,
    last_max: u64,
}

impl Throughput {
    /// Adds an ACK. A sample takes one RTT; the samples are smoothed with a gain of 1/4, as in Linux.
    fn add(&mut self, bytes: u32, now: Time, srtt: Span) {
        self.acked += u64::from(bytes);
        let span = now.since(self.since);
        if span < srtt || span == Span::ZERO {
            return;
        }
        let sample = pacing::rate(self.acked, span);
        self.smooth = if self.smooth == 0 { sample } else { self.smooth / 4 * 3 + sample / 4 };
        self.max = self.max.max(self.smooth);
        (self.acked, self.since) = (0, now);
    }

    /// The end of an epoch. Returns whether its throughput differs from that of the last one.
    fn has_switched(&mut self) -> bool {
        let (now, before) = (u128::from(self.max), u128::from(self.last_max));
        self.last_max = core::mem::take(&mut self.max);
        now.abs_diff(before) * u128::from(THOUSAND) > before * u128::from(SWITCH)
    }
}

impl Htcp {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            increase: Increase::default(),
            congested_at: None,
            beta: BETA.0,
            shortest: None,
            longest: None,
            throughput: Throughput::default(),
        }
    }

    /// alpha(Delta), scaled by 2 (1 − beta), in thousandths of a segment per RTT (sections 3 and 4).
    fn alpha(&self, now: Time) -> u64 {
        let elapsed = self.congested_at.map_or(Span::ZERO, |since| now.since(since));
        let beyond = elapsed.saturating_sub(LOW_SPEED).as_ps() / 1_000_000_000;
        // 1 + 10 (Delta − Delta_L) + ((Delta − Delta_L) / 2)², with Delta in ms.
        let alpha = THOUSAND + 10 * beyond + beyond.saturating_mul(beyond) / (4 * THOUSAND);
        alpha.saturating_mul(2 * (THOUSAND - self.beta)) / THOUSAND
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        self.congested_at.get_or_insert(view.now);
        if let Some(rtt) = view.rtt {
            self.shortest = Some(self.shortest.map_or(rtt, |known| known.min(rtt)));
            self.longest = Some(self.longest.map_or(rtt, |known| known.max(rtt)));
        }
        self.throughput.add(bytes, view.now, view.srtt.unwrap_or(Span::ZERO));
        let alpha = self.alpha(view.now);
        let window = self.reno.window();
        if !window.opens(view) {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.slow_start(bytes, view.mss);
        } else {
            let counted = window.counted(bytes, view.mss);
            self.increase.add(window, counted, view.mss, alpha);
        }
    }

    /// A congestion event: the new beta, and the threshold beta · cwnd.
    fn reduced(&mut self, view: &View) -> u32 {
        let switched = self.throughput.has_switched();
        self.beta = match (self.shortest, self.longest) {
            (Some(shortest), Some(longest)) if !switched => shortest
                .as_ps()
                .saturating_mul(THOUSAND)
                .div_ceil(longest.as_ps().max(1))
                .clamp(BETA.0, BETA.1),
            _ => BETA.0,
        };
        self.begin_epoch(view.now);
        let cwnd = u64::from(view.flight.min(self.reno.cwnd()));
        ((cwnd * self.beta / THOUSAND) as u32).max(view.mss.saturating_mul(2))
    }

    fn begin_epoch(&mut self, now: Time) {
        self.congested_at = Some(now);
        self.longest = self.shortest;
        self.increase.restart();
    }
}

impl CongestionControl for Htcp {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } => self.acked(bytes, view),
            Signal::EcnCe if self.reno.is_in_recovery() => {}
            Signal::EnterRecovery | Signal::EcnCe => {
                let threshold = self.reduced(view);
                self.reno.on_with_threshold(signal, view, threshold);
            }
            // The paths before and after a timeout may differ: everything starts again.
            Signal::Timeout { .. } => {
                self.reno.on(signal, view);
                (self.beta, self.throughput) =
                    (BETA.0, Throughput { since: view.now, ..Throughput::default() });
                self.begin_epoch(view.now);
            }
            _ => self.reno.on(signal, view),
        }
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

    /// ACKs of a full path with this RTT from `from` to `to`, in ms.
    fn run(cc: &mut Htcp, from: u64, to: u64, rtt: u64) {
        let mut now = from;
        while now < to {
            for _ in 0..cc.cwnd() / MSS {
                cc.on(Signal::Acked { bytes: MSS }, &at(now, rtt, cc.cwnd()));
            }
            now += rtt;
        }
    }

    #[test]
    fn the_increase_is_the_formula_of_the_draft() {
        let mut cc = Htcp::new(100 * MSS, MSS, GROWTH);
        cc.congested_at = Some(Time::ZERO);
        for beta in [500, 650, 800] {
            cc.beta = beta;
            for ms in [0_u64, 500, 1000, 1500, 3000, 10_000, 60_000] {
                let delta = (ms as f64 / 1000.0 - 1.0).max(0.0);
                let alpha = 1.0 + 10.0 * delta + (delta / 2.0).powi(2);
                let expected = 2.0 * (1.0 - beta as f64 / 1000.0) * alpha;
                let seen = cc.alpha(Time::ZERO + Span::from_ms(ms)) as f64 / 1000.0;
                assert!((seen - expected).abs() < 0.01, "{beta} {ms}: {seen} {expected}");
            }
        }
    }

    #[test]
    fn the_window_follows_the_integral_of_the_increase() {
        // With one increase per RTT, cwnd(T) = cwnd(0) + sum of alpha at each RTT.
        let mut cc = Htcp::new(1000 * MSS, MSS, GROWTH);
        cc.congested_at = Some(Time::ZERO);
        run(&mut cc, 0, 6000, 100);
        let alpha = |delta: f64| {
            let beyond = (delta - 1.0).max(0.0);
            1.0 + 10.0 * beyond + (beyond / 2.0).powi(2)
        };
        let expected = 1000.0 + (0..60).map(|n| alpha(0.1 * f64::from(n))).sum::<f64>();
        let seen = f64::from(cc.cwnd()) / f64::from(MSS);
        assert!((seen / expected - 1.0).abs() < 0.02, "{seen} {expected}");
    }

    #[test]
    fn the_reduction_empties_the_queue() {
        // Two epochs of the same throughput: the RTT grows from 100 to 140 ms.
        let mut cc = Htcp::new(100 * MSS, MSS, GROWTH);
        cc.throughput.last_max = 1_000_000;
        cc.throughput.max = 1_100_000;
        (cc.shortest, cc.longest) = (Some(Span::from_ms(100)), Some(Span::from_ms(140)));
        cc.on(Signal::EnterRecovery, &at(5000, 140, 100 * MSS));
        assert_eq!((cc.beta, cc.cwnd()), (715, 71_500));
    }

    #[test]
    fn beta_is_between_a_half_and_four_fifths() {
        for (longest, beta) in [(100, 800), (120, 800), (300, 500)] {
            let mut cc = Htcp::new(100 * MSS, MSS, GROWTH);
            (cc.throughput.last_max, cc.throughput.max) = (1000, 1000);
            (cc.shortest, cc.longest) = (Some(Span::from_ms(100)), Some(Span::from_ms(longest)));
            cc.on(Signal::EnterRecovery, &at(5000, 100, 100 * MSS));
            assert_eq!(cc.beta, beta, "{longest}");
        }
    }

    #[test]
    fn a_change_of_the_throughput_by_a_fifth_halves_the_window() {
        for (before, now, beta) in [(1000, 1200, 800), (1000, 1201, 500), (1000, 799, 500), (0, 1000, 500)] {
            let mut cc = Htcp::new(100 * MSS, MSS, GROWTH);
            (cc.throughput.last_max, cc.throughput.max) = (before, now);
            (cc.shortest, cc.longest) = (Some(Span::from_ms(100)), Some(Span::from_ms(100)));
            cc.on(Signal::EnterRecovery, &at(5000, 100, 100 * MSS));
            assert_eq!(cc.beta, beta, "{before} {now}");
            assert_eq!(cc.throughput.last_max, now);
        }
    }

    #[test]
    fn a_timeout_starts_over() {
        let mut cc = Htcp::new(100 * MSS, MSS, GROWTH);
        run(&mut cc, 0, 4000, 100);
        cc.on(Signal::Timeout { first: true }, &at(4000, 100, 100 * MSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (MSS, 50 * MSS));
        assert_eq!(cc.alpha(Time::ZERO + Span::from_ms(4900)), 1000);
    }
}
