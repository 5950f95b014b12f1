//! 4.3BSD-Tahoe (Jacobson, "Congestion Avoidance and Control", 1988): the third duplicate ACK causes the
//! retransmission of one segment, and the sender then continues with new data. Congestion control reduces the window.
//! There is no recovery phase, so later duplicate ACKs can cause another retransmission.

use super::{DupAck, OnDupAck, Phase};

/// Only the duplicate ACK that reaches the threshold counts; later ones are ignored.
pub(super) fn on_dup_ack(fact: DupAck) -> OnDupAck {
    if fact.n == fact.threshold { OnDupAck::Enter(Phase::Open) } else { OnDupAck::Nothing }
}
