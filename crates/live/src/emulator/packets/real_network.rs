//! The simulated network with real packets: bytes enter and leave at hosts. Time is an argument.

use crate::emulator::hosts::addresses::Addresses;
use crate::emulator::packets::fields::{self, PacketFields};
use crate::emulator::packets::rewrite;
use crate::emulator::packets::routes::Routes;
use crate::emulator::packets::store::{PacketStore, RealPacket};
use crate::emulator::packets::too_big;
use crate::emulator::packets::train::Label;
use crate::tun::Checksum;
use netspurt_sim::network::packet::{self, Content};
use netspurt_sim::network::{Due, Network};
use netspurt_sim::random::Stream;
use netspurt_sim::record::diary::{Pass, Step};
use netspurt_sim::spec::{AckFilter, ChannelSpec, NodeId, QueueSpec, WorldSpec};
use netspurt_tcp::codec::{Verify, decode_packet};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::time::{Span, Time};
use netspurt_trace::capture::Direction;
use std::net::IpAddr;

/// Why a packet is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::emulator) enum Refused {
    /// It is not a packet from its host to another host.
    Stray,
    /// A packet of the kernel's neighbour discovery, which no program has sent.
    Chatter,
    /// The limit of bytes in the network is reached.
    Full,
}

/// A packet that has arrived. [`RealNetwork::unload`] returns its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::emulator) struct Arrival {
    /// When its last bit arrived, on the network's clock.
    pub(in crate::emulator) at: Time,
    /// Its hosts and connection.
    pub(in crate::emulator) label: Label,
    place: u32,
}

/// A packet at one end of a captured link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::emulator) struct Sighting {
    /// The direction of the link.
    pub(in crate::emulator) channel: u32,
    /// Outbound when its first bit leaves the near end, inbound when its last bit arrives at the far end.
    pub(in crate::emulator) direction: Direction,
    /// When.
    pub(in crate::emulator) at: Time,
    /// Its bytes there, with a complete checksum.
    pub(in crate::emulator) bytes: Vec<u8>,
}

/// A network and the bytes of its packets.
#[derive(Debug)]
pub(in crate::emulator) struct RealNetwork {
    network: Network,
    /// The bytes of each packet, by its slot.
    store: PacketStore,
    hosts: Vec<NodeId>,
    /// The host at each node.
    at_node: Vec<Option<usize>>,
    routes: Routes,
    damage: Stream,
    /// A queue needs the contents of ACKs.
    reads_acks: bool,
    sightings: Vec<Sighting>,
    addresses: Addresses,
    /// The host to which packets for unknown addresses are sent.
    outside: Option<usize>,
}

impl RealNetwork {
    /// Creates the network of `spec` between hosts at these nodes. An error names two hosts without a route between
    /// them.
    pub(in crate::emulator) fn new(
        spec: &WorldSpec,
        hosts: &[NodeId],
        seed: u64,
    ) -> Result<Self, [NodeId; 2]> {
        let spec = WorldSpec { duration: Span::from_ps(u64::MAX), ..spec.clone() };
        let pairs = || (0..hosts.len()).flat_map(|a| (0..a).map(move |b| (hosts[b], hosts[a])));
        let network = Network::joining(&spec, pairs(), seed);
        let mut at_node = vec![None; spec.nodes.len()];
        for (number, node) in hosts.iter().enumerate() {
            at_node[node.0 as usize] = Some(number);
        }
        let routes = Routes::new(&network, hosts);
        if let Some(apart) = routes.lonely() {
            return Err(apart);
        }
        Ok(Self {
            network,
            store: PacketStore::default(),
            hosts: hosts.to_vec(),
            at_node,
            routes,
            damage: Stream::new(seed, "emulator/damage"),
            reads_acks: spec.links.iter().flat_map(|link| &link.directions).any(filters_acks),
            sightings: Vec::new(),
            addresses: Addresses::default(),
            outside: None,
        })
    }

    /// Gives hosts the addresses of a block. Packets for other addresses go to host number `outside`.
    pub(in crate::emulator) const fn join(&mut self, addresses: Addresses, outside: usize) {
        self.addresses = addresses;
        self.outside = Some(outside);
    }

