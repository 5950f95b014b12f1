//! A deadline has come: RFC 9293, section 3.10.8, with probes and keep-alives.

use crate::config::WindowProbe;
use crate::congestion::Signal;
use crate::connection::Connection;
use crate::opening::state::{CloseReason, State};
use crate::receive::space::AckDue;
use crate::record::event::{Event, Timer};
use crate::record::reason::{Hold, Reason};
use crate::recovery::Phase;
use crate::time::Time;

impl Connection {
    /// The time has come that [`next_deadline`](Self::next_deadline) named. Harmless if it has not.
    pub fn handle_deadline(&mut self, now: Time) {
        if self.timers.delayed_ack <= now {
            self.timers.delayed_ack = Time::NEVER;
            if self.rcv.due == AckDue::Later {
                self.note(now, Event::Fired { timer: Timer::DelayedAck });
                self.rcv.acknowledge(Reason::DelayedAck);
                self.remember_vain_wait();
            }
        }
        let (due, timer) = self.timers.main();
        if due <= now {
            let waits_for_more = matches!(self.holding(), Hold::Cork | Hold::EndOfData | Hold::Own);
            let timer = if timer == Timer::Persist && waits_for_more { Timer::Ceiling } else { timer };
            self.note(now, Event::Fired { timer });
            match timer {
                Timer::Ceiling => self.ceiling_reached(),
                Timer::Persist => self.persist_ran_out(now),
                Timer::TimeWait => self.finish(now, CloseReason::Finished),
                Timer::TailProbe => self.tail_probe_ran_out(now),
                _ => self.retransmit_ran_out(now),
            }
        }
        if self.reordering_deadline() <= now {
            self.reordering_ran_out(now);
        }
        if let Some(rare) = &self.rare
            && rare.deadline() <= now
        {
            self.rare_timer_ran_out(now);
        }
    }

    /// The peer was silent for long, the user's patience is over, or a paced segment may leave.
    #[cold]
    fn rare_timer_ran_out(&mut self, now: Time) {
        if self.rare().turn <= now {
            self.rare().turn = Time::NEVER;
        }
        if self.rare().keep_alive <= now {
            self.keep_alive_ran_out(now);
        }
        if self.rare().patience <= now {
            self.note(now, Event::Fired { timer: Timer::UserTimeout });
            self.give_up(now, CloseReason::UserTimeout);
        }
    }

    /// Nothing came back in time: everything that is outstanding goes out again, one segment first (RFC 5681,
    /// section 3.1; RFC 6298, sections 5.4 to 5.6).
    fn retransmit_ran_out(&mut self, now: Time) {
        self.timers.stop_retransmit();
        if !self.snd.is_outstanding() {
            return;
        }
        self.unanswered = self.unanswered.saturating_add(1);
        let opening = matches!(self.state, State::SynSent | State::SynReceived);
        let patience = if opening { self.config.syn_retries } else { self.config.retries };
        if self.unanswered > patience {
            self.give_up(now, CloseReason::TimedOut);
            return;
        }
        self.rare().counters.timeouts += 1;
        self.back_off();
        self.snd.timed_end = 0;
        // Who notices losses by time knows what is lost, and need not go back; but for a SYN.
        if self.rack.is_none() || opening {
            self.snd.nxt = self.snd.una;
        }
        if opening {
            return;
        }
        self.suspect_black_hole(now);
        let flight = self.snd.max - self.snd.una;
        self.signal(now, Signal::Timeout { first: self.unanswered == 1 }, flight);
        let loss = self.loss.trouble();
        loss.phase = Phase::Loss;
        loss.recover = self.snd.max;
        loss.dup_acks = 0;
        loss.inflation = 0;
        loss.resend = None;
        let mut forgets = false;
        if let Some(board) = &mut loss.scoreboard {
            // A second timeout in a row, or a report of the very byte that it does not acknowledge: the peer may have
            // dropped what it had reported (RFC 2018, section 8).
            let reneged = board.sacked.first().is_some_and(|range| range.start <= self.snd.una);
            forgets = self.unanswered > 1 || reneged;
            if forgets { board.forget() } else { board.start_over() }
        }
        self.time_out_by_time(now, forgets);
    }

    /// The peer's window is still closed: one byte asks (RFC 9293, section 3.8.6.1); what an open sliver of it permits
    /// goes instead (the override timeout of section 3.8.6.2.1).
    fn persist_ran_out(&mut self, now: Time) {
        self.timers.stop_retransmit();
        self.unanswered = self.unanswered.saturating_add(1);
        if self.unanswered > self.config.retries {
            self.give_up(now, CloseReason::TimedOut);
            return;
        }
        self.back_off();
        let waits = self.snd.nxt < self.snd.data_end();
        let closed = self.snd.una + u64::from(self.snd.wnd) <= self.snd.nxt;
        if waits && closed && self.config.window_probe == WindowProbe::Empty {
            self.rcv.acknowledge(Reason::WindowProbe);
        } else {
            self.snd.probe = waits;
        }
        self.timers.persist(now, self.config.timer_grain);
    }

    /// The retransmission timer ran out, or the persist timer.
    fn back_off(&mut self) {
        let kind = &self.config.rto;
        self.timers.back_off(self.rto.rto(kind), self.rto.max(kind));
    }

    /// The timeout is the estimator's again, without backoff.
    pub(crate) fn refresh_rto(&mut self) {
        self.timers.reset_rto(self.rto.rto(&self.config.rto));
    }

    /// Arms the keep-alive timer if the connection has one.
    #[inline]
    pub(crate) fn arm_keep_alive(&mut self, now: Time) {
        if let Some(keep_alive) = self.config.keep_alive {
            self.rare().keep_alive = now + keep_alive.idle;
        }
    }

    /// The peer was heard: the idle time starts anew.
    #[cold]
    pub(crate) fn heard(&mut self, now: Time) {
        if !self.rare().keep_alive.is_never() {
            self.rare().keep_alives = 0;
            self.arm_keep_alive(now);
        }
    }

    /// The connection was idle for long: is the peer still there (RFC 9293, section 3.8.4)?
    fn keep_alive_ran_out(&mut self, now: Time) {
        self.rare().keep_alive = Time::NEVER;
        let Some(keep_alive) = self.config.keep_alive else { return };
        if !self.state.is_synchronized() || self.state == State::TimeWait {
            return;
        }
        self.note(now, Event::Fired { timer: Timer::KeepAlive });
        if self.rare().keep_alives >= keep_alive.probes {
            self.give_up(now, CloseReason::KeepAliveTimeout);
            return;
        }
        self.rare().keep_alive = now + keep_alive.interval;
        // While data is outstanding, the retransmission timer asks already.
        if !self.snd.is_outstanding() {
            self.rare().keep_alives += 1;
            self.rcv.acknowledge(Reason::KeepAlive);
        }
    }
}
