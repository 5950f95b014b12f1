//! The network: channels, packets under way, and the event loop that moves them.
//!
//! It knows nothing of TCP or of applications. A driver hands in packets and timers, and is told what is due: a packet
//! that has reached its end, or one of its own timers.

use crate::engine::EventQueue;
use crate::impair::Fate;
use crate::link::{Channel, MAX_PACKET, Passage};
use crate::loss::Cause;
use crate::packet::{Packet, Slab};
use crate::probe::{Dropped, Recorder, Recording, Wants};
use crate::route::{Next, NoRoute, Routes};
use crate::spec::WorldSpec;
use netspurt_tcp::time::Time;

/// What is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// A packet has reached its destination. [`Network::release`] it when it has been looked at.
    Packet(u32),
    /// The driver's timer of this number.
    Timer(u32),
}

/// Channels, and what is on its way.
#[derive(Debug)]
pub struct Network {
    channels: Vec<Channel>,
    routes: Routes,
    packets: Slab,
    queue: EventQueue,
    /// Nothing that happens later is ever computed.
    horizon: u64,
    events: u64,
    pub(crate) recorder: Option<Box<Recorder>>,
}

impl Network {
    /// The network of `spec`, with the routes its flows need.
    pub fn new(spec: &WorldSpec, seed: u64, recorder: Option<Recorder>) -> Result<Self, NoRoute> {
        let mut channels = Vec::with_capacity(2 * spec.links.len());
        for (link, number) in spec.links.iter().zip((0u32..).step_by(2)) {
            let [a, b] = link.ends.map(|end| &spec.nodes[end.0 as usize]);
            let names = [
                format!("link/{}/{}->{}", link.name, a.name, b.name),
                format!("link/{}/{}->{}", link.name, b.name, a.name),
            ];
            let mut pair =
                Channel::pair(link, names.each_ref().map(String::as_str), seed, [number, number + 1]);
            pair[0].end_latency = b.latency.as_ps();
            pair[1].end_latency = a.latency.as_ps();
            channels.extend(pair);
        }
        let mut routes = Routes::new(spec)?;
        if spec.fuse {
            routes.fuse(&channels);
        }
        Ok(Self {
            channels,
            routes,
            packets: Slab::default(),
            queue: EventQueue::with_capacity(256),
            horizon: (Time::ZERO + spec.duration).as_ps(),
            events: 0,
            recorder: recorder.map(Box::new),
        })
    }

    /// The routes.
    pub const fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The channels: for each link its two directions.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Entries taken from the event queue so far.
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Packets on their way.
    pub fn packets_under_way(&self) -> usize {
        self.packets.len()
    }

    /// Wakes the driver at `time` with [`Due::Timer`].
    #[inline]
    pub fn arm(&mut self, time: Time, timer: u32) {
        if !time.is_never() {
            self.queue.push(time.as_ps(), self.channels.len() as u32 + timer);
        }
    }

    /// The next thing that is due for the driver, no later than `until`.
    #[inline]
    pub fn next(&mut self, until: Time) -> Option<(Time, Due)> {
        let until = until.as_ps().min(self.horizon);
        while let Some((now, source)) = self.queue.pop_until(until) {
            self.events += 1;
            let Some(channel) = self.channels.get_mut(source as usize) else {
                return Some((Time::from_ps(now), Due::Timer(source - self.channels.len() as u32)));
            };
            if channel.armed_at != now {
                continue;
            }
            let Some(head) = channel.in_flight.pop_front() else { continue };
            channel.armed_at = match channel.in_flight.front() {
                Some(next) => {
                    self.queue.push(next.arrival, source);
                    next.arrival
                }
                None => u64::MAX,
            };
            match self.routes.next(self.packets.get(head.slot).hop) {
                Next::End => return Some((Time::from_ps(now), Due::Packet(head.slot))),
                Next::Hop | Next::Fused => {
                    let packet = self.packets.get_mut(head.slot);
                    packet.hop += 1;
                    self.forward(head.slot, now);
                }
            }
        }
        None
    }

    /// A packet that has arrived.
    #[inline]
    pub fn packet(&self, slot: u32) -> &Packet {
        self.packets.get(slot)
    }

