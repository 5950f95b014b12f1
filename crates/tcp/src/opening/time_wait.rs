//! What has to be known of a connection that waits in TIME-WAIT: little enough to be kept without the connection.

use crate::time::Time;
use crate::wire::seq::Seq;

/// What is left of a connection in TIME-WAIT.
///
/// A driver with many of them keeps this in its table instead of the [`Connection`], under the pair of sockets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeWait {
    /// When 2·MSL are over.
    pub until: Time,
    /// The next sequence number expected from the peer.
    pub(crate) expected: Seq,
    /// TS.Recent, if timestamps were agreed on.
    pub(crate) ts_recent: Option<u32>,
}

impl TimeWait {
    /// Whether a SYN of this sequence number and timestamp may open a new connection between the same sockets: its
    /// timestamp, or without one its sequence number, lies beyond all that was seen (RFC 6191, section 2; RFC 9293,
    /// section 3.6.1, MAY-2).
    pub fn admits(&self, seq: Seq, timestamp: Option<u32>) -> bool {
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