    /// Requests [sightings](Self::take_sightings) at both ends of these channels. The network must not have
    /// [fused](WorldSpec::fuse) channels.
    pub(in crate::emulator) fn watch(&mut self, channels: impl Iterator<Item = u32>) {
        self.network.watch(channels);
    }

    /// Packets seen since the last call. A packet may have a time in the future.
    pub(in crate::emulator) fn take_sightings(&mut self) -> impl Iterator<Item = Sighting> {
        self.sightings.drain(..)
    }

    /// The network.
    pub(in crate::emulator) const fn network(&self) -> &Network {
        &self.network
    }

    /// Whether there is a route from one host to another.
    pub(in crate::emulator) fn are_joined(&self, from: usize, to: usize) -> bool {
        self.routes.start(from, to).is_some()
    }

    /// The channels between two hosts.
    pub(in crate::emulator) fn channels(&self, from: usize, to: usize) -> impl Iterator<Item = u32> {
        let start = self.routes.start(from, to);
        start.into_iter().flat_map(|start| self.network.routes().channels(start))
    }

    /// When the next packet event is due.
    pub(in crate::emulator) fn next_due(&self) -> Option<Time> {
        self.network.next_due()
    }

    /// A host sends a packet, whose checksum may be incomplete. All events up to `now` must have been processed.
    pub(in crate::emulator) fn send(
        &mut self,
        now: Time,
        from: usize,
        bytes: &[u8],
        checksum: Checksum,
    ) -> Result<(), Refused> {
        let fields = PacketFields::read(bytes).ok_or(Refused::Stray)?;
        let to = self.host(fields.destination).ok_or(if is_chatter(fields.destination) {
            Refused::Chatter
        } else {
            Refused::Stray
        })?;
        if self.host(fields.source) != Some(from) || to == from {
            return Err(Refused::Stray);
        }
        self.routes.keep_up(&mut self.network, now);
        let route = self.routes.start(from, to).ok_or(Refused::Stray)?;
        if !self.store.load(self.network.draft_place(), bytes, checksum) {
            return Err(Refused::Full);
        }
        let payload = Payload { offset: 0, len: fields.payload };
        let PacketFields { flags, ecn, dscp, .. } = fields;
        let route = self.network.route_of_class(self.hosts[from], self.hosts[to], dscp).unwrap_or(route);
        let (ack, options) = rewrite::read(bytes);
        let known = Segment { ack, flags, ecn, payload, options, ..Segment::default() };
        let segment = if self.reads_acks && payload.len == 0 && flags.has(Flags::ACK) {
            // A packet that cannot be read is not dropped because of its contents.
            let read = decode_packet(bytes, Layout::SHARED, Verify::Lengths);
            read.map_or(known, |read| Segment { payload, ..read.tcp.segment })
        } else {
            known
        };
        let size = bytes.len() as u32;
        let label = packet::Label { endpoint: fields.flow, route, size, ..packet::Label::default() };
        self.network.send(now, &segment, label);
        self.keep_up();
        Ok(())
    }

    /// The next packet that arrives by `until`.
    pub(in crate::emulator) fn next(&mut self, until: Time) -> Option<Arrival> {
        loop {
            let due = self.network.next(until);
            self.keep_up();
            let (at, due) = due?;
            // Without timers, the network reports only packets.
            let Due::Packet(place) = due else { continue };
            let flow = self.network.packet(place).endpoint;
            let ends = PacketFields::read(&self.store.at(place).bytes)
                .and_then(|fields| Some((self.host(fields.source)?, self.host(fields.destination)?)));
            match ends {
                Some((from, to)) => return Some(Arrival { at, label: Label { from, to, flow }, place }),
                None => self.network.release(place),
            }
        }
    }

    /// Passes the bytes of an arrived packet to `into`, with its mark or damage.
    pub(in crate::emulator) fn unload<T>(
        &mut self,
        arrival: Arrival,
        take: impl FnOnce(&RealPacket) -> T,
    ) -> T {
        let packet = self.network.packet(arrival.place);
        let content = self.store.at(arrival.place);
        if packet.segment.ecn == Ecn::Ce {
            fields::mark(&mut content.bytes);
        }
        if packet.content == Content::Damaged {
            content.damage(&mut self.damage);
        }
        let taken = take(content);
        self.network.release(arrival.place);
        taken
    }

