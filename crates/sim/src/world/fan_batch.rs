//! Hosts that take their packets from a fan, one after the other, ahead of other events: see `network/channel/fans/batch.rs`.

use super::World;
use crate::network::{GROUP, Next};
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
        self.take_alone(now, slot, self.network.packet(slot).endpoint);
        if !goes_on {
            return;
        }
        loop {
            let group = self.network.first_of_fan(channel);
            if group.packets().is_empty() {
                return;
            }
            self.fetch_group(group.packets());
            for &Next { arrival, slot, endpoint } in group.packets() {
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
    fn fetch_group(&self, group: &[Next]) {
        let Some(first) = group.first() else { return };
        let mut endpoints = [&self.endpoints[first.endpoint as usize]; GROUP];
        let endpoints = &mut endpoints[..group.len()];
        for (endpoint, next) in endpoints.iter_mut().zip(group) {
            *endpoint = &self.endpoints[next.endpoint as usize];
            endpoint.fetch();
        }
        for endpoint in &*endpoints {
            self.network.fetch_hop(endpoint.route);
            endpoint.fetch_losses();
        }
        for endpoint in &*endpoints {
            self.network.fetch_uplink(endpoint.route, endpoint.sends_bulk());
        }
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.sends_bulk()) {
            self.network.fetch_queue(endpoint.route);
        }
    }

    /// Endpoint `place` processes a packet.
    #[inline]
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
