//! An estimator as a replay uses it. The one place here that knows how `netspurt_tcp::rto` is spoken to.

use netspurt_tcp::rto::{Estimator, Kind, RtoEstimator};
use netspurt_tcp::time::Span;

/// How often a timeout doubles at most, as in a connection.
const MOST_DOUBLINGS: u32 = 20;

/// An estimator of a type known where it is used, so that nothing is asked about its kind from sample to sample.
#[derive(Debug)]
pub(super) struct Timer<E> {
    estimator: E,
}

impl<E: RtoEstimator> Timer<E> {
    /// The timeout for the next packet, if nothing has been backed off.
    #[inline]
    pub(super) fn rto(&self) -> Span {
        self.estimator.rto()
    }

    /// The timeout after so many doublings, up to the estimator's bound (RFC 6298, section 5.5).
    pub(super) fn backed_off(&self, doublings: u32) -> Span {
        let base = self.rto();
        if doublings == 0 {
            return base;
        }
        base.saturating_mul(1 << doublings.min(MOST_DOUBLINGS)).min(self.estimator.max().max(base))
    }

    /// A round trip was measured; it was the only one under way.
    #[inline]
    pub(super) fn hear(&mut self, rtt: Span) {
        self.estimator.sample(rtt);
        self.estimator.round_trip_over();
    }
}

/// What is to be done with timers of one type, whichever it is.
pub(super) trait Visitor {
    type Out;
    fn visit<E: RtoEstimator>(self, timers: Vec<Timer<E>>) -> Self::Out;
}

/// Makes the timers of `kinds` and shows them to `visitor`.
pub(super) fn with_timers<V: Visitor>(kinds: &[Kind], visitor: V) -> V::Out {
    visitor.visit(kinds.iter().map(|&kind| Timer { estimator: Estimator::new(kind) }).collect())
}

/// Whether timers of the two kinds have the same type.
pub(super) fn alike(one: Kind, other: Kind) -> bool {
    core::mem::discriminant(&one) == core::mem::discriminant(&other)
}
