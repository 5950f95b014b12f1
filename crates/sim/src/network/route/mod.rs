//! Routes: the fewest hops; among equal routes the order in which links are declared decides. Computed once, before the run.
//!
//! The stations of a hub are neighbours of one another, although their packets pass two channels: one to the hub and one
//! from it.
//!
//! All routes lie in one list of hops. A hop names the channel to enter, and says whether it can be *fused*: computed
//! together with the channel before it. This is possible if, over all routes in use, packets enter a channel from exactly
//! one other channel and from no host. Then their order and times follow from those of the other channel, and no event in
//! between is needed. A channel that stores its packets (see [`crate::network::queue`]) decides at events.

mod detour;
pub(super) mod hop;

use crate::network::channel::Channel;
use crate::network::queue::Origin;
use crate::network::route::detour::{Detours, Key};
use crate::network::route::hop::Hop;
use crate::spec::{Detour, NodeId, WorldSpec};
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;

/// No channel.
const NONE: u32 = u32::MAX;

/// A host pair without a path between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoute {
    /// The source.
    pub from: NodeId,
    /// The destination.
    pub to: NodeId,
}

/// All routes in use.
#[derive(Default)]
pub struct Routes {
    hops: Vec<Hop>,
    /// The start of the route from one node to another.
    starts: BTreeMap<(NodeId, NodeId), u32>,
    /// The same for packets with another codepoint than the default one. The position of a packet on its route shows its
    /// source, destination and class, so the packet does not carry them.
    classes: BTreeMap<(NodeId, NodeId, u8), u32>,
    /// The start of each route, in order, and the source, destination and class of its packets.
    origins: Vec<(u32, Origin)>,
    /// Routes that change during the run.
    detours: Detours,
}

impl Routes {
    /// The route from `from` to `to`, and the route back over the same links.
    pub fn between(&self, from: NodeId, to: NodeId) -> Option<(u32, u32)> {
        Some((*self.starts.get(&(from, to))?, *self.starts.get(&(to, from))?))
    }

    /// The same for packets with this differentiated services codepoint.
    pub fn between_in_class(&self, from: NodeId, to: NodeId, dscp: u8) -> Option<(u32, u32)> {
        if dscp == 0 {
            return self.between(from, to);
        }
        Some((*self.classes.get(&(from, to, dscp))?, *self.classes.get(&(to, from, dscp))?))
    }

    /// Adds the routes of a class between two nodes, if there is a path.
    pub(crate) fn add_class(&mut self, from: NodeId, to: NodeId, dscp: u8) {
        for (from, to) in [(from, to), (to, from)] {
            if dscp == 0 || self.classes.contains_key(&(from, to, dscp)) {
                continue;
            }
            let Some(&start) = self.starts.get(&(from, to)) else { continue };
            let len = self.channels(start).count();
            let copy = self.hops.len() as u32;
            self.hops.extend_from_within(start as usize..start as usize + len);
            self.classes.insert((from, to, dscp), copy);
            self.origins.push((copy, Origin { from: from.0, to: to.0, dscp }));
        }
    }

    /// The source, destination and class of packets at a position in the list of hops.
    pub(crate) fn origin(&self, position: u32) -> Origin {
        self.route_at(position).map_or_else(Origin::default, |(_, origin)| origin)
    }

    fn route_at(&self, position: u32) -> Option<(u32, Origin)> {
        let behind = self.origins.partition_point(|(start, _)| *start <= position);
        self.origins.get(behind.checked_sub(1)?).copied()
    }

    /// The hop at a position in the list of hops.
    #[inline]
    pub(crate) fn hop(&self, position: u32) -> Hop {
        self.hops[position as usize]
    }

    /// The start of the route back from the node before the channel of this hop. If that node has sent the packet: from the
    /// node after the channel.
    pub(crate) fn way_back(&self, position: u32) -> Option<u32> {
        let (start, Origin { from, to, .. }) = self.route_at(position)?;
        let usual = || self.starts.get(&(NodeId(to), NodeId(from))).copied();
        let back = self.detours.way_back(start).or_else(usual)?;
        let hops = self.channels(start).count() as u32;
        // There and back are the same links.
        let across = back + (hops - 1 - (position - start));
        Some(if position == start { across } else { across + 1 })
    }

    /// The channels of a route.
    pub fn channels(&self, start: u32) -> impl Iterator<Item = u32> {
        let mut over = false;
        self.hops[start as usize..].iter().map_while(move |hop| {
            let this = (!over).then(|| hop.channel());
            over |= hop.is_last();
            this
        })
    }

