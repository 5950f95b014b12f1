//! Segments that the first checks refuse (RFC 9293, section 3.10.7.4, first step), and what Linux and FreeBSD accept of them.

use crate::config::{OldSegments, StateMachine, Unstamped};
use crate::connection::Connection;
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::record::reason::Reason;
use crate::send::space::AckVerdict;
use crate::time::{Span, Time};
use crate::wire::options::timestamp;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// The first checks refuse the segment. Linux and FreeBSD accept some of these.
    #[cold]
    pub(super) fn arrives_old(&mut self, now: Time, segment: &Segment, start: i64) {
        let state = self.cx.state();
        if self.cx.config.state_machine == StateMachine::Freebsd && self.fits_buffer(now, segment, start) {
            return self.arrives_inside(now, segment, start);
        }
        if self.is_stray_ack_on_linux(segment) {
            if !segment.flags.has(Flags::RST) {
                self.cx.reply(Reply::reset_for(segment));
            }
            return;
        }
        let without_ack = !segment.flags.any(Flags::ACK | Flags::RST | Flags::SYN);
        if without_ack
            && self.cx.config.old_segments == OldSegments::Linux
            && !matches!(state, State::SynReceived | State::TimeWait)
        {
            return;
        }
        if self.cx.config.old_segments == OldSegments::Outside
            || matches!(state, State::SynReceived | State::TimeWait)
        {
            return self.arrives_outside(now, segment, start);
        }
        if segment.flags.has(Flags::RST) && self.resets_elsewhere(start) {
            return self.take_reset(now);
        }
        let is_one_older = self.rcv.is_one_older(&self.cx, segment) || self.is_disordered_ack(segment, start);
        let passes = is_one_older || self.rcv.passes_timestamps(&self.cx, now, segment);
        let seq_len = segment.seq_len();
        if !passes || !(self.rcv.accepts(start, seq_len) || self.rcv.ends_since_last_ack(start, seq_len)) {
            return self.arrives_outside(now, segment, start);
        }
        let mut segment = *segment;
        if is_one_older && let Some(stamps) = &mut segment.options.timestamps {
            // It passes, but TS.Recent does not go back.
            stamps.value = self.rcv.ts_recent();
        }
        self.arrives_inside(now, &segment, start);
    }

    /// Whether a segment acknowledges something else than our SYN-ACK. Linux then looks neither at its place nor at its
    /// timestamp: the listener answers it with a reset (`tcp_check_req()`).
    #[cold]
    fn is_stray_ack_on_linux(&self, segment: &Segment) -> bool {
        self.cx.state() == State::SynReceived
            && self.cx.passive
            && self.cx.config.old_segments == OldSegments::Linux
            && !self.cx.is_open_early()
            && segment.flags.has(Flags::ACK)
            && self.snd.space().acknowledged_by(segment.ack).is_none_or(|ack| ack == 0)
    }

    /// Whether a listener of Linux refuses a segment in SYN-RECEIVED, although it lies in the window. A reset is judged by its place.
    #[inline]
    pub(super) fn is_refused_in_opening(&self, segment: &Segment) -> bool {
        let is_stray = || !segment.flags.has(Flags::RST) && self.is_stray_ack_on_linux(segment);
        self.cx.state() == State::SynReceived && (is_stray() || self.is_echo_rejected(segment))
    }

    /// Whether a segment echoes a timestamp that none of our SYN-ACKs has carried. A listener of Linux takes it for one outside the
    /// window (`tcp_check_req()`, TSECRREJECTED).
    #[cold]
    fn is_echo_rejected(&self, segment: &Segment) -> bool {
        let echo = segment.options.timestamps.map_or(0, |stamps| stamps.echo);
        // The first SYN-ACK's time is known to 5 ms.
        let (first, last) =
            (timestamp(self.snd.first_sent().instant()), timestamp(self.snd.space().last_sent()));
        self.cx.passive
            && self.cx.agreed.timestamps
            && self.cx.config.old_segments == OldSegments::Linux
            && !self.cx.is_open_early()
            && echo != 0
            && echo.wrapping_sub(first) > last.wrapping_sub(first)
    }

    /// Whether an ACK with an old timestamp is only a duplicate that another one has overtaken, which Linux takes
    /// (`tcp_disordered_ack_check()`): it changes no window, and it is not older than about a timeout.
    #[cold]
    fn is_disordered_ack(&self, segment: &Segment, start: i64) -> bool {
        let Some(stamps) = segment.options.timestamps.filter(|_| self.cx.agreed.timestamps) else {
            return false;
        };
        let window = self.cx.agreed.read_window(segment.window, &segment.options);
        let space = self.snd.space();
        let most = self.snd.timeout().saturating_mul(6).as_ps() / (5 * Span::from_ms(1).as_ps());
        segment.flags.has(Flags::ACK)
            && segment.seq_len() == 0
            && start == self.rcv.nxt() as i64
            && space.acknowledges_nothing_new(segment.ack)
            && !space.may_update_window(segment.seq, segment.ack, window)
            && u64::from(self.rcv.ts_recent().wrapping_sub(stamps.value)) <= most
    }

    /// Whether a segment behind the announced window lies in the free buffer (FreeBSD, `tcp_input()`: `rcv_wnd`). If its
    /// data can be taken, the window is as large as the buffer from now on.
    #[cold]
    fn fits_buffer(&mut self, now: Time, segment: &Segment, start: i64) -> bool {
        let fits = self.cx.state() != State::TimeWait
            && self.rcv.passes_timestamps(&self.cx, now, segment)
            && self.rcv.is_in_free_buffer(start);
        let is_plain = segment.flags.has(Flags::ACK) && !segment.flags.any(Flags::RST | Flags::SYN);
        if fits && is_plain && self.judge_ack(segment.ack) == AckVerdict::Acceptable {
            self.rcv.open_to_buffer();
        }
        fits
    }

    /// First step: the segment is not acceptable. The reply is an ACK, unless the segment is a reset or lacks the
    /// negotiated timestamp (RFC 7323, section 3.2). In TIME-WAIT a retransmitted FIN restarts the timer.
    #[cold]
    fn arrives_outside(&mut self, now: Time, segment: &Segment, start: i64) {
        let unstamped = self.cx.agreed.timestamps
            && segment.options.timestamps.is_none()
            && self.cx.config.unstamped == Unstamped::Dropped;
        if segment.flags.has(Flags::RST) || (unstamped && !segment.flags.has(Flags::SYN)) {
            return;
        }
        if self.cx.state() == State::SynReceived && segment.flags.has(Flags::SYN) && start == 0 {
            let is_request = self.cx.passive && self.cx.config.old_segments == OldSegments::Linux;
            if segment.flags.has(Flags::ACK) && is_request {
                // No simultaneous open, for a listener of Linux: a segment outside the window (`tcp_check_req()`).
                self.challenge(now);
            } else if segment.flags.has(Flags::ACK) {
                self.take_syn_ack(now, segment);
            } else {
                self.answer_repeated_syn(now, segment);
            }
            return;
        }
        self.cx.counters().duplicates_received += 1;
        let counts_fin = self.cx.config.old_segments == OldSegments::Linux && segment.flags.has(Flags::FIN);
        // A TIME-WAIT socket of Linux knows neither what to report by SACK nor marks (`tcp_v4_timewait_ack()`).
        if self.is_time_wait_on_linux() {
            if let Some(memory) = self.cx.ecn() {
                memory.stop_echo();
            }
        } else {
            self.note_duplicate(start, segment.payload.len + u32::from(counts_fin));
        }
        if segment.flags.has(Flags::SYN) {
            self.process_repeated_syn_ack(segment, start);
            self.challenge_syn(now, segment);
            return;
        }
        let expected = self.rcv.nxt() as i64;
        let is_stamped_well =
            self.rcv.passes_timestamps(&self.cx, now, segment) || self.rcv.is_one_older(&self.cx, segment);
        if !is_stamped_well {
            self.cx.counters().paws_drops += 1;
        }
        let is_taken = is_stamped_well
            && segment.flags.has(Flags::ACK)
            && self.accepts_ack_outside_window(start, segment.seq_len())
            && self.take_ack(now, segment);
        // MUST-66: the pointer of what a closed window cannot take counts all the same, unless the segment must be dropped for
        // its timestamp or its ACK.
        let is_next = self.rcv.window() == 0 && start == expected;
        if is_taken && segment.flags.has(Flags::URG) && is_next && self.cx.state().may_receive() {
            self.take_urgent(now, segment);
        }
        // tcp_disordered_ack_check(), since 6.15: an old ACK of the path does not need an answer, but in TIME-WAIT.
        let is_old_ack = !is_stamped_well
            && segment.options.timestamps.is_some()
            && segment.seq_len() == 0
            && start < expected
            && !self.is_time_wait_on_linux();
        if is_old_ack && segment.flags.has(Flags::ACK) && self.cx.config.invalid_ratelimit > Span::ZERO {
            return;
        }
        let ends_where_the_fin_did = start + i64::from(segment.seq_len()) == expected;
        if self.cx.state() == State::TimeWait && segment.flags.has(Flags::FIN) && ends_where_the_fin_did {
            self.snd.wait_out(now + self.cx.config.time_wait);
        }
        // Text and FINs are retransmitted until they are acknowledged. Without them, two ends that disagree would answer
        // each other's ACKs without end.
        if segment.seq_len() > 0 || self.cx.may_answer_invalid(now) {
            if segment.seq_len() > 0 && self.cx.config.old_segments == OldSegments::Linux {
                let times = self.path_times();
                self.rcv.note_refused(&self.cx, now, times, segment);
            }
            self.rcv.acknowledge(Reason::DuplicateAck);
            self.cx.answer_bare();
        }
    }

    /// Whether the ACK of a segment outside the window is processed nevertheless (RFC 9293, section 3.10.7.4, for a
    /// closed window, and appendix A.2). One position before the left edge, the peer has not yet received the ACK of
    /// its window probe. At the right edge, the peer's last segments were lost. Without this rule two such ends would
    /// exchange ACKs without end.
    fn accepts_ack_outside_window(&self, start: i64, seq_len: u32) -> bool {
        let expected = self.rcv.nxt() as i64;
        // `tcp_sequence()`: not the left one.
        let at_left_edge = start + 1 == expected && self.cx.config.old_segments != OldSegments::Linux;
        let at_an_edge = at_left_edge || self.rcv.is_right_edge(start);
        // FreeBSD drops the data and goes on with the ACK.
        let is_old = self.cx.config.state_machine == StateMachine::Freebsd && start < expected;
        is_old
            || (self.rcv.window() == 0 && start == expected)
            || (self.cx.state().is_synchronized() && seq_len == 0 && at_an_edge)
    }

    /// Simultaneous open: the peer retransmits its SYN with the ACK of ours (RFC 9293, figure 8).
    #[cold]
    pub(super) fn take_syn_ack(&mut self, now: Time, segment: &Segment) {
        if self.take_ack(now, segment) {
            self.process_crossing_syn_ack(now, segment);
            if self.cx.config.old_segments == OldSegments::Linux && self.cx.agreed.sack {
                // The SYN has arrived before (`tcp_data_queue()`).
                self.rcv.note_any_duplicate(0, 1);
            }
            self.rcv.acknowledge(Reason::Ack);
        }
    }

    /// Answers a retransmitted SYN with our SYN-ACK, because a peer in SYN-SENT needs it. The first SYN-ACK was lost or
    /// is still in flight.
    #[cold]
    pub(super) fn answer_repeated_syn(&mut self, now: Time, segment: &Segment) {
        if !self.process_repeated_syn(segment) {
            self.give_up(now, CloseReason::Reset);
        } else if self.cx.may_answer_invalid(now) {
            self.snd.send_syn_again();
        }
    }

    /// Whether Linux has a TIME-WAIT socket in place of this connection.
    pub(super) fn is_time_wait_on_linux(&self) -> bool {
        self.cx.config.old_segments == OldSegments::Linux && self.cx.state() == State::TimeWait
    }
}
