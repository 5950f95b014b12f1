//! A TCP socket, as the kernel describes it (sock_diag(7)).

use super::info::{Bbr, TcpInfo, Vegas};
use super::message::{Attributes, Bytes};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Length of `struct inet_diag_msg`, before the attributes.
const FIXED: usize = 72;
/// Length of a congestion control's name (`TCP_CA_NAME_MAX`).
const NAME: usize = 16;

/// Attributes of a socket (include/uapi/linux/inet_diag.h).
mod attribute {
    pub(super) const INFO: u16 = 2;
    pub(super) const VEGAS: u16 = 3;
    pub(super) const CONGESTION: u16 = 4;
    pub(super) const MEMORY: u16 = 7;
    pub(super) const BBR: u16 = 16;
}

/// The attributes that a request names. The attributes of BBR are included in those of Vegas.
pub(super) const WANTED: u8 = 1 << (attribute::INFO - 1)
    | 1 << (attribute::VEGAS - 1)
    | 1 << (attribute::CONGESTION - 1)
    | 1 << (attribute::MEMORY - 1);

/// The state of a connection (RFC 9293, section 3.3.2), as the kernel numbers it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the states of the RFC")]
pub enum State {
    Established = 1,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Closed,
    CloseWait,
    LastAck,
    Listen,
    Closing,
}

impl State {
    /// Every state, in declaration order.
    pub const ALL: [Self; 11] = [
        Self::Established,
        Self::SynSent,
        Self::SynReceived,
        Self::FinWait1,
        Self::FinWait2,
        Self::TimeWait,
        Self::Closed,
        Self::CloseWait,
        Self::LastAck,
        Self::Listen,
        Self::Closing,
    ];

    fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&state| state as u8 == number)
    }

    /// The name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::SynSent => "syn-sent",
            Self::SynReceived => "syn-received",
            Self::FinWait1 => "fin-wait-1",
            Self::FinWait2 => "fin-wait-2",
            Self::TimeWait => "time-wait",
            Self::Closed => "closed",
            Self::CloseWait => "close-wait",
            Self::LastAck => "last-ack",
            Self::Listen => "listen",
            Self::Closing => "closing",
        }
    }

    /// Whether the handshake is not complete.
    pub const fn opening(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived)
    }

    /// Whether this end has closed and sends no new data.
    pub const fn closing(self) -> bool {
        matches!(self, Self::FinWait1 | Self::FinWait2 | Self::Closing | Self::LastAck)
    }
}

/// The states of connections whose sockets have a `tcp_info`, as a set of bits: not those that listen, are closed, or
/// wait in TIME-WAIT.
pub(super) const STATES: u32 = 1 << State::Established as u32
    | 1 << State::SynSent as u32
    | 1 << State::SynReceived as u32
    | 1 << State::FinWait1 as u32
    | 1 << State::FinWait2 as u32
    | 1 << State::CloseWait as u32
    | 1 << State::LastAck as u32
    | 1 << State::Closing as u32;

/// The name of a congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Congestion([u8; NAME]);

impl Congestion {
    fn parse(bytes: &[u8]) -> Self {
        let mut name = [0; NAME];
        let printable = bytes.iter().take(NAME).take_while(|byte| byte.is_ascii_graphic());
        for (to, &from) in name.iter_mut().zip(printable) {
            *to = from;
        }
        Self(name)
    }

    /// The name; empty if the kernel gave none.
    pub fn name(&self) -> &str {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(NAME);
        core::str::from_utf8(&self.0[..length]).unwrap_or_default()
    }
}

/// Memory of a socket's buffers in bytes, with the overhead of the kernel (`SK_MEMINFO_*`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// Taken by what was received and not read.
    pub receive_used: u32,
    /// The receive buffer.
    pub receive_size: u32,
    /// Taken by packets below TCP: in the queue of the interface or of the device.
    pub below: u32,
    /// The send buffer.
    pub send_size: u32,
    /// Taken in the send buffer.
    pub send_used: u32,
}

impl Memory {
    fn parse(bytes: &[u8]) -> Self {
        let word = |number: usize| Bytes(bytes).u32(4 * number).unwrap_or(0);
        Self {
            receive_used: word(0),
            receive_size: word(1),
            below: word(2),
            send_size: word(3),
            send_used: word(5),
        }
    }
}

/// A socket at the time of a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Socket {
    /// Identifies the socket as long as the system runs.
    pub cookie: u64,
    /// The state of its connection.
    pub state: State,
    /// Its own end.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
    /// The user who owns it.
    pub uid: u32,
    /// Its number in the file system, zero if no process has it.
    pub inode: u32,
    /// Bytes that were received and not read.
    pub receive_queue: u32,
    /// Bytes that were written and not acknowledged.
    pub send_queue: u32,
    /// What the kernel knows of the connection.
    pub info: TcpInfo,
    /// Its buffers.
    pub memory: Memory,
    /// Its congestion control.
    pub congestion: Congestion,
    /// If that is BBR.
    pub bbr: Option<Bbr>,
    /// If that is Vegas or a relative.
    pub vegas: Option<Vegas>,
}

