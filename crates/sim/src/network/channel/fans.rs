//! Fans: channels behind one router that share a chain of packets in flight.
//!
//! Channels that are fused with the same channel, and are equally long and fast, are a *fan*: the links from a router to
//! its hosts, for example. Most packets leave a fan in the order in which they entered it. So they are in one chain, and
//! only the first one has an entry in the event queue, instead of one for each channel. A packet that does not follow this
//! order is in the chain of its own channel, as it would be without a fan. The order of events is the
//! same in both cases: the chain is sorted by arrival, then by channel, as the event queue is.

use crate::engine::EventQueue;
use crate::network::channel::{ALONE, Channel, LAST_FAN};
use crate::network::packet::{Arrived, Chain, Slab, Stage};
use crate::network::route::Routes;
use std::collections::BTreeMap;

/// Fewer channels than this are not joined: their entries cost little in the event queue.
const LEAST: usize = 32;

/// The number of channels of a wide fan.
const WIDE: usize = 256;

/// No endpoint.
const NOBODY: u32 = u32::MAX;

/// The fans of a network.
#[derive(Debug)]
pub(in crate::network) struct Fans {
    chains: Vec<Chain>,
    /// Whether there are so many channels that their data does not fit into the cache: then prefetching saves time.
    is_wide: bool,
    /// See [`Fans::take_upcoming`].
    upcoming: u32,
}

impl Fans {
    /// Joins these channels to fans, if there are enough of one kind.
    pub(in crate::network) fn join(channels: &mut [Channel], routes: &Routes) -> Self {
        let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (before, this) in routes.fused() {
            let channel = &channels[this as usize];
            if channel.fan == ALONE
                && let Some(pace) = channel.pace()
            {
                groups.entry((before, pace)).or_default().push(this);
            }
        }
        let mut found = Self { chains: Vec::new(), is_wide: false, upcoming: NOBODY };
        for mut members in groups.into_values() {
            members.sort_unstable();
            members.dedup();
            let Some(fan) = u16::try_from(found.chains.len()).ok().filter(|&fan| fan <= LAST_FAN) else {
                break;
            };
            if members.len() >= LEAST {
                found.is_wide |= members.len() >= WIDE;
                members.iter().for_each(|&member| channels[member as usize].fan = fan);
                found.chains.push(Chain::EMPTY);
            }
        }
        found
    }

    /// Adds a packet to those in flight through a channel of a fan: to the fan's chain if the order permits it. Returns
    /// whether the packet is the first to arrive.
    #[inline(never)]
    pub(in crate::network) fn take_off(
        &mut self,
        channel: &mut Channel,
        packets: &mut Slab,
        routes: &Routes,
        (slot, arrival, stage): (u32, u64, Stage),
    ) -> bool {
        let chain = &mut self.chains[usize::from(channel.fan)];
        packets
            .join(chain, slot, (arrival, stage), |position| routes.hop(position).channel())
            .unwrap_or_else(|| packets.take_off(&mut channel.in_flight, slot, arrival, stage))
    }
    /// Removes the packet of a channel of a fan that arrives at `now`, if there is one, and schedules the arrival of the next
    /// one.
    #[inline(never)]
    pub(in crate::network) fn land(
        &mut self,
        channels: &mut [Channel],
        packets: &mut Slab,
        routes: &Routes,
        queue: &mut EventQueue,
        (channel, now): (u32, u64),
    ) -> Option<(u32, Stage)> {
        let channel_of = |position| routes.hop(position).channel();
        let Channel { fan, in_flight, .. } = &mut channels[channel as usize];
        let chain = &mut self.chains[usize::from(*fan)];
        let Some((slot, stage, next)) = packets.leave(chain, now, channel, channel_of) else {
            let Arrived { slot, stage, next_arrival } = packets.land(in_flight, now)?;
            if let Some(next) = next_arrival {
                queue.push(next, channel);
            }
            return Some((slot, stage));
        };
        if let Some((arrival, next)) = next {
            queue.push(arrival, next);
            channels[next as usize].fetch();
        }
        if self.is_wide {
            self.upcoming = packets.look_ahead(chain, channel_of).unwrap_or(NOBODY);
        }
        Some((slot, stage))
    }

    /// The destination endpoint of the next packet of a wide fan, after the delivery of a packet.
    #[inline]
    pub(in crate::network) fn take_upcoming(&mut self) -> Option<u32> {
        if self.upcoming == NOBODY {
            return None;
        }
        Some(core::mem::replace(&mut self.upcoming, NOBODY))
    }
}
