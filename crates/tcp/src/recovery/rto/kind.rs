//! The choice of an estimator of the retransmission timeout.

use super::Factor;
use crate::time::Span;

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
    /// Linux, `tcp_rtt_estimator`: mdev_max over a round trip, a lower bound of the variance, a slow decrease.
    Linux {
        /// TCP_RTO_MIN, the lower bound of the variance term: 200 ms.
        min: Span,
        /// TCP_RTO_MAX: 120 s.
        max: Span,
        /// TCP_TIMEOUT_INIT: 1 s.
        initial: Span,
    },
    /// A constant timeout without backoff. It is a reference for the others, and the method of hosts in RFC 889's time
    /// that could not measure the RTT.
    Fixed {
        /// The timeout.
        rto: Span,
    },
}
