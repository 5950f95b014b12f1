//! Opening and closing: the transitions of RFC 9293, figure 5, that are not made by data.

use crate::connection::Connection;
use crate::opening::state::{CloseReason, State};
use crate::record::event::Event;
use crate::recovery::rto::Rto;
use crate::time::{Span, Time};
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;
use std::sync::Arc;

/// A segment that stands outside the sequence: a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    pub(crate) flags: Flags,
    /// It is of a connection that may have agreed on timestamps: a reset should carry them then (RFC 7323, section 3.2).
    pub(crate) connected: bool,
}

impl Reply {
    /// The reset that makes the sender of `segment` give up (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse(segment: &Segment) -> Self {
        if segment.flags.has(Flags::ACK) {
            Self { seq: segment.ack, ack: Seq(0), flags: Flags::RST, connected: false }
        } else {
            let ack = segment.seq.plus(segment.seq_len());
            Self { seq: Seq(0), ack, flags: Flags::RST | Flags::ACK, connected: false }
        }
    }

    /// The reset of an abort (section 3.10.5).
    pub(crate) fn abort(seq: Seq, ack: Seq) -> Self {
        Self { seq, ack, flags: Flags::RST | Flags::ACK, connected: true }
    }

    pub(crate) fn segment(self) -> Segment {
        Segment { seq: self.seq, ack: self.ack, flags: self.flags, header_len: 20, ..Segment::default() }
    }
}

/// The answer to a segment for which there is no connection: a reset, or nothing if it was one itself
/// (RFC 9293, section 3.10.7.1).
pub fn refuse(segment: &Segment) -> Option<Segment> {
    (!segment.flags.has(Flags::RST)).then(|| Reply::refuse(segment).segment())
}

