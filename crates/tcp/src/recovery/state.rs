//! The state of losses, and the verdicts of the rules.

use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use crate::record::reason::Reason;

/// The phase of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Recovery from a loss that duplicate ACKs or SACK have revealed.
    Fast,
    /// Recovery from a timeout: outstanding data is retransmitted in order.
    Loss,
}

/// The input of the rules.
#[derive(Debug, Default)]
pub(crate) struct LossState {
    pub(crate) phase: Phase,
    /// Duplicate ACKs in a row.
    pub(crate) dup_acks: u32,
    /// Bytes by which duplicate ACKs widen the window in fast recovery (RFC 5681, section 3.2, steps 3 and 4).
    pub(crate) inflation: u32,
    /// The end of the data that was outstanding when the loss was detected (RFC 6582, `recover`; RFC 6675, RecoveryPoint).
    pub(crate) recover: u64,
    /// Whether a partial ACK has already restarted the timer in this recovery (RFC 6582, section 3.2, step 3).
    pub(crate) partial_seen: bool,
    /// The data that is sent next regardless of windows.
    pub(crate) resend: Option<Resend>,
    /// SACK reports of the peer; created at the first report.
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
}

/// The data that is sent next regardless of windows, and the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resend {
    pub(crate) start: u64,
    /// Positions, a FIN among them.
    pub(crate) len: u32,
    pub(crate) reason: Reason,
}

impl Resend {
    /// All of `range`, if there is any.
    pub(crate) fn new(range: Range, reason: Reason) -> Option<Self> {
        let len = u32::try_from(range.len()).unwrap_or(u32::MAX);
        (len > 0).then_some(Self { start: range.start, len, reason })
    }

    /// The rest of it from `position` on.
    pub(crate) fn rest(self, position: u64) -> Option<Self> {
        let end = self.start + u64::from(self.len);
        Self::new(Range::new(self.start.max(position), end), self.reason)
    }
}

/// The verdict on a duplicate ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnDupAck {
    /// Nothing.
    Nothing,
    /// A loss is detected: retransmit, tell congestion control, and enter the given phase.
    Enter(Phase),
    /// A segment has left the network: widen the window by one.
    Inflate,
}

/// The verdict on an ACK of new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnNewAck {
    /// Nothing special.
    Ordinary,
    /// A partial ACK in recovery: it shows the next lost segment.
    Partial,
    /// Recovery ends.
    Exit,
}

/// The facts of a duplicate ACK that rules may need beside the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DupAck {
    /// Its number in the sequence of duplicate ACKs, from 1.
    pub(crate) n: u32,
    /// Duplicate ACKs that mean a loss.
    pub(crate) threshold: u32,
    /// First unacknowledged position.
    pub(crate) una: u64,
    /// Whether the first unacknowledged segment is lost according to the scoreboard.
    pub(crate) first_is_lost: bool,
    /// Whether losses are detected by time (RFC 8985).
    pub(crate) by_time: bool,
    /// Whether the peer is known to send NAKs: one was received, or they were negotiated in the SYN segments.
    pub(crate) peer_sends_naks: bool,
}
