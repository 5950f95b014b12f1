//! Autotuning of the buffers. The receive window starts small and follows the rate at which the application reads
//! (Linux, `tcp_grow_window()` and `tcp_rcv_space_adjust()`; "Dynamic Right-Sizing", Fisk and Feng, 2001). The send
//! buffer follows cwnd (Linux, `tcp_sndbuf_expand()`).
//!
//! Linux counts the memory of packets ([`PacketMemory`]); other buffers count bytes of data.

use super::packet_memory::{Offered, PacketMemory};
use super::packet_queue::Packet;
use crate::ranges::RangeSet;
use crate::time::{Coarse, Span, Time};
use crate::wire::options::echo_age;

/// Segments that the application is expected to read in the first round trip (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u32 = 10;
/// The largest window that a SYN announces, which is the initial window (`tcp_select_initial_window()`).
const FIRST_WINDOW: u32 = 65_535;
/// More than any size of a buffer.
const UNSETTLED: u64 = u64::MAX;

/// Where the stream is: read, received in order, and the window that the last segment announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) read: u64,
    pub(crate) next: u64,
    pub(crate) announced: u32,
}

/// Whether a socket of TIME-WAIT answers, which keeps the window (`tw_rcv_wnd`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum StandIn {
    #[default]
    No,
    /// Behind the next segment.
    Next,
    Yes,
}

