//! Autotuning of the buffers. The receive window starts small and follows the rate at which the application reads
//! (Linux, `tcp_grow_window()` and `tcp_rcv_space_adjust()`; "Dynamic Right-Sizing", Fisk and Feng, 2001). The send
//! buffer follows cwnd (Linux, `tcp_sndbuf_expand()`).
//!
//! Linux counts the memory of packets ([`PacketMemory`]); other buffers count bytes of data.

use super::packet_memory::PacketMemory;
use crate::time::{Coarse, Span, Time};
use crate::wire::options::echo_age;

/// Segments that the application is expected to read in the first round trip (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u32 = 10;
/// The largest window that a SYN announces, which is the initial window (`tcp_select_initial_window()`).
const FIRST_WINDOW: u32 = 65_535;

/// The state of receive window autotuning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tuning {
    /// The present buffer size, and its upper limit.
    buffer: u32,
    most: u32,
    /// The window for an application that reads immediately. It increases with each segment.
    offered: u32,
    /// The last segment has increased it, in a buffer that counts memory.
    opened: bool,
    /// The memory of packets behind `buffer`, where it counts.
    memory: Option<PacketMemory>,
    /// The RTT estimate of the receiver, from echoed timestamps, or else from the time in which a window of data
    /// arrives.
    rtt: Option<Span>,
    /// The last echoed timestamp. Each timestamp gives one sample.
    echoed: u32,
    /// The position that ends the present window of data, and the time of its start.
    window_end: u64,
    window_since: Time,
    /// The largest number of bytes that the application has read in an RTT.
    space: u32,
    /// The read position and the time at the start of this RTT.
    read_before: u64,
    read_since: Time,
}

impl Tuning {
    /// Starts with a buffer of `first` bytes, which may grow to `most`.
    pub(crate) fn new(now: Time, first: u32, most: u32, mss: u32) -> Self {
        Self {
            buffer: first.min(most),
            most,
            offered: first.min(most).min(FIRST_WINDOW),
            opened: false,
            memory: None,
            rtt: None,
            echoed: 0,
            window_end: 0,
            window_since: now,
            space: (FIRST_SEGMENTS * mss).min(first).max(1),
            read_before: 1,
            read_since: now,
        }
    }

    /// The same where the window is all of the buffer from the start.
    pub(crate) const fn offers_all(mut self) -> Self {
        self.offered = self.most;
        self
    }

    /// The same where the memory of packets counts, `largest` bytes at most.
    pub(crate) fn counting_memory(mut self, largest: u32) -> Self {
        self.memory = Some(PacketMemory::new(self.buffer, largest));
        self
    }

    /// Whether the memory of packets counts.
    #[inline]
    pub(crate) fn counts_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The connection is open: its first round trip for the reader begins (`tcp_init_buffer_space()`).
    #[inline]
    pub(crate) fn opens(&mut self, now: Time) {
        if self.counts_memory() {
            self.read_since = now;
        }
    }

    /// Whether the last segment has increased the window, in a buffer that counts memory.
    #[inline]
    pub(crate) const fn opens_by_memory(&self) -> bool {
        self.opened
    }

    /// The largest distance of the right edge from the read position, if `unread` bytes wait.
    #[inline]
    pub(crate) fn limit(&self, unread: u64) -> u32 {
        u64::from(self.offered).saturating_add(unread).min(u64::from(self.buffer)) as u32
    }

    /// Whether the receiver offers all of its present buffer of `buffer` bytes, however much is unread. Then a segment does not
    /// change the window, and neither does a read that the buffer does not grow with.
    #[inline]
    pub(crate) fn is_settled(&self, buffer: u32) -> bool {
        self.offered >= self.buffer && self.buffer == buffer
    }

    /// A segment of `len` bytes has arrived in order, with which `unread` bytes wait: the window increases by two segments. A tiny
    /// segment has no effect, because its packet takes more memory than the increase.
    #[inline]
    pub(crate) fn arrives(&mut self, len: u32, mss: u32, unread: u64) {
        if self.counts_memory() {
            self.arrives_in_memory(len, mss, unread);
        } else if len.saturating_mul(2) >= mss {
            let opens = 2 * mss.max(len);
            self.offered = self.offered.saturating_add(opens).min(self.buffer).max(self.offered);
        }
    }

    /// The same where the memory of packets counts (`tcp_grow_window()`).
    #[cold]
    fn arrives_in_memory(&mut self, len: u32, mss: u32, unread: u64) {
        let Some(memory) = &mut self.memory else { return };
        memory.measure(len);
        self.buffer = memory.window().clamp(self.buffer, self.most.max(self.buffer));
        let free = u64::from(self.buffer).saturating_sub(unread) as u32;
        let room = free.saturating_sub(self.offered);
        let opens = if room > 0 { memory.opens(len, self.offered, mss) } else { 0 };
        self.opened = opens > 0;
        self.offered += room.min(opens);
        // Only the memory of this segment is missing.
        if room <= opens && unread <= u64::from(len) {
            self.offered = self.buffer;
        }
    }

