//! RFC 5681, section 3.2: fast retransmit and fast recovery, over at the first ACK of new data.

use super::{DupAck, LossState, OnDupAck, OnNewAck, Phase};

/// Steps 2 to 4.
pub(super) fn on_dup_ack(state: &LossState, fact: DupAck) -> OnDupAck {
    match state.phase {
        Phase::Fast => OnDupAck::Inflate,
        _ if fact.n == fact.threshold => OnDupAck::Enter(Phase::Fast),
        _ => OnDupAck::Nothing,
    }
}

/// Step 6: the next ACK of new data ends it, however much it acknowledges.
pub(super) fn on_new_ack() -> OnNewAck {
    OnNewAck::Exit
}
