//! Expired timers: RFC 9293, section 3.10.8, with probes and keep-alives.

use crate::connection::Connection;
use crate::opening::state::{CloseReason, State};
use crate::record::event::{Event, Timer};
use crate::record::reason::Reason;
use crate::send::Expired;
use crate::time::Time;

impl Connection {
    /// When [`handle_deadline`](Self::handle_deadline) must be called; [`Time::NEVER`] if no timer is armed.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.snd.next_deadline().min(self.rcv.next_deadline()).min(self.cx.keep_alive())
    }

    /// Handles all timers that have expired at `now`. A call before [`next_deadline`](Self::next_deadline) has no
    /// effect.
    pub fn handle_deadline(&mut self, now: Time) {
        self.rcv.on_delayed_ack_timer(&mut self.cx, now, self.snd.timeout());
        match self.snd.main_timer_ran_out(&mut self.cx, now) {
            Expired::Nothing => {}
            Expired::TimeWait => self.finish(now, CloseReason::Finished),
            Expired::Retries => self.give_up(now, CloseReason::TimedOut),
            Expired::ProbesWindow => self.rcv.acknowledge(Reason::WindowProbe),
        }
        self.snd.reordering_ran_out(&mut self.cx, now);
        self.snd.turn_has_come(now);
        if self.cx.keep_alive() <= now {
            self.keep_alive_ran_out(now);
        }
        if self.snd.user_timeout_ran_out(now) {
            self.cx.note(now, Event::Fired { timer: Timer::UserTimeout });
            self.give_up(now, CloseReason::UserTimeout);
        }
    }

    /// When what pacing delays may leave; [`Time::NEVER`] if pacing delays nothing.
    pub fn pacing_deadline(&self) -> Time {
        self.snd.turn()
    }

    /// When a delayed ACK is due; [`Time::NEVER`] if none is.
    pub fn delayed_ack_deadline(&self) -> Time {
        self.rcv.next_deadline()
    }

    /// Whether the delayed ACK is that of data behind a gap, whose timer counts no ticks in Linux (`tcp_compressed_ack_kick()`).
    pub fn waits_behind_gap(&self) -> bool {
        self.rcv.waits_behind_gap()
    }

    /// Handles the timer of a delayed ACK if it has expired: [`handle_deadline`](Self::handle_deadline) without the other timers.
    pub fn handle_delayed_ack(&mut self, now: Time) {
        self.rcv.on_delayed_ack_timer(&mut self.cx, now, self.snd.timeout());
    }

    /// Only what pacing has delayed until `now` may leave: [`handle_deadline`](Self::handle_deadline) without the other timers.
    pub fn handle_pacing(&mut self, now: Time) {
        self.snd.turn_has_come(now);
    }

    /// Arms the keep-alive timer if the connection has one.
    #[inline]
    pub(super) fn arm_keep_alive(&mut self, now: Time) {
        if let Some(keep_alive) = self.cx.config.keep_alive {
            self.cx.set_keep_alive(now + keep_alive.idle);
        }
    }

    /// Restarts the idle time after a segment of the peer.
    #[cold]
    pub(super) fn restart_keep_alive(&mut self, now: Time) {
        if !self.cx.keep_alive().is_never() {
            *self.cx.keep_alives() = 0;
            self.arm_keep_alive(now);
        }
    }

    /// The idle time has passed: sends a keep-alive probe (RFC 9293, section 3.8.4).
    fn keep_alive_ran_out(&mut self, now: Time) {
        self.cx.set_keep_alive(Time::NEVER);
        let Some(keep_alive) = self.cx.config.keep_alive else { return };
        if !self.cx.state().is_synchronized() || self.cx.state() == State::TimeWait {
            return;
        }
        self.cx.note(now, Event::Fired { timer: Timer::KeepAlive });
        if *self.cx.keep_alives() >= keep_alive.probes {
            self.give_up(now, CloseReason::KeepAliveTimeout);
            return;
        }
        self.cx.set_keep_alive(now + keep_alive.interval);
        // While data is outstanding, its retransmissions serve as probes.
        if !self.snd.space().is_outstanding() {
            *self.cx.keep_alives() += 1;
            self.rcv.acknowledge(Reason::KeepAlive);
        }
    }
}
