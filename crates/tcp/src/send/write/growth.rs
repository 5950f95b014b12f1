//! The size of a send buffer that grows with cwnd.

use crate::config::SendMemory;
use crate::congestion::Kind;
use crate::context::Context;
use crate::record::reason::Hold;
use crate::send::Sender;

/// A send buffer has room for at least so many segments (Linux, `TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;

/// Memory for a segment: a power of two that holds the data and the kernel's structures, and `struct sk_buff`. 2304 bytes for an
/// MSS of 1460.
fn memory_of_segment(mss: u64) -> u64 {
    (mss + 512).next_power_of_two() + 256
}

/// What a send buffer needs for a cwnd of `segments` (Linux, `tcp_sndbuf_expand()`). BBR keeps twice the bandwidth-delay product
/// in flight, so it wants more (`bbr_sndbuf_expand()`).
fn wanted_memory(segments: u64, mss: u64, congestion: Kind) -> u64 {
    let times = if matches!(congestion, Kind::Bbr | Kind::Bbr3) { 3 } else { 2 };
    times * segments.max(FIRST_SEGMENTS) * memory_of_segment(mss)
}

impl Sender {
    /// The size of a send buffer that begins with `first` bytes.
    #[cold]
    pub(super) fn tuned_send_buffer(&self, cx: &Context, first: u64) -> u64 {
        let kept = self.extras.as_ref().map_or(0, |extras| extras.send_buffer);
        match cx.config.send_memory {
            SendMemory::Linux if kept > 0 => kept,
            SendMemory::Linux => self.wanted(cx).max(first).min(cx.config.send_buffer),
            SendMemory::Bytes => self.tuned_bytes(cx, first.max(kept)),
        }
    }

    /// What twice cwnd takes, at least ten segments, and never less than before.
    fn tuned_bytes(&self, cx: &Context, before: u64) -> u64 {
        let least = FIRST_SEGMENTS * u64::from(cx.agreed.payload);
        (2 * u64::from(self.congestion.cwnd()).max(least)).max(before).min(cx.config.send_buffer)
    }

    fn wanted(&self, cx: &Context) -> u64 {
        let segments = u64::from(self.congestion.cwnd()) / u64::from(cx.agreed.payload.max(1));
        wanted_memory(segments, u64::from(cx.agreed.mss), cx.config.congestion)
    }

    /// Keeps the present size of the send buffer after a write that has filled it.
    #[cold]
    pub(super) fn keep_send_buffer(&mut self, cx: &Context) {
        if cx.config.initial_send_buffer.is_some() {
            self.extras().send_buffer = self.send_buffer(cx);
        }
    }

    /// Nothing more is sent now, for the reason `why`. The send buffer of Linux grows if its writer waits while cwnd has room
    /// (`tcp_should_expand_sndbuf()`). Linux looks at this behind each packet that it sends (`tcp_event_new_data_sent()`), and behind
    /// each segment that arrives (`tcp_data_snd_check()`).
    #[inline]
    pub(in crate::send) fn let_buffer_grow(&mut self, cx: &Context, why: Hold) {
        if why != Hold::CongestionWindow && self.waits_for_memory() {
            self.update_sleep(cx, true);
        }
    }

    /// Makes the send buffer as large as the present cwnd wants it.
    pub(super) fn expand_send_buffer(&mut self, cx: &Context) {
        if cx.config.initial_send_buffer.is_some() {
            let buffer = self.wanted(cx).min(cx.config.send_buffer).max(self.send_buffer(cx));
            self.extras().send_buffer = buffer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_2304_bytes_of_memory() {
        assert_eq!([1460, 1448, 536, 8960].map(memory_of_segment), [2304, 2304, 2304, 16_640]);
    }

    #[test]
    fn a_buffer_holds_twice_cwnd_or_with_bbr_three_times_and_at_least_ten_segments() {
        assert_eq!(wanted_memory(34, 1460, Kind::CubicLinux), 156_672, "what a kernel had at this cwnd");
        assert_eq!(wanted_memory(3, 1460, Kind::CubicLinux), 46_080);
        assert_eq!(wanted_memory(34, 1460, Kind::Bbr), 235_008);
    }
}
