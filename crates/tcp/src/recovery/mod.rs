//! Loss recovery: what is resent, and when. Apart from congestion control, which only learns that a loss was noticed.
//!
//! The rules of each kind are pure functions, one file each, that look at [`LossState`] and return a verdict;
//! [`crate::ack::process`] carries the verdict out.

mod flight;
#[cfg(test)]
mod flight_tests;
#[cfg(test)]
mod journal;
pub(crate) mod nak;
pub(crate) mod newreno;
pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod reno;
pub mod rto;
pub(crate) mod sack;
pub(crate) mod scoreboard;
#[cfg(test)]
mod scoreboard_tests;
pub(crate) mod tahoe;
pub(crate) mod tail_probe;
pub(crate) mod timeout;
pub(crate) mod undo;

use crate::config::{Config, DupAcks, Recovery};
use crate::ranges::{Range, RangeSet};
use crate::record::reason::Reason;
use scoreboard::Scoreboard;

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

/// What is known of losses; nothing is kept where there is nothing to know.
///
/// It reads as the [`LossState`] that it holds, or as [`QUIET`]; [`Loss::trouble`] makes one to be changed.
#[derive(Debug, Default)]
pub(crate) struct Loss(Option<Box<LossState>>);

/// No loss, nor a hint at one.
static QUIET: LossState = LossState {
    phase: Phase::Open,
    dup_acks: 0,
    inflation: 0,
    recover: 0,
    partial_seen: false,
    resend: None,
    scoreboard: None,
};

impl core::ops::Deref for Loss {
    type Target = LossState;

    #[inline]
    fn deref(&self) -> &LossState {
        self.0.as_deref().unwrap_or(&QUIET)
    }
}

impl Loss {
    /// Nothing is lost, nothing hints at it, and no loss lies so near that its repair could not be told from another's.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.0.is_none()
    }

    /// The state, to be changed.
    pub(crate) fn trouble(&mut self) -> &mut LossState {
        self.0.get_or_insert_default()
    }

    /// The state, to be changed if there is one.
    #[inline]
    pub(crate) fn known(&mut self) -> Option<&mut LossState> {
        self.0.as_deref_mut()
    }

    /// Everything below `una` was acknowledged, and recovery has heard of it. What is over is forgotten.
    #[inline]
    pub(crate) fn settle(&mut self, una: u64) {
        if self.0.as_ref().is_some_and(|state| state.is_over(una)) {
            self.0 = None;
        }
    }
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

impl LossState {
    /// Applies the rule of the configured kind to a duplicate ACK.
    pub(crate) fn on_dup_ack(&self, config: &Config, fact: DupAck) -> OnDupAck {
        match config.recovery {
            Recovery::Timeout => OnDupAck::Nothing,
            Recovery::Tahoe => tahoe::on_dup_ack(fact),
            Recovery::Reno => reno::on_dup_ack(self, fact),
            Recovery::NewReno => newreno::on_dup_ack(self, fact),
            Recovery::Sack if self.scoreboard.is_some() => sack::on_dup_ack(self, fact),
            Recovery::Rack if fact.by_time => OnDupAck::Nothing,
            Recovery::Sack | Recovery::Rack => newreno::on_dup_ack(self, fact),
            Recovery::Nak => match config.dup_acks_beside_naks {
                DupAcks::Ignored if fact.peer_sends_naks => OnDupAck::Nothing,
                DupAcks::Ignored | DupAcks::Counted => tahoe::on_dup_ack(fact),
            },
        }
    }

    /// Applies the rule of the configured kind to an ACK of everything below `una`.
    pub(crate) fn on_new_ack(&self, kind: Recovery, una: u64) -> OnNewAck {
        match (self.phase, kind) {
            (Phase::Open, _) => OnNewAck::Ordinary,
            (Phase::Loss, _) => timeout::on_new_ack(self, una),
            (Phase::Fast, Recovery::Reno) => reno::on_new_ack(),
            (Phase::Fast, _) => newreno::on_new_ack(self, una),
        }
    }

    /// Leaves recovery.
    pub(crate) fn leave(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
        self.dup_acks = 0;
        self.clear_away();
    }

    /// Everything below `una` was acknowledged: what was reported there is of no use any more.
    pub(crate) fn advance(&mut self, una: u64) {
        self.resend = self.resend.and_then(|resend| resend.rest(una));
        if let Some(board) = &mut self.scoreboard {
            board.advance(una);
            if self.phase == Phase::Open {
                self.clear_away();
            }
        }
    }

    /// An empty scoreboard is no scoreboard: outside recovery it says nothing.
    fn clear_away(&mut self) {
        if self.scoreboard.as_ref().is_some_and(|board| board.sacked.is_empty()) {
            self.scoreboard = None;
        }
    }

    /// Nothing would be decided otherwise without it.
    fn is_over(&self, una: u64) -> bool {
        self.phase == Phase::Open
            && self.recover < una
            && self.dup_acks == 0
            && self.inflation == 0
            && self.resend.is_none()
            && self.scoreboard.is_none()
    }

    /// Bytes within `range` that the peer reported by SACK.
    pub(crate) fn sacked_within(&self, range: Range) -> u64 {
        self.scoreboard.as_ref().map_or(0, |board| board.sacked.covered_within(range))
    }

    /// What the peer reported by SACK.
    pub(crate) fn reported(&self) -> &RangeSet {
        const NONE: &RangeSet = &RangeSet::new();
        self.scoreboard.as_ref().map_or(NONE, |board| &board.sacked)
    }

    /// Bytes that the peer reported by SACK.
    pub(crate) fn sacked(&self) -> u64 {
        self.scoreboard.as_ref().map_or(0, |board| board.sacked.covered())
    }
}
