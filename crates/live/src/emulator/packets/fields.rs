//! The header fields of a packet that the network needs, and the changes that it makes to the bytes.

use netspurt_sim::random::Stream;
use netspurt_tcp::codec::internet_checksum;
use netspurt_tcp::segment::{Ecn, Flags};
use siphasher::sip::SipHasher13;
use std::hash::Hasher as _;
use std::net::IpAddr;

/// Length of an IPv4 header without options, and of an IPv6 header.
const IPV4: usize = 20;
const IPV6: usize = 40;
/// The protocol numbers of TCP and UDP.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Position of the checksum in an IPv4 header.
const CHECKSUM: core::ops::Range<usize> = 10..12;

/// The header fields of a packet that the network needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::emulator) struct PacketFields {
    pub(in crate::emulator) source: IpAddr,
    pub(in crate::emulator) destination: IpAddr,
    pub(in crate::emulator) ecn: Ecn,
    /// The differentiated services codepoint.
    pub(in crate::emulator) dscp: u8,
    /// Flags of a TCP segment; none for other packets.
    pub(in crate::emulator) flags: Flags,
    /// Bytes after the known headers.
    pub(in crate::emulator) payload: u32,
    /// A hash that is equal for all packets of a connection in one direction.
    pub(in crate::emulator) flow: u32,
}

impl PacketFields {
    /// Parses the headers; `None` if this is not a complete IPv4 or IPv6 packet.
    pub(in crate::emulator) fn read(bytes: &[u8]) -> Option<Self> {
        let ip = Ip::read(bytes)?;
        let transport = &bytes[ip.len..];
        // Only the first fragment has ports, and only in known protocols.
        let known = ip.is_first && (ip.version == 4 || matches!(ip.protocol, TCP | UDP));
        let ports = if known { transport.get(..4).unwrap_or_default() } else { &[] };
        let tcp = (ip.is_first && ip.protocol == TCP && transport.len() >= 20).then_some(transport);
        let inner = tcp.map_or(0, |tcp| usize::from(tcp[12] >> 4) * 4);
        let mut hasher = SipHasher13::new();
        hasher.write_u8(ip.protocol);
        hasher.write(&bytes[ip.addresses]);
        hasher.write(ports);
        Some(Self {
            source: ip.source,
            destination: ip.destination,
            ecn: ip.ecn,
            dscp: ip.dscp,
            flags: tcp.map_or(Flags::NONE, |tcp| Flags(u16::from_be_bytes([tcp[12] & 1, tcp[13]]))),
            payload: transport.len().saturating_sub(inner) as u32,
            flow: hasher.finish() as u32,
        })
    }
}

/// The fields of an IP header.
struct Ip {
    version: u8,
    /// Length of the header in bytes.
    len: usize,
    protocol: u8,
    /// Whether the next header follows, as in all packets but later fragments.
    is_first: bool,
    ecn: Ecn,
    dscp: u8,
    addresses: core::ops::Range<usize>,
    source: IpAddr,
    destination: IpAddr,
}

impl Ip {
    fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => Self::read_v4(bytes),
            6 => Self::read_v6(bytes),
            _ => None,
        }
    }

    fn read_v4(bytes: &[u8]) -> Option<Self> {
        let len = usize::from(bytes[0] & 0xF) * 4;
        let whole = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
        if len < IPV4 || bytes.len() < len || whole != bytes.len() {
            return None;
        }
        let address = |at: usize| bytes[at..].first_chunk::<4>().map(|octets| IpAddr::from(*octets));
        Some(Self {
            version: 4,
            len,
            protocol: bytes[9],
            is_first: u16::from_be_bytes([bytes[6], bytes[7]]) & 0x1FFF == 0,
            ecn: Ecn::from_bits(bytes[1]),
            dscp: bytes[1] >> 2,
            addresses: 12..20,
            source: address(12)?,
            destination: address(16)?,
        })
    }

    fn read_v6(bytes: &[u8]) -> Option<Self> {
        let behind = usize::from(u16::from_be_bytes([*bytes.get(4)?, *bytes.get(5)?]));
        if bytes.len() != IPV6 + behind {
            return None;
        }
        let address = |at: usize| bytes[at..].first_chunk::<16>().map(|octets| IpAddr::from(*octets));
        Some(Self {
            version: 6,
            len: IPV6,
            protocol: bytes[6],
            is_first: true,
            ecn: Ecn::from_bits(bytes[1] >> 4),
            dscp: (bytes[0] & 0xF) << 2 | bytes[1] >> 6,
            addresses: 8..40,
            source: address(8)?,
            destination: address(24)?,
        })
    }
}

