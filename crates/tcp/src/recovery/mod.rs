//! Loss recovery: what is resent, and when. Apart from congestion control, which only learns that a loss was noticed.
//!
//! The rules of each kind are pure functions, one file each, that look at `LossState` and return a verdict;
//! `send/ack/` carries the verdict out.

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
