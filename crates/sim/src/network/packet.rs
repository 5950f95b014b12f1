//! Packets: plain values of two cache lines in a slab, without payload bytes or reference counts.

use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::{Ecn, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Time;
use std::hint::black_box;

/// Bytes of the IPv4 header in front of every segment.
pub const IP_HEADER: u32 = 20;

/// A packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(64))]
pub struct Packet {
    /// Its content.
    pub segment: Segment,
    /// Its receiver: a number with a meaning for the driver of the network.
    pub endpoint: u32,
    /// Bytes, IP header included, without a link's own framing.
    pub size: u32,
    /// The generation of the endpoint's place, as places are used again.
    pub generation: u16,
    /// The segment.
    pub content: Content,
    /// In a message from a router: the MTU of the next link.
    pub mtu: u16,
    /// Whether it carries retransmitted data.
    pub resend: bool,
}

/// The kind of a packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Content {
    /// The segment that was sent.
    #[default]
    Segment,
    /// A corrupted segment: the checksum at the receiving host detects it.
    Damaged,
    /// A message from a router to the sender of a segment with this sequence number that was too long (RFC 1191).
    TooBig,
    /// A datagram, which [`Datagram::of`] reads.
    Datagram,
    /// A corrupted datagram.
    DamagedDatagram,
}

impl Content {
    /// The same content, corrupted.
    #[must_use]
    pub(crate) const fn damaged(self) -> Self {
        match self {
            Self::Datagram | Self::DamagedDatagram => Self::DamagedDatagram,
            _ => Self::Damaged,
        }
    }

    /// Whether the checksum at the receiving host detects corruption.
    pub const fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged | Self::DamagedDatagram)
    }

    /// Whether it is a datagram, corrupted or not.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Datagram | Self::DamagedDatagram)
    }
}

/// Bytes of the UDP header in front of a datagram's payload.
pub const UDP_HEADER: u32 = 8;

/// A datagram. A packet carries it in the fields of its segment: the number in both sequence numbers, the time in the
/// offset of the payload. So the network has one kind of packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Number within its flow, from 0.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
    /// Its payload.
    pub bytes: u32,
    /// The ECN field of its packet.
    pub ecn: Ecn,
}

impl Datagram {
    /// The datagram in a packet with this segment and this content, if it carries one.
    pub fn of(segment: &Segment) -> Self {
        Self {
            number: u64::from(segment.ack.0) << 32 | u64::from(segment.seq.0),
            sent: Time::from_ps(segment.payload.offset),
            bytes: segment.payload.len,
            ecn: segment.ecn,
        }
    }

    /// The segment whose fields carry it.
    pub(crate) fn segment(&self) -> Segment {
        Segment {
            seq: Seq(self.number as u32),
            ack: Seq((self.number >> 32) as u32),
            header_len: UDP_HEADER as u8,
            ecn: self.ecn,
            payload: Payload { offset: self.sent.as_ps(), len: self.bytes },
            ..Segment::default()
        }
    }

    /// Bytes of its packet, IP header included.
    pub(crate) const fn size(&self) -> u32 {
        IP_HEADER + UDP_HEADER + self.bytes
    }

    /// Whether a queue has marked it.
    pub(crate) const fn is_marked(&self) -> bool {
        matches!(self.ecn, Ecn::Ce)
    }
}

/// The data that a host sets on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// Its receiver: a number with a meaning for the driver of the network.
    pub endpoint: u32,
    /// The generation of the endpoint's place, as places are used again.
    pub generation: u16,
    /// The start of its route in the network's list of hops.
    pub route: u32,
    /// Bytes, IP header included.
    pub size: u32,
    /// Whether it carries retransmitted data.
    pub resend: bool,
}

impl Packet {
    /// Puts a label on a packet with a segment.
    #[inline(always)]
    pub(crate) fn address(&mut self, label: Label) {
        self.endpoint = label.endpoint;
        self.size = label.size;
        self.generation = label.generation;
        self.content = Content::Segment;
        self.resend = label.resend;
    }

    /// Puts the label of an answer on a packet in which a segment has arrived: new data or an ACK, from the receiver of that
    /// segment to its sender. Returns the bytes of the packet, and whether it has data.
    #[inline(always)]
    pub(crate) fn readdress(&mut self, endpoint: u32) -> (u32, bool) {
        self.endpoint = endpoint;
        self.size = IP_HEADER + self.segment.wire_len();
        self.resend = false;
        (self.size, self.segment.payload.len > 0)
    }
}

impl Label {
    /// This label on a packet with `segment`, which is sent for `reason`.
    #[inline]
    pub(crate) fn on(self, segment: &Segment, reason: Reason) -> Self {
        let size = IP_HEADER + segment.wire_len();
        Self { size, resend: segment.payload.len > 0 && reason.is_retransmission(), ..self }
    }
}

/// No place.
pub(crate) const NONE: u32 = u32::MAX;

