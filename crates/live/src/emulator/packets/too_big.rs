//! The ICMP message to the sender of a packet that is too large for a link (RFC 792 and RFC 1191, section 4; RFC 4443,
//! section 3.2).

use netspurt_tcp::codec::{icmp6_checksum, internet_checksum};

const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
const ICMP: u8 = 1;
const ICMP6: u8 = 58;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Quoted bytes after the header: ports and sequence number.
const QUOTED: usize = 8;
const HOPS: u8 = 64;

/// The message about a packet; `None` if there must be no message, as for later fragments and other protocols than TCP
/// and UDP. Its source is the packet's own destination, since simulated routers have no addresses.
pub(in crate::emulator) fn message(packet: &[u8], mtu: u32) -> Option<Vec<u8>> {
    match packet.first()? >> 4 {
        4 => message_v4(packet, u16::try_from(mtu).unwrap_or(u16::MAX)),
        6 => message_v6(packet, mtu),
        _ => None,
    }
}

fn message_v4(packet: &[u8], mtu: u16) -> Option<Vec<u8>> {
    let header = usize::from(packet[0] & 0xF) * 4;
    let first = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x1FFF == 0;
    let quoted = packet.get(..header + QUOTED)?;
    if !first || !matches!(packet[9], TCP | UDP) {
        return None;
    }
    // Destination unreachable, fragmentation needed.
    let mut icmp = vec![3, 4, 0, 0, 0, 0];
    icmp.extend(mtu.to_be_bytes());
    icmp.extend(quoted);
    let sum = internet_checksum(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());

    let mut bytes = vec![0; V4_HEADER];
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&u16::try_from(V4_HEADER + icmp.len()).ok()?.to_be_bytes());
    (bytes[8], bytes[9]) = (HOPS, ICMP);
    bytes[12..16].copy_from_slice(&packet[16..20]);
    bytes[16..20].copy_from_slice(&packet[12..16]);
    let sum = internet_checksum(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(icmp);
    Some(bytes)
}

fn message_v6(packet: &[u8], mtu: u32) -> Option<Vec<u8>> {
    let quoted = packet.get(..V6_HEADER + QUOTED)?;
    if !matches!(packet[6], TCP | UDP) {
        return None;
    }
    let ends = [&packet[24..40], &packet[8..24]].concat();
    // Packet too big.
    let mut icmp = vec![2, 0, 0, 0];
    icmp.extend(mtu.to_be_bytes());
    icmp.extend(quoted);
    let sum = icmp6_checksum(&ends, &icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());

    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(u16::try_from(icmp.len()).ok()?.to_be_bytes());
    bytes.extend([ICMP6, HOPS]);
    bytes.extend(ends);
    bytes.extend(icmp);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, encode_packet};
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Flags, Segment};
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn long(addresses: Addresses) -> Vec<u8> {
        let segment = Segment { flags: Flags::ACK, ..Segment::default() };
        let ports = Ports { source: 4000, destination: 80 };
        let mut out = Vec::new();
        encode_packet(&segment, ports, &Ip::new(addresses), Layout::SHARED, Body::Bytes(&[]), &mut out)
            .unwrap();
        out
    }

    #[test]
    fn the_message_returns_to_the_sender_and_quotes_the_packet() {
        let (here, there) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let packet = long(Addresses::V4 { source: here, destination: there });
        let reply = message(&packet, 1400).unwrap();
        assert_eq!((&reply[12..16], &reply[16..20]), (&there.octets()[..], &here.octets()[..]));
        assert_eq!((reply[9], reply[20], reply[21]), (ICMP, 3, 4));
        assert_eq!(u16::from_be_bytes([reply[26], reply[27]]), 1400);
        assert_eq!(reply[28..], packet[..28]);
        assert_eq!((internet_checksum(&reply[..20]), internet_checksum(&reply[20..])), (0, 0));
    }

    #[test]
    fn the_message_returns_to_the_sender_in_ipv6() {
        let [here, there] = [1, 2].map(|n| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n));
        let packet = long(Addresses::V6 { source: here, destination: there });
        let reply = message(&packet, 1300).unwrap();
        assert_eq!((&reply[8..24], &reply[24..40]), (&there.octets()[..], &here.octets()[..]));
        assert_eq!((reply[6], reply[40]), (ICMP6, 2));
        assert_eq!(u32::from_be_bytes([reply[44], reply[45], reply[46], reply[47]]), 1300);
        assert_eq!(icmp6_checksum(&reply[8..40], &reply[40..]), 0);
    }

    #[test]
    fn icmp_messages_and_later_fragments_cause_no_message() {
        let ends = [10, 11].map(|n| Ipv4Addr::new(192, 0, 2, n));
        let mut packet = long(Addresses::V4 { source: ends[0], destination: ends[1] });
        packet[7] = 1;
        assert_eq!(message(&packet, 1400), None);
        (packet[7], packet[9]) = (0, ICMP);
        assert_eq!(message(&packet, 1400), None);
        assert_eq!(message(&packet[..20], 1400), None);
        assert_eq!(message(&[], 1400), None);
    }
}
