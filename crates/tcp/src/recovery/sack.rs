//! RFC 6675: which duplicate ACK starts recovery when SACK reports come with them. What is resent is read off the
//! [`super::scoreboard`].

use super::{DupAck, LossState, OnDupAck, Phase};

/// Section 5, steps 1 and 2: the threshold is reached, or the scoreboard says that the first segment is lost; and not
/// again for data that was outstanding at the loss before.
pub(super) fn on_dup_ack(state: &LossState, fact: DupAck) -> OnDupAck {
    let lost = fact.n >= fact.threshold || fact.first_is_lost;
    if state.phase == Phase::Open && lost && fact.una >= state.recover {
        OnDupAck::Enter(Phase::Fast)
    } else {
        OnDupAck::Nothing
    }
}
