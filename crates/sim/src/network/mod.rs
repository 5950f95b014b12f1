//! The network: channels, packets in flight, and the event loop that moves them.
//!
//! It does not depend on TCP or applications. A driver passes packets and timers to it. The network returns what is due:
//! a packet that has reached its destination, or a timer of the driver.

mod border;
pub mod capacity;
pub mod channel;
pub mod delay;
pub mod gather;
pub mod impair;
mod inbox;
mod junction;
pub mod loss;
pub mod medium;
pub mod middlebox;
pub mod packet;
pub mod queue;
pub mod route;
pub mod schedule;
pub mod token_bucket;

use crate::engine::EventQueue;
use crate::network::channel::direction::DirectionName;
use crate::network::channel::{Channel, INBOX, JUNCTION, LAST_FAN, MAX_PACKET};
use crate::network::junction::junctions::Junctions;
use crate::network::medium::Contention;
use crate::network::packet::{Arrived, Content, Datagram, Label, Packet, Slab, Stage};
use crate::network::route::{NoRoute, Routes};
use crate::record::diary::{Diary, Step};
use crate::record::probe::{Recorder, Recording, Sent, Wants};
use crate::spec::{NodeId, WorldSpec};
pub(crate) use border::crossings::Crossings;
pub(crate) use channel::fans::batch::{Group, Next};
use channel::fans::{Fans, Landed, Member};
pub(crate) use junction::uplink::Uplink;
use medium::hub::Hub;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// A due event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// A packet has reached its destination. Call [`Network::release`] after processing it.
    Packet(u32),
    /// The driver's timer with this number.
    Timer(u32),
}

/// What is due in a network with inboxes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A packet, or a timer of the driver.
    Due(Due),
    /// The packets of this channel: see `inbox.rs`.
    Inbox(u32),
    /// The packets of this channel's fan: see `channel/fans/batch.rs`.
    Fan(u32),
}

/// Channels, and packets in flight.
#[derive(Debug)]
pub struct Network {
    channels: Vec<Channel>,
    hubs: Vec<Hub>,
    routes: Routes,
    fans: Fans,
    junctions: Junctions,
    packets: Slab,
    /// The place of the packet that is being written.
    draft: u32,
    queue: EventQueue,
    /// Events after this time are not computed.
    horizon: u64,
    data_packets: u64,
    /// Packets that have crossed the border, by the part of the network that they enter.
    crossings: Vec<Crossings>,
    /// Entries that the other parts of this network have taken from their event queues.
    events_elsewhere: u64,
    /// The number of dropped datagrams by destination endpoint.
    dropped_datagrams: BTreeMap<u32, u64>,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// For a driver that stores data for each packet.
    diary: Option<Box<Diary>>,
}

impl Network {
    /// The network of `spec`, with the routes its flows need.
    pub fn new(spec: &WorldSpec, seed: u64, recorder: Option<Recorder>) -> Result<Self, NoRoute> {
        Self::with_inboxes(spec, seed, recorder, &[])
    }

    /// The same with inboxes for the hosts that are independent of others, by their numbers.
    pub(crate) fn with_inboxes(
        spec: &WorldSpec,
        seed: u64,
        recorder: Option<Recorder>,
        independent: &[bool],
    ) -> Result<Self, NoRoute> {
        Ok(Self::with_routes(spec, Routes::new(spec)?, (seed, independent), recorder))
    }

    /// The network of `spec` for a driver's own packets between these nodes, independent of its flows. A pair without a path
    /// has no route.
    ///
    /// The driver stores the bytes of packets, indexed by their places in the network. [`Network::draft_place`] and
    /// [`Due::Packet`] return these places, and [`Network::take_steps`] says when to copy bytes. The place of a dropped
    /// packet is used again without a notice.
    pub fn joining(spec: &WorldSpec, pairs: impl Iterator<Item = (NodeId, NodeId)>, seed: u64) -> Self {
        let routes = Routes::where_joined(spec, pairs);
        Self { diary: Some(Box::default()), ..Self::with_routes(spec, routes, (seed, &[]), None) }
    }

    /// From now on [`Network::take_steps`] reports packets in these channels. The steps are in order only if the network was
    /// created without fused channels ([`WorldSpec::fuse`]).
    pub fn watch(&mut self, channels: impl Iterator<Item = u32>) {
        let Some(diary) = &mut self.diary else { return };
        for channel in channels {
            diary.watch(channel);
            self.channels[channel as usize].watch();
        }
    }

