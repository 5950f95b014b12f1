//! What a medium's steps mean for the packets of a hub's stations.
//!
//! A station's packets wait in its own queue. One that has its turn leaves the queue and is held by the station until it
//! has come through, however often it collides; a queue that decides at departure decides then.

use crate::network::Network;
use crate::network::channel::Channel;
use crate::network::loss::Cause;
use crate::network::medium::hub::{Hub, Station};
use crate::network::medium::{Step, Then};
use crate::network::queue::{Kept, OnArrival, Passing};

impl Network {
    /// A packet arrives at a station of a hub.
    pub(in crate::network) fn forward_to_hub(
        &mut self,
        slot: u32,
        position: u32,
        at: u64,
        hub: u32,
        station: u32,
    ) {
        // What may leave at this very instant does so, whichever of the two events comes up first.
        self.take_turns(hub, at);
        let number = self.routes.hop(position).channel();
        let medium = &mut self.hubs[hub as usize].medium;
        let channel = &mut self.channels[number as usize];
        if channel.detects_early() {
            let idle = channel.idle(at).filter(|_| !medium.holds(station));
            match channel.judge_early(idle, self.packets.get(slot)) {
                OnArrival::Pass => {}
                OnArrival::Mark => self.mark(slot, number, at),
                OnArrival::Drop(cause) => return self.discard(slot, number, at, cause),
            }
        }
        let medium = &mut self.hubs[hub as usize].medium;
        let channel = &mut self.channels[number as usize];
        let packet = self.packets.get(slot);
        let mut kept = channel.waiting_for(at, (slot, position), packet);
        if channel.classifies() {
            kept.origin = self.routes.origin(position);
        }
        if channel.backlog().packets == 0 && medium.is_clear(station, at) {
            match channel.pass_by(kept, packet) {
                Passing::Dropped(cause) => return self.discard(slot, number, at, cause),
                // A station has no say in when it sends: its queue is open.
                Passing::Sent(Kept { ecn, .. }) => kept.ecn = ecn,
                Passing::Waits => {}
            }
            medium.begin(station, at);
            self.hubs[hub as usize].stations[station as usize].held = Some((slot, position));
            self.mark_as_kept(kept, number, at);
        } else {
            if let Err(cause) = channel.keep(kept, packet) {
                return self.discard(slot, number, at, cause);
            }
            medium.request(station, at);
            let waiting = channel.backlog().packets;
            self.make_room(number, at);
            self.withdraw(hub, station, waiting);
        }
        self.take_turns(hub, at);
    }

    /// Stations of a hub send what they may at `now`.
    pub(in crate::network) fn take_turns(&mut self, hub: u32, now: u64) {
        while let Some(step) = self.hubs[hub as usize].medium.step(now) {
            match step {
                Step::Take(station) => self.take_turn(hub, station, now),
                Step::Sent { station, start } => self.send_through(hub, station, start),
                Step::GivenUp(station) => self.give_up(hub, station, now),
            }
        }
        let hub = &mut self.hubs[hub as usize];
        if let Some(at) = hub.medium.next()
            && at != hub.armed_at
            && at <= self.horizon
        {
            hub.armed_at = at;
            self.queue.push(at, hub.stations[0].channel);
        }
    }

    /// A station takes the next packet from its queue.
    fn take_turn(&mut self, hub: u32, station: u32, now: u64) {
        let number = self.hubs[hub as usize].stations[station as usize].channel;
        let waiting = self.channels[number as usize].backlog().packets;
        let next = self.take_kept(number, now);
        self.withdraw(hub, station, waiting - u32::from(next.is_some()));
        let hub = &mut self.hubs[hub as usize];
        hub.stations[station as usize].held = next;
        hub.medium.took(station, next.is_some());
    }

    /// Of the packets that waited, those that no longer do have been dropped.
    fn withdraw(&mut self, hub: u32, station: u32, waiting: u32) {
        let hub = &mut self.hubs[hub as usize];
        let number = hub.stations[station as usize].channel;
        for _ in self.channels[number as usize].backlog().packets..waiting {
            hub.medium.withdraw(station);
        }
    }

    /// A station's packet has the medium for itself.
    fn send_through(&mut self, hub: u32, station: u32, start: u64) {
        let Hub { stations, free, .. } = &mut self.hubs[hub as usize];
        let Station { channel: number, held } = &mut stations[station as usize];
        let number = *number;
        let (slot, position) = held.take().expect("a station that sends holds a packet");
        self.channels[number as usize].share(*free);
        self.pass(slot, position, start);
        let channel = &self.channels[number as usize];
        let then = next_of(channel);
        let hub = &mut self.hubs[hub as usize];
        hub.free = channel.occupied_after(hub.gap);
        hub.medium.sent(station, channel.occupied().0.as_ps(), hub.free.0.as_ps(), then);
    }

    /// A station's packet has collided too often.
    fn give_up(&mut self, hub: u32, station: u32, now: u64) {
        let Station { channel: number, held } = &mut self.hubs[hub as usize].stations[station as usize];
        let number = *number;
        if let Some((slot, _)) = held.take() {
            self.discard(slot, number, now, Cause::Collisions);
        }
        let then = next_of(&self.channels[number as usize]);
        self.hubs[hub as usize].medium.gave_up(station, then);
    }
}

/// Whether a station has more to send.
fn next_of(channel: &Channel) -> Then {
    if channel.backlog().packets > 0 { Then::More } else { Then::Nothing }
}