    /// Its place may be used again.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        self.packets.remove(slot);
    }

    /// A host sends a packet, whose [`Packet::hop`] is the start of its route.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet) {
        debug_assert!(packet.size < MAX_PACKET, "no such packet: {} octets", packet.size);
        let slot = self.packets.insert(packet);
        self.forward(slot, now.as_ps());
    }

    /// Takes a packet into the channel of its hop at `at`, and through all that can be computed at once.
    fn forward(&mut self, slot: u32, mut at: u64) {
        loop {
            let packet = self.packets.get_mut(slot);
            let hop = packet.hop;
            let number = self.routes.channel(hop);
            let channel = &mut self.channels[number as usize];
            if self.recorder.is_some() {
                watch_queue(self.recorder.as_deref_mut(), channel, number, at);
            }
            let passage = match channel.enter(at, packet.size) {
                Ok(passage) => passage,
                Err(cause) => return self.discard(slot, number, at, cause),
            };
            if let Some(partner) = channel.partner {
                let occupied = channel.occupied();
                self.channels[partner as usize].share(occupied);
            }
            let channel = &self.channels[number as usize];
            if channel.impairments.is_some() || self.recorder.is_some() {
                return self.ordeal(slot, number, at, passage);
            }
            match self.routes.next(hop) {
                Next::Fused if passage.arrival <= self.horizon => {
                    self.packets.get_mut(slot).hop += 1;
                    at = passage.arrival;
                }
                next => return self.carry(slot, number, passage.arrival, next),
            }
        }
    }

    /// The arrival of a packet at the end of this channel is an event.
    #[inline]
    fn carry(&mut self, slot: u32, number: u32, mut arrival: u64, next: Next) {
        let channel = &mut self.channels[number as usize];
        if next == Next::End {
            arrival = arrival.saturating_add(channel.end_latency);
        }
        if arrival > self.horizon {
            self.packets.remove(slot);
        } else if channel.carry(arrival, slot) {
            channel.armed_at = arrival;
            self.queue.push(arrival, number);
        }
    }

    /// What a packet goes through on a link where something may go wrong, or that is watched.
    #[cold]
    fn ordeal(&mut self, slot: u32, number: u32, at: u64, passage: Passage) {
        let packet = *self.packets.get(slot);
        let channel = &mut self.channels[number as usize];
        let size = channel.framed(packet.size);
        let impairments = channel.impairments.as_mut();
        let fate = impairments.map_or_else(Fate::default, |impairments| impairments.decide(&packet, size));
        let Fate { lost, held, doubled, damaged } = fate;
        let arrival = passage.arrival.saturating_add(held);
        if let Some(recorder) = &mut self.recorder {
            let watched = self.channels[number as usize].backlog().packets;
            if recorder.wants(Wants::QUEUE) && passage.start > at {
                recorder.queue(at, number, watched);
            }
            recorder.entered(number, &packet, passage.start, arrival, &fate);
        }
        if let Some(cause) = lost {
            return self.discard(slot, number, at, cause);
        }
        let counters = &mut self.channels[number as usize].counters;
        counters.held += u64::from(held > 0);
        counters.doubled += u64::from(doubled);
        counters.damaged += u64::from(damaged);
        self.packets.get_mut(slot).corrupted |= damaged;
        let twin = doubled.then(|| self.packets.insert(*self.packets.get(slot)));
        self.go_on(slot, number, arrival);
        if let Some(twin) = twin {
            self.go_on(twin, number, arrival);
        }
    }

    /// A packet has come through this channel: to the next one at once, or at an event.
    fn go_on(&mut self, slot: u32, number: u32, arrival: u64) {
        match self.routes.next(self.packets.get(slot).hop) {
            Next::Fused if arrival <= self.horizon => {
                self.packets.get_mut(slot).hop += 1;
                self.forward(slot, arrival);
            }
            next => self.carry(slot, number, arrival, next),
        }
    }

    #[cold]
    fn discard(&mut self, slot: u32, number: u32, at: u64, cause: Cause) {
        let packet = self.packets.get(slot);
        let channel = &mut self.channels[number as usize];
        channel.count_drop(at, packet.size, cause);
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::DROPS)
        {
            let backlog = channel.backlog();
            recorder.dropped(packet, |flow, end| Dropped {
                time: Time::from_ps(at),
                channel: number,
                cause,
                queue_packets: backlog.packets,
                queue_bytes: backlog.bytes,
                flow,
                end,
                size: packet.size,
                segment: packet.segment,
            });
        }
        self.packets.remove(slot);
    }

    /// The run ends at `end`: what was recorded, in order.
    pub fn close(&mut self, end: Time) -> Recording {
        for (channel, number) in self.channels.iter_mut().zip(0..) {
            watch_queue(self.recorder.as_deref_mut(), channel, number, end.as_ps());
        }
        self.recorder.take().map(|recorder| recorder.finish()).unwrap_or_default()
    }
}

/// Notes the departures from a queue up to `at`.
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