/// The position of a packet, and all its data that forwarding needs: half a cache line, the only one that an arrival
/// reads.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    arrival: u64,
    /// The arrival of the next packet.
    next_arrival: u64,
    stage: Stage,
    /// The next packet that arrives at the same channel; the last one of a chain has none. For a free place, another free
    /// place.
    next: u32,
    /// The packet that arrives before this one; the first one of a chain has none.
    previous: u32,
}

/// The next step after the arrival of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stage {
    /// Bytes of the packet, as [`Packet::size`].
    pub(crate) size: u32,
    /// The position behind this hop in the network's list of hops. [`Stage::DELIVERY`] is set if the packet is delivered,
    /// [`Stage::ENTRY`] if it is to enter the next hop in another part of the network.
    pub(crate) onward: u32,
}

impl Stage {
    /// There is no further hop.
    pub(crate) const DELIVERY: u32 = 1 << 31;

    /// The packet enters the next hop.
    const ENTRY: u32 = 1 << 30;

    /// Whether the packet has reached its host.
    #[inline]
    pub(crate) const fn is_delivered(self) -> bool {
        self.onward & Self::DELIVERY != 0
    }

    /// The position of the hop that the packet has passed.
    #[inline]
    pub(crate) const fn hop(self) -> u32 {
        self.next().wrapping_sub(1)
    }

    /// The position of the next hop, if there is one.
    #[inline]
    pub(crate) const fn next(self) -> u32 {
        self.onward & !(Self::DELIVERY | Self::ENTRY)
    }

    /// The stage of a packet that enters the next hop in another part of the network.
    #[inline]
    pub(crate) const fn to_enter(self) -> Self {
        Self { onward: self.onward | Self::ENTRY, ..self }
    }

    /// Whether the packet enters the next hop here.
    #[inline]
    pub(crate) const fn is_to_enter(self) -> bool {
        self.onward & Self::ENTRY != 0
    }
}

/// Packets in flight through one channel: a linked list of their places, in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    last: u32,
}

impl Chain {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE };

    /// Whether there is no packet.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// A packet at the end of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) slot: u32,
    pub(crate) stage: Stage,
    /// When the next packet arrives.
    pub(crate) next_arrival: Option<u64>,
}

/// An entry of the event queue: a time and a source.
pub(crate) type Entry = (u64, u32);

/// All packets in flight. A place is a `u32`.
#[derive(Debug)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    /// Separate from the packets, because forwarding reads only a small part of a packet.
    flights: Vec<Flight>,
    /// A free place.
    free: u32,
}

impl Slab {
    pub(crate) const fn new() -> Self {
        Self { packets: Vec::new(), flights: Vec::new(), free: NONE }
    }

    /// A place for a packet, with the content of an earlier one.
    #[inline]
    pub(crate) fn reserve(&mut self) -> u32 {
        let slot = self.free;
        match self.flights.get(slot as usize) {
            Some(flight) => {
                self.free = flight.next;
                slot
            }
            None => self.grow(),
        }
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.packets.push(Packet::default());
        self.flights.push(Flight::default());
        (self.packets.len() - 1) as u32
    }

