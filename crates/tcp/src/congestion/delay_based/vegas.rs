//! Vegas: control of the queue by the RTT (Brakmo and Peterson, IEEE JSAC 13(8), 1995; Linux, `tcp_vegas.c`).
//!
//! The shortest RTT of all is that of the path without a queue; the shortest RTT of the last round includes the
//! queueing delay. The difference of the rates gives the number of segments in the queue. Vegas keeps it between
//! [`ALPHA`] and [`BETA`]. Slow start ends when it exceeds [`GAMMA`].

use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Reno, Signal, View};
use crate::time::Span;

/// Segments in the queue below which the window grows by one in a round (Linux: `alpha`).
const ALPHA: u64 = 2;
/// Segments in the queue above which it shrinks by one (`beta`).
const BETA: u64 = 4;
/// Segments in the queue that end slow start (`gamma`).
const GAMMA: u64 = 1;
/// The smallest number of RTT samples in a round. With fewer, the only sample may include a delayed ACK.
const FEW: u32 = 2;

/// The state of Vegas. Reno handles losses, and it controls cwnd during recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vegas {
    reno: Reno,
    /// baseRTT: the shortest round trip of all.
    base: Option<Span>,
    /// minRTT and cntRTT: the shortest one of this round, and how many were measured.
    round: Option<Span>,
    samples: u32,
    /// The round ends when more than this is acknowledged.
    round_end: u64,
    /// The end of the recovery from a timeout.
    repairing_until: u64,
    in_recovery: bool,
}

impl Vegas {
    /// With the given initial `cwnd` and `ssthresh` in bytes. The growth is that of slow start.
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            base: None,
            round: None,
            samples: 0,
            round_end: 0,
            repairing_until: 0,
            in_recovery: false,
        }
    }

    /// A new round begins.
    fn begin_round(&mut self, view: &View) {
        (self.round, self.samples, self.round_end) = (None, 0, view.sent);
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        if let Some(rtt) = view.rtt {
            let shorter = |known: Option<Span>| Some(known.map_or(rtt, |known| known.min(rtt)));
            (self.base, self.round) = (shorter(self.base), shorter(self.round));
            self.samples += 1;
        }
        let slow_start = self.reno.cwnd() < self.reno.ssthresh();
        if self.in_recovery || view.acknowledged < self.repairing_until {
            self.reno.on(Signal::Acked { bytes }, view);
        } else if view.acknowledged > self.round_end {
            match (self.base, self.round) {
                (Some(base), Some(round)) if self.samples > FEW => self.steer(base, round, bytes, view),
                _ => self.reno.on(Signal::Acked { bytes }, view),
            }
            self.begin_round(view);
        } else if slow_start {
            self.reno.on(Signal::Acked { bytes }, view);
        }
    }

    /// The end of a round: cwnd changes by one segment, or slow start ends.
    fn steer(&mut self, base: Span, round: Span, bytes: u32, view: &View) {
        let mss = view.mss.max(1);
        let (cwnd, ssthresh) = (self.reno.cwnd(), self.reno.ssthresh());
        let queued = waiting(cwnd, base, round) / u64::from(mss);
        let below = |cwnd: u32| ssthresh.min(cwnd.saturating_sub(mss));
        if cwnd < ssthresh {
            if queued <= GAMMA {
                self.reno.on(Signal::Acked { bytes }, view);
            } else {
                // The data on the path plus one segment.
                let target = carried(cwnd, base, round).saturating_add(mss);
                let cwnd = cwnd.min(target);
                self.set(cwnd, below(cwnd), mss);
            }
        } else if queued > BETA {
            let less = cwnd.saturating_sub(mss);
            self.set(less, below(less), mss);
        } else if queued < ALPHA {
            self.set(cwnd.saturating_add(mss), ssthresh, mss);
        }
    }

    /// At least two segments; and ssthresh at least three quarters of it (Linux, `tcp_current_ssthresh()`).
    fn set(&mut self, cwnd: u32, ssthresh: u32, mss: u32) {
        let cwnd = cwnd.max(mss.saturating_mul(2));
        self.reno.steer(cwnd, ssthresh.max(cwnd / 2 + cwnd / 4));
    }
}

