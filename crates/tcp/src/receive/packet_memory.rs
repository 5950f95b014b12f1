//! A receive buffer that counts the memory of packets, as Linux does: what part of it the window gets, and when the window
//! opens (`tcp_win_from_space()`, `tcp_measure_rcv_mss()`, `tcp_grow_window()`, `__tcp_select_window()`).

use super::packet_queue::{Packet, PacketQueue};

/// The part of the memory for the window before a full segment has shown what packets take, in 256ths
/// (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SHARE: u32 = 128;
/// The first estimate of a full segment (`TCP_MSS_DEFAULT`), and the least one (`TCP_MIN_MSS`).
const MODEST_FULL: u32 = 536;
const LEAST_FULL: u32 = 88;
/// A shorter segment in order opens no window (`tcp_event_data_recv()`).
const LEAST_OPENING: u32 = 128;
/// The least size of a buffer (`SOCK_MIN_RCVBUF`), and the least window that one permits.
const LEAST_SIZE: u32 = 2304;
const LEAST_CLAMP: u32 = LEAST_SIZE / 2;

/// The memory behind a receive window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PacketMemory {
    /// Its size (`sk_rcvbuf`), and the largest one (`tcp_rmem[2]`).
    size: u32,
    most: u32,
    /// The part for the window, in 256ths (`scaling_ratio`).
    share: u32,
    /// The largest window (`window_clamp`), and the largest one that is configured.
    clamp: u32,
    limit: u32,
    /// The estimate of the peer's full segment (`rcv_mss`), and the payload that our MSS permits (`advmss`).
    full: u32,
    own: u32,
    /// The unit of the window field.
    unit: u32,
    /// The packets that were not read. Behind `recorded`, the queue has others of `plain` bytes that nothing has recorded.
    queue: PacketQueue,
    plain: Packet,
    recorded: u64,
    /// The memory of a packet with the peer's FIN alone, until the application reads the end of the stream.
    fin: u32,
}

/// The window as it was before a segment: the part of the buffer that was offered, and what the last segment announced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offered {
    /// The window for an application that reads immediately (`rcv_ssthresh`).
    pub(super) open: u32,
    /// The window that the last segment announced (`rcv_wnd`).
    pub(super) announced: u32,
}

impl PacketMemory {
    /// Memory of which a window of `first` bytes gets its part; it may grow to `limit`, as far as that is more. No window exceeds
    /// `limit`. The window field counts `unit` bytes, our MSS permits `own` bytes of payload, and the peer's `theirs`.
    /// (`tcp_init_buffer_space()`, `tcp_initialize_rcv_mss()`)
    pub(super) fn new(first: u32, limit: u32, unit: u32, (own, theirs): (u32, u32)) -> Self {
        let first = first.min(limit);
        // The kernel's memory is twice what an application asks for (SO_RCVBUF).
        let most = limit.max(first.saturating_mul(2));
        let full = MODEST_FULL.min(own).min(theirs).min(first / 2).max(LEAST_FULL);
        let plain = Packet::new(0, 0, 20);
        let queue = PacketQueue::default();
        let mut memory = Self {
            size: 0,
            most: most.max(LEAST_SIZE),
            share: FIRST_SHARE,
            clamp: 0,
            limit,
            full,
            own,
            unit,
            queue,
            plain,
            recorded: 1,
            fin: 0,
        };
        memory.make_room(first.max(LEAST_CLAMP));
        let all = memory.part_of(memory.size);
        let largest = if unit > 1 { all } else { all.min(0xFFFF) };
        // One segment is reserved.
        let reserves = largest > 2 * own && largest + own > all;
        memory.clamp = if reserves { (2 * own).max(all - own) } else { largest };
        memory
    }

    /// The largest window that the present memory permits.
    pub(super) fn window(&self) -> u32 {
        self.clamp.min(self.part_of(self.size)).min(self.limit)
    }

    /// The window for a reader that has read all, of which `open` bytes are open, and from which `open` on another packet like the last
    /// one changes nothing: it takes memory itself.
    pub(super) fn settled(&self, open: u32) -> (u32, u32) {
        let window = self.window().min(open);
        let whole = if self.unit > 1 { window.next_multiple_of(self.unit) } else { window };
        (whole, self.window().min(self.part_of(self.size.saturating_sub(self.plain.takes))))
    }

