//! RTO estimators: from RTT samples to a timeout. One file per document.
//!
//! An estimator receives only valid samples. `timers` implements Karn's rule, backoff and the granularity of the timer.
//! Therefore the same code can replay recorded delays ([`Estimator`]).
//!
//! The state of an estimator is separate from its parameters. A [`Kind`] holds the parameters, which all connections
//! with one configuration share.

mod bounds;
mod factor;
mod jacobson88;
mod kind;
mod linux;
mod rfc6298;
mod rfc793;
mod rfc889;
mod smooth;

pub use factor::Factor;

pub use kind::Kind;

use crate::time::Span;
use bounds::Bounds;
use jacobson88::{Deviations, Jacobson88};
use linux::Linux;
use rfc6298::Rfc6298;
use smooth::Mean;

/// A retransmission timeout estimator.
pub trait RtoEstimator: core::fmt::Debug + Send {
    /// Processes one RTT sample, of a segment that was sent only once.
    fn sample(&mut self, rtt: Span);
    /// The timeout for a first transmission, within the estimator's own bounds.
    fn rto(&self) -> Span;
    /// The smoothed RTT, if there is a sample.
    fn srtt(&self) -> Option<Span>;
    /// The largest timeout that backoff may reach.
    fn max(&self) -> Span;
    /// A round trip has ended: all data in flight at the end of the last one, or at the first sample, is acknowledged.
    /// Call it *after* the sample of that ACK. Only the Linux estimator uses it. A replay of single delays calls it
    /// after each.
    fn round_trip_over(&mut self) {}
}

/// The state of an estimator, or a user-defined estimator. The parameters are an argument: always those of the [`Kind`]
/// for which it was created.
#[derive(Debug)]
pub(crate) enum Rto {
    /// RFC 793 and RFC 889.
    Mean(Mean),
    Jacobson88(Jacobson88),
    Rfc6298(Rfc6298),
    Linux(Linux),
    Fixed,
    Custom(Box<dyn RtoEstimator>),
}

impl Rto {
    /// The initial state.
    pub(crate) fn new(kind: &Kind) -> Self {
        match kind {
            Kind::Rfc793 { .. } | Kind::Rfc889 { .. } => Self::Mean(Mean::default()),
            Kind::Jacobson88 { .. } | Kind::Tahoe { .. } => Self::Jacobson88(Jacobson88::default()),
            Kind::Rfc6298 { .. } => Self::Rfc6298(Rfc6298::NONE),
            Kind::Linux { .. } => Self::Linux(Linux::default()),
            Kind::Fixed { .. } => Self::Fixed,
        }
    }

    /// See [`RtoEstimator::sample`].
    pub(crate) fn sample(&mut self, kind: &Kind, rtt: Span) {
        match (self, *kind) {
            (Self::Mean(srtt), Kind::Rfc793 { alpha, .. }) => rfc793::sample(srtt, rtt, alpha),
            (Self::Mean(e), Kind::Rfc889 { f1, f2, .. }) => {
                rfc889::sample(e, rtt, f1, f2);
            }
            (Self::Jacobson88(learnt), Kind::Jacobson88 { tick, .. } | Kind::Tahoe { tick, .. }) => {
                learnt.sample(rtt, tick);
            }
            (Self::Rfc6298(learnt), _) => learnt.sample(rtt),
            (Self::Linux(learnt), Kind::Linux { min, .. }) => learnt.sample(rtt, min),
            (Self::Custom(own), _) => own.sample(rtt),
            _ => {}
        }
    }

    /// A sample, and the timeout after it. This is one step for the estimator that has a sample with every ACK.
    #[inline(always)]
    pub(crate) fn learn(&mut self, kind: &Kind, rtt: Span) -> Span {
        if let (Self::Linux(learnt), Kind::Linux { min, .. }) = (&mut *self, kind) {
            let bounds = Bounds::of(kind);
            learnt.sample(rtt, *min);
            return bounds.apply(learnt.rto());
        }
        self.learn_otherwise(kind, rtt)
    }

    /// [`Self::learn`] of any estimator.
    #[inline(never)]
    fn learn_otherwise(&mut self, kind: &Kind, rtt: Span) -> Span {
        self.sample(kind, rtt);
        self.rto(kind)
    }

    /// [`Self::learn`] of a sample with which a round trip ends.
    pub(crate) fn learn_at_round_end(&mut self, kind: &Kind, rtt: Span) -> Span {
        self.sample(kind, rtt);
        self.round_trip_over(kind);
        self.rto(kind)
    }

