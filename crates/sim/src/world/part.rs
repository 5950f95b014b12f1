//! A part of a world that is simulated in parts: some of its nodes, with the channels that begin at them. A channel between two
//! parts may belong to the part in which it ends.
//!
//! Each part knows all flows and gives them the same endpoints, but it has only the connections of its own hosts. After
//! each round it sends messages to the other parts: packets that cross the border, endpoints that are over, and delayed
//! ACKs, because only the part of the data sender knows which segments were held for them.

use super::retiring::LINGER;
use crate::host::endpoint::Endpoint;
use crate::network::Crossings;
use crate::record::held_tail::{DelayedAck, Holds};
use crate::spec::NodeId;
use netspurt_tcp::Connection;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

/// Which nodes belong to which part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The number of this part.
    me: u32,
    /// The part of each node.
    pub(super) of_node: Arc<[u32]>,
    /// The part that simulates each channel.
    of_channel: Arc<[u32]>,
    /// Messages of the present round that are not sorted by receiver yet.
    pub(super) messages: Messages,
    /// Segments that endpoints here have held since another part may ask for them, by endpoint.
    pub(super) holds: Holds,
}

/// The messages from one part to another after a round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    /// Packets that have crossed the border.
    pub(crate) crossings: Crossings,
    /// Endpoints that are over, and since when.
    pub(crate) over: Vec<(u32, Time)>,
    /// ACKs that left because their timers had run out.
    pub(crate) delayed_acks: Vec<DelayedAck>,
}

impl Messages {
    /// A lower bound of the time of the first event that they cause, in messages of a round up to `end`: a packet arrives, which it
    /// does not do in that round, or a pair of ends is retired.
    pub(crate) fn next_due(&self, end: Time) -> Option<Time> {
        let packets = (!self.crossings.is_empty()).then_some(end + Span::from_ps(1));
        self.over.iter().map(|(_, since)| *since + LINGER).chain(packets).min()
    }
}

impl Part {
    /// Part number `me` of a world. The lists hold the part of each node, and the part that simulates each channel.
    pub(crate) fn new(me: u32, of_node: Arc<[u32]>, of_channel: Arc<[u32]>) -> Self {
        Self { me, of_node, of_channel, messages: Messages::default(), holds: Holds::default() }
    }

    /// Whether a node belongs to this part.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.of_node[node.0 as usize] == self.me
    }

    /// Whether this part simulates a channel.
    pub(super) fn simulates(&self, channel: u32) -> bool {
        self.of_channel[channel as usize] == self.me
    }

    /// An ACK that has waited for its timer since `since` leaves endpoint `place`.
    #[cold]
    pub(super) fn note_delayed_ack(&mut self, now: Time, place: u32, since: Time, endpoints: &[Endpoint]) {
        if let Some(connection) = &endpoints[place as usize].connection {
            let ack = DelayedAck { now, since, place, received: connection.received() };
            self.messages.delayed_acks.push(ack);
        }
    }

    /// Whether [`Part::note_hold`] could note anything: an endpoint holds a segment for an ACK, or one has held one.
    #[inline]
    pub(super) fn looks_at(&self, endpoint: &Endpoint) -> bool {
        let holds = |connection: &Connection| connection.holding().waits_for_ack();
        !self.holds.is_empty() || endpoint.connection.as_ref().is_some_and(holds)
    }

    /// Endpoint `place` has been served.
    pub(super) fn note_hold(&mut self, now: Time, place: u32, endpoint: &Endpoint) {
        if let Some(connection) = &endpoint.connection {
            self.holds.note(place, endpoint.flow, (now, connection));
        }
    }
}