    fn part_of(&self, memory: u32) -> u32 {
        (u64::from(memory) * u64::from(self.share) / 256) as u32
    }

    /// Grows for a window of this size, as far as it may (`tcp_rcvbuf_grow()`).
    pub(super) fn make_room(&mut self, window: u32) {
        let needed = (u64::from(window) * 256 / u64::from(self.share)).min(u64::from(self.most)) as u32;
        if needed > self.size {
            self.size = needed;
            self.clamp = self.part_of(needed);
        }
    }

    /// The end of the packet that the application reads next, after `read`; `next` is the end of all.
    pub(super) fn first_end(&self, read: u64, next: u64) -> u64 {
        let unrecorded = || self.unrecorded(read, next).0.end.min(next);
        self.queue.first_end(read).unwrap_or_else(unrecorded)
    }

    /// The largest window that is configured.
    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    /// The estimate of the peer's full segment.
    pub(super) fn full(&self) -> u32 {
        self.full
    }

    /// The connection is open, and the peer's full segment has at most `theirs` bytes: what its first window permits may be less
    /// than its MSS (`tcp_initialize_rcv_mss()`).
    pub(super) fn limit_estimate(&mut self, theirs: u32) {
        self.full = self.full.min(theirs).max(LEAST_FULL);
    }

    /// The estimate of the peer's full segment is this one.
    pub(super) fn take_estimate(&mut self, full: u32) {
        if full > 0 {
            self.full = full;
        }
    }

    /// A packet has arrived: the longest one shows what part of the memory is
    /// data (`tcp_measure_rcv_mss()`, `tcp_set_window_clamp()`). Returns the window for an application that reads immediately.
    pub(super) fn measure(&mut self, packet: &Packet, offered: Offered) -> u32 {
        let len = packet.len();
        if len <= self.full {
            return offered.open;
        }
        self.full = len.min(self.own);
        let share = (u64::from(len) * 256 / u64::from(packet.takes)).clamp(1, 255) as u32;
        if share == self.share {
            return offered.open;
        }
        self.share = share;
        let clamp = self.part_of(self.size).max(LEAST_CLAMP);
        let before = core::mem::replace(&mut self.clamp, clamp);
        if clamp < before { offered.open.min(clamp) } else { offered.open.max(offered.announced.min(clamp)) }
    }

    /// By how much a packet opens a window of which `open` bytes are, if there is room (`tcp_grow_window()`). A tiny segment in order
    /// opens none.
    pub(super) fn opens(&self, packet: &Packet, open: u32, is_in_order: bool) -> u32 {
        let len = packet.len();
        if is_in_order && len < LEAST_OPENING {
            return 0;
        }
        let mut takes = self.part_of(packet.takes);
        if takes <= len {
            return 2 * self.own.max(len);
        }
        // The more memory is free, the less a segment may waste of it (`__tcp_grow_window()`).
        let mut enough = self.part_of(self.most) / 2;
        takes /= 2;
        while open <= enough {
            if takes <= len {
                return 2 * self.full.max(len);
            }
            (takes, enough) = (takes / 2, enough / 2);
        }
        0
    }

    /// A packet has arrived in order; the application has read up to `read`.
    pub(super) fn append(&mut self, packet: Packet, read: u64) {
        self.record(read, packet.start());
        self.queue.append(packet);
        self.recorded = packet.end;
        self.plain = packet;
    }

    /// What lies behind the gap that the last packet has filled follows, and `next` comes next. Returns the length of packets that
    /// need not be recorded from now on, or zero.
    pub(super) fn fill(&mut self, next: u64) -> u32 {
        self.recorded = self.queue.fill(self.recorded, next);
        let is_plain = self.plain.stands_alone() && self.queue.is_in_order();
        if is_plain { self.plain.len() } else { 0 }
    }

    /// The same packet, which takes nothing if it is a FIN without data behind the packet that it joins. So it opens the window
    /// (`truesize_adjust()` in `tcp_grow_window()`).
    pub(super) fn joined_fin(&self, mut packet: Packet) -> Packet {
        if packet.len() == 0 && self.queue.ends_at(packet.start()) {
            packet.takes = 0;
        }
        packet
    }

    /// A FIN without data has arrived in order. Its packet joins one that waits for the application (`tcp_queue_rcv()`).
    pub(super) fn append_fin(&mut self, packet: &Packet, has_unread: bool) {
        self.fin = if has_unread { 0 } else { packet.takes };
    }

