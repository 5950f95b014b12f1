//! Packets that are collected before they are forwarded: released in bursts, as with segmentation offload, receive offload
//! and interrupt coalescing; and ACK thinning, as on links with a narrow return path (RFC 3449, section 5.2).
//!
//! A collected packet has not entered the queue yet. A release at a given time is an event of the channel.

use crate::network::loss::Cause;
use crate::network::packet::{Content, Packet};
use netspurt_tcp::segment::Flags;
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::Span;
use std::collections::BTreeMap;

/// When a burst is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aggregation {
    /// At multiples of this span, which is positive.
    Every(Span),
    /// When `packets` have arrived, or `timeout` after the first of them.
    Of {
        /// At least 1.
        packets: u32,
        /// The maximum wait of the first packet.
        timeout: Span,
    },
}

/// ACK thinning: of consecutive pure ACKs of a connection, only the last one is forwarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Thinning {
    /// One ACK is forwarded for each group of this size.
    pub keep: u32,
    /// The maximum wait of the first ACK of a group.
    pub interval: Span,
}

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Released {
    /// It is forwarded: its place, and its position on its route.
    On(u32, u32),
    /// It is dropped.
    Dropped(u32, Cause),
}

/// An ACK that waits for a later one.
#[derive(Clone, Copy, Debug)]
struct Held {
    slot: u32,
    position: u32,
    ack: Seq,
    count: u32,
    due: u64,
}

/// Packets collected in one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    aggregation: Option<Aggregation>,
    thinning: Option<Thinning>,
    burst: Vec<(u32, u32)>,
    burst_due: u64,
    acks: BTreeMap<(u32, u16), Held>,
    /// The time of the release event in the event queue.
    armed: u64,
}

impl Gather {
    /// `None` if the link collects nothing.
    pub(crate) fn new(aggregation: Option<Aggregation>, thinning: Option<Thinning>) -> Option<Self> {
        let acks = BTreeMap::new();
        (aggregation.is_some() || thinning.is_some()).then_some(Self {
            aggregation,
            thinning,
            burst: Vec::new(),
            burst_due: u64::MAX,
            acks,
            armed: u64::MAX,
        })
    }

    /// Whether it thins ACKs.
    pub(crate) const fn thins(&self) -> bool {
        self.thinning.is_some()
    }

    /// A packet arrives at `now`. Returns the packets that are forwarded, in order.
    pub(crate) fn push(&mut self, now: u64, slot: u32, position: u32, packet: &Packet) -> Vec<Released> {
        // What is due by now goes first, whichever of the two events comes up first.
        let mut out = self.take_due(now);
        match self.thinning {
            Some(thinning) => self.thin(now, thinning, (slot, position), packet, &mut out),
            None => self.pass(now, slot, position, &mut out),
        }
        out
    }

    fn thin(
        &mut self,
        now: u64,
        thinning: Thinning,
        (slot, position): (u32, u32),
        packet: &Packet,
        out: &mut Vec<Released>,
    ) {
        let (connection, ack) = ((packet.endpoint, packet.generation), packet.segment.ack);
        let held = self.acks.remove(&connection);
        // A duplicate ACK says something that a later one does not.
        let replaces = is_pure_ack(packet) && held.is_none_or(|held| held.ack != ack);
        let (count, due) = match held {
            Some(held) if replaces => {
                out.push(Released::Dropped(held.slot, Cause::AckThinning));
                (held.count + 1, held.due)
            }
            Some(held) => {
                self.pass(now, held.slot, held.position, out);
                return self.pass(now, slot, position, out);
            }
            None => (1, now.saturating_add(thinning.interval.as_ps())),
        };
        if !replaces || count >= thinning.keep {
            return self.pass(now, slot, position, out);
        }
        self.acks.insert(connection, Held { slot, position, ack, count, due });
    }

    /// Adds a packet that is not dropped.
    fn pass(&mut self, now: u64, slot: u32, position: u32, out: &mut Vec<Released>) {
        let Some(aggregation) = self.aggregation else { return out.push(Released::On(slot, position)) };
        if self.burst.is_empty() {
            self.burst_due = match aggregation {
                Aggregation::Every(span) => now.div_ceil(span.as_ps()).saturating_mul(span.as_ps()),
                Aggregation::Of { timeout, .. } => now.saturating_add(timeout.as_ps()),
            };
        }
        self.burst.push((slot, position));
        let full =
            matches!(aggregation, Aggregation::Of { packets, .. } if self.burst.len() >= packets as usize);
        if full || self.burst_due <= now {
            self.burst_due = u64::MAX;
            out.extend(self.burst.drain(..).map(|(slot, position)| Released::On(slot, position)));
        }
    }

    /// Packets whose time of release is `now`.
    pub(crate) fn take_due(&mut self, now: u64) -> Vec<Released> {
        let mut out = Vec::new();
        let due: Vec<_> =
            self.acks.iter().filter(|(_, held)| held.due <= now).map(|(key, held)| (*key, *held)).collect();
        for (connection, held) in due {
            self.acks.remove(&connection);
            self.pass(now, held.slot, held.position, &mut out);
        }
        if self.burst_due <= now {
            self.burst_due = u64::MAX;
            out.extend(self.burst.drain(..).map(|(slot, position)| Released::On(slot, position)));
        }
        out
    }

    /// The time of the next release, if the event queue has no event for it yet.
    pub(crate) fn next_release(&mut self) -> Option<u64> {
        let due = self.acks.values().map(|held| held.due).min().unwrap_or(u64::MAX).min(self.burst_due);
        if due == u64::MAX || due == self.armed {
            return None;
        }
        self.armed = due;
        Some(due)
    }
}

/// Whether a packet is a pure ACK of data in order.
fn is_pure_ack(packet: &Packet) -> bool {
    let segment = &packet.segment;
    packet.content == Content::Segment
        && segment.flags == Flags::ACK
        && segment.payload.len == 0
        && segment.options.sack.is_empty()
        && segment.options.nak.is_none()
}
