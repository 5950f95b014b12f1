//! 4.3BSD-Tahoe (June 1988): V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, sections 1 and 3.

use super::growth::Window;
use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Signal, View};

/// Every loss, however it was detected, halves ssthresh and restarts from one segment.
///
/// * Loss: ssthresh = half of min(cwnd, peer's window) in whole segments, at least two of them; cwnd = 1 MSS. This
///   happens at *every* timeout, even if the data has timed out before.
/// * An ACK increases cwnd even if the sender did not use all of it, unless [`Grows`](crate::config::Grows) is set
///   differently. At cwnd = ssthresh slow start applies, because the system compared `cwnd > ssthresh` for avoidance.
/// * The system limited cwnd to 65,535 bytes. Here the window field has this effect; RFC 1106 removed both limits.
/// * A congestion mark counts as a loss (RFC 3168, section 6.1.2), and there is no undo. The system had neither.
/// * After an idle time, cwnd = 1 MSS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tahoe {
    window: Window,
}

impl Tahoe {
    /// With the given initial `cwnd` and `ssthresh` in bytes.
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self { window: Window::new(cwnd, ssthresh, growth) }
    }

    /// Whether an ACK increases cwnd even if the sender did not use all of it.
    #[inline]
    pub(in crate::congestion) fn always_grows(&self) -> bool {
        self.window.always_opens()
    }

    /// An ACK of new data; returns cwnd.
    #[inline]
    pub(in crate::congestion) fn acked(&mut self, bytes: u32, mss: u32) -> u32 {
        if self.window.cwnd <= self.window.ssthresh {
            self.window.slow_start(bytes, mss);
        } else {
            self.window.avoid(bytes, mss);
        }
        self.window.cwnd
    }

    fn start_over(&mut self, view: &View) {
        let half = view.window.min(self.window.cwnd) / 2 / view.mss.max(1);
        self.window.set(view.mss, half.max(2).saturating_mul(view.mss));
    }
}

impl CongestionControl for Tahoe {
    #[inline]
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { .. } if !self.window.opens(view) => {}
            Signal::Acked { bytes } => {
                self.acked(bytes, view.mss);
            }
            Signal::EnterRecovery | Signal::EcnCe | Signal::Timeout { .. } => self.start_over(view),
            Signal::IdleRestart { .. } => {
                self.window.set(view.mss.min(self.window.cwnd), self.window.ssthresh)
            }
            Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::RoundMarked { .. }
            | Signal::ExitRecovery
            | Signal::Undo
            | Signal::Resumed => {}
        }
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
    use crate::congestion::tests::{GROWTH, ack_a_round, view};

    #[test]
    fn a_loss_halves_in_whole_segments() {
        for (window, segments) in [(8000, 4), (7999, 3), (7000, 3), (5000, 2), (1000, 2), (0, 2)] {
            let mut cc = Tahoe::new(20_000, u32::MAX, GROWTH);
            cc.on(Signal::EnterRecovery, &View { window, ..view(1000, 9000) });
            assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, segments * 1000), "window {window}");
        }
    }

    #[test]
    fn the_peers_window_counts_if_it_is_smaller_and_flight_does_not() {
        let mut cc = Tahoe::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::Timeout { first: true }, &View { window: u32::MAX, ..view(1000, 4000) });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 10_000));
    }

    #[test]
    fn each_timeout_halves_the_threshold_again() {
        let mut cc = Tahoe::new(16_000, u32::MAX, GROWTH);
        cc.on(Signal::Timeout { first: true }, &View { window: 16_000, ..view(1000, 0) });
        cc.on(Signal::Timeout { first: false }, &View { window: 1000, ..view(1000, 0) });
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 2000));
    }

    #[test]
    fn slow_start_applies_at_the_threshold() {
        let mut cc = Tahoe::new(1000, 4000, GROWTH);
        ack_a_round(&mut cc, 1000);
        ack_a_round(&mut cc, 1000);
        assert_eq!(cc.cwnd(), 4000);
        cc.on(Signal::Acked { bytes: 1000 }, &view(1000, 4000));
        assert_eq!(cc.cwnd(), 5000, "cwnd = ssthresh: one segment more");
        cc.on(Signal::Acked { bytes: 1000 }, &view(1000, 5000));
        assert_eq!(cc.cwnd(), 5200, "cwnd > ssthresh: 1000 * 1000 / 5000 bytes");
    }

    #[test]
    fn an_idle_time_restarts_from_one_segment() {
        let mut cc = Tahoe::new(9000, 4000, GROWTH);
        cc.on(Signal::IdleRestart { timeouts: 1 }, &view(1000, 0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 4000));
    }
}