    fn with_routes(
        spec: &WorldSpec,
        mut routes: Routes,
        (seed, independent): (u64, &[bool]),
        mut recorder: Option<Recorder>,
    ) -> Self {
        let mut channels = Vec::with_capacity(2 * spec.links.len());
        for (link, number) in spec.links.iter().zip((0u32..).step_by(2)) {
            let [a, b] = link.ends.map(|end| &spec.nodes[end.0 as usize]);
            let names = [(a, b), (b, a)].map(|(from, to)| DirectionName {
                link: &link.name,
                from: &from.name,
                to: &to.name,
            });
            let mut pair = Channel::pair(link, names, seed, [number, number + 1]);
            pair[0].end_latency = b.latency.as_ps();
            pair[1].end_latency = a.latency.as_ps();
            channels.extend(pair);
        }
        let hubs = Hub::all(spec, seed, &mut channels);
        if spec.fuse {
            routes.fuse(&channels);
        }
        let mut to_hosts = BTreeSet::new();
        if spec.fuse && recorder.is_none() && !independent.is_empty() {
            to_hosts = Self::open_inboxes(spec, &mut channels, independent);
        }
        if recorder.as_ref().is_some_and(Recorder::watches_links) {
            channels.iter_mut().for_each(Channel::watch);
        }
        if let Some(recorder) = &mut recorder {
            recorder.describe(&spec.links, (Time::ZERO + spec.duration).as_ps());
        }
        let fans = Fans::join(&mut channels, &routes, &to_hosts);
        let mut junctions = Junctions::default();
        if spec.fuse && recorder.is_none() && !independent.is_empty() {
            junctions = Junctions::find(spec, &mut channels, &routes);
        }
        let mut packets = Slab::new();
        let draft = packets.reserve();
        Self {
            channels,
            hubs,
            routes,
            fans,
            junctions,
            packets,
            draft,
            queue: EventQueue::new(),
            horizon: (Time::ZERO + spec.duration).as_ps(),
            data_packets: 0,
            crossings: Vec::new(),
            events_elsewhere: 0,
            dropped_datagrams: BTreeMap::new(),
            recorder: recorder.map(Box::new),
            diary: None,
        }
    }

    /// The routes.
    pub const fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Makes the changes of routes up to `now`. Returns when the next one happens.
    #[cold]
    pub fn turn_routes(&mut self, now: Time) -> Time {
        self.routes.turn(now);
        self.routes.next_turn()
    }

    /// The channels: for each link its two directions.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The contention of a hub's station with others, if this channel is such a station and they compete.
    pub fn contention(&self, channel: u32) -> Option<Contention> {
        let (hub, station) = self.channels[channel as usize].station?;
        self.hubs[hub as usize].contention(station)
    }

    /// Entries taken from the event queue so far.
    pub const fn events(&self) -> u64 {
        self.queue.popped() + self.events_elsewhere
    }

    /// Packets with data sent by hosts so far.
    pub const fn data_packets(&self) -> u64 {
        self.data_packets
    }

    /// Packets in flight; none after [`Self::close`].
    pub fn packets_under_way(&self) -> usize {
        self.packets.len().saturating_sub(1)
    }

    /// Wakes the driver at `time` with [`Due::Timer`].
    #[cold]
    pub fn arm(&mut self, time: Time, timer: u32) {
        if time.as_ps() <= self.horizon {
            self.queue.push(time.as_ps(), self.channels.len() as u32 + timer);
        }
    }

