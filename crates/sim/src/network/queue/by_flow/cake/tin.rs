//! A tin of CAKE: flows in an eight-way set-associative table, served in turn, each controlled by COBALT, with fairness
//! between hosts
//! (Høiland-Jørgensen et al., "Piece of CAKE", 2018, section III; Linux, `sch_cake.c`).
//!
//! A flow is *sparse* while it sends less than its quantum in a round; sparse flows are served first. With more it is
//! *bulk*. A flow
//! whose queue becomes empty before COBALT's state is reset is *decaying*: it keeps its place in the table.

use crate::network::loss::Cause;
use crate::network::queue::by_flow::cake::ack_filter::{Ack, superfluous};
use crate::network::queue::by_flow::cake::cobalt::{Cobalt, Law};
use crate::network::queue::order::{Kept, Leaving, Outbox};
use crate::random::Stream;
use crate::spec::{AckFilter, Isolation};
use std::collections::VecDeque;

/// Number of flows in a tin, and of hosts on each side.
const FLOWS: usize = 1024;
/// Number of places that a flow may have in the table.
const WAYS: usize = 8;

/// A packet that waits.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kept: Kept,
    /// Bytes on the wire.
    pub(super) wire: u32,
    /// What it acknowledges, if ACKs are filtered.
    pub(super) ack: Option<Box<Ack>>,
}

/// The list that a flow is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Set {
    #[default]
    None,
    Sparse,
    /// In the list of bulk flows, but empty: its host does not count it as bulk.
    SparseWaits,
    Bulk,
    Decaying,
}

#[derive(Debug, Default)]
struct Flow {
    items: VecDeque<Item>,
    bytes: u64,
    deficit: i64,
    cobalt: Cobalt,
    hosts: [u16; 2],
    set: Set,
}

/// A host on one side.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u64,
    bulk_flows: u16,
}

/// The hashes of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    pub(super) flow: u64,
    /// Of the sending and of the receiving host.
    pub(super) hosts: [u64; 2],
}

/// One class of packets.
#[derive(Debug)]
pub(super) struct Tin {
    isolation: Isolation,
    law: Law,
    quantum: u32,
    flows: Box<[Flow]>,
    tags: Box<[u64]>,
    hosts: [Box<[Host]>; 2],
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    /// Sparse and bulk flows.
    pub(super) active: u32,
    pub(super) packets: u32,
    /// Bytes that it may still send in this round, where no rate is set.
    pub(super) deficit: i64,
    /// From this time on it is within its share if it sends.
    pub(super) time_next: u64,
}

impl Tin {
    pub(super) fn new(isolation: Isolation, law: Law, quantum: u32) -> Self {
        let hosts = || vec![Host::default(); FLOWS].into_boxed_slice();
        Self {
            isolation,
            law,
            quantum,
            flows: (0..FLOWS).map(|_| Flow::default()).collect(),
            tags: vec![0; FLOWS].into(),
            hosts: [hosts(), hosts()],
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            active: 0,
            packets: 0,
            deficit: 0,
            time_next: 0,
        }
    }

    /// On which sides hosts share equally.
    const fn sides(&self) -> [bool; 2] {
        match self.isolation {
            Isolation::DualSrcHost => [true, false],
            Isolation::DualDstHost => [false, true],
            Isolation::Triple => [true, true],
            Isolation::Flows | Isolation::SrcHost | Isolation::DstHost | Isolation::Hosts => [false, false],
        }
    }

    fn count_bulk(&mut self, flow: usize, more: bool) {
        let sides = self.sides();
        for side in (0..2).filter(|side| sides[*side]) {
            let host = &mut self.hosts[side][usize::from(self.flows[flow].hosts[side])];
            host.bulk_flows = if more { host.bulk_flows + 1 } else { host.bulk_flows.saturating_sub(1) };
        }
    }

    /// The place of a flow: the one that it has, else a free one among eight, else one that it shares with another flow.
    fn place_of(&mut self, hashes: Hashes) -> usize {
        let tag = match self.isolation {
            Isolation::SrcHost => hashes.hosts[0],
            Isolation::DstHost => hashes.hosts[1],
            Isolation::Hosts => hashes.hosts[0] ^ hashes.hosts[1].rotate_left(1),
            _ => hashes.flow,
        };
        let direct = (tag % FLOWS as u64) as usize;
        if self.tags[direct] == tag && self.flows[direct].set != Set::None {
            return direct;
        }
        let ways = |of: usize| (0..WAYS).map(move |way| of - of % WAYS + (of % WAYS + way) % WAYS);
        let known = ways(direct).find(|place| self.tags[*place] == tag);
        let place = known
            .or_else(|| ways(direct).find(|place| self.flows[*place].set == Set::None))
            .unwrap_or(direct);
        let is_bulk = self.flows[place].set == Set::Bulk;
        if known.is_none() || self.flows[place].set == Set::None {
            if is_bulk {
                self.count_bulk(place, false);
            }
            self.tags[place] = tag;
            let sides = self.sides();
            for side in (0..2).filter(|side| sides[*side]) {
                let tag = hashes.hosts[side];
                let first = (tag % FLOWS as u64) as usize;
                let hosts = &mut self.hosts[side];
                let host = ways(first)
                    .find(|host| hosts[*host].tag == tag)
                    .or_else(|| ways(first).find(|host| hosts[*host].bulk_flows == 0))
                    .unwrap_or(first);
                hosts[host].tag = tag;
                self.flows[place].hosts[side] = host as u16;
            }
            if is_bulk {
                self.count_bulk(place, true);
            }
        }
        place
    }

