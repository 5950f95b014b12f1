//! The delayed ACK of BSD: one clock for all connections ticks every 200 ms, and delayed ACKs are sent at the next
//! tick.

use super::Due;
use crate::time::{Span, Time};

/// Every `every`-th segment now, the others at the next tick.
pub(super) fn due(now: Time, unacknowledged: u8, every: u8, period: Span, phase: Span) -> Due {
    if unacknowledged >= every { Due::Now } else { Due::At(next(now, period, phase)) }
}

/// The first tick after `now`.
pub(super) fn next(now: Time, period: Span, phase: Span) -> Time {
    let (now, period, phase) = (now.as_ps(), period.as_ps(), phase.as_ps());
    let ticks = if now < phase { 0 } else { (now - phase) / period + 1 };
    Time::from_ps(phase + ticks * period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_ack_is_sent_at_the_next_tick() {
        let (period, phase) = (Span::from_ms(200), Span::from_ms(30));
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        assert_eq!(due(at(0), 1, 2, period, phase), Due::At(at(30)));
        assert_eq!(due(at(30), 1, 2, period, phase), Due::At(at(230)));
        assert_eq!(due(at(229), 1, 2, period, phase), Due::At(at(230)));
        assert_eq!(due(at(229), 2, 2, period, phase), Due::Now);
    }
}