    /// See [`RtoEstimator::rto`].
    pub(crate) fn rto(&self, kind: &Kind) -> Span {
        let computed = match (self, *kind) {
            (Self::Mean(srtt), Kind::Rfc793 { beta, .. }) => srtt.times(beta),
            (Self::Mean(e), Kind::Rfc889 { g, .. }) => e.times(g),
            (Self::Jacobson88(learnt), Kind::Jacobson88 { tick, .. }) => {
                learnt.rto_ticks(Deviations::Four).map(|n| tick.saturating_mul(u64::from(n)))
            }
            (Self::Jacobson88(learnt), Kind::Tahoe { tick, .. }) => {
                learnt.rto_ticks(Deviations::Two).map(|n| tick.saturating_mul(u64::from(n)))
            }
            (Self::Rfc6298(learnt), Kind::Rfc6298 { granularity, .. }) => learnt.rto(granularity),
            (Self::Linux(learnt), _) => learnt.rto(),
            (Self::Custom(own), _) => return own.rto(),
            _ => None,
        };
        Bounds::of(kind).apply(computed)
    }

    /// See [`RtoEstimator::srtt`].
    #[inline]
    pub(crate) fn srtt(&self, kind: &Kind) -> Option<Span> {
        if let Self::Linux(learnt) = self { learnt.srtt() } else { self.srtt_otherwise(kind) }
    }

    /// [`Self::srtt`] of an estimator that has no sample with every ACK.
    fn srtt_otherwise(&self, kind: &Kind) -> Option<Span> {
        match (self, *kind) {
            (Self::Mean(mean), _) => mean.get(),
            (Self::Jacobson88(learnt), Kind::Jacobson88 { tick, .. } | Kind::Tahoe { tick, .. }) => {
                learnt.srtt(tick)
            }
            (Self::Rfc6298(learnt), _) => learnt.srtt(),
            (Self::Custom(own), _) => own.srtt(),
            _ => None,
        }
    }

    /// The mean deviation of the RTT, if the estimator has one and there is a sample.
    pub(crate) fn deviation(&self) -> Option<Span> {
        match self {
            Self::Rfc6298(learnt) => learnt.deviation(),
            Self::Linux(learnt) => learnt.deviation(),
            _ => None,
        }
    }

    /// See [`RtoEstimator::max`].
    pub(crate) fn max(&self, kind: &Kind) -> Span {
        if let Self::Custom(own) = self { own.max() } else { Bounds::of(kind).max }
    }

    /// See [`RtoEstimator::round_trip_over`].
    pub(crate) fn round_trip_over(&mut self, kind: &Kind) {
        match (self, *kind) {
            (Self::Linux(learnt), Kind::Linux { min, .. }) => learnt.round_trip_over(min),
            (Self::Custom(own), _) => own.round_trip_over(),
            _ => {}
        }
    }
}

/// A built-in estimator without a connection, to replay recorded delays.
#[derive(Debug)]
pub struct Estimator {
    kind: Kind,
    learnt: Rto,
}

impl Estimator {
    /// An estimator without samples.
    pub fn new(kind: Kind) -> Self {
        Self { kind, learnt: Rto::new(&kind) }
    }
}

impl RtoEstimator for Estimator {
    fn sample(&mut self, rtt: Span) {
        self.learnt.sample(&self.kind, rtt);
    }

    fn rto(&self) -> Span {
        self.learnt.rto(&self.kind)
    }

    fn srtt(&self) -> Option<Span> {
        self.learnt.srtt(&self.kind)
    }

    fn max(&self) -> Span {
        self.learnt.max(&self.kind)
    }

    fn round_trip_over(&mut self) {
        self.learnt.round_trip_over(&self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_an_estimator_is_small() {
        assert!(size_of::<Rto>() <= 24, "{}", size_of::<Rto>());
    }

    #[test]
    fn samples_do_not_move_a_fixed_timeout() {
        let mut estimator = Estimator::new(Kind::Fixed { rto: Span::from_secs(3) });
        for ms in [1, 10_000, 500, 20, 20, 20, 4000, 1, 1, 1] {
            estimator.sample(Span::from_ms(ms));
            assert_eq!((estimator.rto(), estimator.max()), (Span::from_secs(3), Span::from_secs(3)));
        }
    }

    #[test]
    fn each_kind_starts_with_its_initial_timeout_and_then_follows_its_samples() {
        let second = Span::from_secs(1);
        let (min, max, initial) = (Span::ZERO, Span::from_secs(60), Span::from_secs(3));
        let double = Factor::ratio(2, 1);
        let kinds = [
            Kind::Rfc793 { alpha: Factor::ratio(7, 8), beta: double, min, max, initial },
            Kind::Rfc889 { f1: Factor::ratio(15, 16), f2: Factor::ratio(3, 4), g: double, min, max, initial },
            Kind::Rfc6298 { min, max, initial, granularity: Span::ZERO },
            Kind::Linux { min, max, initial },
        ];
        for (kind, multiple) in kinds.into_iter().zip([2, 2, 3, 3]) {
            let mut rto = Estimator::new(kind);
            assert_eq!((rto.rto(), rto.srtt(), rto.max()), (initial, None, max), "{kind:?}");
            let mut beside = Rto::new(&kind);
            let learnt = beside.learn(&kind, second);
            rto.sample(second);
            assert_eq!(learnt, rto.rto(), "{kind:?}: both in one step");
            rto.round_trip_over();
            assert_eq!((rto.rto(), rto.srtt()), (Span::from_secs(multiple), Some(second)), "{kind:?}");
        }
    }
}
