//! Prague (draft-briscoe-iccrg-prague-congestion-control), the congestion control of L4S (RFC 9330, RFC 9331).
//!
//! Like DCTCP it reduces cwnd in proportion to the marks. In contrast to DCTCP it suits the Internet: a flow with a short
//! RTT behaves as if its RTT were 25 ms, and a loss, or feedback without the number of marks, has the response of Reno. Its
//! window has a fraction of a segment: whole segments are in flight, and pacing spreads them to the rate of the fraction,
//! which may be less than two segments in an RTT (as in its implementation for Linux, which also makes segments shorter
//! then).

use crate::config::choices::Growth;
use crate::congestion::loss_based::increase::{Increase, THOUSAND};
use crate::congestion::{CongestionControl, Reno, Signal, View, pacing};
use crate::time::{Span, Time};

/// RTT_virt: the least RTT that determines how cwnd grows and how often it is reduced.
const VIRTUAL_RTT: Span = Span::from_ms(25);
/// One, as a scaled share.
const ONE: u64 = 1 << 24;
/// The gain of the moving average of marks is 1/16.
const GAIN_SHIFT: u32 = 4;
/// Marks do not reduce the rate below this many bytes per second (100 kbit/s, as in the implementation for Linux).
const LEAST_RATE: u64 = 12_500;

/// The state of Prague. Reno handles losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prague {
    reno: Reno,
    increase: Increase,
    /// The share of bytes that were marked, of [`ONE`].
    alpha: u64,
    /// The bytes of the present virtual round, those that were marked, and its start.
    acked: u64,
    marked: u64,
    round_began: Time,
    /// The last reduction due to marks.
    reduced_at: Option<Time>,
    /// There was a mark; before it alpha stays at 1.
    was_marked: bool,
    /// The feedback has the number of marks.
    is_accurate: bool,
    srtt: Option<Span>,
    mss: u32,
}

impl Prague {
    /// With the given initial `cwnd` and `ssthresh` in bytes. Alpha starts at 1: the first mark halves cwnd and ends slow
    /// start.
    pub fn new(cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        Self {
            reno: Reno::with_cautious_exit(cwnd, ssthresh, growth),
            increase: Increase::default(),
            alpha: ONE,
            acked: 0,
            marked: 0,
            round_began: Time::ZERO,
            reduced_at: None,
            was_marked: false,
            is_accurate: false,
            srtt: None,
            mss: 0,
        }
    }

    /// The estimated share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha as f64 / ONE as f64
    }

    fn virtual_rtt(&self) -> Span {
        self.srtt.map_or(VIRTUAL_RTT, |srtt| srtt.max(VIRTUAL_RTT))
    }

    /// The additive increase in thousandths of a segment per RTT: (RTT / RTT_virt)², so that the rate grows as fast as that
    /// of a flow with the virtual RTT. Marked bytes do not increase cwnd; their share is alpha.
    fn per_rtt(&self) -> u64 {
        let unmarked = if self.was_marked { ONE - self.alpha } else { ONE };
        let (srtt, virt) =
            (self.srtt.unwrap_or(VIRTUAL_RTT).as_ps() / 1000, self.virtual_rtt().as_ps() / 1000);
        let (square, virt_square) = (u128::from(srtt).pow(2), u128::from(virt).pow(2).max(1));
        (u128::from(THOUSAND) * square * u128::from(unmarked) / virt_square / u128::from(ONE)) as u64
    }

    /// The least window after a mark: that of the least rate, or two segments while no RTT is known.
    fn least(&self, mss: u32) -> u32 {
        let two = mss.saturating_mul(2);
        self.srtt.map_or(two, |srtt| u32::try_from(pacing::volume(LEAST_RATE, srtt)).unwrap_or(two).min(two))
    }

    fn acked(&mut self, bytes: u32, view: &View) {
        self.srtt = view.srtt;
        let per_rtt = self.per_rtt();
        let window = self.reno.window();
        if !window.opens(view) {
            return;
        }
        if window.cwnd < window.ssthresh {
            window.slow_start(bytes, view.mss);
        } else {
            let counted = window.counted(bytes, view.mss);
            self.increase.add(window, counted, view.mss, per_rtt);
        }
    }

    /// The end of a round. Alpha follows the marks once per virtual RTT, and begins with the first mark.
    fn estimate(&mut self, acked: u32, marked: u32, now: Time) {
        self.is_accurate = true;
        self.acked += u64::from(acked);
        self.marked += u64::from(marked.min(acked));
        if now.since(self.round_began) < self.virtual_rtt() {
            return;
        }
        if self.was_marked {
            let share = (u128::from(self.marked) * u128::from(ONE) / u128::from(self.acked.max(1))) as u64;
            self.alpha = self.alpha - (self.alpha >> GAIN_SHIFT) + (share >> GAIN_SHIFT);
        }
        self.was_marked |= self.marked > 0;
        (self.acked, self.marked, self.round_began) = (0, 0, now);
    }

    /// A mark reduces cwnd by alpha / 2 (section 2.4.2 of the draft). For a virtual RTT after that, marks do not reduce it
    /// again, and the first one later does: a mark within this time is counted by alpha only.
    fn reduce(&mut self, view: &View) {
        self.was_marked = true;
        if !self.heeds_marks(view.now) {
            return;
        }
        self.reduced_at = Some(view.now);
        let cwnd = self.reno.cwnd();
        let cut = (u64::from(cwnd) * self.alpha / (2 * ONE)) as u32;
        self.reno.mark(cwnd.saturating_sub(cut).max(self.least(view.mss)).min(cwnd));
    }
}

