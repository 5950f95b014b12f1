//! Combines consecutive segments of one connection that are delivered to a host at the same time into one frame, as
//! receive offload (GRO) of a network card does. No packet waits for this: only packets that are due now are combined.

use crate::tun::{Checksum, Cut, Protocol, Shape, TCP_CHECKSUM, measure};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::time::Time;

/// The longest packet.
const LARGEST: usize = 65_535;
/// Length of an IPv4 header without options, and of an IPv6 header.
const IPV4: usize = 20;
const IPV6: usize = 40;
const TCP: u8 = 6;
/// Length of a TCP header without options.
const TCP_HEADER: usize = 20;

/// Positions in a packet to which others can be appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Parts {
    protocol: Protocol,
    tcp: usize,
    payload: usize,
}

impl Parts {
    /// The positions in an ordinary data segment whose checksum is incomplete.
    fn of(packet: &[u8], checksum: Checksum) -> Option<Self> {
        let Checksum::Partial { start, offset: TCP_CHECKSUM } = checksum else { return None };
        let (protocol, tcp, kind) = match packet.first()? {
            0x45 => (Protocol::Tcp4, IPV4, *packet.get(9)?),
            byte if byte >> 4 == 6 => (Protocol::Tcp6, IPV6, *packet.get(6)?),
            _ => return None,
        };
        // Fragments cannot be combined.
        let whole = protocol == Protocol::Tcp6 || u16::from_be_bytes([packet[6], packet[7]]) & 0x3FFF == 0;
        let header = usize::from(*packet.get(tcp + 12)? >> 4) * 4;
        let payload = tcp + header;
        let fits = header >= TCP_HEADER && payload < packet.len();
        (kind == TCP && usize::from(start) == tcp && whole && fits).then_some(Self { protocol, tcp, payload })
    }

    fn flags(self, packet: &[u8]) -> Flags {
        Flags(u16::from_be_bytes([packet[self.tcp + 12] & 1, packet[self.tcp + 13]]))
    }

    fn seq(self, packet: &[u8]) -> u32 {
        u32::from_be_bytes([4, 5, 6, 7].map(|at| packet[self.tcp + at]))
    }

    /// Whether the headers of two packets differ only in lengths, numbers, checksums and PSH.
    fn alike(self, one: &[u8], other: &[u8]) -> bool {
        let same = |range: core::ops::Range<usize>| one[range.clone()] == other[range];
        let ip = match self.protocol {
            // Length, identification and checksum may differ.
            Protocol::Tcp4 => same(0..2) && same(6..10) && same(12..self.tcp),
            Protocol::Tcp6 => same(0..4) && same(6..self.tcp),
        };
        let at = |place: usize| self.tcp + place;
        ip && same(at(0)..at(4)) && same(at(8)..at(13)) && same(at(14)..at(16)) && same(at(18)..self.payload)
    }
}

/// Packets for one host that are delivered as one frame.
#[derive(Debug, Default)]
pub(in crate::emulator) struct Train {
    bytes: Vec<u8>,
    checksum: Checksum,
    parts: Option<Parts>,
    /// Payload bytes of each packet but the last.
    size: usize,
    /// Its hosts and connection, and when each packet was due.
    label: Label,
    times: Vec<Time>,
}

/// The hosts and the connection of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::emulator) struct Label {
    /// The hosts, by their numbers in the network.
    pub(in crate::emulator) from: usize,
    pub(in crate::emulator) to: usize,
    /// A hash that is equal for all packets of a connection in one direction.
    pub(in crate::emulator) flow: u32,
}

impl Train {
    /// Sets the first packet; there must be none.
    pub(in crate::emulator) fn begin(&mut self, label: Label, at: Time, packet: &[u8], checksum: Checksum) {
        self.parts = Parts::of(packet, checksum);
        self.size = self.parts.map_or(0, |parts| packet.len() - parts.payload);
        self.bytes.clear();
        self.bytes.extend_from_slice(packet);
        (self.checksum, self.label) = (checksum, label);
        self.times.clear();
        self.times.push(at);
    }

