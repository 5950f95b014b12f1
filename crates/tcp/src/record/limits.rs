//! What kept a sender from sending faster, and for how long (RFC 4898, `tcpEStatsPerfSndLim`; Linux, `tcp_chrono_start()`).

use crate::connection::Connection;
use crate::record::reason::Hold;
use crate::time::{Span, Time};

/// What a sender with something to send waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Limit {
    /// Nothing: there is nothing to be sent.
    #[default]
    Idle,
    /// The network, or its own choice: cwnd, pacing, a policy for short segments.
    Busy,
    /// The peer's window.
    ReceiveWindow,
    /// The application, which waits for room in the send buffer.
    SendBuffer,
}

/// For how long each has lasted; together, the first three are how long there was something to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// [`Limit::Busy`].
    pub busy: Span,
    /// [`Limit::ReceiveWindow`].
    pub receive_window: Span,
    /// [`Limit::SendBuffer`].
    pub send_buffer: Span,
}

/// What has been measured so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    now: Limit,
    since: Time,
    past: Limits,
}

impl Clock {
    /// Another limit from `now` on.
    pub(crate) fn turn(&mut self, now: Time, limit: Limit) {
        if limit != self.now {
            self.past = self.read(now);
            (self.now, self.since) = (limit, now);
        }
    }

    /// The sums up to `now`.
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

impl Connection {
    /// Starts (or stops) measuring what limits the sender. What a connection does is the same either way.
    pub fn measure_limits(&mut self, now: Time, on: bool) {
        self.rare().limits = on.then(|| Box::new(Clock { since: now, ..Clock::default() }));
    }

    /// For how long what has limited the sender, if that is measured.
    pub fn limits(&self, now: Time) -> Option<Limits> {
        Some(self.rare.as_ref()?.limits.as_ref()?.read(now))
    }

    /// The application has found no room for what it wants to write, and waits.
    pub fn note_no_room(&mut self) {
        if let Some(rare) = &mut self.rare
            && rare.limits.is_some()
        {
            rare.no_room = true;
        }
    }

    /// A sending opportunity is over, or an ACK has been taken in.
    pub(crate) fn turn_limit(&mut self, now: Time) {
        if self.rare.as_ref().is_none_or(|rare| rare.limits.is_none()) {
            return;
        }
        let (waiting, outstanding) = (self.unsent() > 0, self.snd.is_outstanding());
        let room = self.room() > 0;
        let (hold, open) = (self.hold, self.state.is_synchronized());
        let Some(rare) = &mut self.rare else { return };
        rare.no_room &= !room;
        let no_room = rare.no_room;
        let Some(clock) = &mut rare.limits else { return };
        let limit = match (waiting, outstanding) {
            // The opening is not the application's.
            _ if !open => Limit::Idle,
            (true, _) if hold == Hold::ReceiveWindow => Limit::ReceiveWindow,
            (true, _) => Limit::Busy,
            // All that the buffer takes is out, and the application has more.
            (false, true) if no_room => Limit::SendBuffer,
            (false, true) => Limit::Busy,
            (false, false) => Limit::Idle,
        };
        clock.turn(now, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_charged_for_the_time_that_it_lasts() {
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let mut clock = Clock::default();
        clock.turn(at(10), Limit::Busy);
        clock.turn(at(30), Limit::ReceiveWindow);
        clock.turn(at(35), Limit::ReceiveWindow);
        clock.turn(at(60), Limit::SendBuffer);
        clock.turn(at(100), Limit::Idle);
        let sums = clock.read(at(1000));
        assert_eq!((sums.busy, sums.receive_window), (Span::from_ms(20), Span::from_ms(30)));
        assert_eq!(sums.send_buffer, Span::from_ms(40));
        clock.turn(at(1000), Limit::Busy);
        assert_eq!(clock.read(at(1001)).busy, Span::from_ms(21), "what lasts still counts");
    }
}
