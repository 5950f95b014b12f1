//! Hosts that take their packets from a fan, one after the other, ahead of other events: see `network/channel/fans/batch.rs`.

use super::World;
use crate::network::{Group, Next};
use crate::world::answering::{Inbox, Left};
use crate::world::inbox::is_ordinary;
use crate::world::serving::Served;
use netspurt_tcp::time::Time;

impl World {
    /// The first packet of a fan is due at `now`. Its host processes it, and others process those behind it up to `until`. If
    /// something else may happen to a host before its packet arrives, the packet waits for that.
    pub(super) fn open_fan(&mut self, now: Time, channel: u32, until: Time) {
        // The starter is armed anew only for an endpoint that is over, and that does not get ahead.
        let until = until.min(self.starter_armed_at);
        let Some((slot, goes_on)) = self.network.open_fan(channel, now) else { return };
        self.take_first(now, slot);
        if !goes_on {
            return;
        }
        let mut group = Group::default();
        loop {
            let group = self.network.first_of_fan(channel, &mut group);
            if group.is_empty() {
                return;
            }
            self.fetch_group(group);
            for &mut Next { arrival, slot, endpoint, .. } in group {
                if arrival > until {
                    return self.network.leave_fan(channel);
                }
                let may_get_ahead = self.may_get_ahead(arrival, slot, endpoint);
                if self.network.take_first_of_fan(channel, may_get_ahead) {
                    self.take_alone(arrival, slot, endpoint);
                }
            }
        }
    }

    /// Prefetches what the endpoints of a group need. What is known only from memory that is still being loaded comes later.
    #[inline]
    fn fetch_group(&self, group: &mut [Next]) {
        for next in &*group {
            self.endpoints[next.endpoint as usize].fetch();
        }
        for next in &mut *group {
            let endpoint = &self.endpoints[next.endpoint as usize];
            next.uplink = self.network.first_channel(endpoint.route);
            endpoint.fetch_losses();
        }
        for next in &*group {
            self.network.fetch_uplink(next.uplink, self.endpoints[next.endpoint as usize].sends_bulk());
        }
    }

    /// [`Self::take_alone`] for the first packet, apart from the loop.
    #[inline(never)]
    fn take_first(&mut self, now: Time, slot: u32) {
        self.take_alone(now, slot, self.network.packet(slot).endpoint);
    }

    /// Endpoint `place` processes a packet.
    #[inline(always)]
    fn take_alone(&mut self, now: Time, slot: u32, place: u32) {
        let left = if self.answers { self.answer_one(now, place, slot) } else { Left::Packet };
        match left {
            Left::Nothing => self.note_progress(now, place),
            Left::Packet => self.take(now, Inbox { slot, ..Inbox::EMPTY }),
            Left::Service => self.serve(now, place),
            Left::More | Left::Dropped { .. } => {
                let served = self.finish_answer(now, place, slot, left);
                if served != Served::Whole || self.is_watched && self.is_worth_recording(place) {
                    self.conclude_specially(now, place, served);
                }
                self.note_progress(now, place);
            }
        }
    }

    /// Whether nothing happens to an endpoint before its next packet, in `slot`, arrives.
    ///
    /// The entry of its timer in the event queue may be due before: if the connection has moved its deadline, such an entry has
    /// no effect.
    #[inline]
    fn may_get_ahead(&self, arrival: Time, slot: u32, place: u32) -> bool {
        let endpoint = &self.endpoints[place as usize];
        // The place may belong to another flow now.
        let is_current = self.network.packet(slot).generation == endpoint.generation;
        let deadline = || endpoint.connection.as_ref().map_or(Time::ZERO, |all| all.next_deadline());
        is_current
            && is_ordinary(endpoint)
            && arrival <= endpoint.app_armed_at
            && (arrival <= endpoint.armed_at || arrival <= deadline())
    }
}