    /// Appends a packet, if segmentation of the frame would restore all packets.
    pub(in crate::emulator) fn join(
        &mut self,
        label: Label,
        at: Time,
        packet: &[u8],
        checksum: Checksum,
    ) -> bool {
        const PLAIN: Flags = Flags::ACK;
        let (Some(parts), false) = (self.parts, self.is_empty()) else { return false };
        if self.label != label || Parts::of(packet, checksum) != Some(parts) {
            return false;
        }
        let (carried, more) = (self.bytes.len() - parts.payload, packet.len() - parts.payload);
        let flags = parts.flags(packet);
        let ordinary =
            parts.flags(&self.bytes) == PLAIN && matches!(flags.0 & !Flags::PSH.0, f if f == PLAIN.0);
        let continues = parts.seq(packet) == parts.seq(&self.bytes).wrapping_add(carried as u32);
        let full = carried.is_multiple_of(self.size) && more <= self.size;
        let joined = ordinary && continues && full && self.bytes.len() + more <= LARGEST;
        if !joined || !parts.alike(&self.bytes, packet) {
            return false;
        }
        self.bytes.extend_from_slice(&packet[parts.payload..]);
        // A packet with PSH ends the train.
        self.bytes[parts.tcp + 13] |= flags.0 as u8;
        self.times.push(at);
        true
    }

    /// Whether it contains packets with this label.
    pub(in crate::emulator) fn is_of(&self, label: Label) -> bool {
        !self.is_empty() && self.label == label
    }

    /// Whether it is empty.
    pub(in crate::emulator) const fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Its label.
    pub(in crate::emulator) const fn label(&self) -> Label {
        self.label
    }

    /// When each of its packets was due.
    pub(in crate::emulator) fn times(&self) -> &[Time] {
        &self.times
    }

    /// Returns the frame. No packet can be appended after this.
    pub(in crate::emulator) fn frame(&mut self) -> (Shape, &[u8]) {
        let several = self.parts.filter(|_| self.times.len() > 1);
        let cut = several.map(|parts| {
            measure(&mut self.bytes, parts.protocol, parts.tcp);
            let (header_len, size) = (parts.payload as u16, self.size as u16);
            Cut { protocol: parts.protocol, header_len, size, ecn: false }
        });
        (Shape { checksum: self.checksum, cut }, &self.bytes)
    }

    /// Removes all packets.
    pub(in crate::emulator) fn clear(&mut self) {
        self.times.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tun::Pieces;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Ecn, Payload, Segment};
    use netspurt_tcp::seq::Seq;

    const ENDS: Label = Label { from: 0, to: 1, flow: 7 };

    fn both() -> [Addresses; 2] {
        let (v4, v6) = (std::net::Ipv4Addr::new(10, 0, 0, 1), std::net::Ipv6Addr::LOCALHOST);
        [Addresses::V4 { source: v4, destination: v4 }, Addresses::V6 { source: v6, destination: v6 }]
    }

