//! 4.3BSD-Tahoe (Jacobson, "Congestion Avoidance and Control", 1988): the third duplicate ACK resends one segment and
//! the sender goes on where it was; the window's collapse is congestion control's. There is no recovery phase, so
//! nothing keeps a later row of duplicate ACKs from starting over.

use super::{DupAck, OnDupAck, Phase};

/// Exactly the threshold counts; those behind it mean nothing.
pub(super) fn on_dup_ack(fact: DupAck) -> OnDupAck {
    if fact.n == fact.threshold { OnDupAck::Enter(Phase::Open) } else { OnDupAck::Nothing }
}