    /// The application has read the end of the stream.
    pub(super) fn free_fin(&mut self) {
        self.fin = 0;
    }

    /// A packet has arrived behind a gap.
    pub(super) fn hold(&mut self, packet: Packet) {
        self.queue.hold(packet);
    }

    /// Packets that nothing has recorded lie behind a gap, from `start` to `end`.
    pub(super) fn hold_plain(&mut self, start: u64, end: u64) {
        let len = u64::from(self.plain.len().max(1));
        for number in 0..end.saturating_sub(start).div_ceil(len) {
            self.queue.hold(self.plain.at(start + number * len).up_to(end));
        }
    }

    /// The first packet behind what is recorded that the application, which has read up to `read`, has not read all of, and how many
    /// like it there are up to `next`.
    fn unrecorded(&self, read: u64, next: u64) -> (Packet, u32) {
        let len = u64::from(self.plain.len());
        if next <= self.recorded.max(read) {
            return (self.plain, 0);
        }
        if len == 0 {
            // The data of a SYN.
            return (Packet::new(self.recorded, next, 20), 1);
        }
        let first = self.recorded + read.saturating_sub(self.recorded) / len * len;
        (self.plain.at(first), (next - first).div_ceil(len) as u32)
    }

    /// Records the packets up to `next`, and frees those that the application has read.
    pub(super) fn record(&mut self, read: u64, next: u64) {
        let (first, count) = self.unrecorded(read, next);
        self.queue.free(read);
        for number in 0..u64::from(count) {
            self.queue.append(first.at(first.start() + number * u64::from(first.len())));
        }
        self.recorded = self.recorded.max(next);
    }

    /// What the memory has left for the window (`tcp_space()`).
    pub(super) fn space(&self, read: u64, next: u64) -> u32 {
        let (first, count) = self.unrecorded(read, next);
        let in_order = u64::from(count) * u64::from(first.takes) + u64::from(self.fin);
        let taken = u64::from(self.queue.taken(read)) + in_order;
        self.part_of(u64::from(self.size).saturating_sub(taken) as u32)
    }

