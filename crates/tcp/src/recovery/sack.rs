//! RFC 6675: which duplicate ACK with SACK reports starts recovery. [`super::scoreboard`] decides what is
//! retransmitted.

use super::{DupAck, LossState, OnDupAck, Phase};

/// Section 5, steps 1 and 2: the threshold is reached, or the first segment is lost according to the scoreboard. Data
/// that was outstanding at the previous loss does not start another recovery.
pub(super) fn on_dup_ack(state: &LossState, fact: DupAck) -> OnDupAck {
    let lost = fact.n >= fact.threshold || fact.first_is_lost;
    if state.phase == Phase::Open && lost && fact.una >= state.recover {
        OnDupAck::Enter(Phase::Fast)
    } else {
        OnDupAck::Nothing
    }
}
