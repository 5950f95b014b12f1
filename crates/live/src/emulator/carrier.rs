//! The simulator's network with real packets in it: bytes go in at hosts and come out at hosts. Time is an argument.

use super::guest;
use super::manifest::{self, Manifest};
use netspurt_sim::address;
use netspurt_sim::network::{Due, Network};
use netspurt_sim::packet::{Content, Label};
use netspurt_sim::random::Stream;
use netspurt_sim::spec::{NodeId, WorldSpec};
use netspurt_tcp::segment::{Ecn, Payload, Segment};
use netspurt_tcp::time::{Span, Time};
use std::net::Ipv4Addr;

/// Octets under way at most; beyond that nothing is let in. A queue without limit would take all memory there is.
const MOST: usize = 512 << 20;

/// A packet that the network does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// It is no IPv4 packet from its host to another one.
    Stray,
    /// Too much is under way.
    Full,
}

/// A packet that has come to its end. [`Carrier::unload`] it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    /// When its last bit has arrived, on the network's clock.
    pub(super) at: Time,
    /// The hosts, as numbers into the list that the carrier was made with.
    pub(super) from: usize,
    pub(super) to: usize,
    place: u32,
}

/// A network and the bytes that it carries.
#[derive(Debug)]
pub(super) struct Carrier {
    network: Network,
    /// The bytes of each packet under way, at its place in the network.
    cargo: Vec<Vec<u8>>,
    /// Octets that there is room for in all of `cargo`.
    room: usize,
    hosts: Vec<NodeId>,
    /// The host at each node.
    at_node: Vec<Option<usize>>,
    /// For each pair of hosts where the route from one to the other begins.
    starts: Vec<Option<u32>>,
    damage: Stream,
}

impl Carrier {
    /// The network of `spec` between hosts at these nodes; the two of an error are not joined, nor is the first to anybody.
    pub(super) fn new(spec: &WorldSpec, hosts: &[NodeId], seed: u64) -> Result<Self, [NodeId; 2]> {
        let spec = WorldSpec { duration: Span::from_ps(u64::MAX), ..spec.clone() };
        let pairs = || (0..hosts.len()).flat_map(|a| (0..a).map(move |b| (hosts[b], hosts[a])));
        let network = Network::joining(&spec, pairs(), seed);
        let mut at_node = vec![None; spec.nodes.len()];
        for (number, node) in hosts.iter().enumerate() {
            at_node[node.0 as usize] = Some(number);
        }
        let all = hosts.iter().flat_map(|&from| hosts.iter().map(move |&to| (from, to)));
        let starts: Vec<_> = all.map(|(from, to)| Some(network.routes().between(from, to)?.0)).collect();
        let lonely = starts.chunks(hosts.len()).position(|to| to.iter().all(Option::is_none));
        if let Some(lonely) = lonely {
            return Err([hosts[lonely], hosts[usize::from(lonely == 0)]]);
        }
        Ok(Self {
            network,
            cargo: Vec::new(),
            room: 0,
            hosts: hosts.to_vec(),
            at_node,
            starts,
            damage: Stream::new(seed, "emulator/damage"),
        })
    }

    /// The network.
    pub(super) const fn network(&self) -> &Network {
        &self.network
    }

    /// Whether there is a way from one host to another.
    pub(super) fn are_joined(&self, from: usize, to: usize) -> bool {
        self.starts[from * self.hosts.len() + to].is_some()
    }

    /// The channels between two hosts.
    pub(super) fn channels(&self, from: usize, to: usize) -> impl Iterator<Item = u32> {
        let start = self.starts[from * self.hosts.len() + to];
        start.into_iter().flat_map(|start| self.network.routes().channels(start))
    }

