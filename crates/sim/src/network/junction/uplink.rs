//! The way of a host's packets to its junction, for a host that processes many packets in one loop: what is the same for all of
//! them is looked up once.

use crate::engine::EventQueue;
use crate::network::Network;
use crate::network::channel::{Channel, JUNCTION, LAST_FAN};
use crate::network::junction::junctions::{Junction, number_of};
use crate::network::loss::Cause;
use crate::network::packet::{Arrived, Chain, Packet, Slab, Stage};
use crate::network::route::Routes;
use netspurt_tcp::time::Time;

/// The channel from a host to a junction.
#[derive(Debug)]
pub(crate) struct Uplink<'a> {
    channel: &'a mut Channel,
    number: u32,
    junction: &'a mut Junction,
    packets: &'a mut Slab,
    routes: &'a Routes,
    queue: &'a mut EventQueue,
    /// The position behind the first hop in the network's list of hops.
    onward: u32,
    /// The number of the driver's first timer in the event queue.
    timers: u32,
    horizon: u64,
    data_packets: &'a mut u64,
}

impl Network {
    /// The uplink of packets that take this route, if it is a plain channel to a junction; and the packets in flight to their
    /// host, if the number of its `inbox` is given.
    #[inline(always)]
    pub(crate) fn uplink(
        &mut self,
        inbox: Option<u32>,
        route: u32,
    ) -> Option<(Uplink<'_>, Option<&mut Chain>)> {
        let Self { channels, junctions, packets, routes, queue, horizon, data_packets, .. } = self;
        let (hop, timers) = (routes.hop(route), channels.len() as u32);
        let number = hop.channel();
        let (inbox, channel) = match inbox {
            None => (None, channels.get_mut(number as usize)?),
            Some(inbox) => {
                let [host, channel] = channels.get_disjoint_mut([inbox as usize, number as usize]).ok()?;
                (Some(&mut host.in_flight), channel)
            }
        };
        let leads_to_junction = channel.fan > LAST_FAN && channel.fan <= JUNCTION;
        if !leads_to_junction || !channel.is_plain() || hop.is_last() || hop.goes_on_at_once() {
            return None;
        }
        let junction = junctions.get_mut(number_of(channel.fan));
        let (onward, horizon) = (route + 1, *horizon);
        let uplink = Uplink {
            channel,
            number,
            junction,
            packets,
            routes,
            queue,
            onward,
            timers,
            horizon,
            data_packets,
        };
        Some((uplink, inbox))
    }
}

impl Uplink<'_> {
    /// The number of the channel.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// See [`Network::packet`].
    #[inline(always)]
    pub(crate) fn packet(&mut self, slot: u32) -> &mut Packet {
        self.packets.get_mut(slot)
    }

    /// See [`Network::release`].
    #[inline(always)]
    pub(crate) fn release(&mut self, slot: u32) {
        self.packets.remove(slot);
    }

    /// The host sends the packet in `slot`, of `size` bytes: the same as [`Network::send_slot`]. If its channel drops it, its
    /// place is not released.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, slot: u32, (size, has_data): (u32, bool)) -> Result<(), Cause> {
        *self.data_packets += u64::from(has_data);
        let arrival = self.channel.enter(now.as_ps(), size)?.arrival;
        if arrival > self.horizon {
            self.packets.remove(slot);
            return Ok(());
        }
        let stage = Stage { size, onward: self.onward };
        if self.junction.take_off(self.packets, self.routes, (slot, arrival, stage)) {
            self.queue.push(arrival, self.number);
        }
        Ok(())
    }

    /// See [`Network::land_in_inbox`].
    #[inline(always)]
    pub(crate) fn land(&mut self, inbox: &mut Chain, now: Time) -> Option<(u32, Time)> {
        let Arrived { slot, next_arrival, .. } = self.packets.land(inbox, now.as_ps())?;
        Some((slot, next_arrival.map_or(Time::NEVER, Time::from_ps)))
    }

    /// See [`Network::leave_inbox`].
    #[inline]
    pub(crate) fn leave_inbox(&mut self, inbox: u32, next: Time) {
        self.queue.push(next.as_ps(), inbox);
    }

    /// See [`Network::arm`].
    #[cold]
    #[inline(never)]
    pub(crate) fn arm(&mut self, time: Time, timer: u32) {
        if time.as_ps() <= self.horizon {
            self.queue.push(time.as_ps(), self.timers + timer);
        }
    }
}
