//! The state of losses, and the verdicts of the rules.

use super::scoreboard::Scoreboard;
use crate::ranges::{Range, RangeSet};
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
pub(super) struct LossState {
    pub(super) phase: Phase,
    /// Duplicate ACKs in a row.
    pub(super) dup_acks: u32,
    /// Bytes by which duplicate ACKs widen the window in fast recovery (RFC 5681, section 3.2, steps 3 and 4).
    pub(super) inflation: u32,
    /// The end of the data that was outstanding when the loss was detected (RFC 6582, `recover`; RFC 6675, RecoveryPoint).
    pub(super) recover: u64,
    /// The end of the data that was outstanding when a congestion mark began to reduce the window gradually (TCP_CA_CWR); 0 if
    /// none does.
    pub(super) reduces_until: u64,
    /// Whether a partial ACK has already restarted the timer in this recovery (RFC 6582, section 3.2, step 3).
    pub(super) partial_seen: bool,
    /// The data that is sent next regardless of windows.
    pub(super) resend: Option<Resend>,
    /// SACK reports of the peer; created at the first report.
    pub(super) scoreboard: Option<Scoreboard>,
    /// Whether short segments are outstanding, and cwnd counts packets (`flight/in_packets.rs`).
    pub(super) has_short: bool,
}

/// Segments behind a lost one that may be sent again with it: everything up to `max` was sent, all data ends at `data_end`, and the
/// peer's window at `window_end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joins {
    pub(crate) data_end: u64,
    pub(crate) max: u64,
    pub(crate) window_end: u64,
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
    /// A loss is detected: retransmit, signal it to congestion control, and enter the given phase.
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

/// The state of losses. It takes no memory while there is no sign of a loss.
///
/// It dereferences to its [`LossState`], or to [`QUIET`] if there is none. [`Loss::trouble`] creates one.
#[derive(Debug, Default)]
pub(super) struct Loss(Option<Box<LossState>>);

/// No loss, and no sign of one.
static QUIET: LossState = LossState {
    phase: Phase::Open,
    dup_acks: 0,
    inflation: 0,
    recover: 0,
    reduces_until: 0,
    partial_seen: false,
    resend: None,
    scoreboard: None,
    has_short: false,
};

impl core::ops::Deref for Loss {
    type Target = LossState;

    #[inline]
    fn deref(&self) -> &LossState {
        self.0.as_deref().unwrap_or(&QUIET)
    }
}

impl Loss {
    /// Whether nothing is lost, there is no sign of a loss, and no recent recovery can be confused with a new one.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        self.0.is_none()
    }

    /// The state for changes; it is created if there is none.
    pub(super) fn trouble(&mut self) -> &mut LossState {
        self.0.get_or_insert_default()
    }

    /// The state for changes, if there is one.
    #[inline]
    pub(super) fn known(&mut self) -> Option<&mut LossState> {
        self.0.as_deref_mut()
    }

    /// Everything below `una` is acknowledged, and recovery has processed the ACK. Removes state that is no longer needed.
    #[inline]
    pub(super) fn settle(&mut self, una: u64) {
        if self.0.as_ref().is_some_and(|state| state.is_over(una)) {
            self.0 = None;
        }
    }
}

impl LossState {
    /// The retransmission timer has expired: all data from the first unacknowledged byte on is retransmitted, except data
    /// that SACK has reported (RFC 5681, section 3.1; RFC 6675, section 5.1). It ends when all data that was outstanding at
    /// the timeout is acknowledged.
    pub(super) fn on_new_ack_after_timeout(&self, una: u64) -> OnNewAck {
        if una >= self.recover { OnNewAck::Exit } else { OnNewAck::Ordinary }
    }

    /// Leaves recovery.
    pub(super) fn leave(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
        self.dup_acks = 0;
        self.clear_away();
    }

    /// Everything below `una` is acknowledged: removes SACK reports below it.
    pub(super) fn advance(&mut self, una: u64) {
        self.resend = self.resend.and_then(|resend| resend.rest(una));
        if let Some(board) = &mut self.scoreboard {
            board.advance(una);
            if self.phase == Phase::Open {
                self.clear_away();
            }
        }
    }

    /// Removes an empty scoreboard outside recovery.
    fn clear_away(&mut self) {
        if self.scoreboard.as_ref().is_some_and(|board| board.reported().is_empty()) {
            self.scoreboard = None;
        }
    }

    /// Whether every decision would be the same without the state.
    fn is_over(&self, una: u64) -> bool {
        self.phase == Phase::Open
            && self.recover < una
            && self.reduces_until == 0
            && self.dup_acks == 0
            && self.inflation == 0
            && self.resend.is_none()
            && self.scoreboard.is_none()
            && !self.has_short
    }

    /// Bytes within `range` that the peer reported by SACK.
    pub(super) fn sacked_within(&self, range: Range) -> u64 {
        self.scoreboard.as_ref().map_or(0, |board| board.reported().covered_within(range))
    }

    /// What the peer reported by SACK.
    pub(super) fn reported(&self) -> &RangeSet {
        const NONE: &RangeSet = &RangeSet::new();
        self.scoreboard.as_ref().map_or(NONE, |board| board.reported())
    }

    /// Bytes that the peer reported by SACK.
    pub(super) fn sacked(&self) -> u64 {
        self.scoreboard.as_ref().map_or(0, |board| board.reported().covered())
    }
}
