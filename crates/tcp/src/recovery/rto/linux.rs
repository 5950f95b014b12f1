//! The retransmission timeout of Linux, as its `tcp_rtt_estimator` has computed it since 2.4.
//!
//! Described in P. Sarolahti and A. Kuznetsov, "Congestion Control in Linux TCP", USENIX 2002, section 4.

use crate::time::Span;

/// RFC 6298 with three changes, in microseconds:
///
/// * a *shorter* RTT raises the deviation only by an eighth of the usual gain;
/// * the variance term is the largest deviation in a round trip, and decreases by a quarter of the difference at the
///   end of a round trip ([`super::RtoEstimator::round_trip_over`]);
/// * the lower bound of 200 ms applies to the variance term, not to the RTO.
///
/// Linux then rounds to jiffies. Here the estimator does not handle the granularity of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Linux {
    /// Eighths of a microsecond; 0: no sample yet.
    srtt: u32,
    /// Quarters of a microsecond.
    mdev: u32,
    mdev_max: u32,
    rttvar: u32,
    round: Round,
}

/// Whether the end of a round trip can be detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Round {
    /// There is one sample, which starts the first round.
    #[default]
    Begins,
    /// At least two samples.
    Runs,
}

/// The largest RTT sample, 268 s: eight times it fits into 32 bits.
const LONGEST_US: u64 = (1 << 28) - 1;

const fn micros(span: Span) -> u32 {
    let us = span.as_ps() / 1_000_000;
    if us > LONGEST_US { LONGEST_US as u32 } else { us as u32 }
}

impl Linux {
    fn first(&mut self, rtt: u32, floor: u32) {
        self.srtt = (rtt << 3).max(1);
        self.mdev = rtt << 1;
        self.rttvar = self.mdev.max(floor);
        self.mdev_max = self.rttvar;
        self.round = Round::Begins;
    }

    /// `min` is TCP_RTO_MIN, the lower bound of the variance term.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Span, min: Span) {
        let rtt = micros(rtt);
        if self.srtt == 0 {
            return self.first(rtt, micros(min));
        }
        let mean = self.srtt >> 3;
        self.srtt = (self.srtt - mean + rtt).max(1);
        let old = self.mdev >> 2;
        let error = rtt.abs_diff(mean);
        if rtt < mean && error > old {
            self.mdev += (error - old) >> 3;
        } else {
            self.mdev = self.mdev - old + error;
        }
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        self.round = Round::Runs;
    }

    /// The timeout before the bounds apply.
    #[inline]
    pub(super) fn rto(&self) -> Option<Span> {
        let us = u64::from(self.srtt >> 3) + u64::from(self.rttvar);
        (self.srtt > 0).then(|| Span::from_us(us))
    }

    #[inline]
    pub(super) fn srtt(&self) -> Option<Span> {
        // An eighth of a microsecond has 125,000 picoseconds.
        (self.srtt > 0).then(|| Span::from_ps(u64::from(self.srtt) * 125_000))
    }

    /// The mean deviation (`mdev_us`), which TCP_INFO reports as tcpi_rttvar.
    pub(super) fn deviation(&self) -> Option<Span> {
        (self.srtt > 0).then(|| Span::from_us(u64::from(self.mdev >> 2)))
    }

    #[inline]
    pub(super) fn round_trip_over(&mut self, min: Span) {
        if self.round == Round::Runs {
            self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) >> 2;
            self.mdev_max = micros(min);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Span = Span::from_ms(200);

    #[test]
    fn linux_estimates_match_a_calculation_by_hand() {
        // One sample in a round trip. (RTT in ms, srtt in us, mdev in us (in quarters: x4), rttvar in us), by hand.
        let worked = [
            (100, 100_000, 200_000, 200_000),
            (100, 100_000, 150_000, 200_000), // mdev falls by a quarter; the floor holds
            (500, 150_000, 512_500, 512_500), // error 400: 150 - 37.5 + 400
            (150, 150_000, 384_375, 480_469), // error 0; rttvar falls by a quarter of 128.125
            (50, 137_500, 384_863, 456_568),  // shorter: (100,000 - 96,093) / 8 = 488 only
            (130, 136_562, 296_148, 416_463), // shorter by less than the deviation: 384,863 - 96,215 + 7,500
            (136, 136_492, 222_673, 368_016), // 296,148 - 74,037 + 562
            (136, 136_430, 167_497, 326_012), // 222,673 - 55,668 + 492; from here the floor of 200 ms pulls
            (136, 136_377, 126_053, 294_509), // 167,497 - 41,874 + 430
            (136, 136_329, 94_917, 270_882),  // 126,053 - 31,513 + 377
        ];
        let mut estimator = Linux::default();
        assert_eq!((estimator.rto(), estimator.srtt()), (None, None));
        for (rtt, srtt, mdev, rttvar) in worked {
            estimator.sample(Span::from_ms(rtt), FLOOR);
            estimator.round_trip_over(FLOOR);
            assert_eq!(
                (estimator.srtt >> 3, estimator.mdev, estimator.rttvar),
                (srtt, mdev, rttvar),
                "{rtt}"
            );
            assert_eq!(estimator.rto(), Some(Span::from_us(u64::from(srtt + rttvar))));
        }
    }

    #[test]
    fn within_a_round_trip_the_variance_only_rises() {
        let mut estimator = Linux::default();
        estimator.sample(Span::from_ms(1000), FLOOR);
        estimator.sample(Span::from_ms(3000), FLOOR);
        let high = estimator.rttvar;
        for _ in 0..50 {
            estimator.sample(Span::from_ms(1250), FLOOR);
            assert_eq!(estimator.rttvar, high);
        }
        estimator.round_trip_over(FLOOR);
        assert_eq!(estimator.rttvar, high, "the largest deviation was in this round trip");
        estimator.sample(Span::from_ms(1250), FLOOR);
        estimator.round_trip_over(FLOOR);
        assert!(estimator.rttvar < high);
    }

    #[test]
    fn the_lower_bound_applies_to_the_variance_term() {
        let mut estimator = Linux::default();
        for _ in 0..500 {
            estimator.sample(Span::from_us(80), FLOOR);
            estimator.round_trip_over(FLOOR);
        }
        let rto = estimator.rto().map_or(0, Span::as_ps) / 1_000_000;
        assert!((200_080..=200_085).contains(&rto), "{rto} us");
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut estimator = Linux::default();
        for rtt in [Span::MAX, Span::ZERO, Span::MAX, Span::MAX, Span::ZERO, Span::ZERO] {
            for _ in 0..40 {
                estimator.sample(rtt, Span::MAX);
            }
            estimator.round_trip_over(Span::MAX);
            assert!(estimator.rto() > Some(Span::ZERO) && estimator.srtt().is_some());
        }
    }
}
