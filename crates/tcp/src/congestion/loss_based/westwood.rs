//! Westwood+ (L. Grieco and S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), 2004), as in Linux, `tcp_westwood.c`.
//!
//! The estimated bandwidth times the minimum RTT replaces half of cwnd after a loss: a random loss on a path without a
//! queue then hardly reduces cwnd.

use crate::config::choices::Growth;
use crate::congestion::delivery_rate::RateSample;
use crate::congestion::{CongestionControl, Reno, Signal, View, pacing};
use crate::time::{Span, Time};

/// TCP_WESTWOOD_RTT_MIN: the shortest duration of a bandwidth sample.
const SHORTEST: Span = Span::from_ms(50);

/// The state of Westwood+. Reno handles the growth of cwnd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Westwood {
    reno: Reno,
    /// The bandwidth after the first and after the second low-pass filter, in bytes per second.
    once: u64,
    twice: u64,
    /// The bytes delivered since the last sample, and its time.
    delivered: u64,
    since: Option<Time>,
    rtt: Option<Span>,
    shortest: Option<Span>,
    /// The next RTT sample replaces the minimum.
    forgets_shortest: bool,
    in_recovery: bool,
}

/// The low-pass filter: a gain of 1/8.
fn filtered(value: u64, sample: u64) -> u64 {
    ((u128::from(value) * 7 + u128::from(sample)) / 8) as u64
}

impl Westwood {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            once: 0,
            twice: 0,
            delivered: 0,
            since: None,
            rtt: None,
            shortest: None,
            forgets_shortest: false,
            in_recovery: false,
        }
    }

    /// `westwood_update_window()`: one sample per RTT.
    fn measure(&mut self, bytes: u64, rtt: Option<Span>, now: Time) {
        if let Some(rtt) = rtt {
            let kept = self.shortest.filter(|_| !core::mem::take(&mut self.forgets_shortest));
            self.shortest = Some(kept.map_or(rtt, |known| known.min(rtt)));
            self.rtt = Some(rtt);
        }
        // The first ACK begins the measurement: its bytes were sent in no known time.
        let since = *self.since.get_or_insert(now);
        if since == now {
            return;
        }
        self.delivered += bytes;
        let span = now.since(since);
        if self.rtt.is_some_and(|rtt| span > rtt.max(SHORTEST)) {
            self.sample(pacing::rate(self.delivered, span));
            (self.delivered, self.since) = (0, Some(now));
        }
    }

    /// `westwood_filter()`.
    fn sample(&mut self, rate: u64) {
        if (self.once, self.twice) == (0, 0) {
            (self.once, self.twice) = (rate, rate);
        } else {
            self.once = filtered(self.once, rate);
            self.twice = filtered(self.twice, self.once);
        }
    }

    /// `tcp_westwood_bw_rttmin()`: the bandwidth-delay product, at least two segments.
    fn path_volume(&self, mss: u32) -> u32 {
        let volume = self.shortest.map_or(0, |rtt| pacing::volume(self.twice, rtt));
        u32::try_from(volume).unwrap_or(u32::MAX).max(mss.saturating_mul(2))
    }
}

impl CongestionControl for Westwood {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::EnterRecovery => {
                self.reno.on(signal, view);
                self.in_recovery = true;
            }
            // CA_EVENT_COMPLETE_CWR.
            Signal::ExitRecovery if self.in_recovery => {
                self.reno.on(signal, view);
                let volume = self.path_volume(view.mss);
                self.reno.steer(volume, volume);
                self.in_recovery = false;
            }
            Signal::EcnCe if !self.in_recovery => {
                let volume = self.path_volume(view.mss).min(self.reno.cwnd());
                self.reno.mark(volume);
            }
            // CA_EVENT_LOSS.
            Signal::Timeout { .. } => {
                let volume = self.path_volume(view.mss);
                self.reno.on_with_threshold(signal, view, volume);
                (self.forgets_shortest, self.in_recovery) = (true, false);
            }
            Signal::Undo => {
                self.reno.on(signal, view);
                self.in_recovery = false;
            }
            _ => self.reno.on(signal, view),
        }
    }

    fn delivered(&mut self, sample: &RateSample, view: &View) {
        self.measure(sample.newly_delivered, sample.rtt, view.now);
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

    fn at(ms: u64, rtt: u64) -> View {
        View { now: Time::ZERO + Span::from_ms(ms), rtt: Some(Span::from_ms(rtt)), ..view(MSS, 100 * MSS) }
    }

    /// A path that delivers 1 MB/s from `from` to `to`, in ms.
    fn run(cc: &mut Westwood, from: u64, to: u64, rtt: u64) {
        for ms in from..to {
            let seen = at(ms, rtt);
            cc.measure(u64::from(MSS), seen.rtt, seen.now);
        }
    }

    #[test]
    fn the_estimate_is_the_rate_of_a_steady_path() {
        let mut cc = Westwood::new(100 * MSS, u32::MAX, GROWTH);
        run(&mut cc, 0, 1000, 100);
        assert_eq!(cc.twice, 1_000_000);
        assert_eq!(cc.path_volume(MSS), 100_000);
    }

    #[test]
    fn two_filters_follow_a_step_of_the_rate() {
        // Two first-order low-pass filters with a gain of 1/8, one after the other.
        let mut cc = Westwood::new(100 * MSS, u32::MAX, GROWTH);
        cc.sample(1_000_000);
        let (mut once, mut twice) = (1e6, 1e6);
        for _ in 0..40 {
            cc.sample(4_000_000);
            once = 0.875 * once + 0.125 * 4e6;
            twice = 0.875 * twice + 0.125 * once;
            assert!((cc.twice as f64 - twice).abs() < 100.0, "{} {twice}", cc.twice);
        }
    }

    #[test]
    fn a_sample_takes_an_rtt_and_at_least_fifty_milliseconds() {
        for (rtt, longer) in [(100, 100), (10, 50)] {
            let mut cc = Westwood::new(100 * MSS, u32::MAX, GROWTH);
            run(&mut cc, 0, longer + 1, rtt);
            assert_eq!(cc.twice, 0, "{rtt}");
            run(&mut cc, longer + 1, longer + 2, rtt);
            assert_eq!(cc.twice, 1_000_000, "{rtt}");
        }
    }

    #[test]
    fn after_recovery_the_window_is_the_bandwidth_delay_product() {
        let mut cc = Westwood::new(300 * MSS, MSS, GROWTH);
        run(&mut cc, 0, 1000, 100);
        cc.on(Signal::EnterRecovery, &at(1000, 100));
        assert_eq!(cc.cwnd(), 50 * MSS, "half of the data in flight meanwhile");
        cc.on(Signal::ExitRecovery, &at(1100, 100));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (100_000, 100_000));
    }

    #[test]
    fn a_timeout_keeps_the_bandwidth_delay_product_as_threshold_and_forgets_the_minimum() {
        let mut cc = Westwood::new(300 * MSS, MSS, GROWTH);
        run(&mut cc, 0, 1000, 100);
        cc.on(Signal::Timeout { first: true }, &at(1000, 100));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (MSS, 100_000));
        cc.measure(1000, Some(Span::from_ms(180)), at(1001, 180).now);
        assert_eq!(cc.shortest, Some(Span::from_ms(180)));
    }
}
