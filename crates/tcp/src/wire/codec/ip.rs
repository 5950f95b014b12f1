//! The headers of IPv4 (RFC 791, section 3.1) and IPv6 (RFC 8200, section 3).

use super::checksum::Sum;
use super::error::{DecodeError, EncodeError};
use super::segment::{Decoded, check, decode_part, encode};
use super::{Addresses, Body, Ports, Verify, field};
use crate::wire::options::Layout;
use crate::wire::segment::{Ecn, Segment};
use core::net::{Ipv4Addr, Ipv6Addr};

const TCP: u8 = 6;
const V4_HEADER: u8 = 20;
const V6_HEADER: usize = 40;

/// The fields of an IP header, without lengths and checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ip {
    /// Source and destination. They also determine the IP version.
    pub addresses: Addresses,
    /// Differentiated services code point, 6 bits.
    pub dscp: u8,
    /// The ECN field.
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// The identification field of IPv4; 0 for IPv6.
    pub identification: u16,
    /// The "don't fragment" bit of IPv4. It is always set for IPv6, because no router fragments IPv6 packets.
    pub dont_fragment: bool,
    /// The flow label of IPv6, 20 bits; 0 for IPv4.
    pub flow_label: u32,
}

impl Ip {
    /// A header with these addresses, hop limit 64 and "don't fragment"; all other fields are zero.
    pub const fn new(addresses: Addresses) -> Self {
        let (dscp, ecn, hop_limit) = (0, Ecn::NotEct, 64);
        Self { addresses, dscp, ecn, hop_limit, identification: 0, dont_fragment: true, flow_label: 0 }
    }

    const fn traffic_class(&self) -> u8 {
        (self.dscp << 2) | self.ecn as u8
    }
}

/// A decoded packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodedPacket {
    /// The IP header.
    pub ip: Ip,
    /// The segment. Its payload range is relative to the start of the *packet*.
    pub tcp: Decoded,
    /// Whether this is the first fragment of a longer packet. The payload is then the part in this fragment. It occurs
    /// only with [`Verify::Headers`].
    pub fragment: bool,
}

/// Appends an IP packet with `segment` and without IP options to `out`. On an error `out` does not change.
pub fn encode_packet(
    segment: &Segment,
    ports: Ports,
    ip: &Ip,
    layout: Layout,
    body: Body<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let tcp_len = u64::from(check(segment, layout, body)?) + u64::from(segment.payload.len);
    match ip.addresses {
        Addresses::V4 { source, destination } => {
            let len = tcp_len + u64::from(V4_HEADER);
            let len = u16::try_from(len).map_err(|_| EncodeError::Length { len })?;
            let mut header = [0; V4_HEADER as usize];
            header[0] = (4 << 4) | (V4_HEADER / 4);
            header[1] = ip.traffic_class();
            header[2..4].copy_from_slice(&len.to_be_bytes());
            header[4..6].copy_from_slice(&ip.identification.to_be_bytes());
            header[6] = u8::from(ip.dont_fragment) << 6;
            header[8..10].copy_from_slice(&[ip.hop_limit, TCP]);
            header[12..16].copy_from_slice(&source.octets());
            header[16..20].copy_from_slice(&destination.octets());
            let checksum = Sum::default().add(&header).checksum();
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            out.extend(header);
        }
        Addresses::V6 { source, destination } => {
            let len = u16::try_from(tcp_len).map_err(|_| EncodeError::Length { len: tcp_len })?;
            let first = (6 << 28) | (u32::from(ip.traffic_class()) << 20) | (ip.flow_label & 0xF_FFFF);
            out.extend(first.to_be_bytes());
            out.extend(len.to_be_bytes());
            out.extend([TCP, ip.hop_limit]);
            out.extend(source.octets());
            out.extend(destination.octets());
        }
    }
    encode(segment, ports, ip.addresses, layout, body, out)
}

/// An IP header, the start of the TCP header, and the end of the packet according to its length fields.
struct Outer {
    ip: Ip,
    start: usize,
    end: usize,
    /// Whether the packet is the first of several fragments.
    fragment: bool,
}

