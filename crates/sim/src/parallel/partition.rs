//! How a world is divided into parts that can be simulated at the same time.
//!
//! A packet that enters a link cannot arrive before the link's delay is over: this delay is the *lookahead* of the link.
//! Nodes that are joined by links with little or no lookahead are put into the same part. Only links with a larger delay
//! remain between the parts, and for this time each part can be simulated without messages from the others (Chandy and
//! Misra, 1979; Fujimoto, 1990: conservative synchronisation).
//!
//! The division depends only on the scenario and the number of threads, never on the machine.

use super::border;
use super::exchange::SLACK;
use super::work::{USUAL, loads, packets_per_second};
use crate::host::app::AppSpec;
use crate::network::channel::MAX_PARTS;
use crate::network::route::Routes;
use crate::spec::{ChannelSpec, Duplex, FlowSpec, LinkSpec, MtuSpec, NodeId, TooBig, WorldSpec};
use crate::world::LINGER;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

/// What the threads need to exchange messages during one lookahead, in packets that could be simulated in the same time.
const EXCHANGE_COST: f64 = 20.0;

/// A run with this many packets is long: about half a second on one thread.
const LONG: f64 = 2e6;

/// With more flows than this, a run is not divided by default. Each part keeps the state of all flows: a million that transfer
/// at once took twice the memory with two threads, and 45 instead of 27 s.
const MANY: u64 = 100_000;

/// The factor by which several threads must be faster to be used.
const WORTH_IT: f64 = 1.2;

/// How a world is divided into parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Partition {
    /// The part of each node.
    pub(crate) of_node: Arc<[u32]>,
    /// The part that simulates each channel.
    pub(crate) of_channel: Arc<[u32]>,
    /// Number of parts.
    pub(crate) parts: usize,
    /// The least delay between two parts in picoseconds.
    pub(crate) lookahead: u64,
}

impl Partition {
    /// The fastest division of a world into at most `parts` parts; `None` if no division is faster than one thread.
    pub fn best(spec: &WorldSpec, parts: usize) -> Option<Self> {
        if parts < 2 {
            return None;
        }
        let (gain, best) =
            divisions(spec, parts).reduce(|best, next| if next.0 > best.0 * 1.05 { next } else { best })?;
        (gain >= WORTH_IT).then_some(best)
    }

    /// The division for a run with this number of threads. Without a number, a long run uses all processors, and a short
    /// one, or one of very many flows, a single thread.
    pub fn for_run(spec: &WorldSpec, threads: Option<usize>) -> Option<Self> {
        let all = || thread::available_parallelism().map_or(1, NonZero::get);
        Self::best(spec, threads.unwrap_or_else(|| parts_by_default(spec, all())))
    }

    /// The division with the shortest lookahead, faster or not, for comparisons in tests. Every second channel between two parts
    /// is simulated by the part behind it, if it may be.
    pub fn finest(spec: &WorldSpec, parts: usize) -> Option<Self> {
        let (_, finest) = divisions(spec, parts).last()?;
        Some(Self { of_channel: border::alternate(spec, &finest.of_node).into(), ..finest })
    }

    /// The number of channels that the part behind them simulates.
    pub fn moved(&self, spec: &WorldSpec) -> usize {
        let begins = spec.links.iter().flat_map(|link| link.ends).map(|node| self.of_node[node.0 as usize]);
        begins.zip(&*self.of_channel).filter(|(begins, part)| begins != *part).count()
    }

    /// Number of parts, at least two.
    pub const fn parts(&self) -> usize {
        self.parts
    }
}

/// The divisions of a world into at most `parts` parts, those with the longest lookahead first, each with its estimated speed
/// relative to one thread.
fn divisions(spec: &WorldSpec, parts: usize) -> impl Iterator<Item = (f64, Partition)> {
    let is_divisible = |flow: &FlowSpec| is_divisible(&flow.app) && flow.own.iter().all(Option::is_none);
    let parts = parts.min(usize::from(MAX_PARTS));
    let fixed = spec.detours.is_empty();
    let routes = Routes::new(spec).ok().filter(|_| parts > 1 && fixed && spec.flows.iter().all(is_divisible));
    routes.into_iter().flat_map(move |routes| {
        let loads = loads(spec, &routes);
        let links = (0..).zip(&spec.links);
        let lookaheads: Vec<u64> = links.map(|(number, link)| lookahead(spec, number, link)).collect();
        let shortest: BTreeSet<u64> =
            lookaheads.iter().copied().filter(|&lookahead| lookahead >= SLACK).collect();
        let rate = packets_per_second(spec, &routes);
        shortest.into_iter().rev().filter_map(move |shortest| {
            let components = components(spec, |link| lookaheads[link] < shortest);
            let of_node = distribute(&components, &loads.of_node, parts);
            let parts = of_node.iter().max().map_or(0, |&last| last as usize + 1);
            let (of_channel, work) = border::share(spec, &of_node, &loads, parts);
            let lookahead = shortest.min(LINGER.as_ps());
            let exchange = EXCHANGE_COST / (rate * lookahead as f64 * 1e-12);
            let gain = 1.0 / (share_of_busiest(&work)? + exchange);
            let (of_node, of_channel) = (of_node.into(), of_channel.into());
            (parts > 1).then_some((gain, Partition { of_node, of_channel, parts, lookahead }))
        })
    })
}

