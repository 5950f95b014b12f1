//! Which routers are junctions, and the packets on their way to them.

use crate::network::channel::{ALONE, Channel, JUNCTION, MAX_JUNCTIONS};
use crate::network::junction::calendar::{Calendar, Passer};
use crate::network::packet::{Slab, Stage};
use crate::network::route::Routes;
use crate::spec::WorldSpec;
use std::collections::{BTreeMap, BTreeSet};

/// A router at which packets are passed on ahead of other events.
#[derive(Debug)]
pub(in crate::network) struct Junction {
    /// The least delay of the channels that lead here.
    pub(super) lookahead: u64,
    /// The time of its entry in the event queue; [`u64::MAX`] if there is none.
    pub(super) armed_at: u64,
    pub(super) calendar: Calendar,
}

/// The junctions of a network.
#[derive(Debug, Default)]
pub(in crate::network) struct Junctions {
    pub(super) all: Vec<Junction>,
    /// Packets have been passed on up to this time.
    pub(super) ahead: u64,
}

/// The number of the junction to which the channels with this fan lead.
pub(in crate::network) const fn number_of(fan: u16) -> usize {
    (JUNCTION - fan) as usize
}

impl Junctions {
    /// Finds the junctions, and marks the channels that lead to them. Not all, if there are very many: those with most
    /// channels are taken.
    pub(in crate::network) fn find(spec: &WorldSpec, channels: &mut [Channel], routes: &Routes) -> Self {
        let mut found = Self::default();
        let sends_icmp =
            |channel: &Channel| channel.impairments.as_ref().is_some_and(|all| all.narrowness.sends_icmp());
        // A message of a router is sent at any time.
        if channels.iter().any(sends_icmp) {
            return found;
        }
        let mut feeders: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
        let mut unfit = spec.hosts();
        for (before, this) in routes.parted() {
            let [_, node] = spec.ends_of(before);
            feeders.entry(node).or_default().insert(before);
            if !channels[before as usize].leads_ahead() || !channels[this as usize].acts_on_arrivals_only() {
                unfit.insert(node);
            }
        }
        feeders.retain(|node, _| !unfit.contains(node));
        let mut feeders: Vec<_> = feeders.into_iter().collect();
        feeders.sort_by_key(|(node, feeders)| (std::cmp::Reverse(feeders.len()), *node));
        for ((_, feeders), number) in feeders.into_iter().zip(0..MAX_JUNCTIONS) {
            let delays = feeders.iter().map(|&feeder| channels[feeder as usize].lookahead());
            let lookahead = delays.min().unwrap_or(0);
            found.all.push(Junction { lookahead, armed_at: u64::MAX, calendar: Calendar::new() });
            feeders.into_iter().for_each(|feeder| channels[feeder as usize].fan = JUNCTION - number);
        }
        found
    }

    /// Up to when packets have been passed on.
    pub(in crate::network) const fn ahead(&self) -> u64 {
        self.ahead
    }

    /// The junction with this number.
    #[inline(always)]
    pub(in crate::network) fn get_mut(&mut self, number: usize) -> &mut Junction {
        &mut self.all[number]
    }

    /// Adds a packet to those in flight through a channel that leads to a junction. `fan` is that of the channel. Returns
    /// whether it is the first to arrive.
    #[inline(always)]
    pub(in crate::network) fn take_off(
        &mut self,
        (packets, routes): (&mut Slab, &Routes),
        fan: u16,
        passer: (u32, u64, Stage),
    ) -> bool {
        self.get_mut(number_of(fan)).take_off(packets, routes, passer)
    }
}

impl Junction {
    /// Adds a packet to those in flight to this junction. Returns whether it is the first to arrive.
    #[inline(always)]
    pub(in crate::network) fn take_off(
        &mut self,
        packets: &mut Slab,
        routes: &Routes,
        (slot, arrival, stage): (u32, u64, Stage),
    ) -> bool {
        let new = Passer { arrival, slot, stage };
        self.calendar.insert(packets, new, |position| routes.hop(position).channel());
        let is_first = arrival < self.armed_at;
        if is_first {
            self.armed_at = arrival;
        }
        is_first
    }
}

impl Channel {
    /// Whether the arrivals at the end of this channel are known as long before as its delay: see [`Channel::lookahead`].
    fn leads_ahead(&self) -> bool {
        self.fan == ALONE && self.pace().is_some() && self.lookahead() > 0
    }

    /// Whether nothing but packets that arrive changes this channel, however many of them are passed on at once.
    fn acts_on_arrivals_only(&self) -> bool {
        self.partner.is_none() && self.station.is_none() && !self.keeps() && !self.gathers()
    }
}
