//! The send buffer of Linux. It counts memory: the data, and a head for each packet of several
//! segments.
//!
//! A full buffer only prevents that another packet begins; the last one is filled in any case. Whenever it is full, a few
//! segments of it are sent if the windows permit it, so that it can be filled again (`tcp_sendmsg_locked()`,
//! `tcp_push_one()`). That ends when half of the peer's largest window has been written: then all of it is sent
//! (`forced_push()`). It also ends with the call. If Minshall's rule holds its short end back, that is a packet which the next
//! call fills, so a buffer may hold much more than its size. A writer that found no room waits until a third is free
//! (`sk_stream_write_space()`).
//!
//! The interface takes everything at once here. A slow one stops the sending before the windows do (`tcp_small_queue_check()`).

use super::joined::Joined;
use std::collections::VecDeque;

/// Memory of a packet beside its data: `struct sk_buff` with the room for headers, on machines with 64 bits.
const HEAD: u64 = 832;
/// The largest packet in bytes (`sk_gso_max_size` without headers).
const LARGEST: u64 = 65_215;
/// The smallest send buffer in bytes (`SOCK_MIN_SNDBUF`).
pub(super) const LEAST: u64 = 4_608;
/// The bytes that a program writes with one call, behind which everything is sent that the windows permit.
pub(super) const CALL: u64 = 1 << 18;

/// A write queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Queue {
    /// The size of the send buffer in bytes of memory.
    pub(super) buffer: u64,
    /// Bytes written and not acknowledged.
    pub(super) data: u64,
    /// The packets that contain them.
    pub(super) packets: u64,
    /// Unsent bytes in the last packet; 0 if all packets were sent.
    pub(super) last: u64,
    /// Unsent bytes in all packets.
    pub(super) unsent: u64,
    /// The size to which a packet is filled.
    pub(super) goal: u64,
}

/// What may be sent of a queue while a write fills it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sendable {
    /// Half of the peer's largest window.
    pub(super) half_window: u64,
    /// Bytes behind the unsent ones that the windows permit now, and the size of the packets in which they are sent.
    pub(super) permitted: u64,
    pub(super) burst: u64,
}

/// The memory in use with which a waiting writer is woken: a third of the buffer is free (`sk_stream_is_writeable()`).
pub(super) fn wakes_below(buffer: u64) -> u64 {
    // The largest one of which half, rounded down, is free.
    (2 * buffer + 1) / 3
}

impl Queue {
    fn memory(self) -> u64 {
        self.data + HEAD * self.packets
    }

    /// Whether a waiting writer is woken.
    pub(super) fn wakes(self) -> bool {
        self.memory() <= wakes_below(self.buffer)
    }

    /// The bytes that a write accepts (`tcp_sendmsg_locked()`, `sk_stream_memory_free()`).
    pub(super) fn room(self, sendable: &Sendable) -> u64 {
        if self.last == 0 && self.memory() >= self.buffer {
            return 0;
        }
        let (rest, head) =
            if self.last > 0 { (self.goal.saturating_sub(self.last), 0) } else { (self.goal, HEAD) };
        let again = self.refilled(rest, sendable);
        let memory = self.memory() + head + rest + again + HEAD * again.div_ceil(sendable.burst.max(1));
        let others = self.buffer.saturating_sub(memory).div_ceil(self.goal + HEAD);
        rest + again + others * self.goal
    }

    /// The bytes that are added to the last packet while it is sent, behind `rest` bytes that fill it.
    fn refilled(self, rest: u64, sendable: &Sendable) -> u64 {
        let Sendable { half_window, permitted, burst } = *sendable;
        // Only the first unsent packet is sent meanwhile. If it leaves as a whole, the next one needs free memory.
        if self.unsent != self.last || burst >= self.goal {
            return 0;
        }
        let burst = burst.max(1);
        let until_all_leaves = (half_window + 1).saturating_sub(rest).div_ceil(burst) * burst;
        let again = if permitted >= until_all_leaves + self.goal { until_all_leaves } else { permitted };
        again.min(CALL - rest.min(CALL))
    }
}

