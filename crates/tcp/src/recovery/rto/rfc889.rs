//! RFC 889 (D. Mills, 1983): an estimator that follows an increase of the RTT quickly and a decrease slowly.
//!
//! E = F·E + (1−F)·R, with F = F1 if R < E, else F2; T = G·E (RFC 889, sections 3 and 3.3). With F1 > F2 the estimate
//! follows a rise faster than a fall. The document's values are 15/16, 3/4 and 2. The first sample is E.

use super::Factor;
use super::smooth::{Mean, Ordering};
use crate::time::Span;

/// Updates E with a sample.
#[inline]
pub(super) fn sample(estimate: &mut Mean, rtt: Span, f1: Factor, f2: Factor) {
    estimate.update(rtt, |order| match order {
        Ordering::Below => f1,
        Ordering::NotBelow => f2,
    });
}

#[cfg(test)]
mod tests {
    use crate::recovery::rto::{Estimator, Factor, Kind, RtoEstimator};
    use crate::time::Span;

    /// F2 = 3/4 and G = 2, without bounds.
    fn rfc889(f1: Factor, initial: Span) -> Estimator {
        let (f2, g) = (Factor::ratio(3, 4), Factor::ratio(2, 1));
        Estimator::new(Kind::Rfc889 { f1, f2, g, min: Span::ZERO, max: Span::ZERO, initial })
    }

    #[test]
    fn rfc889_estimates_match_a_calculation_by_hand() {
        // F1 = 0.9, F2 = 0.75, G = 2, no bounds; round trips in ms, estimates in ns.
        let mut estimator = rfc889(Factor::ratio(9, 10), Span::from_secs(5));
        assert_eq!(estimator.rto(), Span::from_secs(5));
        let worked = [
            (1000, 1_000_000_000), // the first is E
            (1000, 1_000_000_000), // R = E: F2, which changes nothing
            (2000, 1_250_000_000), // 0.75 · 1 + 0.25 · 2
            (2000, 1_437_500_000),
            (400, 1_333_750_000), // 0.9 · 1.4375 + 0.1 · 0.4
            (400, 1_240_375_000),
            (5000, 2_180_281_250),
            (1000, 2_062_253_125),
            (1000, 1_956_027_812),
            (1000, 1_860_425_031),
        ];
        for (rtt, ns) in worked {
            estimator.sample(Span::from_ms(rtt));
            let got = estimator.srtt().map_or(0, Span::as_ps);
            assert_eq!(got / 1000, ns, "after {rtt} ms");
            assert_eq!(estimator.rto().as_ps(), 2 * got);
        }
    }

    #[test]
    fn it_rises_faster_than_it_falls() {
        let mut estimator = rfc889(Factor::ratio(15, 16), Span::from_secs(1));
        estimator.sample(Span::from_ms(100));
        estimator.sample(Span::from_ms(200));
        let risen = estimator.srtt().map_or(0, Span::as_ps) - 100_000_000_000;
        estimator.sample(Span::from_ms(25));
        let fallen = 100_000_000_000 + risen - estimator.srtt().map_or(0, Span::as_ps);
        assert!(risen > 3 * fallen, "{risen} up, {fallen} down");
    }

    #[test]
    fn with_the_documents_factors_the_estimate_is_exact() {
        // E in 1/1024 s, each step by hand: 15/16 on the way down, 3/4 on the way up.
        let tick = |n: u64| Span::from_ps(n * 1_000_000_000_000 / 1024);
        let mut estimator = rfc889(Factor::ratio(15, 16), Span::from_secs(1));
        for (sample, estimate) in [(1024, 1024), (0, 960), (0, 900), (1924, 1156), (2180, 1412)] {
            estimator.sample(tick(sample));
            let off = estimator.srtt().map_or(u64::MAX, |srtt| srtt.abs_diff(tick(estimate)).as_ps());
            // A sample of zero counts as 1 ps.
            assert!(off <= 4, "{estimator:?}, not {estimate}");
        }
    }
}
