//! Header prediction of ACKs for a sender that samples its delivery rate, or whose packets may be marked.

use crate::context::Context;
use crate::recovery::Calm;
use crate::send::Sender;
use crate::time::Time;
use crate::wire::segment::Segment;

impl Sender {
    /// Whether the segment acknowledges a part of the outstanding data and shows delivery in order, if losses are detected by time.
    #[inline]
    pub(crate) fn expects_measured_ack(&self, segment: &Segment) -> bool {
        let ack = self.space.position(segment.ack);
        let is_part = (self.space.una as i64 + 1..self.space.max as i64).contains(&ack);
        is_part && self.recovery.is_calm_up_to(ack as u64)
    }

    /// Processes an expected ACK. If it is `marked`, this must not begin a gradual reduction.
    pub(crate) fn take_measured_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment, marked: bool) {
        let una = self.space.una;
        let (ack, flight) = (self.space.position(segment.ack) as u64, self.space.max - una);
        // It reads the log of transmissions, which then forgets what is acknowledged.
        self.measure_ack(cx, now, ack as i64);
        let Some(Calm { first, part, .. }) = self.recovery.take_calmly(now, ack) else { return };
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        self.take_sample_since(cx, now, ack, (first, echo));
        self.advance_calmly(segment, ack);
        // Linux counts a segment when all of it is acknowledged (`tcp_clean_rtx_queue()`).
        let uncounted = if self.takes_acks_as_linux(cx) { part } else { 0 };
        self.grow_measured(cx, now, (ack - una - uncounted) as u32, (una, flight, marked));
        self.restart_unprobed(cx, now);
        self.start_user_timeout(cx, now);
        self.conclude_sample(cx, now);
        self.probe_calmly(cx, now, false);
    }

    /// Opens cwnd after such an ACK of `opens` bytes, and ends a round of marks if it does. `una` was SND.UNA, and `flight` was
    /// outstanding.
    fn grow_measured(
        &mut self,
        cx: &mut Context,
        now: Time,
        opens: u32,
        (una, flight, marked): (u64, u64, bool),
    ) {
        if self.takes_acks_as_linux(cx) {
            self.cwnd_limited = false;
            self.judge_echo(cx, now, una, flight, marked);
            self.open_window_unless_marked(cx, now, opens, self.space.max - self.space.una);
        } else {
            self.open_window_unless_marked(cx, now, opens, flight);
            self.cwnd_limited = false;
            self.judge_echo(cx, now, una, flight, marked);
        }
    }
}
