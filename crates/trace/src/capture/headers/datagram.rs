//! Simulated UDP datagrams as bytes (RFC 768).
//!
//! Lives here: the headers of a datagram whose payload is zeros. Must not live here: TCP segments (`codec` encodes them).

use netspurt_tcp::codec::{Addresses, Ports, internet_checksum};
use netspurt_tcp::segment::Ecn;

const UDP: u8 = 17;
const HOP_LIMIT: u8 = 64;
/// Length of the UDP header.
const HEADER: u16 = 8;

/// Appends the IP and UDP headers of a datagram with `payload` bytes of zeros to `out`. With `damaged` the checksum is
/// wrong. Returns `false` and changes nothing if no datagram is so long.
pub(in crate::capture) fn encode(
    addresses: Addresses,
    ports: Ports,
    ecn: Ecn,
    payload: u32,
    damaged: bool,
    out: &mut Vec<u8>,
) -> bool {
    let len = u16::try_from(payload).ok().and_then(|payload| payload.checked_add(HEADER));
    let Some(len) = len.filter(|len| len.checked_add(20).is_some()) else { return false };
    let mut header = [0; HEADER as usize];
    header[0..2].copy_from_slice(&ports.source.to_be_bytes());
    header[2..4].copy_from_slice(&ports.destination.to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    let mut pseudo = Vec::with_capacity(48);
    match addresses {
        Addresses::V4 { source, destination } => {
            pseudo.extend(source.octets());
            pseudo.extend(destination.octets());
            pseudo.extend([0, UDP]);
            pseudo.extend(len.to_be_bytes());
            let mut ip = [0; 20];
            ip[0] = (4 << 4) | 5;
            ip[1] = ecn as u8;
            ip[2..4].copy_from_slice(&(len + 20).to_be_bytes());
            ip[6] = 0x40; // don't fragment
            ip[8..10].copy_from_slice(&[HOP_LIMIT, UDP]);
            ip[12..16].copy_from_slice(&source.octets());
            ip[16..20].copy_from_slice(&destination.octets());
            let checksum = internet_checksum(&ip);
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
            out.extend(ip);
        }
        Addresses::V6 { source, destination } => {
            pseudo.extend(source.octets());
            pseudo.extend(destination.octets());
            pseudo.extend(u32::from(len).to_be_bytes());
            pseudo.extend(u32::from(UDP).to_be_bytes());
            out.extend(((6 << 28) | (u32::from(ecn as u8) << 20)).to_be_bytes());
            out.extend(len.to_be_bytes());
            out.extend([UDP, HOP_LIMIT]);
            out.extend(source.octets());
            out.extend(destination.octets());
        }
    }
    pseudo.extend(header);
    // A checksum of zero means that there is none (RFC 768).
    let right = match internet_checksum(&pseudo) {
        0 => 0xFFFF,
        sum => sum,
    };
    // 0x0100 differs from the correct checksum also in one's-complement arithmetic.
    let checksum = if damaged { right ^ 0x0100 } else { right };
    header[6..8].copy_from_slice(&checksum.to_be_bytes());
    out.extend(header);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    const PORTS: Ports = Ports { source: 1024, destination: 5001 };
    const V4: Addresses =
        Addresses::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };

    fn bytes(addresses: Addresses, payload: u32, damaged: bool) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(encode(addresses, PORTS, Ecn::Ect0, payload, damaged, &mut out));
        out.resize(out.len() + payload as usize, 0);
        out
    }

    /// Whether the checksum over pseudo-header and datagram is correct.
    fn is_valid(packet: &[u8], addresses: &[u8], start: usize) -> bool {
        let datagram = &packet[start..];
        let length = (datagram.len() as u32).to_be_bytes();
        let all = [addresses, &length, &[0, 0, 0, UDP], datagram].concat();
        internet_checksum(&all) == 0
    }

    #[test]
    fn headers_have_the_fields_of_rfc_768_and_right_checksums() {
        for payload in [0, 1, 172, 1200] {
            let packet = bytes(V4, payload, false);
            assert_eq!(packet.len(), 28 + payload as usize);
            assert_eq!(internet_checksum(&packet[..20]), 0);
            assert_eq!((packet[9], packet[1] & 3), (17, 2));
            assert_eq!(packet[20..26], [0x04, 0x00, 0x13, 0x89, packet[24], packet[25]]);
            assert_eq!(u16::from_be_bytes([packet[24], packet[25]]), 8 + payload as u16);
            assert!(is_valid(&packet, &packet[12..20], 20), "{payload}");
            let damaged = bytes(V4, payload, true);
            assert!(!is_valid(&damaged, &damaged[12..20], 20), "{payload}");
        }
    }

    #[test]
    fn ipv6_has_its_own_pseudo_header() {
        let [source, destination] = [1, 2].map(|last| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last));
        let packet = bytes(Addresses::V6 { source, destination }, 99, false);
        assert_eq!((packet.len(), packet[0] >> 4, packet[6]), (40 + 8 + 99, 6, 17));
        assert!(is_valid(&packet, &packet[8..40], 40));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut out = Vec::new();
        assert!(encode(V4, PORTS, Ecn::NotEct, 65_507, false, &mut out));
        assert!(!encode(V4, PORTS, Ecn::NotEct, 65_508, false, &mut out));
        assert!(!encode(V4, PORTS, Ecn::NotEct, u32::MAX, false, &mut out));
        assert_eq!(out.len(), 28);
    }
}
