//! When to acknowledge received data.

use crate::time::Span;

/// The choice of a delayed-ACK policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acking {
    /// Every segment at once.
    EverySegment,
    /// Every `n`-th segment at once, others after `delay` on a timer of the connection's own
    /// (RFC 9293, section 3.8.6.3; RFC 5681, section 4.2).
    Delayed {
        /// Full segments that make an ACK due.
        every: u8,
        /// At most 500 ms (RFC 9293, MUST-59).
        delay: Span,
    },
    /// Every `n`-th segment at once, others at the next tick of a clock that runs freely (BSD: 200 ms).
    FreeTick {
        /// Full segments that make an ACK due.
        every: u8,
        /// Length of a tick.
        period: Span,
        /// When the first tick falls, less than `period`.
        phase: Span,
    },
}
