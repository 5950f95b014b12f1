//! RFC 5681, optionally with the exit rule of RFC 6582.

use super::growth::Window;
use crate::config::choices::Growth;
use crate::congestion::{CongestionControl, Signal, View};

/// Halve the data in flight, then add one segment per RTT.
///
/// * The inflation of cwnd by duplicate ACKs and its deflation by partial ACKs (RFC 5681, section 3.2, steps 4 to 6)
///   belong to `recovery`; `cwnd` here is the window without them.
/// * An ACK increases cwnd even if the sender did not use all of it, as in the BSD systems, unless
///   [`Grows`](crate::config::Grows) is set differently.
/// * A congestion mark within a recovery is part of the same event (RFC 3168, section 6.1.2) and changes nothing.
/// * Undo restores cwnd and ssthresh from before the last reduction (RFC 4015, section 3.2, without its limits on
///   bursts), unless cwnd has grown above its old value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reno {
    window: Window,
    /// The initial window, which is the limit of the restart window.
    initial: u32,
    prior_cwnd: u32,
    prior_ssthresh: u32,
    exit: Exit,
    in_recovery: bool,
    /// A mark reduces cwnd less than a loss (RFC 8511).
    abe: bool,
}

/// How recovery ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// cwnd = ssthresh.
    Plain,
    /// At most one segment more than the data in flight, to avoid a burst.
    Cautious,
}

