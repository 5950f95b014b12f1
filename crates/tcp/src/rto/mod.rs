//! Retransmission timeout estimators: from round-trip samples to a timeout. One file per document.
//!
//! An estimator hears only what it may learn from. Karn's rule, backoff and the grain of the timer are the business of
//! `timers`; so the very same objects replay recorded delays.

mod factor;
mod fixed;
mod jacobson88;
mod linux;
mod rfc6298;
mod rfc793;
mod rfc889;
mod smooth;

pub use factor::Factor;
pub use fixed::Fixed;
pub use jacobson88::{Deviations, Jacobson88};
pub use linux::Linux;
pub use rfc793::Rfc793;
pub use rfc889::Rfc889;
pub use rfc6298::Rfc6298;

use crate::time::Span;

/// A retransmission timeout estimator.
pub trait RtoEstimator: core::fmt::Debug + Send {
    /// Takes in one round-trip time, of a segment that was sent only once.
    fn sample(&mut self, rtt: Span);
    /// The timeout for a first transmission, within the estimator's own bounds.
    fn rto(&self) -> Span;
    /// The smoothed round-trip time, once there is one.
    fn srtt(&self) -> Option<Span>;
    /// The largest timeout that backoff may reach.
    fn max(&self) -> Span;
    /// A round trip is over: what was in flight when the last one ended, or at the first sample, is acknowledged.
    /// To be called *after* the sample of that ACK. Only Linux listens; a replay of single delays calls it after each.
    fn round_trip_over(&mut self) {}
}

/// The choice of an estimator with its parameters. Spans of zero for a bound mean "none".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// RFC 793, section 3.7: SRTT = α·SRTT + (1−α)·RTT, RTO = min(UBOUND, max(LBOUND, β·SRTT)).
    Rfc793 {
        /// Smoothing factor: 0.8 … 0.9.
        alpha: Factor,
        /// Delay variance factor: 1.3 … 2.
        beta: Factor,
        /// LBOUND.
        min: Span,
        /// UBOUND.
        max: Span,
        /// Before the first sample.
        initial: Span,
    },
    /// RFC 889, Mills: E = F·E + (1−F)·R with F = F1 for R < E, else F2; T = G·E.
    Rfc889 {
        /// F1, used when the sample is below the estimate.
        f1: Factor,
        /// F2, used otherwise.
        f2: Factor,
        /// G.
        g: Factor,
        /// Lower bound.
        min: Span,
        /// Upper bound.
        max: Span,
        /// Timeout before the first sample.
        initial: Span,
    },
    /// Jacobson 1988, revised: mean plus *four* deviations, integer arithmetic in clock ticks. 4.3BSD-Reno and after.
    Jacobson88 {
        /// Length of a tick: 500 ms in BSD.
        tick: Span,
        /// Lower bound in ticks: 2 in BSD.
        min_ticks: u32,
        /// Upper bound in ticks: 128 in BSD.
        max_ticks: u32,
    },
    /// Jacobson 1988 as first printed, and 4.3BSD-Tahoe: the same with *two* deviations.
    Tahoe {
        /// Length of a tick: 500 ms in BSD.
        tick: Span,
        /// Lower bound in ticks: 2 in BSD.
        min_ticks: u32,
        /// Upper bound in ticks: 128 in BSD.
        max_ticks: u32,
    },
    /// RFC 6298.
    Rfc6298 {
        /// Lower bound: 1 s in the document.
        min: Span,
        /// Upper bound: at least 60 s.
        max: Span,
        /// Before the first sample: 1 s.
        initial: Span,
        /// Clock granularity G.
        granularity: Span,
    },
    /// Linux, `tcp_rtt_estimator`: mdev_max over a round trip, a floor under the variance, cautious decrease.
    Linux {
        /// TCP_RTO_MIN, the floor under the variance term: 200 ms.
        min: Span,
        /// TCP_RTO_MAX: 120 s.
        max: Span,
        /// TCP_TIMEOUT_INIT: 1 s.
        initial: Span,
    },
    /// Always the same.
    Fixed {
        /// The timeout.
        rto: Span,
    },
}

/// The built-in estimators, dispatched statically, and a place for the user's own.
#[derive(Debug)]
pub enum Rto {
    /// See [`Rfc793`].
    Rfc793(Rfc793),
    /// See [`Rfc889`].
    Rfc889(Rfc889),
    /// See [`Jacobson88`].
    Jacobson88(Jacobson88),
    /// See [`Rfc6298`].
    Rfc6298(Rfc6298),
    /// See [`Linux`].
    Linux(Linux),
    /// See [`Fixed`].
    Fixed(Fixed),
    /// The user's own.
    Custom(Box<dyn RtoEstimator>),
}

