//! Header prediction of ACKs for a sender that samples its delivery rate, or whose packets may be marked, and of ACKs that widen
//! the window.

use crate::context::Context;
use crate::ranges::Range;
use crate::recovery::{Calm, Parts};
use crate::send::Sender;
use crate::send::ack::bounds_segments;
use crate::time::Time;
use crate::wire::segment::Segment;

impl Sender {
    /// Whether the segment acknowledges a part of the outstanding data, closes no window, and shows delivery in order, if losses are
    /// detected by time.
    #[inline]
    pub(crate) fn expects_measured_ack(&self, cx: &Context, segment: &Segment) -> bool {
        let ack = self.space.position(segment.ack);
        (self.space.una as i64 + 1..self.space.max as i64).contains(&ack)
            && cx.agreed.read_window(segment.window, &segment.options) >= self.space.wnd
            && self.recovery.is_calm_up_to(ack as u64)
    }

    /// Processes an expected ACK. If it is `marked`, this must not begin a gradual reduction.
    pub(crate) fn take_measured_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment, marked: bool) {
        let una = self.space.una;
        let (ack, flight) = (self.space.position(segment.ack) as u64, self.space.max - una);
        // It reads the log of transmissions, which then forgets what is acknowledged.
        let as_linux = self.takes_acks_as_linux(cx);
        let parts = if as_linux { self.recovery.parts_at(Range::new(una, ack)) } else { Parts::default() };
        self.measure_ack(cx, now, ack as i64, parts);
        let Some(Calm { first, part, .. }) = self.recovery.take_calmly(now, ack) else { return };
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        self.take_sample_since(cx, now, ack, (first, echo));
        if as_linux && part > 0 {
            self.note_rest(cx, ack, part);
        }
        self.advance_calmly(segment, ack);
        if !as_linux {
            self.open_window_unless_marked(cx, now, (ack - una) as u32, flight);
        }
        self.cwnd_limited = false;
        self.restart_unprobed(cx, now);
        self.start_user_timeout(cx, now);
        self.widen_window(cx, segment);
        self.judge_echo(cx, now, una, flight, marked);
        if as_linux {
            // Linux counts a segment when all of it is acknowledged (`tcp_clean_rtx_queue()`).
            let opens = (ack - una - part) as u32;
            self.open_window_unless_marked(cx, now, opens, self.space.max - self.space.una);
        }
        self.conclude_sample(cx, now);
        self.probe_calmly(cx, now, false);
    }

    /// The peer's window is that of an ACK of new data, which closes none.
    #[inline]
    fn widen_window(&mut self, cx: &mut Context, segment: &Segment) {
        let (window, largest) = (cx.agreed.read_window(segment.window, &segment.options), self.space.max_wnd);
        self.space.update_window(segment.seq, segment.ack, window);
        if largest < self.space.max_wnd && bounds_segments(cx, largest) {
            self.size_segments(cx);
        }
    }
}
