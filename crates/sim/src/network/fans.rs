//! Fans: channels behind one router that share a chain of packets in flight.
//!
//! Channels that are fused with the same channel, and are equally long and fast, are a *fan*: the links from a router to
//! its hosts, for example. Packets come out of a fan in the order in which they went in, but for few. So they wait in one
//! chain, and only the first of all has an entry in the event queue, instead of one for each channel. Where that order
//! does not hold, a packet waits in its own channel's chain, as it would without a fan. The order of events is the same
//! either way: the chain is sorted by arrival, then by channel, as the event queue is.

use crate::network::channel::Channel;
use crate::network::packet::{Arrived, Chain, Slab, Stage};
use crate::network::route::Routes;
use std::collections::BTreeMap;

/// Fewer channels than these stay on their own: their entries are no burden to the event queue.
const LEAST: usize = 32;

/// So many channels are a wide fan.
const WIDE: usize = 256;

/// No fan.
const NONE: u32 = u32::MAX;

/// The fans of a network.
#[derive(Debug, Default)]
pub(super) struct Fans {
    /// For each channel its fan; empty if there are no fans.
    fans: Vec<u32>,
    chains: Vec<Chain>,
    /// There are so many channels that the cache cannot hold what belongs to each: it is worth while to look ahead.
    is_wide: bool,
    /// See [`Fans::take_upcoming`].
    upcoming: Option<u32>,
}

impl Fans {
    /// The fans among these channels.
    pub(super) fn new(routes: &Routes, channels: &[Channel]) -> Self {
        let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (before, this) in routes.fused() {
            if let Some(pace) = channels[this as usize].pace() {
                groups.entry((before, pace)).or_default().push(this);
            }
        }
        let mut found = Self::default();
        for mut members in groups.into_values() {
            members.sort_unstable();
            members.dedup();
            if members.len() >= LEAST {
                found.is_wide |= members.len() >= WIDE;
                found.fans.resize(channels.len(), NONE);
                members.iter().for_each(|&member| found.fans[member as usize] = found.chains.len() as u32);
                found.chains.push(Chain::EMPTY);
            }
        }
        found
    }

    /// Puts a packet into the chain of a channel's fan; `None` if it does not belong there, otherwise whether it is now the
    /// first to arrive.
    #[inline(always)]
    pub(super) fn join(
        &mut self,
        channel: u32,
        packets: &mut Slab,
        routes: &Routes,
        slot: u32,
        due: (u64, Stage),
    ) -> Option<bool> {
        let fan = *self.fans.get(channel as usize)?;
        let chain = self.chains.get_mut(fan as usize)?;
        packets.join(chain, slot, due, |position| routes.hop(position).channel())
    }

    /// The packet of a channel that comes out of its fan at `now`, if one does.
    #[inline(always)]
    pub(super) fn land(
        &mut self,
        channel: u32,
        packets: &mut Slab,
        routes: &Routes,
        now: u64,
    ) -> Option<Arrived> {
        let fan = *self.fans.get(channel as usize)?;
        let chain = self.chains.get_mut(fan as usize)?;
        let arrived = packets.leave(chain, now, channel, |position| routes.hop(position).channel())?;
        self.upcoming = if self.is_wide { packets.look_ahead(chain) } else { None };
        Some(arrived)
    }

    /// The endpoint that the next packet of the fan is for, of which one has just come out.
    #[inline]
    pub(super) fn take_upcoming(&mut self) -> Option<u32> {
        self.upcoming.take()
    }
}