/// Half of the peer's largest window, or all of it if it has at most 536 bytes (`TCP_MSS_DEFAULT`): what Linux sends together at
/// most.
pub(in crate::send) const fn half_window(window: u32) -> u32 {
    if window > 536 { window / 2 } else { window }
}

/// The size to which a packet is filled: whole segments, at most half of the peer's largest window
/// (`tcp_xmit_size_goal()`, `tcp_bound_to_half_wnd()`).
pub(super) fn goal(largest_window: u32, mss: u64) -> u64 {
    let mss = mss.max(1);
    (LARGEST.min(u64::from(half_window(largest_window))) / mss).max(1) * mss
}

/// The packets of a connection, and whether its writer waits.
#[derive(Debug, Default)]
pub(in crate::send) struct Packets {
    /// The first positions of packets that were sent; each but the last ends where the next begins.
    sent: VecDeque<u64>,
    /// The first position of the last packet of the queue.
    last: u64,
    /// The writer waits for free memory.
    waits: bool,
    /// Data below this was acknowledged when its last call ended. It begins the next one at once, so an ACK finds it waiting.
    ended: Option<u64>,
    /// Packets that became one, because the peer has reported them.
    joined: Joined,
}

impl Packets {
    /// The peer reports `start` to `end`; everything below `max` is sent.
    pub(super) fn report(&mut self, (start, end): (u64, u64), max: u64) {
        let sent = &self.sent;
        self.joined.report(start, end, |start, end| {
            let after = |index: usize| sent.get(index).copied().unwrap_or(max);
            let (first, last) =
                (sent.partition_point(|&at| at <= start), sent.partition_point(|&at| at < end));
            // The last packet may go on behind the end.
            (last - first) as u64 - u64::from(last > first && after(last) > end)
        });
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn acknowledged(&mut self, una: u64) {
        self.joined.forget(una);
    }

    /// Whether packets have become one.
    pub(super) const fn are_joined(&self) -> bool {
        self.joined.fewer() > 0
    }

    /// A packet that begins at `start` is sent; everything below `una` is acknowledged.
    pub(in crate::send) fn leaves(&mut self, start: u64, una: u64) {
        while self.sent.get(1).is_some_and(|&next| next <= una) {
            self.sent.pop_front();
        }
        self.sent.push_back(start);
    }

    /// A write has been accepted: whether it took all the room, and whether it ends a call. Then the next call begins before more
    /// than the data below `una` is acknowledged.
    pub(super) fn note_call(&mut self, took_all: bool, ends: bool, una: u64) {
        self.waits = took_all;
        self.ended = ends.then_some(una);
    }

    /// Whether the writer waits, if data below `una` is acknowledged.
    pub(super) fn is_waiting(&self, una: u64) -> bool {
        self.waits && self.ended != Some(una)
    }

    /// Packets that were sent and contain unacknowledged data. Those that were joined are one.
    pub(super) fn in_flight(&self, una: u64, max: u64) -> u64 {
        self.sent_from(una, max).saturating_sub(self.joined.fewer())
    }

    /// Packets as they were sent that contain unacknowledged data.
    fn sent_from(&self, una: u64, max: u64) -> u64 {
        if una >= max {
            return 0;
        }
        let begun = self.sent.partition_point(|&start| start <= una);
        (self.sent.len() - begun.saturating_sub(1)) as u64
    }

    /// A writer that waits for a part of `queue` waits at least until this is acknowledged; now everything below `una` is, and
    /// everything below `max` is sent. What is unsent may leave in more packets than it is in now, so the writer may wake later.
    /// 0 if packets are joined: then a report may wake it as well.
    pub(super) fn wakes_at(&self, queue: &Queue, (una, max): (u64, u64)) -> u64 {
        if self.are_joined() {
            return 0;
        }
        let end = una.max(1) + queue.data;
        let in_flight = self.in_flight(una, max);
        let first = self.sent.len() as u64 - in_flight;
        let waiting = queue.packets - in_flight;
        let most = wakes_below(queue.buffer);
        // The memory if everything below the packet `nth` of those in flight is acknowledged.
        let memory = |nth: u64, start: u64| (end - start) + HEAD * (waiting + in_flight - nth);
        let (mut kept, mut freed) = (0, in_flight);
        while freed > kept {
            let middle = kept.midpoint(freed);
            let start = self.sent[(first + middle) as usize].max(una);
            if memory(middle, start) > most {
                kept = middle + 1;
            } else {
                freed = middle;
            }
        }
        // The writer wakes within the packet before that one, or when all of it is acknowledged.
        let within = (end + HEAD * (waiting + in_flight - kept.saturating_sub(1))).saturating_sub(most);
        let whole = if kept < in_flight { self.sent[(first + kept) as usize] } else { max };
        within.min(whole)
    }

    /// The unsent bytes of the last packet of the queue, which ends at `end`.
    pub(super) fn unsent(&self, max: u64, end: u64) -> u64 {
        end.saturating_sub(self.last.max(max).max(1))
    }

    /// `len` bytes are added at `end`; `last` bytes of the last packet are unsent.
    pub(super) fn add(&mut self, end: u64, len: u64, last: u64, goal: u64) {
        let rest = if last > 0 { goal.saturating_sub(last) } else { 0 };
        if len > rest {
            self.last = end + rest + (len - rest - 1) / goal * goal;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;
    const GOAL: u64 = 45 * MSS;
    const EMPTY: Queue = Queue { buffer: 32_768, data: 0, packets: 0, last: 0, unsent: 0, goal: GOAL };
    const FEW: Sendable = Sendable { half_window: 100_000, permitted: 0, burst: 2 * MSS };

    #[test]
    fn a_packet_takes_half_of_the_window_in_whole_segments_and_at_most_45_of_them() {
        assert_eq!(goal(6 << 20, MSS), GOAL);
        assert_eq!(goal(64_000, MSS), 22 * MSS);
        assert_eq!(goal(2000, MSS), MSS, "at least one segment");
        assert_eq!(goal(500, 100), 500);
    }

    #[test]
    fn a_buffer_of_half_a_packet_takes_a_whole_one() {
        let empty = EMPTY;
        assert_eq!(empty.room(&FEW), GOAL);
        assert_eq!(Queue { data: 32_000, packets: 1, ..empty }.room(&FEW), 0, "832 bytes are its head");
        assert_eq!(Queue { data: 31_000, packets: 1, ..empty }.room(&FEW), GOAL);
        // The last packet is filled although the buffer is full.
        let full = Queue { data: 50_000, packets: 9, last: 10_000, unsent: 10_000, ..empty };
        assert_eq!(full.room(&FEW), GOAL - 10_000);
        assert_eq!(Queue { buffer: 3 * GOAL, ..empty }.room(&FEW), 3 * GOAL);
    }

    #[test]
    fn what_the_windows_permit_is_sent_while_a_packet_is_filled() {
        // The first write of a transfer: the peer's window of 64 KB makes packets of 22 segments, and ten may leave.
        let goal = 22 * MSS;
        let first = Queue { buffer: 53_576, goal, ..EMPTY };
        let ten = Sendable { half_window: 32_767, permitted: 10 * MSS, ..FEW };
        assert_eq!(first.room(&ten), (22 + 10 + 22) * MSS);
        // If everything may leave, it does once half of the window is written.
        let all = Sendable { permitted: 1 << 20, ..ten };
        assert_eq!(Queue { buffer: 20_000, ..first }.room(&all), (22 + 2) * MSS);
        // A large window lets a call write everything, whatever the buffer.
        let large = Sendable { half_window: 1 << 20, ..all };
        assert_eq!(EMPTY.room(&large), CALL);
        // A packet that leaves as a whole is not filled again.
        assert_eq!(EMPTY.room(&Sendable { burst: GOAL, ..large }), GOAL);
        // Behind another packet that waits nothing is sent.
        let behind = Queue { data: 2 * GOAL, packets: 2, last: GOAL - 1, unsent: 2 * GOAL - 1, ..EMPTY };
        assert_eq!(behind.room(&large), 1);
    }

    #[test]
    fn a_waiting_writer_is_woken_when_a_third_is_free() {
        let full = Queue { buffer: 30_000, ..EMPTY };
        assert!(!Queue { data: 20_002, ..full }.wakes());
        assert!(Queue { data: 20_000, ..full }.wakes());
        assert!(!Queue { data: 20_000, packets: 1, ..full }.wakes());
    }

    #[test]
    fn a_writer_sleeps_exactly_until_a_third_is_free_if_no_packet_is_cut() {
        let mut random = 1_u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for turn in 0..2000 {
            let (mut packets, mut max) = (Packets::default(), 1);
            for _ in 0..below(20) {
                packets.leaves(max, 1);
                max += 1 + below(3 * MSS);
            }
            let (waiting, unsent) = (below(3), below(5000));
            let end = max + if waiting > 0 { unsent } else { 0 };
            let queue = |una: u64| Queue {
                buffer: 20_000,
                data: end - una,
                packets: packets.in_flight(una, max) + waiting,
                ..EMPTY
            };
            let first = (1..max).find(|&una| queue(una).wakes()).unwrap_or(max);
            let sleeps = packets.wakes_at(&queue(1), (1, max));
            assert_eq!(sleeps.max(1), first, "turn {turn}: {packets:?} {:?}", queue(1));
        }
    }

    #[test]
    fn packets_are_counted_until_their_last_byte_is_acknowledged() {
        let mut packets = Packets::default();
        for start in [1, 2001, 4001] {
            packets.leaves(start, 1);
        }
        assert_eq!([1, 2000, 2001, 4500, 6001].map(|una| packets.in_flight(una, 6001)), [3, 3, 2, 1, 0]);
        packets.leaves(6001, 4001);
        assert_eq!(packets.sent, [4001, 6001]);
    }

    #[test]
    fn packets_that_the_peer_reports_one_behind_the_other_are_one() {
        let mut packets = Packets::default();
        for start in [1, 1001, 2001, 4001, 5001] {
            packets.leaves(start, 1);
        }
        let count = |packets: &Packets, una| packets.in_flight(una, 6001);
        packets.report((1001, 3001), 6001);
        assert_eq!(count(&packets, 1), 5, "the second one is reported in part");
        packets.report((1001, 5001), 6001);
        assert_eq!(count(&packets, 1), 3);
        packets.report((1001, 6001), 6001);
        assert_eq!(count(&packets, 1), 2, "the last one ends with what is sent");
        assert!(packets.are_joined());
        let queue = Queue { data: 6000, packets: 2, ..EMPTY };
        assert_eq!(packets.wakes_at(&queue, (1, 6001)), 0, "a report may wake the writer");
        packets.acknowledged(6001);
        packets.leaves(6001, 6001);
        assert_eq!((packets.in_flight(6001, 7001), packets.are_joined()), (1, false));
    }

    #[test]
    fn a_writer_without_room_waits_unless_its_call_has_ended() {
        let mut packets = Packets::default();
        assert!(!packets.is_waiting(1));
        packets.note_call(true, false, 1);
        assert!(packets.is_waiting(1));
        packets.note_call(true, true, 1);
        assert!(!packets.is_waiting(1), "what is sent now may make room for the next call");
        assert!(packets.is_waiting(2), "that call has found none");
    }

    #[test]
    fn a_write_fills_the_last_packet_and_begins_others() {
        let mut packets = Packets::default();
        packets.add(1, 3000, 0, 1000);
        assert_eq!((packets.last, packets.unsent(0, 3001)), (2001, 1000));
        packets.add(3001, 500, 1000, 1000);
        assert_eq!((packets.last, packets.unsent(0, 3501)), (3001, 500));
        packets.add(3501, 500, 500, 1000);
        assert_eq!(packets.last, 3001);
        // What was sent of it makes room in it.
        assert_eq!(packets.unsent(3601, 4001), 400);
        packets.add(4001, 700, 400, 1000);
        assert_eq!(packets.last, 4601);
    }
}
