//! The latest sending that has arrived: what went before it and has not is late or lost (RFC 8985, section 6.2).

use super::pieces::Sending;
use crate::stamp::Stamp;
use netspurt_tcp::time::Span;

/// When that which was sent last of all that has arrived was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered(Option<Stamp>);

impl Delivered {
    /// `sending` was acknowledged or reported at `at`. Sooner than the least round trip, an earlier sending was meant
    /// (RFC 8985, section 6.2, step 2).
    #[inline]
    pub(super) fn hear(&mut self, sending: &Sending, at: Stamp, least: Span) {
        if at.since(sending.at) >= least {
            self.0 = self.0.max(Some(sending.at));
        }
    }

    /// Whether something that was sent after `sending` has arrived.
    pub(super) fn overtook(&self, sending: &Sending) -> bool {
        self.0.is_some_and(|newest| newest > sending.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(ms: u64) -> Sending {
        Sending { at: Stamp(ms * 1_000_000), value: None, identification: 0 }
    }

    #[test]
    fn what_was_sent_before_something_that_arrived_is_overtaken() {
        let mut delivered = Delivered::default();
        assert!(!delivered.overtook(&sending(0)));
        delivered.hear(&sending(5), sending(15).at, Span::from_ms(10));
        delivered.hear(&sending(3), sending(16).at, Span::from_ms(10));
        assert!(delivered.overtook(&sending(4)));
        assert!(!delivered.overtook(&sending(5)));
    }

    #[test]
    fn an_answer_that_comes_too_soon_speaks_of_an_earlier_sending() {
        let mut delivered = Delivered::default();
        delivered.hear(&sending(5), sending(14).at, Span::from_ms(10));
        assert!(!delivered.overtook(&sending(4)));
    }
}
