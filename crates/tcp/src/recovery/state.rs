//! What is known of losses, and what the rules answer.

use super::scoreboard::Scoreboard;
use crate::ranges::Range;
use crate::record::reason::Reason;

/// Where the sender stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// A loss noticed by duplicate ACKs or SACK is being repaired.
    Fast,
    /// A timeout is being repaired: what was outstanding is sent again, in order.
    Loss,
}

/// What the rules look at.
#[derive(Debug, Default)]
pub(crate) struct LossState {
    pub(crate) phase: Phase,
    /// Duplicate ACKs in a row.
    pub(crate) dup_acks: u32,
    /// Bytes by which duplicate ACKs widen the window in fast recovery (RFC 5681, section 3.2, steps 3 and 4).
    pub(crate) inflation: u32,
    /// Everything below was outstanding when the loss was noticed (RFC 6582, `recover`; RFC 6675, RecoveryPoint).
    pub(crate) recover: u64,
    /// Whether a partial ACK has already restarted the timer in this recovery (RFC 6582, section 3.2, step 3).
    pub(crate) partial_seen: bool,
    /// What goes out next, whatever the windows say.
    pub(crate) resend: Option<Resend>,
    /// What the peer has reported by SACK; made when the first report comes.
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
}

/// What goes out next, whatever the windows say, and why.
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

    /// What is left of it from `position` on.
    pub(crate) fn rest(self, position: u64) -> Option<Self> {
        let end = self.start + u64::from(self.len);
        Self::new(Range::new(self.start.max(position), end), self.reason)
    }
}

/// What a duplicate ACK asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnDupAck {
    /// Nothing.
    Nothing,
    /// A loss is noticed: resend, tell congestion control, and enter the given phase.
    Enter(Phase),
    /// A segment has left the network: widen the window by one.
    Inflate,
}

/// What an ACK of new data asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnNewAck {
    /// It is an ordinary one.
    Ordinary,
    /// In recovery, not all that was outstanding is acknowledged: the next hole is known.
    Partial,
    /// Recovery is over.
    Exit,
}

/// The facts of a duplicate ACK that rules may need beside the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DupAck {
    /// Which one in a row, from 1.
    pub(crate) n: u32,
    /// Duplicate ACKs that mean a loss.
    pub(crate) threshold: u32,
    /// First unacknowledged position.
    pub(crate) una: u64,
    /// Whether the scoreboard says that the first unacknowledged segment is lost.
    pub(crate) first_is_lost: bool,
    /// Whether losses are noticed by time (RFC 8985).
    pub(crate) by_time: bool,
    /// Whether the peer is known to send NAKs: one has come, or the SYN segments agreed on them.
    pub(crate) peer_sends_naks: bool,
}
