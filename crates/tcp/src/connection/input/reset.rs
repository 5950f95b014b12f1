//! Resets, SYNs in the window, and challenge ACKs: the second and the fourth step of RFC 9293, section 3.10.7.4, with the changes of
//! RFC 5961.

use crate::config::{OldSegments, StateMachine};
use crate::connection::Connection;
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::record::reason::Reason;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Second and fourth steps, with the changes of RFC 5961.
    #[cold]
    pub(super) fn arrives_with_rst_or_syn(&mut self, now: Time, segment: &Segment, start: i64) {
        if !segment.flags.has(Flags::RST) {
            if self.cx.state() == State::SynReceived && start == 0 && segment.flags.has(Flags::ACK) {
                // It carries text, so that its end lies in the window.
                self.take_syn_ack(now, segment);
            } else if self.cx.state() == State::SynReceived && self.returns_to_listen() {
                self.return_to_listen(now);
                if self.cx.config.old_segments == OldSegments::Linux {
                    // Linux also refuses it (`tcp_check_req()`).
                    self.cx.reply(Reply::reset_for(segment));
                }
            } else {
                self.challenge_syn(now, segment);
            }
            return;
        }
        if start != self.rcv.nxt() as i64 && !self.cx.config.insecure_rst && !self.resets_elsewhere(start) {
            // A TIME-WAIT socket of Linux challenges none (`tcp_timewait_state_process()`).
            if !self.is_time_wait_on_linux() {
                self.challenge(now);
            }
            return;
        }
        let is_ignored = self.cx.config.rfc1337 && self.cx.state() == State::TimeWait;
        if !is_ignored {
            self.take_reset(now);
        }
    }

    /// Whether a reset counts at another place than RCV.NXT. Linux accepts one before it after a FIN, because an application
    /// that is killed may send a FIN and then a reset (`tcp_reset_check()`), and one at the end of the highest reported block.
    #[cold]
    pub(super) fn resets_elsewhere(&self, start: i64) -> bool {
        if self.cx.config.old_segments != OldSegments::Linux {
            return false;
        }
        let after_fin = matches!(self.cx.state(), State::CloseWait | State::LastAck | State::Closing)
            && start + 1 == self.rcv.nxt() as i64;
        after_fin || (self.cx.agreed.sack && self.rcv.ends_reports(start))
    }

    /// An acceptable reset ends the connection.
    #[cold]
    pub(super) fn take_reset(&mut self, now: Time) {
        match self.cx.state() {
            State::SynReceived if self.returns_to_listen() => self.return_to_listen(now),
            State::SynReceived if self.cx.is_open_early() => self.finish(now, CloseReason::Reset),
            State::SynReceived => self.finish(now, CloseReason::Refused),
            State::Closing | State::LastAck if self.cx.config.state_machine == StateMachine::Freebsd => {
                self.finish(now, CloseReason::Reset);
            }
            // Section 3.10.7.4 reports no error to the user here. But unacknowledged data may not have arrived.
            State::Closing | State::LastAck | State::TimeWait
                if self.snd.space().una() >= self.snd.space().data_end() =>
            {
                self.finish(now, CloseReason::Finished);
            }
            _ => self.finish(now, CloseReason::Reset),
        }
    }

    /// Challenges a SYN. One that could begin a new connection in place of a TIME-WAIT socket of Linux, if anybody listened, is
    /// answered each time (TCP_TW_SYN in `tcp_v4_rcv()`).
    #[cold]
    pub(super) fn challenge_syn(&mut self, now: Time, segment: &Segment) {
        if self.is_time_wait_on_linux() && self.may_be_replaced(segment) {
            self.rcv.acknowledge(Reason::ChallengeAck);
            self.cx.answer_bare();
        } else {
            self.challenge(now);
        }
    }

    /// Sends a challenge ACK if the limit permits (RFC 5961, section 7).
    #[cold]
    pub(in crate::connection) fn challenge(&mut self, now: Time) {
        if self.cx.may_challenge(now) {
            self.rcv.acknowledge(Reason::ChallengeAck);
            self.cx.answer_bare();
        }
    }
}
