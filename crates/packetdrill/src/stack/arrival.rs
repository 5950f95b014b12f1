//! A segment that arrives at a connection, and how the connection stood before it. What the socket does after the segment
//! follows from the two.

use crate::socket::{Descriptor, Ended};
use netspurt_tcp::Connection;
use netspurt_tcp::config::OldSegments;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::state::{CloseReason, State};

/// The connection before a segment, and what the segment means to it.
#[derive(Debug)]
pub(super) struct Arrival<'a> {
    segment: &'a Segment,
    state: State,
    /// Whether the application has closed its descriptor.
    is_closed: bool,
    readable: u64,
    out_of_order: u64,
    acknowledged: u64,
    peer_window: u32,
    duplicates: u32,
    /// The next data in order, in a segment that header prediction may take.
    is_in_order: bool,
    /// An ACK that header prediction takes, and that acknowledges less than an earlier one: no matter whether it is refused, Linux
    /// looks for data to send behind it.
    is_predicted_old_ack: bool,
    is_fin_behind_gap: bool,
    /// A segment that is not processed any further: a reset, a SYN, or one whose ACK is refused.
    is_dropped: bool,
    /// What a reset ends.
    ended: Option<Ended>,
}

impl<'a> Arrival<'a> {
    /// A segment before the connection has handled it.
    pub(super) fn new(stream: &Connection, segment: &'a Segment, descriptor: Descriptor) -> Self {
        let like_linux = stream.config().old_segments == OldSegments::Linux;
        let info = stream.info();
        // Header prediction compares the length of the header, too.
        let usual_header = if info.timestamps { 32 } else { 20 };
        let is_usual = stream.place(segment.seq) == stream.received() as i64
            && !stream.has_gap()
            && segment.header_len == usual_header
            && stream.state() == State::Established;
        let is_closed = descriptor == Descriptor::Closed;
        Self {
            segment,
            state: stream.state(),
            is_closed,
            readable: stream.readable(),
            out_of_order: info.out_of_order,
            acknowledged: stream.acknowledged(),
            peer_window: stream.peer_window(),
            duplicates: stream.stats().duplicates_received,
            is_in_order: is_usual && is_plain_data(segment),
            is_predicted_old_ack: is_usual && is_predicted_old_ack(stream, segment),
            is_fin_behind_gap: is_closed && is_fin_behind_gap(stream, segment),
            is_dropped: segment.flags.any(Flags::RST | Flags::SYN) || stream.refuses_ack(segment.ack),
            ended: (like_linux && segment.flags.has(Flags::RST)).then(|| Ended::of(stream)),
        }
    }

    /// Whether the connection, which has handled the segment, took data from it, also ahead of a gap.
    pub(super) fn took_data(&self, stream: &Connection) -> bool {
        stream.readable() > self.readable || stream.info().out_of_order > self.out_of_order
    }

    /// Whether the data shows that the peer knows ECN.
    pub(super) fn shows_ecn(&self, stream: &Connection) -> bool {
        self.took_data(stream) && self.state == State::Established && self.segment.ecn != Ecn::NotEct
    }

    /// Whether the segment is the ACK of the FIN of a closed socket. It replaces the socket by a TIME-WAIT socket, and is consumed
    /// with its data (`tcp_rcv_state_process()`).
    pub(super) fn is_consumed(&self, stream: &Connection) -> bool {
        self.is_closed && self.state == State::FinWait1 && stream.state() == State::FinWait2
    }

    /// Whether the segment aborts a closed connection by its data (RFC 9293, section 3.6.1; Linux, TCPABORTONDATA), or by its FIN
    /// behind a gap.
    pub(super) fn comes_after_close(&self, stream: &Connection) -> bool {
        self.is_closed && (self.took_data(stream) || self.is_fin_behind_gap)
    }

    /// Whether Linux looks for data to send after the segment (`tcp_data_snd_check()`): not if header prediction takes data in
    /// order that acknowledges nothing, nor if the segment is refused (`tcp_rcv_established()`).
    pub(super) fn looks_for_data(&self, stream: &Connection) -> bool {
        let acknowledges =
            (self.acknowledged, self.peer_window) != (stream.acknowledged(), stream.peer_window());
        let is_predicted = self.is_in_order && !acknowledges;
        // The answer to a refused segment may be too soon.
        let is_old = stream.stats().duplicates_received > self.duplicates && self.segment.payload.len == 0;
        let is_refused = self.is_dropped || stream.answers_refused() || is_old;
        self.segment.flags.has(Flags::ACK) && !is_predicted && (self.is_predicted_old_ack || !is_refused)
    }

    /// What the segment has ended, if it has reset the connection.
    pub(super) fn reset(self, stream: &Connection) -> Option<Ended> {
        self.ended.filter(|_| stream.closed() == Some(CloseReason::Reset))
    }
}

/// Whether header prediction takes an ACK, if its place and its header are the usual ones, and whether it acknowledges less than
/// an earlier one. What `tcp_ack()` returns does not matter then (`tcp_rcv_established()`).
fn is_predicted_old_ack(stream: &Connection, segment: &Segment) -> bool {
    segment.payload.len == 0
        && segment.flags == Flags::ACK
        && stream.is_acknowledged_beyond(segment.ack)
        && stream.announces_same_window(segment)
        && !stream.is_stamped_before(segment)
}

/// Whether a segment is one of data that header prediction may take.
fn is_plain_data(segment: &Segment) -> bool {
    segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0 && segment.payload.len > 0
}

/// Whether a segment of an open connection carries a FIN behind a gap. After `close` that aborts the connection like data
/// (`tcp_rcv_state_process()`).
fn is_fin_behind_gap(stream: &Connection, segment: &Segment) -> bool {
    let fin = stream.place(segment.seq) + i64::from(segment.payload.len);
    let ahead = u64::try_from(fin).is_ok_and(|fin| fin > stream.received());
    let inside = fin < (stream.received() + u64::from(stream.receive_window())) as i64;
    let flags = segment.flags.has(Flags::FIN) && segment.flags.has(Flags::ACK);
    flags && !segment.flags.any(Flags::SYN | Flags::RST) && ahead && inside
}
