//! The border between two parts of a network that run on different threads.
//!
//! A channel that leads out of this part is a *border channel*. Its queue and its transmitter are in this part. A packet that
//! has passed them goes to the part in which the channel ends, and arrives there.

pub(super) mod crossings;

use crate::network::Network;
use crate::network::border::crossings::{Crossing, Crossings};
use crate::network::channel::BORDER;
use crate::network::packet::Stage;

/// The part of the network to which a border channel leads, by the number of its fan.
const fn part_behind(fan: u16) -> usize {
    (BORDER - fan) as usize
}

impl Network {
    /// Makes these channels border channels, each into the part with the given number.
    pub(crate) fn set_border(&mut self, channels: impl Iterator<Item = (u32, u16)>) {
        for (number, part) in channels {
            self.routes.part_behind(number);
            self.channels[number as usize].fan = BORDER - part;
            let parts = self.crossings.len().max(usize::from(part) + 1);
            self.crossings.resize_with(parts, Crossings::default);
        }
    }

    /// A packet passes a border channel.
    #[inline(never)]
    pub(super) fn cross_border(&mut self, slot: u32, (channel, fan): (u32, u16), arrival: u64, stage: Stage) {
        let crossing = Crossing { arrival, stage, channel };
        self.crossings[part_behind(fan)].push(crossing, self.packets.get(slot));
        self.packets.remove(slot);
    }

    /// Exchanges the packets that have crossed the border into a part for an empty list.
    pub(crate) fn take_crossings(&mut self, part: usize, empty: &mut Crossings) {
        if let Some(crossings) = self.crossings.get_mut(part) {
            core::mem::swap(crossings, empty);
        }
    }

    /// Takes packets from another part of the network, before their times of arrival. The list is empty afterwards.
    pub(crate) fn receive_crossings(&mut self, crossings: &mut Crossings) {
        for (&Crossing { channel, arrival, stage }, packet) in crossings.all() {
            let slot = self.packets.reserve();
            // By reference: each copy of a packet takes as long as a channel.
            *self.packets.get_mut(slot) = *packet;
            if self.routes.hop(stage.hop()).goes_on_at_once() && arrival <= self.horizon {
                self.forward(slot, stage.size, stage.onward, arrival);
            } else {
                self.set_off(slot, channel, arrival, stage);
            }
        }
        crossings.clear();
    }

    /// Takes the channels that begin in another part, and the hubs there, from that part at the end of the run.
    pub(crate) fn merge_from(&mut self, other: Self, began_there: &dyn Fn(u32) -> bool) {
        for (number, (ours, theirs)) in (0..).zip(self.channels.iter_mut().zip(other.channels)) {
            if began_there(number) {
                *ours = theirs;
            }
        }
        for (ours, theirs) in self.hubs.iter_mut().zip(other.hubs) {
            // All stations of a hub are in the same part.
            if ours.stations.first().is_some_and(|station| began_there(station.channel)) {
                *ours = theirs;
            }
        }
        self.data_packets += other.data_packets;
        self.events_elsewhere += other.queue.popped();
    }
}
