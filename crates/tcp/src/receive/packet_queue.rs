//! The packets of the kernel in a receive queue, and the memory that they take: what Linux counts in `sk_rmem_alloc`.
//!
//! A packet with one IPv4 header and no others before it, as a TUN device makes it: the kernel allocates 704 bytes for a short one and
//! a power of two for others. Network cards differ.

use std::collections::{BTreeMap, VecDeque};

/// At most so many packets in order are recorded one by one, and as many behind a gap. This limits the memory that a peer with tiny
/// segments can use. The largest buffer of Linux, 32 MiB, holds that many of 1 KiB.
const MOST: usize = 1 << 15;

/// Bytes before the TCP header: the space that the kernel reserves (`NET_SKB_PAD`), and the IP header.
const BEFORE_TCP: u32 = 64 + 20;
/// For each size that the kernel allocates: how many bytes of it a packet may fill, and the memory that it counts for
/// (`SKB_TRUESIZE()`): with `struct sk_buff` of 256 bytes, and `struct skb_shared_info` of 320 at the end.
const SIZES: [(u32, u32); 3] = [(256, 832), (704, 1280), (1728, 2304)];
/// What a longer packet takes besides its data: it consists of several parts.
const BESIDE_DATA: u32 = 856;

/// A packet in the queue, perhaps with the data of others that were copied into it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    /// The positions of its data.
    start: u64,
    pub(super) end: u64,
    /// The memory that it takes (`truesize`).
    pub(super) takes: u32,
    /// Bytes that could still be copied into it (`skb_tailroom()`).
    room: u32,
    /// The memory of all packets in order before it, modulo 2³².
    before: u32,
}

impl Packet {
    /// A packet with the data from `start` to `end` behind a TCP header of `header_len` bytes.
    pub(super) fn new(start: u64, end: u64, header_len: u8) -> Self {
        let len = (end - start) as u32;
        let fills = BEFORE_TCP + u32::from(header_len) + len;
        let fits = SIZES.iter().find(|size| fills <= size.0);
        let (room, takes) = fits.map_or((0, len + BESIDE_DATA), |&(holds, takes)| (holds - fills, takes));
        Self { start, end, takes, room, before: 0 }
    }

    /// The position of its first byte.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The same packet, of which the data behind `end` was not taken.
    pub(super) fn up_to(self, end: u64) -> Self {
        Self { end: self.end.min(end.max(self.start)), ..self }
    }

    /// The same packet at another position.
    pub(super) fn at(&self, start: u64) -> Self {
        Self { start, end: start + u64::from(self.len()), ..*self }
    }

    /// Payload bytes.
    pub(super) fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }

    /// Whether another packet with as much data would not be copied into this one.
    pub(super) fn stands_alone(&self) -> bool {
        self.room < self.len()
    }

    /// Copies the data of the next packet into this one, if it has room (`skb_try_coalesce()`). Returns whether it has.
    fn joins(&mut self, next: &Self) -> bool {
        let joins = self.end == next.start && next.len() <= self.room;
        if joins {
            self.room -= next.len();
            self.end = next.end;
        }
        joins
    }
}

/// The packets of a connection that the application has not read, in order and behind a gap.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PacketQueue {
    in_order: VecDeque<Packet>,
    /// Those behind a gap, by their starts.
    behind: BTreeMap<u64, Packet>,
    /// The memory of all packets that were in order until now, modulo 2³², and of those that are behind a gap.
    appended: u32,
    held: u32,
}

impl PacketQueue {
    /// The memory that they take once the application has read up to `read`.
    pub(super) fn taken(&self, read: u64) -> u32 {
        let first = self.in_order.get(self.position(read));
        self.held + first.map_or(0, |packet| self.appended.wrapping_sub(packet.before))
    }

    /// The number of packets that the application has read all of, having read up to `read`.
    fn position(&self, read: u64) -> usize {
        if self.in_order.back().is_none_or(|last| last.end <= read) {
            return self.in_order.len();
        }
        self.in_order.partition_point(|packet| packet.end <= read)
    }

    /// Whether nothing is behind a gap.
    pub(super) fn is_in_order(&self) -> bool {
        self.behind.is_empty()
    }

    /// Whether a packet behind a gap ends at this position.
    pub(super) fn ends_at(&self, position: u64) -> bool {
        self.behind.range(..position).next_back().is_some_and(|(_, before)| before.end == position)
    }

    /// The end of the packet that the application reads next, after `read`.
    pub(super) fn first_end(&self, read: u64) -> Option<u64> {
        self.in_order.get(self.position(read)).map(|packet| packet.end)
    }

    /// The application has read up to `read`: a packet is freed once all of it is read.
    pub(super) fn free(&mut self, read: u64) {
        while self.in_order.pop_front_if(|packet| packet.end <= read).is_some() {}
    }

    /// A packet has arrived in order (`tcp_queue_rcv()`).
    pub(super) fn append(&mut self, packet: Packet) {
        let is_full = self.in_order.len() >= MOST;
        if let Some(last) = self.in_order.back_mut() {
            if last.joins(&packet) {
                return;
            }
            if is_full {
                // The kernel copies data together when its memory is used up (`tcp_collapse()`).
                (last.end, last.room) = (packet.end, 0);
                self.appended = self.appended.wrapping_add(packet.len());
                return;
            }
        }
        self.in_order.push_back(Packet { before: self.appended, ..packet });
        self.appended = self.appended.wrapping_add(packet.takes);
    }

