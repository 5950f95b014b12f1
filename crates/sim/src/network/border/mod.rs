//! The border between two parts of a network that run on different threads.
//!
//! A channel that leads out of this part is a *border channel*. One of the two parts simulates its queue and its transmitter. If
//! this part does, a packet that has passed them goes to the part in which the channel ends, and arrives there. Otherwise
//! the packet goes there before it enters the channel.

pub(super) mod crossings;

use crate::network::Network;
use crate::network::border::crossings::Crossings;
use crate::network::channel::{BORDER, BORDER_ELSEWHERE};
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

    /// A packet has passed the border channel with this fan, or enters it if `stage` says so. Without a call at the `BORDER`.
    #[inline(always)]
    pub(super) fn leave<const BORDER: bool>(&mut self, slot: u32, fan: u16, at: u64, stage: Stage) {
        if BORDER {
            self.hand_over(slot, fan, at, stage);
        } else {
            self.hand_over_elsewhere(slot, fan, at, stage);
        }
    }

    #[inline(always)]
    fn hand_over(&mut self, slot: u32, fan: u16, at: u64, stage: Stage) {
        self.crossings[part_behind(fan)].push(at, stage, self.packets.get(slot));
        self.packets.remove(slot);
    }

    /// The same where packets seldom leave.
    #[inline(never)]
    fn hand_over_elsewhere(&mut self, slot: u32, fan: u16, at: u64, stage: Stage) {
        self.hand_over(slot, fan, at, stage);
    }

    /// Whether packets may leave this part of the network.
    pub(super) const fn has_border(&self) -> bool {
        !self.crossings.is_empty()
    }

    /// Exchanges the packets that have crossed the border into a part for an empty list.
    pub(crate) fn take_crossings(&mut self, part: usize, empty: &mut Crossings) {
        if let Some(crossings) = self.crossings.get_mut(part) {
            core::mem::swap(crossings, empty);
        }
    }

    /// Takes packets from another part of the network, before their times of arrival. The list is empty afterwards.
    pub(crate) fn receive_crossings(&mut self, crossings: &mut Crossings) {
        for crossing in crossings.all() {
            let (slot, at, stage) = (self.packets.reserve(), crossing.at, crossing.stage);
            crossings.read(crossing, self.packets.get_mut(slot));
            if stage.is_to_enter() || self.routes.hop(stage.hop()).goes_on_at_once() {
                self.forward_by::<true, false>(slot, stage.size, stage.next(), at);
            } else {
                self.set_off(slot, self.routes.hop(stage.hop()).channel(), at, stage);
            }
        }
        crossings.clear();
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
