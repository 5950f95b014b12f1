//! Reno as in Linux (`tcp_cong.c`).

use super::growth::Window;
use super::reduction::Reduction;
use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Signal, View};

/// RFC 5681 in whole segments, with these choices:
///
/// * ssthresh is half of the data in flight or of cwnd, as configured, rounded down (`tcp_reno_ssthresh()`).
/// * Slow start ends exactly at ssthresh. What an ACK acknowledges beyond it counts for avoidance (`tcp_reno_cong_avoid()`).
/// * Recovery ends with cwnd = ssthresh (`tcp_end_cwnd_reduction()`), not with the careful window of RFC 6582.
/// * A timeout within a recovery does not reduce ssthresh again (`tcp_enter_loss()`).
/// * Undo restores cwnd and ssthresh unless they have grown (`tcp_undo_cwnd_reduction()`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenoLinux {
    window: Window,
    initial: u32,
    last: Reduction,
}

impl RenoLinux {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self { window: Window::new(cwnd, ssthresh, growth), initial: cwnd, last: Reduction::NONE }
    }

    /// `tcp_reno_cong_avoid()`.
    fn acked(&mut self, bytes: u32, view: &View) {
        if !view.cwnd_limited {
            return;
        }
        let mss = view.mss.max(1);
        let mut segments = self.window.segments(bytes, mss);
        let (before, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        if before < ssthresh {
            self.window.slow_start(segments.saturating_mul(mss), mss);
            let opened = self.window.cwnd;
            self.window.cwnd = opened.min(ssthresh);
            segments = (opened - self.window.cwnd) / mss;
        }
        if segments > 0 {
            let price = (self.window.cwnd / mss).max(1);
            self.window.avoid_at(price, segments, mss);
        }
    }

    /// Remembers both windows and returns the new ssthresh.
    fn threshold(&mut self, view: &View) -> u32 {
        let (mss, cwnd) = (view.mss.max(1), self.window.cwnd);
        self.last.remember(&self.window, mss);
        mss.saturating_mul((view.flight.min(cwnd) / mss / 2).max(2))
    }

    fn reduce(&mut self, view: &View) {
        let ssthresh = self.threshold(view);
        self.window.set(ssthresh, ssthresh);
    }
}

impl CongestionControl for RenoLinux {
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
            Signal::Timeout { first } => {
                let again = !first || self.last.is_in_recovery();
                let ssthresh = if again { self.window.ssthresh } else { self.threshold(view) };
                self.window.set(view.mss, ssthresh);
                self.last.end();
            }
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

    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.window.set(cwnd, ssthresh);
    }

    fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::choices::{Counting, Grows};

    const MSS: u32 = 1000;
    const GROWTH: Growth = Growth {
        grows: Grows::WhenUsed,
        counting: Counting::Bytes { limit: u8::MAX },
        slow_start_per_ack: 1,
    };

    fn view(flight: u32) -> View {
        crate::congestion::tests::view(MSS, flight)
    }

    #[test]
    fn half_of_an_odd_number_of_segments_is_rounded_down() {
        let mut cc = RenoLinux::new(13 * MSS, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(13 * MSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (6 * MSS, 6 * MSS));
        cc.on(Signal::ExitRecovery, &view(0));
        assert_eq!(cc.cwnd(), 6 * MSS, "not less because nothing is in flight");
    }

    #[test]
    fn slow_start_ends_at_ssthresh_and_the_rest_of_the_ack_counts_for_avoidance() {
        let mut cc = RenoLinux::new(4 * MSS, 6 * MSS, GROWTH);
        cc.on(Signal::Acked { bytes: 4 * MSS }, &view(4 * MSS));
        assert_eq!(cc.cwnd(), 6 * MSS);
        cc.on(Signal::Acked { bytes: 4 * MSS }, &view(6 * MSS));
        assert_eq!(cc.cwnd(), 7 * MSS, "two and four of six");
    }

    #[test]
    fn an_ack_changes_nothing_while_cwnd_is_not_used() {
        let mut cc = RenoLinux::new(4 * MSS, u32::MAX, GROWTH);
        cc.on(Signal::Acked { bytes: MSS }, &View { cwnd_limited: false, ..view(MSS) });
        assert_eq!(cc.cwnd(), 4 * MSS);
    }

    #[test]
    fn a_timeout_within_a_recovery_does_not_reduce_ssthresh_again() {
        let mut cc = RenoLinux::new(20 * MSS, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(20 * MSS));
        cc.on(Signal::Timeout { first: true }, &view(10 * MSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (MSS, 10 * MSS));
        cc.on(Signal::Undo, &view(10 * MSS));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20 * MSS, u32::MAX));
    }

    #[test]
    fn an_undo_keeps_what_has_counted_for_the_next_segment() {
        // tcp_undo_cwnd_reduction() leaves snd_cwnd_cnt.
        let mut cc = RenoLinux::new(10 * MSS, 10 * MSS, GROWTH);
        cc.on(Signal::EnterRecovery, &view(10 * MSS));
        cc.on(Signal::ExitRecovery, &view(0));
        cc.on(Signal::Acked { bytes: 4 * MSS }, &view(5 * MSS));
        cc.on(Signal::Undo, &view(0));
        assert_eq!(cc.cwnd(), 10 * MSS);
        cc.on(Signal::Acked { bytes: 6 * MSS }, &view(10 * MSS));
        assert_eq!(cc.cwnd(), 11 * MSS, "four and six");
    }
}
