//! What a connection tells whoever watches it.

use super::report::ConnectionReport;
use super::retransmission::Cause;
use super::spurious::Proof;
use super::who::{ConnectionId, Endpoints};
use crate::conversation::{Side, Told};
use crate::stamp::Stamp;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;

/// Hears of connections while a capture is read. Every method does nothing unless it is written anew; what nobody listens
/// to costs next to nothing.
///
/// For one connection the calls come in order: `opened`, then the others by time, then `closed`. Connections are mixed
/// as their packets are.
pub trait Watch {
    /// The first packet of a connection.
    fn opened(&mut self, _id: ConnectionId, _who: &Endpoints) {}
    /// A segment was seen; what it comes to is told afterwards.
    fn segment(&mut self, _id: ConnectionId, _seen: &Seen<'_>) {}
    /// A round-trip time was measured.
    fn sample(&mut self, _id: ConnectionId, _sample: &RttSample) {}
    /// Something out of the ordinary happened.
    fn happened(&mut self, _id: ConnectionId, _happened: &Happened) {}
    /// More or fewer bytes are on their way, or may be.
    fn flight(&mut self, _id: ConnectionId, _flight: &Flight) {}
    /// The connection is over, or forgotten, or the capture has ended.
    fn closed(&mut self, _id: ConnectionId, _report: &ConnectionReport) {}
}

/// Nobody.
impl Watch for () {}

/// A segment of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen<'a> {
    /// When.
    pub at: Stamp,
    /// Who sent it.
    pub side: Side,
    /// What it says of both streams.
    pub told: &'a Told,
    /// The segment itself.
    pub segment: &'a Segment,
}

/// How a round-trip time was measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// From a SYN to the segment that acknowledges it.
    Handshake,
    /// From data sent once to the ACK that covers it (Karn's rule; RFC 6298, section 3).
    Karn,
    /// From the segment whose timestamp is echoed to the ACK that echoes it (RFC 7323, section 4).
    Timestamps,
}

impl Method {
    /// Every method, in declaration order.
    pub const ALL: [Self; 3] = [Self::Handshake, Self::Karn, Self::Timestamps];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Karn => "karn",
            Self::Timestamps => "timestamps",
        }
    }
}

/// A round-trip time from the place of capture to the receiver of the data, and back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// When the ACK was seen.
    pub at: Stamp,
    /// When the segment was seen that it answers.
    pub sent: Stamp,
    /// Who sent that segment.
    pub side: Side,
    /// Place in its stream up to which the ACK acknowledges.
    pub ack: i64,
    /// Length of that segment, as far as it was still outstanding; a SYN and a FIN count one each.
    pub len: u32,
    /// How it was measured.
    pub method: Method,
}

impl RttSample {
    /// The round-trip time.
    pub const fn rtt(&self) -> Span {
        self.at.since(self.sent)
    }
}

/// Bytes on their way, after a segment of either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// When.
    pub at: Stamp,
    /// Whose bytes.
    pub side: Side,
    /// Bytes sent and neither acknowledged nor reported by SACK.
    pub bytes: u64,
    /// Bytes that the receiver permits from its last acknowledgment on.
    pub window: u32,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happened {
    /// When.
    pub at: Stamp,
    /// Who sent the data concerned.
    pub side: Side,
    /// Place of its first byte in its stream.
    pub start: i64,
    /// Its length; a SYN and a FIN count one each.
    pub len: u32,
    /// What happened.
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It was sent before, and goes again.
    Retransmitted {
        /// Why, by all that was seen.
        cause: Cause,
        /// How long after it was seen last, if it was seen before.
        after: Option<Span>,
    },
    /// A retransmission turned out to have been needless.
    Spurious {
        /// What shows it.
        proof: Proof,
    },
    /// It came later than what was sent after it.
    Reordered {
        /// By how many segments with data (RFC 4737, section 4.2.1).
        extent: u64,
        /// By how long (RFC 4737, section 4.2.2).
        late: Span,
    },
    /// The same packet came twice: nobody could have sent it again so soon.
    Duplicated,
    /// An ACK that acknowledges nothing new, as RFC 5681, section 2, defines it; this is the `count`th in a row.
    DuplicateAck {
        /// How many there were since the last that acknowledged something.
        count: u32,
    },
    /// The receiver closed its window.
    ZeroWindow,
    /// A closed window was probed.
    WindowProbe,
    /// The peer was asked whether it is still there.
    KeepAlive,
    /// It was acknowledged, but not captured.
    Unseen,
}

impl Event {
    /// The name used in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Retransmitted { .. } => "retransmitted",
            Self::Spurious { .. } => "spurious",
            Self::Reordered { .. } => "reordered",
            Self::Duplicated => "duplicated",
            Self::DuplicateAck { .. } => "duplicate-ack",
            Self::ZeroWindow => "zero-window",
            Self::WindowProbe => "window-probe",
            Self::KeepAlive => "keep-alive",
            Self::Unseen => "unseen",
        }
    }

    /// Why it happened, or what shows it; empty where there is nothing to add.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Retransmitted { cause, .. } => cause.name(),
            Self::Spurious { proof } => proof.name(),
            _ => "",
        }
    }
}

/// A place to stand for all that happens with one segment: what it concerns, when, and who hears of it.
pub(super) struct Scene<'a, W> {
    pub(super) id: ConnectionId,
    pub(super) at: Stamp,
    pub(super) watch: &'a mut W,
}

impl<W: Watch> Scene<'_, W> {
    pub(super) fn tell(&mut self, side: Side, start: i64, len: u32, event: Event) {
        let happened = Happened { at: self.at, side, start, len, event };
        self.watch.happened(self.id, &happened);
    }
}
