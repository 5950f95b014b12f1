//! PSH at the ends of bursts. Linux hands several segments to the interface as one packet and sets PSH on the last one
//! (`__tcp_transmit_skb()`, since 5.4). A Linux receiver acknowledges a full segment with PSH as soon as it is read.

use crate::context::Context;
use crate::send::Sender;
use crate::send::space::Plan;
use crate::send::transmit::Transmit;
use crate::wire::segment::Flags;

impl Sender {
    /// A retransmission of `whole` bytes was cut to the length of `plan`. In Linux PSH stays with the end of the segment
    /// (`tcp_fragment()`).
    #[cold]
    pub(crate) fn move_push_behind_cut(&mut self, cx: &Context, plan: &mut Plan, whole: u32) {
        let (cut, end) = (plan.start + u64::from(plan.len), plan.start + u64::from(whole));
        // If the segments behind the first ones do not leave with them, none of them is cut.
        let is_cut = || !self.recovery.ends_segment(cut);
        if plan.start >= self.space.max || !self.takes_acks_as_linux(cx) || !is_cut() {
            return;
        }
        plan.flags = plan.flags.without(Flags::PSH);
        self.space.marks.move_to_end(plan.start, cut, end);
    }

    /// An ACK up to `ack` acknowledges the first `part` bytes of a segment. In Linux PSH stays with the rest (`tcp_trim_head()`).
    #[cold]
    pub(crate) fn keep_push_of_rest(&mut self, ack: u64, part: u64) {
        if let Some(segment) = self.recovery.segment_at(ack) {
            self.space.marks.move_to_end(ack - part, ack, segment.end);
        }
    }

    /// The timer of window probes sends what the peer's window permits of a segment, from `start` to `cut`. In Linux both parts of the
    /// segment carry PSH (`tcp_write_wakeup()`).
    #[cold]
    pub(crate) fn push_around_cut(&mut self, cx: &Context, start: u64, cut: u64) {
        let end = self.space.data_end().min(start + u64::from(cx.agreed.payload));
        self.space.marks.insert(cut);
        self.space.marks.insert(end);
    }

    /// The end of the present burst, or the start of its only segment.
    #[inline]
    pub(crate) fn burst_end(&self) -> u64 {
        self.extras.as_ref().map_or(0, |extras| extras.burst_end)
    }

    /// New data from `start` on is a burst of its own: no more may leave.
    #[inline]
    pub(crate) fn send_alone(&mut self, cx: &Context, start: u64) {
        self.note_packet(cx, start, false);
        self.extras().burst_end = start;
    }

    /// Whether new data from `start` to `end` is the last segment of a burst of two or more. It plans the next burst if
    /// `start` is behind the present one.
    #[inline]
    pub(crate) fn ends_burst(&mut self, cx: &Context, start: u64, end: u64) -> bool {
        match &self.extras {
            Some(extras) if extras.burst_end > start => extras.burst_end == end,
            _ => self.begin_burst(cx, start, end) == end,
        }
    }

    /// Plans the burst that begins with a segment from `start` to `segment_end`, and returns its end.
    #[inline(always)]
    fn begin_burst(&mut self, cx: &Context, start: u64, segment_end: u64) -> u64 {
        let end = self.plan_burst(cx, start);
        let behind = end.max(segment_end) - start + u64::from(cx.agreed.payload);
        self.note_packet(cx, start, self.burst_room(cx, start) >= behind);
        self.extras().burst_end = end;
        end
    }

    /// The end of the burst that begins at `start`: what may leave now, at most what Linux hands over together. `start`
    /// if it is only one segment.
    fn plan_burst(&self, cx: &Context, start: u64) -> u64 {
        let mss = u64::from(cx.burst_payload());
        let waiting = self.space.data_end().saturating_sub(start);
        let room = self.burst_room(cx, start);
        if waiting <= mss || room < 2 * mss && room < waiting {
            return start;
        }
        let available = room.min(waiting);
        // Most ACKs permit two segments, or a short third one. Two may always leave together above a cwnd of three.
        let least = self.least_burst();
        if least > 1 && available < 3 * mss && waiting >= 3 * mss && u64::from(self.cwnd()) >= 4 * mss {
            return start + 2 * mss;
        }
        // A short rest leaves with the others unless the transmission policy holds it back.
        let whole = waiting <= room && !self.holds_rest(cx);
        let now = if whole { waiting } else { available / mss * mss };
        let len = now.min(self.segments_together(cx, least) * mss);
        if len > mss { start + len } else { start }
    }

    /// The bytes that the windows permit from `start`.
    #[inline]
    fn burst_room(&self, cx: &Context, start: u64) -> u64 {
        if self.recovery.is_quiet() && !cx.config.whole_segments {
            self.tightest_window(cx).0.saturating_sub(start - self.space.una)
        } else {
            self.allowed(cx, start).0
        }
    }

    /// Whether the policy holds a short segment back behind full ones (`tcp_minshall_check()`).
    fn holds_rest(&self, cx: &Context) -> bool {
        match cx.config.transmit {
            Transmit::NoDelay => false,
            Transmit::Minshall => self.short_unacknowledged() > 0,
            _ => true,
        }
    }
}
