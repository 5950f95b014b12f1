//! V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, section 2 and appendix A, as the BSD systems
//! computed it: in clock ticks, with shifts.

use crate::time::Span;

/// Mean and mean deviation in integers: srtt in 1/8, rttvar in 1/4 ticks.
///
/// BSD's RTT counter is 1 when the segment is sent, so after n ticks it is n + 1. The first sample uses the counter
/// unchanged, `srtt = 8 (n + 1)`, `rttvar = 2 (n + 1)`; each later one uses n: `srtt += n - srtt/8`, `rttvar += |n -
/// srtt/8| - rttvar/4`, both at least 1. Before the first sample the timeout is 12 ticks (6 s).
///
/// The timeout is srtt plus two or four mean deviations ([`Deviations`]).
///
/// A sample is a number of ticks *crossed*, times the tick; a span that is not a multiple of it, such as a recorded
/// delay in a replay, is rounded down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Jacobson88 {
    /// In 1/8 ticks; 0: no sample yet.
    srtt: u32,
    /// In 1/4 ticks.
    rttvar: u32,
}

/// The number of mean deviations in the timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deviations {
    /// Two: the paper as printed in 1988, and 4.3BSD-Tahoe, where the first timeout is twice the RTT.
    Two,
    /// Four: the paper as revised by Jacobson and Karels, 4.3BSD-Reno and everything after it.
    Four,
}

/// Before the first sample.
pub(super) const INITIAL_TICKS: u32 = 12;

/// No round trip is longer than this many ticks: srtt and rttvar stay below 2^31.
const MOST_TICKS: u64 = (1 << 24) - 1;

impl Jacobson88 {
    /// A tick of zero would divide by zero.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Span, tick: Span) {
        let crossed = (rtt.as_ps() / tick.as_ps().max(1)).min(MOST_TICKS) as u32;
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = ((crossed + 1) << 3, (crossed + 1) << 1);
        } else {
            let mean = self.srtt >> 3;
            self.srtt = (self.srtt - mean + crossed).max(1);
            self.rttvar = (self.rttvar - (self.rttvar >> 2) + crossed.abs_diff(mean)).max(1);
        }
    }

    /// The timeout in ticks before the bounds apply; `None` before the first sample.
    #[inline]
    pub(super) fn rto_ticks(&self, deviations: Deviations) -> Option<u32> {
        (self.srtt > 0).then(|| match deviations {
            Deviations::Two => ((self.srtt >> 2) + self.rttvar) >> 1,
            Deviations::Four => (self.srtt >> 3) + self.rttvar,
        })
    }

    /// The smoothed RTT, for ticks of length `tick`.
    pub(super) fn srtt(&self, tick: Span) -> Option<Span> {
        (self.srtt > 0).then(|| tick.scale(u64::from(self.srtt), 8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::rto::{Estimator, Kind, RtoEstimator};

    const TICK: Span = Span::from_ms(500);

    /// Two deviations, four deviations.
    fn bsd() -> [Estimator; 2] {
        let (tick, min_ticks, max_ticks) = (TICK, 2, 128);
        [Kind::Tahoe { tick, min_ticks, max_ticks }, Kind::Jacobson88 { tick, min_ticks, max_ticks }]
            .map(Estimator::new)
    }

    fn ticks(estimator: &Estimator) -> u64 {
        estimator.rto().as_ps() / TICK.as_ps()
    }

    #[test]
    fn jacobson88_estimates_match_a_calculation_by_hand() {
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
        let mut learnt = Jacobson88::default();
        let [mut two, mut four] = bsd();
        for (crossed, srtt, rttvar, rto_four, rto_two) in worked {
            let rtt = TICK.saturating_mul(crossed);
            learnt.sample(rtt, TICK);
            assert_eq!((learnt.srtt, learnt.rttvar), (srtt, rttvar), "after {crossed}");
            four.sample(rtt);
            two.sample(rtt);
            assert_eq!((ticks(&four), ticks(&two)), (rto_four, rto_two), "after {crossed}");
        }
    }

    #[test]
    fn before_the_first_sample_the_timeout_is_six_seconds() {
        assert_eq!(bsd().map(|estimator| estimator.rto()), [Span::from_secs(6); 2]);
    }

    #[test]
    fn on_a_quiet_local_path_tahoe_waits_one_second_and_reno_one_and_a_half() {
        let mut learnt = Jacobson88::default();
        for _ in 0..100 {
            learnt.sample(Span::ZERO, TICK);
        }
        // The fixed point of the shifts: srtt and the deviation are just below one tick.
        assert_eq!((learnt.srtt, learnt.rttvar), (7, 3));
        assert_eq!([Deviations::Two, Deviations::Four].map(|n| learnt.rto_ticks(n)), [Some(2), Some(3)]);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let kind = Kind::Jacobson88 { tick: Span::ZERO, min_ticks: 0, max_ticks: u32::MAX };
        let mut estimator = Estimator::new(kind);
        for rtt in [Span::MAX, Span::ZERO, Span::MAX, Span::MAX, Span::MAX, Span::MAX, Span::ZERO] {
            estimator.sample(rtt);
            let _ = (estimator.rto(), estimator.srtt());
        }
    }
}
