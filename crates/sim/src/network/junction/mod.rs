//! Junctions: routers at which all arrivals of the near future are known.
//!
//! A packet that enters a link now arrives no earlier than after the delay of the link. So at a router all arrivals up to the
//! least delay of the links that lead to it are known. If these links are plain, and nothing else acts on what lies behind
//! the router, it may pass on all these packets in one loop, in order of arrival, then of channel, as the event queue has
//! them. They need no event each: a junction has one entry in the event queue, for its first packet. The packets in flight
//! to a junction are in its `calendar`, not in the chains of their channels.

mod calendar;
pub(super) mod junctions;
pub(super) mod uplink;

use crate::network::Network;
use calendar::Passer;
use junctions::number_of;

/// Number of channels from which on their data does not fit into the cache.
const WIDE: usize = 1024;

/// Number of packets whose data is prefetched together.
const GROUP: usize = 16;

impl Network {
    /// A junction is due: passes on all packets that arrive there up to its lookahead, but not after `until`. `fan` is that
    /// of the channels to the junction.
    #[inline(never)]
    pub(super) fn pass_junction(&mut self, fan: u16, now: u64, until: u64) {
        let Self { junctions, packets, routes, .. } = self;
        let number = number_of(fan);
        let junction = junctions.get_mut(number);
        if junction.armed_at != now {
            // An earlier packet has taken the place of this entry.
            return;
        }
        let channel_of = |position| routes.hop(position).channel();
        let end = now.saturating_add(junction.lookahead).min(until.saturating_add(1));
        junction.calendar.advance(packets, now, channel_of);
        junctions.ahead = junctions.ahead.max(end - 1);
        match (self.channels.len() >= WIDE, self.has_border()) {
            (false, false) => self.pass_all::<false>(number, end),
            (false, true) => self.pass_all::<true>(number, end),
            (true, false) => self.pass_groups::<false>(number, end),
            (true, true) => self.pass_groups::<true>(number, end),
        }
        let Self { junctions, packets, routes, queue, .. } = self;
        let junction = junctions.get_mut(number);
        junction.armed_at = u64::MAX;
        if let Some((arrival, hop)) = junction.calendar.first(packets) {
            junction.armed_at = arrival;
            queue.push(arrival, routes.hop(hop).channel());
        }
    }
}

impl Network {
    /// Passes on all packets that arrive at junction `number` before `end`. None of them comes back to it before `end`. At the
    /// `BORDER` many of them leave this part of the network.
    #[inline(never)]
    fn pass_all<const BORDER: bool>(&mut self, number: usize, end: u64) {
        loop {
            let next = self.junctions.get_mut(number).calendar.take(&self.packets, end);
            let Some(Passer { arrival, slot, stage }) = next else { return };
            self.forward_by::<true, BORDER>(slot, stage.size, stage.onward, arrival);
        }
    }

    /// The same; the channels that several of them pass are prefetched together.
    #[inline(never)]
    fn pass_groups<const BORDER: bool>(&mut self, number: usize, end: u64) {
        let mut group = [Passer::NONE; GROUP];
        loop {
            let Self { junctions, packets, .. } = self;
            let calendar = &mut junctions.get_mut(number).calendar;
            let mut len = 0;
            for (place, next) in group.iter_mut().zip(std::iter::from_fn(|| calendar.take(packets, end))) {
                *place = next;
                len += 1;
            }
            let group = &group[..len];
            if group.is_empty() {
                return;
            }
            group.iter().for_each(|passer| self.fetch_way(passer.stage.onward));
            for &Passer { arrival, slot, stage } in group {
                self.forward_by::<true, BORDER>(slot, stage.size, stage.onward, arrival);
            }
        }
    }