/// The least number of whole segments that is not below `cwnd`, in bytes; two at least.
fn whole_segments(cwnd: u32, mss: u32) -> u32 {
    cwnd.div_ceil(mss).max(2).saturating_mul(mss)
}

impl CongestionControl for Prague {
    fn on(&mut self, signal: Signal, view: &View) {
        self.mss = view.mss;
        match signal {
            Signal::Acked { bytes } if self.is_accurate => self.acked(bytes, view),
            Signal::RoundMarked { acked, marked } => self.estimate(acked, marked, view.now),
            Signal::EcnCe if self.is_accurate => self.reduce(view),
            // Losses, and marks without their number: the response of Reno.
            _ => self.reno.on(signal, view),
        }
    }

    /// Only marks with their number follow the virtual RTT.
    fn heeds_marks(&self, now: Time) -> bool {
        !self.is_accurate || self.reduced_at.is_none_or(|at| now.since(at) >= self.virtual_rtt())
    }

    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        self.reno.set_windows(cwnd, ssthresh);
    }

    /// The fraction of a segment counts for pacing only: in flight are whole segments, two at least.
    fn cwnd(&self) -> u32 {
        let cwnd = self.reno.cwnd();
        if self.was_marked && self.mss > 0 { whole_segments(cwnd, self.mss) } else { cwnd }
    }

    fn ssthresh(&self) -> u32 {
        self.reno.ssthresh()
    }

    /// Two windows per RTT in slow start, otherwise one.
    fn pacing_rate(&self) -> Option<u64> {
        let srtt = self.srtt?;
        let (cwnd, ssthresh) = (self.reno.cwnd(), self.reno.ssthresh());
        let windows = if cwnd < ssthresh / 2 { 2 } else { 1 };
        Some(pacing::rate(u64::from(cwnd) * windows, srtt).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{GROWTH, view};

    const MSS: u32 = 1000;

    fn at(us: u64, rtt_us: u64, cwnd: u32) -> View {
        View { now: Time::ZERO + Span::from_us(us), srtt: Some(Span::from_us(rtt_us)), ..view(MSS, cwnd) }
    }

    /// In avoidance, with accurate feedback and this alpha.
    fn steady(cwnd: u32, alpha: f64) -> Prague {
        let mut cc = Prague::new(cwnd, MSS, GROWTH);
        (cc.is_accurate, cc.was_marked, cc.alpha) = (true, true, (alpha * ONE as f64) as u64);
        cc
    }

    #[test]
    fn alpha_starts_with_the_first_mark_and_is_a_moving_average() {
        let mut cc = Prague::new(100 * MSS, u32::MAX, GROWTH);
        for n in 1..=5 {
            cc.on(Signal::RoundMarked { acked: 100_000, marked: 0 }, &at(30_000 * n, 30_000, 100 * MSS));
        }
        assert!((cc.alpha() - 1.0).abs() < 1e-9, "no mark, no estimate");
        cc.on(Signal::EcnCe, &at(160_000, 30_000, 100 * MSS));
        assert_eq!((cc.reno.cwnd(), cc.ssthresh()), (50 * MSS, 50 * MSS));
        let mut expected = 1.0;
        for n in 6..200 {
            let marked = 1000 * (n % 7) as u32;
            cc.on(Signal::RoundMarked { acked: 10_000, marked }, &at(30_000 * n, 30_000, 100 * MSS));
            expected += (f64::from(marked) / 10_000.0 - expected) / 16.0;
            assert!((cc.alpha() - expected).abs() < 1e-5, "{} {expected}", cc.alpha());
        }
    }

    #[test]
    fn a_short_rtt_grows_as_the_square_of_its_part_of_25_ms() {
        for (rtt, expected) in [(100_000, 1000), (25_000, 1000), (12_500, 250), (5000, 40)] {
            let mut cc = steady(100 * MSS, 0.0);
            for n in 0..100 {
                cc.on(Signal::Acked { bytes: MSS }, &at(n, rtt, 100 * MSS));
            }
            let grown = cc.reno.cwnd() - 100 * MSS;
            assert!(grown.abs_diff(expected) <= expected / 100 + 1, "{rtt}: {grown}");
        }
    }

    #[test]
    fn a_mark_reduces_by_half_of_alpha_once_per_virtual_rtt() {
        let mut cc = steady(100 * MSS, 0.2);
        cc.on(Signal::EcnCe, &at(1000, 5000, 100 * MSS));
        assert!(cc.reno.cwnd().abs_diff(90_000) <= 1, "{}", cc.reno.cwnd());
        cc.on(Signal::EcnCe, &at(25_000, 5000, 90 * MSS));
        assert!(cc.reno.cwnd().abs_diff(90_000) <= 1, "less than 25 ms later");
        cc.on(Signal::EcnCe, &at(26_000, 5000, 90 * MSS));
        assert!(cc.reno.cwnd().abs_diff(81_000) <= 2, "{}", cc.reno.cwnd());
    }

    #[test]
    fn the_first_mark_after_the_virtual_rtt_reduces_and_none_before_does() {
        // At an RTT of 20 ms, marks come at 0, 7, 14, 21, 28 ms and so on. Of these, every fourth is 25 ms later.
        let mut cc = steady(10_000 * MSS, 0.01);
        cc.srtt = Some(Span::from_ms(20));
        let mut reduced = Vec::new();
        for ms in 0..100 {
            let view = at(1000 * ms, 20_000, cc.cwnd());
            let before = cc.reno.cwnd();
            assert_eq!(cc.heeds_marks(view.now), reduced.last().is_none_or(|last| ms >= last + 25));
            if ms % 7 == 0 {
                cc.on(Signal::EcnCe, &view);
            }
            cc.on(Signal::Acked { bytes: 0 }, &view);
            if cc.reno.cwnd() < before {
                reduced.push(ms);
            }
        }
        assert_eq!(reduced, [0, 28, 56, 84]);
    }

    #[test]
    fn marks_without_their_number_are_heeded_at_any_time() {
        let mut cc = Prague::new(100 * MSS, MSS, GROWTH);
        cc.reduced_at = Some(Time::ZERO);
        assert!(cc.heeds_marks(Time::ZERO + Span::from_ms(1)));
    }

    #[test]
    fn whole_segments_are_in_flight_and_the_rest_is_a_matter_of_pacing() {
        let mut cc = steady(3 * MSS, 0.4);
        (cc.srtt, cc.mss) = (Some(Span::from_ms(50)), MSS);
        cc.on(Signal::EcnCe, &at(1000, 50_000, 3 * MSS));
        assert_eq!(cc.cwnd(), 3 * MSS, "of 2.4 segments the third is sent, and later");
        assert!(cc.pacing_rate().unwrap().abs_diff(2400 * 20) <= 20, "{:?}", cc.pacing_rate());
        // A path that holds less than a segment: the rate falls below two segments in an RTT, the window does not.
        for n in 1..20 {
            cc.on(Signal::EcnCe, &at(1000 + 60_000 * n, 50_000, cc.cwnd()));
        }
        assert_eq!(cc.cwnd(), 2 * MSS);
        assert!(cc.pacing_rate().unwrap().abs_diff(LEAST_RATE) <= 20, "{:?}", cc.pacing_rate());
    }

    #[test]
    fn a_loss_halves_the_window_and_so_does_a_mark_without_a_number() {
        let mut cc = steady(100 * MSS, 0.0);
        cc.on(Signal::EnterRecovery, &at(1000, 30_000, 100 * MSS));
        assert_eq!(cc.cwnd(), 50 * MSS);
        let mut classic = Prague::new(100 * MSS, MSS, GROWTH);
        for n in 0..2 {
            classic.on(Signal::EcnCe, &at(30_000 * n, 30_000, classic.cwnd()));
        }
        assert_eq!(classic.cwnd(), 25 * MSS);
    }

    #[test]
    fn with_random_marks_the_window_is_that_of_the_balance_of_increase_and_decrease() {
        // In a round of W segments, each of which is marked with probability p: 1 − p segments more, and W p / 2 less if there
        // is a mark at all, which has the probability 1 − exp(−W p). The RTT is 40 ms.
        for p in [0.01, 0.03, 0.1] {
            let mut x: f64 = 2.0;
            for _ in 0..50 {
                x = 2.0 * (1.0 - p) / (1.0 - (-x).exp());
            }
            let mut cc = steady((x / p * f64::from(MSS)) as u32, p);
            let (mut dice, mut now, mut sum) = (1_u64, 0, 0.0);
            let rounds = 4000;
            for _ in 0..rounds {
                let segments = cc.reno.cwnd() / MSS;
                let (mut marked, mut seen) = (0, false);
                for _ in 0..segments {
                    dice =
                        dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let is_marked = (dice >> 40) as f64 / f64::from(1 << 24) < p;
                    marked += if is_marked { MSS } else { 0 };
                    cc.on(Signal::Acked { bytes: MSS }, &at(now, 40_000, cc.cwnd()));
                    if is_marked && !seen {
                        cc.on(Signal::EcnCe, &at(now, 40_000, cc.cwnd()));
                        seen = true;
                    }
                }
                now += 40_000;
                cc.on(Signal::RoundMarked { acked: segments * MSS, marked }, &at(now, 40_000, cc.cwnd()));
                sum += f64::from(cc.reno.cwnd()) / f64::from(MSS);
            }
            let mean = sum / f64::from(rounds);
            assert!((mean / (x / p) - 1.0).abs() < 0.1, "{p}: {mean}, not {}", x / p);
        }
    }
}
