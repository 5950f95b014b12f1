//! What limited each sender at each time: the exact timelines of the simulator.
//!
//! Budgets from captures are compared with these timelines. The limit whose remedy would help has precedence: a full path
//! comes before all limits that TCP could remove.
//!
//! * `direction.rs`: one direction of a connection, and its timeline
//! * `sender.rs`: what a sender itself knows about why it sends nothing
//! * `queues.rs`: when its packets waited, and how long links were busy
//! * `trouble.rs`: what was dropped, and when links were down; `acks.rs`: ACKs that were lost or late
//! * `exchanges.rs`: requests and their responses
//! * `combine.rs`: puts them together
//! * `measures.rs`: what a sender measured, for the numbers behind a limit

mod acks;
mod apps;
mod combine;
mod direction;
mod exchanges;
mod measures;
mod queues;
mod sender;
mod trouble;

use crate::network::packet::Packet;
use crate::record::end::{Addresses, end_of};
pub(crate) use apps::Apps;
pub use direction::{Direction, Limited};
pub use exchanges::Exchange;

use crate::network::loss::Cause;
use crate::record::end::End;
use crate::spec::LinkSpec;
use combine::combine;
use exchanges::{ExchangeLog, Progress};
use netspurt_tcp::Connection;
use netspurt_tcp::time::Time;
use queues::Queues;
use sender::SenderLog;
use std::collections::BTreeMap;
use trouble::Troubles;

/// Records what is needed for the timelines.
#[derive(Debug, Default)]
pub(crate) struct LimitLog {
    senders: BTreeMap<Direction, SenderLog>,
    /// By the direction of the client.
    exchanges: BTreeMap<Direction, ExchangeLog>,
    queues: Queues,
    troubles: Troubles,
}

impl LimitLog {
    /// The links of the world, in their order; the run ends at `end`.
    pub(crate) fn describe(&mut self, links: &[LinkSpec], end: u64) {
        let channels = links.iter().flat_map(|link| &link.directions);
        for (number, channel) in (0..).zip(channels) {
            if channel.shaper.is_some() {
                self.queues.set_shaped(number);
            }
            if let Some(rate) = channel.policer.and_then(|policer| policer.drops_above()) {
                self.queues.set_policed(number, rate);
            }
            self.troubles.describe(number, channel, end);
        }
    }

    /// A packet was dropped at a channel.
    pub(crate) fn dropped(&mut self, at: u64, channel: u32, packet: &Packet, who: Addresses, cause: Cause) {
        let direction = sender_of(packet, who);
        self.troubles.dropped(at, channel, direction, (&packet.segment, cause));
        if cause == Cause::Policer
            && let Some(log) = self.senders.get_mut(&direction)
        {
            log.policed(at);
        }
    }

    /// An endpoint was served at `now`.
    pub(crate) fn served(&mut self, now: Time, direction: Direction, connection: &Connection, apps: Apps) {
        self.senders.entry(direction).or_insert_with(|| SenderLog::new(now)).served(now, connection, apps);
        let progress = Progress {
            written: connection.written(),
            acknowledged: connection.acknowledged(),
            received: connection.received(),
        };
        let client = Direction { end: End::Client, ..direction };
        self.exchanges.entry(client).or_default().served(now, direction.end, progress);
        // An ACK that the receiver delays on purpose is not late.
        if let Some(other) = self.senders.get_mut(&direction.reverse()) {
            other.arrives(now, connection.received(), connection.ack_delayed_since(now).is_none());
        }
    }

    /// A packet waits at a channel from `from` to `until`.
    pub(crate) fn waited(&mut self, channel: u32, packet: &Packet, who: Addresses, from: u64, until: u64) {
        self.queues.waited(channel, sender_of(packet, who), from, until);
    }

    /// A packet enters the queue of a channel at `now`.
    pub(crate) fn kept(&mut self, channel: u32, packet: &Packet, who: Addresses, now: u64) {
        self.queues.kept(channel, sender_of(packet, who), now);
    }

    /// A packet leaves the queue of a channel.
    pub(crate) fn left(&mut self, channel: u32, packet: &Packet, who: Addresses, now: u64) {
        self.queues.left(channel, sender_of(packet, who), now);
    }

    /// A channel transmits a packet.
    pub(crate) fn transmits(&mut self, channel: u32, packet: &Packet, who: Addresses, from: u64, until: u64) {
        let direction = sender_of(packet, who);
        self.troubles.passed(from, channel, direction, &packet.segment);
        self.queues.transmits(channel, direction, packet.size, from, until);
    }

    /// The timelines, in order of flow, connection and end.
    pub(crate) fn finish(self) -> Vec<Limited> {
        let Self { senders, mut exchanges, queues, troubles } = self;
        let full = queues.finish();
        let limited = |(direction, log)| Limited {
            exchanges: exchanges.remove(&direction).map(ExchangeLog::finish).unwrap_or_default(),
            ..combine(direction, log, &full, &troubles)
        };
        senders.into_iter().map(limited).collect()
    }
}

/// The direction that a packet belongs to.
const fn sender_of(packet: &Packet, who: Addresses) -> Direction {
    Direction { flow: who.flow, connection: who.connection, end: end_of(packet.endpoint ^ 1) }
}
