//! ICMP messages about packets that this host has sent.

use netspurt_tcp::seq::Seq;
use nix::errno::Errno;
use std::net::{Ipv4Addr, SocketAddrV4};

/// The error number for a code of the message (Linux, `icmp_err_convert`).
pub(crate) fn unreachable_error(code: u8) -> Errno {
    match code {
        0 | 5 | 6 | 11 => Errno::ENETUNREACH,
        2 => Errno::ENOPROTOOPT,
        3 => Errno::ECONNREFUSED,
        _ => Errno::EHOSTUNREACH,
    }
}

/// An ICMP message "destination unreachable" (RFC 792).
pub(crate) struct Unreachable {
    pub(crate) code: u8,
    /// The MTU of the next hop if the code is 4, "fragmentation needed" (RFC 1191, section 4).
    pub(crate) mtu: u16,
    /// Sequence number of the segment that was dropped.
    pub(crate) seq: Seq,
    pub(crate) local: SocketAddrV4,
    pub(crate) remote: SocketAddrV4,
}

impl Unreachable {
    /// Parses an IPv4 packet; `None` if it is no such message.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let header = usize::from(bytes.first()? & 0xF) * 4;
        let icmp = bytes.get(header..)?;
        let short = |at: usize| Some(u16::from_be_bytes(icmp.get(at..at + 2)?.try_into().ok()?));
        let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(icmp.get(at..at + 4)?).ok()?));
        if *icmp.first()? != 3 {
            return None;
        }
        let inner = 8 + usize::from(icmp.get(8)? & 0xF) * 4;
        let local = SocketAddrV4::new(address(8 + 12)?, short(inner)?);
        let remote = SocketAddrV4::new(address(8 + 16)?, short(inner + 2)?);
        let seq = u32::from(short(inner + 4)?) << 16 | u32::from(short(inner + 6)?);
        Some(Self { code: *icmp.get(1)?, mtu: short(6)?, seq: Seq(seq), local, remote })
    }
}
