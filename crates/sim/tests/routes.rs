//! Routes that change in random networks, with flows between all hosts: what holds for each of them.

use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::schedule::Change;
use netspurt_sim::parallel::Partition;
use netspurt_sim::random::Stream;
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{
    ChannelSpec, Detour, FqCodelSpec, LossSpec, NodeId, PieSpec, QueueSpec, ReorderSpec, Room, WorldSpec,
};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

const BYTES: u64 = 40_000;

fn one_in(stream: &mut Stream, n: u64) -> bool {
    stream.below(n) == 0
}

fn channel(stream: &mut Stream) -> ChannelSpec {
    let rate = [1_000_000, 5_000_000, 50_000_000][stream.below(3) as usize];
    let mut channel = ChannelSpec::new(rate, Span::from_us(100 + stream.below(30_000)));
    let room = Room::Packets(5 + stream.below(60) as u32);
    channel.queue = match stream.below(4) {
        0 => QueueSpec::Pie(room, PieSpec::default()),
        1 => QueueSpec::FqCodel(FqCodelSpec::default()),
        2 => QueueSpec::Unlimited,
        _ => QueueSpec::Packets(5 + stream.below(60) as u32),
    };
    if one_in(stream, 4) {
        channel.loss = LossSpec::PacketError { rate: 0.01 };
    }
    if one_in(stream, 6) {
        channel.reorder = Some(ReorderSpec { probability: 0.02, extra_delay: Span::from_ms(2) });
    }
    channel
}

/// Hosts in a full mesh, so that each two have many routes, and a transfer between each two.
fn mesh(seed: u64) -> (WorldSpec, Vec<NodeId>) {
    let stream = &mut Stream::new(seed, "mesh");
    let mut spec = WorldSpec::new("mesh", Span::from_secs(300));
    let nodes: Vec<NodeId> = (0..3 + stream.below(3)).map(|i| spec.node(&format!("n{i}"))).collect();
    let profiles = profile::profiles();
    for (i, &a) in nodes.iter().enumerate() {
        for &b in &nodes[i + 1..] {
            let link = spec.link(&format!("{}-{}", a.0, b.0), [a, b], &ChannelSpec::default());
            link.directions = [channel(stream), channel(stream)];
        }
    }
    for (i, &a) in nodes.iter().enumerate() {
        for &b in &nodes[i + 1..] {
            let config = Arc::new(profiles[stream.below(profiles.len() as u64) as usize].config.clone());
            let flow = spec.flow("f", [a, b], AppSpec::Bulk { bytes: Some(BYTES) }, &config);
            flow.start = Time::ZERO + Span::from_ms(stream.below(300));
            flow.dscp = [0, 46][stream.below(2) as usize];
        }
    }
    (spec, nodes)
}

/// The channel from `a` to `b`.
fn hop(spec: &WorldSpec, a: NodeId, b: NodeId) -> u32 {
    let joins = |ends: [NodeId; 2]| ends == [a, b] || ends == [b, a];
    let link = spec.links.iter().position(|link| joins(link.ends)).expect("the mesh is full");
    2 * link as u32 + u32::from(spec.links[link].ends != [a, b])
}

/// A route from one node to another, over up to two others.
fn detour(spec: &WorldSpec, nodes: &[NodeId], stream: &mut Stream) -> Detour {
    let mut order = nodes.to_vec();
    for i in (1..order.len()).rev() {
        order.swap(i, stream.below(i as u64 + 1) as usize);
    }
    order.truncate(2 + stream.below(nodes.len() as u64 - 1).min(2) as usize);
    let channels = order.windows(2).map(|pair| hop(spec, pair[0], pair[1])).collect();
    let periodic = one_in(stream, 3).then(|| Span::from_ms(50 + stream.below(500)));
    Detour {
        ends: [order[0], order[order.len() - 1]],
        channels,
        when: Change {
            at: Time::ZERO + Span::from_ms(stream.below(400)),
            every: periodic,
            until: None,
            value: (),
        },
    }
}

fn run(spec: &WorldSpec, seed: u64) -> RunResult {
    World::new(spec.clone(), seed, None)
        .unwrap_or_else(|error| panic!("seed {seed}: {error:?}"))
        .run(&|| false)
}

/// All that a result says, but for what computing it took.
fn told(result: &RunResult) -> String {
    let mut result = result.clone();
    result.performance = Default::default();
    format!("{result:#?}")
}

#[test]
fn transfers_over_changing_routes_deliver_each_byte_once_and_runs_repeat() {
    let mut moved = 0;
    for seed in 1..=400 {
        let (plain, nodes) = mesh(seed);
        let mut spec = plain.clone();
        let stream = &mut Stream::new(seed, "detours");
        for _ in 0..1 + stream.below(5) {
            let detour = detour(&spec, &nodes, stream);
            spec.detours.push(detour);
        }
        assert!(Partition::finest(&spec, 2).is_none(), "seed {seed}: routes that change need one thread");
        let result = run(&spec, seed);
        for flow in &result.flows {
            assert_eq!((flow.bytes_delivered, flow.wrong_bytes), (BYTES, 0), "seed {seed}: {flow:?}");
            assert!(flow.completed, "seed {seed}: {flow:?}");
        }
        assert_eq!(told(&run(&spec, seed)), told(&result), "seed {seed}");
        moved += u32::from(told(&run(&plain, seed)) != told(&result));
    }
    assert!(moved > 200, "only {moved} of 400 networks used a new route");
}

#[test]
fn a_change_to_the_route_of_before_changes_nothing() {
    for seed in 1..=50 {
        let (plain, nodes) = mesh(seed);
        let mut spec = plain.clone();
        // In a mesh the direct link is the route.
        for pair in nodes.windows(2) {
            let channels = Arc::new([hop(&spec, pair[0], pair[1])]);
            let when = Change { at: Time::ZERO + Span::from_ms(200), every: None, until: None, value: () };
            spec.detours.push(Detour { ends: [pair[0], pair[1]], channels, when });
        }
        assert_eq!(told(&run(&spec, seed)), told(&run(&plain, seed)), "seed {seed}");
    }
}
