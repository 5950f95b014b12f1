//! The variables of a connection that users see, as in `ss -i`.

use super::stream::Pair;
use netspurt_tcp::reason::Hold;
use netspurt_tcp::state::State;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::{Connection, Info};

/// The variables of a connection at one moment. Lengths are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its endpoints.
    pub pair: Pair,
    /// Its age.
    pub age: Span,
    /// Its state.
    pub state: State,
    /// Why it did not send at the last opportunity.
    pub holding: Hold,
    /// The congestion window.
    pub cwnd: u32,
    /// The slow start threshold; `None` is infinite.
    pub ssthresh: Option<u32>,
    /// The smoothed round-trip time.
    pub srtt: Option<Span>,
    /// The retransmission timeout.
    pub rto: Span,
    /// Payload of a full segment in bytes.
    pub segment: u32,
    /// The peer's receive window.
    pub peer_window: u32,
    /// Bytes written and not acknowledged.
    pub send_queue: u64,
    /// Bytes received and not read.
    pub receive_queue: u64,
    /// Bytes acknowledged by the peer.
    pub sent: u64,
    /// Bytes received in order.
    pub received: u64,
    /// More of the sender's state.
    pub info: Info,
    /// Counters.
    pub stats: Stats,
}

impl Row {
    pub(super) fn of(pair: Pair, since: Time, now: Time, connection: &Connection) -> Self {
        let ssthresh = connection.ssthresh();
        Self {
            pair,
            age: now - since,
            state: connection.state(),
            holding: connection.holding(),
            cwnd: connection.cwnd(),
            ssthresh: (ssthresh != u32::MAX).then_some(ssthresh),
            srtt: connection.srtt(),
            rto: connection.rto(),
            segment: connection.segment_payload(),
            peer_window: connection.peer_window(),
            send_queue: connection.written().saturating_sub(connection.acknowledged()),
            receive_queue: connection.readable(),
            sent: connection.acknowledged(),
            received: connection.received(),
            info: connection.info(),
            stats: connection.stats(),
        }
    }
}