/// Whether the ends of a flow may be in different parts. A session acts on both at the same time.
const fn is_divisible(app: &AppSpec) -> bool {
    matches!(app, AppSpec::Bulk { .. } | AppSpec::RequestResponse { .. } | AppSpec::Streams(_))
}

/// The least time that a packet needs to pass through a link; 0 if it is unknown, or if events at one end affect the other
/// end immediately.
fn lookahead(spec: &WorldSpec, number: u32, link: &LinkSpec) -> u64 {
    let is_station =
        spec.hubs.iter().any(|hub| (hub.first_link..hub.first_link + hub.stations).contains(&number));
    if is_station || link.duplex == Duplex::Half {
        return 0;
    }
    link.directions.iter().map(lookahead_of).min().unwrap_or(0)
}

fn lookahead_of(channel: &ChannelSpec) -> u64 {
    // The message about a packet that is too long can appear at either end.
    let sends_icmp = |mtu: &MtuSpec| mtu.too_big == TooBig::Icmp;
    let is_fixed =
        channel.varies.is_none() && channel.changes.delay.is_empty() && !channel.mtu.iter().any(sends_icmp);
    if is_fixed { channel.delay.as_ps() } else { 0 }
}

/// How many threads a run uses if the user gives no number: one for each processor if it is long and has at most [`MANY`] flows,
/// else one.
fn parts_by_default(spec: &WorldSpec, processors: usize) -> usize {
    let flows: u64 = spec.flows.iter().map(|flow| u64::from(flow.count)).sum();
    if flows <= MANY && is_long(spec) { processors } else { 1 }
}

/// Whether a run is so long that it uses several threads by default.
fn is_long(spec: &WorldSpec) -> bool {
    let Ok(routes) = Routes::new(spec) else { return false };
    let asked = |flow: &FlowSpec| flow.app.bytes_asked().map_or(f64::INFINITY, |bytes| bytes as f64);
    let all: f64 = spec.flows.iter().map(|flow| f64::from(flow.count) * asked(flow)).sum();
    let carried = packets_per_second(spec, &routes) * spec.duration.as_secs_f64();
    carried.min(all / USUAL) > LONG
}

/// For each node the leader of its component.
fn components(spec: &WorldSpec, together: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut leader: Vec<u32> = (0..spec.nodes.len() as u32).collect();
    for (_, link) in spec.links.iter().enumerate().filter(|(number, _)| together(*number)) {
        let [a, b] = link.ends.map(|end| find(&mut leader, end));
        leader[a.max(b) as usize] = a.min(b);
    }
    (0..spec.nodes.len() as u32).map(|node| find(&mut leader, NodeId(node))).collect()
}

/// The leader of a node's component. Each search halves the path to it.
fn find(leader: &mut [u32], node: NodeId) -> u32 {
    let mut at = node.0;
    while leader[at as usize] != at {
        let next = leader[leader[at as usize] as usize];
        leader[at as usize] = next;
        at = next;
    }
    at
}

/// Distributes components over parts, largest work first, each into the part with the least work. Parts are numbered in the
/// order of their first nodes.
fn distribute(leaders: &[u32], loads: &[u64], parts: usize) -> Vec<u32> {
    let mut weights = vec![0u64; leaders.len()];
    leaders.iter().zip(loads).for_each(|(&leader, load)| weights[leader as usize] += load);
    let mut order: Vec<u32> =
        (0..leaders.len() as u32).filter(|&node| leaders[node as usize] == node).collect();
    order.sort_by_key(|&leader| (std::cmp::Reverse(weights[leader as usize]), leader));
    let mut sums = vec![0u64; parts];
    let mut part_of = vec![0u32; leaders.len()];
    for leader in order {
        let lightest = (0..parts).min_by_key(|&part| sums[part]).unwrap_or(0);
        sums[lightest] += weights[leader as usize];
        part_of[leader as usize] = lightest as u32;
    }
    let mut numbers = vec![u32::MAX; parts];
    let mut next = 0;
    let parts = leaders.iter().map(|&leader| {
        let number = &mut numbers[part_of[leader as usize] as usize];
        if *number == u32::MAX {
            *number = next;
            next += 1;
        }
        *number
    });
    parts.collect()
}