impl Connection {
    /// Section 3.10.7.2.
    pub(crate) fn arrives_in_listen(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return;
        }
        if flags.has(Flags::ACK) {
            self.reply(Reply::refuse(segment));
            return;
        }
        if flags.has(Flags::SYN) {
            self.synchronize(now, segment);
            self.enter(now, State::SynReceived);
            if self.takes_syn_text(segment) {
                self.take_syn_text(now, segment);
            }
        }
    }

    /// Section 3.10.7.3.
    pub(crate) fn arrives_in_syn_sent(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        let ack = self.snd.position(segment.ack);
        let ours_acknowledged = flags.has(Flags::ACK);
        if ours_acknowledged && (ack <= 0 || ack > self.snd.max as i64) {
            if !flags.has(Flags::RST) {
                self.reply(Reply::refuse(segment));
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
        self.synchronize(now, segment);
        if ours_acknowledged {
            self.hear_fast_open(segment);
            self.syn_acknowledged(now, ack as u64);
            self.settle_syn_data(ack as u64);
            self.become_established(now);
            self.open_with_unsent(now);
            self.rcv.acknowledge(crate::record::reason::Reason::Ack);
        } else {
            // Simultaneous open: our SYN goes out again, with the ACK of the peer's.
            self.snd.nxt = 0;
            self.snd.timed_end = 0;
            self.enter(now, State::SynReceived);
        }
        if ours_acknowledged || !self.opens_fast() {
            self.take_syn_text(now, segment);
        }
        let behind_text = i64::from(segment.payload.len) + 1;
        if ours_acknowledged && flags.has(Flags::FIN) && self.rcv.take_fin(behind_text) {
            self.peer_has_closed(now);
        }
    }

    /// The peer's SYN: sequence numbers, options, window.
    fn synchronize(&mut self, now: Time, segment: &Segment) {
        self.settle(now, &segment.options);
        self.agree_on_ecn(now, segment);
        self.rcv.synchronize(segment.seq, self.agreed.syn_window());
        let window = self.agreed.read_syn_window(segment.window, &segment.options);
        self.snd.wl1 = segment.seq;
        self.snd.wl2 = self.snd.seq(self.snd.una);
        self.snd.wnd = window;
        self.snd.max_wnd = window;
        self.bound_segments();
        if let Some(timestamps) = segment.options.timestamps {
            self.ts_recent = timestamps.value;
            self.ts_recent_at = now;
        }
        self.note(now, Event::PeerWindow { window });
    }

    /// Text that came with a SYN is kept until the connection is open. A FIN beside the text of a bare SYN is left for the
    /// peer to repeat: the state that it leads to has no place before that.
    fn take_syn_text(&mut self, now: Time, segment: &Segment) {
        if segment.payload.len > 0 {
            self.take_text(now, segment, 1);
        }
    }

    /// Our SYN is acknowledged.
    pub(crate) fn syn_acknowledged(&mut self, now: Time, ack: u64) {
        if self.snd.timed_end != 0 && ack >= self.snd.timed_end {
            let rtt = now - self.snd.timed_at;
            self.note_first_round_trip(now, rtt);
        }
        self.take_sample(now, ack, None);
        self.begin_rates(now);
        self.snd.una = self.snd.una.max(ack.min(1));
        self.snd.nxt = self.snd.nxt.max(self.snd.una);
        self.unanswered = 0;
        self.timers.stop_retransmit();
        if self.state == State::SynReceived && self.snd.is_outstanding() {
            self.restart_retransmit(now);
        }
        // The user waits for nothing any more; from the next segment sent on, again.
        self.stop_patience();
        if self.timers.is_backed_off() {
            self.begin_after_a_lost_syn();
        }
    }

    /// A SYN was lost, or its answer was late: nothing is known of the path but that. The initial window is one segment
    /// (RFC 5681, section 3.1), and the timeout, if it would be shorter, 3 s (RFC 6298, section 5.7).
    fn begin_after_a_lost_syn(&mut self) {
        self.begin_with(u32::from(self.agreed.payload));
        if matches!(self.rto, Rto::Rfc6298(_) | Rto::Linux(_)) {
            self.timers.reset_rto(Span::from_secs(3).max(self.rto.rto(&self.config.rto)));
        }
    }

    /// The connection is open.
    pub(crate) fn become_established(&mut self, now: Time) {
        let closing = self.snd.closing;
        self.enter(now, if closing { State::FinWait1 } else { State::Established });
        self.arm_keep_alive(now);
    }

    /// Back to LISTEN, as if nothing had been (section 3.10.7.4, RST and SYN in SYN-RECEIVED); unless the application
    /// has closed, and listens no more. Only what the driver has chosen stays, and what has been counted and recorded.
    pub(crate) fn return_to_listen(&mut self, now: Time) {
        if self.snd.closing {
            self.finish(now, CloseReason::Reset);
            return;
        }
        let mut fresh = Self::listen(Arc::clone(&self.config), self.snd.seq(0));
        if let Rto::Custom(_) = self.rto {
            core::mem::swap(&mut fresh.rto, &mut self.rto);
            fresh.refresh_rto();
        }
        let start = fresh.start_with(fresh.cwnd());
        if self.congestion.begin(&start) {
            core::mem::swap(&mut fresh.congestion, &mut self.congestion);
        }
        fresh.rare = self.rare.take().map(|rare| Box::new(rare.as_listener()));
        fresh.stats = self.stats;
        fresh.state = self.state;
        *self = fresh;
        let mtu = self.path_mtu();
        if mtu > 0 {
            self.set_path_mtu(mtu);
        }
        self.enter(now, State::Listen);
    }

    /// Our FIN is acknowledged.
    pub(crate) fn fin_acknowledged(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.enter(now, State::FinWait2),
            State::Closing => self.wait_out(now),
            State::LastAck => self.finish(now, CloseReason::Finished),
            _ => {}
        }
    }

    /// The peer's FIN has been passed: everything it sent has arrived.
    pub(crate) fn peer_has_closed(&mut self, now: Time) {
        self.rcv.acknowledge(crate::record::reason::Reason::Ack);
        match self.state {
            State::SynReceived | State::Established => self.enter(now, State::CloseWait),
            State::FinWait1 if self.snd.fin_acknowledged() => self.wait_out(now),
            State::FinWait1 => self.enter(now, State::Closing),
            State::FinWait2 => self.wait_out(now),
            _ => {}
        }
    }

    /// TIME-WAIT: nothing is left to do but to answer old duplicates for 2·MSL.
    pub(crate) fn wait_out(&mut self, now: Time) {
        // Delayed or not, what is due is said at once: no timer but one runs from here on.
        let due = self.rcv.due;
        self.stop_timers();
        self.timers.wait_out(now + self.config.time_wait);
        self.enter(now, State::TimeWait);
        self.rcv.due = due;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::wire::options::{Options, Timestamps};

    /// A SYN that offers all there is.
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
        Segment { seq: tcp.rcv.seq(tcp.rcv.nxt), flags: Flags::RST, header_len: 20, ..Segment::default() }
    }

    #[test]
    fn a_listener_that_is_reset_is_a_new_listener_but_for_its_counters() {
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
            fresh.stats = tcp.stats;
            fresh.rare().counters = tcp.rare().counters;
            assert_eq!(format!("{tcp:?}"), format!("{fresh:?}"), "{}", profile.name);
        }
    }
}
