//! TCP-Illinois (S. Liu, T. Başar and R. Srikant, "TCP-Illinois: A loss- and delay-based congestion control algorithm for
//! high-speed networks", Performance Evaluation 65(6-7), 2008).
//!
//! A loss reduces cwnd. The queueing delay determines by how much, and how fast cwnd grows: fast while the queue is
//! short, slowly and with a large reduction when it is long.

use super::increase::{Increase, THOUSAND};
use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Reno, Signal, View};
use crate::time::Span;

/// The bounds of alpha, in thousandths of a segment per RTT.
const ALPHA: (u64, u64) = (300, 10_000);
/// The bounds of beta, in thousandths.
const BETA: (u64, u64) = (125, 500);
/// Reno's values.
const ALPHA_RENO: u64 = 1000;
const BETA_RENO: u64 = 500;
/// eta_1, eta_2 and eta_3: the thresholds of the queueing delay in hundredths of the largest one.
const ETA: [u64; 3] = [1, 10, 80];
/// W_thresh: below this number of segments it behaves like Reno.
const SMALL: u32 = 15;
/// theta: the consecutive RTTs with a short queue before alpha is at its maximum again.
const THETA: u8 = 5;

/// The state of Illinois. Reno handles slow start and the end of recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Illinois {
    reno: Reno,
    increase: Increase,
    /// In thousandths.
    alpha: u64,
    beta: u64,
    /// The shortest and the longest RTT of all.
    base: Option<Span>,
    longest: Span,
    /// The sum and the number of the RTT samples of this round.
    sum: u128,
    samples: u32,
    round_end: u64,
    /// Whether the queue was long, and the number of rounds with a short one since.
    was_above: bool,
    low_rounds: u8,
}

impl Illinois {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            increase: Increase::default(),
            alpha: ALPHA_RENO,
            beta: BETA_RENO,
            base: None,
            longest: Span::ZERO,
            sum: 0,
            samples: 0,
            round_end: 0,
            was_above: false,
            low_rounds: 0,
        }
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        if let Some(rtt) = view.rtt {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
            self.longest = self.longest.max(rtt);
            self.sum += u128::from(rtt.as_ps());
            self.samples += 1;
        }
        if view.acknowledged > self.round_end {
            self.adapt(view.mss);
            (self.sum, self.samples, self.round_end) = (0, 0, view.sent);
        }
        let window = self.reno.window();
        if !window.opens(view) {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.slow_start(bytes, view.mss);
        } else {
            let counted = window.counted(bytes, view.mss);
            self.increase.add(window, counted, view.mss, self.alpha);
        }
    }

    /// Computes alpha and beta at the end of a round.
    fn adapt(&mut self, mss: u32) {
        if self.reno.cwnd() < SMALL.saturating_mul(mss) {
            (self.alpha, self.beta) = (ALPHA_RENO, BETA_RENO);
            return;
        }
        let (Some(base), true) = (self.base, self.samples > 0) else { return };
        let mean = u64::try_from(self.sum / u128::from(self.samples)).unwrap_or(u64::MAX);
        let delay = Delay {
            mean: mean.saturating_sub(base.as_ps()),
            most: self.longest.saturating_sub(base).as_ps(),
        };
        if delay.mean > delay.threshold(0) {
            (self.was_above, self.low_rounds) = (true, 0);
            self.alpha = delay.alpha();
        } else if self.was_above {
            self.low_rounds += 1;
            if self.low_rounds >= THETA {
                (self.was_above, self.low_rounds) = (false, 0);
                self.alpha = ALPHA.1;
            }
        } else {
            self.alpha = ALPHA.1;
        }
        self.beta = delay.beta();
    }

    /// (1 − beta) · cwnd.
    fn reduced(&self, view: &View) -> u32 {
        let cwnd = u64::from(view.flight.min(self.reno.cwnd()));
        ((cwnd * (THOUSAND - self.beta) / THOUSAND) as u32).max(view.mss.saturating_mul(2))
    }
}

/// The mean queueing delay of a round and the largest queueing delay of all, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Delay {
    mean: u64,
    most: u64,
}

impl Delay {
    /// d_1, d_2 or d_3.
    fn threshold(self, index: usize) -> u64 {
        self.most / 100 * ETA[index]
    }

    /// kappa_1 / (kappa_2 + d): a curve from the maximum at d_1 to the minimum at the largest delay.
    fn alpha(self) -> u64 {
        let low = self.threshold(0);
        let (range, above) = (u128::from(self.most - low), u128::from(self.mean.saturating_sub(low)));
        let (least, most) = (u128::from(ALPHA.0), u128::from(ALPHA.1));
        let alpha = range * least * most / (range * least + above * (most - least)).max(1);
        u64::try_from(alpha).unwrap_or(ALPHA.1).clamp(ALPHA.0, ALPHA.1)
    }

