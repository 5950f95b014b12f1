//! The limits of a transfer.

/// What holds a transfer back: the condition whose removal would make the transfer faster.
///
/// At each instant of one direction of a connection exactly one limit applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Limit {
    /// The connection is not open yet.
    Handshake,
    /// The sender has nothing to send, and will have more by itself.
    Application,
    /// The application's own protocol permits no more before an answer arrives, for example flow control of HTTP/2.
    ApplicationWindow,
    /// A short segment waits for an ACK that the receiver delays (RFC 896 with RFC 1122, section 4.2.3.2).
    NagleDelayedAck,
    /// The send buffer is smaller than the bandwidth-delay product.
    SendBuffer,
    /// The receive window is smaller than the bandwidth-delay product.
    ReceiveWindow,
    /// The receiving application reads slowly.
    SlowReceiver,
    /// cwnd is still in slow start.
    SlowStart,
    /// The path is full.
    Bottleneck,
    /// The path is full, mostly of packets of others.
    CrossTraffic,
    /// cwnd, after losses or ECN marks.
    CongestionWindow,
    /// The sender paces below the capacity of the path.
    Pacing,
    /// A token bucket dropped packets.
    Policer,
    /// A token bucket delays packets.
    Shaper,
    /// Lost segments are being retransmitted after duplicate ACKs or SACK.
    FastRecovery,
    /// The sender waits for the retransmission timer, or recovers after it has expired.
    Timeout,
    /// The last segments of a transfer were lost.
    TailLoss,
    /// The sender took reordering for loss.
    Reordering,
    /// The sender retransmitted data that was not lost.
    Spurious,
    /// cwnd grows again after a pause.
    IdleRestart,
    /// Segments of full size do not pass.
    PathMtu,
    /// Nothing passes in either direction.
    Outage,
    /// ACKs are lost or late.
    AckPath,
    /// Everything is sent; it is on its way, or its ACK is.
    RoundTrip,
    /// All data is acknowledged, and the connection closes.
    Teardown,
    /// The evidence does not decide.
    Unknown,
}

impl Limit {
    /// Every limit, in declaration order.
    pub const ALL: [Self; 26] = [
        Self::Handshake,
        Self::Application,
        Self::ApplicationWindow,
        Self::NagleDelayedAck,
        Self::SendBuffer,
        Self::ReceiveWindow,
        Self::SlowReceiver,
        Self::SlowStart,
        Self::Bottleneck,
        Self::CrossTraffic,
        Self::CongestionWindow,
        Self::Pacing,
        Self::Policer,
        Self::Shaper,
        Self::FastRecovery,
        Self::Timeout,
        Self::TailLoss,
        Self::Reordering,
        Self::Spurious,
        Self::IdleRestart,
        Self::PathMtu,
        Self::Outage,
        Self::AckPath,
        Self::RoundTrip,
        Self::Teardown,
        Self::Unknown,
    ];

    /// Whether this is the repair of a loss, needed or not.
    pub const fn is_repair(self) -> bool {
        matches!(
            self,
            Self::FastRecovery
                | Self::Timeout
                | Self::TailLoss
                | Self::Reordering
                | Self::Spurious
                | Self::AckPath
        )
    }

    /// The name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Application => "application",
            Self::ApplicationWindow => "application-window",
            Self::NagleDelayedAck => "nagle-delayed-ack",
            Self::SendBuffer => "send-buffer",
            Self::ReceiveWindow => "receive-window",
            Self::SlowReceiver => "slow-receiver",
            Self::SlowStart => "slow-start",
            Self::Bottleneck => "bottleneck",
            Self::CrossTraffic => "cross-traffic",
            Self::CongestionWindow => "congestion-window",
            Self::Pacing => "pacing",
            Self::Policer => "policer",
            Self::Shaper => "shaper",
            Self::FastRecovery => "fast-recovery",
            Self::Timeout => "timeout",
            Self::TailLoss => "tail-loss",
            Self::Reordering => "reordering",
            Self::Spurious => "spurious",
            Self::IdleRestart => "idle-restart",
            Self::PathMtu => "path-mtu",
            Self::Outage => "outage",
            Self::AckPath => "ack-path",
            Self::RoundTrip => "round-trip",
            Self::Teardown => "teardown",
            Self::Unknown => "unknown",
        }
    }

    /// The limit with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_found_by_its_name() {
        for limit in Limit::ALL {
            assert_eq!(Limit::from_name(limit.name()), Some(limit));
            assert_eq!(Limit::ALL[limit as usize], limit);
        }
        assert_eq!(Limit::from_name("nothing"), None);
    }
}
