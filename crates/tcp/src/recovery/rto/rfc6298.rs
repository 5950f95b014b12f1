//! RFC 6298: the RTO of the present standard.

use crate::time::Span;

/// RTO = SRTT + max(G, 4·RTTVAR), α = 1/8, β = 1/4 (RFC 6298, section 2).
///
/// In picoseconds; SRTT is kept in eighths and RTTVAR in quarters, so that the means have no rounding error. Backoff,
/// and the 3 s after a lost SYN (section 5), are not part of the estimator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rfc6298 {
    /// SRTT in 1/8 ps.
    srtt: u64,
    /// RTTVAR in 1/4 ps: that is, 4·RTTVAR in ps. `u64::MAX`: no sample yet.
    rttvar: u64,
}

/// The largest RTT sample, 13 days: eight times it fits into 64 bits.
const LONGEST: u64 = 1 << 60;

impl Rfc6298 {
    /// No sample yet.
    pub(super) const NONE: Self = Self { srtt: 0, rttvar: u64::MAX };

    const fn is_fresh(&self) -> bool {
        self.rttvar == u64::MAX
    }

    #[inline]
    pub(super) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.as_ps().min(LONGEST);
        if self.is_fresh() {
            // Rule 2.2: SRTT = R, RTTVAR = R/2.
            (self.srtt, self.rttvar) = (rtt << 3, rtt << 1);
        } else {
            // Rule 2.3: RTTVAR first, from the SRTT before this sample.
            let mean = self.srtt >> 3;
            self.rttvar = self.rttvar - (self.rttvar >> 2) + rtt.abs_diff(mean);
            self.srtt = self.srtt - mean + rtt;
        }
    }

    /// The timeout before rules 2.4 and 2.5 bound it; `granularity` is the clock's, G.
    #[inline]
    pub(super) fn rto(&self, granularity: Span) -> Option<Span> {
        Some(self.srtt()? + granularity.max(Span::from_ps(self.rttvar)))
    }

    #[inline]
    /// RTTVAR.
    pub(super) fn deviation(&self) -> Option<Span> {
        self.srtt().map(|_| Span::from_ps(self.rttvar >> 2))
    }

    pub(super) fn srtt(&self) -> Option<Span> {
        (!self.is_fresh()).then(|| Span::from_ps(self.srtt >> 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::rto::{Estimator, Kind, RtoEstimator};

    fn rfc6298(min: Span, max: Span, initial: Span, granularity: Span) -> Estimator {
        Estimator::new(Kind::Rfc6298 { min, max, initial, granularity })
    }

    #[test]
    fn rfc6298_estimates_match_a_calculation_by_hand() {
        // Round trips in ms; SRTT and SRTT + 4·RTTVAR in ns, worked out with fractions. Without a lower bound, to show
        // the formula.
        let mut estimator = rfc6298(Span::ZERO, Span::from_secs(60), Span::from_secs(1), Span::from_us(1));
        assert_eq!((estimator.rto(), estimator.srtt()), (Span::from_secs(1), None));
        let worked = [
            (100, 100_000_000, 300_000_000),   // RTTVAR 50
            (100, 100_000_000, 250_000_000),   // RTTVAR 37.5
            (180, 110_000_000, 302_500_000),   // RTTVAR 28.125 + 20 = 48.125
            (110, 110_000_000, 254_375_000),   // RTTVAR 36.09375
            (30, 100_000_000, 288_281_250),    // RTTVAR 27.0703125 + 20
            (100, 100_000_000, 241_210_937),   // RTTVAR 35.302734375
            (100, 100_000_000, 205_908_203),   // RTTVAR 26.47705078125
            (900, 200_000_000, 1_079_431_152), // RTTVAR 19.8577880859375 + 200
            (200, 200_000_000, 859_573_364),   // RTTVAR 164.893341064453125
            (200, 200_000_000, 694_680_023),   // RTTVAR 123.67000579833984375
        ];
        for (rtt, srtt, rto) in worked {
            estimator.sample(Span::from_ms(rtt));
            assert_eq!(estimator.srtt().map(|srtt| srtt.as_ps() / 1000), Some(srtt), "after {rtt}");
            assert_eq!(estimator.rto().as_ps() / 1000, rto, "after {rtt}");
        }
    }

    #[test]
    fn on_a_constant_path_the_rto_converges_to_the_mean_plus_the_granularity() {
        let (rtt, grain) = (Span::from_us(77), Span::from_us(10));
        let mut estimator = rfc6298(Span::ZERO, Span::ZERO, Span::from_secs(1), grain);
        for _ in 0..200 {
            estimator.sample(rtt);
        }
        assert_eq!((estimator.srtt(), estimator.rto()), (Some(rtt), rtt + grain));
    }

    #[test]
    fn the_lower_bound_of_one_second_applies() {
        let second = Span::from_secs(1);
        let mut estimator = rfc6298(second, Span::from_secs(60), second, Span::ZERO);
        estimator.sample(Span::from_ms(10));
        assert_eq!(estimator.rto(), second);
        estimator.sample(Span::from_secs(300));
        assert_eq!(estimator.rto(), Span::from_secs(60));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut estimator = rfc6298(Span::ZERO, Span::ZERO, Span::ZERO, Span::ZERO);
        for rtt in [Span::MAX, Span::ZERO, Span::MAX, Span::MAX, Span::ZERO, Span::ZERO] {
            estimator.sample(rtt);
            assert!(estimator.rto() >= estimator.srtt().unwrap_or(Span::MAX));
        }
    }
}