/// The bytes of cwnd that are on the path and not in the queue.
fn carried(cwnd: u32, base: Span, round: Span) -> u32 {
    let wide = u128::from(cwnd) * u128::from(base.as_ps()) / u128::from(round.as_ps().max(1));
    u32::try_from(wide).unwrap_or(u32::MAX)
}

/// Bytes in the queue as Linux counts them: cwnd · (RTT − baseRTT) / baseRTT.
fn waiting(cwnd: u32, base: Span, round: Span) -> u64 {
    let longer = u128::from(round.saturating_sub(base).as_ps());
    let wide = u128::from(cwnd) * longer / u128::from(base.as_ps().max(1));
    u64::try_from(wide).unwrap_or(u64::MAX)
}

impl CongestionControl for Vegas {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { bytes } => return self.acked(bytes, view),
            Signal::EnterRecovery => self.in_recovery = true,
            Signal::ExitRecovery | Signal::Undo => {
                self.in_recovery = false;
                self.begin_round(view);
            }
            Signal::Timeout { .. } => {
                self.in_recovery = false;
                self.repairing_until = view.sent;
            }
            // After a pause the path may have changed.
            Signal::IdleRestart { .. } | Signal::Resumed => {
                self.base = None;
                self.begin_round(view);
            }
            Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::EcnCe
            | Signal::RoundMarked { .. } => {}
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{GROWTH, view};

    const MSS: u32 = 1000;
    const BASE: Span = Span::from_ms(100);

    /// One round with a round trip of so many milliseconds, after a first one that showed the path's.
    fn after(cwnd: u32, ssthresh: u32, rtt: u64) -> Vegas {
        let mut cc = Vegas::new(cwnd * MSS, ssthresh, GROWTH);
        cc.base = Some(BASE);
        let mut seen = view(MSS, cwnd * MSS);
        seen.rtt = Some(Span::from_ms(rtt));
        (cc.round, cc.samples, cc.round_end) = (seen.rtt, 10, 1000);
        seen.acknowledged = 2000;
        seen.sent = 30_000;
        cc.on(Signal::Acked { bytes: MSS }, &seen);
        cc
    }

    #[test]
    fn in_avoidance_the_queue_is_kept_between_two_and_four_segments() {
        // 20 segments: each 5 ms beyond the base stand for one in the queue.
        assert_eq!(after(20, 1, 100).cwnd(), 21 * MSS);
        assert_eq!(after(20, 1, 109).cwnd(), 21 * MSS);
        for calm in [110, 115, 120, 124] {
            assert_eq!(after(20, 1, calm).cwnd(), 20 * MSS, "{calm}");
        }
        assert_eq!(after(20, 1, 125).cwnd(), 19 * MSS);
    }

    #[test]
    fn slow_start_ends_at_the_bandwidth_delay_product() {
        assert_eq!(after(20, u32::MAX, 105).cwnd(), 21 * MSS, "one segment in the queue does not end it");
        let cc = after(20, u32::MAX, 125);
        assert_eq!(cc.cwnd(), 17 * MSS, "16 on the path and one");
        assert_eq!(cc.ssthresh(), 16 * MSS);
    }

    #[test]
    fn a_loss_halves_the_window_as_in_reno_and_restarts_the_round() {
        let mut cc = after(20, 1, 115);
        cc.on(Signal::EnterRecovery, &view(MSS, 20 * MSS));
        assert_eq!(cc.cwnd(), 10 * MSS);
        cc.on(Signal::ExitRecovery, &view(MSS, 10 * MSS));
        assert_eq!((cc.cwnd(), cc.round, cc.samples), (10 * MSS, None, 0));
    }

    #[test]
    fn a_round_with_few_samples_follows_reno() {
        let mut cc = Vegas::new(20 * MSS, 1, GROWTH);
        let mut seen = view(MSS, 20 * MSS);
        seen.rtt = Some(Span::from_ms(500));
        (seen.acknowledged, seen.sent) = (2000, 30_000);
        cc.on(Signal::Acked { bytes: MSS }, &seen);
        assert_eq!(cc.cwnd(), 20 * MSS + 50);
    }
}
