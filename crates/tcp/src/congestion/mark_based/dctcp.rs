//! DCTCP (RFC 8257): the reduction of cwnd is proportional to the marks. With a low marking threshold this keeps the
//! queue short and the link busy.
//!
//! `alpha` estimates the share of marked bytes per round. After a window with a mark, cwnd decreases by half of that
//! share. Everything else follows RFC 5681.

use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Reno, Signal, View};

/// One, as a scaled share (section 4.2).
const ONE: u32 = 1 << 16;
/// The gain is 1/16: the same section.
const GAIN_SHIFT: u32 = 4;

/// The state of DCTCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// The share of bytes that were marked, of [`ONE`].
    alpha: u32,
}

impl Dctcp {
    /// With the given initial `cwnd` and `ssthresh` in bytes. Alpha starts at 1: the first mark halves cwnd.
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self { reno: Reno::with_cautious_exit(cwnd, ssthresh, growth), alpha: ONE }
    }

    /// The estimated share of marked bytes.
    pub fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(ONE)
    }

    /// Section 4.2. A share below the resolution of the gain becomes zero.
    fn estimate(&mut self, acked: u32, marked: u32) {
        let share = u64::from(ONE) * u64::from(marked.min(acked)) / u64::from(acked.max(1));
        if self.alpha >> GAIN_SHIFT == 0 {
            self.alpha = 0;
        }
        let alpha = self.alpha - (self.alpha >> GAIN_SHIFT) + (share as u32 >> GAIN_SHIFT);
        self.alpha = alpha.min(ONE);
    }

    /// cwnd · (1 − alpha / 2), at least two segments (section 3.3, step 9; RFC 5681, equation 4).
    fn reduced(&self, view: &View) -> u32 {
        let cwnd = self.reno.cwnd();
        let cut = (u64::from(cwnd) * u64::from(self.alpha)) >> 17;
        cwnd.saturating_sub(cut as u32).max(view.mss.saturating_mul(2)).min(cwnd)
    }
}

impl CongestionControl for Dctcp {
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::RoundMarked { acked, marked } => self.estimate(acked, marked),
            Signal::EcnCe => self.reno.mark(self.reduced(view)),
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

    fn round(cc: &mut Dctcp, acked: u32, marked: u32) {
        cc.on(Signal::RoundMarked { acked, marked }, &view(1000, 0));
    }

    #[test]
    fn alpha_starts_at_one_so_that_the_first_mark_halves_the_window() {
        let mut cc = Dctcp::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EcnCe, &view(1000, 20_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 10_000));
    }

    #[test]
    fn alpha_is_a_low_pass_filter_of_the_share_of_marks() {
        for share in [0.0, 0.1, 0.5, 1.0] {
            let mut cc = Dctcp::new(20_000, u32::MAX, GROWTH);
            let mut expected = 1.0;
            for _ in 0..200 {
                round(&mut cc, 1_000_000, (1e6 * share) as u32);
                expected += (share - expected) / 16.0;
                // Each step rounds down by at most two units, which the filter keeps sixteen times.
                assert!((cc.alpha() - expected).abs() < 32.0 / 65_536.0, "{} {expected}", cc.alpha());
            }
        }
    }

    #[test]
    fn alpha_reaches_zero_without_marks_and_stays_one_if_all_is_marked() {
        let mut cc = Dctcp::new(20_000, u32::MAX, GROWTH);
        (0..100).for_each(|_| round(&mut cc, 1000, 1000));
        assert!((cc.alpha() - 1.0).abs() < 1e-9, "{}", cc.alpha());
        (0..300).for_each(|_| round(&mut cc, 1000, 0));
        assert!(cc.alpha() == 0.0, "{}", cc.alpha());
        cc.on(Signal::EcnCe, &view(1000, 20_000));
        assert_eq!(cc.cwnd(), 20_000);
    }

    #[test]
    fn a_mark_reduces_the_window_by_half_of_alpha() {
        let mut cc = Dctcp::new(100_000, 100_000, GROWTH);
        (0..300).for_each(|_| round(&mut cc, 10_000, 2000));
        let alpha = cc.alpha();
        assert!((alpha - 0.2).abs() < 0.001, "{alpha}");
        cc.on(Signal::EcnCe, &view(1000, 100_000));
        assert!((f64::from(cc.cwnd()) - 100_000.0 * (1.0 - alpha / 2.0)).abs() < 2.0, "{}", cc.cwnd());
    }

    #[test]
    fn a_loss_halves_the_window_as_in_reno() {
        let mut cc = Dctcp::new(100_000, u32::MAX, GROWTH);
        (0..300).for_each(|_| round(&mut cc, 1000, 0));
        cc.on(Signal::EnterRecovery, &view(1000, 100_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (50_000, 50_000));
        cc.on(Signal::EcnCe, &view(1000, 100_000));
        assert_eq!(cc.cwnd(), 50_000, "a mark within the recovery is part of it");
    }
}
