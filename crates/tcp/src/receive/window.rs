//! The receive window: the buffer behind it, what it accepts, and when a larger one is announced.

use crate::config::WindowGrowth;
use crate::context::Context;
use crate::opening::negotiate::Agreed;
use crate::receive::acking::by_bytes;
use crate::receive::autotuning::{StandIn, Tuning};
use crate::receive::receiver::{AckDue, Receiver};
use crate::record::reason::Reason;

impl Receiver {
    /// The window that our SYN announces: at most 16 bits.
    pub(crate) fn syn_window(&self, cx: &Context) -> u16 {
        cx.first_window().min(cx.config.receive_window).min(0xFFFF) as u16
    }

    /// The buffer size.
    pub(crate) fn buffer(&self) -> u32 {
        self.buffer
    }

    /// Limits the buffer to `largest`, the largest window that can be announced.
    pub(crate) fn limit_buffer(&mut self, largest: u32) {
        self.buffer = self.buffer.min(largest);
    }

    /// Changes the buffer size; the announced window stays.
    #[inline]
    pub(crate) fn set_buffer(&mut self, bytes: u32) {
        // Invalidates the stored window field.
        if bytes != self.buffer {
            self.buffer = bytes;
            self.announced_read = (self.read as u32).wrapping_sub(1);
        }
    }

    /// Rounds the buffer up to whole segments, as far as a window can be announced.
    pub(crate) fn round_buffer(&mut self, mss: u32, largest: u32) {
        self.buffer = self.buffer.next_multiple_of(mss.max(1)).min(largest);
    }

