//! Why a segment was sent, or why no segment was sent: the terms that traces use.

use crate::time::Time;

/// Why a segment was sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// Our SYN.
    Open,
    /// Our SYN with the ACK of the peer's.
    Accept,
    /// Data that was never sent before.
    NewData,
    /// Data of a SYN that the peer did not accept (RFC 7413, section 4.2.1).
    SynDataAgain,
    /// New data on one of the first duplicate ACKs (RFC 3042).
    LimitedTransmit,
    /// The duplicate-ACK threshold was reached.
    FastRetransmit,
    /// A partial ACK showed the next hole (RFC 6582).
    PartialAck,
    /// A hole on the scoreboard (RFC 6675, NextSeg rules 1 and 3).
    SackHole,
    /// The last outstanding segment, once in a recovery (RFC 6675, NextSeg rule 4).
    SackRescue,
    /// RACK has marked it lost: a segment sent sufficiently later has arrived (RFC 8985, section 6).
    RackLoss,
    /// A tail loss probe that retransmits the last segment (RFC 8985, section 7).
    TailProbe,
    /// A tail loss probe with new data.
    TailProbeData,
    /// New data in a segment above the present size, to probe the path MTU (RFC 4821).
    MtuProbe,
    /// A router reported that the packet was too big (RFC 1191).
    TooBig,
    /// The receiver requested it with a NAK (RFC 1106).
    NakResend,
    /// The retransmission timer expired.
    Timeout,
    /// The rest of the data outstanding at a timeout (go-back-N).
    GoBackN,
    /// A zero-window probe (RFC 9293, section 3.8.6.1).
    WindowProbe,
    /// A keep-alive probe (RFC 9293, section 3.8.4).
    KeepAlive,
    /// Our FIN, without data.
    Fin,
    /// An ACK that was due immediately.
    Ack,
    /// An ACK that the delayed ACK timer released.
    DelayedAck,
    /// An ACK of a segment out of order, or of one already received.
    DuplicateAck,
    /// A request for missing data (RFC 1106).
    Nak,
    /// The window has opened.
    WindowUpdate,
    /// A challenge ACK (RFC 5961).
    ChallengeAck,
    /// A reset: the connection is aborted, or the segment belongs to no connection.
    Reset,
}

impl Reason {
    /// Every reason, in declaration order.
    pub const ALL: [Self; 27] = [
        Self::Open,
        Self::Accept,
        Self::NewData,
        Self::SynDataAgain,
        Self::LimitedTransmit,
        Self::FastRetransmit,
        Self::PartialAck,
        Self::SackHole,
        Self::SackRescue,
        Self::RackLoss,
        Self::TailProbe,
        Self::TailProbeData,
        Self::MtuProbe,
        Self::TooBig,
        Self::NakResend,
        Self::Timeout,
        Self::GoBackN,
        Self::WindowProbe,
        Self::KeepAlive,
        Self::Fin,
        Self::Ack,
        Self::DelayedAck,
        Self::DuplicateAck,
        Self::Nak,
        Self::WindowUpdate,
        Self::ChallengeAck,
        Self::Reset,
    ];

    /// The name in files and plots.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "syn",
            Self::Accept => "syn-ack",
            Self::NewData => "new-data",
            Self::SynDataAgain => "syn-data-again",
            Self::LimitedTransmit => "limited-transmit",
            Self::FastRetransmit => "fast-retransmit",
            Self::PartialAck => "partial-ack",
            Self::SackHole => "sack-hole",
            Self::SackRescue => "sack-rescue",
            Self::RackLoss => "rack-loss",
            Self::TailProbe => "tail-probe",
            Self::TailProbeData => "tail-probe-data",
            Self::MtuProbe => "mtu-probe",
            Self::TooBig => "too-big",
            Self::NakResend => "nak-resend",
            Self::Timeout => "timeout",
            Self::GoBackN => "go-back-n",
            Self::WindowProbe => "window-probe",
            Self::KeepAlive => "keep-alive",
            Self::Fin => "fin",
            Self::Ack => "ack",
            Self::DelayedAck => "delayed-ack",
            Self::DuplicateAck => "duplicate-ack",
            Self::Nak => "nak",
            Self::WindowUpdate => "window-update",
            Self::ChallengeAck => "challenge-ack",
            Self::Reset => "reset",
        }
    }

    /// Whether the segment carries data that was sent before.
    pub const fn is_retransmission(self) -> bool {
        matches!(
            self,
            Self::SynDataAgain
                | Self::FastRetransmit
                | Self::PartialAck
                | Self::SackHole
                | Self::SackRescue
                | Self::RackLoss
                | Self::TailProbe
                | Self::TooBig
                | Self::NakResend
                | Self::Timeout
                | Self::GoBackN
        )
    }
}

