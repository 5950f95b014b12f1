//! ICMP messages about packets that this host has sent.

use netspurt_tcp::seq::Seq;
use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The system whose error numbers and rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum System {
    Linux,
    /// Only some messages end a connection that is opening (`tcp_ctlinput()`).
    Freebsd,
}

/// What a message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Problem {
    /// The packet is too large for the next hop, whose MTU is this.
    TooBig { mtu: u32 },
    /// The destination cannot be reached.
    Unreachable(Errno),
    /// It may still be reached: the connection goes on.
    Passing,
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

/// The same in FreeBSD: the protocol, the port or an administrator refuses (`icmp_errmap()`). Other errors may pass.
fn refusal(code: u8) -> Problem {
    match code {
        2 | 3 | 9 | 10 | 13 => Problem::Unreachable(Errno::ECONNREFUSED),
        _ => Problem::Passing,
    }
}

/// The same for ICMPv6 (FreeBSD, `icmp6_errmap()`).
fn refusal_v6(code: u8) -> Problem {
    match code {
        1 | 4 => Problem::Unreachable(Errno::ECONNREFUSED),
        _ => Problem::Passing,
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
    pub(crate) fn parse(bytes: &[u8], system: System) -> Option<Self> {
        if bytes.first()? >> 4 == 6 { Self::parse_v6(bytes, system) } else { Self::parse_v4(bytes, system) }
    }

    fn parse_v4(bytes: &[u8], system: System) -> Option<Self> {
        let icmp = bytes.get(usize::from(bytes.first()? & 0xF) * 4..)?;
        let address = |at: usize| Some(IpAddr::V4(Ipv4Addr::from(field::<4>(icmp, at)?)));
        let problem = match (*icmp.first()?, *icmp.get(1)?, system) {
            (3, 4, _) => Problem::TooBig { mtu: u32::from(u16::from_be_bytes(field(icmp, 6)?)) },
            (3, code, System::Linux) => Problem::Unreachable(unreachable_error(code)),
            (3, code, System::Freebsd) => refusal(code),
            // The time to live has ended.
            (11, 0, System::Freebsd) => Problem::Unreachable(Errno::EHOSTUNREACH),
            _ => return None,
        };
        let inner = 8 + usize::from(icmp.get(8)? & 0xF) * 4;
        Self::about(problem, icmp.get(inner..)?, address(8 + 12)?, address(8 + 16)?)
    }

    fn parse_v6(bytes: &[u8], system: System) -> Option<Self> {
        const HEADER: usize = 40;
        let icmp = bytes.get(HEADER..)?;
        let address = |at: usize| Some(IpAddr::V6(Ipv6Addr::from(field::<16>(icmp, at)?)));
        let problem = match (*icmp.first()?, *icmp.get(1)?, system) {
            (1, code, System::Linux) => Problem::Unreachable(unreachable_error_v6(code)),
            (1, code, System::Freebsd) => refusal_v6(code),
            // The hop limit has ended; the next header is unknown.
            (3, 0, System::Freebsd) => Problem::Unreachable(Errno::EHOSTUNREACH),
            (4, 1, System::Freebsd) => Problem::Unreachable(Errno::ECONNREFUSED),
            (2, ..) => Problem::TooBig { mtu: u32::from_be_bytes(field(icmp, 4)?) },
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
        let found = Unreachable::parse(&bytes, System::Linux).expect("a message");
        assert_eq!((found.problem, found.seq), (Problem::TooBig { mtu: 1300 }, Seq(9)));
        assert_eq!((found.local.port(), found.remote.port()), (80, 256));
        assert_eq!(found.local.ip(), "fd01::".parse::<IpAddr>().expect("an address"));
        bytes[40] = 128;
        assert!(Unreachable::parse(&bytes, System::Linux).is_none());
    }

    #[test]
    fn freebsd_gives_up_only_if_the_host_refuses() {
        for (kind, code, problem) in [
            (3, 13, Some(Problem::Unreachable(Errno::ECONNREFUSED))),
            (3, 1, Some(Problem::Passing)),
            (11, 0, Some(Problem::Unreachable(Errno::EHOSTUNREACH))),
            (11, 1, None),
        ] {
            let mut bytes = vec![0; 20 + 8 + 20 + 8];
            (bytes[0], bytes[20], bytes[21], bytes[28]) = (0x45, kind, code, 0x45);
            let found = Unreachable::parse(&bytes, System::Freebsd).map(|found| found.problem);
            assert_eq!(found, problem, "type {kind}, code {code}");
        }
    }
}
