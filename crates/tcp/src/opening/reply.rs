//! A segment outside the sequence space: a reset.

use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;

/// A segment that stands outside the sequence: a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reply {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    pub(crate) flags: Flags,
    /// It is of a connection that may have agreed on timestamps: a reset should carry them then (RFC 7323, section 3.2).
    pub(crate) connected: bool,
}

impl Reply {
    /// The reset that makes the sender of `segment` give up (RFC 9293, section 3.10.7.1).
    pub(crate) fn refuse(segment: &Segment) -> Self {
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

/// The answer to a segment for which there is no connection: a reset, or nothing if it was one itself
/// (RFC 9293, section 3.10.7.1).
pub fn refuse(segment: &Segment) -> Option<Segment> {
    (!segment.flags.has(Flags::RST)).then(|| Reply::refuse(segment).segment())
}