    fn host(&self, of: IpAddr) -> Option<usize> {
        let known = |node: u32| self.at_node.get(node as usize).copied().flatten();
        match self.addresses.node(of) {
            Some(node) => known(node),
            None => self.outside.filter(|_| of.is_ipv4() && !is_chatter(of)),
        }
    }

    /// Applies the network's events to the bytes.
    fn keep_up(&mut self) {
        for step in self.network.take_steps() {
            match step {
                Step::Doubled { original, twin } => self.store.copy(original, twin),
                Step::Returned { slot, mtu } => {
                    // A packet that is too large is dropped, unless an ICMP message replaces it.
                    let bytes = too_big::message(&self.store.at(slot).bytes, mtu).unwrap_or_default();
                    self.store.put(slot, RealPacket::whole(bytes));
                }
                Step::Rewritten { slot, rewrite } => {
                    let content = self.store.at(slot);
                    content.complete();
                    rewrite::apply(&mut content.bytes, &rewrite);
                }
                Step::Passed(pass) => {
                    see(&pass, self.store.at(pass.slot), &mut self.damage, &mut self.sightings);
                }
            }
        }
    }
}

/// Records a packet at both ends of its channel, with its damage.
fn see(pass: &Pass, content: &mut RealPacket, damage: &mut Stream, sightings: &mut Vec<Sighting>) {
    let mut note = |content: &RealPacket, direction, at| {
        let mut content = content.clone();
        if pass.ecn == Ecn::Ce {
            fields::mark(&mut content.bytes);
        }
        content.complete();
        sightings.push(Sighting { channel: pass.channel, direction, at, bytes: content.bytes });
    };
    if pass.corrupted {
        content.damage(damage);
    }
    note(content, Direction::Outbound, pass.leaves);
    if pass.damaged {
        content.damage(damage);
    }
    for _ in 0..1 + u8::from(pass.doubled) {
        if let Some(at) = pass.arrives {
            note(content, Direction::Inbound, at);
        }
    }
}

/// Whether the queue of this direction drops ACKs for what they say.
fn filters_acks(direction: &ChannelSpec) -> bool {
    matches!(direction.queue, QueueSpec::Cake(cake) if cake.ack_filter != AckFilter::Off)
}

