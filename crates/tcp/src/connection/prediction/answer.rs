//! A segment of an undisturbed bulk transfer arrives, and the one that it sets free leaves: both in one call. At the receiver
//! the next data arrives, the application reads all of it, and an ACK leaves. At the sender an ACK arrives, the application waits
//! for room, and new data leaves.
//!
//! An answer has the same effect as the calls that it replaces. It looks at all conditions once, where each of these calls looks
//! at its own. What it declines it leaves unchanged. A test takes the same segments both ways (`answer_pairs.rs`).

use crate::connection::{Connection, Departure};
use crate::record::reason::Hold;
use crate::send::decide::ordinary::Ordinary;
use crate::time::Time;
use crate::wire::segment::Segment;

/// The answer to a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// None yet: the segment is still to be processed.
    Declined,
    /// None yet: the segment is processed, and the application is to be asked.
    Taken,
    /// None: the segment is processed, and there is nothing to send.
    Silent,
    /// The segment is processed, and the one that leaves is written over it.
    Sent(Departure),
}

/// The space of a send buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space {
    /// Stream bytes that the application has written.
    pub written: u64,
    /// The number of bytes that [`Connection::write`] accepts now.
    pub room: u64,
    /// The size of the buffer in bytes.
    pub buffer: u64,
}

impl Connection {
    /// [`handle_segment`](Self::handle_segment), [`read`](Self::read) of all data, and
    /// [`transmit_into`](Self::transmit_into) until it returns `None`, for an application that does nothing but read. `segment`
    /// arrives; its answer is written over it. Declines all but the next data on a connection in its common state that has
    /// nothing to send.
    #[inline(always)]
    pub fn answer_data(&mut self, now: Time, segment: &mut Segment) -> Answer {
        let is_ordinary = segment.payload.len > 0
            && self.is_expected(segment)
            && self.permits_answers()
            && self.snd.decide_ordinary(&self.cx) == Ordinary::NoData(Hold::NoData);
        let start = self.rcv.nxt();
        if !is_ordinary || !self.process_predicted_data(now, segment) {
            return Answer::Declined;
        }
        self.note_arrival(now, start, segment);
        self.read(now, u64::MAX);
        self.answer_without_data(now, Hold::NoData, segment)
    }

    /// [`handle_segment`](Self::handle_segment) and, if the application `waits` for room,
    /// [`transmit_into`](Self::transmit_into). `segment` arrives; its answer is written over it. Unless that is the last one,
    /// others may follow it. Declines all but an ACK of a part of the outstanding data on a connection in its common state.
    #[inline(always)]
    pub fn answer_ack(
        &mut self,
        now: Time,
        segment: &mut Segment,
        waits: impl FnOnce(Space) -> bool,
    ) -> Answer {
        let is_ordinary = segment.payload.len == 0 && self.is_expected(segment) && self.permits_answers();
        let start = self.rcv.nxt();
        if !is_ordinary || !self.snd.take_predicted_ack(&mut self.cx, now, segment) {
            return Answer::Declined;
        }
        self.note_arrival(now, start, segment);
        if !waits(self.space()) {
            return Answer::Taken;
        }
        match self.snd.decide_ordinary(&self.cx) {
            Ordinary::Data { then } => Answer::Sent(self.send_ordinary_data(now, then, segment)),
            Ordinary::NoData(why) => self.answer_without_data(now, why, segment),
            Ordinary::Other => Answer::Taken,
        }
    }

    /// The space of the send buffer.
    #[inline]
    pub fn space(&self) -> Space {
        let (room, buffer) = self.snd.room_and_buffer(&self.cx);
        Space { written: self.written(), room, buffer }
    }

    /// Whether nothing but the segment that arrives decides what leaves.
    #[inline(always)]
    fn permits_answers(&self) -> bool {
        self.cx.predicts_departure() && self.rcv.is_in_order() && !self.cx.has_keep_alive()
    }

    /// A segment that begins at `start` is processed.
    #[inline(always)]
    fn note_arrival(&mut self, now: Time, start: u64, segment: &Segment) {
        self.cx.stats.segments_received += 1;
        if self.cx.agreed.timestamps {
            self.rcv.renew_ts_recent(&self.cx, now, start as i64, segment);
        }
    }

    /// No data leaves, for the reason `why`; an ACK may be due.
    #[inline(always)]
    fn answer_without_data(&mut self, now: Time, why: Hold, segment: &mut Segment) -> Answer {
        let reason = self.send_ack(now, segment);
        self.snd.hold_ordinary(&mut self.cx, now, why);
        reason.map_or(Answer::Silent, |reason| Answer::Sent(Departure { reason, last: true }))
    }
}
