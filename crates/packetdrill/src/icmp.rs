//! ICMP messages about packets that this host has sent.

use netspurt_tcp::seq::Seq;
use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// The packet is too large for the next hop, whose MTU is this.
    TooBig { mtu: u32 },
    /// The destination cannot be reached.
    Unreachable(Errno),
}

/// The error number for a code of ICMP's "destination unreachable" (Linux, `icmp_err_convert`).
fn unreachable_error(code: u8) -> Errno {
    match code {
        0 | 5 | 6 | 11 => Errno::ENETUNREACH,
        2 => Errno::ENOPROTOOPT,
        3 => Errno::ECONNREFUSED,
        _ => Errno::EHOSTUNREACH,
    }
}

/// The same for ICMPv6 (Linux, `tab_unreach`).
fn unreachable_error_v6(code: u8) -> Errno {
    match code {
        0 => Errno::ENETUNREACH,
        1 | 5 | 6 => Errno::EACCES,
        4 => Errno::ECONNREFUSED,
        _ => Errno::EHOSTUNREACH,
    }
}

/// An ICMP message "destination unreachable" (RFC 792, RFC 4443) or "packet too big" (RFC 1191, RFC 4443).
#[derive(Debug)]
pub(crate) struct Unreachable {
    pub(crate) problem: Problem,
    /// Sequence number of the segment that was dropped.
    pub(crate) seq: Seq,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

impl Unreachable {
    /// Parses an IP packet; `None` if it is no such message.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.first()? >> 4 == 6 { Self::parse_v6(bytes) } else { Self::parse_v4(bytes) }
    }

    fn parse_v4(bytes: &[u8]) -> Option<Self> {
        let icmp = bytes.get(usize::from(bytes.first()? & 0xF) * 4..)?;
        let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(field::<4>(icmp, at)?)));
        if *icmp.first()? != 3 {
            return None;
        }
        let problem = match *icmp.get(1)? {
            4 => Problem::TooBig { mtu: u32::from(u16::from_be_bytes(field(icmp, 6)?)) },
            code => Problem::Unreachable(unreachable_error(code)),
        };
        let inner = 8 + usize::from(icmp.get(8)? & 0xF) * 4;
        Self::about(problem, icmp.get(inner..)?, address(8 + 12)?, address(8 + 16)?)
    }

    fn parse_v6(bytes: &[u8]) -> Option<Self> {
        const HEADER: usize = 40;
        let icmp = bytes.get(HEADER..)?;
        let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(field::<16>(icmp, at)?)));
        let problem = match (*icmp.first()?, *icmp.get(1)?) {
            (1, code) => Problem::Unreachable(unreachable_error_v6(code)),
            (2, _) => Problem::TooBig { mtu: u32::from_be_bytes(field(icmp, 4)?) },
            _ => return None,
        };
        Self::about(problem, icmp.get(8 + HEADER..)?, address(8 + 8)?, address(8 + 24)?)
    }

    /// The message about the segment whose TCP header begins `tcp`.
    fn about(problem: Problem, tcp: &[u8], local: IpAddr, remote: IpAddr) -> Option<Self> {
        let port = |at: usize| Some(u16::from_be_bytes(field(tcp, at)?));
        Some(Self {
            problem,
            seq: Seq(u32::from_be_bytes(field(tcp, 4)?)),
            local: SocketAddr::new(local, port(0)?),
            remote: SocketAddr::new(remote, port(2)?),
        })
    }
}

/// The `N` bytes from `at` on, if all are there.
fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_too_big_of_icmpv6_names_the_mtu_and_the_segment() {
        let (us, them) = ([0xFD, 1], [0xFD, 2]);
        let mut bytes = vec![0; 40 + 8 + 40 + 20];
        bytes[0] = 0x60;
        bytes[40] = 2;
        bytes[44..48].copy_from_slice(&1300_u32.to_be_bytes());
        bytes[48 + 8..48 + 10].copy_from_slice(&us);
        bytes[48 + 24..48 + 26].copy_from_slice(&them);
        bytes[88..96].copy_from_slice(&[0, 80, 1, 0, 0, 0, 0, 9]);
        let found = Unreachable::parse(&bytes).expect("a message");
        assert_eq!((found.problem, found.seq), (Problem::TooBig { mtu: 1300 }, Seq(9)));
        assert_eq!((found.local.port(), found.remote.port()), (80, 256));
        assert_eq!(found.local.ip(), "fd01::".parse::<IpAddr>().expect("an address"));
        bytes[40] = 128;
        assert!(Unreachable::parse(&bytes).is_none());
    }
}
