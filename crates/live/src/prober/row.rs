//! What is told of a packet.

use super::clock::Moment;
use std::net::IpAddr;

/// What became of a packet, or came in addition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// It was answered in time.
    Reply,
    /// Nothing came in time.
    Lost,
    /// A router or the host says that it cannot be delivered (ICMP type 3; ICMPv6 types 1 and 2).
    Unreachable,
    /// A router says that it lived too long (ICMP type 11; ICMPv6 type 3).
    TimeExceeded,
    /// Somebody complains in another way: a parameter problem, a source quench.
    OtherError,
    /// This machine could not send it.
    SendFailed,
    /// The answer came once more. The packet has a row of its own.
    Duplicate,
    /// The answer came after the packet had been given up. It has a row of its own.
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

/// Who noted when the answer came.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stamped {
    /// The kernel, when it took the packet in.
    Kernel,
    /// We, when we got to see it: the kernel did not say, or the clock was set meanwhile.
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

/// One row of what a prober finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// Which host of the plan.
    pub host: usize,
    /// Which of its packets, counted from 0.
    pub number: u64,
    /// When it was sent.
    pub sent: Moment,
    /// Octets, IP header included.
    pub length: u16,
    /// What became of it.
    pub event: Event,
    /// The round-trip time in nanoseconds, of whatever was heard.
    pub rtt_ns: Option<u64>,
    /// Who noted when it was heard.
    pub stamped: Option<Stamped>,
    /// Who complained, if not the host itself.
    pub from: Option<IpAddr>,
    /// ICMP type and code of the complaint.
    pub icmp: Option<(u8, u8)>,
    /// The system's error number, if it could not be sent.
    pub errno: Option<i32>,
}