    /// kappa_3 + kappa_4 · d between d_2 and d_3.
    fn beta(self) -> u64 {
        let (low, high) = (self.threshold(1), self.threshold(2));
        if self.mean <= low {
            return BETA.0;
        }
        if self.mean >= high {
            return BETA.1;
        }
        let part = u128::from(self.mean - low) * u128::from(BETA.1 - BETA.0) / u128::from(high - low);
        BETA.0 + part as u64
    }
}

impl CongestionControl for Illinois {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } => self.acked(bytes, view),
            Signal::EnterRecovery | Signal::EcnCe => {
                let threshold = self.reduced(view);
                self.reno.on_with_threshold(signal, view, threshold);
                self.increase.restart();
            }
            Signal::Timeout { .. } => {
                self.reno.on(signal, view);
                (self.alpha, self.beta) = (ALPHA_RENO, BETA_RENO);
                (self.was_above, self.low_rounds) = (false, 0);
                self.increase.restart();
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

    /// The formulas of the paper, section 3, in floating point.
    fn paper(da: f64, dm: f64) -> (f64, f64) {
        let (amin, amax, bmin, bmax) = (0.3, 10.0, 0.125, 0.5);
        let [d1, d2, d3] = [0.01 * dm, 0.1 * dm, 0.8 * dm];
        let k1 = (dm - d1) * amin * amax / (amax - amin);
        let k2 = (dm - d1) * amin / (amax - amin) - d1;
        let k3 = (bmin * d3 - bmax * d2) / (d3 - d2);
        let k4 = (bmax - bmin) / (d3 - d2);
        let alpha = if da <= d1 { amax } else { k1 / (k2 + da) };
        let beta = if da <= d2 {
            bmin
        } else if da >= d3 {
            bmax
        } else {
            k3 + k4 * da
        };
        (alpha, beta)
    }

    #[test]
    fn alpha_and_beta_are_those_of_the_paper() {
        let most = Span::from_ms(80).as_ps();
        for us in [100, 800, 900, 2000, 8000, 8100, 20_000, 40_000, 63_000, 64_000, 80_000] {
            let mean = Span::from_us(us).as_ps();
            let delay = Delay { mean, most };
            let (alpha, beta) = paper(mean as f64, most as f64);
            let seen = if mean > delay.threshold(0) { delay.alpha() } else { ALPHA.1 };
            assert!((seen as f64 / 1000.0 - alpha).abs() < 0.002, "{us}: {seen} {alpha}");
            assert!((delay.beta() as f64 / 1000.0 - beta).abs() < 0.002, "{us}: {} {beta}", delay.beta());
        }
    }

    /// Rounds of one ACK with the given RTTs in ms.
    fn rounds(cc: &mut Illinois, rtts: &[u64]) {
        for &rtt in rtts {
            let acknowledged = cc.round_end + 1;
            let rtt = Some(Span::from_ms(rtt));
            cc.on(
                Signal::Acked { bytes: MSS },
                &View { rtt, acknowledged, sent: acknowledged, ..view(MSS, cc.cwnd()) },
            );
        }
    }

    #[test]
    fn five_rounds_with_a_short_queue_restore_the_largest_increase() {
        let mut cc = Illinois::new(100 * MSS, MSS, GROWTH);
        rounds(&mut cc, &[100, 200]);
        assert!(cc.alpha < 400, "{}", cc.alpha);
        let low = cc.alpha;
        for n in 1..=5 {
            rounds(&mut cc, &[100]);
            assert_eq!(cc.alpha, if n < 5 { low } else { ALPHA.1 }, "{n}");
        }
    }

    #[test]
    fn a_loss_with_a_short_queue_reduces_the_window_by_an_eighth_and_with_a_long_one_by_half() {
        for (rtt, cwnd) in [(100, 87_500), (200, 50_000)] {
            let mut cc = Illinois::new(100 * MSS, MSS, GROWTH);
            (cc.base, cc.longest) = (Some(Span::from_ms(100)), Span::from_ms(200));
            (cc.sum, cc.samples) = (u128::from(Span::from_ms(rtt).as_ps()), 1);
            cc.adapt(MSS);
            cc.on(Signal::EnterRecovery, &view(MSS, 100 * MSS));
            assert_eq!(cc.cwnd(), cwnd, "{rtt}");
        }
    }

    #[test]
    fn a_small_window_behaves_like_reno() {
        let mut cc = Illinois::new(14 * MSS, MSS, GROWTH);
        rounds(&mut cc, &[100]);
        assert_eq!((cc.alpha, cc.beta), (ALPHA_RENO, BETA_RENO));
        cc.on(Signal::EnterRecovery, &view(MSS, 14 * MSS));
        assert_eq!(cc.cwnd(), 7 * MSS);
    }
}
