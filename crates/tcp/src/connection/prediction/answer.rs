//! A segment of an undisturbed bulk transfer arrives, and the one that it sets free leaves: both in one call. At the receiver
//! the next data arrives, the application reads all of it, and an ACK leaves. At the sender an ACK arrives, the application waits
//! for room, and new data leaves.
//!
//! An answer has the same effect as the calls that it replaces. It looks at all conditions once, where each of these calls looks
//! at its own. What it declines it leaves unchanged. A test takes the same segments both ways (`answer_pairs.rs`).

use crate::connection::prediction::Situation;
use crate::connection::{Connection, Departure};
use crate::receive::ack_schedule::Reads;
use crate::receive::receiver::{AckDue, Text};
use crate::record::reason::{Hold, Reason};
use crate::send::Sender;
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

/// What an application does when an ACK has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// It waits for room in the send buffer.
    Wait,
    /// It writes as much as there is room for, and has more to write.
    Fill,
    /// Anything else: it must be asked.
    Other,
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
            && self.snd.has_sent_all();
        let start = self.rcv.nxt();
        if !is_ordinary || !self.takes_data(segment) {
            return Answer::Declined;
        }
        if self.cx.config.initial_receive_window.is_some() {
            self.tune_and_read(now, segment);
        } else {
            self.schedule_ack(now, Text::InOrder { fills_gap: false }, segment);
            let len = self.rcv.read_all();
            if !matches!(self.rcv.due(), AckDue::Now(_)) {
                self.rcv.on_read(&self.cx, len);
            }
        }
        self.note_arrival(now, start as i64, segment);
        let mut answer = Answer::Silent;
        if let AckDue::Now(reason) = self.rcv.due() {
            let window = self.rcv.announce_after_read(&self.cx.agreed, self.cx.config.window_growth);
            self.write_ack(now, (reason, window), segment);
            answer = Answer::Sent(Departure { reason, last: true });
        }
        self.snd.hold_ordinary(&mut self.cx, now, Hold::NoData);
        answer
    }

    /// The data of a segment is taken: schedules its ACK and reads it, where the receive window adapts.
    #[inline(never)]
    fn tune_and_read(&mut self, now: Time, segment: &Segment) {
        self.take_data_and_tune(now, segment, Reads::AtOnce);
        let len = self.rcv.read_all();
        self.tune_to_read_inline(now, len);
    }

    /// [`handle_segment`](Self::handle_segment), a [`write`](Self::write) if the application `wishes` so, and
    /// [`transmit_into`](Self::transmit_into). `segment` arrives; its answer is written over it. Unless that is the last one,
    /// others may follow it. Declines all but an ACK of a part of the outstanding data on a connection in its common state.
    #[inline(always)]
    pub fn answer_ack(
        &mut self,
        now: Time,
        segment: &mut Segment,
        wishes: impl FnOnce(Space) -> Wish,
    ) -> Answer {
        let is_ordinary = segment.payload.len == 0
            && self.is_expected(segment)
            && self.permits_answers()
            && self.snd.sends_in_turn();
        let start = self.rcv.nxt();
        if !is_ordinary || !self.snd.take_predicted_ack_unprobed(&mut self.cx, now, segment) {
            return Answer::Declined;
        }
        self.note_arrival(now, start as i64, segment);
        let space = self.space();
        let is_served = self.serve(now, space, wishes(space));
        let decision = if is_served { self.snd.decide_undisturbed(&self.cx) } else { Ordinary::Other };
        let has_sent = matches!(decision, Ordinary::Data { .. });
        let answer = match decision {
            Ordinary::Data { then } => {
                let end = self.send_data(now, segment, then.is_some());
                self.snd.occupy_behind_ack(now, end);
                let what = (Reason::NewData, then, Situation::Undisturbed);
                Answer::Sent(self.conclude_data(now, what, segment))
            }
            Ordinary::NoData(why) => {
                let reason = self.send_ack(now, segment);
                self.snd.hold_ordinary(&mut self.cx, now, why);
                reason.map_or(Answer::Silent, |reason| Answer::Sent(Departure { reason, last: true }))
            }
            Ordinary::Other => Answer::Taken,
        };
        // Once for both, the ACK and the data that it sets free.
        self.snd.probe_calmly(&self.cx, now, has_sent);
        answer
    }

    /// The space of the send buffer.
    #[inline(always)]
    pub fn space(&self) -> Space {
        let (room, buffer) = self.snd.room_and_buffer(&self.cx);
        Space { written: self.written(), room, buffer }
    }

    /// Whether what is sent makes room for more: the send buffer counts memory (Linux), and only the beginning of a packet needs
    /// free memory.
    #[inline]
    pub fn room_follows_sending(&self) -> bool {
        Sender::counts_memory(&self.cx)
    }

    /// The bytes until the end of the present call, for a program that writes with calls of 256 KiB.
    pub fn left_of_call(&self) -> u64 {
        self.snd.left_of_call()
    }

    /// Does what the application wishes. Returns whether it need not be asked.
    #[inline(always)]
    pub(super) fn serve(&mut self, now: Time, space: Space, wish: Wish) -> bool {
        match wish {
            Wish::Wait => true,
            Wish::Fill => self.fill(now, space),
            Wish::Other => false,
        }
    }

    /// Fills the send buffer, if it is full then: one that counts memory may have room even after that. Returns whether it did.
    #[inline(never)]
    fn fill(&mut self, now: Time, space: Space) -> bool {
        let fills = !Sender::counts_memory(&self.cx);
        if fills {
            let packet = u32::from(self.cx.agreed.payload);
            self.snd.write(&mut self.cx, now, space.room, (true, packet));
        }
        fills
    }

    /// Whether the next segment may be answered. If not, a driver need not ask: it takes the general calls at once.
    #[inline]
    pub fn may_answer(&self) -> bool {
        self.permits_answers() && self.snd.predicts_arrival()
    }

    /// Whether nothing but the segment that arrives decides what leaves.
    #[inline(always)]
    pub(super) fn permits_answers(&self) -> bool {
        self.cx.predicts_answer() && self.rcv.is_in_order()
    }

    /// A segment that begins at `start` is processed.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, now: Time, start: i64, segment: &Segment) {
        self.cx.stats.segments_received += 1;
        if self.cx.agreed.timestamps {
            self.rcv.renew_ts_recent(&self.cx, now, start, segment);
        }
    }
}
