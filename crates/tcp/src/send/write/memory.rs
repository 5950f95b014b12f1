//! Applies the rules for a send buffer that counts memory ([`super::packets`]).

use super::packets::{CALL, LEAST, Queue, Sendable, goal};
use crate::config::SendMemory;
use crate::congestion::pacing::LEAST_BURST;
use crate::context::Context;
use crate::send::Sender;
use crate::send::space::SendSpace;

impl Sender {
    /// Whether the send buffer counts memory.
    #[inline]
    pub(crate) fn counts_memory(cx: &Context) -> bool {
        cx.config.send_memory == SendMemory::Linux
    }

    /// Whether the writer waits, and what is acknowledged shows that nothing wakes it now.
    #[inline(always)]
    pub(crate) fn sleeps(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| self.space.una < extras.wakes_at)
    }

    /// The writer waits if it has found no room: notes what must be acknowledged before it can wake.
    pub(super) fn note_sleep(&mut self, cx: &Context) {
        let wakes_at = if self.waits_for_memory() {
            let queue = self.queue(cx);
            let SendSpace { una, max, .. } = self.space;
            let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_deref());
            packets.map_or(0, |packets| packets.wakes_at(&queue, (una, max)))
        } else {
            0
        };
        self.extras().wakes_at = wakes_at;
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
        Queue {
            buffer: self.send_buffer(cx).max(LEAST),
            data: self.written_and_kept(),
            packets: in_flight + waiting,
            last,
            unsent,
            goal,
        }
    }

    /// What may be sent of it while a write fills it.
    fn sendable(&self, cx: &Context, queue: &Queue) -> Sendable {
        let allowed = || self.allowed(cx, self.space.max).0;
        Sendable {
            half_window: u64::from(self.space.max_wnd / 2),
            permitted: if cx.config.pacing { 0 } else { allowed().saturating_sub(queue.unsent) },
            burst: self.segments_together(cx, LEAST_BURST) * u64::from(cx.agreed.payload),
        }
    }

    /// The bytes that a write accepts, if the buffer counts packets.
    #[cold]
    pub(super) fn room_in_packets(&self, cx: &Context) -> u64 {
        let queue = self.queue(cx);
        if self.waits_for_memory() && !queue.wakes() { 0 } else { queue.room(&self.sendable(cx, &queue)) }
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
    #[inline]
    pub(super) fn waits_for_memory(&self) -> bool {
        let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_ref());
        packets.is_some_and(|packets| packets.is_waiting(self.space.una))
    }

    /// Bytes written and not acknowledged.
    #[inline(always)]
    pub(super) fn written_and_kept(&self) -> u64 {
        self.space.data_end().saturating_sub(self.space.una.max(1))
    }

    /// What a write of `len` bytes accepts although there is no room. If its writer does not wait, it saw room before the last
    /// packet was sent, and continues the same call.
    #[cold]
    pub(super) fn accepted_late(&self, cx: &Context, len: u64) -> u64 {
        let packets = self.extras.as_ref().and_then(|extras| extras.packets.as_deref());
        let continues =
            packets.is_some_and(|packets| !packets.is_waiting(self.space.una)) && !self.is_closing();
        if continues && Self::counts_memory(cx) { len.min(self.send_buffer(cx).max(CALL)) } else { 0 }
    }

    /// Adds the `len` bytes of a write where there is `room` for so many. If it takes all of it, its writer waits.
    #[cold]
    pub(super) fn note_written(&mut self, cx: &Context, len: u64, room: u64) {
        let (queue, end, una) = (self.queue(cx), self.space.data_end(), self.space.una);
        let ends_call = len == self.left_of_call();
        let packets = self.extras().packets.get_or_insert_default();
        packets.add(end, len, queue.last, queue.goal);
        packets.note_call(len >= room, ends_call, una);
        self.space.written += len;
        self.note_sleep(cx);
    }

    /// A packet that begins at `start` is sent for the first time. If it leaves room in cwnd, the buffer may grow.
    #[inline]
    pub(super) fn note_packet(&mut self, cx: &Context, start: u64, leaves_room: bool) {
        let una = self.space.una;
        let Some(extras) = &self.extras else { return };
        let Some(packets) = &extras.packets else { return };
        if (leaves_room || una >= extras.wakes_at) && packets.is_waiting(una) {
            self.update_sleep(cx, leaves_room);
        }
        if let Some(packets) = self.extras.as_mut().and_then(|extras| extras.packets.as_mut()) {
            packets.leaves(start, una);
        }
    }

    /// The peer reports `start` to `end`: packets of it become one, and so a writer may find room.
    #[cold]
    pub(in crate::send) fn join_reported(&mut self, (start, end): (u64, u64)) {
        let max = self.space.max;
        let Some(extras) = &mut self.extras else { return };
        if let Some(packets) = &mut extras.packets {
            packets.report((start, end), max);
            if packets.are_joined() {
                extras.wakes_at = 0;
            }
        }
    }

    /// Everything below `una` is acknowledged, also what was joined.
    #[inline]
    pub(in crate::send) fn forget_joined(&mut self, una: u64) {
        if let Some(extras) = &mut self.extras
            && let Some(packets) = &mut extras.packets
        {
            packets.acknowledged(una);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn update_sleep(&mut self, cx: &Context, leaves_room: bool) {
        if leaves_room {
            self.expand_send_buffer(cx);
        }
        self.note_sleep(cx);
    }
}