/// Decodes an IPv4 or IPv6 packet that carries a whole TCP segment. Bytes after the end of the packet, such as Ethernet
/// padding, are ignored.
pub fn decode_packet(bytes: &[u8], layout: Layout, verify: Verify) -> Result<DecodedPacket, DecodeError> {
    let version = bytes.first().ok_or(DecodeError::Short { needed: 1, got: 0 })? >> 4;
    let Outer { ip, start, end, fragment } = match version {
        4 => read_v4(bytes, verify)?,
        6 => read_v6(bytes, verify)?,
        _ => return Err(DecodeError::Version(version)),
    };
    if fragment && verify != Verify::Headers {
        return Err(DecodeError::Fragment);
    }
    if end > bytes.len() && verify != Verify::Headers {
        return Err(DecodeError::Short { needed: end, got: bytes.len() });
    }
    let len = end.checked_sub(start).ok_or(DecodeError::IpLength)?;
    let there = bytes.get(start..end.min(bytes.len())).unwrap_or_default();
    let mut tcp = decode_part(there, len, ip.addresses, layout, verify)?;
    tcp.segment.ecn = ip.ecn;
    tcp.payload = tcp.payload.start + start..tcp.payload.end + start;
    Ok(DecodedPacket { ip, tcp, fragment })
}

fn read_v4(bytes: &[u8], verify: Verify) -> Result<Outer, DecodeError> {
    let header: [u8; V4_HEADER as usize] =
        field(bytes, 0).ok_or(DecodeError::Short { needed: usize::from(V4_HEADER), got: bytes.len() })?;
    let start = usize::from(header[0] & 0xF) * 4;
    let end = match usize::from(u16::from_be_bytes([header[2], header[3]])) {
        0 if verify != Verify::All => bytes.len(),
        end => end,
    };
    if start < usize::from(V4_HEADER) || end < start {
        return Err(DecodeError::IpLength);
    }
    let whole = bytes.get(..start).ok_or(DecodeError::Short { needed: start, got: bytes.len() })?;
    if verify == Verify::All && !Sum::default().add(whole).is_valid() {
        return Err(DecodeError::IpChecksum);
    }
    // A fragment with an offset above zero has no TCP header.
    if u16::from_be_bytes([header[6], header[7]]) & 0x1FFF != 0 {
        return Err(DecodeError::Fragment);
    }
    if header[9] != TCP {
        return Err(DecodeError::Protocol(header[9]));
    }
    let [.., s0, s1, s2, s3, d0, d1, d2, d3] = header;
    let source = Ipv4Addr::new(s0, s1, s2, s3);
    let destination = Ipv4Addr::new(d0, d1, d2, d3);
    let ip = Ip {
        addresses: Addresses::V4 { source, destination },
        dscp: header[1] >> 2,
        ecn: Ecn::from_bits(header[1]),
        hop_limit: header[8],
        identification: u16::from_be_bytes([header[4], header[5]]),
        dont_fragment: header[6] & 0x40 != 0,
        flow_label: 0,
    };
    Ok(Outer { ip, start, end, fragment: header[6] & 0x20 != 0 })
}

fn read_v6(bytes: &[u8], verify: Verify) -> Result<Outer, DecodeError> {
    let short = DecodeError::Short { needed: V6_HEADER, got: bytes.len() };
    let first = u32::from_be_bytes(field(bytes, 0).ok_or(short)?);
    let [l0, l1, next_header, hop_limit] = field(bytes, 4).ok_or(short)?;
    let source: [u8; 16] = field(bytes, 8).ok_or(short)?;
    let destination: [u8; 16] = field(bytes, 24).ok_or(short)?;
    let end = match usize::from(u16::from_be_bytes([l0, l1])) {
        0 if verify != Verify::All => bytes.len(),
        len => V6_HEADER + len,
    };
    let (start, fragment) = skip_extensions(bytes, next_header)?;
    let traffic_class = (first >> 20) as u8;
    let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
    let ip = Ip {
        addresses: Addresses::V6 { source, destination },
        dscp: traffic_class >> 2,
        ecn: Ecn::from_bits(traffic_class),
        hop_limit,
        identification: 0,
        dont_fragment: true,
        flow_label: first & 0xF_FFFF,
    };
    Ok(Outer { ip, start, end, fragment })
}

/// The start of the TCP header after the extension headers (RFC 8200, section 4), and whether more fragments follow. An
/// atomic fragment (RFC 6946), which is the whole packet, is accepted.
fn skip_extensions(bytes: &[u8], mut next_header: u8) -> Result<(usize, bool), DecodeError> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let (mut at, mut fragment) = (V6_HEADER, false);
    while next_header != TCP {
        let short = DecodeError::Short { needed: at + 8, got: bytes.len() };
        let [next, len, upper, lower] = match next_header {
            HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION => field(bytes, at).ok_or(short)?,
            other => return Err(DecodeError::Protocol(other)),
        };
        if next_header == FRAGMENT {
            let field = u16::from_be_bytes([upper, lower]);
            if field & 0xFFF8 != 0 {
                return Err(DecodeError::Fragment);
            }
            fragment |= field & 1 != 0;
            at += 8;
        } else {
            at += 8 * (usize::from(len) + 1);
        }
        next_header = next;
    }
    Ok((at, fragment))
}
