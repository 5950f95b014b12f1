//! V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, section 2 and appendix A, as the BSD systems
//! computed it: in clock ticks, with shifts.

use super::RtoEstimator;
use crate::time::Span;

/// Mean and mean deviation in integers: srtt in 1/8, rttvar in 1/4 ticks.
///
/// BSD's counter of a round trip stands at 1 when the segment leaves, so after n ticks it reads n + 1. The first
/// sample takes the counter as it is, `srtt = 8 (n + 1)`, `rttvar = 2 (n + 1)`; each later one takes n:
/// `srtt += n - srtt/8`, `rttvar += |n - srtt/8| - rttvar/4`, both at least 1. Before the first sample the timeout is
/// 12 ticks (6 s).
///
/// The timeout is srtt plus so many deviations as [`Deviations`] says, between the bounds.
///
/// A sample is a number of ticks *crossed*, times the tick; a span that is no multiple of it (a recorded delay that is
/// being replayed) is rounded down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jacobson88 {
    tick: Span,
    min_ticks: u32,
    max_ticks: u32,
    /// In 1/8 ticks; 0: no sample yet.
    srtt: u32,
    /// In 1/4 ticks.
    rttvar: u32,
    deviations: Deviations,
}

/// How many mean deviations the timeout lies above the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deviations {
    /// Two: the paper as printed in 1988, and 4.3BSD-Tahoe, where the first timeout is twice the round trip.
    Two,
    /// Four: the paper as revised by Jacobson and Karels, 4.3BSD-Reno and everything after it.
    Four,
}

/// No round trip is longer than this many ticks: srtt and rttvar stay below 2^31.
const MOST_TICKS: u64 = (1 << 24) - 1;

impl Jacobson88 {
    /// With a clock that ticks every `tick`; the timeout lies between `min_ticks` and `max_ticks` (2 and 128 in BSD;
    /// an upper bound of zero means none).
    pub const fn new(tick: Span, min_ticks: u32, max_ticks: u32, deviations: Deviations) -> Self {
        let max_ticks = if max_ticks == 0 { u32::MAX } else { max_ticks };
        // A clock that does not tick would divide by zero.
        let tick = if tick.as_ps() == 0 { Span::from_ps(1) } else { tick };
        Self { tick, min_ticks, max_ticks, srtt: 0, rttvar: 24, deviations }
    }

    /// The timeout in ticks.
    #[inline]
    pub fn rto_ticks(&self) -> u32 {
        let ticks = match self.deviations {
            // Before the first sample both systems used this form.
            _ if self.srtt == 0 => self.rttvar >> 1,
            Deviations::Two => ((self.srtt >> 2) + self.rttvar) >> 1,
            Deviations::Four => (self.srtt >> 3) + self.rttvar,
        };
        ticks.max(self.min_ticks).min(self.max_ticks)
    }
}

impl RtoEstimator for Jacobson88 {
    #[inline]
    fn sample(&mut self, rtt: Span) {
        let crossed = (rtt.as_ps() / self.tick.as_ps()).min(MOST_TICKS) as u32;
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = ((crossed + 1) << 3, (crossed + 1) << 1);
        } else {
            let mean = self.srtt >> 3;
            self.srtt = (self.srtt - mean + crossed).max(1);
            self.rttvar = (self.rttvar - (self.rttvar >> 2) + crossed.abs_diff(mean)).max(1);
        }
    }

    #[inline]
    fn rto(&self) -> Span {
        self.tick.saturating_mul(u64::from(self.rto_ticks()))
    }

    fn srtt(&self) -> Option<Span> {
        (self.srtt > 0).then(|| self.tick.scale(u64::from(self.srtt), 8))
    }

    fn max(&self) -> Span {
        self.tick.saturating_mul(u64::from(self.max_ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Span = Span::from_ms(500);

    fn bsd(deviations: Deviations) -> Jacobson88 {
        Jacobson88::new(TICK, 2, 128, deviations)
    }

    #[test]
    fn a_worked_example() {
        // (ticks crossed, srtt in 1/8, rttvar in 1/4, timeout in ticks with four deviations, with two), by hand.
        let worked = [
            (0, 8, 2, 3, 2),           // counter 1: srtt 8, rttvar 2; 1 + 2; (2 + 2) / 2
            (0, 7, 3, 3, 2),           // delta -1; |1| - 0; 0 + 3; (1 + 3) / 2
            (1, 8, 4, 5, 3),           // delta 1 - 0 = 1; 1 - 0; 1 + 4; (2 + 4) / 2
            (4, 11, 6, 7, 4),          // delta 4 - 1 = 3; 3 - 1; 1 + 6; (2 + 6) / 2
            (4, 14, 8, 9, 5),          // delta 3; 3 - 1; 1 + 8; (3 + 8) / 2
            (1, 14, 6, 7, 4),          // delta 0; 0 - 2; 1 + 6; (3 + 6) / 2
            (0, 13, 6, 7, 4),          // delta -1; 1 - 1; 1 + 6; (3 + 6) / 2
            (20, 32, 24, 28, 16),      // delta 19; 19 - 1; 4 + 24; (8 + 24) / 2
            (20, 48, 34, 40, 23),      // delta 16; 16 - 6; 6 + 34; (12 + 34) / 2
            (200, 242, 220, 128, 128), // delta 194; 194 - 8: 250, 140 over the bound
        ];
        let (mut four, mut two) = (bsd(Deviations::Four), bsd(Deviations::Two));
        for (crossed, srtt, rttvar, rto_four, rto_two) in worked {
            for estimator in [&mut four, &mut two] {
                estimator.sample(TICK.saturating_mul(crossed));
                assert_eq!((estimator.srtt, estimator.rttvar), (srtt, rttvar), "after {crossed}");
            }
            assert_eq!((four.rto_ticks(), two.rto_ticks()), (rto_four, rto_two), "after {crossed}");
        }
    }

    #[test]
    fn before_the_first_sample_the_timeout_is_six_seconds() {
        assert_eq!(bsd(Deviations::Four).rto(), Span::from_secs(6));
        assert_eq!(bsd(Deviations::Two).rto(), Span::from_secs(6));
    }

    #[test]
    fn on_a_quiet_local_path_tahoe_waits_one_second_and_reno_one_and_a_half() {
        for (deviations, ticks) in [(Deviations::Two, 2), (Deviations::Four, 3)] {
            let mut estimator = bsd(deviations);
            for _ in 0..100 {
                estimator.sample(Span::ZERO);
            }
            // Where the shifts come to rest: srtt just below a tick, the deviation just below one.
            assert_eq!((estimator.srtt, estimator.rttvar), (7, 3));
            assert_eq!(estimator.rto_ticks(), ticks);
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut estimator = Jacobson88::new(Span::ZERO, 0, 0, Deviations::Four);
        for rtt in [Span::MAX, Span::ZERO, Span::MAX, Span::MAX, Span::MAX, Span::MAX, Span::ZERO] {
            estimator.sample(rtt);
            let _ = (estimator.rto(), estimator.srtt());
        }
        assert_eq!(estimator.max(), Span::from_ps(u64::from(u32::MAX)));
    }
}