    /// The window that a segment may announce (`__tcp_select_window()`).
    /// The application has read up to `read`, and `next` comes next.
    pub(super) fn select(&self, offered: Offered, read: u64, next: u64) -> u32 {
        let (mut free, all) = (self.space(read, next), self.part_of(self.size));
        let most = self.window();
        let full = self.full.min(most).min(offered.open);
        if free < most / 2 {
            free -= free % self.unit;
            if free < all / 16 || free < full {
                return 0;
            }
        }
        free = free.min(offered.open);
        if self.unit > 1 {
            return free.next_multiple_of(self.unit);
        }
        let keeps =
            offered.announced <= free && i64::from(offered.announced) > i64::from(free) - i64::from(full);
        if !keeps {
            free - free % full.max(1)
        } else if full == most && free > offered.announced + most / 2 {
            free
        } else {
            offered.announced
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> PacketMemory {
        PacketMemory::new(65_536, 32 << 20, 1024, (1448, 1448))
    }

    fn packet(len: u32) -> Packet {
        Packet::new(1, 1 + u64::from(len), 32)
    }

    const OFFERED: Offered = Offered { open: 64_088, announced: 65_160 };

    #[test]
    fn the_window_gets_half_of_the_memory_but_a_segment_until_a_full_segment_shows_more() {
        let mut memory = memory();
        assert_eq!((memory.size, memory.window()), (131_072, 65_536 - 1448));
        assert_eq!(memory.measure(&packet(500), OFFERED), 64_088);
        assert_eq!(memory.window(), 64_088, "it may not be a full one");
        assert_eq!(memory.measure(&packet(1448), OFFERED), 65_160, "what was announced is offered");
        assert_eq!(memory.window(), 81_920);
        memory.measure(&packet(1000), OFFERED);
        assert_eq!(memory.window(), 81_920);
    }

    #[test]
    fn a_segment_that_wastes_memory_makes_the_window_smaller() {
        let mut memory = memory();
        memory.take_estimate(500);
        assert_eq!(memory.measure(&packet(600), OFFERED), 131_072 / 256 * (600 * 256 / 2304));
    }

    #[test]
    fn the_largest_window_is_its_part_of_the_largest_memory() {
        let mut memory = memory();
        memory.measure(&packet(1448), OFFERED);
        memory.make_room(u32::MAX);
        assert_eq!(memory.window(), (32 << 20) / 8 * 5);
        memory.make_room(1000);
        assert_eq!(memory.window(), (32 << 20) / 8 * 5, "it does not shrink");
    }

    #[test]
    fn a_small_buffer_permits_the_window_that_is_configured_and_no_larger_one() {
        // As SO_RCVBUF of 30 000 bytes.
        let mut memory = PacketMemory::new(65_536, 30_000, 1024, (1448, 1448));
        assert_eq!((memory.size, memory.window()), (60_000, 30_000 - 1448));
        memory.measure(&packet(1448), OFFERED);
        assert_eq!((memory.part_of(memory.size), memory.window()), (37_500, 30_000));
        memory.make_room(u32::MAX);
        assert_eq!((memory.size, memory.window()), (60_000, 30_000));
    }

    #[test]
    fn a_full_segment_opens_the_window_by_two_and_a_tiny_one_in_order_does_not() {
        let mut memory = memory();
        memory.measure(&packet(1448), OFFERED);
        assert_eq!(memory.opens(&packet(1448), 65_535, true), 2896);
        assert_eq!(memory.opens(&packet(127), 65_535, true), 0);
        assert_eq!(memory.opens(&packet(127), 65_535, false), 2896);
    }

    #[test]
    fn a_short_segment_opens_a_small_window_only() {
        let mut memory = memory();
        memory.measure(&packet(1448), OFFERED);
        // A quarter of the memory of a packet with 200 bytes is less than 200 bytes.
        let quarter = memory.part_of(32 << 20) / 4;
        assert_eq!(memory.opens(&packet(200), quarter, true), 2896);
        assert_eq!(memory.opens(&packet(200), quarter + 1, true), 0);
    }

    #[test]
    fn packets_alike_that_were_not_recorded_count_once_one_of_another_length_arrives() {
        let (mut memory, len) = (memory(), 1448);
        memory.append(packet(1448), 1);
        assert_eq!(memory.fill(1 + len), 1448);
        // Three more have arrived since, and one of the four and a half was read.
        memory.append(Packet::new(1 + 4 * len, 2 + 4 * len, 32), 1 + len * 3 / 2);
        assert_eq!(memory.queue.taken(0), 3 * 2304, "the last byte was copied into the last of them");
        let (next, all) = (2 + 4 * len, memory.part_of(131_072));
        assert_eq!((memory.space(1 + 4 * len, next), memory.space(next, next)), (all - 1152, all));
        assert_eq!(memory.fill(next), 0, "one of a single byte leaves room for others");
    }

    #[test]
    fn a_window_without_scale_is_in_whole_segments_and_stays_until_one_more_fits() {
        let mut memory = PacketMemory::new(65_536, 32 << 20, 1, (1460, 1460));
        memory.take_estimate(1000);
        let select = |announced| memory.select(Offered { open: 60_500, announced }, 1, 1);
        assert_eq!(
            (select(60_000), select(59_999), select(59_501), select(59_500)),
            (60_000, 59_999, 59_501, 60_000)
        );
        assert_eq!(select(61_000), 60_000);
    }

    #[test]
    fn a_window_closes_when_a_sixteenth_of_the_memory_is_left() {
        let mut memory = memory();
        let select = |memory: &PacketMemory| memory.select(Offered { open: 65_536, announced: 0 }, 0, 0);
        let hold = |memory: &mut PacketMemory, count| {
            for start in (0..count).map(|number| 2 * number) {
                memory.hold(Packet::new(start, start + 1, 32));
            }
        };
        // Of 65 536 bytes, each packet of one byte takes 416.
        hold(&mut memory, 147);
        assert_eq!(select(&memory), (65_536 - 147 * 416) / 1024 * 1024);
        memory.hold(Packet::new(1000, 1001, 32));
        assert_eq!(select(&memory), 0);
    }

    #[test]
    fn the_memory_of_a_connection_that_receives_nothing_is_small() {
        let memory = memory();
        assert!(size_of::<PacketMemory>() <= 144, "{}", size_of::<PacketMemory>());
        assert_eq!(memory.queue, PacketQueue::default(), "it has allocated nothing else");
    }
}
