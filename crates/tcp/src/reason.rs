//! Why a segment was sent, or why nothing was: the vocabulary of traces.

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
    pub const ALL: [Self; 21] = [
        Self::Open,
        Self::Accept,
        Self::NewData,
        Self::LimitedTransmit,
        Self::FastRetransmit,
        Self::PartialAck,
        Self::SackHole,
        Self::SackRescue,
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
            Self::LimitedTransmit => "limited-transmit",
            Self::FastRetransmit => "fast-retransmit",
            Self::PartialAck => "partial-ack",
            Self::SackHole => "sack-hole",
            Self::SackRescue => "sack-rescue",
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
            Self::FastRetransmit
                | Self::PartialAck
                | Self::SackHole
                | Self::SackRescue
                | Self::NakResend
                | Self::Timeout
                | Self::GoBackN
        )
    }
}

/// Why a sender that could be asked has nothing to send.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
    /// What is left is a short segment, and the transmission policy has it wait.
    ShortSegment,
    /// Silly-window avoidance: the usable window is too small a part of the largest one seen
    /// (RFC 9293, section 3.8.6.2.1).
    SillyWindow,
}