/// The state of receive window autotuning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tuning {
    /// The present buffer size, and its upper limit.
    buffer: u32,
    most: u32,
    /// The window of all of it, in whole units of the window field where memory counts, and the `offered` from which on a segment
    /// changes nothing.
    whole: u32,
    enough: u32,
    /// `whole`, once `offered` is `enough`, and before that no size of a buffer.
    settled: u64,
    /// The window for an application that reads immediately. It increases with each segment.
    offered: u32,
    /// The last segment has increased it, in a buffer that counts memory.
    opened: bool,
    /// The memory of packets behind `buffer`, where it counts, and the length of those that need not be recorded.
    memory: Option<Box<PacketMemory>>,
    plain: u32,
    /// The length from which on a segment measures the RTT, where memory counts; zero elsewhere.
    full: u32,
    stand_in: StandIn,
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
        let mut tuning = Self {
            buffer: first.min(most),
            most,
            whole: first.min(most),
            enough: first.min(most),
            settled: UNSETTLED,
            offered: first.min(most).min(FIRST_WINDOW),
            opened: false,
            memory: None,
            plain: 0,
            full: 0,
            stand_in: StandIn::No,
            rtt: None,
            echoed: 0,
            window_end: 0,
            window_since: now,
            space: (FIRST_SEGMENTS * mss).min(first).max(1),
            read_before: 1,
            read_since: now,
        };
        tuning.settle();
        tuning
    }

    /// The same where the window is all of the buffer from the start.
    pub(crate) fn offers_all(mut self) -> Self {
        self.offered = self.most;
        self.settle();
        self
    }

    /// `offered` has changed, or what is enough.
    fn settle(&mut self) {
        self.settled = if self.offered >= self.enough { u64::from(self.whole) } else { UNSETTLED };
    }

    /// The same where the memory of packets counts. The SYN announces `first` bytes, and our MSS permits `own` bytes of payload
    /// (`tcp_init_buffer_space()`).
    pub(super) fn counting(mut self, memory: PacketMemory, first: u32, own: u32) -> Self {
        self.offered = first.min(memory.window());
        self.space = (FIRST_SEGMENTS * own).min(self.offered).max(1);
        self.full = memory.full();
        self.memory = Some(Box::new(memory));
        self.measure_memory();
        self
    }

    /// The size of the buffer is that of the memory.
    fn measure_memory(&mut self) {
        if let Some(memory) = &self.memory {
            self.buffer = memory.window();
            (self.whole, self.enough) = memory.settled(self.offered);
            self.space = self.space.min(self.buffer).max(1);
            self.settle();
        }
    }

    /// Whether a socket of TIME-WAIT answers.
    pub(crate) const fn stand_in(&self) -> StandIn {
        self.stand_in
    }

    /// One does, or will.
    pub(crate) fn set_stand_in(&mut self, stand_in: StandIn) {
        self.stand_in = stand_in;
    }

    /// Whether the memory of packets counts.
    #[inline]
    pub(crate) fn counts_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The connection is open: its first round trip for the reader begins (`tcp_init_buffer_space()`). The peer's full segment has at
    /// most `theirs` bytes.
    #[inline]
    pub(crate) fn opens(&mut self, now: Time, theirs: u32) {
        if let Some(memory) = &mut self.memory {
            self.read_since = now;
            memory.limit_estimate(theirs);
            self.full = memory.full();
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
        self.settled == u64::from(buffer)
    }

    /// The window that a segment may announce where memory counts.
    #[cold]
    pub(crate) fn select(&self, place: Place) -> u32 {
        let offered = Offered { open: self.offered, announced: place.announced };
        self.memory.as_ref().map_or(0, |memory| memory.select(offered, place.read, place.next))
    }

    /// All data before `next` is dropped.
    #[cold]
    pub(crate) fn drop_unread(&mut self, next: u64) {
        if let Some(memory) = &mut self.memory {
            memory.record(next, next);
        }
    }

    /// The memory of packets, where it counts.
    #[cold]
    pub(super) fn memory_mut(&mut self) -> Option<&mut PacketMemory> {
        self.memory.as_deref_mut()
    }

    /// The largest window that is configured, where memory counts.
    #[cold]
    pub(crate) fn limit_of_memory(&self) -> u32 {
        self.memory.as_ref().map_or(0, |memory| memory.limit())
    }

    /// The largest window that the memory permits.
    pub(crate) const fn most_of_window(&self) -> u32 {
        self.buffer
    }

    /// A segment of `len` bytes has arrived in order: the window increases by two segments. A tiny segment has no effect, because its
    /// packet takes more memory than the increase.
    #[inline]
    pub(crate) fn arrives(&mut self, len: u32, mss: u32) {
        if len.saturating_mul(2) >= mss {
            let opens = 2 * mss.max(len);
            self.offered = self.offered.saturating_add(opens).min(self.buffer).max(self.offered);
            self.settle();
        }
    }

    /// Counts the packets behind a gap that passed uncounted: those in `held`, and what has followed `packet` up to `next`, but not the
    /// packet itself.
    #[cold]
    pub(super) fn count_passed(&mut self, packet: &Packet, next: u64, held: Option<&RangeSet>) {
        // What was counted leaves no length behind.
        let Some(memory) = self.memory.as_mut().filter(|_| self.plain > 0) else { return };
        memory.hold_plain(packet.end, next);
        for range in held.into_iter().flat_map(RangeSet::iter_down) {
            memory.hold_plain(range.start, range.end.min(packet.start()));
            memory.hold_plain(range.start.max(packet.end), range.end);
        }
    }

    /// A packet has arrived in order where the memory of packets counts; `full` is the estimate of the peer's full segment.
    #[cold]
    pub(crate) fn arrives_in_memory(&mut self, packet: Packet, full: u32, place: Place) {
        let Some(memory) = &mut self.memory else { return };
        memory.take_estimate(full);
        memory.append(packet, place.read);
        self.measures(&packet, place);
        // What it has filled a gap before does not follow yet.
        self.opens_for(&packet, Place { next: packet.end, ..place }, true);
        if let Some(memory) = &mut self.memory {
            self.plain = memory.fill(place.next);
        }
        self.measure_memory();
    }

    /// Whether a segment of `len` bytes behind a gap goes uncounted until another one is counted: the window is as large as it can be, so
    /// that what was announced stays, and only later windows depend on this one's memory. It saves the time of counting.
    #[inline]
    pub(crate) fn passes_behind(&self, len: u32, buffer: u32) -> bool {
        self.is_settled(buffer) && self.plain == len && self.offered >= self.buffer
    }

    /// Whether the buffer is too small for what the reader reads, and for data as far as `behind` bytes behind a gap.
    #[inline]
    pub(crate) fn is_too_small(&self, behind: u32) -> bool {
        2 * u64::from(self.space) + u64::from(behind) > u64::from(self.buffer)
    }

    /// Data behind a gap makes room for itself (`tcp_rcvbuf_grow()` in `tcp_data_queue_ofo()`).
    #[cold]
    pub(crate) fn make_room_behind(&mut self, behind: u32) {
        self.make_room(2 * u64::from(self.space), behind);
    }

    /// The same behind a gap (`tcp_data_queue_ofo()`). Without SACK the window does not open, so that duplicate ACKs stay such.
    #[cold]
    pub(crate) fn arrives_behind(
        &mut self,
        packet: Packet,
        full: u32,
        place: Place,
        (opens, behind): (bool, u32),
    ) {
        let Some(memory) = &mut self.memory else { return };
        memory.take_estimate(full);
        memory.record(place.read, place.next);
        self.measures(&packet, place);
        let packet = self.memory.as_ref().map_or(packet, |memory| memory.joined_fin(packet));
        // The packet does not count yet.
        if opens {
            self.opens_for(&packet, place, false);
        }
        if let Some(memory) = &mut self.memory {
            memory.hold(packet);
            self.plain = 0;
            self.make_room_behind(behind);
        }
    }

    /// A packet shows what part of the memory is data (`tcp_measure_rcv_mss()`).
    fn measures(&mut self, packet: &Packet, place: Place) {
        let Some(memory) = &mut self.memory else { return };
        self.offered = memory.measure(packet, Offered { open: self.offered, announced: place.announced });
        self.full = memory.full();
        self.measure_memory();
    }

    /// The window opens for a packet that was queued (`tcp_grow_window()`).
    fn opens_for(&mut self, packet: &Packet, place: Place, is_in_order: bool) {
        let Some(memory) = &mut self.memory else { return };
        let room = memory.window().min(memory.space(place.read, place.next)).saturating_sub(self.offered);
        let opens = if room > 0 { memory.opens(packet, self.offered, is_in_order) } else { 0 };
        self.opened = opens > 0;
        self.offered += room.min(opens);
        self.settle();
    }

    /// Whether a segment of `len` bytes leaves the window as it is, which is that of a buffer of `buffer` bytes.
    #[inline]
    pub(crate) fn passes(&mut self, len: u32, buffer: u32) -> bool {
        let passes = self.is_settled(buffer) && (self.plain == len || self.memory.is_none());
        self.opened &= !passes;
        passes
    }

    /// The length from which on a segment measures the RTT. Our full segments have `own` bytes.
    #[inline]
    pub(crate) const fn full(&self, own: u32) -> u32 {
        if self.full == 0 { own } else { self.full }
    }

    /// Whether no sample was taken from this echoed timestamp.
    #[inline]
    pub(super) const fn is_new(&self, echo: u32) -> bool {
        echo != self.echoed
    }

    /// The RTT as the receiver estimates it.
    pub(super) const fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// In Linux a short segment uses its echo up without a sample (`rcv_rtt_last_tsecr`).
    pub(super) fn uses_up(&mut self, echo: u32) {
        if self.counts_memory() {
            self.echoed = echo;
        }
    }

    /// Takes an RTT sample from an echoed timestamp (`tcp_rcv_rtt_measure_ts()`), if it is valid. Our first segment was
    /// sent at `first`. `waits`: data waits that the application has not read, which Linux looks at.
    #[inline]
    pub(super) fn echoes(&mut self, now: Time, echo: u32, first: Coarse, waits: bool) {
        if self.is_new(echo)
            && let Some(rtt) = echo_age(now, echo, first)
        {
            self.echoed = echo;
            let rtt = rtt.max(Span::from_ms(1));
            // Such data makes a sample longer than the path.
            if !(waits && self.counts_memory() && self.rtt.is_some_and(|old| rtt >= old)) {
                self.echo(rtt);
            }
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

    /// The application has read from `from` to `read`, and `unread` bytes still wait. If it read more than ever in one RTT, the sender may
    /// double its cwnd next. The buffer then grows to twice that amount, and more while the rate increases.
    #[inline]
    pub(crate) fn read(
        &mut self,
        now: Time,
        at: (u64, u64),
        unread: u64,
        mss: u32,
        behind: impl FnOnce() -> u32,
    ) {
        if self.rtt.is_some_and(|rtt| now - self.read_since >= rtt) {
            self.note_round(now, at, unread, mss, behind());
        }
    }

    /// An RTT is over for the reader.
    #[cold]
    fn note_round(&mut self, now: Time, (from, read): (u64, u64), unread: u64, mss: u32, behind: u32) {
        // tcp_rcv_space_adjust() since 6.16 counts what waits against the reader, and gives no room for 16 segments more. It looks
        // after each packet that was read, so the first one ends the round.
        let first = self.memory.as_ref().map_or(read, |memory| memory.first_end(from, read + unread));
        let at = first.clamp(from, read);
        let waits = if self.counts_memory() { unread + (read - at) } else { 0 };
        let copied = (at - self.read_before).saturating_sub(waits).min(u64::from(u32::MAX));
        let space = u64::from(self.space);
        if copied > space {
            let more = if self.counts_memory() { 0 } else { 16 * u64::from(mss) };
            let window = 2 * copied + more;
            let growth = window * (copied - space) / space;
            self.space = copied as u32;
            self.make_room(window.saturating_add(2 * growth), behind);
        }
        self.read_before = at;
        self.read_since = now;
    }

    /// The buffer grows for a window of this size, and for data as far as `behind` bytes behind a gap where memory counts.
    fn make_room(&mut self, window: u64, behind: u32) {
        if let Some(memory) = &mut self.memory {
            memory.make_room((window + u64::from(behind)).min(u64::from(u32::MAX)) as u32);
            self.measure_memory();
        } else {
            self.buffer = self.buffer.max(window.min(u64::from(self.most)) as u32);
            (self.whole, self.enough) = (self.buffer, self.buffer);
            self.settle();
        }
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
        let mut tuning = Tuning { buffer: 70_000, whole: 70_000, enough: 70_000, ..tuning() };
        assert_eq!(tuning.limit(0), 65_535);
        tuning.arrives(MSS, MSS);
        assert_eq!(tuning.limit(0), 67_535);
        tuning.arrives(100, MSS);
        assert_eq!(tuning.limit(0), 67_535, "tiny segments do not increase it");
        (0..5).for_each(|_| tuning.arrives(MSS, MSS));
        assert_eq!(tuning.limit(0), 70_000);
    }

    /// A buffer of 128 KiB that counts memory, with segments of `mss` bytes.
    fn counting(now: Time, mss: u32) -> Tuning {
        let memory = PacketMemory::new(65_536, 32 << 20, 1024, (mss, mss));
        let mut tuning = Tuning::new(now, 65_536, 1 << 26, mss).counting(memory, 65_535 - 65_535 % mss, mss);
        tuning.opens(now, mss);
        tuning
    }

    /// `len` bytes arrive at position `next`, behind others that were read up to `read`. Returns the position behind them.
    fn gets(tuning: &mut Tuning, read: u64, next: u64, len: u32) -> u64 {
        let end = next + u64::from(len);
        tuning.arrives_in_memory(Packet::new(next, end, 32), 0, Place { read, next: end, announced: 65_160 });
        end
    }

    #[test]
    fn a_buffer_that_counts_memory_grows_as_that_of_linux() {
        // Linux 6.18 on a path of 36.6 Mbit/s and 31.8 ms: its window stopped at 80,896 and 151,552 bytes, a segment that was not
        // read below these.
        let mut tuning = counting(at(64), 1448);
        tuning.echo(Span::from_ms(32));
        let mut next = (0..5).fold(1, |next, _| gets(&mut tuning, next, next, 1448));
        assert_eq!((tuning.offered, tuning.buffer), (65_160 + 5 * 2896, 81_920));
        assert!(tuning.opens_by_memory());
        next = gets(&mut tuning, next, next, 1448);
        // What the segment itself takes is missing.
        assert_eq!(
            (tuning.offered, tuning.select(Place { read: next, next, announced: 0 })),
            (80_480, 80_896)
        );
        next = gets(&mut tuning, next, next, 1448);
        assert_eq!(
            (tuning.offered, tuning.select(Place { read: next, next, announced: 0 })),
            (80_480, 80_896)
        );
        tuning.read(at(96), (15_929 - 1, 15_929), 0, 1448, || 0);
        assert_eq!(tuning.buffer, 81_920, "it has room for what was read");
        tuning.read(at(128), (44_889 - 1, 44_889), 0, 1448, || 0);
        assert_eq!(tuning.buffer, 152_697);
    }

    #[test]
    fn what_was_not_read_makes_a_buffer_that_counts_memory_grow_less() {
        let read = |unread| {
            let mut tuning = counting(at(0), MSS);
            tuning.echo(Span::from_ms(100));
            tuning.read(at(100), (60_001 - 1, 60_001), unread, MSS, || 0);
            tuning.buffer
        };
        assert!(read(0) > read(10_000) && read(10_000) > 65_536, "{} {}", read(0), read(10_000));
        assert_eq!(read(50_000), read(60_000));
    }

    #[test]
    fn a_sample_is_not_taken_if_waiting_data_may_have_made_it_longer() {
        let first = Coarse::at(at(0));
        let echo = crate::wire::options::timestamp(at(1000));
        let rtt = |waits, ms: u64| {
            let mut tuning = counting(at(0), MSS);
            tuning.echo(Span::from_ms(100));
            tuning.echoes(at(1000 + ms), echo, first, waits);
            tuning.rtt.map(|rtt| rtt.as_ps() / 1_000_000_000)
        };
        assert_eq!((rtt(false, 180), rtt(true, 180), rtt(true, 60)), (Some(110), Some(100), Some(60)));
    }

    #[test]
    fn the_first_packet_of_a_read_ends_the_round() {
        // tcp_rcv_space_adjust() is called after each packet; the rest of the read waits.
        let mut tuning = counting(at(0), 1448);
        tuning.echo(Span::from_ms(100));
        let end = (0..40).fold(1, |next, _| gets(&mut tuning, 1, next, 1448));
        tuning.read(at(100), (1, end), 0, 1448, || 0);
        assert_eq!((tuning.read_before, tuning.space), (1449, 14_480));
    }

    #[test]
    fn data_behind_a_gap_makes_room_for_itself_beyond_the_window() {
        let place = Place { read: 1, next: 1, announced: 65_160 };
        let mut tuning = counting(at(0), 1448);
        tuning.arrives_behind(Packet::new(60_001, 61_449, 32), 0, place, (true, 61_448));
        assert_eq!(tuning.offered, 65_160 + 2896, "tcp_data_queue_ofo() opens the window");
        assert_eq!(tuning.buffer, 2 * 14_480 + 61_448 - 1, "tcp_rcvbuf_grow(), rounded down");
        assert!(!tuning.passes_behind(1448, tuning.buffer), "each packet behind a gap counts by itself");
    }

    #[test]
    fn packets_alike_need_not_be_counted_once_the_window_is_all_of_the_buffer() {
        let mut tuning = counting(at(0), 1448);
        let mut next = 1;
        while !tuning.passes(1448, tuning.whole) {
            next = gets(&mut tuning, next, next, 1448);
            assert!(next < 20 * 1448, "it settles soon");
        }
        let whole = tuning.whole;
        assert!(
            !tuning.passes_behind(1448, whole),
            "one behind a gap opens the window before it takes memory"
        );
        let open = Tuning { offered: tuning.buffer, ..tuning.clone() };
        assert!(open.passes_behind(1448, whole) && !open.passes_behind(1000, whole));
        assert!(!tuning.passes(1000, whole) && !tuning.opens_by_memory());
        let before = tuning.clone();
        gets(&mut tuning, next, next, 1448);
        let same = Tuning { memory: before.memory.clone(), opened: false, ..tuning };
        assert_eq!(same, before, "counting it would change nothing but the packets");
    }

    #[test]
    fn a_full_segment_is_that_of_the_peer_where_memory_counts_and_our_own_elsewhere() {
        let mut tuning = counting(at(0), 1448);
        assert_eq!(tuning.full(1448), 536, "tcp_initialize_rcv_mss()");
        gets(&mut tuning, 1, 1, 1400);
        assert_eq!((tuning.full(1448), super::tests::tuning().full(1448)), (1400, 1448));
    }

    #[test]
    fn a_window_that_is_all_of_the_buffer_stays_while_the_buffer_does() {
        let mut tuning = Tuning { buffer: 66_000, whole: 66_000, enough: 66_000, ..tuning() };
        assert!(!tuning.is_settled(66_000), "it still opens");
        tuning.arrives(MSS, MSS);
        assert!(tuning.is_settled(66_000) && !tuning.is_settled(65_535));
        let before = tuning.clone();
        tuning.arrives(MSS, MSS);
        assert_eq!(tuning, before);
        assert_eq!([0, 1, 50_000, u64::MAX].map(|unread| tuning.limit(unread)), [66_000; 4]);
        tuning.read(at(100), (60_001 - 1, 60_001), 0, MSS, || 0);
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
            tuning.read(at(100 * round), (read - 1, read), 0, MSS, || 0);
            assert!(u64::from(tuning.buffer) >= 2 * comes, "round {round}: {}", tuning.buffer);
        }
        let before = tuning.buffer;
        tuning.read(at(900), (read + 10_000 - 1, read + 10_000), 0, MSS, || 0);
        assert_eq!(tuning.buffer, before, "a pause does not reduce it");
    }

    #[test]
    pub(super) fn the_buffer_never_grows_beyond_its_limit_nor_within_an_rtt() {
        let mut tuning = Tuning::new(at(0), 65_536, 100_000, MSS);
        tuning.read(at(1000), (1_000_000 - 1, 1_000_000), 0, MSS, || 0);
        assert_eq!(tuning.buffer, 65_536, "there is no RTT sample");
        tuning.echo(Span::from_ms(100));
        tuning.read(at(99), (1_000_000 - 1, 1_000_000), 0, MSS, || 0);
        assert_eq!(tuning.buffer, 65_536);
        tuning.read(at(100), (1_000_000 - 1, 1_000_000), 0, MSS, || 0);
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
