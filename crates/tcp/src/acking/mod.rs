//! When to acknowledge received data. Each policy is a file with its rule as a pure function.

mod delayed;
mod free_tick;

use crate::time::{Span, Time};

/// The choice of a delayed-ACK policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acking {
    /// Every segment at once.
    EverySegment,
    /// Every `every`-th segment at once, others after `delay` on a timer of the connection's own
    /// (RFC 9293, section 3.8.6.3; RFC 5681, section 4.2).
    Delayed {
        /// Segments with data that make an ACK due; 1 is every segment.
        every: u8,
        /// At most 500 ms (RFC 5681, section 4.2).
        delay: Span,
    },
    /// Every `every`-th segment at once, others at the next tick of a clock that runs freely (BSD: 200 ms).
    FreeTick {
        /// Segments with data that make an ACK due.
        every: u8,
        /// Length of a tick.
        period: Span,
        /// When the first tick falls, less than `period`.
        phase: Span,
    },
}

/// When the acknowledgment of a segment in order is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Now.
    Now,
    /// At this instant, unless one leaves before.
    At(Time),
}

impl Acking {
    /// When to acknowledge, `unacknowledged` segments with data having arrived in order since the last ACK.
    #[inline]
    pub fn due(self, now: Time, unacknowledged: u8) -> Due {
        match self {
            Self::EverySegment => Due::Now,
            Self::Delayed { every, delay } => delayed::due(now, unacknowledged, every, delay),
            Self::FreeTick { every, period, phase } => {
                free_tick::due(now, unacknowledged, every, period, phase)
            }
        }
    }
}
