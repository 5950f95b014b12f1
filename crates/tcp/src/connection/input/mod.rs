//! Processing of arriving segments: RFC 9293, section 3.10.7, in the order of its steps.

mod outside;
mod reset;
mod text;

use crate::config::{OldSegments, UnsentAcked};
use crate::connection::Connection;
use crate::opening::reply::Reply;
use crate::opening::state::State;
use crate::receive::receiver::AckDue;
use crate::record::reason::Reason;
use crate::send::space::AckVerdict;
use crate::time::Time;
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
        if !self.rcv.passes_timestamps(&self.cx, now, segment)
            || !self.rcv.accepts(start, segment.seq_len())
            || self.is_refused_in_opening(segment)
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
        if self.is_time_wait_on_linux() && segment.seq_len() == 0 && start == self.rcv.nxt() as i64 {
            // A TIME-WAIT socket does not look at the acknowledgment number (`tcp_timewait_state_process()`).
            return self.rcv.renew_ts_recent(&self.cx, now, start, segment);
        }
        let is_unpredicted = self.is_unpredicted_on_linux(segment, start);
        let closes = self.cx.state() == State::Closing;
        let renews = !self.is_old_on_linux(segment) || self.renews_by_old_ack(now, start, segment);
        if !self.ignores_ack_on_linux(segment, start) && !self.take_ack(now, segment) {
            return;
        }
        // This must follow the check of the ACK. Otherwise a segment that acknowledges unsent data could set TS.Recent
        // and disable PAWS.
        if renews {
            self.rcv.renew_ts_recent(&self.cx, now, start, segment);
        }
        if closes && self.is_time_wait_on_linux() {
            // The ACK of our FIN is consumed with its data and its FIN (TCP_CLOSING in `tcp_rcv_state_process()`).
            return;
        }
        if flags.has(Flags::URG) && self.cx.state().may_receive() {
            self.take_urgent(now, segment);
        }
        if segment.seq_len() > 0 {
            self.rcv.forget_duplicate(&self.cx);
        }
        self.rcv.take_mark(&mut self.cx, now, segment);
        if segment.payload.len > 0 && (self.cx.state().may_receive() || self.reports_behind_fin(start)) {
            let is_reported = self.reports_first(now, segment, start);
            self.take_text(now, segment, start);
            if is_reported {
                self.rcv.forgo_ack();
            }
        }
        if flags.has(Flags::FIN) && !self.ignores_fin(start) {
            if self.rcv.take_fin(start + i64::from(segment.payload.len)) {
                if segment.payload.len == 0 {
                    self.rcv.take_bare_fin_in_order(&self.cx, segment.header_len);
                }
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
                    if segment.payload.len == 0 {
                        self.rcv.take_bare_fin(&self.cx, position, segment.header_len);
                    }
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
        self.has_predicted_header(segment)
            && segment.payload.len == 0
            && start == self.rcv.nxt() as i64
            && !self.awaits_first_window()
    }

    /// Whether header prediction has taken data in order that acknowledges nothing. WL1 is its number then, also if that is a lower
    /// one (`tcp_update_wl()` in `tcp_rcv_established()`).
    fn is_text_predicted_on_linux(&self, segment: &Segment) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && self.snd.space().wl1() != segment.seq
            && self.snd.space().acknowledges_nothing_new(segment.ack)
            && self.has_predicted_header(segment)
    }

    /// Whether header prediction takes data in order that acknowledges nothing, while a window probe is due later: Linux does not
    /// look at its ACK, which would restart the timer of the probe (`tcp_rcv_established()`, `tcp_ack_probe()`).
    #[inline]
    fn ignores_ack_on_linux(&self, segment: &Segment, start: i64) -> bool {
        segment.payload.len > 0
            && self.snd.is_persisting()
            && self.cx.config.old_segments == OldSegments::Linux
            && start == self.rcv.nxt() as i64
            && self.snd.space().acknowledges_nothing_new(segment.ack)
            && self.has_predicted_header(segment)
    }

    /// Whether flags, window and length of the header are those that header prediction expects, and nothing is missing.
    fn has_predicted_header(&self, segment: &Segment) -> bool {
        self.cx.state() == State::Established
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && self.cx.agreed.read_window(segment.window, &segment.options) == self.snd.space().wnd()
            && segment.header_len == self.cx.agreed.header_len
            && self.rcv.waits_for_nothing()
    }

    /// Whether Linux has no header prediction yet: a client of a peer that scales its window has none before the window changes or
    /// data arrives (`tcp_finish_connect()`). The window of the SYN-ACK, which is not scaled, counts as unchanged while none was
    /// larger.
    fn awaits_first_window(&self) -> bool {
        let (space, (theirs, _)) = (self.snd.space(), self.cx.agreed.shifts());
        !self.cx.passive && theirs > 0 && self.rcv.nxt() == 1 && space.wnd() == space.max_wnd()
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

    /// The fifth step: the ACK. Returns whether the rest of the segment is to be processed.
    #[inline]
    pub(super) fn take_ack(&mut self, now: Time, segment: &Segment) -> bool {
        if self.cx.state() == State::SynReceived {
            let Some(ack) = self.snd.space().acknowledged_by(segment.ack).filter(|ack| *ack > 0) else {
                self.cx.reply(Reply::reset_for(segment));
                return false;
            };
            self.process_handshake_ack(now, segment);
            let as_linux = self.cx.passive && self.cx.config.old_segments == OldSegments::Linux;
            if as_linux {
                self.snd.begin_with_window(&mut self.cx, segment);
            }
            self.snd.syn_acknowledged(&mut self.cx, now, ack);
            self.snd.expect_window_from(segment.seq.minus(1));
            if as_linux {
                // The new socket counts its answers anew, not with those of its request (`tcp_rsk(req)->last_oow_ack_time`).
                self.cx.set_answered_invalid(None);
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

    /// Whether an acknowledgment number is acceptable.
    #[inline]
    pub(super) fn judge_ack(&self, ack: Seq) -> AckVerdict {
        let space = self.snd.space();
        let verdict = space.judge_ack(ack);
        let counts = verdict == AckVerdict::Acceptable && self.cx.config.old_segments == OldSegments::Linux;
        // Linux does not accept an ACK of bytes that it has never sent: bytes_acked limits MAX.SND.WND. It counts the SYN
        // of an active open.
        if counts && space.position(ack) < i64::from(self.cx.passive) { AckVerdict::TooOld } else { verdict }
    }
}
