//! The states of RFC 9293, section 3.3.2, figure 5.

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum State {
    /// No connection.
    #[default]
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// Our SYN is sent.
    SynSent,
    /// Both SYNs are sent; ours is not acknowledged.
    SynReceived,
    /// Open.
    Established,
    /// We have closed; our FIN is not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer has closed; we may still send.
    CloseWait,
    /// Both have closed; our FIN is not acknowledged.
    Closing,
    /// The peer closed first; our FIN is sent and not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; old duplicates may still arrive.
    TimeWait,
}

impl State {
    /// All states.
    pub const ALL: [Self; 11] = [
        Self::Closed,
        Self::Listen,
        Self::SynSent,
        Self::SynReceived,
        Self::Established,
        Self::FinWait1,
        Self::FinWait2,
        Self::CloseWait,
        Self::Closing,
        Self::LastAck,
        Self::TimeWait,
    ];

    /// The name in RFC 9293.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
        }
    }

    /// Whether both SYNs are acknowledged: the "synchronized states" of RFC 9293.
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent | Self::SynReceived)
    }

    /// Whether data may be sent or still be outstanding.
    pub const fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }

    /// Whether the peer may still send data.
    pub const fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
}

/// Why a connection is closed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CloseReason {
    /// Both sides closed and everything was delivered.
    Finished,
    /// The peer reset it.
    Reset,
    /// The peer answered our SYN with a reset.
    Refused,
    /// The application called [`crate::Connection::abort`].
    Aborted,
    /// No answer after the last permitted retransmission.
    TimedOut,
    /// The user timeout expired.
    UserTimeout,
    /// Keep-alive probes went unanswered.
    KeepAliveTimeout,
}
