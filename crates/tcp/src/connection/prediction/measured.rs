//! Header prediction where more is counted than otherwise: the sender paces, or samples its delivery rate, or its packets may be
//! marked (RFC 3168; RFC 8257; RFC 9768), or the window of the peer grows. Other segments do not have these steps on their path.

use crate::congestion::ecn::handshake::ACE;
use crate::connection::prediction::Situation;
use crate::connection::{Connection, Departure};
use crate::receive::receiver::AckDue;
use crate::record::reason::{Hold, Reason};
use crate::send::decide::ordinary::Ordinary;
use crate::send::space::Plan;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Whether this is such a connection.
    #[inline(always)]
    pub(super) fn is_measured(&self) -> bool {
        self.snd.is_paced() || self.cx.has_ecn()
    }

    /// [`process_predicted`](Self::process_predicted) for such a connection.
    #[inline]
    pub(super) fn process_measured(&mut self, now: Time, segment: &Segment) -> bool {
        let is_expected = self.cx.predicts_measured_arrival()
            && self.snd.predicts_measured_arrival()
            && self.flags_of_marks(segment).is_some_and(|flags| self.is_next(segment, flags));
        if !is_expected {
            return false;
        }
        if segment.payload.len == 0 {
            self.process_measured_ack(now, segment)
        } else {
            self.take_measured_data(now, segment)
        }
    }

    /// Processes an ACK of a part of the outstanding data.
    fn process_measured_ack(&mut self, now: Time, segment: &Segment) -> bool {
        // The full path records events, and reconsiders an ACK that waits.
        let is_expected = !self.cx.is_recording()
            && self.rcv.due() == AckDue::No
            && self.snd.expects_measured_ack(&self.cx, segment);
        if is_expected {
            let marked = self.note_echo(segment);
            self.snd.take_measured_ack(&mut self.cx, now, segment, marked);
            self.rcv.take_mark(&mut self.cx, now, segment);
        }
        is_expected
    }

    /// The flags that report or answer marks, and that the fast path understands; `None` if it understands none. A mark must not begin
    /// a gradual reduction, and a counter may report one with any flags.
    #[inline]
    fn flags_of_marks(&self, segment: &Segment) -> Option<Flags> {
        let Some(memory) = self.cx.ecn_state() else { return Some(Flags::NONE) };
        let (is_data, counts) = (segment.payload.len > 0, memory.accurate_state().is_some());
        match (memory.knows_share(), counts) {
            (true, true) => Some(ACE),
            (false, true) => None,
            (_, false) if is_data => Some(Flags::CWR),
            (true, false) => Some(Flags::ECE),
            (false, false) => Some(Flags::NONE),
        }
    }

    /// Processes the next data in order, with its mark. While own data is outstanding, each segment ends a rate sample.
    fn take_measured_data(&mut self, now: Time, segment: &Segment) -> bool {
        let space = self.snd.space();
        let takes = !space.is_outstanding()
            && space.wnd() > 0
            && self.cx.agreed.read_window(segment.window, &segment.options) == space.wnd()
            && space.acknowledges_nothing_new(segment.ack)
            && self.rcv.is_in_order()
            && self.rcv.holds_whole(self.rcv.nxt() as i64, segment.payload);
        if !takes {
            return false;
        }
        if self.cx.has_ecn() {
            let marked = self.note_echo(segment);
            let una = self.snd.space().una();
            self.snd.judge_echo(&mut self.cx, now, una, 0, marked);
            self.rcv.take_mark(&mut self.cx, now, segment);
        }
        self.takes_data(segment);
        self.follow_data(now, segment);
        true
    }

    /// [`transmit_ordinary`](Self::transmit_ordinary) for such a connection.
    #[cold]
    #[inline(never)]
    pub(super) fn transmit_measured(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        let decision =
            if self.departs_measured() { self.snd.decide_undisturbed(&self.cx) } else { Ordinary::Other };
        match decision {
            Ordinary::Data { .. } if self.snd.waits_for_turn(now) => {
                self.send_measured_ack(now, segment, Hold::Pacing)
            }
            Ordinary::Data { .. } if self.snd.may_resume() => self.transmit_any(now, segment),
            Ordinary::Data { then } => Some(self.send_measured_data(now, segment, then)),
            Ordinary::NoData(why) => self.send_measured_ack(now, segment, why),
            Ordinary::Other => self.transmit_any(now, segment),
        }
    }

    /// Whether nothing but the sender decides what leaves, beside an ACK that may be due.
    #[inline]
    pub(super) fn departs_measured(&self) -> bool {
        self.cx.predicts_measured_departure() && self.rcv.is_in_order() && self.snd.sends_measured()
    }

    /// Sends a full segment of new data. If it fills the window, `then` is the reason why no other follows.
    fn send_measured_data(&mut self, now: Time, segment: &mut Segment, then: Option<Hold>) -> Departure {
        let (start, len) = (self.snd.space().nxt(), u32::from(self.cx.agreed.payload));
        let plan = Plan { start, len, flags: Flags::NONE, reason: Reason::NewData };
        self.snd.note_departure(&mut self.cx, now, &plan, start + u64::from(len));
        let end = self.send_data(now, segment, then.is_some());
        self.snd.pace(&self.cx, now, &plan);
        self.write_mark(true, segment);
        self.snd.occupy_anew(&mut self.cx, now, end);
        self.conclude_data(now, (Reason::NewData, then, Situation::Undisturbed), segment)
    }

    /// Sends the acknowledgment that is due, if one is. No data is sent, for the reason `why`.
    fn send_measured_ack(&mut self, now: Time, segment: &mut Segment, why: Hold) -> Option<Departure> {
        let reason = self.send_ack(now, segment);
        if reason.is_some() {
            self.write_mark(false, segment);
        }
        self.snd.rest(&mut self.cx, now, why);
        reason.map(|reason| Departure { reason, last: true })
    }
}
