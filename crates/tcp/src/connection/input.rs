//! Processing of arriving segments: RFC 9293, section 3.10.7, in the order of its steps.

use crate::config::{OldSegments, StateMachine, UnsentAcked, Unstamped};
use crate::connection::Connection;
use crate::opening::reply::Reply;
use crate::opening::state::{CloseReason, State};
use crate::receive::ack_schedule::PathTimes;
use crate::receive::receiver::{AckDue, Text};
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::send::space::AckVerdict;
use crate::time::{Span, Time};
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;

impl Connection {
    /// Processes a segment of this connection with a correct checksum.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.cx.stats.segments_received += 1;
        if self.cx.has_keep_alive() {
            self.restart_keep_alive(now);
        }
        if self.process_predicted(now, segment) {
            return;
        }
        self.process_fully(now, segment);
    }

    /// The same without the fast path. Drivers for which the code size matters more than the time use it.
    pub fn handle_any_segment(&mut self, now: Time, segment: &Segment) {
        self.cx.stats.segments_received += 1;
        if self.cx.has_keep_alive() {
            self.restart_keep_alive(now);
        }
        self.process_fully(now, segment);
    }

    /// The full path.
    pub(super) fn process_fully(&mut self, now: Time, segment: &Segment) {
        match self.cx.state() {
            State::Closed => {
                if !segment.flags.has(Flags::RST) {
                    self.cx.reply(Reply::reset_for(segment));
                }
            }
            State::Listen => self.arrives_in_listen(now, segment),
            State::SynSent => self.arrives_in_syn_sent(now, segment),
            _ => self.arrives(now, segment),
        }
    }

    /// Section 3.10.7.4, for the other eight states.
    #[inline]
    fn arrives(&mut self, now: Time, segment: &Segment) {
        let start = self.rcv.position(segment.seq);
        if !self.rcv.passes_timestamps(&self.cx, now, segment) || !self.rcv.accepts(start, segment.seq_len())
        {
            return self.arrives_old(now, segment, start);
        }
        self.arrives_inside(now, segment, start);
    }

    /// The steps after the first, for an acceptable segment.
    #[inline]
    fn arrives_inside(&mut self, now: Time, segment: &Segment, start: i64) {
        let flags = segment.flags;
        if flags.any(Flags::RST | Flags::SYN) && !self.is_repeated_syn(segment, start) {
            return self.arrives_with_rst_or_syn(now, segment, start);
        }
        if !flags.has(Flags::ACK) {
            // If the data of the peer's SYN was not accepted, the retransmitted SYN lies partly in the window.
            if flags.has(Flags::SYN) {
                self.answer_repeated_syn(now, segment);
            }
            return;
        }
        let is_unpredicted = self.is_unpredicted_on_linux(segment, start);
        let renews = !self.is_old_on_linux(segment) || self.renews_by_old_ack(now, start, segment);
        if !self.take_ack(now, segment) {
            return;
        }
        // This must follow the check of the ACK. Otherwise a segment that acknowledges unsent data could set TS.Recent
        // and disable PAWS.
        if renews {
            self.rcv.renew_ts_recent(&self.cx, now, start, segment);
        }
        if flags.has(Flags::URG) && self.cx.state().may_receive() {
            self.take_urgent(now, segment);
        }
        if segment.seq_len() > 0 && self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.forget_duplicate();
        }
        self.rcv.take_mark(&mut self.cx, segment);
        if segment.payload.len > 0 && (self.cx.state().may_receive() || self.reports_behind_fin(start)) {
            self.take_text(now, segment, start);
        }
        if flags.has(Flags::FIN) && !self.ignores_fin(start) {
            if self.rcv.take_fin(start + i64::from(segment.payload.len)) {
                if matches!(self.cx.state(), State::SynReceived | State::Established) {
                    let times = self.path_times();
                    self.rcv.acknowledge_fin(&self.cx, now, times, segment);
                } else {
                    self.rcv.acknowledge(Reason::Ack);
                }
                self.peer_has_closed(now);
            } else {
                // The FIN follows a gap, and the ACK reports the gap (RFC 5681, section 4.2); or the FIN is a
                // duplicate.
                self.note_old_fin(start, segment.payload.len);
                let position = start + i64::from(segment.payload.len);
                if self.cx.config.old_segments == OldSegments::Linux
                    && !(segment.payload.len == 0 && self.rcv.note_fin_again(position))
                {
                    self.rcv.report_fin(position);
                }
                self.rcv.acknowledge(Reason::DuplicateAck);
            }
        }
        if is_unpredicted && self.rcv.due() == AckDue::Later {
            let times = self.path_times();
            self.rcv.reconsider_ack(&self.cx, now, times, segment);
        }
    }

    /// Whether Linux looks once more at an ACK that waits: at the end of each segment without data that header prediction does not
    /// take (`tcp_ack_snd_check()`).
    #[inline]
    fn is_unpredicted_on_linux(&self, segment: &Segment, start: i64) -> bool {
        segment.seq_len() == 0
            && self.cx.config.old_segments == OldSegments::Linux
            && self.rcv.due() == AckDue::Later
            && !self.is_predicted_on_linux(segment, start)
    }

    /// Whether header prediction takes a segment without data (`tcp_rcv_established()`).
    #[cold]
    fn is_predicted_on_linux(&self, segment: &Segment, start: i64) -> bool {
        self.cx.state() == State::Established
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.payload.len == 0
            && start == self.rcv.nxt() as i64
            && self.cx.agreed.read_window(segment.window, &segment.options) == self.snd.space().wnd()
            && segment.header_len == self.cx.agreed.header_len
            && self.rcv.waits_for_nothing()
    }

    /// Whether a segment acknowledges less than SND.UNA, which Linux treats differently if it carries a timestamp.
    #[inline]
    fn is_old_on_linux(&self, segment: &Segment) -> bool {
        self.cx.agreed.timestamps
            && self.cx.config.old_segments == OldSegments::Linux
            && self.snd.space().is_old_ack(segment.ack)
    }

    /// An old ACK renews TS.Recent only if header prediction takes it: `tcp_rcv_established()` then stores the timestamp before
    /// `tcp_ack()` checks the number. Otherwise `tcp_ack()` returns before it stores it. Returns `true` if it renews.
    #[cold]
    fn renews_by_old_ack(&mut self, now: Time, start: i64, segment: &Segment) -> bool {
        let is_predicted = self.is_predicted_on_linux(segment, start);
        if is_predicted {
            self.rcv.renew_ts_recent(&self.cx, now, start, segment);
        }
        is_predicted
    }

    /// The first checks refuse the segment. Linux and FreeBSD accept some of these.
    #[cold]
    fn arrives_old(&mut self, now: Time, segment: &Segment, start: i64) {
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

    /// Whether old data is reported although the peer has closed: in Linux it is (`tcp_data_queue()`).
    #[cold]
    fn reports_behind_fin(&self, start: i64) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && matches!(self.cx.state(), State::CloseWait | State::Closing | State::LastAck)
            && start < self.rcv.nxt() as i64
    }

    /// Whether Linux has a TIME-WAIT socket in place of this connection.
    fn is_time_wait_on_linux(&self) -> bool {
        self.cx.config.old_segments == OldSegments::Linux && self.cx.state() == State::TimeWait
    }

    /// Whether a FIN has no effect, because it is behind an earlier one. Linux does not even answer it
    /// (`tcp_rcv_state_process()`).
    fn ignores_fin(&self, start: i64) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && matches!(self.cx.state(), State::CloseWait | State::Closing | State::LastAck)
            && start >= self.rcv.nxt() as i64
    }

    /// Records an old segment for D-SACK.
    fn note_duplicate(&mut self, start: i64, len: u32) {
        if self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.note_any_duplicate(start, len);
        } else {
            self.rcv.note_duplicate(start, len);
        }
    }

    /// Records the segment of an old FIN for D-SACK, if such are reported (Linux, `tcp_data_queue()`).
    #[cold]
    fn note_old_fin(&mut self, start: i64, len: u32) {
        let is_old = start + i64::from(len) < self.rcv.nxt() as i64;
        if is_old && self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.note_any_duplicate(start, len + 1);
        }
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
        // A TIME-WAIT socket of Linux has no options for SACK (`tcp_v4_timewait_ack()`).
        if !self.is_time_wait_on_linux() {
            self.note_duplicate(start, segment.payload.len + u32::from(counts_fin));
        }
        if segment.flags.has(Flags::SYN) {
            self.process_repeated_syn_ack(segment, start);
            self.challenge(now);
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
                self.rcv.note_refused(&self.cx, times, segment);
            }
            self.rcv.acknowledge(Reason::DuplicateAck);
            self.cx.answer_bare();
        }
    }

    /// Simultaneous open: the peer retransmits its SYN with the ACK of ours (RFC 9293, figure 8).
    #[cold]
    fn take_syn_ack(&mut self, now: Time, segment: &Segment) {
        if self.take_ack(now, segment) {
            self.process_crossing_syn_ack(now, segment);
            if self.cx.config.old_segments == OldSegments::Linux && self.cx.agreed.sack {
                // The SYN has arrived before (`tcp_data_queue()`).
                self.rcv.note_any_duplicate(0, 1);
            }
            self.rcv.acknowledge(Reason::Ack);
        }
    }

    /// The fifth step: the ACK. Returns whether the rest of the segment is to be processed.
    #[inline]
    pub(super) fn take_ack(&mut self, now: Time, segment: &Segment) -> bool {
        if self.cx.state() == State::SynReceived {
            let Some(ack) = self.snd.space().acknowledged_by(segment.ack).filter(|ack| *ack > 0) else {
                self.cx.reply(Reply::reset_for(segment));
                return false;
            };
            self.process_handshake_ack(now, segment);
            self.snd.syn_acknowledged(&mut self.cx, now, ack);
            self.snd.expect_window_from(segment.seq.minus(1));
            if self.cx.passive && self.cx.config.old_segments == OldSegments::Linux {
                self.snd.forget_largest_window();
                // The new socket counts its answers anew, not with those of its request (`tcp_rsk(req)->last_oow_ack_time`).
                self.cx.forget_invalid_answers();
            }
            self.become_established(now);
            if self.rcv.deliver_syn_text() {
                self.acknowledge_syn_text(now, segment);
            }
        } else {
            match self.judge_ack(segment.ack) {
                AckVerdict::Acceptable => {}
                AckVerdict::Unsent if self.cx.config.unsent_acked == UnsentAcked::Ignored => return false,
                AckVerdict::Unsent | AckVerdict::TooOld => {
                    self.challenge(now);
                    return false;
                }
            }
        }
        let marked = self.note_echo(segment);
        self.snd.take_ack(&mut self.cx, now, segment, marked);
        if self.snd.space().fin_acknowledged() {
            self.fin_acknowledged(now);
        }
        true
    }

    /// The data of the peer's SYN was delivered. Its ACK may wait, like that of other data.
    #[cold]
    fn acknowledge_syn_text(&mut self, now: Time, segment: &Segment) {
        if self.cx.config.acking.counts_segments() {
            self.schedule_ack(now, Text::InOrder { fills_gap: false }, segment);
        } else {
            self.rcv.acknowledge(Reason::Ack);
        }
    }

    /// Whether an acknowledgment number is acceptable.
    #[inline]
    fn judge_ack(&self, ack: Seq) -> AckVerdict {
        let space = self.snd.space();
        let verdict = space.judge_ack(ack);
        let counts = verdict == AckVerdict::Acceptable && self.cx.config.old_segments == OldSegments::Linux;
        // Linux does not accept an ACK of bytes that it has never sent: bytes_acked limits MAX.SND.WND. It counts the SYN
        // of an active open.
        if counts && space.position(ack) < i64::from(self.cx.passive) { AckVerdict::TooOld } else { verdict }
    }

    /// Answers a retransmitted SYN with our SYN-ACK, because a peer in SYN-SENT needs it. The first SYN-ACK was lost or
    /// is still in flight.
    #[cold]
    fn answer_repeated_syn(&mut self, now: Time, segment: &Segment) {
        if !self.process_repeated_syn(segment) {
            self.give_up(now, CloseReason::Reset);
        } else if self.cx.may_answer_invalid(now) {
            self.snd.send_syn_again();
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

    /// Second and fourth steps, with the changes of RFC 5961.
    #[cold]
    fn arrives_with_rst_or_syn(&mut self, now: Time, segment: &Segment, start: i64) {
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
                self.challenge(now);
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
    fn resets_elsewhere(&self, start: i64) -> bool {
        if self.cx.config.old_segments != OldSegments::Linux {
            return false;
        }
        let after_fin = matches!(self.cx.state(), State::CloseWait | State::LastAck | State::Closing)
            && start + 1 == self.rcv.nxt() as i64;
        after_fin || (self.cx.agreed.sack && self.rcv.ends_reports(start))
    }

    /// An acceptable reset ends the connection.
    #[cold]
    fn take_reset(&mut self, now: Time) {
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

    /// Sends a challenge ACK if the limit permits (RFC 5961, section 7).
    #[cold]
    pub(super) fn challenge(&mut self, now: Time) {
        if self.cx.may_challenge(now) {
            self.rcv.acknowledge(Reason::ChallengeAck);
            self.cx.answer_bare();
        }
    }

    /// Sixth step: the pointer gives the byte after the urgent data (RFC 9293, section 3.8.5). It is new only if it is
    /// ahead of the data that was read.
    #[cold]
    fn take_urgent(&mut self, now: Time, segment: &Segment) {
        let position = self.rcv.position(segment.seq.plus(u32::from(segment.urgent)));
        let position = u64::try_from(position).unwrap_or(0);
        if self.rcv.take_urgent(position) {
            self.cx.note(now, Event::Urgent { offset: position - 1 });
        }
    }

    /// Schedules the ACK of accepted data: now, or when the delayed ACK timer expires.
    #[inline(always)]
    pub(super) fn schedule_ack(&mut self, now: Time, text: Text, segment: &Segment) {
        if self.cx.config.acking.counts_segments() {
            self.rcv.schedule_ack(now, text, &self.cx.config.acking);
        } else {
            self.schedule_ack_otherwise(now, text, segment);
        }
    }

    #[cold]
    pub(super) fn schedule_ack_otherwise(&mut self, now: Time, text: Text, segment: &Segment) {
        if self.rcv.schedule_ordinary_ack(&self.cx, now, text, segment) {
            return;
        }
        let times = self.path_times();
        self.rcv.schedule_ack_otherwise(&self.cx, now, times, text, segment);
    }

    /// The times of the path that a delayed ACK policy may use.
    pub(super) fn path_times(&self) -> PathTimes {
        PathTimes { rto: self.snd.timeout(), srtt: self.snd.srtt(&self.cx) }
    }

    /// Seventh step: the data.
    #[inline]
    pub(super) fn take_text(&mut self, now: Time, segment: &Segment, start: i64) {
        let len = segment.payload.len;
        let naks = self.cx.agreed.nak.then_some(u32::from(self.cx.agreed.payload));
        let (text, taken) = self.rcv.take(start, len, naks, self.cx.config.old_segments);
        if text == Text::Duplicate {
            self.cx.counters().duplicates_received += 1;
            self.note_duplicate(start, len);
        } else if i64::try_from(segment.payload.offset).unwrap_or(i64::MAX) != start - 1 {
            self.cx.counters().foreign_bytes += taken.len();
        }
        if start < 1 && text != Text::Duplicate {
            // It begins before the stream and carries new data too. Linux reports all of its old part.
            self.note_duplicate(start, (taken.start as i64 - start) as u32);
        }
        if self.cx.config.initial_receive_window.is_some() {
            let first = self.snd.first_sent();
            match text {
                Text::InOrder { .. } => self.rcv.tune_to_arrival(&self.cx, now, first, segment),
                Text::OutOfOrder => self.rcv.note_background(&self.cx, now, first, segment),
                Text::Duplicate => {}
            }
        }
        self.schedule_ack(now, text, segment);
        if matches!(text, Text::InOrder { .. }) && self.rcv.finish() {
            self.rcv.acknowledge(Reason::Ack);
            self.peer_has_closed(now);
        }
    }
}
