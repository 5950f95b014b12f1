//! Retransmission timeout estimators: from round-trip samples to a timeout. One file per document.
//!
//! An estimator hears only what it may learn from. Karn's rule, backoff and the grain of the timer are the business of
//! [`crate::timers`]; so the very same objects replay recorded delays.

mod fixed;
mod jacobson88;
mod linux;
mod rfc6298;
mod rfc793;
mod rfc889;

pub use fixed::Fixed;
pub use jacobson88::Jacobson88;
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
}

/// The choice of an estimator with its parameters. Spans of zero for a bound mean "none".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// RFC 793, section 3.7: SRTT = α·SRTT + (1−α)·RTT, RTO = min(UBOUND, max(LBOUND, β·SRTT)).
    /// α and β in thousandths.
    Rfc793 {
        /// Smoothing factor × 1000: 800 … 900.
        alpha_milli: u32,
        /// Delay variance factor × 1000: 1300 … 2000.
        beta_milli: u32,
        /// LBOUND.
        min: Span,
        /// UBOUND.
        max: Span,
        /// Before the first sample.
        initial: Span,
    },
    /// RFC 889, Mills: E = F·E + (1−F)·R with F = F1 for R < E, else F2; T = G·E. Factors in thousandths.
    Rfc889 {
        /// F1 × 1000, used when the sample is below the estimate.
        f1_milli: u32,
        /// F2 × 1000, used otherwise.
        f2_milli: u32,
        /// G × 1000.
        g_milli: u32,
        /// Lower bound.
        min: Span,
        /// Upper bound.
        max: Span,
        /// Timeout before the first sample.
        initial: Span,
    },
    /// Jacobson 1988 as in 4.3BSD-Tahoe: integer arithmetic in clock ticks.
    Jacobson88 {
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