    /// The routes that the flows of `spec` need.
    pub fn new(spec: &WorldSpec) -> Result<Self, NoRoute> {
        let (mut finder, mut routes) = (Finder::new(spec), Self::default());
        for flow in &spec.flows {
            routes.join(&mut finder, flow.from, flow.to)?;
            routes.add_class(flow.from, flow.to, flow.dscp);
        }
        routes.add_detours(&spec.detours);
        Ok(routes)
    }

    /// Adds the routes that changes select later, between nodes that are joined.
    fn add_detours(&mut self, detours: &[Detour]) {
        for detour in detours {
            let [from, to] = detour.ends;
            let Some((there, back)) = self.between(from, to) else { continue };
            self.detours.pair(there, back);
            let classes = self.classes.keys().filter(|key| (key.0, key.1) == (from, to)).map(|key| key.2);
            let mut starts = Vec::new();
            for dscp in std::iter::once(0).chain(classes).collect::<Vec<_>>() {
                let there = self.append((from, to, dscp), detour.channels.iter().copied());
                let back =
                    self.append((to, from, dscp), detour.channels.iter().rev().map(|channel| channel ^ 1));
                self.detours.pair(there, back);
                starts.extend([((from, to, dscp), there), ((to, from, dscp), back)]);
            }
            self.detours.add(detour, starts);
        }
    }

    /// When the next change of a route happens.
    pub(crate) fn next_turn(&self) -> Time {
        self.detours.next()
    }

    /// Makes the changes of routes up to `now`, for packets that are sent from then on.
    pub(crate) fn turn(&mut self, now: Time) {
        for (key, start) in self.detours.due(now.as_ps()) {
            match key {
                (from, to, 0) => {
                    // Classes of an emulation are added when they are first seen. They follow.
                    self.classes.retain(|key, _| (key.0, key.1) != (from, to));
                    self.starts.insert((from, to), start)
                }
                key => self.classes.insert(key, start),
            };
        }
    }

    /// The routes in both directions between these pairs of nodes, where there is a path.
    pub(crate) fn where_joined(spec: &WorldSpec, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> Self {
        let (mut finder, mut routes) = (Finder::new(spec), Self::default());
        for (from, to) in pairs {
            // Who is not joined has no route.
            let _ = routes.join(&mut finder, from, to);
        }
        routes.add_detours(&spec.detours);
        routes
    }

    fn join(&mut self, finder: &mut Finder, from: NodeId, to: NodeId) -> Result<(), NoRoute> {
        if !self.starts.contains_key(&(from, to)) {
            let path = finder.path(from, to).ok_or(NoRoute { from, to })?;
            self.add(from, to, path.iter().copied());
            self.add(to, from, path.iter().rev().map(|channel| channel ^ 1));
        }
        Ok(())
    }

    fn add(&mut self, from: NodeId, to: NodeId, channels: impl Iterator<Item = u32>) {
        let start = self.append((from, to, 0), channels);
        self.starts.insert((from, to), start);
    }

    /// Appends a route to the list of hops; returns its start.
    fn append(&mut self, (from, to, dscp): Key, channels: impl Iterator<Item = u32>) -> u32 {
        let start = self.hops.len() as u32;
        self.origins.push((start, Origin { from: from.0, to: to.0, dscp }));
        self.hops.extend(channels.map(Hop));
        if let Some(last) = self.hops.last_mut() {
            last.0 |= Hop::LAST;
        }
        start
    }

    /// Marks the hops that can be computed together with the one before.
    pub(crate) fn fuse(&mut self, channels: &[Channel]) {
        #[derive(Clone, Copy, PartialEq)]
        enum Fed {
            Never,
            By(u32),
            Mixed,
        }
        let mut fed = vec![Fed::Never; channels.len()];
        let mut before = NONE;
        for hop in &self.hops {
            let by = &mut fed[hop.channel() as usize];
            *by = match (*by, before) {
                (_, NONE) => Fed::Mixed,
                (Fed::Never, before) => Fed::By(before),
                (Fed::By(other), before) if other == before => Fed::By(other),
                _ => Fed::Mixed,
            };
            before = if hop.is_last() { NONE } else { hop.channel() };
        }
        // Messages of a router enter at a place of their own, at any time.
        let sends_icmp = |number: u32| {
            channels[number as usize].impairments.as_ref().is_some_and(|all| all.narrowness.sends_icmp())
        };
        for i in 1..self.hops.len() {
            let (before, this) = (self.hops[i - 1], self.hops[i].channel() as usize);
            let channel = &channels[this];
            if !before.is_last()
                && fed[this] == Fed::By(before.channel())
                && channel.partner.is_none()
                && !channel.keeps()
                && !channel.gathers()
                && !channel.is_instant()
                && !sends_icmp(this as u32)
                && !sends_icmp(this as u32 ^ 1)
                && !sends_icmp(before.channel() ^ 1)
                && !channels[before.channel() as usize].reorders()
            {
                self.hops[i - 1].0 |= Hop::FUSED;
            }
        }
    }
}

impl Routes {
    /// The next channel is not computed together with this one.
    pub(crate) fn part_behind(&mut self, channel: u32) {
        for hop in self.hops.iter_mut().filter(|hop| hop.channel() == channel) {
            hop.0 &= !Hop::FUSED;
        }
    }

