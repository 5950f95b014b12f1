//! Resets.

use crate::config::StateMachine;
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;

/// A reset, which is independent of the send sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    pub(crate) flags: Flags,
    /// The reset belongs to a connection. If the connection has negotiated timestamps, the reset should carry them (RFC
    /// 7323, section 3.2).
    pub(crate) connected: bool,
}

impl Reply {
    /// The reset in reply to `segment` (RFC 9293, section 3.10.7.1).
    pub(crate) fn reset_for(segment: &Segment) -> Self {
        if segment.flags.has(Flags::ACK) {
            Self { seq: segment.ack, ack: Seq(0), flags: Flags::RST, connected: false }
        } else {
            let ack = segment.seq.plus(segment.seq_len());
            Self { seq: Seq(0), ack, flags: Flags::RST | Flags::ACK, connected: false }
        }
    }

    /// The reset of an abort (section 3.10.5).
    pub(crate) fn abort(seq: Seq, ack: Seq) -> Self {
        Self { seq, ack, flags: Flags::RST | Flags::ACK, connected: true }
    }

    pub(crate) fn segment(self) -> Segment {
        Segment { seq: self.seq, ack: self.ack, flags: self.flags, header_len: 20, ..Segment::default() }
    }
}

/// The reply to a segment that belongs to no connection: a reset, or `None` if the segment is a reset (RFC 9293,
/// section 3.10.7.1).
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    (!segment.flags.has(Flags::RST)).then(|| Reply::reset_for(segment).segment())
}

/// The reply of a port that listens to a segment that opens no connection: a reset if the segment has an ACK, else
/// `None`. A reset is ignored, and a segment without SYN, ACK and RST is dropped (section 3.10.7.2). With
/// [`StateMachine::Freebsd`] a SYN-ACK is dropped too.
pub fn reset_in_listen_for(segment: &Segment, rules: StateMachine) -> Option<Segment> {
    let dropped = rules == StateMachine::Freebsd && segment.flags.has(Flags::SYN);
    if segment.flags.has(Flags::ACK) && !dropped { reset_for(segment) } else { None }
}