impl Rto {
    /// A new estimator that has not heard a sample yet.
    pub const fn new(kind: Kind) -> Self {
        match kind {
            Kind::Rfc793 { alpha, beta, min, max, initial } => {
                Self::Rfc793(Rfc793::new(alpha, beta, min, max, initial))
            }
            Kind::Rfc889 { f1, f2, g, min, max, initial } => {
                Self::Rfc889(Rfc889::new(f1, f2, g, initial).bounded(min, max))
            }
            Kind::Jacobson88 { tick, min_ticks, max_ticks } => {
                Self::Jacobson88(Jacobson88::new(tick, min_ticks, max_ticks, Deviations::Four))
            }
            Kind::Tahoe { tick, min_ticks, max_ticks } => {
                Self::Jacobson88(Jacobson88::new(tick, min_ticks, max_ticks, Deviations::Two))
            }
            Kind::Rfc6298 { min, max, initial, granularity } => {
                Self::Rfc6298(Rfc6298::new(min, max, initial, granularity))
            }
            Kind::Linux { min, max, initial } => Self::Linux(Linux::new(min, max, initial)),
            Kind::Fixed { rto } => Self::Fixed(Fixed::new(rto)),
        }
    }
}

impl RtoEstimator for Rto {
    #[inline]
    fn sample(&mut self, rtt: Span) {
        match self {
            Self::Rfc793(estimator) => estimator.sample(rtt),
            Self::Rfc889(estimator) => estimator.sample(rtt),
            Self::Jacobson88(estimator) => estimator.sample(rtt),
            Self::Rfc6298(estimator) => estimator.sample(rtt),
            Self::Linux(estimator) => estimator.sample(rtt),
            Self::Fixed(estimator) => estimator.sample(rtt),
            Self::Custom(estimator) => estimator.sample(rtt),
        }
    }

    #[inline]
    fn rto(&self) -> Span {
        match self {
            Self::Rfc793(estimator) => estimator.rto(),
            Self::Rfc889(estimator) => estimator.rto(),
            Self::Jacobson88(estimator) => estimator.rto(),
            Self::Rfc6298(estimator) => estimator.rto(),
            Self::Linux(estimator) => estimator.rto(),
            Self::Fixed(estimator) => estimator.rto(),
            Self::Custom(estimator) => estimator.rto(),
        }
    }

    #[inline]
    fn srtt(&self) -> Option<Span> {
        match self {
            Self::Rfc793(estimator) => estimator.srtt(),
            Self::Rfc889(estimator) => estimator.srtt(),
            Self::Jacobson88(estimator) => estimator.srtt(),
            Self::Rfc6298(estimator) => estimator.srtt(),
            Self::Linux(estimator) => estimator.srtt(),
            Self::Fixed(estimator) => estimator.srtt(),
            Self::Custom(estimator) => estimator.srtt(),
        }
    }

    #[inline]
    fn max(&self) -> Span {
        match self {
            Self::Rfc793(estimator) => estimator.max(),
            Self::Rfc889(estimator) => estimator.max(),
            Self::Jacobson88(estimator) => estimator.max(),
            Self::Rfc6298(estimator) => estimator.max(),
            Self::Linux(estimator) => estimator.max(),
            Self::Fixed(estimator) => estimator.max(),
            Self::Custom(estimator) => estimator.max(),
        }
    }

    #[inline]
    fn round_trip_over(&mut self) {
        match self {
            Self::Rfc793(estimator) => estimator.round_trip_over(),
            Self::Rfc889(estimator) => estimator.round_trip_over(),
            Self::Jacobson88(estimator) => estimator.round_trip_over(),
            Self::Rfc6298(estimator) => estimator.round_trip_over(),
            Self::Linux(estimator) => estimator.round_trip_over(),
            Self::Fixed(estimator) => estimator.round_trip_over(),
            Self::Custom(estimator) => estimator.round_trip_over(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimators_are_small() {
        for size in [
            size_of::<Rfc793>(),
            size_of::<Rfc889>(),
            size_of::<Jacobson88>(),
            size_of::<Rfc6298>(),
            size_of::<Linux>(),
            size_of::<Fixed>(),
        ] {
            assert!(size <= 48, "{size}");
        }
        assert!(size_of::<Rto>() <= 56, "{}", size_of::<Rto>());
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
            let mut rto = Rto::new(kind);
            assert_eq!((rto.rto(), rto.srtt(), rto.max()), (initial, None, max), "{kind:?}");
            rto.sample(second);
            rto.round_trip_over();
            assert_eq!((rto.rto(), rto.srtt()), (Span::from_secs(multiple), Some(second)), "{kind:?}");
        }
    }
}
