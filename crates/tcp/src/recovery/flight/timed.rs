//! The segment whose RTT is measured, for a sender that times one segment at a time (RFC 6298, section 3). Its ACK also ends
//! a round trip of the RTO estimator.

use crate::time::Time;

/// The timed segment, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    /// The position that its ACK must reach; 0 if no segment is timed.
    end: u64,
    sent: Time,
}

impl Timed {
    /// None is timed.
    pub(crate) const NONE: Self = Self { end: 0, sent: Time::ZERO };

    /// A first transmission up to `end` is timed, if no other segment is.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, end: u64) {
        if self.end == 0 {
            (self.end, self.sent) = (end, now);
        }
    }

    /// Karn's rule: its ACK would be ambiguous after a retransmission.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.end = 0;
    }

    /// When it was sent, if an ACK up to `ack` acknowledges it.
    #[inline]
    pub(crate) fn acknowledged_by(self, ack: u64) -> Option<Time> {
        (self.end != 0 && ack >= self.end).then_some(self.sent)
    }

    /// When it was sent, if it is not acknowledged below `una`.
    pub(crate) fn sent_above(self, una: u64) -> Option<Time> {
        (self.end > una).then_some(self.sent)
    }

    /// Whether an ACK up to `ack` can give a sample: no segment is timed, or it acknowledges the timed one.
    #[inline]
    pub(crate) fn permits_sample(self, ack: u64) -> bool {
        self.end <= ack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn one_segment_is_timed_until_it_is_acknowledged_or_retransmitted() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut timed = Timed::NONE;
        assert!(timed.permits_sample(1) && timed.acknowledged_by(1).is_none());
        timed.send(at(1), 101);
        timed.send(at(2), 201);
        assert!(!timed.permits_sample(100));
        assert_eq!(timed.acknowledged_by(100), None);
        assert_eq!(timed.acknowledged_by(101), Some(at(1)));
        assert_eq!((timed.sent_above(100), timed.sent_above(101)), (Some(at(1)), None));
        timed.forget();
        assert_eq!(timed.acknowledged_by(101), None, "Karn's rule");
        timed.send(at(3), 301);
        assert_eq!(timed.acknowledged_by(301), Some(at(3)));
    }
}
