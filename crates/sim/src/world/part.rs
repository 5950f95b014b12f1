//! A part of a world that is simulated in parts: some of its nodes, with all that begins at them.
//!
//! Each part knows of all flows, and gives them the same places; it has the connections of its own hosts. What the others
//! have to know is *told* after each window: packets that cross the border, ends that are over, and delayed ACKs, since
//! what was held for them is known where the sender is.

use super::retiring::LINGER;
use crate::host::endpoint::Endpoint;
use crate::network::Crossings;
use crate::record::held_tail::{DelayedAck, Holds};
use crate::spec::NodeId;
use netspurt_tcp::time::Time;
use std::sync::Arc;

/// Which nodes belong to which part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The number of this part.
    me: u32,
    /// The part of each node.
    pub(super) of_node: Arc<[u32]>,
    /// What the other parts have to know.
    pub(super) told: Told,
    /// What the ends here have held of late, by their places.
    pub(super) holds: Holds,
}

/// What one part tells the others after a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Packets that have crossed the border.
    pub(crate) crossings: Crossings,
    /// Places of ends that are over, and since when.
    pub(crate) over: Vec<(u32, Time)>,
    /// ACKs that left because their timers had run out.
    pub(crate) delayed_acks: Vec<DelayedAck>,
}

impl Told {
    /// When something of this matters for the first time: a packet that arrives, or a pair that leaves.
    pub(crate) fn next_due(&self) -> Option<Time> {
        let packets = Time::from_ps(self.crossings.first());
        self.over.iter().map(|(_, since)| *since + LINGER).chain([packets]).min()
    }
}

impl Part {
    pub(crate) fn new(me: u32, of_node: Arc<[u32]>) -> Self {
        Self { me, of_node, told: Told::default(), holds: Holds::default() }
    }

    /// Whether a node belongs to it.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.of_node[node.0 as usize] == self.me
    }

    /// An ACK that has waited for its timer since `since` leaves the end at `place`.
    #[cold]
    pub(super) fn note_delayed_ack(&mut self, now: Time, place: u32, since: Time, endpoints: &[Endpoint]) {
        if let Some(connection) = &endpoints[place as usize].connection {
            let ack = DelayedAck { now, since, place, received: connection.received() };
            self.told.delayed_acks.push(ack);
        }
    }

    /// The end at `place` has been served.
    pub(super) fn note_hold(&mut self, now: Time, place: u32, endpoint: &Endpoint) {
        if let Some(connection) = &endpoint.connection {
            self.holds.note(place, endpoint.flow, (now, connection));
        }
    }
}
