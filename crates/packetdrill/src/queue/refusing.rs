//! A queue of the interface that refuses all packets (`pfifo limit 0`). Linux counts a packet that its queue refuses as not sent
//! (`tcp_write_xmit()`, `tcp_retransmit_skb()`). So connections send nothing while the queue refuses, and all that is due later.
//!
//! If nothing is outstanding, no retransmission will ask again. Linux then tries every 500 ms, without backoff
//! (`tcp_check_probe_timer()`, `tcp_send_probe0()`), until the user timeout has passed since the first time (`tcp_probe_timer()`).
//!
//! A retransmission of a timeout is tried every 500 ms, too (`tcp_retransmit_timer()`).
//!
//! Left out: that Linux reduces cwnd then (`tcp_enter_cwr()`), does not back off for a timeout whose retransmission is refused, and
//! takes that segment for one that was sent again (EVER_RETRANS).

use netspurt_tcp::time::{Span, Time};

/// TCP_RESOURCE_PROBE_INTERVAL.
pub(crate) const INTERVAL: Span = Span::from_ms(500);

/// A timer that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// The first segment is tried again.
    Again,
    /// The connection ends.
    GivesUp,
}

/// The attempts of a connection whose segments are refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// When the next attempt is due; never if no data waits, or if a timer of the connection runs for it.
    next: Time,
    /// The first time that the timer has expired (`icsk_probes_tstamp`).
    since: Option<Time>,
    /// Attempts (`icsk_probes_out`).
    pub(crate) attempts: u8,
}

impl Refusal {
    /// Nothing was refused.
    pub(crate) const NONE: Self = Self { next: Time::NEVER, since: None, attempts: 0 };

    /// When the next attempt is due.
    pub(crate) fn deadline(&self) -> Time {
        self.next
    }

    /// A segment is refused for which no other timer runs: the first attempt follows after `wait`.
    pub(crate) fn refuse(&mut self, now: Time, wait: Span) {
        if self.next.is_never() {
            self.next = now + wait;
        }
    }

    /// No attempt is due any more. The number of them stays.
    pub(crate) fn stop(&mut self) {
        self.next = Time::NEVER;
    }

    /// The timer has expired for data behind nothing outstanding.
    pub(crate) fn expire(&mut self, now: Time, user_timeout: Option<Span>) -> Due {
        let since = *self.since.get_or_insert(now);
        if user_timeout.is_some_and(|limit| now - since >= limit) {
            self.stop();
            return Due::GivesUp;
        }
        self.attempts = self.attempts.saturating_add(1);
        // Not later than the user timeout (`tcp_clamp_probe0_to_user_timeout()`).
        let left = user_timeout.map_or(INTERVAL, |limit| since + limit - now);
        self.next = now + INTERVAL.min(left);
        Due::Again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn attempts_follow_every_half_second_until_the_user_timeout_has_passed_since_the_first() {
        let mut refusal = Refusal::NONE;
        refusal.refuse(at(0), Span::from_ms(300));
        refusal.refuse(at(10), Span::from_ms(300));
        let mut attempts = Vec::new();
        while refusal.expire(refusal.deadline(), Some(Span::from_ms(1200))) == Due::Again {
            attempts.push(refusal.deadline());
        }
        assert_eq!(attempts, [at(800), at(1300), at(1500)], "the next deadlines");
        assert_eq!((refusal.attempts, refusal.deadline()), (3, Time::NEVER));
    }

    #[test]
    fn without_a_user_timeout_attempts_go_on() {
        let mut refusal = Refusal::NONE;
        refusal.refuse(at(0), Span::from_ms(300));
        for _ in 0..300 {
            assert_eq!(refusal.expire(refusal.deadline(), None), Due::Again);
        }
        assert_eq!(refusal.attempts, u8::MAX);
    }
}
