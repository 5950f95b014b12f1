//! An estimator in a replay. Only this file uses `netspurt_tcp::rto`.

use netspurt_tcp::rto::{Estimator, Kind, RtoEstimator};
use netspurt_tcp::time::Span;

/// Maximum number of doublings, as in a connection.
const MOST_DOUBLINGS: u32 = 20;

/// An estimator with a static type, so that there is no dispatch per sample.
#[derive(Debug)]
pub(super) struct Timer<E> {
    estimator: E,
}

impl<E: RtoEstimator> Timer<E> {
    /// The timeout for the next packet, without backoff.
    #[inline]
    pub(super) fn rto(&self) -> Span {
        self.estimator.rto()
    }

    /// The timeout after this number of doublings, up to the estimator's maximum (RFC 6298, section 5.5).
    pub(super) fn backed_off(&self, doublings: u32) -> Span {
        let base = self.rto();
        if doublings == 0 {
            return base;
        }
        base.saturating_mul(1 << doublings.min(MOST_DOUBLINGS)).min(self.estimator.max().max(base))
    }

    /// Adds an RTT sample; only one packet was in flight.
    #[inline]
    pub(super) fn process(&mut self, rtt: Span) {
        self.estimator.sample(rtt);
        self.estimator.round_trip_over();
    }
}

/// An operation on timers of one static type.
pub(super) trait Visitor {
    type Out;
    fn visit<E: RtoEstimator>(self, timers: Vec<Timer<E>>) -> Self::Out;
}

/// Creates the timers of `kinds` and passes them to `visitor`.
pub(super) fn with_timers<V: Visitor>(kinds: &[Kind], visitor: V) -> V::Out {
    visitor.visit(kinds.iter().map(|&kind| Timer { estimator: Estimator::new(kind) }).collect())
}

/// Whether timers of the two kinds have the same type.
pub(super) fn alike(one: Kind, other: Kind) -> bool {
    core::mem::discriminant(&one) == core::mem::discriminant(&other)
}