    /// Channels that are not computed together, each with the one before it on some route: once for each route.
    pub(crate) fn parted(&self) -> impl Iterator<Item = (u32, u32)> {
        let pairs = self.hops.windows(2).filter(|pair| !pair[0].is_last() && !pair[0].goes_on_at_once());
        pairs.map(|pair| (pair[0].channel(), pair[1].channel()))
    }

    /// Fused channels, each with the one before it: once for each route.
    pub(crate) fn fused(&self) -> impl Iterator<Item = (u32, u32)> {
        let pairs = self.hops.windows(2).filter(|pair| pair[0].goes_on_at_once());
        pairs.map(|pair| (pair[0].channel(), pair[1].channel()))
    }
}

impl core::fmt::Debug for Routes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let route = |(&(from, to), &start): (&(NodeId, NodeId), &u32)| {
            ((from.0, to.0), self.channels(start).collect::<Vec<_>>())
        };
        f.debug_map().entries(self.starts.iter().map(route)).finish()
    }
}

/// Breadth-first search. It stores its trees, because hosts at one router share the router's tree.
struct Finder {
    map: Map,
    /// For each root, the channel that reaches each node.
    trees: BTreeMap<u32, Vec<u32>>,
    /// For each channel the node where it begins.
    origin: Vec<u32>,
}

/// The graph of the search.
struct Map {
    /// For each node its outgoing channels with their ends, in the order of declaration.
    out: Vec<Vec<(u32, u32)>>,
    /// Which nodes are hubs.
    hubs: Vec<bool>,
}

impl Finder {
    fn new(spec: &WorldSpec) -> Self {
        let mut out = vec![Vec::new(); spec.nodes.len()];
        let mut origin = Vec::with_capacity(2 * spec.links.len());
        for (link, ends) in spec.links.iter().map(|link| link.ends).enumerate() {
            let [a, b] = ends.map(|end| end.0);
            out[a as usize].push((2 * link as u32, b));
            out[b as usize].push((2 * link as u32 + 1, a));
            origin.extend([a, b]);
        }
        let mut hubs = vec![false; spec.nodes.len()];
        for hub in &spec.hubs {
            hubs[hub.node.0 as usize] = true;
        }
        Self { map: Map { out, hubs }, trees: BTreeMap::new(), origin }
    }

    /// The channels from one node to another. The search begins at the node with the lower number, so both directions use
    /// the same links.
    fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<u32>> {
        if from > to {
            let back = self.path(to, from)?;
            return Some(back.iter().rev().map(|channel| channel ^ 1).collect());
        }
        let (mut root, mut first) = (from.0, None);
        if let [(channel, neighbour)] = self.map.out[root as usize][..] {
            (root, first) = (neighbour, Some(channel));
        }
        if from == to {
            return None;
        }
        let map = &self.map;
        let tree = self.trees.entry(root).or_insert_with(|| map.grow(root));
        let mut path = Vec::new();
        let mut at = to.0;
        while at != root {
            let channel = tree[at as usize];
            if channel == NONE {
                return None;
            }
            path.push(channel);
            at = self.origin[channel as usize];
        }
        path.extend(first);
        path.reverse();
        Some(path)
    }
}

impl Map {
    /// The channel through which breadth-first search from `root` first reaches each node.
    fn grow(&self, root: u32) -> Vec<u32> {
        let mut reached = vec![NONE; self.out.len()];
        let mut frontier = std::collections::VecDeque::from([root]);
        while let Some(node) = frontier.pop_front() {
            self.look_round(node, root, &mut reached, &mut frontier);
        }
        reached
    }

