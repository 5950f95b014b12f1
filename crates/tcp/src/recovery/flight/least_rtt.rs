//! The minimum RTT of the last five minutes (RFC 8985, section 6.2, step 1, leaves the window open; Linux:
//! `tcp_min_rtt_wlen`).

use crate::time::{Span, Time};

/// The window of the filter.
const MEMORY: Span = Span::from_secs(300);

/// The minimum, and when it was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeastRtt {
    least: Span,
    /// [`Time::NEVER`] if there is no sample.
    at: Time,
}

impl LeastRtt {
    /// No sample.
    pub(crate) const NONE: Self = Self { least: Span::ZERO, at: Time::NEVER };

    /// Adds a sample.
    #[inline]
    pub(crate) fn learn(&mut self, now: Time, rtt: Span) {
        if self.at.is_never() || rtt <= self.least || now - self.at > MEMORY {
            (self.least, self.at) = (rtt, now);
        }
    }

    /// The minimum, if there is a sample.
    #[inline]
    pub(crate) fn get(self) -> Option<Span> {
        (!self.at.is_never()).then_some(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_is_replaced_by_a_larger_sample_after_five_minutes() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut least = LeastRtt::NONE;
        assert_eq!(least.get(), None);
        for (secs, ms, expected) in [(0, 40, 40), (1, 30, 30), (2, 50, 30), (301, 50, 30), (302, 50, 50)] {
            least.learn(at(secs), Span::from_ms(ms));
            assert_eq!(least.get(), Some(Span::from_ms(expected)), "after {secs} s");
        }
    }

    #[test]
    fn an_equal_sample_renews_the_minimum() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut least = LeastRtt::NONE;
        for (secs, ms) in [(0, 30), (200, 30), (400, 50)] {
            least.learn(at(secs), Span::from_ms(ms));
        }
        assert_eq!(least.get(), Some(Span::from_ms(30)));
    }
}