impl Reno {
    /// RFC 5681, with the given initial `cwnd` and `ssthresh` in bytes. Recovery ends with cwnd = ssthresh (section
    /// 3.2, step 6).
    pub const fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        let window = Window::new(cwnd, ssthresh, growth);
        Self {
            window,
            initial: cwnd,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            exit: Exit::Plain,
            in_recovery: false,
            abe: false,
        }
    }

    /// The same, but recovery ends with cwnd = min(ssthresh, max(flight, MSS) + MSS) (RFC 6582, section 3.2, step 3,
    /// option 1).
    pub const fn with_cautious_exit(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self { exit: Exit::Cautious, ..Self::new(cwnd, ssthresh, growth) }
    }

    /// The same with the alternative backoff of RFC 8511, or without.
    #[must_use]
    pub const fn with_abe(self, abe: bool) -> Self {
        Self { abe, ..self }
    }

    /// RFC 5681, section 3.1, equation 4: half of the data in flight, at least two segments.
    fn threshold(view: &View) -> u32 {
        (view.flight / 2).max(view.mss.saturating_mul(2))
    }

    /// The threshold after a mark. RFC 8511, sections 3.1 and 4.1: beta_ecn is 0.8.
    fn threshold_by_mark(&self, view: &View) -> u32 {
        if !self.abe {
            return Self::threshold(view);
        }
        let share = u64::from(view.flight) * 4 / 5;
        (share as u32).max(view.mss.saturating_mul(2))
    }

    /// Whether an ACK increases cwnd even if the sender did not use all of it.
    #[inline]
    pub(in crate::congestion) fn always_grows(&self) -> bool {
        self.window.always_opens()
    }

    /// An ACK of new data outside recovery; returns cwnd.
    #[inline]
    pub(in crate::congestion) fn acked(&mut self, bytes: u32, mss: u32) -> u32 {
        if self.window.cwnd < self.window.ssthresh {
            self.window.slow_start(bytes, mss);
        } else {
            self.window.avoid(bytes, mss);
        }
        self.window.cwnd
    }

    /// Whether a loss is being repaired.
    pub(in crate::congestion) fn is_in_recovery(&self) -> bool {
        self.in_recovery
    }

    fn remember(&mut self) {
        self.prior_cwnd = self.window.cwnd;
        self.prior_ssthresh = self.window.ssthresh;
    }

    /// Reduces cwnd and ssthresh to `threshold`.
    fn cut(&mut self, threshold: u32) {
        self.remember();
        self.window.set(threshold, threshold);
    }

    /// Reduces cwnd to this value after a mark, unless a recovery has already reduced it.
    pub(in crate::congestion) fn mark(&mut self, cwnd: u32) {
        if !self.in_recovery {
            self.remember();
            self.window.set(cwnd, cwnd);
        }
    }

    /// The window, for the growth of an algorithm that is based on this one.
    pub(in crate::congestion) fn window(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Sets both, for an algorithm that is based on this one.
    pub(in crate::congestion) fn steer(&mut self, cwnd: u32, ssthresh: u32) {
        self.window.set(cwnd, ssthresh);
    }

    /// Processes a signal of an algorithm that is based on this one and reduces cwnd to `threshold` instead of half of
    /// the data in flight.
    pub(in crate::congestion) fn on_with_threshold(&mut self, signal: Signal, view: &View, threshold: u32) {
        match signal {
            Signal::EnterRecovery => {
                self.cut(threshold);
                self.in_recovery = true;
            }
            Signal::EcnCe => self.mark(threshold),
            Signal::Timeout { first } => self.time_out(first, view, threshold),
            _ => self.on(signal, view),
        }
    }

    fn time_out(&mut self, first: bool, view: &View, threshold: u32) {
        if first {
            if !self.in_recovery {
                self.remember();
            }
            self.window.ssthresh = threshold;
        }
        // RFC 5681, section 3.1: the loss window is one full segment.
        self.window.set(view.mss, self.window.ssthresh);
        self.in_recovery = false;
    }

    /// Ends a recovery, unless a timeout has already ended it.
    fn exit_recovery(&mut self, view: &View) {
        if core::mem::take(&mut self.in_recovery) {
            let cwnd = match self.exit {
                Exit::Plain => self.window.ssthresh,
                Exit::Cautious => {
                    self.window.ssthresh.min(view.flight.max(view.mss).saturating_add(view.mss))
                }
            };
            self.window.set(cwnd, self.window.ssthresh);
        }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on(&mut self, signal: Signal, view: &View) {
        match signal {
            Signal::Acked { .. } if !self.window.opens(view) => {}
            Signal::Acked { bytes } => {
                self.acked(bytes, view.mss);
            }
            Signal::EnterRecovery => {
                self.cut(Self::threshold(view));
                self.in_recovery = true;
            }
            Signal::EcnCe if !self.in_recovery => self.cut(self.threshold_by_mark(view)),
            Signal::Timeout { first } => self.time_out(first, view, Self::threshold(view)),
            Signal::ExitRecovery => self.exit_recovery(view),
            Signal::Undo => {
                let cwnd = self.window.cwnd.max(self.prior_cwnd);
                self.window.set(cwnd, self.window.ssthresh.max(self.prior_ssthresh));
                self.in_recovery = false;
            }
            // RFC 5681, section 4.1: the restart window is min(IW, cwnd).
            Signal::IdleRestart { .. } => {
                self.window.set(self.initial.min(self.window.cwnd), self.window.ssthresh);
            }
            Signal::EcnCe
            | Signal::DupAck { .. }
            | Signal::PartialAck { .. }
            | Signal::RoundMarked { .. }
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
    fn slow_start_doubles_and_avoidance_adds_a_segment_in_each_round() {
        let mut cc = Reno::new(1000, 8000, GROWTH);
        let rounds: Vec<u32> = (0..6)
            .map(|_| {
                ack_a_round(&mut cc, 1000);
                cc.cwnd()
            })
            .collect();
        assert_eq!(rounds[..3], [2000, 4000, 8000]);
        // Equation 3 divides by the increased window, so a round adds slightly less than a segment.
        for pair in rounds[2..].windows(2) {
            assert!((850..=1000).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
    }

    #[test]
    fn a_loss_reduces_the_window_to_half_of_the_data_in_flight() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(1000, 15_001));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (7500, 7500));
    }

    #[test]
    fn the_threshold_never_falls_below_two_segments() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(1000, 3000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (2000, 2000));
    }

    #[test]
    fn the_threshold_falls_at_the_first_timeout_only() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::Timeout { first: true }, &view(1000, 16_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 8000));
        cc.on(Signal::Timeout { first: false }, &view(1000, 1000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 8000));
    }

    #[test]
    fn recovery_ends_at_the_threshold() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(1000, 20_000));
        cc.on(Signal::PartialAck { bytes: 3000 }, &view(1000, 20_000));
        cc.on(Signal::ExitRecovery, &view(1000, 0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 10_000));
    }

    #[test]
    fn a_cautious_exit_allows_one_segment_more_than_is_in_flight() {
        for (flight, cwnd) in [(0, 2000), (400, 2000), (5000, 6000), (9500, 10_000), (30_000, 10_000)] {
            let mut cc = Reno::with_cautious_exit(20_000, u32::MAX, GROWTH);
            cc.on(Signal::EnterRecovery, &view(1000, 20_000));
            cc.on(Signal::ExitRecovery, &view(1000, flight));
            assert_eq!((cc.cwnd(), cc.ssthresh()), (cwnd, 10_000), "flight {flight}");
        }
    }

    #[test]
    fn a_timeout_ends_recovery_and_slow_start_goes_on() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EnterRecovery, &view(1000, 20_000));
        cc.on(Signal::Timeout { first: true }, &view(1000, 20_000));
        cc.on(Signal::ExitRecovery, &view(1000, 0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 10_000));
    }

    #[test]
    fn undo_restores_the_values_before_the_reduction() {
        let mut cc = Reno::new(20_000, 64_000, GROWTH);
        cc.on(Signal::EnterRecovery, &view(1000, 20_000));
        cc.on(Signal::Timeout { first: true }, &view(1000, 20_000));
        cc.on(Signal::Undo, &view(1000, 20_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20_000, 64_000), "from before the first reduction");
    }

    #[test]
    fn undo_without_a_reduction_changes_nothing() {
        let mut cc = Reno::new(20_000, 64_000, GROWTH);
        cc.on(Signal::Undo, &view(1000, 20_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (20_000, 64_000));
    }

    #[test]
    fn a_mark_counts_as_a_loss_but_not_within_a_recovery() {
        let mut cc = Reno::new(20_000, u32::MAX, GROWTH);
        cc.on(Signal::EcnCe, &view(1000, 20_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 10_000));
        cc.on(Signal::EnterRecovery, &view(1000, 10_000));
        cc.on(Signal::EcnCe, &view(1000, 5000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (5000, 5000));
    }

    #[test]
    fn an_idle_time_restarts_from_the_initial_window_at_most() {
        let mut cc = Reno::new(4000, 8000, GROWTH);
        ack_a_round(&mut cc, 1000);
        cc.on(Signal::IdleRestart { timeouts: 1 }, &view(1000, 0));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (4000, 8000));
        cc.on(Signal::Timeout { first: true }, &view(1000, 4000));
        cc.on(Signal::IdleRestart { timeouts: 1 }, &view(1000, 0));
        assert_eq!(cc.cwnd(), 1000);
    }

    #[test]
    fn it_is_small() {
        assert!(size_of::<Reno>() <= 40, "{}", size_of::<Reno>());
    }

    #[test]
    fn with_abe_a_mark_reduces_the_window_by_a_fifth_and_a_loss_by_half() {
        // RFC 8511, section 4.1; section 3.1: at least two segments.
        for (signal, flight, cwnd) in [
            (Signal::EcnCe, 50_000, 40_000),
            (Signal::EcnCe, 2000, 2000),
            (Signal::EnterRecovery, 50_000, 25_000),
        ] {
            let mut cc = Reno::new(flight, u32::MAX, GROWTH).with_abe(true);
            cc.on(signal, &view(1000, flight));
            assert_eq!((cc.cwnd(), cc.ssthresh()), (cwnd, cwnd), "{signal:?} {flight}");
        }
    }
}
