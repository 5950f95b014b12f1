//! ICMP: "packet too big" (RFC 1191, RFC 8201), and echo.

use crate::host::stream::Pair;
use netspurt_tcp::codec::{icmp6_checksum, internet_checksum};
use netspurt_tcp::seq::Seq;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
const ICMP: u8 = 1;
const ICMP6: u8 = 58;
const TCP: u8 = 6;
/// The minimum path MTU that is accepted (RFC 1191, section 3 allows 68, which only an attacker would send; RFC 8200,
/// section 5).
const LEAST_MTU: [u32; 2] = [552, 1280];

/// An ICMP message that the host processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::host) enum Message {
    /// A packet of this connection was too large.
    TooBig {
        pair: Pair,
        /// Sequence number of that packet.
        seq: Seq,
        /// The MTU of the path.
        mtu: u32,
    },
    /// An echo reply to be sent if the destination is our address. `ends` are our address and the peer's.
    Echo { ends: [IpAddr; 2], reply: Vec<u8> },
}

/// Reads an ICMP message. Anything else than the two is `None`.
pub(in crate::host) fn read(packet: &[u8]) -> Option<Message> {
    match packet.first()? >> 4 {
        4 => read_v4(packet),
        6 => read_v6(packet),
        _ => None,
    }
}

fn read_v4(packet: &[u8]) -> Option<Message> {
    let start = usize::from(packet[0] & 0xF) * 4;
    let message = packet.get(start..)?;
    let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3FFF != 0;
    if *packet.get(9)? != ICMP || start < V4_HEADER || fragment || internet_checksum(message) != 0 {
        return None;
    }
    match (*message.first()?, *message.get(1)?) {
        (8, 0) => {
            let [from, to] = [12, 16].map(|at| octets::<4>(packet, at).map(IpAddr::from));
            Some(Message::Echo { ends: [to?, from?], reply: reply_v4(packet, start) })
        }
        (3, 4) => {
            let inner = message.get(8..)?;
            let header = usize::from(inner.first()? & 0xF) * 4;
            let (from, to) = (octets::<4>(inner, 12)?, octets::<4>(inner, 16)?);
            if *inner.get(9)? != TCP {
                return None;
            }
            let mtu = u32::from(u16::from_be_bytes(octets(message, 6)?));
            let ends = [Ipv4Addr::from(from).into(), Ipv4Addr::from(to).into()];
            too_big(inner.get(header..)?, ends, mtu.max(LEAST_MTU[0]))
        }
        _ => None,
    }
}

fn read_v6(packet: &[u8]) -> Option<Message> {
    let message = packet.get(V6_HEADER..)?;
    if *packet.get(6)? != ICMP6 || icmp6_checksum(&packet[8..V6_HEADER], message) != 0 {
        return None;
    }
    match (*message.first()?, *message.get(1)?) {
        (128, 0) => {
            let [from, to] = [8, 24].map(|at| octets::<16>(packet, at).map(IpAddr::from));
            Some(Message::Echo { ends: [to?, from?], reply: reply_v6(packet) })
        }
        (2, 0) => {
            let inner = message.get(8..)?;
            let (from, to) = (octets::<16>(inner, 8)?, octets::<16>(inner, 24)?);
            if *inner.get(6)? != TCP {
                return None;
            }
            let mtu = u32::from_be_bytes(octets(message, 4)?);
            let ends = [Ipv6Addr::from(from).into(), Ipv6Addr::from(to).into()];
            too_big(inner.get(V6_HEADER..)?, ends, mtu.max(LEAST_MTU[1]))
        }
        _ => None,
    }
}

/// Parses the quoted packet, which this host has sent, from its TCP header on.
fn too_big(tcp: &[u8], [from, to]: [IpAddr; 2], mtu: u32) -> Option<Message> {
    let port = |at| octets(tcp, at).map(u16::from_be_bytes);
    let pair = Pair { local: SocketAddr::new(from, port(0)?), remote: SocketAddr::new(to, port(2)?) };
    Some(Message::TooBig { pair, seq: Seq(u32::from_be_bytes(octets(tcp, 4)?)), mtu })
}

/// The echo reply (RFC 792), with the received data.
fn reply_v4(packet: &[u8], start: usize) -> Vec<u8> {
    let mut reply = packet.to_vec();
    for n in 12..16 {
        reply.swap(n, n + 4);
    }
    reply[8] = 64;
    reply[10..12].copy_from_slice(&[0, 0]);
    let header = internet_checksum(&reply[..start]);
    reply[10..12].copy_from_slice(&header.to_be_bytes());
    reply[start] = 0;
    reply[start + 2..start + 4].copy_from_slice(&[0, 0]);
    let sum = internet_checksum(&reply[start..]);
    reply[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    reply
}

/// The same for IPv6 (RFC 4443, section 4.2).
fn reply_v6(packet: &[u8]) -> Vec<u8> {
    let mut reply = packet.to_vec();
    for n in 8..24 {
        reply.swap(n, n + 16);
    }
    reply[7] = 64;
    reply[V6_HEADER] = 129;
    reply[V6_HEADER + 2..V6_HEADER + 4].copy_from_slice(&[0, 0]);
    let sum = icmp6_checksum(&reply[8..V6_HEADER], &reply[V6_HEADER..]);
    reply[V6_HEADER + 2..V6_HEADER + 4].copy_from_slice(&sum.to_be_bytes());
    reply
}

fn octets<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(message: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, ICMP, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7];
        packet[3] = (V4_HEADER + message.len()) as u8;
        packet.extend_from_slice(message);
        let sum = internet_checksum(&packet[V4_HEADER..]);
        packet[V4_HEADER + 2..V4_HEADER + 4].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn an_echo_reply_contains_the_data_of_the_request() {
        let Some(Message::Echo { reply, ends }) = read(&v4(&[8, 0, 0, 0, 0, 1, 0, 2, 7, 7, 7])) else {
            panic!("an answer expected")
        };
        assert_eq!(reply[12..20], [198, 51, 100, 7, 192, 0, 2, 1]);
        assert_eq!(ends.map(|end| end.to_string()), ["198.51.100.7", "192.0.2.1"]);
        assert_eq!((reply[20], &reply[24..]), (0, &[0, 1, 0, 2, 7, 7, 7][..]));
        assert_eq!((internet_checksum(&reply[..20]), internet_checksum(&reply[20..])), (0, 0));
    }

    #[test]
    fn packet_too_big_names_its_connection_and_a_tiny_mtu_is_rejected() {
        let mut message = vec![3, 4, 0, 0, 0, 0, 0, 1];
        message.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, TCP, 0, 0, 198, 51, 100, 7, 192, 0, 2, 1]);
        message.extend([0, 80, 0, 9, 0, 0, 1, 0]);
        let pair = Pair {
            local: "198.51.100.7:80".parse().expect("an address"),
            remote: "192.0.2.1:9".parse().expect("an address"),
        };
        assert_eq!(read(&v4(&message)), Some(Message::TooBig { pair, seq: Seq(256), mtu: LEAST_MTU[0] }));
        for len in 0..message.len() {
            assert_eq!(read(&v4(&message[..len.max(4)])), None, "cut to {len}");
        }
    }

    #[test]
    fn a_message_with_a_wrong_checksum_is_ignored() {
        let mut packet = v4(&[8, 0, 0, 0, 0, 1, 0, 2]);
        packet[25] ^= 1;
        assert_eq!(read(&packet), None);
    }
}