    /// RCV.WND: the rest of the announced window.
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        self.edge.saturating_sub(self.nxt) as u32
    }

    /// The four tests of RFC 9293, section 3.10.7.4, table 6: whether any part of the segment lies in the window. The
    /// table only tests both ends of the segment. A segment that covers the whole window has both ends outside: its
    /// first byte was accepted from a probe, and its FIN follows the window. The table would reject each of its
    /// retransmissions.
    #[inline]
    pub(crate) fn accepts(&self, start: i64, seq_len: u32) -> bool {
        let (nxt, edge) = (self.nxt as i64, self.edge.max(self.nxt) as i64);
        let last = start + i64::from(seq_len) - 1;
        if edge == nxt {
            return seq_len == 0 && start == nxt;
        }
        start < edge && if seq_len > 0 { nxt <= last } else { nxt <= start }
    }

    /// The position behind the free buffer.
    fn end_of_buffer(&self) -> u64 {
        self.nxt + u64::from(self.buffer).saturating_sub(self.readable())
    }

    /// Whether a position lies behind the announced window and in the free buffer.
    #[cold]
    pub(crate) fn is_in_free_buffer(&self, position: i64) -> bool {
        position >= self.edge.max(self.nxt) as i64 && position < self.end_of_buffer() as i64
    }

    /// Makes the window as large as the buffer.
    #[cold]
    pub(crate) fn open_to_buffer(&mut self) {
        self.edge = self.edge.max(self.end_of_buffer());
    }

    /// Whether a position is the right edge of a window that is open.
    pub(crate) fn is_right_edge(&self, position: i64) -> bool {
        self.edge > self.nxt && position == self.edge as i64
    }

    /// The possible increase of the announced window. It is zero if an ACK is due, because that ACK announces the
    /// window too.
    #[inline]
    pub(crate) fn growth(&self) -> u64 {
        if matches!(self.due, AckDue::Now(_)) || self.is_finished() {
            return 0;
        }
        (self.read + u64::from(self.buffer)).saturating_sub(self.edge)
    }

    /// Sends a window update if the window grows by half the buffer, or by a segment if it was nearly closed (RFC 9293,
    /// section 3.8.6.2.2).
    #[inline]
    pub(crate) fn update_window_by(&mut self, growth: u64, mss: u32) {
        if growth == 0 {
            return;
        }
        let (half, open) = (u64::from(self.buffer / 2), u64::from(self.window()));
        let mss = u64::from(mss);
        // Neither rule announces so little.
        if growth < half.min(open) && open >= 2 * mss {
            return;
        }
        if let Some(tuning) = self.tuning()
            && tuning.counts_memory()
        {
            return self.update_window_by_memory(tuning.most_of_window());
        }
        if growth >= half.min(mss) && (growth >= half || open < 2 * mss) {
            self.acknowledge(Reason::WindowUpdate);
        }
    }

    /// Whether the memory of packets counts.
    #[inline]
    pub(super) fn counts_memory(&self) -> bool {
        self.tuning().is_some_and(Tuning::counts_memory)
    }

    /// The same where the memory of packets counts: the window doubles, and was at most half of the largest one
    /// (`tcp_cleanup_rbuf()`).
    #[cold]
    fn update_window_by_memory(&mut self, most: u32) {
        let (open, permitted) =
            (u64::from(self.window()), u64::from(self.buffer).saturating_sub(self.readable()));
        if 2 * open <= u64::from(most) && permitted > 0 && permitted >= 2 * open {
            self.acknowledge(Reason::WindowUpdate);
        }
    }

    /// Makes an ACK due if the window grows far enough, with a policy that counts bytes.
    pub(crate) fn acknowledge_bytes(&mut self, growth: u64, mss: u32, segments: u8) {
        if growth > 0 && by_bytes::is_due(growth, self.buffer, mss, segments) {
            self.acknowledge(Reason::WindowUpdate);
        }
    }

    /// The window that a departing segment announces. It moves the right edge.
    #[inline(always)]
    pub(crate) fn announce(&mut self, agreed: &Agreed, grows: WindowGrowth) -> (u16, u32) {
        let promised = self.window();
        if self.nxt as u32 == self.last_ack && self.read as u32 == self.announced_read {
            return (self.announced_window, promised);
        }
        if self.counts_memory() {
            return self.announce_memory(agreed);
        }
        let permitted = (self.read + u64::from(self.buffer)).max(self.edge);
        let growth = permitted - self.edge;
        let worth = growth >= u64::from(self.buffer / 2).min(u64::from(agreed.mss))
            || (grows == WindowGrowth::AtOnce && self.is_open_enough(permitted, agreed.mss));
        let offer = if worth { permitted.saturating_sub(self.nxt) as u32 } else { promised };
        let (field, window) = agreed.write_window(offer, promised);
        self.edge = self.edge.max(self.nxt + u64::from(window));
        self.note_announced(field);
        (field, window)
    }

    /// The field of the window where the memory of packets counts and the host has dropped what was not read (`__tcp_close()`).
    #[cold]
    pub(crate) fn announce_at_close(&mut self, agreed: &Agreed) -> u16 {
        let next = self.place().next;
        if let Some(tuning) = self.tuning_mut() {
            tuning.drop_unread(next);
        }
        self.announce_memory(agreed).0
    }

    /// The same where the memory of packets counts (`tcp_select_window()`). Linux never lets the right edge move left, and a window that
    /// the field cannot hold remains beyond what was announced.
    #[cold]
    fn announce_memory(&mut self, agreed: &Agreed) -> (u16, u32) {
        let (promised, place) = (self.window(), self.place());
        let stand_in = self.tuning().map_or(StandIn::No, Tuning::stand_in);
        if stand_in == StandIn::Yes {
            return (self.announced_window, promised);
        }
        let mut permitted = self.tuning().map_or(0, |tuning| tuning.select(place));
        if self.extras.as_ref().is_some_and(|extras| extras.background.is_some()) {
            // The buffer is RLWND beyond what has arrived.
            permitted = permitted.min(u64::from(self.buffer).saturating_sub(self.readable()) as u32);
        }
        let unit = 1_u64 << agreed.shifts().1;
        let window = if permitted < promised { promised.next_multiple_of(unit as u32) } else { permitted };
        let (field, told) = agreed.write_window(window, promised.min(agreed.largest_window()));
        // Each time it is rounded up the edge moves right, however little was read. The kernel drops what its memory does not hold.
        let most = self.read + u64::from(self.tuning().map_or(0, Tuning::limit_of_memory)) + unit;
        self.edge = self.edge.max((self.nxt + u64::from(window)).min(most));
        self.note_announced(field);
        if stand_in == StandIn::Next {
            self.keep_window(agreed);
        }
        (field, told)
    }

    /// A socket of TIME-WAIT answers from now on, or behind the ACK that is due. It keeps the window where the memory of packets
    /// counts, and tells 16 bits of it, however large it is (`tcp_time_wait()`, `tcp_v4_timewait_ack()`).
    #[cold]
    pub(crate) fn stands_in(&mut self, agreed: &Agreed) {
        let is_due = self.nxt as u32 != self.last_ack;
        let Some(tuning) = self.tuning_mut() else {
            return;
        };
        if !tuning.counts_memory() || tuning.stand_in() == StandIn::Yes {
            return;
        }
        tuning.set_stand_in(StandIn::Next);
        if !is_due {
            self.keep_window(agreed);
        }
    }

    fn keep_window(&mut self, agreed: &Agreed) {
        self.announced_window = (self.window() >> agreed.shifts().1) as u16;
        if let Some(tuning) = self.tuning_mut() {
            tuning.set_stand_in(StandIn::Yes);
        }
    }

    /// [`Self::announce`] when data has arrived since the last announcement and all of it has been read. Where the memory of packets
    /// counts, any growth is announced: the window is all of the buffer, which was made after the read.
    #[inline(always)]
    pub(crate) fn announce_after_read(&mut self, agreed: &Agreed, grows: WindowGrowth) -> (u16, u32) {
        let promised = self.window();
        let growth = self.buffer.saturating_sub(promised);
        let is_little = growth < (self.buffer / 2).min(u32::from(agreed.mss)) || growth == 0;
        if is_little && !(growth > 0 && self.counts_memory()) {
            return self.announce(agreed, grows);
        }
        let (field, window) = agreed.write_window(self.buffer, promised);
        if field == 0xFFFF && self.counts_memory() {
            return self.announce(agreed, grows);
        }
        self.edge = self.edge.max(self.nxt + u64::from(window));
        self.note_announced(field);
        (field, window)
    }

    /// 4.4BSD's avoidance of silly windows: an increase below one segment and below a quarter of the buffer is not
    /// announced.
    fn is_open_enough(&self, permitted: u64, mss: u16) -> bool {
        permitted.saturating_sub(self.nxt) >= u64::from(self.buffer / 4).min(u64::from(mss))
    }
}