    /// Whether a segment of `len` bytes leaves the window as it is, which is that of a buffer of `buffer` bytes.
    #[inline]
    pub(crate) fn passes(&mut self, len: u32, buffer: u32) -> bool {
        let passes =
            self.is_settled(buffer) && self.memory.as_ref().is_none_or(|memory| !memory.is_longer(len));
        self.opened &= !passes;
        passes
    }

    /// Takes an RTT sample from an echoed timestamp (`tcp_rcv_rtt_measure_ts()`), if it is valid. Our first segment was
    /// sent at `first`.
    #[inline]
    pub(super) fn echoes(&mut self, now: Time, echo: u32, first: Coarse) {
        if echo != self.echoed
            && let Some(rtt) = echo_age(now, echo, first)
        {
            self.echoed = echo;
            self.echo(rtt.max(Span::from_ms(1)));
        }
    }

    /// Takes an RTT sample.
    #[cold]
    pub(super) fn echo(&mut self, rtt: Span) {
        let rtt = rtt.as_ps().max(1);
        // A sample below the estimate replaces it since 6.16 (tcp_rcv_rtt_update()).
        let old = self.rtt.map(Span::as_ps).filter(|&old| !self.counts_memory() || rtt >= old);
        let smooth = old.map_or(rtt, |old| old - old / 8 + rtt / 8);
        self.rtt = Some(Span::from_ps(smooth));
    }

    /// Without timestamps: data up to `received` has arrived. A window of data takes at least one RTT
    /// (`tcp_rcv_rtt_measure()`).
    pub(crate) fn received(&mut self, now: Time, received: u64, window: u32) {
        if received < self.window_end {
            return;
        }
        if self.window_end > 0 {
            let took = now - self.window_since;
            self.rtt = Some(self.rtt.map_or(took, |least| least.min(took)));
        }
        self.window_end = received + u64::from(window);
        self.window_since = now;
    }

    /// The application has read up to `read`, and `unread` bytes still wait. If it read more than ever in one RTT, the sender may
    /// double its cwnd next. The buffer then grows to twice that amount, and more while the rate increases.
    #[inline]
    pub(crate) fn read(&mut self, now: Time, read: u64, unread: u64, mss: u32) {
        if self.rtt.is_some_and(|rtt| now - self.read_since >= rtt) {
            self.note_round(now, read, unread, mss);
        }
    }

