//! Fans: channels behind one router that share a chain of packets in flight.
//!
//! Channels that are fused with the same channel, and are equally long and fast, are a *fan*: the links from a router to
//! its hosts, for example. Most packets leave a fan in the order in which they entered it. So they are in one chain, and
//! only the first one has an entry in the event queue, instead of one for each channel. A packet that does not follow this
//! order is in the chain of its own channel, as it would be without a fan: a *stray*. The order of events is the
//! same in both cases: the chain is sorted by arrival, then by channel, as the event queue is.
//!
//! If all channels of a fan lead to hosts that could have inboxes, these hosts take their packets from the chain one after the
//! other, ahead of other events. See `batch.rs`.

pub(in crate::network) mod batch;

use crate::network::channel::{ALONE, Channel, LAST_FAN};
use crate::network::packet::{Arrived, Chain, Entry, Slab, Stage};
use crate::network::route::Routes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Fewer channels than this are not joined: their entries cost little in the event queue.
const LEAST: usize = 32;

/// A packet in the chain of a fan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::network) struct Member {
    pub(in crate::network) arrival: u64,
    pub(in crate::network) slot: u32,
    pub(in crate::network) stage: Stage,
}

/// A fan.
#[derive(Debug)]
pub(in crate::network) struct Fan {
    /// Its packets in flight. They are in a ring, so that those behind the first one are known without reading it.
    pub(in crate::network) chain: VecDeque<Member>,
    /// Packets in the chains of their own channels.
    strays: u32,
    /// Whether its packets are for hosts that may get ahead of others.
    pub(in crate::network) leads_to_hosts: bool,
}

/// A packet of a fan that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::network) struct Landed {
    pub(in crate::network) slot: u32,
    pub(in crate::network) stage: Stage,
    /// The next arrival in the same chain, which is to be entered into the event queue.
    pub(in crate::network) next: Option<Entry>,
    pub(in crate::network) strayed: bool,
}

/// The fans of a network.
#[derive(Debug)]
pub(in crate::network) struct Fans {
    all: Vec<Fan>,
}

impl Fans {
    /// Joins these channels to fans, if there are enough of one kind. `to_hosts` are those that lead to hosts which may get
    /// ahead of others.
    pub(in crate::network) fn join(
        channels: &mut [Channel],
        routes: &Routes,
        to_hosts: &BTreeSet<usize>,
    ) -> Self {
        let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for (before, this) in routes.fused() {
            let channel = &channels[this as usize];
            if channel.fan == ALONE
                && let Some(pace) = channel.pace()
            {
                groups.entry((before, pace)).or_default().push(this);
            }
        }
        let mut found = Self { all: Vec::new() };
        for mut members in groups.into_values() {
            members.sort_unstable();
            members.dedup();
            let Some(fan) = u16::try_from(found.all.len()).ok().filter(|&fan| fan <= LAST_FAN) else {
                break;
            };
            if members.len() >= LEAST {
                members.iter().for_each(|&member| channels[member as usize].fan = fan);
                let leads_to_hosts = members.iter().all(|&member| to_hosts.contains(&(member as usize)));
                found.all.push(Fan { chain: VecDeque::new(), strays: 0, leads_to_hosts });
            }
        }
        found
    }

    /// The fan with this number.
    #[inline]
    pub(in crate::network) fn get_mut(&mut self, number: u16) -> &mut Fan {
        &mut self.all[usize::from(number)]
    }
}

impl Fan {
    /// Adds a packet to those in flight through a channel of this fan, which has the chain `own`: to the chain of the fan if the
    /// order permits it. `channel_of` returns the channel of a hop. Returns whether the packet is the first to arrive.
    #[inline(always)]
    pub(in crate::network) fn take_off(
        &mut self,
        own: &mut Chain,
        packets: &mut Slab,
        channel_of: impl Fn(u32) -> u32,
        new: Member,
    ) -> bool {
        let place = |member: &Member| (member.arrival, channel_of(member.stage.hop()));
        let is_first = match self.chain.back() {
            Some(last) if last.arrival > new.arrival => return self.stray(own, packets, new),
            Some(last) if last.arrival == new.arrival && place(last) > place(&new) => {
                return self.stray(own, packets, new);
            }
            last => last.is_none(),
        };
        self.chain.push_back(new);
        is_first
    }

    /// Adds a packet to the chain of its own channel. Returns whether it is the first one there.
    #[inline(never)]
    pub(in crate::network) fn stray(&mut self, own: &mut Chain, packets: &mut Slab, new: Member) -> bool {
        self.strays += 1;
        packets.take_off(own, new.slot, new.arrival, new.stage)
    }

    /// Whether any packet is in the chain of its own channel.
    #[inline]
    pub(in crate::network) const fn has_strays(&self) -> bool {
        self.strays > 0
    }

    /// Removes the packet of the fan's `channel` that arrives at `now`, if there is one. `own` is the chain of the channel.
    #[inline]
    pub(in crate::network) fn land(
        &mut self,
        own: &mut Chain,
        packets: &mut Slab,
        channel_of: impl Fn(u32) -> u32,
        (now, channel): Entry,
    ) -> Option<Landed> {
        let entry = |member: &Member| (member.arrival, channel_of(member.stage.hop()));
        if let Some(&first) = self.chain.front()
            && first.arrival == now
            && entry(&first) == (now, channel)
        {
            self.chain.pop_front();
            let next = self.chain.front().map(entry);
            return Some(Landed { slot: first.slot, stage: first.stage, next, strayed: false });
        }
        let Arrived { slot, stage, next_arrival } = packets.land(own, now)?;
        self.strays -= 1;
        let next = next_arrival.map(|next| (next, channel));
        Some(Landed { slot, stage, next, strayed: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_a_fan_share_a_chain_of_what_is_in_order() {
        let mut fan = Fan { chain: VecDeque::new(), strays: 0, leads_to_hosts: false };
        let (mut packets, mut own) = (Slab::new(), [Chain::EMPTY; 10]);
        // A packet's hop is its channel here.
        let same = |position: u32| position;
        let due = [(10, 3), (10, 4), (9, 9), (10, 4), (10, 3), (12, 0)];
        let joined = due.map(|(arrival, channel): (u64, u32)| {
            let stage = Stage { size: 0, onward: (channel + 1) | Stage::DELIVERY };
            let new = Member { arrival, slot: packets.reserve(), stage };
            fan.take_off(&mut own[channel as usize], &mut packets, same, new)
        });
        assert_eq!(joined, [true, false, true, false, true, false], "first of the fan, or of its own chain");
        assert!(fan.has_strays());
        let mut land = |now, channel: u32| {
            let landed = fan.land(&mut own[channel as usize], &mut packets, same, (now, channel))?;
            Some((landed.slot, landed.next, landed.strayed))
        };
        assert_eq!(land(9, 3), None, "too early");
        assert_eq!(land(10, 4), None, "another channel is first");
        assert_eq!(land(9, 9), Some((2, None, true)));
        assert_eq!(land(10, 3), Some((0, Some((10, 4)), false)));
        assert_eq!(land(10, 3), Some((4, None, true)));
        assert_eq!(land(10, 4), Some((1, Some((10, 4)), false)));
        assert_eq!(land(10, 4), Some((3, Some((12, 0)), false)));
        assert_eq!(land(12, 0), Some((5, None, false)));
        assert_eq!(land(12, 0), None, "empty");
        assert!(!fan.has_strays());
    }
}
