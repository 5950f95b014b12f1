//! What a write adds to the send buffer, and how much it accepts.

use super::packets::goal;
use crate::context::Context;
use crate::opening::state::State;
use crate::record::reason::Hold;
use crate::send::{RECORDS, Sender, URGENT};
use crate::time::Time;

impl Sender {
    /// The number of bytes that [`write`](Self::write) accepts now.
    #[inline]
    pub(crate) fn room(&self, cx: &Context) -> u64 {
        self.room_and_buffer(cx).0
    }

    /// The same with the size of the send buffer.
    #[inline(always)]
    pub(crate) fn room_and_buffer(&self, cx: &Context) -> (u64, u64) {
        let buffer = self.send_buffer(cx);
        let shut = matches!(cx.state(), State::Closed | State::Listen | State::LastAck | State::TimeWait);
        if shut || self.is_closing() {
            return (0, buffer);
        }
        if Self::counts_memory(cx) {
            return (if self.sleeps() { 0 } else { self.room_in_packets(cx) }, buffer);
        }
        (buffer.saturating_sub(self.written_and_kept()), buffer)
    }

    /// The size of the send buffer in bytes.
    #[inline(always)]
    pub(crate) fn send_buffer(&self, cx: &Context) -> u64 {
        if let Some(first) = cx.config.initial_send_buffer {
            let mss = u64::from(cx.agreed.mss.max(1));
            let first = if cx.config.round_buffers { first.next_multiple_of(mss) } else { first };
            return self.tuned_send_buffer(cx, first);
        }
        let bytes = cx.config.send_buffer;
        if cx.config.round_buffers { bytes.next_multiple_of(u64::from(cx.agreed.mss.max(1))) } else { bytes }
    }

    /// Accepts up to `len` bytes from the application; `ends` marks an end of application data, `packet` is the payload of a full
    /// segment now. Returns the number of accepted bytes.
    pub(crate) fn write(
        &mut self,
        cx: &mut Context,
        now: Time,
        len: u64,
        (ends, packet): (bool, u32),
    ) -> u64 {
        if self.paced().is_some() && len > 0 && !self.continues_call() && self.room(cx) > 0 {
            self.note_write(cx);
        }
        self.write_on(cx, now, len, (ends, packet))
    }

    /// The same for another part of a write: the application has not paused before it.
    pub(crate) fn write_on(
        &mut self,
        cx: &mut Context,
        now: Time,
        len: u64,
        (ends, packet): (bool, u32),
    ) -> u64 {
        let room = self.room(cx);
        let accepted = if room == 0 { self.accepted_late(cx, len) } else { len.min(room) };
        // A program that fills the buffer finds no room for the next write. A buffer that counts memory grows by its own rule from the
        // first write on.
        if len >= room || Self::counts_memory(cx) {
            self.keep_send_buffer(cx);
        }
        if accepted > 0 {
            if !self.space.is_outstanding() && !self.joins_last_packet(cx, accepted, packet) {
                self.restart_if_idle(cx, now);
            }
            if cx.config.push_bursts || cx.config.counts_as_linux() && self.fill_packets(accepted, packet) {
                self.join_writes();
            }
            if Self::counts_memory(cx) {
                self.note_written(cx, accepted, room);
            } else {
                self.space.written += accepted;
            }
            self.look_for_data();
            if ends {
                let end = self.space.data_end();
                self.space.marks.push(end);
            }
        }
        accepted
    }

    /// Whether a write of `accepted` bytes begins no packet: Linux looks at the pause before it only then (`tcp_skb_entail()`).
    fn joins_last_packet(&self, cx: &Context, accepted: u64, packet: u32) -> bool {
        let (full, last) = if cx.config.push_bursts {
            let full = goal(self.space.max_wnd, u64::from(packet));
            (full, self.unsent() % full)
        } else {
            (u64::from(packet), self.unsent_in_last_packet(packet))
        };
        cx.config.counts_as_linux() && last > 0 && last + accepted <= full && self.last_packet_is_open()
    }

    /// Whether more may be added to the last packet: it ends no record.
    fn last_packet_is_open(&self) -> bool {
        let end = self.space.data_end();
        !self.unusual.has(RECORDS) || self.record_end(end - 1) != Some(end)
    }

    /// A write of `accepted` bytes fills packets of a single segment of `packet` bytes, as long as segments are now: options may
    /// have made those before longer or shorter (`tcp_send_mss()`). Whether the last packet had room for more.
    fn fill_packets(&mut self, accepted: u64, packet: u32) -> bool {
        let (end, full, last) =
            (self.space.data_end(), u64::from(packet.max(1)), self.unsent_in_last_packet(packet));
        let room = if last > 0 && self.last_packet_is_open() { full.saturating_sub(last) } else { 0 };
        if accepted > room {
            self.extras().last_packet = end + room + (accepted - room - 1) / full * full;
        }
        room > 0
    }

    /// Removes the mark at the end of the data if that is not sent: Linux adds a write to the last packet and takes its PSH
    /// away
    /// (`tcp_sendmsg_locked()`).
    fn join_writes(&mut self) {
        let end = self.space.data_end();
        if end > self.space.max && self.space.marks.ends_at(end) && self.last_packet_is_open() {
            self.space.marks.remove_last();
        }
    }

    /// Marks all written data as urgent.
    pub(crate) fn mark_urgent(&mut self) {
        self.unusual.set(URGENT, true);
        self.extras().send_urgent = self.space.data_end();
    }

    /// Unsent bytes of the last packet, if each is a single segment of at most `packet` bytes.
    pub(crate) fn unsent_in_last_packet(&self, packet: u32) -> u64 {
        let (first, end) = (self.space.max.max(1), self.space.data_end());
        let begins = self.extras.as_ref().map_or(0, |extras| extras.last_packet).max(first);
        let whole = first + u64::from(packet);
        // The first packet takes from the second what it lacks to a full one, before Linux looks at the window (`tcp_grow_skb()`):
        // options may have made it shorter when it was written.
        let grows = begins > first && begins < whole && self.timers.hold == Hold::ReceiveWindow;
        let begins = match grows {
            true if end > whole => whole,
            true => first,
            false => begins,
        };
        end.saturating_sub(begins)
    }

    /// Stream bytes that the application has written and that have never been sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.space.data_end().saturating_sub(self.space.max.max(1))
    }
}
