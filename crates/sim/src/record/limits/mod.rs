//! What limited each sender at each instant: the simulator's own knowledge.
//!
//! Budgets from captures are judged against these timelines. The order of the limits is that of what would help: a full path
//! comes before everything that TCP could do.
//!
//! * `sender.rs`: what a sender itself knows of why it is silent
//! * `queues.rs`: when its packets waited, and how long links were busy
//! * `combine.rs`: both together

mod combine;
mod queues;
mod sender;

use crate::network::packet::Packet;
use crate::record::probe::{Addresses, End, end_of};
use combine::combine;
use netspurt_budget::Timeline;
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use queues::Queues;
use sender::SenderLog;
use std::collections::BTreeMap;

/// One direction of a connection: of which flow, which of its connections, and the end that sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Direction {
    /// The flow, by its position in the scenario.
    pub flow: u32,
    /// Which of the flow's connections, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// The sender of the data.
    pub end: End,
}

/// What limited one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Limited {
    /// Of which direction.
    pub direction: Direction,
    /// When the connection was opened: the begin of the timeline.
    pub opened: Time,
    /// Stream bytes that were acknowledged.
    pub bytes: u64,
    /// The least round-trip time in seconds; 0 without a sample.
    pub rtt_least_s: f64,
    /// The limits.
    pub timeline: Timeline,
}

/// Records what is needed for the timelines.
#[derive(Debug, Default)]
pub(crate) struct LimitLog {
    senders: BTreeMap<Direction, SenderLog>,
    queues: Queues,
}

impl LimitLog {
    /// An endpoint was served at `now`. `unread` is what the application at the other end has not read.
    pub(crate) fn served(&mut self, now: Time, direction: Direction, connection: &Connection, unread: u64) {
        self.senders.entry(direction).or_insert_with(|| SenderLog::new(now)).served(now, connection, unread);
    }

    /// A packet waits at a channel from `from` to `until`.
    pub(crate) fn waited(&mut self, channel: u32, packet: &Packet, who: Addresses, from: u64, until: u64) {
        self.queues.waited(channel, sender_of(packet, who), from, until);
    }

    /// A packet is kept at a channel from `now` on.
    pub(crate) fn kept(&mut self, channel: u32, packet: &Packet, who: Addresses, now: u64) {
        self.queues.kept(channel, sender_of(packet, who), now);
    }

    /// A packet that was kept at a channel leaves its queue.
    pub(crate) fn left(&mut self, channel: u32, packet: &Packet, who: Addresses, now: u64) {
        self.queues.left(channel, sender_of(packet, who), now);
    }

    /// A channel transmits a packet.
    pub(crate) fn transmits(&mut self, channel: u32, packet: &Packet, who: Addresses, from: u64, until: u64) {
        self.queues.transmits(channel, sender_of(packet, who), packet.size, from, until);
    }

    /// The timelines, in order of flow, connection and end.
    pub(crate) fn finish(self) -> Vec<Limited> {
        let Self { senders, queues } = self;
        let full = queues.finish();
        senders.into_iter().map(|(direction, log)| combine(direction, log, &full)).collect()
    }
}

/// The direction of which a packet is.
const fn sender_of(packet: &Packet, who: Addresses) -> Direction {
    Direction { flow: who.flow, connection: who.connection, end: end_of(packet.endpoint ^ 1) }
}
