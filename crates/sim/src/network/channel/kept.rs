//! Channels that store their packets: arrivals, departures, and the routes of classes.

use crate::network::Network;
use crate::network::packet::Packet;
use crate::network::queue::{Kept, Leaving, Passing};
use crate::record::probe::Wants;
use crate::spec::NodeId;
use netspurt_tcp::segment::Ecn;

impl Network {
    /// The route from one node to another for packets with this differentiated services codepoint.
    pub fn route_of_class(&mut self, from: NodeId, to: NodeId, dscp: u8) -> Option<u32> {
        if self.routes.between_in_class(from, to, dscp).is_none() {
            self.routes.add_class(from, to, dscp & 63);
        }
        self.routes.between_in_class(from, to, dscp & 63).map(|(there, _)| there)
    }

    /// A packet arrives at a channel that stores its packets.
    pub(in crate::network) fn wait_or_pass(&mut self, slot: u32, position: u32, at: u64) {
        let number = self.routes.hop(position).channel();
        // What may leave at this very instant does so, whichever of the two events comes up first.
        let channel = &self.channels[number as usize];
        if channel.is_free(at) || channel.gathers() {
            self.depart(number, at);
        }
        let packet = *self.packets.get(slot);
        let channel = &mut self.channels[number as usize];
        channel.attune(at);
        let mut kept = channel.waiting_for(at, (slot, position), &packet);
        if channel.classifies() {
            kept.origin = self.routes.origin(position);
        }
        if channel.is_free(at) && channel.backlog().packets == 0 {
            return self.pass_by(number, kept, &packet);
        }
        if let Err(cause) = channel.keep(kept, &packet) {
            return self.discard(slot, number, at, cause);
        }
        self.note_kept(number, &packet, at);
        self.make_room(number, at);
        self.arm_departure(number);
    }

    /// A packet arrives at a channel that stores its packets, with an empty queue and a free transmitter.
    fn pass_by(&mut self, number: u32, kept: Kept, packet: &Packet) {
        match self.channels[number as usize].pass_by(kept, packet) {
            Passing::Sent(kept) => {
                self.mark_as_kept(kept, number, kept.since);
                self.pass(kept.slot, kept.position, kept.since);
            }
            Passing::Dropped(cause) => self.discard(kept.slot, number, kept.since, cause),
            Passing::Waits => {
                self.note_kept(number, packet, kept.since);
                self.note_queue(number, kept.since);
                self.arm_departure(number);
            }
        }
    }

    /// Sends stored packets of a channel if its transmitter is free.
    #[cold]
    pub(in crate::network) fn depart(&mut self, number: u32, now: u64) {
        if let Some(gather) = self.channels[number as usize].gather() {
            let released = gather.take_due(now);
            self.release_gathered(number, now, released);
        }
        if let Some((hub, _)) = self.channels[number as usize].station {
            return self.take_turns(hub, now);
        }
        while self.channels[number as usize].is_open(now)
            && let Some((slot, position)) = self.take_kept(number, now)
        {
            self.pass(slot, position, now);
        }
        self.arm_departure(number);
    }

    /// The next stored packet of a channel with a free transmitter. Packets that the queue drops are discarded.
    pub(in crate::network) fn take_kept(&mut self, number: u32, now: u64) -> Option<(u32, u32)> {
        while let Some(leaving) = self.channels[number as usize].let_go(now) {
            self.note_queue(number, now);
            self.note_left(number, leaving, now);
            match leaving {
                Leaving::Sent(kept) => {
                    self.mark_as_kept(kept, number, now);
                    return Some((kept.slot, kept.position));
                }
                Leaving::Dropped(kept, cause) => self.discard(kept.slot, number, now, cause),
            }
        }
        None
    }

    /// A packet was stored at a channel. Discards packets that the queue drops to make room, possibly this one.
    pub(in crate::network) fn make_room(&mut self, number: u32, now: u64) {
        let with_it = self.channels[number as usize].backlog().packets;
        while let Some(leaving) = self.channels[number as usize].overflow(now) {
            let Leaving::Dropped(kept, cause) = leaving else { break };
            self.note_left(number, leaving, now);
            self.discard(kept.slot, number, now, cause);
        }
        if self.channels[number as usize].backlog().packets + 1 != with_it {
            self.note_queue(number, now);
        }
    }

    /// Schedules the departure of the next stored packet of a channel.
    fn arm_departure(&mut self, number: u32) {
        if let Some(at) = self.channels[number as usize].next_departure().filter(|&at| at <= self.horizon) {
            self.queue.push(at, number);
        }
    }

    /// Records a change of the number of stored packets of a channel.
    fn note_queue(&mut self, number: u32, at: u64) {
        if let Some(recorder) = &mut self.recorder
            && recorder.wants(Wants::QUEUE)
        {
            recorder.queue(at, number, self.channels[number as usize].backlog().packets);
        }
    }

    /// Records that a channel has stored a packet.
    fn note_kept(&mut self, number: u32, packet: &Packet, at: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.kept(number, packet, at);
        }
    }

    /// Records that a stored packet leaves the queue of a channel.
    fn note_left(&mut self, number: u32, leaving: Leaving, now: u64) {
        let (Leaving::Sent(kept) | Leaving::Dropped(kept, _)) = leaving;
        if let Some(recorder) = &mut self.recorder {
            recorder.left(number, self.packets.get(kept.slot), now);
        }
    }

    /// Copies the mark that a queue has set to the packet.
    pub(in crate::network) fn mark_as_kept(&mut self, kept: Kept, number: u32, now: u64) {
        if kept.ecn == Ecn::Ce {
            self.mark(kept.slot, number, now);
        }
    }
}
