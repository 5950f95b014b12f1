//! The small state of a connection in TIME-WAIT.

use crate::time::Time;
use crate::wire::seq::Seq;

/// The state of a connection in TIME-WAIT.
///
/// A driver with many connections stores it in its table instead of the [`Connection`](crate::Connection).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeWait {
    /// When 2·MSL have passed.
    pub until: Time,
    /// The next sequence number expected from the peer.
    pub(crate) expected: Seq,
    /// TS.Recent, if timestamps were negotiated.
    pub(crate) ts_recent: Option<u32>,
}

impl TimeWait {
    /// Whether a SYN with this sequence number and timestamp may open a new connection between the same sockets. Its
    /// timestamp, or without one its sequence number, must be beyond all earlier ones (RFC 6191, section 2; RFC 9293,
    /// section 3.6.1, MAY-2).
    pub fn accepts_syn(&self, seq: Seq, timestamp: Option<u32>) -> bool {
        let new_number = seq.distance_from(self.expected) >= 0;
        match self.ts_recent.zip(timestamp) {
            Some((recent, timestamp)) => {
                let later = timestamp.wrapping_sub(recent) as i32;
                later > 0 || (later == 0 && new_number)
            }
            None => new_number,
        }
    }
}