    pub(crate) fn insert(&mut self, packet: Packet) -> u32 {
        let slot = self.reserve();
        *self.get_mut(slot) = packet;
        slot
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Packet {
        &self.packets[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    /// Loads the cache lines of a packet and of its position: one field of each, so that the loads overlap.
    #[inline]
    pub(crate) fn fetch(&self, slot: u32) -> &Packet {
        let packet = self.get(slot);
        let position = self.flights[slot as usize].next;
        black_box(u32::from(packet.segment.options.timestamps.is_some()) ^ position);
        packet
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        self.flights[slot as usize].next = self.free;
        self.free = slot;
    }

    /// The number of places in use, by counting.
    pub(crate) fn len(&self) -> usize {
        let free = std::iter::successors(self.flights.get(self.free as usize), |flight| {
            self.flights.get(flight.next as usize)
        });
        self.flights.len() - free.count()
    }

    /// Sets the position of a packet that no other follows.
    #[inline(always)]
    pub(super) fn set_flight(&mut self, slot: u32, arrival: u64, stage: Stage) {
        let flight = &mut self.flights[slot as usize];
        (flight.arrival, flight.stage, flight.next) = (arrival, stage, NONE);
    }

    /// When a packet arrives, and its next step.
    #[inline(always)]
    pub(super) fn flight(&self, slot: u32) -> (u64, Stage) {
        let Flight { arrival, stage, .. } = self.flights[slot as usize];
        (arrival, stage)
    }

    /// When a packet arrives, its next step, and the packet that follows it.
    #[inline(always)]
    pub(super) fn place_of(&self, slot: u32) -> (u64, Stage, u32) {
        let Flight { arrival, stage, next, .. } = self.flights[slot as usize];
        (arrival, stage, next)
    }

    /// A packet and those that follow it; none if there is none.
    pub(super) fn following(&self, slot: u32) -> impl Iterator<Item = u32> {
        let some = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(some(slot), move |&slot| some(self.next(slot)))
    }

    /// The packet that follows a packet.
    #[inline(always)]
    pub(super) fn next(&self, slot: u32) -> u32 {
        self.flights[slot as usize].next
    }

    /// Packet `next` follows packet `slot`.
    pub(super) fn link(&mut self, slot: u32, next: u32) {
        self.flights[slot as usize].next = next;
    }

    /// Adds a packet to those in flight through a channel. Returns whether it is the first to arrive.
    #[inline(always)]
    pub(crate) fn take_off(&mut self, chain: &mut Chain, slot: u32, arrival: u64, stage: Stage) -> bool {
        let previous = chain.last;
        let flight = &mut self.flights[slot as usize];
        (flight.arrival, flight.stage, flight.previous) = (arrival, stage, previous);
        match self.flights.get_mut(previous as usize) {
            Some(before) if arrival < before.arrival => self.overtake(chain, slot, arrival),
            Some(before) => {
                (before.next, before.next_arrival) = (slot, arrival);
                chain.last = slot;
                false
            }
            None => {
                *chain = Chain { first: slot, last: slot };
                true
            }
        }
    }

    /// The same for a packet that arrives before packets that were sent earlier.
    #[cold]
    fn overtake(&mut self, chain: &mut Chain, slot: u32, arrival: u64) -> bool {
        let mut next = chain.last;
        let mut before = None;
        while next != chain.first {
            let previous = self.flights[next as usize].previous;
            if self.flights[previous as usize].arrival <= arrival {
                before = Some(previous);
                break;
            }
            next = previous;
        }
        let behind = &mut self.flights[next as usize];
        behind.previous = slot;
        let next_arrival = behind.arrival;
        let flight = &mut self.flights[slot as usize];
        (flight.next, flight.next_arrival) = (next, next_arrival);
        let Some(previous) = before else {
            chain.first = slot;
            return true;
        };
        flight.previous = previous;
        let before = &mut self.flights[previous as usize];
        (before.next, before.next_arrival) = (slot, arrival);
        false
    }

    /// Removes the first packet of a channel, if it arrives at `now`.
    #[inline]
    pub(crate) fn land(&mut self, chain: &mut Chain, now: u64) -> Option<Arrived> {
        let slot = chain.first;
        let Flight { arrival, next_arrival, stage, next, .. } = *self.flights.get(slot as usize)?;
        if arrival != now {
            return None;
        }
        if slot == chain.last {
            *chain = Chain::EMPTY;
            return Some(Arrived { slot, stage, next_arrival: None });
        }
        chain.first = next;
        Some(Arrived { slot, stage, next_arrival: Some(next_arrival) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_two_cache_lines() {
        assert!(size_of::<Packet>() <= 128, "{}", size_of::<Packet>());
    }

    #[test]
    fn a_packet_carries_a_datagram_whole() {
        let number = (7 << 32) | 9;
        let datagram = Datagram { number, sent: Time::from_ps(5), bytes: 1200, ecn: Ecn::Ect1 };
        assert_eq!(Datagram::of(&datagram.segment()), datagram);
        assert_eq!((datagram.size(), datagram.segment().wire_len()), (1228, 1208));
    }

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::new();
        let a = slab.insert(Packet { size: 1, ..Packet::default() });
        let b = slab.insert(Packet { size: 2, ..Packet::default() });
        slab.remove(a);
        assert_eq!(slab.insert(Packet { size: 3, ..Packet::default() }), a);
        assert_eq!((slab.get(a).size, slab.get(b).size, slab.len()), (3, 2, 2));
    }

    #[test]
    fn packets_land_in_order_of_arrival_and_those_of_one_instant_in_order_of_departure() {
        let (mut slab, mut chain) = (Slab::new(), Chain::EMPTY);
        let mut firsts = Vec::new();
        for arrival in [30, 50, 90, 50, 10, 90, 95] {
            let slot = slab.reserve();
            firsts.push(slab.take_off(&mut chain, slot, arrival, Stage::default()));
        }
        assert_eq!(firsts, [true, false, false, false, true, false, false]);
        let mut landed = Vec::new();
        for now in 0..100 {
            while let Some(arrived) = slab.land(&mut chain, now) {
                landed.push((now, arrived.slot));
                slab.remove(arrived.slot);
            }
        }
        assert_eq!(landed, [(10, 4), (30, 0), (50, 1), (50, 3), (90, 2), (90, 5), (95, 6)]);
        assert_eq!(slab.len(), 0);
        let slot = slab.reserve();
        assert!(slab.take_off(&mut chain, slot, 5, Stage::default()), "an emptied chain begins anew");
        assert_eq!(slab.land(&mut chain, 5).map(|arrived| arrived.next_arrival), Some(None));
    }
}