/// Sets "congestion experienced" in the IP header (RFC 3168, section 5).
pub(in crate::emulator) fn mark(bytes: &mut [u8]) {
    if bytes[0] >> 4 == 6 {
        bytes[1] |= (Ecn::Ce as u8) << 4;
        return;
    }
    bytes[1] |= Ecn::Ce as u8;
    bytes[CHECKSUM].fill(0);
    let header = header_len(bytes);
    let sum = internet_checksum(&bytes[..header]);
    bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
}

/// Clears the ECN field of the IP header.
pub(in crate::emulator) fn bleach(bytes: &mut [u8]) {
    if bytes[0] >> 4 == 6 {
        bytes[1] &= !((Ecn::Ce as u8) << 4);
        return;
    }
    bytes[1] &= !(Ecn::Ce as u8);
    bytes[CHECKSUM].fill(0);
    let header = header_len(bytes);
    let sum = internet_checksum(&bytes[..header]);
    bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
}

/// Where the TCP header of a packet begins, if it has a whole one.
pub(in crate::emulator) fn tcp_at(bytes: &[u8]) -> Option<usize> {
    let ip = Ip::read(bytes)?;
    let whole =
        bytes.len() >= ip.len + 20 && bytes.len() >= ip.len + usize::from(bytes[ip.len + 12] >> 4) * 4;
    (ip.is_first && ip.protocol == TCP && whole).then_some(ip.len)
}

/// Inverts one bit after the IP header, so that the receiver's checksum is wrong.
pub(in crate::emulator) fn damage(bytes: &mut [u8], stream: &mut Stream) {
    let header = header_len(bytes);
    let from = if bytes.len() > header { header } else { 0 };
    let bit = stream.below((bytes.len() - from) as u64 * 8) as usize;
    bytes[from + bit / 8] ^= 1 << (bit % 8);
}

fn header_len(bytes: &[u8]) -> usize {
    if bytes[0] >> 4 == 6 { IPV6 } else { usize::from(bytes[0] & 0xF) * 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Payload, Segment};
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn both() -> [Addresses; 2] {
        let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let v6 = |last: u16| Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, last);
        [Addresses::V4 { source, destination }, Addresses::V6 { source: v6(1), destination: v6(2) }]
    }

    fn packet(addresses: Addresses, len: u32, ecn: Ecn) -> Vec<u8> {
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
    fn the_headers_of_a_tcp_packet_are_parsed() {
        let flows = both().map(|addresses| {
            let read = PacketFields::read(&packet(addresses, 100, Ecn::Ect0)).unwrap();
            assert_eq!((read.source, read.destination), (addresses.source(), addresses.destination()));
            assert_eq!((read.ecn, read.flags, read.payload), (Ecn::Ect0, Flags::ACK, 100));
            let other = PacketFields::read(&packet(addresses, 3, Ecn::NotEct)).unwrap();
            assert_eq!(read.flow, other.flow, "the ports and addresses are the same");
            read.flow
        });
        assert_ne!(flows[0], flows[1]);
    }

    #[test]
    fn incomplete_packets_are_rejected() {
        for addresses in both() {
            let bytes = packet(addresses, 10, Ecn::NotEct);
            for len in 0..bytes.len() {
                assert_eq!(PacketFields::read(&bytes[..len]), None, "{len} octets");
            }
        }
        assert_eq!(PacketFields::read(&[0x50; 60]), None, "no such version");
        let mut short = packet(both()[0], 10, Ecn::NotEct);
        short[0] = 0x42;
        assert_eq!(PacketFields::read(&short), None, "a header of two words");
    }

    #[test]
    fn a_marked_packet_has_correct_checksums() {
        for addresses in both() {
            let mut bytes = packet(addresses, 10, Ecn::Ect0);
            mark(&mut bytes);
            assert_eq!(PacketFields::read(&bytes).unwrap().ecn, Ecn::Ce);
            decode_packet(&bytes, Layout::SHARED, Verify::All).expect("right checksums");
        }
    }

    #[test]
    fn damage_is_one_bit_after_the_header() {
        let mut stream = Stream::new(1, "damage");
        for (addresses, header) in both().into_iter().zip([20, 40]) {
            let whole = packet(addresses, 10, Ecn::NotEct);
            for _ in 0..100 {
                let mut bytes = whole.clone();
                damage(&mut bytes, &mut stream);
                let wrong: u32 = bytes.iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!((wrong, &bytes[..header]), (1, &whole[..header]));
            }
        }
    }
}