    /// When something is to be done next.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.network.next_due()
    }

    /// A host sends a packet. All that is due by `now` must have been asked for.
    pub(super) fn send(&mut self, now: Time, from: usize, bytes: &[u8]) -> Result<(), Refused> {
        let manifest = Manifest::read(bytes).ok_or(Refused::Stray)?;
        let to = self.host(manifest.destination).ok_or(Refused::Stray)?;
        if self.host(manifest.source) != Some(from) || to == from {
            return Err(Refused::Stray);
        }
        let route = self.starts[from * self.hosts.len() + to].ok_or(Refused::Stray)?;
        let place = self.network.draft_place() as usize;
        if self.cargo.len() <= place {
            self.cargo.resize_with(place + 1, Vec::new);
        }
        let cargo = &mut self.cargo[place];
        if self.room > MOST && cargo.capacity() < bytes.len() {
            return Err(Refused::Full);
        }
        self.room -= cargo.capacity();
        cargo.clear();
        cargo.extend_from_slice(bytes);
        self.room += cargo.capacity();
        let payload = Payload { offset: 0, len: manifest.payload };
        let Manifest { flags, ecn, .. } = manifest;
        let segment = Segment { flags, ecn, payload, ..Segment::default() };
        let size = bytes.len() as u32;
        self.network.send(now, &segment, Label { endpoint: manifest.flow, route, size, ..Label::default() });
        self.copy_twins();
        Ok(())
    }

    /// The next packet that has arrived by `until`.
    pub(super) fn next(&mut self, until: Time) -> Option<Arrival> {
        loop {
            let (at, due) = self.network.next(until)?;
            self.copy_twins();
            // A driver without timers is never told of one.
            let Due::Packet(place) = due else { continue };
            let bytes = &self.cargo[place as usize];
            let ends = Manifest::read(bytes)
                .and_then(|manifest| Some((self.host(manifest.source)?, self.host(manifest.destination)?)));
            match ends {
                Some((from, to)) => return Some(Arrival { at, from, to, place }),
                None => self.network.release(place),
            }
        }
    }

    /// Hands over the bytes of a packet as they arrive: marked or damaged, if that is what became of it.
    pub(super) fn unload<T>(&mut self, arrival: Arrival, take: impl FnOnce(&[u8]) -> T) -> T {
        let packet = *self.network.packet(arrival.place);
        let bytes = &mut self.cargo[arrival.place as usize];
        if packet.segment.ecn == Ecn::Ce {
            manifest::mark(bytes);
        }
        if packet.content == Content::Damaged {
            manifest::damage(bytes, &mut self.damage);
        }
        let taken = take(bytes);
        self.network.release(arrival.place);
        taken
    }

    fn host(&self, of: Ipv4Addr) -> Option<usize> {
        let own = || of.to_bits().checked_sub(address(0).to_bits());
        let node = guest::node(of).or_else(own)?;
        *self.at_node.get(node as usize)?
    }

    fn copy_twins(&mut self) {
        for (original, twin) in self.network.take_twins() {
            let bytes = self.cargo[original as usize].clone();
            let twin = twin as usize;
            if self.cargo.len() <= twin {
                self.cargo.resize_with(twin + 1, Vec::new);
            }
            self.room += bytes.capacity();
            self.room -= self.cargo[twin].capacity();
            self.cargo[twin] = bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_sim::spec::{ChannelSpec, QueueSpec, ReorderSpec};

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

    fn number(bytes: &[u8]) -> u32 {
        u32::from_be_bytes(*bytes.last_chunk().unwrap())
    }

    /// Two hosts joined by two links with a router between.
    fn carrier(there: ChannelSpec) -> Carrier {
        let mut spec = WorldSpec::new("carrier", Span::ZERO);
        let [a, r, b] = ["a", "r", "b"].map(|name| spec.node(name));
        spec.link("near", [a, r], &ChannelSpec::new(1_000_000_000, Span::from_ms(1)));
        spec.link("far", [r, b], &ChannelSpec::new(8_000_000, Span::from_ms(9))).directions[0] = there;
        Carrier::new(&spec, &[a, b], 3).unwrap()
    }

    fn all(carrier: &mut Carrier, until: Time) -> Vec<(Time, u32, usize)> {
        std::iter::from_fn(|| {
            let arrival = carrier.next(until)?;
            Some((arrival.at, carrier.unload(arrival, number), arrival.to))
        })
        .collect()
    }

    #[test]
    fn packets_arrive_with_their_bytes_when_rate_and_delay_say_so() {
        let mut carrier = carrier(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        for number in 0..3 {
            carrier.send(Time::ZERO, 0, &packet(0, 2, 1000, number)).unwrap();
        }
        let micros = |us: u64| Time::from_ps(us * 1_000_000);
        // 8 µs at 1 Gbit/s and 1 ms; then 1 ms each at 8 Mbit/s and 9 ms.
        let expected = (0..3).map(|n| (micros(8 + 10_000 + 1000 * (u64::from(n) + 1)), n, 1));
        assert_eq!(all(&mut carrier, micros(20_000)), expected.collect::<Vec<_>>());
        assert_eq!(carrier.next_due(), None);
    }

    #[test]
    fn a_double_has_bytes_of_its_own_and_a_dropped_packet_leaves_none() {
        let there = ChannelSpec {
            duplicate: 0.5,
            queue: QueueSpec::Packets(3),
            reorder: Some(ReorderSpec { probability: 0.3, extra_delay: Span::from_ms(5) }),
            ..ChannelSpec::new(8_000_000, Span::from_ms(9))
        };
        let mut carrier = carrier(there);
        let mut arrived = Vec::new();
        for number in 0..2000u32 {
            let now = Time::from_ps(u64::from(number) * 900_000_000);
            arrived.extend(all(&mut carrier, now));
            carrier.send(now, 0, &packet(0, 2, 1000, number)).unwrap();
        }
        arrived.extend(all(&mut carrier, Time::NEVER));
        let counters = carrier.network().channels()[2].counters();
        let dropped: u64 = counters.drops.iter().sum();
        assert!(counters.doubled > 500 && counters.held > 300 && dropped > 100, "{counters:?}");
        assert_eq!(arrived.len() as u64, 2000 - dropped + counters.doubled);
        let mut seen = vec![0u32; 2000];
        arrived.iter().for_each(|&(_, number, _)| seen[number as usize] += 1);
        assert!(seen.iter().all(|&times| times <= 2));
        assert_eq!(seen.iter().filter(|&&times| times == 2).count() as u64, counters.doubled);
        assert!(carrier.cargo.len() < 40, "places are used again");
    }

    #[test]
    fn a_damaged_packet_differs_in_one_bit() {
        let mut carrier =
            carrier(ChannelSpec { corrupt: 1.0, ..ChannelSpec::new(8_000_000, Span::from_ms(9)) });
        let sent = packet(0, 2, 1000, 77);
        carrier.send(Time::ZERO, 0, &sent).unwrap();
        let arrival = carrier.next(Time::NEVER).unwrap();
        let wrong = carrier
            .unload(arrival, |bytes| bytes.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>());
        assert_eq!(wrong, 1);
    }

    #[test]
    fn a_guest_is_reached_by_way_of_its_host() {
        let mut carrier = carrier(ChannelSpec::new(8_000_000, Span::from_ms(9)));
        let mut to_guest = packet(0, 2, 100, 5);
        to_guest[12..16].copy_from_slice(&guest::address(NodeId(0)).octets());
        to_guest[16..20].copy_from_slice(&guest::address(NodeId(2)).octets());
        carrier.send(Time::ZERO, 0, &to_guest).unwrap();
        assert_eq!(carrier.send(Time::ZERO, 1, &to_guest), Err(Refused::Stray), "another host's guest");
        let arrived = all(&mut carrier, Time::NEVER);
        assert_eq!(arrived.iter().map(|&(_, number, to)| (number, to)).collect::<Vec<_>>(), [(5, 1)]);
    }

    #[test]
    fn paths_that_nothing_joins_stand_side_by_side_and_a_host_without_any_is_named() {
        let mut spec = WorldSpec::new("islands", Span::ZERO);
        let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| spec.node(name));
        spec.link("one", [a, b], &ChannelSpec::default());
        spec.link("other", [c, d], &ChannelSpec::default());
        let mut carrier = Carrier::new(&spec, &[a, b, c, d], 1).unwrap();
        assert!(carrier.are_joined(0, 1) && carrier.are_joined(3, 2) && !carrier.are_joined(0, 2));
        assert_eq!(carrier.send(Time::ZERO, 0, &packet(0, 2, 100, 0)), Err(Refused::Stray));
        assert_eq!(carrier.send(Time::ZERO, 2, &packet(2, 3, 100, 0)), Ok(()));
        assert_eq!(Carrier::new(&spec, &[a, b, e], 1).map(drop), Err([e, a]));
    }

    #[test]
    fn what_belongs_to_nobody_is_a_stray() {
        let mut carrier = carrier(ChannelSpec::default());
        let strays = [
            packet(0, 1, 100, 0),  // to the router
            packet(0, 0, 100, 0),  // to itself
            packet(2, 0, 100, 0),  // under another's name
            packet(0, 70, 100, 0), // to nobody
            vec![0x60; 40],        // IPv6
            Vec::new(),
        ];
        for bytes in strays {
            assert_eq!(carrier.send(Time::ZERO, 0, &bytes), Err(Refused::Stray), "{bytes:?}");
        }
        assert_eq!(carrier.next_due(), None);
    }
}
