//! A timeout that never changes.

use super::RtoEstimator;
use crate::time::Span;

/// Always the same timeout, whatever was measured; backoff does not raise it either ([`RtoEstimator::max`] is the
/// timeout itself). A yardstick for the others, and what the host of RFC 889's day did that could not measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixed {
    rto: Span,
}

impl Fixed {
    /// With this timeout.
    pub const fn new(rto: Span) -> Self {
        Self { rto }
    }
}

impl RtoEstimator for Fixed {
    #[inline]
    fn sample(&mut self, _rtt: Span) {}

    #[inline]
    fn rto(&self) -> Span {
        self.rto
    }

    fn srtt(&self) -> Option<Span> {
        None
    }

    fn max(&self) -> Span {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_do_not_move_it() {
        let mut estimator = Fixed::new(Span::from_secs(3));
        for ms in [1, 10_000, 500, 20, 20, 20, 4000, 1, 1, 1] {
            estimator.sample(Span::from_ms(ms));
            assert_eq!((estimator.rto(), estimator.max()), (Span::from_secs(3), Span::from_secs(3)));
        }
    }
}
