//! The retransmission timer has expired: all data from the first unacknowledged byte on is retransmitted, except data
//! that SACK has reported (RFC 5681, section 3.1; RFC 6675, section 5.1).

use super::{LossState, OnNewAck};

/// It ends when all data that was outstanding at the timeout is acknowledged.
pub(super) fn on_new_ack(state: &LossState, una: u64) -> OnNewAck {
    if una >= state.recover { OnNewAck::Exit } else { OnNewAck::Ordinary }
}