    /// The same as [`Network::next`] for a driver that empties the inboxes of hosts.
    #[inline]
    pub(crate) fn next_event(&mut self, until: Time) -> Option<(Time, Event)> {
        while let Some((now, source)) = self.queue.pop_until(until.as_ps()) {
            let Some(channel) = self.channels.get_mut(source as usize) else {
                let timer = source - self.channels.len() as u32;
                return Some((Time::from_ps(now), Event::Due(Due::Timer(timer))));
            };
            let (slot, stage) = if channel.fan >= INBOX {
                if channel.fan == INBOX {
                    return Some((Time::from_ps(now), Event::Inbox(source)));
                }
                let Some(Arrived { slot, stage, next_arrival }) =
                    self.packets.land(&mut channel.in_flight, now)
                else {
                    self.depart(source, now);
                    continue;
                };
                if let Some(next) = next_arrival {
                    self.queue.push(next, source);
                }
                (slot, stage)
            } else if channel.fan > LAST_FAN {
                match channel.fan {
                    // Nothing arrives at the far end of a border channel.
                    fan if fan > JUNCTION => self.depart(source, now),
                    fan => self.pass_junction(fan, now, until.as_ps()),
                }
                continue;
            } else {
                if self.fans.get_mut(channel.fan).leads_to_hosts {
                    return Some((Time::from_ps(now), Event::Fan(source)));
                }
                let Some(Landed { slot, stage, next, .. }) = self.land_in_fan(source, now) else { continue };
                self.expect(next);
                (slot, stage)
            };
            if stage.is_delivered() {
                return Some((Time::from_ps(now), Event::Due(Due::Packet(slot))));
            }
            self.forward(slot, stage.size, stage.onward, now);
        }
        None
    }

    /// Up to when packets have been passed on ahead of other events.
    pub(crate) const fn ahead(&self) -> Time {
        Time::from_ps(self.junctions.ahead())
    }

    /// A lower bound of the time of the next due event.
    pub fn next_due(&self) -> Option<Time> {
        self.queue.first().map(Time::from_ps)
    }

    /// The steps of packets since the last call, in order. The place of a removed packet may belong to a later one.
    pub fn take_steps(&mut self) -> impl Iterator<Item = Step> {
        self.diary.iter_mut().flat_map(|diary| diary.take())
    }

    /// A delivered packet.
    #[inline]
    pub fn packet(&self, slot: u32) -> &Packet {
        self.packets.get(slot)
    }

