//! The data of an arriving segment, its urgent pointer, and when it is acknowledged: the sixth and the seventh step of RFC 9293,
//! section 3.10.7.4.

use crate::config::OldSegments;
use crate::connection::Connection;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::receive::ack_schedule::{PathTimes, Reads};
use crate::receive::receiver::Text;
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::send::space::Plan;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Seventh step: the data.
    #[inline]
    pub(in crate::connection) fn take_text(&mut self, now: Time, segment: &Segment, start: i64) {
        let len = segment.payload.len;
        let naks = self.cx.agreed.nak.then_some(u32::from(self.cx.agreed.payload));
        let reports = self.rcv.reports_with_fin();
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
                Text::OutOfOrder => self.rcv.tune_to_gap(&self.cx, now, first, segment),
                Text::Duplicate => {}
            }
        }
        let is_exact = text == (Text::InOrder { fills_gap: false }) && taken.start as i64 == start;
        if is_exact && self.is_text_predicted_on_linux(segment) {
            self.snd.expect_window_from(segment.seq);
        }
        self.schedule_ack(now, text, segment);
        if matches!(text, Text::InOrder { .. }) && self.rcv.finish() {
            self.rcv.acknowledge(Reason::Ack);
            self.peer_has_closed(now);
            if let Some(reports) = reports {
                self.report_filled(reports);
            }
        }
    }

    /// Data has filled the gap before the peer's FIN. After closing, Linux acknowledges it before it removes the `reports` of what
    /// lay behind the gap (`tcp_send_ack()` in `tcp_fin()`, before `tcp_sack_reset()` and `tcp_sack_remove()`).
    #[cold]
    fn report_filled(&mut self, reports: [Range; 4]) {
        let closed = matches!(self.cx.state(), State::Closing | State::TimeWait);
        if closed && self.cx.agreed.sack && self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.report_filled(reports);
        }
    }

    /// Sends the ACK that waits behind a gap before the data at `start` takes a place in it, if that could push out what no ACK has
    /// reported. Returns whether one leaves: the data itself then causes none (Linux, `tcp_sack_compress_send_ack()`).
    #[inline]
    pub(super) fn reports_first(&mut self, now: Time, segment: &Segment, start: i64) -> bool {
        let is_due = self.rcv.must_report_before(start, segment.payload.len);
        if !is_due || !self.cx.agreed.sack || self.cx.has_ready() {
            return false;
        }
        let reason = Reason::DuplicateAck;
        let start = self.snd.ack_position(&self.cx, reason);
        let mut ack = Segment::default();
        self.emit(now, Plan { start, len: 0, flags: Flags::NONE, reason }, &mut ack);
        self.cx.send_first(ack);
        true
    }

    /// Schedules the ACK of accepted data: now, or when the delayed ACK timer expires.
    #[inline(always)]
    pub(in crate::connection) fn schedule_ack(&mut self, now: Time, text: Text, segment: &Segment) {
        if self.cx.config.acking.counts_segments() {
            self.rcv.schedule_ack(now, text, &self.cx.config.acking);
        } else {
            self.schedule_ack_otherwise(now, text, segment);
        }
    }

    #[cold]
    pub(in crate::connection) fn schedule_ack_otherwise(&mut self, now: Time, text: Text, segment: &Segment) {
        if !self.rcv.schedule_ordinary_ack(&self.cx, now, text, segment, Reads::Later) {
            self.schedule_ack_by_state(now, text, segment, Reads::Later);
        }
    }

    /// The same for a segment that a policy does not treat as an ordinary one.
    pub(in crate::connection) fn schedule_ack_by_state(
        &mut self,
        now: Time,
        text: Text,
        segment: &Segment,
        reads: Reads,
    ) {
        let times = self.path_times();
        self.rcv.schedule_ack_otherwise(&self.cx, (now, times), text, segment, reads);
    }

    /// The times of the path that a delayed ACK policy may use.
    pub(in crate::connection) fn path_times(&self) -> PathTimes {
        PathTimes { rto: self.snd.timeout(), srtt: self.snd.srtt(&self.cx) }
    }

    /// The data of the peer's SYN was delivered. Its ACK may wait, like that of other data.
    #[cold]
    pub(super) fn acknowledge_syn_text(&mut self, now: Time, segment: &Segment) {
        if self.cx.config.acking.counts_segments() {
            self.schedule_ack(now, Text::InOrder { fills_gap: false }, segment);
        } else {
            self.rcv.acknowledge(Reason::Ack);
        }
    }

    /// Whether old data is reported although the peer has closed: in Linux it is (`tcp_data_queue()`).
    #[cold]
    pub(super) fn reports_behind_fin(&self, start: i64) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && matches!(self.cx.state(), State::CloseWait | State::Closing | State::LastAck)
            && start < self.rcv.nxt() as i64
    }

    /// Whether a FIN has no effect, because it is behind an earlier one. Linux does not even answer it
    /// (`tcp_rcv_state_process()`).
    pub(super) fn ignores_fin(&self, start: i64) -> bool {
        self.cx.config.old_segments == OldSegments::Linux
            && matches!(self.cx.state(), State::CloseWait | State::Closing | State::LastAck)
            && start >= self.rcv.nxt() as i64
    }

    /// Records an old segment for D-SACK.
    pub(super) fn note_duplicate(&mut self, start: i64, len: u32) {
        if self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.note_any_duplicate(start, len);
        } else {
            self.rcv.note_duplicate(start, len);
        }
    }

    /// Records the segment of an old FIN for D-SACK, if such are reported (Linux, `tcp_data_queue()`).
    #[cold]
    pub(super) fn note_old_fin(&mut self, start: i64, len: u32) {
        let is_old = start + i64::from(len) < self.rcv.nxt() as i64;
        if is_old && self.cx.config.old_segments == OldSegments::Linux {
            self.rcv.note_any_duplicate(start, len + 1);
        }
    }

    /// Sixth step: the pointer gives the byte after the urgent data (RFC 9293, section 3.8.5). It is new only if it is
    /// ahead of the data that was read.
    #[cold]
    pub(super) fn take_urgent(&mut self, now: Time, segment: &Segment) {
        let position = self.rcv.position(segment.seq.plus(u32::from(segment.urgent)));
        let position = u64::try_from(position).unwrap_or(0);
        if self.rcv.take_urgent(position) {
            self.cx.note(now, Event::Urgent { offset: position - 1 });
        }
    }
}