    /// What lies behind a gap that is filled up to `next` follows (`tcp_ofo_queue()`), as far as the stream was stored up to `end`.
    /// Returns where it ends.
    pub(super) fn fill(&mut self, mut next: u64, end: u64) -> u64 {
        while let Some(first) = self.behind.first_entry()
            && *first.key() <= next
        {
            let packet = first.remove();
            self.held -= packet.takes;
            if packet.end > next && packet.end <= end {
                next = packet.end;
                self.append(packet);
            }
        }
        next
    }

    /// A packet with new data has arrived behind a gap (`tcp_data_queue_ofo()`).
    pub(super) fn hold(&mut self, packet: Packet) {
        // Those that it covers are dropped, and one that begins where it does.
        while let Some((&start, other)) = self.behind.range(packet.start..).next()
            && other.end <= packet.end
        {
            self.held -= other.takes;
            self.behind.remove(&start);
        }
        let before = self.behind.range_mut(..packet.start).next_back();
        let joins = before.is_some_and(|(_, before)| before.joins(&packet));
        // The kernel has no memory for so many.
        if !joins && self.behind.len() < MOST && !self.behind.contains_key(&packet.start) {
            self.held += packet.takes;
            self.behind.insert(packet.start, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(start: u64, end: u64) -> Packet {
        Packet::new(start, end, 32)
    }

    fn queue(held: &[(u64, u64)]) -> PacketQueue {
        let mut queue = PacketQueue::default();
        held.iter().for_each(|&(start, end)| queue.hold(packet(start, end)));
        queue
    }

    #[test]
    fn a_packet_takes_what_the_kernel_allocates_for_it() {
        // Linux 6.18 on a TUN device.
        let takes = |len| packet(0, len).takes;
        assert_eq!([1, 140, 141, 588, 589, 1448].map(takes), [832, 832, 1280, 1280, 2304, 2304]);
    }

    #[test]
    fn short_data_is_copied_into_the_packet_before_it() {
        let mut queue = PacketQueue::default();
        queue.append(packet(0, 1448));
        queue.append(packet(1448, 1448 + 164));
        assert_eq!(queue.taken(0), 2304);
        queue.append(packet(1612, 1613));
        assert_eq!(queue.taken(0), 2304 + 832, "there is no room left");
    }

    #[test]
    fn a_packet_is_freed_once_all_of_it_is_read() {
        let mut queue = PacketQueue::default();
        queue.append(packet(0, 1448));
        queue.append(packet(1448, 2896));
        assert_eq!((queue.taken(1447), queue.first_end(1447)), (4608, Some(1448)));
        assert_eq!((queue.taken(1448), queue.first_end(1448)), (2304, Some(2896)));
        queue.free(1448);
        assert_eq!(queue.taken(0), 2304);
    }

    #[test]
    fn a_packet_behind_a_gap_takes_the_place_of_those_that_it_covers() {
        let mut held = queue(&[(1000, 2000), (3000, 4000), (5000, 6000)]);
        assert_eq!(held.taken(0), 3 * 2304);
        held.hold(packet(900, 4100));
        assert_eq!((held.taken(0), held.behind.len()), (2304 + 3200 + BESIDE_DATA, 2));
    }

    #[test]
    fn what_lies_behind_a_gap_follows_once_the_gap_is_filled() {
        let mut held = queue(&[(2000, 2100), (2100, 2140), (9000, 9001)]);
        assert_eq!(held.taken(0), 2 * 832, "the second one was copied into the first");
        held.append(packet(1000, 2000));
        assert_eq!(held.fill(2000, 2140), 2140);
        assert_eq!(held.taken(0), 2304 + 832, "there was room for both");
        assert_eq!((held.first_end(0), held.behind.len()), (Some(2140), 1));
    }

    #[test]
    fn a_packet_that_begins_where_a_longer_one_does_is_not_kept() {
        let mut held = queue(&[(1000, 2000), (1000, 1500)]);
        assert_eq!((held.taken(0), held.behind.len()), (2304, 1));
        held.hold(packet(1000, 2001));
        assert_eq!((held.taken(0), held.behind[&1000].end), (2304, 2001));
    }

    #[test]
    fn a_peer_with_many_short_packets_cannot_make_it_grow_for_ever() {
        let count = MOST as u64 + 1000;
        let mut held = PacketQueue::default();
        // No two of them touch each other; a second round finds all places taken.
        for start in (0..2 * count).map(|number| 1_000_000 + 1000 * (number % count)) {
            held.hold(packet(start, start + 1));
        }
        assert_eq!((held.behind.len(), held.held), (MOST, MOST as u32 * 832));
        // One that covers them all takes their place.
        held.hold(packet(999_999, 999_999 + 1001 * count));
        assert_eq!(held.behind.len(), 1);

        let mut unread = PacketQueue::default();
        for number in 0..count {
            unread.append(packet(1448 * number, 1448 * (number + 1)));
        }
        assert_eq!((unread.in_order.len(), unread.first_end(1448)), (MOST, Some(2896)));
        assert_eq!(unread.taken(0), MOST as u32 * 2304 + 1000 * 1448, "the last ones were copied together");
        assert_eq!(unread.taken(1448 * count - 1), 2304 + 1000 * 1448);
        unread.free(1448 * count);
        assert_eq!((unread.in_order.len(), unread.taken(0)), (0, 0));
    }
}
