//! The delayed ACK of RFC 9293, section 3.8.6.3, with a timer per connection.

use super::Due;
use crate::time::{Span, Time};

/// Every `every`-th segment now, the others `delay` after their arrival.
pub(super) fn due(now: Time, unacknowledged: u8, every: u8, delay: Span) -> Due {
    if unacknowledged >= every { Due::Now } else { Due::At(now + delay) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_segment_is_acknowledged_at_once() {
        let delay = Span::from_ms(40);
        assert_eq!(due(Time::ZERO, 1, 2, delay), Due::At(Time::ZERO + delay));
        assert_eq!(due(Time::ZERO, 2, 2, delay), Due::Now);
    }
}