    /// Reaches the neighbours of `node`; those beyond a hub are neighbours too.
    fn look_round(
        &self,
        node: u32,
        root: u32,
        reached: &mut [u32],
        frontier: &mut std::collections::VecDeque<u32>,
    ) {
        for &(channel, neighbour) in &self.out[node as usize] {
            if neighbour == root || reached[neighbour as usize] != NONE {
                continue;
            }
            reached[neighbour as usize] = channel;
            if self.hubs[neighbour as usize] {
                self.look_round(neighbour, root, reached, frontier);
            } else {
                frontier.push_back(neighbour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::app::AppSpec;
    use crate::spec::ChannelSpec;
    use netspurt_tcp::time::Span;

    fn spec(links: &[(u32, u32)], nodes: u32) -> WorldSpec {
        let mut spec = WorldSpec::new("routes", Span::ZERO);
        for node in 0..nodes {
            spec.node(&node.to_string());
        }
        for &(a, b) in links {
            spec.link("l", [NodeId(a), NodeId(b)], &ChannelSpec::default());
        }
        spec
    }

    fn path(spec: &WorldSpec, from: u32, to: u32) -> Option<Vec<u32>> {
        Finder::new(spec).path(NodeId(from), NodeId(to))
    }

    #[test]
    fn the_fewest_hops_win_and_the_first_declared_among_equals() {
        // A square with a tail: 0-1, 1-3, 0-2, 2-3, 3-4.
        let square = spec(&[(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)], 5);
        assert_eq!(path(&square, 0, 3), Some(vec![0, 2]));
        assert_eq!(path(&square, 0, 4), Some(vec![0, 2, 8]));
        assert_eq!(path(&square, 2, 3), Some(vec![6]));
    }

    #[test]
    fn the_way_back_takes_the_same_links() {
        let square = spec(&[(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)], 5);
        assert_eq!(path(&square, 4, 0), Some(vec![9, 3, 1]));
    }

    #[test]
    fn no_path_is_no_path() {
        assert_eq!(path(&spec(&[(0, 1), (2, 3)], 4), 0, 3), None);
    }

    #[test]
    fn neighbours_of_one_another_and_leaves_of_one_router() {
        let star = spec(&[(0, 3), (1, 3), (2, 3)], 4);
        assert_eq!(path(&star, 0, 2), Some(vec![0, 5]));
        assert_eq!(path(&star, 0, 3), Some(vec![0]));
        assert_eq!(path(&spec(&[(0, 1)], 2), 0, 1), Some(vec![0]));
    }

    #[test]
    fn stations_of_a_hub_are_neighbours_of_one_another() {
        // 0, 1 and 2 at a hub, which is node 5; 0-3, 3-2 and 2-4 by links, a hop more from 0 to 2.
        let mut spec = spec(&[(0, 3), (3, 2), (2, 4)], 5);
        let station = ChannelSpec::ethernet(10_000_000, Span::ZERO);
        spec.hub("lan", &[NodeId(0), NodeId(1), NodeId(2)], &station, crate::spec::Access::CsmaCd);
        assert_eq!(path(&spec, 0, 2), Some(vec![6, 11]));
        assert_eq!(path(&spec, 2, 0), Some(vec![10, 7]));
        assert_eq!(path(&spec, 1, 4), Some(vec![8, 11, 4]));
        // Beside a link as short as the hub, the link was declared first.
        spec.links[1].ends = [NodeId(0), NodeId(2)];
        assert_eq!(path(&spec, 0, 2), Some(vec![2]));
    }

    #[test]
    fn only_a_channel_fed_by_one_other_alone_is_fused() {
        // Two senders 0, 1 - router 2 - router 3 - two receivers 4, 5; flows 0→4 and 1→5.
        let mut spec = spec(&[(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)], 6);
        for link in &mut spec.links {
            link.directions[0].delay = Span::from_ms(1);
            link.directions[1].delay = Span::from_ms(1);
        }
        let config = crate::testing::config();
        spec.flow("a", [NodeId(0), NodeId(4)], AppSpec::Bulk { bytes: None }, &config);
        spec.flow("b", [NodeId(1), NodeId(5)], AppSpec::Bulk { bytes: None }, &config);
        let channels: Vec<Channel> = spec
            .links
            .iter()
            .flat_map(|l| l.directions.each_ref().map(|d| Channel::new(d, 0, "x")))
            .collect();
        let mut routes = Routes::new(&spec).unwrap();
        routes.fuse(&channels);
        let marks = |from, to| {
            let (start, _) = routes.between(NodeId(from), NodeId(to)).unwrap();
            [0, 1, 2].map(|i| routes.hop(start + i)).map(|hop| (hop.goes_on_at_once(), hop.is_last()))
        };
        assert_eq!(marks(0, 4), [(false, false), (true, false), (false, true)]);
        assert_eq!(marks(5, 1), [(false, false), (true, false), (false, true)]);
        let (start, _) = routes.between(NodeId(0), NodeId(4)).unwrap();
        assert_eq!(routes.channels(start).collect::<Vec<_>>(), [0, 4, 6]);
    }
}
