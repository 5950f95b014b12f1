//! Opening and closing: the state transitions of RFC 9293, figure 5.

use crate::config::{OldSegments, ReceiveMemory};
use crate::connection::Connection;
use crate::opening::reply::{Reply, reset_in_listen_for};
use crate::opening::state::{CloseReason, State};
use crate::receive::receiver::Receiver;
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::time::Time;
use crate::wire::options::timestamp;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Section 3.10.7.2.
    pub(super) fn arrives_in_listen(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return;
        }
        if flags.has(Flags::ACK) {
            if reset_in_listen_for(segment, self.cx.config.state_machine).is_some() {
                self.cx.reply(Reply::reset_for(segment));
            }
            return;
        }
        // Linux drops a SYN with a FIN (TCP_LISTEN in `tcp_rcv_state_process()`).
        let is_odd = flags.has(Flags::FIN) && self.cx.config.old_segments == OldSegments::Linux;
        if flags.has(Flags::SYN) && !is_odd {
            self.synchronize(now, segment);
            self.cx.enter(now, State::SynReceived);
            if self.accepts_syn_data(segment) {
                self.process_syn_data(now, segment);
                if self.cx.config.receive_memory == ReceiveMemory::Linux {
                    // The SYN's data takes nothing of it (`rcv_wup` in `tcp_fastopen_create_child()`).
                    self.rcv.accept_behind(self.cx.accepted_window());
                }
            }
        }
    }

    /// Section 3.10.7.3.
    pub(super) fn arrives_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let ack = self.snd.space().position(segment.ack);
        let ours_acknowledged = flags.has(Flags::ACK);
        if ours_acknowledged && (ack <= 0 || ack > self.snd.space().max() as i64) {
            if !flags.has(Flags::RST) {
                self.cx.reply(Reply::reset_for(segment));
            }
            return;
        }
        if flags.has(Flags::RST) {
            // Only a reset that acknowledges our SYN can come from the peer.
            if ours_acknowledged {
                self.finish(now, CloseReason::Refused);
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        if ours_acknowledged && self.echoes_another(now, segment) {
            self.cx.reply(Reply::reset_for(segment));
            return;
        }
        self.synchronize(now, segment);
        let is_linux = self.cx.config.old_segments == OldSegments::Linux;
        if ours_acknowledged {
            self.store_fast_open_option(segment);
            self.snd.syn_acknowledged(&mut self.cx, now, ack as u64);
            self.snd.syn_data_acknowledged(&mut self.cx, ack as u64);
            self.become_established(now);
            if self.cx.is_fast_open_client() && self.snd.has_unsent_after_syn(&self.cx) {
                self.rcv.opens_with_data(&self.cx, now);
            }
            self.rcv.acknowledge(Reason::Ack);
        } else {
            // Simultaneous open: our SYN is retransmitted with the ACK of the peer's SYN.
            self.snd.send_syn_again();
            self.cx.enter(now, State::SynReceived);
            if !is_linux && !self.cx.is_fast_open_client() {
                self.rcv.queue_syn_text(segment.payload.len);
            }
        }
        // Without Fast Open, Linux ignores what a SYN-ACK carries, and its FIN (TCP_SYN_SENT in `tcp_rcv_state_process()`).
        if !ours_acknowledged || is_linux && !self.takes_syn_ack_data() {
            return;
        }
        self.process_syn_data(now, segment);
        let behind_text = i64::from(segment.payload.len) + 1;
        if flags.has(Flags::FIN) && self.rcv.take_fin(behind_text) {
            self.rcv.acknowledge(Reason::Ack);
            self.peer_has_closed(now);
        }
    }

    /// Whether a SYN-ACK echoes a timestamp that this connection has not sent. Linux answers it with a reset, like one that
    /// acknowledges another SYN (`tcp_rcv_synsent_state_process()`, PAWSActiveRejected).
    fn echoes_another(&self, now: Time, segment: &Segment) -> bool {
        let Some(stamps) = segment.options.timestamps.filter(|stamps| stamps.echo != 0) else { return false };
        let linux = self.cx.config.old_segments == OldSegments::Linux && self.cx.config.timestamps;
        // The SYN's time is known to 5 ms.
        let first = timestamp(self.snd.first_sent().instant());
        linux && stamps.echo.wrapping_sub(first) > timestamp(now).wrapping_sub(first)
    }

    /// Processes the peer's SYN: sequence numbers, options, window.
    fn synchronize(&mut self, now: Time, segment: &Segment) {
        self.settle(now, &segment.options);
        self.agree_on_ecn(now, segment);
        self.rcv.synchronize(segment.seq, self.cx.accepted_window());
        let window = self.cx.agreed.read_syn_window(segment.window, &segment.options);
        let ack = segment.flags.has(Flags::ACK).then_some(segment.ack);
        self.snd.first_window(&mut self.cx, segment.seq, ack, window);
        if let Some(timestamps) = segment.options.timestamps {
            self.rcv.set_ts_recent(now, timestamps.value);
        }
        self.cx.note(now, Event::PeerWindow { window });
    }

    /// Accepts and acknowledges the data of a SYN. A FIN on a SYN without ACK is ignored, because no state transition
    /// exists for it; the peer retransmits it.
    fn process_syn_data(&mut self, now: Time, segment: &Segment) {
        if segment.payload.len > 0 {
            self.take_text(now, segment, 1);
            self.rcv.forget_pace();
        }
    }

    /// Enters ESTABLISHED, or FIN-WAIT-1 if the application has closed.
    pub(super) fn become_established(&mut self, now: Time) {
        let closing = self.snd.is_closing();
        self.cx.enter(now, if closing { State::FinWait1 } else { State::Established });
        self.rcv.opens(&self.cx, now);
        self.arm_keep_alive(now);
    }

    /// Returns to LISTEN with the initial state (section 3.10.7.4, RST and SYN in SYN-RECEIVED). If the application has
    /// closed, the connection ends instead.
    pub(super) fn return_to_listen(&mut self, now: Time) {
        if self.snd.is_closing() {
            self.finish(now, CloseReason::Reset);
            return;
        }
        self.rcv = Receiver::new(self.cx.config.receive_window);
        self.cx.return_to_listen(now);
        self.snd.return_to_listen(&mut self.cx);
    }

    /// Our FIN is acknowledged.
    pub(super) fn fin_acknowledged(&mut self, now: Time) {
        match self.cx.state() {
            State::FinWait1 => self.cx.enter(now, State::FinWait2),
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.finish(now, CloseReason::Finished),
            _ => {}
        }
    }

    /// The peer's FIN and all data before it have arrived.
    pub(super) fn peer_has_closed(&mut self, now: Time) {
        // `tcp_fin()` clears all reports, also that of a duplicate.
        self.rcv.forget_duplicate(&self.cx);
        if self.closes_at_once() {
            self.cx.answer_bare();
        }
        match self.cx.state() {
            State::SynReceived | State::Established => self.cx.enter(now, State::CloseWait),
            State::FinWait1 if self.snd.space().fin_acknowledged() => self.enter_time_wait(now),
            State::FinWait1 => self.cx.enter(now, State::Closing),
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// Whether both ends close at the same time: Linux then acknowledges the peer's FIN before it sends anything else
    /// (TCP_FIN_WAIT1 in `tcp_fin()`, which begins when the application closes).
    fn closes_at_once(&self) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && self.snd.is_closing()
            && !self.snd.space().fin_acknowledged()
    }

    /// Enters TIME-WAIT, which answers old duplicates for 2·MSL.
    pub(super) fn enter_time_wait(&mut self, now: Time) {
        // A delayed ACK becomes due now, because only the TIME-WAIT timer runs from here on.
        self.stop_timers();
        self.snd.wait_out(now + self.cx.config.time_wait);
        self.cx.enter(now, State::TimeWait);
        if self.cx.config.old_segments == OldSegments::Linux {
            self.cx.set_answered_invalid(None);
            self.stands_in();
        }
    }

    /// A socket of TIME-WAIT answers from now on, or behind the ACK that is due. Linux replaces that of an application that has closed
    /// by one in FIN-WAIT-2 too (`tcp_time_wait()`).
    pub fn stands_in(&mut self) {
        self.rcv.stands_in(&self.cx.agreed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::time::Span;
    use crate::wire::options::{Options, Timestamps};
    use crate::wire::seq::Seq;
    use std::sync::Arc;

    /// A SYN with all options.
    fn rich_syn() -> Segment {
        let options = Options {
            mss: Some(1000),
            window_scale: Some(7),
            segment_scale: Some(3),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 77, echo: 0 }),
            ..Options::NONE
        };
        let flags = Flags::SYN | Flags::ECE | Flags::CWR;
        Segment { seq: Seq(5000), flags, window: 8000, options, header_len: 40, ..Segment::default() }
    }

    fn reset_of(tcp: &Connection) -> Segment {
        Segment { seq: tcp.rcv.seq(tcp.rcv.nxt()), flags: Flags::RST, header_len: 20, ..Segment::default() }
    }

    #[test]
    fn a_listener_after_a_reset_has_its_initial_state_except_for_counters() {
        for profile in profile::profiles() {
            let config = Arc::new(profile.config.clone());
            let new = || {
                let mut tcp = Connection::listen(Arc::clone(&config), Seq(900));
                tcp.set_path_mtu(1400);
                tcp
            };
            let mut tcp = new();
            let mut now = Time::ZERO + Span::from_secs(1000);
            tcp.handle_segment(now, &rich_syn());
            assert_eq!(tcp.state(), State::SynReceived, "{}", profile.name);
            let _ = tcp.write(now, 5000);
            for _ in 0..3 {
                while tcp.poll_transmit(now).is_some() {}
                now = tcp.next_deadline();
                tcp.handle_deadline(now);
            }
            let reset = reset_of(&tcp);
            tcp.handle_segment(now, &reset);
            assert_eq!(tcp.state(), State::Listen, "{}", profile.name);
            let mut fresh = new();
            fresh.cx.take_counters_of(&mut tcp.cx);
            assert_eq!(format!("{tcp:?}"), format!("{fresh:?}"), "{}", profile.name);
        }
    }
}
