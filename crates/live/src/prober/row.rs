//! The results of packets.

use super::clock::Moment;
use std::net::IpAddr;

/// The result of a packet, or an additional reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// A reply in time.
    Reply,
    /// No reply in time.
    Lost,
    /// A router or the host reports that it cannot be delivered (ICMP type 3; ICMPv6 types 1 and 2).
    Unreachable,
    /// A router reports that its TTL or hop limit was exceeded (ICMP type 11; ICMPv6 type 3).
    TimeExceeded,
    /// Another ICMP error: parameter problem or source quench.
    OtherError,
    /// This machine could not send it.
    SendFailed,
    /// A further reply, with a row of its own.
    Duplicate,
    /// A reply after the timeout, with a row of its own.
    Late,
}

impl Event {
    /// Every event, in declaration order.
    pub const ALL: [Self; 8] = [
        Self::Reply,
        Self::Lost,
        Self::Unreachable,
        Self::TimeExceeded,
        Self::OtherError,
        Self::SendFailed,
        Self::Duplicate,
        Self::Late,
    ];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Lost => "lost",
            Self::Unreachable => "unreachable",
            Self::TimeExceeded => "time-exceeded",
            Self::OtherError => "other-error",
            Self::SendFailed => "send-failed",
            Self::Duplicate => "duplicate",
            Self::Late => "late",
        }
    }
}

/// The source of a receive time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stamped {
    /// The kernel's receive timestamp.
    Kernel,
    /// This program's clock, because the kernel had no timestamp or the clock was set.
    Reader,
}

impl Stamped {
    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Reader => "reader",
        }
    }
}

/// A row of a prober's results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Index of the host in the plan.
    pub host: usize,
    /// Number of the host's packet, counted from 0.
    pub number: u64,
    /// When it was sent.
    pub sent: Moment,
    /// Length in bytes, IP header included.
    pub length: u16,
    /// The result.
    pub event: Event,
    /// The RTT of the reply or error in nanoseconds.
    pub rtt_ns: Option<u64>,
    /// The source of the receive time.
    pub stamped: Option<Stamped>,
    /// The sender of an error, if it is not the host.
    pub from: Option<IpAddr>,
    /// ICMP type and code of an error.
    pub icmp: Option<(u8, u8)>,
    /// The system's error number, if it could not be sent.
    pub errno: Option<i32>,
}
