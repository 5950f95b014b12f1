//! The packets of a fan whose hosts process them ahead of other events, as those of inboxes do (`network/inbox.rs`).
//!
//! The hosts take them one after the other, in order of arrival. `world/fan_batch.rs` says which hosts may.

use crate::network::Network;
use crate::network::channel::fans::{Landed, Member};
use crate::network::packet::Entry;
use netspurt_tcp::time::Time;

/// Number of packets whose data is prefetched together: the loads for all of them overlap.
pub(crate) const GROUP: usize = 16;

/// A packet in the chain of a fan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Next {
    pub(crate) arrival: Time,
    pub(crate) slot: u32,
    /// Its receiver.
    pub(crate) endpoint: u32,
    /// The channel through which the receiver sends, for those that prefetch it.
    pub(crate) uplink: u32,
}

/// The first packets in the chain of a fan: as many as are prefetched together, in order.
pub(crate) type Group = [Next; GROUP];

impl Network {
    /// The packet of a fan's channel that arrives at `now`.
    pub(in crate::network) fn land_in_fan(&mut self, channel: u32, now: u64) -> Option<Landed> {
        let Self { fans, channels, packets, routes, .. } = self;
        let channel_of = |position| routes.hop(position).channel();
        let through = &mut channels[channel as usize];
        let fan = fans.get_mut(through.fan);
        let landed = fan.land(&mut through.in_flight, packets, channel_of, (now, channel));
        if landed.is_none() {
            self.depart(channel, now);
        }
        landed
    }

    /// Enters the next arrival into the event queue.
    #[inline]
    pub(in crate::network) fn expect(&mut self, next: Option<Entry>) {
        if let Some((arrival, channel)) = next {
            self.queue.push(arrival, channel);
        }
    }

    /// The packet of a fan's channel that arrives at `now`, and whether others behind it in the chain of the fan may be taken ahead
    /// of other events. The first of these is due only after [`Network::leave_fan`].
    pub(crate) fn open_fan(&mut self, channel: u32, now: Time) -> Option<(u32, bool)> {
        let Landed { slot, next, strayed, .. } = self.land_in_fan(channel, now.as_ps())?;
        if strayed {
            self.expect(next);
        }
        Some((slot, !strayed))
    }

    /// Looks up the first packets in the chain of this channel's fan, and prefetches them. Returns those that there are.
    #[inline]
    pub(crate) fn first_of_fan<'a>(&mut self, channel: u32, group: &'a mut Group) -> &'a mut [Next] {
        let Self { fans, channels, packets, .. } = self;
        let chain = &fans.get_mut(channels[channel as usize].fan).chain;
        let mut len = 0;
        for (&Member { arrival, slot, .. }, next) in chain.iter().zip(&mut *group) {
            let endpoint = packets.fetch(slot).endpoint;
            (next.arrival, next.slot, next.endpoint) = (Time::from_ps(arrival), slot, endpoint);
            len += 1;
        }
        &mut group[..len]
    }

    /// The channel of the first hop of this route.
    #[inline]
    pub(crate) fn first_channel(&self, route: u32) -> u32 {
        self.routes.hop(route).channel()
    }

    /// Prefetches the channel through which an endpoint sends. If it `sends_bulk`, packets may wait there.
    #[inline]
    pub(crate) fn fetch_uplink(&self, number: u32, sends_bulk: bool) {
        let channel = &self.channels[number as usize];
        if sends_bulk {
            channel.fetch_all();
        } else {
            channel.fetch();
        }
    }

    /// Removes the first packet from the chain of this channel's fan. Where its host may not get ahead, or an earlier packet has
    /// not arrived there, the packet waits in the chain of its own channel. Returns whether it is to be processed.
    #[inline]
    pub(crate) fn take_first_of_fan(&mut self, channel: u32, may_get_ahead: bool) -> bool {
        let Self { fans, channels, packets, routes, queue, .. } = self;
        let fan = fans.get_mut(channels[channel as usize].fan);
        let Some(first) = fan.chain.pop_front() else { return false };
        if may_get_ahead && !fan.has_strays() {
            return true;
        }
        let through = routes.hop(first.stage.hop()).channel();
        let own = &mut channels[through as usize].in_flight;
        if may_get_ahead && own.is_empty() {
            return true;
        }
        if fan.stray(own, packets, first) {
            queue.push(first.arrival, through);
        }
        false
    }

    /// The first packet in the chain of this channel's fan, if there is one, waits for other events.
    #[cold]
    pub(crate) fn leave_fan(&mut self, channel: u32) {
        let fan = self.fans.get_mut(self.channels[channel as usize].fan);
        if let Some(&Member { arrival, stage, .. }) = fan.chain.front() {
            self.queue.push(arrival, self.routes.hop(stage.hop()).channel());
        }
    }
}
