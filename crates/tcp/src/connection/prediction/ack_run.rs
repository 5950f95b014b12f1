//! A *run* of ACKs: the answers of a sender while nothing but ACKs of its data arrives and the state stays ordinary. The
//! conditions that no answer changes are looked at once, when the run begins. Then each ACK needs only a few tests, and the
//! segment that it sets free only the fields that change.
//!
//! An answer within a run has the same effect as [`Connection::answer_ack`]. What it declines it leaves unchanged. A test
//! takes the same segments by the general calls (`answer_pairs.rs`).

use crate::connection::prediction::answer::{Answer, Space, Wish};
use crate::connection::{Connection, Departure};
use crate::record::reason::Reason;
use crate::send::decide::ordinary::Ordinary;
use crate::send::run::SendRun;
use crate::time::Time;
use crate::wire::options::{Timestamps, timestamp};
use crate::wire::segment::{Ecn, Flags, Payload, Segment};
use crate::wire::seq::Seq;

/// The header length of a segment with timestamps and no other option.
const STAMPED: u8 = 32;

/// A run of ACKs. It is over, and is to be dropped, after any answer other than [`Answer::Silent`] and the last segment of a
/// sending opportunity.
#[derive(Debug)]
pub struct AckRun<'a> {
    tcp: &'a mut Connection,
    run: AckFacts,
}

/// What stays the same in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFacts {
    /// The sequence number of all ACKs, and the window field of the last one.
    seq: Seq,
    window: u16,
    /// The window field and the acknowledgment number of all segments that leave.
    announces: u16,
    acknowledges: Seq,
    send: SendRun,
}

