//! The lower and upper bounds of an RTO, which every estimator has.

use super::kind::Kind;
use crate::time::Span;

/// The bounds of a timeout, and the timeout before the first sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    min: Span,
    pub(super) max: Span,
    initial: Span,
}

impl Bounds {
    /// An upper bound of zero means none.
    pub(super) const fn new(min: Span, max: Span, initial: Span) -> Self {
        let max = if max.as_ps() == 0 { Span::MAX } else { max };
        Self { min, max, initial }
    }

    /// The bounds in the parameters of an estimator.
    #[inline]
    pub(super) fn of(kind: &Kind) -> Self {
        match *kind {
            Kind::Rfc793 { min, max, initial, .. }
            | Kind::Rfc889 { min, max, initial, .. }
            | Kind::Rfc6298 { min, max, initial, .. } => Self::new(min, max, initial),
            // The lower bound applies to the variance term, not to the RTO.
            Kind::Linux { max, initial, .. } => Self::new(Span::ZERO, max, initial),
            Kind::Jacobson88 { tick, min_ticks, max_ticks } | Kind::Tahoe { tick, min_ticks, max_ticks } => {
                let ticks = |n: u32| tick.saturating_mul(u64::from(n));
                Self::new(ticks(min_ticks), ticks(max_ticks), ticks(super::jacobson88::INITIAL_TICKS))
            }
            Kind::Fixed { rto } => Self::new(rto, rto, rto),
        }
    }

    /// Limits `computed`, or the initial timeout, to the bounds. The upper bound has priority.
    #[inline]
    pub(super) fn apply(&self, computed: Option<Span>) -> Span {
        computed.unwrap_or(self.initial).max(self.min).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_upper_bound_is_no_bound() {
        let bounds = Bounds::new(Span::ZERO, Span::ZERO, Span::from_secs(1));
        assert_eq!(bounds.apply(None), Span::from_secs(1));
        assert_eq!(bounds.apply(Some(Span::from_secs(5000))), Span::from_secs(5000));
        assert_eq!(bounds.max, Span::MAX);
    }

    #[test]
    fn even_the_initial_timeout_is_bounded() {
        let bounds = Bounds::new(Span::from_ms(200), Span::from_secs(1), Span::from_secs(3));
        assert_eq!(bounds.apply(None), Span::from_secs(1));
        assert_eq!(bounds.apply(Some(Span::from_ms(5))), Span::from_ms(200));
    }
}