    /// What a flow may send in a round: the more flows its host has, the less. Fractions are rounded at random.
    fn quantum_of(&self, flow: usize, stream: &mut Stream) -> i64 {
        let loads = (0..2).filter(|side| self.sides()[*side]);
        let load = loads.map(|side| self.hosts[side][usize::from(self.flows[flow].hosts[side])].bulk_flows);
        let load = u64::from(load.max().unwrap_or(1).max(1));
        (((u64::from(self.quantum) << 16) / load + stream.below(1 << 16)) >> 16) as i64
    }

    /// Enqueues a packet, and returns the place of its flow.
    pub(super) fn push(&mut self, item: Item, hashes: Hashes, stream: &mut Stream) -> usize {
        let place = self.place_of(hashes);
        let flow = &mut self.flows[place];
        flow.bytes += u64::from(item.kept.size);
        flow.items.push_back(item);
        self.packets += 1;
        match flow.set {
            Set::None | Set::Decaying => {
                if flow.set == Set::Decaying {
                    self.decaying.retain(|other| *other as usize != place);
                }
                flow.set = Set::Sparse;
                self.new.push_back(place as u32);
                self.active += 1;
                self.flows[place].deficit = self.quantum_of(place, stream);
            }
            Set::SparseWaits => {
                flow.set = Set::Bulk;
                self.count_bulk(place, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        place
    }

    /// The position of the ACK that the last packet of a flow makes superfluous.
    pub(super) fn superfluous(&self, place: usize, filter: AckFilter) -> Option<usize> {
        let items = &self.flows[place].items;
        superfluous(items.len(), |position| items[position].ack.as_deref(), filter)
    }

    /// Removes a packet from the middle of a queue.
    pub(super) fn remove(&mut self, place: usize, position: usize) -> Option<Item> {
        let flow = &mut self.flows[place];
        let item = flow.items.remove(position)?;
        flow.bytes -= u64::from(item.kept.size);
        self.packets -= 1;
        Some(item)
    }

    /// The flow with the most bytes, and how many.
    pub(super) fn fattest(&self) -> Option<(u64, usize)> {
        let listed = self.new.iter().chain(&self.old).map(|place| *place as usize);
        listed.map(|place| (self.flows[place].bytes, place)).max()
    }

    /// The queue has overflowed: drops the first packet of the flow at this place.
    pub(super) fn overflow(&mut self, place: usize, now: u64) -> Option<Item> {
        self.flows[place].cobalt.overflows(&self.law, now);
        self.remove(place, 0)
    }

    /// The next packet to be sent; packets that are dropped before it go to `out`.
    pub(super) fn pop(&mut self, now: u64, stream: &mut Stream, out: &mut Outbox) -> Option<Item> {
        let mut first = true;
        loop {
            let list = if first && !self.decaying.is_empty() {
                &mut self.decaying
            } else if !self.new.is_empty() {
                &mut self.new
            } else if !self.old.is_empty() {
                &mut self.old
            } else {
                &mut self.decaying
            };
            let number = *list.front()?;
            let place = number as usize;
            first = false;
            if self.flows[place].deficit <= 0 {
                list.pop_front();
                self.old.push_back(number);
                self.gets_bulky(place);
                self.flows[place].deficit += self.quantum_of(place, stream);
                continue;
            }
            while let Some(mut item) = self.remove(place, 0) {
                let flow = &mut self.flows[place];
                let wait = now - item.kept.since;
                let dropped = flow.cobalt.drops(&self.law, now, wait, &mut item.kept.ecn, stream);
                // The last packet of a flow is not dropped.
                if dropped && !flow.items.is_empty() {
                    out.push_back(Leaving::Dropped(item.kept, Cause::Cobalt));
                    continue;
                }
                flow.deficit -= i64::from(item.wire);
                return Some(item);
            }
            self.runs_empty(place, now);
            if self.active == 0 {
                return None;
            }
        }
    }

    /// A flow has used up its quantum: it is no longer sparse.
    fn gets_bulky(&mut self, place: usize) {
        let flow = &mut self.flows[place];
        if flow.set != Set::Sparse {
            return;
        }
        if flow.items.is_empty() {
            flow.set = Set::SparseWaits;
        } else {
            flow.set = Set::Bulk;
            self.count_bulk(place, true);
        }
    }

    /// A flow is served and has nothing to send.
    fn runs_empty(&mut self, place: usize, now: u64) {
        for list in [&mut self.decaying, &mut self.new, &mut self.old] {
            if list.front() == Some(&(place as u32)) {
                list.pop_front();
                break;
            }
        }
        let flow = &mut self.flows[place];
        flow.cobalt.runs_empty(&self.law, now);
        let was = flow.set;
        if flow.cobalt.is_at_rest(now) {
            flow.set = Set::None;
        } else {
            flow.set = Set::Decaying;
            self.decaying.push_back(place as u32);
        }
        if was != Set::Decaying {
            self.active -= 1;
        }
        if was == Set::Bulk {
            self.count_bulk(place, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tin(isolation: Isolation) -> Tin {
        Tin::new(isolation, Law { interval: 100, target: 5, mtu_time: 1 }, 1514)
    }

    fn push(tin: &mut Tin, flow: u64, hosts: [u64; 2]) -> usize {
        let kept = Kept { size: 1500, slot: flow as u32, ..Kept::default() };
        let item = Item { kept, wire: 1500, ack: None };
        tin.push(item, Hashes { flow, hosts }, &mut Stream::new(1, "tin"))
    }

    #[test]
    fn flows_of_one_hash_have_places_of_their_own_as_long_as_there_are_some() {
        let mut tin = tin(Isolation::Flows);
        let same = |n: u64| 5 + FLOWS as u64 * n;
        let mut places: Vec<usize> = (0..8).map(|n| push(&mut tin, same(n), [0, 0])).collect();
        assert_eq!((0..8).map(|n| push(&mut tin, same(n), [0, 0])).collect::<Vec<_>>(), places);
        places.sort_unstable();
        assert_eq!(places, (0..8).collect::<Vec<_>>());
        // The ninth flow shares a place with the first.
        assert_eq!(push(&mut tin, same(8), [0, 0]), 5);
    }

    /// How many of 3000 packets belong to each of these flows, if each always has packets in its queue.
    fn shares(isolation: Isolation, flows: &[[u64; 2]]) -> Vec<u32> {
        let mut tin = tin(isolation);
        let mut stream = Stream::new(1, "shares");
        let mut sent = vec![0; flows.len()];
        for _ in 0..4 {
            for (flow, hosts) in (0..).zip(flows) {
                push(&mut tin, 1 + flow, *hosts);
            }
        }
        for _ in 0..3000 {
            // No packet waits, because time stands still.
            let item = tin.pop(0, &mut stream, &mut Outbox::new()).unwrap();
            let flow = item.kept.slot - 1;
            sent[flow as usize] += 1;
            push(&mut tin, u64::from(flow) + 1, flows[flow as usize]);
        }
        sent
    }

    fn assert_shares(sent: &[u32], expected: &[f64]) {
        let sum: f64 = expected.iter().sum();
        for (got, share) in sent.iter().zip(expected) {
            let wanted = 3000.0 * share / sum;
            assert!(
                (f64::from(*got) - wanted).abs() < 0.06 * wanted + 6.0,
                "{sent:?} instead of {expected:?}"
            );
        }
    }

    #[test]
    fn hosts_share_equally_on_the_configured_sides() {
        // Host 11 sends three flows, to 21, 22 and 23; host 12 one, to 23.
        let flows = [[11, 21], [11, 22], [11, 23], [12, 23]];
        assert_shares(&shares(Isolation::Flows, &flows), &[1.0, 1.0, 1.0, 1.0]);
        assert_shares(&shares(Isolation::DualSrcHost, &flows), &[1.0, 1.0, 1.0, 3.0]);
        assert_shares(&shares(Isolation::DualDstHost, &flows), &[2.0, 2.0, 1.0, 1.0]);
        // The larger load of the two sides counts: 3, 3, 3 and 2.
        assert_shares(&shares(Isolation::Triple, &flows), &[2.0, 2.0, 2.0, 3.0]);
        let by = |isolation, sums: [usize; 4]| {
            let sent = shares(isolation, &flows);
            let mut of = [0; 4];
            for (sum, sent) in sums.into_iter().zip(sent) {
                of[sum] += sent;
            }
            of
        };
        let [one, two, ..] = by(Isolation::SrcHost, [0, 0, 0, 1]);
        assert!(one.abs_diff(two) < 60, "{one} {two}");
        let [a, b, c, _] = by(Isolation::DstHost, [0, 1, 2, 2]);
        assert!(a.abs_diff(b) < 60 && b.abs_diff(c) < 60, "{a} {b} {c}");
        assert_shares(&shares(Isolation::Hosts, &flows), &[1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_sparse_flow_goes_first() {
        let mut tin = tin(Isolation::Flows);
        let mut stream = Stream::new(1, "sparse");
        for _ in 0..100 {
            push(&mut tin, 1, [0, 0]);
        }
        let mut next = || tin.pop(0, &mut stream, &mut Outbox::new()).unwrap().kept.slot;
        assert_eq!([next(), next(), next()], [1; 3]);
        push(&mut tin, 2, [0, 0]);
        let mut next = || tin.pop(0, &mut stream, &mut Outbox::new()).unwrap().kept.slot;
        assert_eq!([next(), next(), next()], [2, 1, 1]);
    }
}
