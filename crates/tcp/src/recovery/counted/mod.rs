//! Recovery without SACK as in Linux: each duplicate ACK counts as the report of one segment (`tcp_add_reno_sack()`).
//!
//! How many segments have arrived is known, but not which ones. Counted segments are not in the network, so cwnd is not
//! inflated, and PRR, undo and F-RTO apply as with SACK. Duplicate ACKs and partial ACKs show the next lost segment
//! (`tcp_newreno_mark_lost()`); times show none.
//!
//! The rules are here; `applied.rs` applies them.

mod applied;

use super::{LossState, OnNewAck, Phase};

/// The bytes that duplicate ACKs report (`sacked_out`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counted(u32);

impl Counted {
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.0)
    }

    /// A duplicate ACK reports a segment of `mss` bytes; all reports together are at most `most` bytes
    /// (`tcp_limit_reno_sacked()`). Returns the bytes that are newly reported.
    fn add(&mut self, mss: u64, most: u64) -> u64 {
        let before = self.bytes();
        let after = (before + mss).min(most).max(before);
        self.0 = u32::try_from(after).unwrap_or(u32::MAX);
        after - before
    }

    /// `acked` bytes are acknowledged. One segment of them fills the hole; the others had been counted
    /// (`tcp_remove_reno_sacks()`). Returns the bytes that are newly delivered, at least a segment.
    fn acknowledge(&mut self, acked: u64, mss: u64) -> u64 {
        let newly = acked.saturating_sub(self.bytes()).max(mss.min(acked));
        self.0 = self.0.saturating_sub(u32::try_from(acked.saturating_sub(mss)).unwrap_or(u32::MAX));
        newly
    }
}

/// An ACK of everything below `una` in fast recovery. Recovery ends only with an ACK beyond the data that was outstanding
/// at the loss: duplicate ACKs of that data must not begin another one (`tcp_is_non_sack_preventing_reopen()`).
pub(super) fn on_new_ack(state: &LossState, una: u64) -> OnNewAck {
    if una > state.recover { OnNewAck::Exit } else { OnNewAck::Partial }
}

/// The same after a timeout: it ends with an ACK beyond that data, too.
pub(super) fn on_new_ack_after_timeout(state: &LossState, una: u64) -> OnNewAck {
    if una > state.recover { OnNewAck::Exit } else { OnNewAck::Ordinary }
}

/// Whether the first outstanding segment, at `una`, is lost. `enough`: bytes reported by the duplicate ACKs that reveal a
/// loss. `advanced`: the present ACK acknowledges new data.
fn shows_loss(state: &LossState, counted: Counted, una: u64, enough: u64, advanced: bool) -> bool {
    match state.phase {
        Phase::Open => counted.bytes() >= enough && una > state.recover,
        Phase::Fast => advanced && una < state.recover,
        Phase::Loss => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn an_ack_delivers_what_the_duplicates_had_not_reported_and_at_least_a_segment() {
        let mut counted = Counted::default();
        (0..3).for_each(|_| assert_eq!(counted.add(MSS, 20 * MSS), MSS));
        assert_eq!(counted.acknowledge(2 * MSS, MSS), MSS, "both count, and the one in the hole");
        assert_eq!(counted.bytes(), 2 * MSS);
        assert_eq!(counted.acknowledge(6 * MSS, MSS), 4 * MSS);
        assert_eq!(counted.bytes(), 0);
    }

    #[test]
    fn what_is_counted_leaves_room_for_the_lost_segment() {
        let mut counted = Counted::default();
        assert_eq!(
            [counted.add(MSS, 2 * MSS), counted.add(MSS, 2 * MSS), counted.add(MSS, 2 * MSS)],
            [MSS, MSS, 0]
        );
    }
}