/// Why a sender does not send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Hold {
    /// The connection is not open for sending.
    NotOpen,
    /// The application has written nothing more.
    NoData,
    /// cwnd is full.
    CongestionWindow,
    /// The peer's window is full.
    ReceiveWindow,
    /// The sender's own cap is reached.
    SendWindow,
    /// The windows permit it, but pacing delays the segment.
    Pacing,
    /// Only a small burst is permitted, and the next ACK is near and permits more (Linux, `tcp_tso_should_defer()`).
    Burst,
    /// The segment is short, and the interface still transmits earlier packets (Linux, `tcp_should_autocork()`).
    Autocork,
    /// Silly-window avoidance: the usable window is too small a part of the largest one seen
    /// (RFC 9293, section 3.8.6.2.1).
    SillyWindow,
    /// The segment is short and waits until all sent data is acknowledged (RFC 896 and its variants).
    Nagle,
    /// The segment is short and waits until the last short segment is acknowledged (draft-minshall-nagle).
    Minshall,
    /// The segment is short and waits until it is full, or until the application data ends
    /// (draft-doupnik-tcpimpl-nagle-mode-00).
    EndOfData,
    /// The segment is short, and the connection is corked.
    Cork,
    /// The segment is short, and a user-defined policy holds it back.
    Own,
}

impl Hold {
    /// Every value, in declaration order.
    pub const ALL: [Self; 14] = [
        Self::NotOpen,
        Self::NoData,
        Self::CongestionWindow,
        Self::ReceiveWindow,
        Self::SendWindow,
        Self::Pacing,
        Self::Burst,
        Self::Autocork,
        Self::SillyWindow,
        Self::Nagle,
        Self::Minshall,
        Self::EndOfData,
        Self::Cork,
        Self::Own,
    ];

    /// The name in files and plots.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotOpen => "not-open",
            Self::NoData => "no-data",
            Self::CongestionWindow => "congestion-window",
            Self::ReceiveWindow => "receive-window",
            Self::SendWindow => "send-window",
            Self::Pacing => "pacing",
            Self::Burst => "burst",
            Self::Autocork => "autocork",
            Self::SillyWindow => "silly-window",
            Self::Nagle => "nagle",
            Self::Minshall => "minshall",
            Self::EndOfData => "end-of-data",
            Self::Cork => "cork",
            Self::Own => "own",
        }
    }

    /// Whether a transmission policy holds a short segment back: a held tail.
    pub const fn is_policy(self) -> bool {
        matches!(self, Self::Nagle | Self::Minshall | Self::EndOfData | Self::Cork | Self::Own)
    }

    /// Whether an ACK can end it. In this case a sender and a peer with delayed ACKs wait for each other.
    pub const fn waits_for_ack(self) -> bool {
        matches!(self, Self::Nagle | Self::Minshall)
    }
}

/// A short segment that the transmission policy holds back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Stream offset of its first byte.
    pub offset: u64,
    /// Payload bytes.
    pub len: u32,
    /// What the policy waits for: [`Hold::is_policy`] holds.
    pub why: Hold,
    /// The number of bytes whose ACK releases it; zero if no ACK does.
    pub waits_for: u64,
    /// Since when, with a resolution of one microsecond.
    pub since: Time,
}

/// The text in a trace: `held: 873 bytes, nagle, waits for the ACK of 1460 bytes`.
impl core::fmt::Display for Held {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "held: {} bytes, {}, waits ", self.len, self.why.name())?;
        match self.why {
            Hold::Cork => f.write_str("to be uncorked"),
            Hold::EndOfData => f.write_str("for the end of application data"),
            Hold::Own => f.write_str("for what its policy says"),
            _ => write!(f, "for the ACK of {} bytes", self.waits_for),
        }
    }
}
