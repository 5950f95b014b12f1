//! Applies the rules for a send buffer that counts memory ([`super::packets`]).

use super::packets::{CALL, LEAST, Queue, goal, wakes};
use crate::config::SendMemory;
use crate::context::Context;
use crate::send::Sender;

impl Sender {
    /// Whether a send buffer of this size counts memory: one of fixed size, or one that has grown to its limit. Before that it
    /// has much more room than cwnd needs.
    #[inline]
    pub(crate) fn counts_memory(cx: &Context, buffer: u64) -> bool {
        buffer >= cx.config.send_buffer && cx.config.send_memory == SendMemory::Linux
    }

    fn queue(&self, cx: &Context) -> Queue {
        let (una, max, end) = (self.space.una, self.space.max, self.space.data_end());
        let goal = goal(self.space.max_wnd, u64::from(cx.agreed.payload));
        let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_deref());
        let (in_flight, last) =
            packets.map_or((0, 0), |packets| (packets.in_flight(una, max), packets.unsent(max, end)));
        let unsent = end.saturating_sub(max.max(1));
        let last = last.min(unsent);
        let waiting = (unsent - last).div_ceil(goal) + u64::from(last > 0);
        let permitted = if cx.config.pacing { 0 } else { self.allowed(cx, max).0.saturating_sub(unsent) };
        Queue {
            buffer: self.send_buffer(cx).max(LEAST),
            data: self.written_and_kept(),
            packets: in_flight + waiting,
            last,
            unsent,
            goal,
            half_window: u64::from(self.space.max_wnd / 2),
            permitted,
            burst: self.segments_together(cx, 2) * u64::from(cx.agreed.payload),
        }
    }

    /// The bytes that a write accepts, if the buffer counts packets.
    #[cold]
    pub(super) fn room_in_packets(&self, cx: &Context) -> u64 {
        let waits = self.waits_for_memory();
        // Most often the data alone tells that a waiting writer is not woken.
        if waits && !wakes(self.send_buffer(cx).max(LEAST), self.written_and_kept()) {
            return 0;
        }
        let queue = self.queue(cx);
        if waits && !queue.wakes() { 0 } else { queue.room() }
    }

    /// Bytes until the end of the present call, for a program that writes with calls of the same size.
    pub(crate) fn left_of_call(&self) -> u64 {
        CALL - self.space.written % CALL
    }

    /// Whether a writer that has found no room continues its call.
    pub(super) fn continues_call(&self) -> bool {
        self.left_of_call() < CALL && self.waits_for_memory()
    }

    /// Whether a writer has found no room.
    fn waits_for_memory(&self) -> bool {
        let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_ref());
        packets.is_some_and(|packets| packets.is_waiting(self.space.una))
    }

    /// Bytes written and not acknowledged.
    #[inline]
    fn written_and_kept(&self) -> u64 {
        self.space.data_end() - self.space.una.max(1)
    }

    /// What a write of `len` bytes accepts although there is no room. If its writer does not wait, it saw room before the last
    /// packet was sent, and continues the same call.
    #[cold]
    pub(super) fn accepted_late(&self, cx: &Context, len: u64) -> u64 {
        let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_deref());
        let continues =
            packets.is_some_and(|packets| !packets.is_waiting(self.space.una)) && !self.is_closing();
        let buffer = self.send_buffer(cx);
        if continues && Self::counts_memory(cx, buffer) { len.min(buffer.max(CALL)) } else { 0 }
    }

    /// A write adds `len` bytes where there is `room` for so many. If it takes all of it, its writer waits.
    #[cold]
    pub(super) fn note_written(&mut self, cx: &Context, len: u64, room: u64) {
        let (queue, end, una) = (self.queue(cx), self.space.data_end(), self.space.una);
        let ends_call = len == self.left_of_call();
        let packets = self.extras().packets.get_or_insert_default();
        packets.add(end, len, queue.last, queue.goal);
        packets.note_call(len >= room, ends_call, una);
    }

    /// A packet that begins at `start` is sent for the first time. Those from before the buffer counts packets are not known.
    #[inline]
    pub(super) fn note_packet(&mut self, start: u64) {
        let una = self.space.una;
        if let Some(packets) = self.extras.as_mut().and_then(|extras| extras.packets.as_mut()) {
            packets.leaves(start, una);
        }
    }
}
