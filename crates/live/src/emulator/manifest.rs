//! What the network has to know of a packet of somebody else's, and what it may do to its bytes.

use netspurt_sim::random::Stream;
use netspurt_tcp::codec::internet_checksum;
use netspurt_tcp::segment::{Ecn, Flags};
use siphasher::sip::SipHasher13;
use std::hash::Hasher as _;
use std::net::Ipv4Addr;

/// Octets of an IPv4 header without options.
const IPV4: usize = 20;
/// IPv4's number for TCP.
const TCP: u8 = 6;
/// Where the checksum of an IPv4 header stands.
const CHECKSUM: core::ops::Range<usize> = 10..12;

/// The header fields of an IPv4 packet that matter on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manifest {
    pub(super) source: Ipv4Addr,
    pub(super) destination: Ipv4Addr,
    pub(super) ecn: Ecn,
    /// Of a TCP segment; nothing for other packets.
    pub(super) flags: Flags,
    /// Octets behind the headers that are known.
    pub(super) payload: u32,
    /// The same for all packets of a connection in one direction.
    pub(super) flow: u32,
}

impl Manifest {
    /// Reads the headers; `None` if this is no whole IPv4 packet.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = usize::from(bytes.first()? & 0xF) * 4;
        let whole = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        if bytes[0] >> 4 != 4 || header < IPV4 || bytes.len() < header || whole != bytes.len() {
            return None;
        }
        let address = |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
        let fragment = u16::from_be_bytes([bytes[6], bytes[7]]) & 0x1FFF;
        // Behind the first fragment there are no ports.
        let transport = if fragment == 0 { &bytes[header..] } else { &[] };
        let tcp = (bytes[9] == TCP && transport.len() >= 20).then_some(transport);
        let inner = tcp.map_or(0, |tcp| usize::from(tcp[12] >> 4) * 4);
        let mut hasher = SipHasher13::new();
        hasher.write_u8(bytes[9]);
        hasher.write(&bytes[12..20]);
        hasher.write(transport.get(..4).unwrap_or_default());
        Some(Self {
            source: address(12),
            destination: address(16),
            ecn: Ecn::from_bits(bytes[1]),
            flags: tcp.map_or(Flags::NONE, |tcp| Flags(u16::from_be_bytes([tcp[12] & 1, tcp[13]]))),
            payload: (bytes.len() - header).saturating_sub(inner) as u32,
            flow: hasher.finish() as u32,
        })
    }
}

/// Writes "congestion experienced" into the header of a packet (RFC 3168, section 5).
pub(super) fn mark(bytes: &mut [u8]) {
    bytes[1] |= Ecn::Ce as u8;
    bytes[CHECKSUM].fill(0);
    let header = usize::from(bytes[0] & 0xF) * 4;
    let sum = internet_checksum(&bytes[..header]);
    bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
}

/// Makes one bit wrong behind the IP header, for the receiver's checksum to find.
pub(super) fn damage(bytes: &mut [u8], stream: &mut Stream) {
    let header = usize::from(bytes[0] & 0xF) * 4;
    let from = if bytes.len() > header { header } else { 0 };
    let bit = stream.below((bytes.len() - from) as u64 * 8) as usize;
    bytes[from + bit / 8] ^= 1 << (bit % 8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Payload, Segment};

    fn packet(len: u32, ecn: Ecn) -> Vec<u8> {
        let addresses =
            Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
        let segment = Segment {
            flags: Flags::ACK,
            header_len: 20,
            payload: Payload { offset: 0, len },
            ecn,
            ..Segment::default()
        };
        let ports = Ports { source: 1, destination: 2 };
        let (mut bytes, body) = (Vec::new(), vec![7; len as usize]);
        let ip = Ip { ecn, ..Ip::new(addresses) };
        encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(&body), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_tcp_packet_is_known_by_its_headers() {
        let read = Manifest::read(&packet(100, Ecn::Ect0)).unwrap();
        assert_eq!((read.source, read.destination), ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
        assert_eq!((read.ecn, read.flags, read.payload), (Ecn::Ect0, Flags::ACK, 100));
        let other = Manifest::read(&packet(3, Ecn::NotEct)).unwrap();
        assert_eq!(read.flow, other.flow, "the ports and addresses are the same");
    }

    #[test]
    fn what_is_no_whole_ipv4_packet_is_not_read() {
        let bytes = packet(10, Ecn::NotEct);
        for len in 0..bytes.len() {
            assert_eq!(Manifest::read(&bytes[..len]), None, "{len} octets");
        }
        assert_eq!(Manifest::read(&[0x60; 60]), None);
        let mut short = bytes;
        short[0] = 0x42;
        assert_eq!(Manifest::read(&short), None, "a header of two words");
    }

    #[test]
    fn a_mark_leaves_the_checksum_right() {
        let mut bytes = packet(10, Ecn::Ect0);
        mark(&mut bytes);
        assert_eq!(internet_checksum(&bytes[..20]), 0);
        assert_eq!(Manifest::read(&bytes).unwrap().ecn, Ecn::Ce);
    }

    #[test]
    fn damage_is_one_bit_behind_the_header() {
        let whole = packet(10, Ecn::NotEct);
        let mut stream = Stream::new(1, "damage");
        for _ in 0..100 {
            let mut bytes = whole.clone();
            damage(&mut bytes, &mut stream);
            let wrong: u32 = bytes.iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!((wrong, &bytes[..20]), (1, &whole[..20]));
        }
    }
}