impl Connection {
    /// Begins a run of ACKs, if the state permits it: a connection of the profile `linux` after slow start, from which no
    /// ACK is due.
    #[inline]
    pub fn ack_run(&mut self) -> Option<AckRun<'_>> {
        // Inlined, so that a connection without timestamps needs no call.
        let run = if self.is_stamped() { self.begin_ack_run()? } else { return None };
        Some(AckRun { tcp: self, run })
    }

    #[inline(never)]
    pub(super) fn begin_ack_run(&self) -> Option<AckFacts> {
        let agreed = &self.cx.agreed;
        if !self.permits_runs() {
            return None;
        }
        let (acknowledges, announces) = self.rcv.announces_alike()?;
        let window = agreed.window_field(self.snd.space().wnd())?;
        let send = self.snd.begin_run(&self.cx)?;
        Some(AckFacts { seq: acknowledges, window, announces, acknowledges, send })
    }

    /// Whether a run of either kind may begin.
    pub(super) fn permits_runs(&self) -> bool {
        self.permits_answers() && self.is_stamped()
    }

    /// Whether timestamps are the only option of an ordinary segment, as a run needs it.
    #[inline]
    pub(super) fn is_stamped(&self) -> bool {
        self.cx.agreed.timestamps && self.cx.agreed.header_len == STAMPED
    }

    /// Whether a segment with the timestamp `value` has no flags but ACK and PSH, no other option, and is not older than the
    /// last one.
    #[inline(always)]
    pub(super) fn is_stamped_ack(&self, segment: &Segment, value: u32) -> bool {
        segment.header_len == STAMPED
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && !segment.options.sack_permitted
            && !self.rcv.is_older(value)
    }

    /// See [`AckRun::answer`].
    #[inline(always)]
    pub(super) fn answer_ack_in_run(
        &mut self,
        run: &mut AckFacts,
        now: Time,
        segment: &mut Segment,
        wishes: impl FnOnce(Space) -> Wish,
    ) -> Answer {
        let Some(stamps) = segment.options.timestamps else { return Answer::Declined };
        let is_expected = segment.payload.len == 0
            && segment.seq == run.seq
            && (segment.window == run.window || self.permits_window(segment))
            && self.is_stamped_ack(segment, stamps.value);
        if !is_expected || !self.snd.take_ack_in_run(&mut self.cx, now, segment) {
            return Answer::Declined;
        }
        self.cx.stats.segments_received += 1;
        self.rcv.set_ts_recent(now, stamps.value);
        let is_alike = segment.window == run.window && self.snd.keeps_size(&run.send);
        let answer = if is_alike || self.resize_run(run, segment) {
            self.send_in_run(run, now, segment, stamps.value, wishes)
        } else {
            Answer::Taken
        };
        self.snd.arm_in_run(&self.cx, now, matches!(answer, Answer::Sent(_)));
        answer
    }

    /// Whether a run may go on with another window of the peer: an open one, not larger than any before.
    #[cold]
    #[inline(never)]
    fn permits_window(&self, segment: &Segment) -> bool {
        let window = self.cx.agreed.read_window(segment.window, &segment.options);
        window > 0 && window <= self.snd.space().max_wnd()
    }

    /// An ACK has changed cwnd or the window of the peer. Returns whether the run may go on.
    #[cold]
    #[inline(never)]
    fn resize_run(&mut self, run: &mut AckFacts, segment: &Segment) -> bool {
        run.window = segment.window;
        self.snd.set_window_in_run(self.cx.agreed.read_window(segment.window, &segment.options));
        let sized = self.snd.size_run(&self.cx);
        run.send = sized.unwrap_or(run.send);
        sized.is_some()
    }

    /// What an ACK sets free is sent. `echo` is the timestamp of the ACK.
    #[inline(always)]
    fn send_in_run(
        &mut self,
        run: &AckFacts,
        now: Time,
        segment: &mut Segment,
        echo: u32,
        wishes: impl FnOnce(Space) -> Wish,
    ) -> Answer {
        let is_served = match run.send.buffer {
            Some(buffer) => {
                let (written, una) = (self.snd.space().written(), self.snd.space().una());
                let space = Space { written, room: buffer.saturating_sub(written + 1 - una), buffer };
                self.serve(now, space, wishes(space))
            }
            None => self.snd.sleeps(),
        };
        let decision = if is_served { self.snd.decide_in_run(&self.cx, &run.send) } else { Ordinary::Other };
        match decision {
            Ordinary::Data { then } => {
                let end = self.write_data_in_run(run, now, segment, (echo, then.is_some()));
                self.snd.occupy_behind_ack(now, end);
                self.snd.conclude_in_run(&mut self.cx, now, segment.payload.len, then);
                Answer::Sent(Departure { reason: Reason::NewData, last: then.is_some() })
            }
            Ordinary::NoData(why) => {
                self.snd.hold_ordinary(&mut self.cx, now, why);
                Answer::Silent
            }
            Ordinary::Other => Answer::Taken,
        }
    }

    /// A full segment of new data is written over the ACK. `fills`: it fills the window. Returns the position of its end.
    #[inline(always)]
    fn write_data_in_run(
        &mut self,
        run: &AckFacts,
        now: Time,
        segment: &mut Segment,
        (echo, fills): (u32, bool),
    ) -> u64 {
        let (start, len) = (self.snd.space().nxt(), u32::from(self.cx.agreed.payload));
        let end = start + u64::from(len);
        segment.options.timestamps = Some(Timestamps { value: timestamp(now), echo });
        debug_assert_eq!(
            segment.options,
            self.cx.agreed.every_segment(Timestamps { value: timestamp(now), echo }, 0)
        );
        segment.window = run.announces;
        segment.seq = self.snd.space().seq(start);
        segment.ack = run.acknowledges;
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        segment.flags =
            if self.snd.space().is_marked(start, end) { Flags::ACK | Flags::PSH } else { Flags::ACK };
        segment.payload = Payload { offset: start - 1, len };
        self.cx.stats.segments_sent += 1;
        self.mark_burst(segment, (start, end), fills);
        self.snd.log_anew(now, end);
        end
    }
}

impl AckRun<'_> {
    /// [`Connection::answer_ack`] within the run.
    #[inline(always)]
    pub fn answer(&mut self, now: Time, segment: &mut Segment, wishes: impl FnOnce(Space) -> Wish) -> Answer {
        self.tcp.answer_ack_in_run(&mut self.run, now, segment, wishes)
    }

    /// [`Connection::next_deadline`].
    #[inline(always)]
    pub fn next_deadline(&self) -> Time {
        let deadline = self.tcp.snd.deadline_in_run();
        debug_assert_eq!(deadline, self.tcp.next_deadline());
        deadline
    }
}
