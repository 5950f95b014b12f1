//! A *run* of data: the answers of a receiver while nothing but the next data arrives, and is read and acknowledged at once. As
//! in a run of ACKs (`ack_run.rs`), the conditions that no answer changes are looked at once.
//!
//! An answer within a run has the same effect as [`Connection::answer_data`]. What it declines it leaves unchanged. A test
//! takes the same segments by the general calls (`answer_pairs.rs`).

use crate::connection::prediction::answer::Answer;
use crate::connection::{Connection, Departure};
use crate::receive::run::ReceiveRun;
use crate::record::reason::{Hold, Reason};
use crate::time::Time;
use crate::wire::options::{Timestamps, timestamp};
use crate::wire::segment::{Ecn, Flags, Payload, Segment};
use crate::wire::seq::Seq;

/// A run of data. It is over, and is to be dropped, once an answer is [`Answer::Declined`].
#[derive(Debug)]
pub struct DataRun<'a> {
    tcp: &'a mut Connection,
    run: DataFacts,
}

/// What stays the same in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataFacts {
    /// The acknowledgment number and the window field of all segments.
    ack: Seq,
    window: u16,
    /// The sequence number of all ACKs, and the stream offset of its byte.
    seq: Seq,
    offset: u64,
    receive: ReceiveRun,
}

impl Connection {
    /// Begins a run of data, if the state permits it: a connection with timestamps that acknowledges every segment, and has
    /// nothing to send.
    #[inline]
    pub fn data_run(&mut self) -> Option<DataRun<'_>> {
        let run = if self.is_stamped() { self.begin_data_run()? } else { return None };
        Some(DataRun { tcp: self, run })
    }

    #[inline(never)]
    pub(super) fn begin_data_run(&self) -> Option<DataFacts> {
        let (agreed, space) = (&self.cx.agreed, self.snd.space());
        let ack = space.seq(space.una());
        let is_ordinary = self.permits_runs()
            && self.cx.predicts_arrival()
            && self.snd.predicts_arrival()
            && self.snd.has_sent_all()
            && self.snd.is_latest(self.rcv.seq(self.rcv.nxt()), ack);
        if !is_ordinary {
            return None;
        }
        let receive = self.rcv.begin_run(&self.cx)?;
        let window = agreed.window_field(space.wnd())?;
        let position = self.snd.ack_position(&self.cx, Reason::Ack);
        Some(DataFacts { ack, window, seq: space.seq(position), offset: position.saturating_sub(1), receive })
    }

    /// See [`DataRun::answer`].
    #[inline(always)]
    pub(super) fn answer_data_in_run(
        &mut self,
        run: &mut DataFacts,
        now: Time,
        segment: &mut Segment,
    ) -> Answer {
        let Some(stamps) = segment.options.timestamps else { return Answer::Declined };
        let len = segment.payload.len;
        let is_expected = len > 0
            && segment.seq == self.rcv.seq(self.rcv.nxt())
            && segment.ack == run.ack
            && segment.window == run.window
            && self.is_stamped_ack(segment, stamps.value);
        if !is_expected || !self.rcv.takes_whole(segment.payload) {
            return Answer::Declined;
        }
        self.snd.note_window_source(segment.seq, segment.ack);
        self.rcv.read_in_run(&self.cx, &mut run.receive, now, (self.snd.first_sent(), stamps.echo, len));
        self.cx.stats.segments_received += 1;
        self.rcv.set_ts_recent(now, stamps.value);
        self.write_ack_in_run(run, now, segment, stamps.value);
        self.snd.hold_ordinary(&mut self.cx, now, Hold::NoData);
        Answer::Sent(Departure { reason: Reason::Ack, last: true })
    }

    /// The ACK is written over the segment. `echo` is the timestamp of the segment.
    #[inline(always)]
    fn write_ack_in_run(&mut self, run: &DataFacts, now: Time, segment: &mut Segment, echo: u32) {
        let stamps = Timestamps { value: timestamp(now), echo };
        segment.options.timestamps = Some(stamps);
        debug_assert_eq!(segment.options, self.cx.agreed.every_segment(stamps, 0));
        (segment.window, segment.ack) = self.rcv.acknowledge_in_run(&self.cx, &run.receive);
        segment.seq = run.seq;
        segment.ecn = Ecn::NotEct;
        segment.urgent = 0;
        segment.flags = Flags::ACK;
        segment.payload = Payload { offset: run.offset, len: 0 };
        self.cx.stats.segments_sent += 1;
    }
}

impl DataRun<'_> {
    /// [`Connection::answer_data`] within the run.
    #[inline(always)]
    pub fn answer(&mut self, now: Time, segment: &mut Segment) -> Answer {
        self.tcp.answer_data_in_run(&mut self.run, now, segment)
    }

    /// [`Connection::received`].
    #[inline(always)]
    pub fn received(&self) -> u64 {
        self.tcp.received()
    }

    /// [`Connection::next_deadline`].
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.tcp.next_deadline()
    }
}
