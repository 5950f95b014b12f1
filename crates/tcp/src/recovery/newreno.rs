//! RFC 6582: recovery lasts until all data that was outstanding at the loss is acknowledged. Each partial ACK shows the
//! next lost segment.

use super::{DupAck, LossState, OnDupAck, OnNewAck, Phase};

/// Section 3.2, step 2: only if the ACK covers more than `recover`. Otherwise spurious retransmissions after a timeout
/// could cause a second reduction: their duplicate ACKs acknowledge exactly the data that was outstanding at the timeout.
pub(super) fn on_dup_ack(state: &LossState, fact: DupAck) -> OnDupAck {
    match state.phase {
        Phase::Fast => OnDupAck::Inflate,
        Phase::Open if fact.n == fact.threshold && fact.una > state.recover => OnDupAck::Enter(Phase::Fast),
        Phase::Open | Phase::Loss => OnDupAck::Nothing,
    }
}

/// Section 3.2, step 3.
pub(super) fn on_new_ack(state: &LossState, una: u64) -> OnNewAck {
    if una >= state.recover { OnNewAck::Exit } else { OnNewAck::Partial }
}
