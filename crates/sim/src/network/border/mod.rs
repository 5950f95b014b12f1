//! The border between two parts of a network that run on different threads.
//!
//! A channel that leads out of this part is a *border channel*. One of the two parts simulates its queue and its transmitter. If
//! this part does, a packet that has passed them goes to the part in which the channel ends, and arrives there. Otherwise
//! the packet goes there before it enters the channel.

pub(super) mod crossings;

use crate::network::Network;
use crate::network::border::crossings::{Crossing, Crossings};
use crate::network::channel::{BORDER, BORDER_ELSEWHERE, Channel};
use crate::network::packet::Stage;

/// The part of the network to which a border channel leads, by the number of its fan.
const fn part_behind(fan: u16) -> usize {
    let first = if fan > BORDER_ELSEWHERE { BORDER } else { BORDER_ELSEWHERE };
    (first - fan) as usize
}

impl Network {
    /// Makes these channels border channels, each into the part with the given number. The last value says whether that part
    /// simulates the channel.
    pub(crate) fn set_border(&mut self, channels: impl Iterator<Item = (u32, u16, bool)>) {
        for (number, part, is_simulated_there) in channels {
            self.routes.part_behind(number);
            self.channels[number as usize].lead_into(part, is_simulated_there);
            let parts = self.crossings.len().max(usize::from(part) + 1);
            self.crossings.resize_with(parts, Crossings::default);
        }
    }

    /// A packet has passed a border channel.
    #[inline(never)]
    pub(super) fn cross_border(&mut self, slot: u32, fan: u16, arrival: u64, stage: Stage) {
        self.hand_over(slot, fan, arrival, Crossing::Passed { arrival, stage });
    }

    /// A packet enters a border channel that the part behind it simulates. `stage` is that of the hop before.
    #[inline(never)]
    pub(super) fn enter_elsewhere(&mut self, slot: u32, at: u64, stage: Stage) {
        let channel = &self.channels[self.routes.hop(stage.onward).channel() as usize];
        let (fan, earliest) = (channel.fan, at.saturating_add(channel.lookahead()));
        self.hand_over(slot, fan, earliest, Crossing::Enters { at, stage });
    }

    /// Adds a packet to those that go to another part.
    #[inline(always)]
    fn hand_over(&mut self, slot: u32, fan: u16, earliest: u64, crossing: Crossing) {
        self.crossings[part_behind(fan)].push(crossing, earliest, self.packets.get(slot));
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
        for (&crossing, packet) in crossings.all() {
            let slot = self.packets.reserve();
            // By reference: each copy of a packet takes as long as a channel.
            *self.packets.get_mut(slot) = *packet;
            match crossing {
                Crossing::Enters { at, stage } => {
                    // A closure of its own, so that it is inlined.
                    let enter = |channel: &mut Channel, now, size| channel.enter_crowd(now, size);
                    self.forward_by(enter, (slot, stage.size), stage.onward, at);
                }
                Crossing::Passed { arrival, stage } => self.arrive(slot, arrival, stage),
            }
        }
        crossings.clear();
    }

    /// A packet that has passed a border channel will arrive here.
    fn arrive(&mut self, slot: u32, arrival: u64, stage: Stage) {
        let hop = self.routes.hop(stage.hop());
        if hop.goes_on_at_once() && arrival <= self.horizon {
            self.forward(slot, stage.size, stage.onward, arrival);
        } else {
            self.set_off(slot, hop.channel(), arrival, stage);
        }
    }

    /// Takes the channels that another part has simulated, and its hubs, from that part at the end of the run.
    pub(crate) fn merge_from(&mut self, other: Self, was_there: &dyn Fn(u32) -> bool) {
        for (number, (ours, theirs)) in (0..).zip(self.channels.iter_mut().zip(other.channels)) {
            if was_there(number) {
                *ours = theirs;
            }
        }
        for (ours, theirs) in self.hubs.iter_mut().zip(other.hubs) {
            // All stations of a hub are in the same part.
            if ours.stations.first().is_some_and(|station| was_there(station.channel)) {
                *ours = theirs;
            }
        }
        self.data_packets += other.data_packets;
        self.events_elsewhere += other.queue.popped();
    }
}
