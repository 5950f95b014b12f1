//! Why a segment was sent, or why nothing was: the vocabulary of traces.

use crate::time::Time;

/// Why a segment left.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Reason {
    /// Our SYN, first time.
    Open,
    /// Our SYN with the ACK of the peer's.
    Accept,
    /// Data that was never sent before.
    NewData,
    /// Data that a SYN carried and the peer did not take (RFC 7413, section 4.2.1).
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
    /// It left before something that has arrived, and long enough before (RFC 8985, section 6).
    RackLoss,
    /// The last segment once more, since nothing came back (RFC 8985, section 7).
    TailProbe,
    /// The same with data that was never sent before.
    TailProbeData,
    /// Data that was never sent before in a segment longer than the others, to learn whether the path takes it (RFC 4821).
    MtuProbe,
    /// A router said that it was too long (RFC 1191).
    TooBig,
    /// The receiver asked for it (RFC 1106).
    NakResend,
    /// The retransmission timer ran out.
    Timeout,
    /// The rest of what was outstanding at a timeout (go-back-N).
    GoBackN,
    /// A byte, to learn whether a zero window has opened (RFC 9293, section 3.8.6.1).
    WindowProbe,
    /// A keep-alive probe (RFC 9293, section 3.8.4).
    KeepAlive,
    /// Our FIN, without data.
    Fin,
    /// An ACK that was due at once.
    Ack,
    /// An ACK that had waited for its timer.
    DelayedAck,
    /// An ACK of a segment out of order, or of one already received.
    DuplicateAck,
    /// A request for missing data (RFC 1106).
    Nak,
    /// The window has opened.
    WindowUpdate,
    /// An answer to a segment that RFC 5961 distrusts.
    ChallengeAck,
    /// The connection is given up, or the segment had no business here.
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

    /// The name used in files and pictures.
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

    /// Whether the segment carries data that had been sent before.
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

/// Why a sender that could be asked has nothing to send.
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
    /// The windows permit it, but it is not its turn yet: segments leave at a rate.
    Pacing,
    /// Little may leave now, and the next ACK, which is near, makes room for more: segments are handed over together (Linux,
    /// `tcp_tso_should_defer()`).
    Burst,
    /// What is left is short, and the interface is still busy with what left before (Linux, `tcp_should_autocork()`).
    Autocork,
    /// Silly-window avoidance: the usable window is too small a part of the largest one seen
    /// (RFC 9293, section 3.8.6.2.1).
    SillyWindow,
    /// What is left is short, and waits until all that was sent is acknowledged (RFC 896 and its variants).
    Nagle,
    /// What is left is short, and waits until the last short segment is acknowledged (draft-minshall-nagle).
    Minshall,
    /// What is left is short, and waits for the end of application data, or for as much as fills it
    /// (draft-doupnik-tcpimpl-nagle-mode-00).
    EndOfData,
    /// What is left is short, and the connection is corked.
    Cork,
    /// What is left is short, and a policy of the user's own holds it.
    Own,
}

impl Hold {
    /// Every one of them, in declaration order.
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

    /// The name used in files and pictures.
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

    /// Whether an acknowledgment can end it: then a peer that delays its ACKs waits for the sender that waits for it.
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
    /// How many bytes must be acknowledged to set it free; zero if no ACK will.
    pub waits_for: u64,
    /// Since when, to a microsecond.
    pub since: Time,
}

/// As a trace tells it: `held: 873 bytes, nagle, waits for the ACK of 1460 bytes`.
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