    /// An RTT is over for the reader.
    #[cold]
    fn note_round(&mut self, now: Time, read: u64, unread: u64, mss: u32) {
        // tcp_rcv_space_adjust() since 6.16 counts what waits against the reader, and gives no room for 16 segments more.
        let (waits, more) = if self.counts_memory() { (unread, 0) } else { (0, 16 * u64::from(mss)) };
        let copied = (read - self.read_before).saturating_sub(waits).min(u64::from(u32::MAX));
        let space = u64::from(self.space);
        if copied > space {
            let window = 2 * copied + more;
            let growth = window * (copied - space) / space;
            let wanted = window.saturating_add(2 * growth).min(u64::from(self.most)) as u32;
            let possible = self.memory.as_mut().map_or(wanted, |memory| {
                memory.make_room(wanted);
                memory.window().min(self.most)
            });
            self.buffer = self.buffer.max(possible);
            self.space = copied as u32;
        }
        self.read_before = read;
        self.read_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    pub(super) fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    pub(super) fn tuning() -> Tuning {
        let mut tuning = Tuning::new(at(0), 65_536, 6 << 20, MSS);
        tuning.echo(Span::from_ms(100));
        tuning
    }

    #[test]
    pub(super) fn the_window_increases_by_two_segments_per_segment_up_to_the_buffer() {
        let mut tuning = Tuning { buffer: 70_000, ..tuning() };
        assert_eq!(tuning.limit(0), 65_535);
        tuning.arrives(MSS, MSS, 0);
        assert_eq!(tuning.limit(0), 67_535);
        tuning.arrives(100, MSS, 0);
        assert_eq!(tuning.limit(0), 67_535, "tiny segments do not increase it");
        (0..5).for_each(|_| tuning.arrives(MSS, MSS, 0));
        assert_eq!(tuning.limit(0), 70_000);
    }

    #[test]
    fn a_buffer_that_counts_memory_grows_as_that_of_linux() {
        // Linux 6.18 on a path of 36.6 Mbit/s and 31.8 ms: its window stopped at 80,896 and 151,552 bytes, a segment that was not
        // read below these.
        let mut tuning = Tuning::new(at(0), 65_536, 1 << 26, 1460).counting_memory(32 << 20);
        tuning.opens(at(64));
        tuning.echo(Span::from_ms(32));
        (0..5).for_each(|_| tuning.arrives(1448, 1448, 1448));
        assert_eq!(tuning.limit(0), 80_015);
        assert!(tuning.opens_by_memory());
        tuning.arrives(1448, 1448, 1448);
        assert_eq!((tuning.limit(0), tuning.opens_by_memory()), (81_920, true));
        assert!(tuning.passes(1448, 81_920) && !tuning.opens_by_memory());
        tuning.read(at(96), 15_929, 0, 1448);
        assert_eq!(tuning.buffer, 81_920, "it has room for what was read");
        tuning.read(at(128), 44_889, 0, 1448);
        assert_eq!(tuning.buffer, 152_697);
    }

    #[test]
    fn what_was_not_read_makes_a_buffer_that_counts_memory_grow_less() {
        let read = |unread| {
            let mut tuning = Tuning::new(at(0), 65_536, 1 << 26, MSS).counting_memory(32 << 20);
            tuning.echo(Span::from_ms(100));
            tuning.read(at(100), 60_001, unread, MSS);
            tuning.buffer
        };
        assert!(read(0) > read(10_000) && read(10_000) > 65_536, "{} {}", read(0), read(10_000));
        assert_eq!(read(50_000), 65_536);
    }

    #[test]
    fn a_window_that_is_all_of_the_buffer_stays_while_the_buffer_does() {
        let mut tuning = Tuning { buffer: 66_000, ..tuning() };
        assert!(!tuning.is_settled(66_000), "it still opens");
        tuning.arrives(MSS, MSS, 0);
        assert!(tuning.is_settled(66_000) && !tuning.is_settled(65_535));
        let before = tuning;
        tuning.arrives(MSS, MSS, 0);
        assert_eq!(tuning, before);
        assert_eq!([0, 1, 50_000, u64::MAX].map(|unread| tuning.limit(unread)), [66_000; 4]);
        tuning.read(at(100), 60_001, 0, MSS);
        assert!(tuning.buffer > 66_000 && !tuning.is_settled(66_000) && !tuning.is_settled(tuning.buffer));
    }

    #[test]
    pub(super) fn unread_data_reduces_the_window_only_when_the_buffer_fills() {
        let tuning = Tuning { buffer: 200_000, ..tuning() };
        assert_eq!(tuning.limit(100_000) - 100_000, 65_535);
        assert_eq!(tuning.limit(150_000) - 150_000, 50_000);
    }

    #[test]
    pub(super) fn the_buffer_has_space_for_the_next_doubling_of_the_reading_rate() {
        let (mut tuning, mut read) = (tuning(), 1);
        for round in 1..=8_u64 {
            // Slow start from ten segments.
            let comes = 10_000 << (round - 1);
            read += comes;
            tuning.read(at(100 * round), read, 0, MSS);
            assert!(u64::from(tuning.buffer) >= 2 * comes, "round {round}: {}", tuning.buffer);
        }
        let before = tuning.buffer;
        tuning.read(at(900), read + 10_000, 0, MSS);
        assert_eq!(tuning.buffer, before, "a pause does not reduce it");
    }

    #[test]
    pub(super) fn the_buffer_never_grows_beyond_its_limit_nor_within_an_rtt() {
        let mut tuning = Tuning::new(at(0), 65_536, 100_000, MSS);
        tuning.read(at(1000), 1_000_000, 0, MSS);
        assert_eq!(tuning.buffer, 65_536, "there is no RTT sample");
        tuning.echo(Span::from_ms(100));
        tuning.read(at(99), 1_000_000, 0, MSS);
        assert_eq!(tuning.buffer, 65_536);
        tuning.read(at(100), 1_000_000, 0, MSS);
        assert_eq!(tuning.buffer, 100_000);
    }

    #[test]
    pub(super) fn without_timestamps_the_rtt_is_at_most_the_shortest_time_of_a_window() {
        let mut tuning = Tuning::new(at(0), 65_536, 6 << 20, MSS);
        tuning.received(at(0), 1, 10_000);
        tuning.received(at(50), 9_000, 10_000);
        assert_eq!(tuning.rtt, None);
        tuning.received(at(80), 10_001, 10_000);
        assert_eq!(tuning.rtt, Some(Span::from_ms(80)));
        tuning.received(at(120), 20_001, 10_000);
        tuning.received(at(300), 30_001, 10_000);
        assert_eq!(tuning.rtt, Some(Span::from_ms(40)));
    }
}