/// Whether this is a link-local destination, such as that of neighbour discovery.
const fn is_chatter(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(v4) => v4.is_multicast(),
        IpAddr::V6(v6) => v6.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::hosts::addresses as own;
    use netspurt_sim::address;
    use netspurt_sim::spec::{CakeSpec, ClassesSpec, LossSpec, ReorderSpec, Room};
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};

    /// An ICMP-like packet of `len` octets whose last four are its number.
    fn packet(from: u32, to: u32, len: u16, number: u32) -> Vec<u8> {
        let mut bytes = vec![0; usize::from(len)];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes[9] = 1;
        bytes[12..16].copy_from_slice(&address(from).octets());
        bytes[16..20].copy_from_slice(&address(to).octets());
        let at = bytes.len() - 4;
        bytes[at..].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    fn guest_v4(node: u32) -> [u8; 4] {
        let IpAddr::V4(v4) = own::Addresses::default().guest(NodeId(node))[0] else {
            panic!("the first is of IPv4")
        };
        v4.octets()
    }

    fn number(bytes: &[u8]) -> u32 {
        u32::from_be_bytes(*bytes.last_chunk().unwrap())
    }

    /// Two hosts joined by two links with a router between.
    fn real(there: ChannelSpec) -> RealNetwork {
        let mut spec = WorldSpec::new("real", Span::ZERO);
        let [a, r, b] = ["a", "r", "b"].map(|name| spec.node(name));
        spec.link("near", [a, r], &ChannelSpec::new(1_000_000_000, Span::from_ms(1)));
        spec.link("far", [r, b], &ChannelSpec::new(8_000_000, Span::from_ms(9))).directions[0] = there;
        RealNetwork::new(&spec, &[a, b], 3).unwrap()
    }

    fn all(real: &mut RealNetwork, until: Time) -> Vec<(Time, u32, usize)> {
        std::iter::from_fn(|| {
            let arrival = real.next(until)?;
            Some((arrival.at, real.unload(arrival, |content| number(&content.bytes)), arrival.label.to))
        })
        .collect()
    }

    #[test]
    fn the_codepoint_of_a_real_packet_chooses_its_class() {
        let classes = ClassesSpec::new(Room::Packets(10), &[&[46]]).unwrap();
        let queue = QueueSpec::Priority(classes);
        let mut real = real(ChannelSpec { queue, ..ChannelSpec::new(8_000_000, Span::from_ms(9)) });
        for number in 0..5 {
            let mut packet = packet(0, 2, 1000, number);
            // The last one is EF; the first one is being sent when it comes.
            packet[1] = if number == 4 { 46 << 2 } else { 0 };
            real.send(Time::ZERO, 0, &packet, Checksum::Whole).unwrap();
        }
        let order: Vec<u32> = all(&mut real, Time::NEVER).iter().map(|(_, number, _)| *number).collect();
        assert_eq!(order, [0, 4, 1, 2, 3]);
    }

    #[test]
    fn real_acks_are_filtered_by_their_contents() {
        for (ack_filter, expected) in [(AckFilter::Off, 5), (AckFilter::Aggressive, 2)] {
            let queue =
                QueueSpec::Cake(CakeSpec { ack_filter, rtt: Span::from_secs(1000), ..CakeSpec::default() });
            // An ACK takes 320 ms: the first one is being sent when the others come.
            let mut real = real(ChannelSpec { queue, ..ChannelSpec::new(1000, Span::from_ms(9)) });
            for number in 1..=5 {
                let segment = Segment {
                    ack: netspurt_tcp::seq::Seq(1000 * number),
                    flags: Flags::ACK,
                    header_len: 20,
                    ..Segment::default()
                };
                let addresses = Addresses::V4 { source: guest_v4(0).into(), destination: guest_v4(2).into() };
                let ports = Ports { source: 1, destination: 2 };
                let mut bytes = Vec::new();
                let body = Body::Bytes(&[]);
                encode_packet(&segment, ports, &Ip::new(addresses), Layout::SHARED, body, &mut bytes)
                    .unwrap();
                real.send(Time::ZERO, 0, &bytes, Checksum::Whole).unwrap();
            }
            assert_eq!(all(&mut real, Time::NEVER).len(), expected, "{ack_filter:?}");
        }
    }

    #[test]
    fn packets_arrive_unchanged_after_rate_and_delay() {
        let mut real = real(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        for number in 0..3 {
            real.send(Time::ZERO, 0, &packet(0, 2, 1000, number), Checksum::Whole).unwrap();
        }
        let micros = |us: u64| Time::from_ps(us * 1_000_000);
        // 8 µs at 1 Gbit/s and 1 ms; then 1 ms each at 8 Mbit/s and 9 ms.
        let expected = (0..3).map(|n| (micros(8 + 10_000 + 1000 * (u64::from(n) + 1)), n, 1));
        assert_eq!(all(&mut real, micros(20_000)), expected.collect::<Vec<_>>());
        assert_eq!(real.next_due(), None);
    }

    #[test]
    fn a_duplicate_has_its_own_bytes_and_a_dropped_packet_frees_its_slot() {
        let there = ChannelSpec {
            duplicate: 0.5,
            queue: QueueSpec::Packets(3),
            reorder: Some(ReorderSpec { probability: 0.3, extra_delay: Span::from_ms(5) }),
            ..ChannelSpec::new(8_000_000, Span::from_ms(9))
        };
        let mut real = real(there);
        let mut arrived = Vec::new();
        for number in 0..2000u32 {
            let now = Time::from_ps(u64::from(number) * 900_000_000);
            arrived.extend(all(&mut real, now));
            real.send(now, 0, &packet(0, 2, 1000, number), Checksum::Whole).unwrap();
        }
        arrived.extend(all(&mut real, Time::NEVER));
        let counters = real.network().channels()[2].counters();
        let dropped: u64 = counters.drops.iter().sum();
        assert!(counters.doubled > 500 && counters.held > 300 && dropped > 100, "{counters:?}");
        assert_eq!(arrived.len() as u64, 2000 - dropped + counters.doubled);
        let mut seen = vec![0u32; 2000];
        arrived.iter().for_each(|&(_, number, _)| seen[number as usize] += 1);
        assert!(seen.iter().all(|&times| times <= 2));
        assert_eq!(seen.iter().filter(|&&times| times == 2).count() as u64, counters.doubled);
        assert!(real.store.places() < 40, "places are used again");
    }

    #[test]
    fn a_damaged_packet_differs_in_one_bit() {
        let mut real = real(ChannelSpec { corrupt: 1.0, ..ChannelSpec::new(8_000_000, Span::from_ms(9)) });
        let sent = packet(0, 2, 1000, 77);
        real.send(Time::ZERO, 0, &sent, Checksum::Whole).unwrap();
        let arrival = real.next(Time::NEVER).unwrap();
        let wrong = real.unload(arrival, |content| {
            content.bytes.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
        });
        assert_eq!(wrong, 1);
    }

    #[test]
    fn a_guest_is_reached_through_its_host() {
        let mut real = real(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        let mut to_guest = packet(0, 2, 100, 5);
        to_guest[12..16].copy_from_slice(&guest_v4(0));
        to_guest[16..20].copy_from_slice(&guest_v4(2));
        real.send(Time::ZERO, 0, &to_guest, Checksum::Whole).unwrap();
        assert_eq!(
            real.send(Time::ZERO, 1, &to_guest, Checksum::Whole),
            Err(Refused::Stray),
            "another host's guest"
        );
        let arrived = all(&mut real, Time::NEVER);
        assert_eq!(arrived.iter().map(|&(_, number, to)| (number, to)).collect::<Vec<_>>(), [(5, 1)]);
    }

    #[test]
    fn separate_paths_are_allowed_and_a_host_without_a_path_is_named() {
        let mut spec = WorldSpec::new("islands", Span::ZERO);
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| spec.node(name));
        spec.link("one", [a, b], &ChannelSpec::default());
        spec.link("other", [c, d], &ChannelSpec::default());
        let mut real = RealNetwork::new(&spec, &[a, b, c, d], 1).unwrap();
        assert!(real.are_joined(0, 1) && real.are_joined(3, 2) && !real.are_joined(0, 2));
        assert_eq!(real.send(Time::ZERO, 0, &packet(0, 2, 100, 0), Checksum::Whole), Err(Refused::Stray));
        assert_eq!(real.send(Time::ZERO, 2, &packet(2, 3, 100, 0), Checksum::Whole), Ok(()));
        assert_eq!(RealNetwork::new(&spec, &[a, b, e], 1).map(drop), Err([e, a]));
    }

    #[test]
    fn a_packet_to_an_unknown_address_is_a_stray() {
        let mut real = real(ChannelSpec::default());
        let strays = [
            packet(0, 1, 100, 0),  // to the router
            packet(0, 0, 100, 0),  // to itself
            packet(2, 0, 100, 0),  // under another's name
            packet(0, 70, 100, 0), // to nobody
            vec![0x60; 40],        // of no length
            Vec::new(),
        ];
        for bytes in strays {
            assert_eq!(real.send(Time::ZERO, 0, &bytes, Checksum::Whole), Err(Refused::Stray), "{bytes:?}");
        }
        let mut group = packet(0, 2, 100, 0);
        group[16..20].copy_from_slice(&[224, 0, 0, 22]);
        assert_eq!(real.send(Time::ZERO, 0, &group, Checksum::Whole), Err(Refused::Chatter));
        assert_eq!(real.next_due(), None);
    }

    #[test]
    fn addresses_of_no_host_are_behind_the_host_that_joins_the_outside() {
        let mut real = real(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        let block = own::Addresses { block: Some(3) };
        real.join(block, 1);
        let of = |node: u32| match block.host(NodeId(node))[0] {
            IpAddr::V4(v4) => v4.octets(),
            IpAddr::V6(_) => panic!("the first is of IPv4"),
        };
        let between = |from: [u8; 4], to: [u8; 4], number| {
            let mut bytes = packet(0, 2, 100, number);
            bytes[12..16].copy_from_slice(&from);
            bytes[16..20].copy_from_slice(&to);
            bytes
        };
        let far = [192, 0, 2, 7];
        let sent = [(0, of(0), far), (1, far, of(0)), (0, of(0), of(2)), (1, of(2), of(0))];
        for (number, (host, from, to)) in (0..).zip(sent) {
            assert_eq!(real.send(Time::ZERO, host, &between(from, to, number), Checksum::Whole), Ok(()));
        }
        let mut arrived: Vec<_> = all(&mut real, Time::NEVER).iter().map(|&(_, n, to)| (n, to)).collect();
        arrived.sort_unstable();
        assert_eq!(arrived, [(0, 1), (1, 0), (2, 1), (3, 0)]);
        // Only the host itself may use its address, and a group address belongs to no host.
        for (host, from, to) in [(0, far, of(2)), (1, of(0), of(0)), (1, far, [192, 0, 2, 8])] {
            assert_eq!(
                real.send(Time::ZERO, host, &between(from, to, 9), Checksum::Whole),
                Err(Refused::Stray)
            );
        }
        let group = between(of(0), [224, 0, 0, 22], 9);
        assert_eq!(real.send(Time::ZERO, 0, &group, Checksum::Whole), Err(Refused::Chatter));
    }

    #[test]
    fn ipv6_packets_follow_the_same_paths() {
        let mut real = real(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        let v6 = |node, guest: bool| {
            let pair = if guest {
                own::Addresses::default().guest(NodeId(node))
            } else {
                own::Addresses::default().host(NodeId(node))
            };
            let IpAddr::V6(v6) = pair[1] else { panic!("the second is of IPv6") };
            v6
        };
        for (number, guest) in [(0, false), (1, true)] {
            let addresses = Addresses::V6 { source: v6(0, guest), destination: v6(2, guest) };
            let mut bytes = Vec::new();
            let body = Body::Bytes(&u32::to_be_bytes(number));
            let segment = Segment { payload: Payload { offset: 0, len: 4 }, ..Segment::default() };
            let ports = Ports { source: 1, destination: 2 };
            encode_packet(&segment, ports, &Ip::new(addresses), Layout::SHARED, body, &mut bytes).unwrap();
            assert_eq!(real.send(Time::ZERO, 0, &bytes, Checksum::Whole), Ok(()));
        }
        let arrived = all(&mut real, Time::NEVER);
        assert_eq!(arrived.iter().map(|&(_, number, to)| (number, to)).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
    }

    #[test]
    fn a_router_captures_passing_packets_with_their_times_but_not_lost_ones() {
        let mut spec = WorldSpec::new("watched", Span::ZERO);
        let [a, r, b] = ["a", "r", "b"].map(|name| spec.node(name));
        let near = ChannelSpec {
            duplicate: 0.2,
            loss: LossSpec::PacketError { rate: 0.2 },
            ..ChannelSpec::new(8_000_000, Span::from_ms(1))
        };
        spec.link("near", [a, r], &near);
        spec.link(
            "far",
            [r, b],
            &ChannelSpec { corrupt: 1.0, ..ChannelSpec::new(4_000_000, Span::from_ms(9)) },
        );
        spec.fuse = false;
        let mut real = RealNetwork::new(&spec, &[a, b], 3).unwrap();
        real.watch(0..4);
        for number in 0..50 {
            real.send(Time::ZERO, 0, &packet(0, 2, 1000, number), Checksum::Whole).unwrap();
        }
        let mut arrived = Vec::new();
        while let Some(arrival) = real.next(Time::NEVER) {
            arrived.push((arrival.at, real.unload(arrival, |content| content.bytes.clone())));
        }
        let seen: Vec<Sighting> = real.take_sightings().collect();
        let at = |channel, direction| {
            let here = seen.iter().filter(move |seen| seen.channel == channel && seen.direction == direction);
            here.map(|seen| (seen.at, seen.bytes.clone())).collect::<Vec<_>>()
        };
        let (into, out) = (at(0, Direction::Inbound), at(1 + 1, Direction::Outbound));
        let counters = real.network().channels()[0].counters();
        let (lost, doubled): (u64, u64) = (counters.drops.iter().sum(), counters.doubled);
        assert!(lost > 3 && doubled > 3);
        assert_eq!((into.len(), out.len()), ((50 - lost + doubled) as usize, into.len()));
        assert_eq!(at(0, Direction::Outbound).len(), 50);
        let bytes =
            |packets: &[(Time, Vec<u8>)]| packets.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
        assert_eq!(bytes(&into), bytes(&out), "the router forwards what came, in this order");
        assert_eq!(at(2, Direction::Inbound), arrived, "times and damage are those of the receiver");
        assert_ne!(bytes(&out), bytes(&arrived));
        assert!(out.windows(2).all(|two| two[1].0 - two[0].0 >= Span::from_ms(2)), "at the rate of the link");
    }
}