    /// Its place may be used again.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        self.packets.remove(slot);
    }

    /// A host sends a segment in a packet.
    #[inline]
    pub fn send(&mut self, now: Time, segment: &Segment, label: Label) {
        *self.draft() = *segment;
        self.send_draft(now, label);
    }

    /// The segment of the next packet, to be overwritten. It holds the content of an earlier one.
    #[inline]
    pub fn draft(&mut self) -> &mut Segment {
        &mut self.packets.get_mut(self.draft).segment
    }

    /// The place of the packet that is being written, until it is delivered.
    pub const fn draft_place(&self) -> u32 {
        self.draft
    }

    /// Keeps the packet whose segment was written to [`Network::draft`] for [`Network::send_slot`].
    #[inline]
    pub(crate) fn take_draft(&mut self) -> u32 {
        let next = self.packets.reserve();
        std::mem::replace(&mut self.draft, next)
    }

    /// Records a segment that leaves its host, if requested.
    #[cold]
    pub(crate) fn note_sent(&mut self, endpoint: u32, sent: impl FnOnce(u32) -> Sent) {
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::SEGMENTS)
        {
            let connection = recorder.connection(endpoint);
            recorder.recording.segments.push(sent(connection));
        }
    }

    /// A host sends the segment that was written to [`Network::draft`].
    #[inline]
    pub fn send_draft(&mut self, now: Time, label: Label) {
        let slot = self.take_draft();
        self.send_slot(now, slot, label);
    }

    /// A host sends the segment in a packet that it has stored.
    #[inline(always)]
    pub(crate) fn send_slot(&mut self, now: Time, slot: u32, label: Label) {
        debug_assert!(label.size < MAX_PACKET, "no such packet: {} octets", label.size);
        let packet = self.packets.get_mut(slot);
        packet.address(label);
        self.data_packets += u64::from(packet.segment.payload.len > 0);
        self.forward_by::<true, false>(slot, label.size, label.route, now.as_ps());
    }

    /// A host sends a datagram.
    #[cold]
    pub(crate) fn send_datagram(&mut self, now: Time, datagram: &Datagram, label: Label) {
        let slot = self.take_draft();
        *self.packets.get_mut(slot) = Packet {
            segment: datagram.segment(),
            endpoint: label.endpoint,
            size: datagram.size(),
            generation: label.generation,
            content: Content::Datagram,
            ..Packet::default()
        };
        self.forward(slot, datagram.size(), label.route, now.as_ps());
    }

    /// The number of dropped datagrams for this endpoint.
    pub(crate) fn dropped_datagrams(&self, endpoint: u32) -> u64 {
        self.dropped_datagrams.get(&endpoint).copied().unwrap_or(0)
    }

    /// Passes a packet to the channel of this hop at `at`, and through all further hops that can be computed at once.
    #[inline(always)]
    fn forward(&mut self, slot: u32, size: u32, position: u32, at: u64) {
        self.forward_by::<false, false>(slot, size, position, at);
    }

    /// The same without calls: in a `CROWD`, where packets often wait in queues, and at the `BORDER` to other parts of the network.
    #[inline(always)]
    fn forward_by<const CROWD: bool, const BORDER: bool>(
        &mut self,
        slot: u32,
        size: u32,
        mut position: u32,
        mut at: u64,
    ) {
        loop {
            let Self { routes, channels, packets, queue, .. } = self;
            let hop = routes.hop(position);
            let channel = &mut channels[hop.channel() as usize];
            if !channel.is_plain() {
                if channel.is_elsewhere() {
                    let fan = channel.fan;
                    let stage = Stage { size, onward: position }.to_enter();
                    return self.leave::<BORDER>(slot, fan, at, stage);
                }
                return self.forward_carefully(slot, position, at);
            }
            at = match channel.enter_by::<CROWD>(at, size) {
                Ok(passage) => passage.arrival,
                Err(cause) => return self.discard(slot, hop.channel(), at, cause),
            };
            position += 1;
            if hop.goes_on_at_once() && at <= self.horizon {
                continue;
            }
            let (arrival, stage) = channel.behind(hop, at, Stage { size, onward: position });
            if channel.fan >= INBOX && arrival <= self.horizon {
                if packets.take_off(&mut channel.in_flight, slot, arrival, stage) {
                    queue.push(arrival, hop.channel());
                }
                return;
            }
            return self.set_off_by::<BORDER>(slot, hop.channel(), arrival, stage);
        }
    }

    /// Schedules the arrival of a packet after this hop as an event.
    fn carry(&mut self, slot: u32, size: u32, position: u32, arrival: u64) {
        let hop = self.routes.hop(position);
        let channel = &self.channels[hop.channel() as usize];
        let (arrival, stage) = channel.behind(hop, arrival, Stage { size, onward: position + 1 });
        self.set_off(slot, hop.channel(), arrival, stage);
    }

    /// Stores a packet until it arrives at the end of a channel: in the chain of the channel or of its fan, or at its junction.
    #[inline(always)]
    fn set_off(&mut self, slot: u32, number: u32, arrival: u64, stage: Stage) {
        self.set_off_by::<false>(slot, number, arrival, stage);
    }

    /// The same without a call at the `BORDER` to other parts of the network.
    #[inline(always)]
    fn set_off_by<const BORDER: bool>(&mut self, slot: u32, number: u32, arrival: u64, stage: Stage) {
        if arrival > self.horizon {
            return self.packets.remove(slot);
        }
        let channel = &mut self.channels[number as usize];
        let fan = channel.fan;
        let is_first = if fan >= INBOX {
            self.packets.take_off(&mut channel.in_flight, slot, arrival, stage)
        } else if fan > JUNCTION {
            return self.leave::<BORDER>(slot, fan, arrival, stage);
        } else if fan > LAST_FAN {
            self.junctions.take_off((&mut self.packets, &self.routes), fan, (slot, arrival, stage))
        } else {
            let channel_of = |position| self.routes.hop(position).channel();
            let new = Member { arrival, slot, stage };
            self.fans.get_mut(fan).take_off(&mut channel.in_flight, &mut self.packets, channel_of, new)
        };
        if is_first {
            self.queue.push(arrival, number);
        }
    }

    /// Ends the run at `end`. Returns the recording, in order. No packet is under way any more.
    pub fn close(&mut self, end: Time) -> Recording {
        // The packets of a large run take as much memory as the results that follow.
        self.packets = Slab::new();
        for (channel, number) in self.channels.iter_mut().zip(0..) {
            watch_queue(self.recorder.as_deref_mut(), channel, number, end.as_ps());
        }
        self.recorder.take().map(|recorder| recorder.finish()).unwrap_or_default()
    }
}

/// Records the departures from a queue up to `at`.
#[cold]
fn watch_queue(recorder: Option<&mut Recorder>, channel: &mut Channel, number: u32, at: u64) {
    if let Some(recorder) = recorder
        && recorder.wants(Wants::QUEUE)
    {
        while let Some(start) = channel.settle_one(at) {
            recorder.queue(start, number, channel.backlog().packets);
        }
    }
}
