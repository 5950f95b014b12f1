//! Determines when each segment arrived at its peer.
//!
//! Transmissions and arrivals are recorded separately and matched afterwards: of segments with equal fields, the first
//! one sent is the first to arrive or to be lost. If the network reorders packets, a segment may be confused with its
//! retransmission.

use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, End, Recording};
use netspurt_sim::spec::{NodeId, WorldSpec};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// The fields by which segments are matched: flow, connection, sender, sequence number, ACK, length and flags.
type Likeness = (u32, u32, End, u32, u32, u32, u16);

fn likeness(flow: u32, connection: u32, end: End, segment: &Segment) -> Likeness {
    (flow, connection, end, segment.seq.0, segment.ack.0, segment.payload.len, segment.flags.0)
}

/// A packet has arrived at its destination host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    time: Time,
    what: Likeness,
}

/// Records arrivals. The simulator has one handle, the caller another.
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

    /// All arrivals, in order of time.
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

/// The arrival time of each recorded segment, if it arrived.
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
                // A packet lost on its first link was sent at the time of the loss. For later links, the lost packet is
                // unknown.
                let place = rows.iter().position(|&row| sent(row) == drop.time).unwrap_or(0);
                rows.remove(place);
            }
        }
        let Some(rows) = under_way.get_mut(&arrival.what) else { continue };
        // The oldest transmission is later than the arrival, so this is the second copy of a duplicated packet.
        if rows.front().is_some_and(|&row| sent(row) <= arrival.time)
            && let Some(row) = rows.pop_front()
        {
            found[row] = Some(arrival.time);
        }
    }
    found
}