/// The share of the work that the busiest part has; `None` if there is no work.
fn share_of_busiest(work: &[u64]) -> Option<f64> {
    let all: u64 = work.iter().sum();
    let most = work.iter().max().copied()?;
    (all > 0).then(|| most as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Access;
    use netspurt_tcp::time::Span;

    /// Four hosts on each side of two routers.
    fn dumbbell() -> WorldSpec {
        let mut spec = WorldSpec::new("dumb-bell", Span::from_secs(10));
        let config = crate::testing::config();
        let (left, right) = (spec.node("left"), spec.node("right"));
        spec.link("bottleneck", [left, right], &ChannelSpec::new(1_000_000_000, Span::from_ms(10)));
        for i in 0..4 {
            let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
            let access = ChannelSpec::new(10_000_000_000, Span::from_ms(1));
            spec.link(&format!("access a{i}"), [a, left], &access);
            spec.link(&format!("access b{i}"), [right, b], &access);
            spec.flow("f", [a, b], AppSpec::Bulk { bytes: None }, &config);
        }
        spec
    }

    #[test]
    fn a_dumb_bell_is_divided_at_its_bottleneck() {
        let spec = dumbbell();
        let partition = Partition::best(&spec, 2).expect("two halves");
        assert_eq!((partition.parts, partition.lookahead), (2, 10_000_000_000));
        // left, right, then hosts of both sides alternately.
        assert_eq!(*partition.of_node, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn the_part_of_the_receivers_simulates_the_bottleneck() {
        let mut spec = dumbbell();
        let partition = Partition::best(&spec, 2).expect("two halves");
        let simulated = |partition: &Partition| [partition.of_channel[0], partition.of_channel[1]];
        // The receivers have less to do than the senders, and the ACKs leave from their part.
        assert_eq!(simulated(&partition), [1, 1]);
        spec.flows.iter_mut().for_each(|flow| (flow.from, flow.to) = (flow.to, flow.from));
        let partition = Partition::best(&spec, 2).expect("two halves");
        assert_eq!(simulated(&partition), [0, 0], "data flows from right to left");
    }

    #[test]
    fn a_part_simulates_channels_that_begin_at_its_hosts_or_are_not_plain() {
        let (mut lossy, mut from_host) = (dumbbell(), dumbbell());
        lossy.links[0].directions[0].duplicate = 0.1;
        let config = crate::testing::config();
        from_host.flow("f", [NodeId(0), NodeId(3)], AppSpec::Bulk { bytes: None }, &config);
        for spec in [lossy, from_host] {
            let partition = Partition::best(&spec, 2).expect("two halves");
            assert_eq!([partition.of_channel[0], partition.moved(&spec) as u32], [0, 0]);
        }
    }

    #[test]
    fn by_default_a_long_run_is_divided_unless_it_has_very_many_flows() {
        let mut spec = dumbbell();
        spec.duration = Span::from_secs(1000);
        assert_eq!(parts_by_default(&spec, 2), 2);
        spec.flows[0].count = 100_000;
        assert_eq!(parts_by_default(&spec, 2), 1);
        assert!(Partition::for_run(&spec, None).is_none());
        assert!(Partition::for_run(&spec, Some(2)).is_some(), "it was asked for");
        spec.flows[0].count = 1;
        spec.duration = Span::from_ms(10);
        assert_eq!(parts_by_default(&spec, 2), 1, "a short run");
    }

    #[test]
    fn one_part_is_no_division() {
        assert_eq!(Partition::best(&dumbbell(), 1), None);
        assert_eq!(Partition::best(&dumbbell(), 0), None);
    }

    #[test]
    fn more_parts_have_a_shorter_lookahead() {
        let partition = Partition::finest(&dumbbell(), 3).expect("three parts");
        assert_eq!((partition.parts, partition.lookahead), (3, 1_000_000_000));
    }

    #[test]
    fn links_whose_delay_is_not_fixed_hold_their_ends_together() {
        let mut spec = dumbbell();
        for link in &mut spec.links {
            link.duplex = Duplex::Half;
        }
        assert_eq!(Partition::best(&spec, 2), None, "a shared medium");
        let mut spec = dumbbell();
        for link in &mut spec.links {
            link.directions[1].delay = Span::ZERO;
        }
        assert_eq!(Partition::best(&spec, 2), None, "no delay in one direction");
        let mut spec = dumbbell();
        for link in &mut spec.links {
            let mtu = MtuSpec { from: netspurt_tcp::time::Time::ZERO, mtu: 1400, too_big: TooBig::Icmp };
            link.directions[0].mtu.push(mtu);
        }
        assert_eq!(Partition::best(&spec, 2), None, "routers that send messages");
    }

    #[test]
    fn stations_of_a_hub_stay_together() {
        let mut spec = WorldSpec::new("lan", Span::from_secs(10));
        let config = crate::testing::config();
        let hosts = ["a", "b", "c"].map(|name| spec.node(name));
        let station = ChannelSpec::ethernet(10_000_000, Span::from_ms(10));
        spec.hub("lan", &hosts, &station, Access::CsmaCd);
        spec.flow("f", [hosts[0], hosts[1]], AppSpec::Bulk { bytes: None }, &config);
        assert_eq!(Partition::best(&spec, 2), None);
    }
}
