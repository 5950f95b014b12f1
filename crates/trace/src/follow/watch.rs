//! The events of a connection, and the trait that receives them.

use super::endpoints::{ConnectionId, Endpoints};
use super::report::ConnectionReport;
use super::retransmission::Cause;
use crate::conversation::{Side, StreamFields};
use crate::follow::retransmission::spurious::Proof;
use crate::stamp::Stamp;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;

/// Receives the events of connections while a capture is read. By default every method does nothing; events that are not
/// used cost next to nothing.
///
/// For each connection the calls are in this order: `opened`, the others by time, `closed`. Calls of different
/// connections are interleaved like their packets.
pub trait Watch {
    /// The first packet of a connection.
    fn opened(&mut self, _id: ConnectionId, _who: &Endpoints) {}
    /// A segment was captured. Its events follow.
    fn segment(&mut self, _id: ConnectionId, _seen: &Seen<'_>) {}
    /// An RTT was measured.
    fn sample(&mut self, _id: ConnectionId, _sample: &RttSample) {}
    /// Data of `_side` echoed the timestamp of an ACK that was captured `_span` earlier: the RTT between the capture point
    /// and the sender, plus the time that the sender had nothing to send.
    fn turnaround(&mut self, _id: ConnectionId, _side: Side, _at: Stamp, _span: Span) {}
    /// An event.
    fn happened(&mut self, _id: ConnectionId, _happened: &Happened) {}
    /// The number of bytes in flight, or the window, has changed.
    fn flight(&mut self, _id: ConnectionId, _flight: &Flight) {}
    /// The connection is silent and has had few segments. Its state may be deleted, if [`Watch::wakes`] asks for it.
    fn rests(&mut self, _id: ConnectionId) {}
    /// A connection that rested has another segment, or has ended. If this returns true, all its calls so far are repeated now,
    /// from [`Watch::opened`] on, and [`Watch::awake`] follows them.
    fn wakes(&mut self, _id: ConnectionId) -> bool {
        false
    }
    /// The repeated calls are over.
    fn awake(&mut self, _id: ConnectionId) {}
    /// The connection has ended, its state was dropped, or the capture has ended.
    fn closed(&mut self, _id: ConnectionId, _report: &ConnectionReport) {}
}

/// Ignores all events.
impl Watch for () {}

/// A segment of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen<'a> {
    /// Number of its packet in the capture, from 1 as in Wireshark.
    pub number: u64,
    /// Time of capture.
    pub at: Stamp,
    /// Its sender.
    pub side: Side,
    /// Its fields as stream positions.
    pub fields: &'a StreamFields,
    /// The segment itself.
    pub segment: &'a Segment,
}

/// How an RTT was measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// From a SYN to the segment that acknowledges it.
    Handshake,
    /// From data sent once to the ACK that covers it (Karn's rule; RFC 6298, section 3).
    Karn,
    /// From a segment to the ACK that echoes its timestamp (RFC 7323, section 4).
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

/// An RTT between the capture point and the receiver of the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// When the ACK was captured.
    pub at: Stamp,
    /// When the acknowledged segment was captured.
    pub sent: Stamp,
    /// The sender of that segment.
    pub side: Side,
    /// Cumulative acknowledgment as a position in its stream.
    pub ack: i64,
    /// Length of that segment, as far as it was outstanding; SYN and FIN count one each.
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

/// Bytes in flight after a segment of either side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// When.
    pub at: Stamp,
    /// The sender of the bytes.
    pub side: Side,
    /// Bytes sent and neither acknowledged nor reported by SACK.
    pub bytes: u64,
    /// Receive window in bytes, relative to the last acknowledgment.
    pub window: u32,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happened {
    /// Time of the event.
    pub at: Stamp,
    /// The sender of the data.
    pub side: Side,
    /// Position of its first byte.
    pub start: i64,
    /// Its length; SYN and FIN count one each.
    pub len: u32,
    /// The kind of the event.
    pub event: Event,
}

/// The kinds of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The data was retransmitted.
    Retransmitted {
        /// The cause, as far as the capture shows it.
        cause: Cause,
        /// Time since its last transmission, if that was captured.
        after: Option<Span>,
    },
    /// A retransmission was spurious.
    Spurious {
        /// The proof.
        proof: Proof,
    },
    /// The segment arrived after segments that were sent later.
    Reordered {
        /// Reordering extent: the number of such segments with data (RFC 4737, section 4.2.1).
        extent: u64,
        /// Late time (RFC 4737, section 4.2.2).
        late: Span,
    },
    /// A copy that the network or the capture made; it arrived too soon for a retransmission.
    Duplicated,
    /// A duplicate ACK (RFC 5681, section 2); `count` of them are consecutive.
    DuplicateAck {
        /// Number of duplicate ACKs since the last ACK of new data.
        count: u32,
    },
    /// The receiver closed its window.
    ZeroWindow,
    /// A probe of a closed window.
    WindowProbe,
    /// A keep-alive.
    KeepAlive,
    /// Data that was acknowledged, but not captured.
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

    /// The cause or the proof; empty if the event has neither.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Retransmitted { cause, .. } => cause.name(),
            Self::Spurious { proof } => proof.name(),
            _ => "",
        }
    }
}

/// The segment in whose context events are reported: its data, its time, and the receiver of the events.
pub(super) struct EventContext<'a, W> {
    pub(super) id: ConnectionId,
    pub(super) at: Stamp,
    pub(super) watch: &'a mut W,
}

impl<W: Watch> EventContext<'_, W> {
    pub(super) fn report(&mut self, side: Side, start: i64, len: u32, event: Event) {
        let happened = Happened { at: self.at, side, start, len, event };
        self.watch.happened(self.id, &happened);
    }
}