impl Socket {
    /// Reads a message; `None` for one that is too short, of another family, or without a `tcp_info`.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let bytes = Bytes(payload);
        let family = i32::from(bytes.u8(0)?);
        let address = |at| match family {
            libc::AF_INET => bytes.array(at).map(|four: [u8; 4]| IpAddr::from(Ipv4Addr::from(four))),
            libc::AF_INET6 => bytes.array(at).map(|sixteen: [u8; 16]| Ipv6Addr::from(sixteen).to_canonical()),
            _ => None,
        };
        let port = |at| bytes.array(at).map(u16::from_be_bytes);
        let mut socket = Self {
            cookie: u64::from(bytes.u32(48)?) << 32 | u64::from(bytes.u32(44)?),
            state: State::from_number(bytes.u8(1)?)?,
            local: SocketAddr::new(address(8)?, port(4)?),
            remote: SocketAddr::new(address(24)?, port(6)?),
            uid: bytes.u32(64)?,
            inode: bytes.u32(68)?,
            receive_queue: bytes.u32(56)?,
            send_queue: bytes.u32(60)?,
            info: TcpInfo::default(),
            memory: Memory::default(),
            congestion: Congestion::default(),
            bbr: None,
            vegas: None,
        };
        let mut informed = false;
        for (kind, value) in Attributes(payload.get(FIXED..)?) {
            match kind {
                attribute::INFO => (socket.info, informed) = (TcpInfo::parse(value), true),
                attribute::VEGAS => socket.vegas = Vegas::parse(value),
                attribute::CONGESTION => socket.congestion = Congestion::parse(value),
                attribute::MEMORY => socket.memory = Memory::parse(value),
                attribute::BBR => socket.bbr = Bbr::parse(value),
                _ => {}
            }
        }
        informed.then_some(socket)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sockets::message::Messages;
    use netspurt_sim::random::Stream as Random;

    /// A message about an established IPv4 connection.
    pub(crate) fn message(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; FIXED];
        bytes[0] = libc::AF_INET as u8;
        bytes[1] = State::Established as u8;
        bytes[4..6].copy_from_slice(&443u16.to_be_bytes());
        bytes[6..8].copy_from_slice(&50_000u16.to_be_bytes());
        bytes[8..12].copy_from_slice(&[10, 0, 0, 1]);
        bytes[24..28].copy_from_slice(&[10, 0, 0, 2]);
        bytes[44..48].copy_from_slice(&7u32.to_ne_bytes());
        bytes[68..72].copy_from_slice(&99u32.to_ne_bytes());
        for (kind, value) in attributes {
            bytes.extend((4 + value.len() as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn a_message_with_all_attributes_is_read() {
        let memory: Vec<u8> = (1u32..=9).flat_map(u32::to_ne_bytes).collect();
        let bytes = message(&[(2, &[0; 248]), (4, b"bbr\0"), (7, &memory), (16, &[0; 20]), (99, b"new")]);
        let socket = Socket::parse(&bytes).expect("whole");
        assert_eq!(socket.local.to_string(), "10.0.0.1:443");
        assert_eq!(socket.remote.to_string(), "10.0.0.2:50000");
        assert_eq!((socket.cookie, socket.inode, socket.congestion.name()), (7, 99, "bbr"));
        assert_eq!((socket.memory.send_size, socket.memory.send_used), (4, 6));
        assert!(socket.bbr.is_some() && socket.vegas.is_none());
    }

    #[test]
    fn a_message_without_tcp_info_is_none() {
        assert_eq!(Socket::parse(&message(&[(4, b"cubic\0")])), None);
    }

    #[test]
    fn an_ipv4_address_within_ipv6_is_shown_as_ipv4() {
        let mut bytes = message(&[(2, &[0; 248])]);
        bytes[0] = libc::AF_INET6 as u8;
        let mapped = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().octets();
        bytes[8..24].copy_from_slice(&mapped);
        let socket = Socket::parse(&bytes).expect("whole");
        assert_eq!(socket.local.to_string(), "192.0.2.1:443");
        assert_eq!(socket.remote.to_string(), "[a00:2::]:50000");
    }

    #[test]
    fn no_beginning_of_a_message_makes_it_panic() {
        let whole = message(&[(2, &[255; 248]), (3, &[255; 16]), (4, b"cubic\0"), (7, &[255; 36])]);
        for length in 0..whole.len() {
            let _ = Socket::parse(&whole[..length]);
        }
    }

    #[test]
    fn random_bytes_do_not_make_it_panic() {
        let seed = 18;
        let mut random = Random::new(seed, "sockets");
        for round in 0..20_000 {
            let length = random.below(600) as usize;
            let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            if round % 2 == 0 && length > FIXED + 8 {
                // Plausible enough to reach the attributes.
                (bytes[0], bytes[1]) = (if round % 4 == 0 { 2 } else { 10 }, 1);
                (bytes[FIXED], bytes[FIXED + 1]) = (random.below(256) as u8, 0);
                (bytes[FIXED + 2], bytes[FIXED + 3]) = (random.below(17) as u8, 0);
            }
            let _ = Socket::parse(&bytes).map(|socket| socket.info.in_flight());
            assert!(Messages(&bytes).count() <= 600, "seed {seed}, round {round}");
        }
    }
}