    /// Prefetches the channels that a packet passes at once from this hop on.
    #[inline]
    fn fetch_way(&self, mut position: u32) {
        loop {
            let hop = self.routes.hop(position);
            self.channels[hop.channel() as usize].fetch();
            if !hop.goes_on_at_once() {
                return;
            }
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::host::app::AppSpec;
    use crate::network::channel::JUNCTION;
    use crate::spec::{ChannelSpec, Duplex, MtuSpec, NodeId, QueueSpec, Room, TooBig, WorldSpec};
    use crate::world::World;
    use netspurt_tcp::time::{Span, Time};

    /// Three hosts on each side of two routers: nodes 0 and 1.
    fn dumbbell() -> WorldSpec {
        let mut spec = WorldSpec::new("dumb-bell", Span::from_secs(2));
        let config = crate::testing::config();
        let (left, right) = (spec.node("left"), spec.node("right"));
        let bottleneck = ChannelSpec::new(200_000_000, Span::from_ms(10)).with_queue(400);
        spec.link("bottleneck", [left, right], &bottleneck);
        for i in 0..3 {
            let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
            let access = ChannelSpec::new(1_000_000_000, Span::from_ms(1 + i));
            spec.link("access a", [a, left], &access);
            spec.link("access b", [right, b], &access);
            spec.flow("f", [a, b], AppSpec::Bulk { bytes: None }, &config);
        }
        spec
    }

    /// The lookahead of each junction, and how many channels lead to it.
    fn junctions(spec: &WorldSpec) -> Vec<(u64, usize)> {
        let network = World::new(spec.clone(), 1, None).unwrap().network;
        let feeders =
            |fan: u16| network.channels.iter().filter(|channel| channel.fan == JUNCTION - fan).count();
        (0..).zip(&network.junctions.all).map(|(fan, junction)| (junction.lookahead, feeders(fan))).collect()
    }

    #[test]
    fn both_routers_of_a_dumb_bell_are_junctions() {
        let ms = Span::from_ms(1).as_ps();
        assert_eq!(junctions(&dumbbell()), [(ms, 3), (ms, 3)]);
        let plain = WorldSpec { fuse: false, ..dumbbell() };
        assert_eq!(junctions(&plain), []);
    }

    #[test]
    fn routers_whose_arrivals_are_not_known_are_no_junctions() {
        let mut spec = dumbbell();
        spec.links[1].directions[0].delay = Span::ZERO;
        assert_eq!(junctions(&spec).len(), 1, "no delay");
        let mut spec = dumbbell();
        spec.links[1].directions[0].duplicate = 0.1;
        assert_eq!(junctions(&spec).len(), 1, "an impaired link");
        let mut spec = dumbbell();
        spec.links[1].duplex = Duplex::Half;
        assert_eq!(junctions(&spec).len(), 1, "a shared medium");
        let mut spec = dumbbell();
        spec.links[0].directions[0].queue = QueueSpec::ResendFirst(Room::Packets(20));
        assert_eq!(junctions(&spec).len(), 1, "a queue that decides at departures");
        let mut spec = dumbbell();
        let config = crate::testing::config();
        spec.flow("g", [NodeId(0), NodeId(3)], AppSpec::Bulk { bytes: None }, &config);
        assert_eq!(junctions(&spec).len(), 1, "a host");
        let mut spec = dumbbell();
        let mtu = MtuSpec { from: Time::ZERO, mtu: 1400, too_big: TooBig::Icmp };
        spec.links[2].directions[1].mtu.push(mtu);
        assert_eq!(junctions(&spec), [], "messages of routers");
    }

    #[test]
    fn packets_at_a_junction_need_no_event_each() {
        let run = |spec| World::new(spec, 1, None).unwrap().run(&|| false);
        let (fast, plain) = (run(dumbbell()), run(WorldSpec { fuse: false, ..dumbbell() }));
        assert_eq!(fast.digest, plain.digest);
        let [fast, plain] = [fast, plain].map(|result| result.performance);
        assert!(fast.data_packets > 1000 && fast.events < fast.data_packets / 2, "{fast:?}");
        assert!(plain.events > 4 * plain.data_packets, "{plain:?}");
    }
}
