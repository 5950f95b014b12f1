//! Loss recovery: which data is retransmitted, and when. Congestion control is separate: it is only told of each loss.
//!
//! The rules of each kind are pure functions, one file for each kind. They read `LossState` and return a verdict.
//! `send/ack/` applies the verdict.

mod flight;
pub(crate) mod nak;
pub(crate) mod newreno;
pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod reno;
pub mod rto;
pub(crate) mod sack;
pub(crate) mod scoreboard;
mod state;
pub(crate) mod tahoe;
pub(crate) mod tail_probe;
pub(crate) mod timeout;
pub(crate) mod undo;

pub(crate) use state::{DupAck, LossState, OnDupAck, OnNewAck, Phase, Resend};

use crate::config::{DupAcks, Recovery};
use crate::ranges::{Range, RangeSet};

/// The state of losses. It takes no memory while there is no sign of a loss.
///
/// It dereferences to its [`LossState`], or to [`QUIET`] if there is none. [`Loss::trouble`] creates one.
#[derive(Debug, Default)]
pub(crate) struct Loss(Option<Box<LossState>>);

/// No loss, and no sign of one.
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
    /// Whether nothing is lost, there is no sign of a loss, and no recent recovery can be confused with a new one.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.0.is_none()
    }

    /// The state for changes; it is created if there is none.
    pub(crate) fn trouble(&mut self) -> &mut LossState {
        self.0.get_or_insert_default()
    }

    /// The state for changes, if there is one.
    #[inline]
    pub(crate) fn known(&mut self) -> Option<&mut LossState> {
        self.0.as_deref_mut()
    }

    /// Everything below `una` is acknowledged, and recovery has processed the ACK. Removes state that is no longer needed.
    #[inline]
    pub(crate) fn settle(&mut self, una: u64) {
        if self.0.as_ref().is_some_and(|state| state.is_over(una)) {
            self.0 = None;
        }
    }
}

impl LossState {
    /// Applies the rule of the configured kind to a duplicate ACK.
    pub(crate) fn on_dup_ack(&self, kind: Recovery, beside_naks: DupAcks, fact: DupAck) -> OnDupAck {
        match kind {
            Recovery::Timeout => OnDupAck::Nothing,
            Recovery::Tahoe => tahoe::on_dup_ack(fact),
            Recovery::Reno => reno::on_dup_ack(self, fact),
            Recovery::NewReno => newreno::on_dup_ack(self, fact),
            Recovery::Sack if self.scoreboard.is_some() => sack::on_dup_ack(self, fact),
            Recovery::Rack if fact.by_time => OnDupAck::Nothing,
            Recovery::Sack | Recovery::Rack => newreno::on_dup_ack(self, fact),
            Recovery::Nak => match beside_naks {
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

    /// Everything below `una` is acknowledged: removes SACK reports below it.
    pub(crate) fn advance(&mut self, una: u64) {
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
        if self.scoreboard.as_ref().is_some_and(|board| board.sacked.is_empty()) {
            self.scoreboard = None;
        }
    }

    /// Whether every decision would be the same without the state.
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
