//! RFC 889 (D. Mills, 1983): an estimator that is quick to learn of congestion and slow to forget it.

use super::Factor;
use super::RtoEstimator;
use super::smooth::{Bounds, Mean, Ordering};
use crate::time::Span;

/// E = F·E + (1−F)·R, with F = F1 if R < E, else F2; T = G·E (RFC 889, sections 3 and 3.3).
///
/// With F1 > F2 the estimate follows a rise faster than a fall. The document's values are 15/16, 3/4 and 2. The
/// first sample is E.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rfc889 {
    estimate: Mean,
    bounds: Bounds,
    f1: Factor,
    f2: Factor,
    g: Factor,
}

impl Rfc889 {
    /// The factors F1, F2, G; the bounds are given apart, see [`Rfc889::bounded`].
    pub const fn new(f1: Factor, f2: Factor, g: Factor, initial: Span) -> Self {
        let bounds = Bounds::new(Span::ZERO, Span::ZERO, initial);
        Self { estimate: Mean::NONE, bounds, f1, f2, g }
    }

    /// The same with the timeout, the initial one too, between `min` and `max` (zero: none).
    pub const fn bounded(self, min: Span, max: Span) -> Self {
        Self { bounds: self.bounds.between(min, max), ..self }
    }
}

impl RtoEstimator for Rfc889 {
    #[inline]
    fn sample(&mut self, rtt: Span) {
        self.estimate.update(rtt, |order| match order {
            Ordering::Below => self.f1,
            Ordering::NotBelow => self.f2,
        });
    }

    #[inline]
    fn rto(&self) -> Span {
        self.bounds.apply(self.estimate.times(self.g))
    }

    fn srtt(&self) -> Option<Span> {
        self.estimate.get()
    }

    fn max(&self) -> Span {
        self.bounds.max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document's values.
    fn document(initial: Span) -> Rfc889 {
        Rfc889::new(Factor::ratio(15, 16), Factor::ratio(3, 4), Factor::ratio(2, 1), initial)
    }

    #[test]
    fn a_worked_example() {
        // F1 = 0.9, F2 = 0.75, G = 2, no bounds; round trips in ms, estimates in ns.
        let (f1, f2, g) = (Factor::ratio(9, 10), Factor::ratio(3, 4), Factor::ratio(2, 1));
        let mut estimator = Rfc889::new(f1, f2, g, Span::from_secs(5));
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
        let mut estimator = document(Span::from_secs(1));
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
        let mut estimator = document(Span::from_secs(1));
        for (sample, estimate) in [(1024, 1024), (0, 960), (0, 900), (1924, 1156), (2180, 1412)] {
            estimator.sample(tick(sample));
            let off = estimator.srtt().map_or(u64::MAX, |srtt| srtt.abs_diff(tick(estimate)).as_ps());
            // A sample of nothing counts as 1 ps.
            assert!(off <= 4, "{estimator:?}, not {estimate}");
        }
    }
}
