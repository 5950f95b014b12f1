//! RFC 5681, section 3.2: fast retransmit and fast recovery. The first ACK of new data ends it.

use super::{DupAck, LossState, OnDupAck, OnNewAck, Phase};

/// Steps 2 to 4.
pub(super) fn on_dup_ack(state: &LossState, fact: DupAck) -> OnDupAck {
    match state.phase {
        Phase::Fast => OnDupAck::Inflate,
        _ if fact.n == fact.threshold => OnDupAck::Enter(Phase::Fast),
        _ => OnDupAck::Nothing,
    }
}

/// Step 6: any ACK of new data ends it.
pub(super) fn on_new_ack() -> OnNewAck {
    OnNewAck::Exit
}
