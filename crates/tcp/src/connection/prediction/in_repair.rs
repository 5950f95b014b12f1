//! Answers while a loss is being repaired, or where a repair begins. At the receiver data arrives behind a gap, or fills it, and an
//! ACK with SACK blocks leaves. At the sender an ACK with SACK blocks arrives, or another one of the recovery, and what it sets free
//! leaves.
//!
//! As the other answers (`answer.rs`), these have the same effect as the calls that they replace, and leave unchanged what they
//! decline. Only connections with SACK have them, and only senders that count nothing but losses.

use crate::connection::prediction::Situation;
use crate::connection::prediction::answer::{Answer, Space, Wish};
use crate::connection::{Connection, Departure};
use crate::receive::receiver::AckDue;
use crate::record::reason::Hold;
use crate::send::decide::ordinary::Ordinary;
use crate::send::space::Decision;
use crate::time::Time;
use crate::wire::segment::Segment;

/// Who repairs a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// The receiver, which waits for data: [`Connection::answer_data_behind_gap`].
    Receiver,
    /// The sender, which sends it again: [`Connection::answer_ack_in_repair`].
    Sender,
}

impl Connection {
    /// Whether the next segment may be answered although a loss is being repaired, or by that who then repairs one.
    #[inline]
    pub fn may_answer_in_repair(&self, who: Repair) -> bool {
        let is_ordinary = self.cx.predicts_answer() && self.cx.agreed.sack;
        is_ordinary
            && match who {
                Repair::Sender => self.rcv.is_in_order() && self.snd.may_repair(&self.cx),
                Repair::Receiver => self.snd.predicts_arrival() && !self.cx.agreed.nak,
            }
    }

    /// [`Self::answer_data`] where data is missing. Declines all but data in the window, on a connection that has nothing to
    /// send.
    #[inline]
    pub fn answer_data_behind_gap(&mut self, now: Time, segment: &mut Segment) -> Answer {
        let start = self.rcv.position(segment.seq);
        let is_ordinary = segment.payload.len > 0
            && self.may_answer_in_repair(Repair::Receiver)
            && self.is_plain(segment)
            && self.snd.has_sent_all()
            && self.snd.space().acknowledges_nothing_new(segment.ack)
            && self.rcv.holds_whole(start, segment.payload)
            && !self.rcv.must_report_before(start, segment.payload.len);
        if !is_ordinary {
            return Answer::Declined;
        }
        self.snd.confirm_window(segment.seq, segment.ack);
        self.note_arrival(now, start, segment);
        self.rcv.forget_duplicate(&self.cx);
        self.take_text(now, segment, start);
        let len = self.rcv.read_all();
        if len > 0 && self.cx.config.initial_receive_window.is_some() {
            self.tune_to_read_inline(now, len);
        } else if len > 0 && !matches!(self.rcv.due(), AckDue::Now(_)) {
            self.rcv.on_read(&self.cx, len);
        }
        let mut answer = Answer::Silent;
        if let AckDue::Now(reason) = self.rcv.due() {
            let window = self.rcv.announce(&self.cx.agreed, self.cx.config.window_growth);
            self.write_ack(now, (reason, window), segment);
            if self.rcv.has_blocks() {
                self.write_blocks(segment);
            }
            answer = Answer::Sent(Departure { reason, last: true });
        }
        self.snd.hold_ordinary(&mut self.cx, now, Hold::NoData);
        answer
    }

    /// Adds the SACK blocks that wait to a segment with the options of all segments.
    fn write_blocks(&mut self, segment: &mut Segment) {
        segment.options.sack = self.rcv.take_blocks(self.room_for_blocks());
        // The option with its padding.
        segment.header_len += 4 + 8 * segment.options.sack.as_slice().len() as u8;
        debug_assert_eq!(segment.header_len, 20 + segment.options.wire_len(self.cx.config.layout));
    }

    /// [`Self::answer_ack`] in a recovery, or where one begins. Declines all but ACKs that follow the last one, from a peer that
    /// sends no data.
    #[inline]
    pub fn answer_ack_in_repair(
        &mut self,
        now: Time,
        segment: &mut Segment,
        wishes: impl FnOnce(Space) -> Wish,
    ) -> Answer {
        let is_ordinary = segment.payload.len == 0
            && segment.seq == self.rcv.seq(self.rcv.nxt())
            && self.may_answer_in_repair(Repair::Sender)
            && matches!(self.rcv.due(), AckDue::No)
            && self.is_plain_but_for_blocks(segment);
        let start = self.rcv.nxt();
        if !is_ordinary || !self.snd.take_ack_in_repair(&mut self.cx, now, segment) {
            return Answer::Declined;
        }
        self.note_arrival(now, start as i64, segment);
        let space = self.space();
        let is_served = self.serve(now, space, wishes(space));
        if !is_served {
            return Answer::Taken;
        }
        self.transmit_and_look_ahead(now, segment).map_or(Answer::Silent, Answer::Sent)
    }

    /// [`Self::transmit_into`], which also finds out whether the segment is the last one. Most often it is: an ACK sets one free.
    #[inline]
    fn transmit_and_look_ahead(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        let mut departure = self.transmit_into(now, segment)?;
        if !departure.last
            && let Some(why) = self.rests(now)
        {
            self.rest(now, (why, Situation::Repair));
            departure.last = true;
        }
        Some(departure)
    }

    /// The reason why no other segment follows the one that was sent, if none does.
    #[inline]
    fn rests(&self, now: Time) -> Option<Hold> {
        match self.decide_in_repair() {
            Ordinary::Data { .. } => None,
            Ordinary::NoData(why) => Some(why),
            Ordinary::Other => {
                if let Decision::Hold(why) = self.decide(now) {
                    Some(why)
                } else {
                    None
                }
            }
        }
    }

    /// What the fast path of a sender that repairs a loss decides. [`Ordinary::Other`] if it repairs none.
    #[inline]
    pub(super) fn decide_in_repair(&self) -> Ordinary {
        let decides = self.departs_ordinarily() && self.snd.is_repairing(&self.cx);
        if decides { self.snd.decide_in_repair(&self.cx) } else { Ordinary::Other }
    }

    /// [`Self::transmit_into`] where [`crate::send::Sender::is_repairing`], and nothing else is unusual.
    pub(super) fn transmit_in_repair(&mut self, now: Time, segment: &mut Segment) -> Option<Departure> {
        self.carry_out(now, (self.snd.decide_in_repair(&self.cx), Situation::Repair), segment)
    }
}
