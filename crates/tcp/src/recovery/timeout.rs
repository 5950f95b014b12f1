//! The retransmission timer ran out: go back to the first unacknowledged byte and send everything again, but for what
//! SACK says has arrived (RFC 5681, section 3.1; RFC 6675, section 5.1).

use super::{LossState, OnNewAck};

/// Over when all that was outstanding at the timeout is acknowledged.
pub(super) fn on_new_ack(state: &LossState, una: u64) -> OnNewAck {
    if una >= state.recover { OnNewAck::Exit } else { OnNewAck::Ordinary }
}
