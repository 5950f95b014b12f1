//! What limited a sender, and for how long (RFC 4898, `tcpEStatsPerfSndLim`; Linux, `tcp_chrono_start()`).

use crate::time::{Span, Time};

/// What a sender with data waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Limit {
    /// Nothing: there is no data to send.
    #[default]
    Idle,
    /// The network or the sender itself: cwnd, pacing, a policy for short segments.
    Busy,
    /// The peer's window.
    ReceiveWindow,
    /// The send buffer: the application waits for space in it.
    SendBuffer,
}

/// The duration of each limit. Their sum is the time during which there was data to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// [`Limit::Busy`].
    pub busy: Span,
    /// [`Limit::ReceiveWindow`].
    pub receive_window: Span,
    /// [`Limit::SendBuffer`].
    pub send_buffer: Span,
}

/// The durations up to now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    now: Limit,
    since: Time,
    past: Limits,
}

impl Clock {
    /// Starts at `now` without a limit.
    pub(crate) fn starting(now: Time) -> Self {
        Self { since: now, ..Self::default() }
    }

    /// Sets the limit from `now` on.
    pub(crate) fn set_limit(&mut self, now: Time, limit: Limit) {
        if limit != self.now {
            self.past = self.read(now);
            (self.now, self.since) = (limit, now);
        }
    }

    /// The durations up to `now`.
    pub(crate) fn read(&self, now: Time) -> Limits {
        let (mut sums, lasted) = (self.past, now - self.since);
        match self.now {
            Limit::Idle => {}
            Limit::Busy => sums.busy += lasted,
            Limit::ReceiveWindow => sums.receive_window += lasted,
            Limit::SendBuffer => sums.send_buffer += lasted,
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_charged_for_the_time_that_it_lasts() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut clock = Clock::default();
        clock.set_limit(at(10), Limit::Busy);
        clock.set_limit(at(30), Limit::ReceiveWindow);
        clock.set_limit(at(35), Limit::ReceiveWindow);
        clock.set_limit(at(60), Limit::SendBuffer);
        clock.set_limit(at(100), Limit::Idle);
        let sums = clock.read(at(1000));
        assert_eq!((sums.busy, sums.receive_window), (Span::from_ms(20), Span::from_ms(30)));
        assert_eq!(sums.send_buffer, Span::from_ms(40));
        clock.set_limit(at(1000), Limit::Busy);
        assert_eq!(clock.read(at(1001)).busy, Span::from_ms(21), "the present limit counts up to now");
    }
}
