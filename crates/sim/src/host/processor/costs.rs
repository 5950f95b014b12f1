//! The processor time of each operation of a host, and how a write is handed to TCP.

use netspurt_tcp::Connection;
use netspurt_tcp::segment::Payload;
use netspurt_tcp::time::Span;

/// The processor time of each operation; zero means that it takes no time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Costs {
    /// Preparing the answer to a request that has been read completely, before its first byte is written.
    pub request: Span,
    /// A read.
    pub read: Span,
    /// Each byte read.
    pub byte_read: Span,
    /// A write, in whatever parts it is handed to TCP.
    pub write: Span,
    /// Each byte written.
    pub byte_written: Span,
    /// A segment with data that arrives.
    pub segment_in: Span,
    /// A segment without data that arrives.
    pub ack_in: Span,
    /// Each byte of data that arrives.
    pub byte_in: Span,
    /// A segment with data that leaves.
    pub segment_out: Span,
    /// A segment without data that leaves.
    pub ack_out: Span,
    /// Each byte of data that leaves.
    pub byte_out: Span,
}

impl Costs {
    /// The time to process an arriving segment.
    pub(crate) fn arrival(&self, payload: Payload) -> Span {
        let fixed = if payload.len > 0 { self.segment_in } else { self.ack_in };
        sum(fixed, self.byte_in, u64::from(payload.len))
    }

    /// The time to send a segment.
    pub(crate) fn departure(&self, payload: Payload) -> Span {
        let fixed = if payload.len > 0 { self.segment_out } else { self.ack_out };
        sum(fixed, self.byte_out, u64::from(payload.len))
    }

    /// The time to read this many bytes.
    pub(crate) fn reading(&self, len: u64) -> Span {
        sum(self.read, self.byte_read, len)
    }

    /// The time to hand this many bytes of a write to TCP.
    pub(crate) fn writing(&self, len: u64, part: Part) -> Span {
        let fixed = match part {
            Part::First => self.write,
            Part::Later => Span::ZERO,
        };
        sum(fixed, self.byte_written, len)
    }
}

fn sum(fixed: Span, each: Span, count: u64) -> Span {
    Span::from_ps(fixed.as_ps().saturating_add(each.saturating_mul(count).as_ps()))
}

/// Which part of a write is handed to TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The first part.
    First,
    /// A later part.
    Later,
}

/// How a host hands an application's write to TCP. After each part TCP is asked for segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Handover {
    /// In one part.
    #[default]
    Whole,
    /// In buffers of this many bytes, like BSD, whose mbuf clusters hold 2048 bytes.
    Clusters(u32),
    /// In segments: the first part fills up the last unsent segment, if it is short. If a segment was already waiting
    /// unsent, TCP is not asked for segments before the write is over (Linux 2.2, `tcp_do_sendmsg()`).
    Segments,
}

impl Handover {
    /// How many of the `left` bytes of a write are handed over next.
    pub(crate) fn part(self, left: u64, connection: &Connection) -> u64 {
        let most = match self {
            Self::Whole => left,
            Self::Clusters(size) => u64::from(size),
            Self::Segments => {
                let segment = u64::from(connection.segment_payload()).max(1);
                segment - connection.unsent() % segment
            }
        };
        left.min(most.max(1))
    }

    /// Whether TCP is asked for segments after a part that is not the last of its write.
    pub(crate) fn asks_behind_part(self, connection: &Connection) -> bool {
        match self {
            Self::Whole | Self::Clusters(_) => true,
            Self::Segments => connection.unsent() == 0,
        }
    }
}