    /// A packet with an incomplete checksum.
    fn packet(addresses: Addresses, offset: u32, len: u32, flags: Flags, ecn: Ecn) -> (Vec<u8>, Checksum) {
        let payload = Payload { offset: 0, len };
        let seq = Seq(u32::MAX - 1500).plus(offset);
        let segment = Segment { seq, ack: Seq(9), flags, payload, ..Segment::default() };
        let body: Vec<u8> = (offset..offset + len).map(|n| n as u8).collect();
        let mut bytes = Vec::new();
        let ip = Ip { ecn, identification: (offset / 1000) as u16, ..Ip::new(addresses) };
        let ports = Ports { source: 1, destination: 2 };
        encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(&body), &mut bytes).expect("fits");
        let (protocol, tcp) = match addresses {
            Addresses::V4 { .. } => (Protocol::Tcp4, IPV4),
            Addresses::V6 { .. } => (Protocol::Tcp6, IPV6),
        };
        measure(&mut bytes, protocol, tcp);
        (bytes, Checksum::Partial { start: tcp as u16, offset: TCP_CHECKSUM })
    }

    #[test]
    fn segmentation_of_a_train_restores_its_packets() {
        for addresses in both() {
            let whole = |n: u32| packet(addresses, 1000 * n, 1000, Flags::ACK, Ecn::Ect0);
            let last = packet(addresses, 3000, 10, Flags::ACK | Flags::PSH, Ecn::Ect0);
            let packets = [whole(0), whole(1), whole(2), last];
            let mut train = Train::default();
            train.begin(ENDS, Time::ZERO, &packets[0].0, packets[0].1);
            for (bytes, checksum) in &packets[1..] {
                assert!(train.join(ENDS, Time::ZERO, bytes, *checksum));
            }
            assert!(!train.join(ENDS, Time::ZERO, &whole(4).0, whole(4).1), "the last one was short");
            assert_eq!(train.times().len(), 4);
            let (shape, frame) = train.frame();
            let (mut pieces, mut piece) = (Pieces::undone(frame, shape), Vec::new());
            for (bytes, checksum) in &packets {
                assert!(pieces.next_into(&mut piece));
                assert_eq!((&piece, pieces.checksum()), (bytes, *checksum));
            }
            assert!(!pieces.next_into(&mut piece));
        }
    }

    #[test]
    fn packets_with_different_headers_are_not_combined() {
        let [v4, v6] = both();
        let first = packet(v4, 0, 1000, Flags::ACK, Ecn::Ect0);
        let mut other_port = packet(v4, 1000, 1000, Flags::ACK, Ecn::Ect0);
        other_port.0[20] = 7;
        let alone = [
            packet(v4, 1001, 1000, Flags::ACK, Ecn::Ect0),
            packet(v4, 1000, 1001, Flags::ACK, Ecn::Ect0),
            packet(v4, 1000, 0, Flags::ACK, Ecn::Ect0),
            packet(v4, 1000, 1000, Flags::ACK, Ecn::Ce),
            packet(v4, 1000, 1000, Flags::ACK | Flags::FIN, Ecn::Ect0),
            packet(v4, 1000, 1000, Flags::ACK | Flags::CWR, Ecn::Ect0),
            packet(v6, 1000, 1000, Flags::ACK, Ecn::Ect0),
            other_port,
            (packet(v4, 1000, 1000, Flags::ACK, Ecn::Ect0).0, Checksum::Whole),
        ];
        let mut train = Train::default();
        for (bytes, checksum) in alone {
            train.begin(ENDS, Time::ZERO, &first.0, first.1);
            assert!(!train.join(ENDS, Time::ZERO, &bytes, checksum), "{bytes:?}");
            let (shape, frame) = train.frame();
            assert_eq!((shape, frame), (Shape { checksum: first.1, cut: None }, &first.0[..]));
        }
        let next = packet(v4, 1000, 1000, Flags::ACK, Ecn::Ect0);
        assert!(!train.join(Label { to: 2, ..ENDS }, Time::ZERO, &next.0, next.1), "for another host");
        assert!(train.join(ENDS, Time::ZERO, &next.0, next.1));
        train.clear();
        assert!(!train.join(ENDS, Time::ZERO, &next.0, next.1), "there is nothing to follow");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        let (bytes, checksum) = packet(both()[0], 0, 100, Flags::ACK, Ecn::NotEct);
        let mut train = Train::default();
        for len in 0..bytes.len() {
            train.begin(ENDS, Time::ZERO, &bytes[..len], checksum);
            train.join(ENDS, Time::ZERO, &bytes, checksum);
            train.frame();
        }
    }
}
