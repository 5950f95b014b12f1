//! When each segment arrived at its peer.
//!
//! A segment is recorded when it is handed to the network, an arrival when a packet comes to the end of its last link.
//! What belongs together is found afterwards: of segments that look alike, the first one sent is the first to arrive or
//! to be lost. Where a network overtakes, that may confuse a segment with its own repetition.

use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, End, Recording};
use netspurt_sim::spec::{NodeId, WorldSpec};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// What segments that look alike have in common: flow, connection, sender, sequence number, ACK, length and flags.
type Likeness = (u32, u32, End, u32, u32, u32, u16);

fn likeness(flow: u32, connection: u32, end: End, segment: &Segment) -> Likeness {
    (flow, connection, end, segment.seq.0, segment.ack.0, segment.payload.len, segment.flags.0)
}

/// A packet came to the host that it was for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    time: Time,
    what: Likeness,
}

/// Notes arrivals. The simulator holds one handle, whoever runs it another.
#[derive(Clone)]
pub(crate) struct Arrivals {
    /// The node at which each direction of each link ends.
    ends: Arc<[NodeId]>,
    seen: Arc<Mutex<Vec<Arrival>>>,
}

impl Arrivals {
    pub(crate) fn new(spec: &WorldSpec) -> Self {
        let ends = spec.links.iter().flat_map(|link| [link.ends[1], link.ends[0]]).collect();
        Self { ends, seen: Arc::default() }
    }

    /// All of them, in order of time.
    pub(crate) fn take(self) -> Vec<Arrival> {
        let mut seen = core::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        seen.sort_by_key(|arrival| arrival.time);
        seen
    }
}

impl CaptureSink for Arrivals {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        let Some(time) = packet.arrives.filter(|_| self.ends[channel as usize].0 == packet.destination)
        else {
            return;
        };
        let what = likeness(packet.flow, packet.connection, packet.end, &packet.segment);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(Arrival { time, what });
    }
}

/// For each recorded segment when it arrived, if it did.
pub(crate) fn matched(recording: &Recording, arrivals: &[Arrival]) -> Vec<Option<Time>> {
    let mut under_way: BTreeMap<Likeness, VecDeque<usize>> = BTreeMap::new();
    for (row, sent) in recording.segments.iter().enumerate() {
        let what = likeness(sent.flow, sent.connection, sent.end, &sent.segment);
        under_way.entry(what).or_default().push_back(row);
    }
    let sent = |row: usize| recording.segments[row].time;
    let mut found = vec![None; recording.segments.len()];
    let mut drops = recording.drops.iter().peekable();
    for arrival in arrivals {
        while let Some(drop) = drops.next_if(|drop| drop.time <= arrival.time) {
            let what = likeness(drop.flow, drop.connection, drop.end, &drop.segment);
            if let Some(rows) = under_way.get_mut(&what) {
                // On its first link a packet is lost at the moment at which it was sent; later on nobody knows which it was.
                let place = rows.iter().position(|&row| sent(row) == drop.time).unwrap_or(0);
                rows.remove(place);
            }
        }
        let Some(rows) = under_way.get_mut(&arrival.what) else { continue };
        // What was sent later cannot have come yet: this is the second copy of a packet that was doubled.
        if rows.front().is_some_and(|&row| sent(row) <= arrival.time)
            && let Some(row) = rows.pop_front()
        {
            found[row] = Some(arrival.time);
        }
    }
    found
}
