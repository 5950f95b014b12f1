//! Hubs: stations that share one medium.

use netspurt_scenario::{Scenario, document};
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::packet::{Label, Packet};
use netspurt_sim::network::{Due, Network};
use netspurt_sim::random::Stream;
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, Recorder, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{
    Access, ChannelSpec, CodelSpec, FqCodelSpec, LossSpec, NodeId, QueueSpec, RedSpec, Room, Unit, WorldSpec,
};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const RATE: u64 = 10_000_000;
/// A bit at that rate.
const BIT: u64 = 100_000;
/// Octets of preamble, header and check.
const FRAMING: u64 = 26;

/// When the first bit of each frame leaves, and how many bits it has.
#[derive(Clone, Default)]
struct Frames(Arc<Mutex<Vec<(u64, u64)>>>);

impl CaptureSink for Frames {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        if channel.is_multiple_of(2) {
            let bits = 8 * (u64::from(packet.size.max(46)) + FRAMING);
            self.0.lock().unwrap().push((packet.leaves.as_ps(), bits));
        }
    }
}

/// So many stations on one hub, each with a flow to the next.
fn lan(stations: u32, station: &ChannelSpec, access: Access) -> WorldSpec {
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    let mut spec = WorldSpec::new("lan", Span::from_secs(2));
    let nodes: Vec<NodeId> = (0..stations).map(|n| spec.node(&format!("s{n}"))).collect();
    spec.hub("lan", &nodes, station, access);
    for (n, &from) in nodes.iter().enumerate() {
        let to = nodes[(n + 1) % nodes.len()];
        spec.flow(&format!("f{n}"), [from, to], AppSpec::Bulk { bytes: None }, &config);
    }
    spec
}

/// What a station has to send: packets of so many octets, at most so many microseconds apart.
#[derive(Clone, Copy, Debug)]
struct Load {
    sizes: [u32; 2],
    mean_gap_us: u64,
}

/// When which numbered packet arrived, and for whom.
type Arrivals = Vec<(Time, u32, u64)>;

/// Sends packets under a load from every station; returns what arrived, the network at the end, and all frames.
fn load(spec: &WorldSpec, seed: u64, load: Load) -> (Arrivals, Network, Vec<(u64, u64)>) {
    let frames = Frames::default();
    let links: Vec<u32> = (0..spec.links.len() as u32).collect();
    let recorder = Recorder::new(Wants::NOTHING).with_capture(&links, Box::new(frames.clone()));
    let mut network = Network::new(spec, seed, Some(recorder)).unwrap();
    let mut sources: Vec<Stream> =
        (0..spec.flows.len()).map(|i| Stream::new(seed, &format!("source/{i}"))).collect();
    (0..sources.len() as u32).for_each(|source| network.arm(Time::ZERO, source));
    let (mut arrived, mut number) = (Vec::new(), 0);
    while let Some((now, due)) = network.next(Time::NEVER) {
        match due {
            Due::Timer(flow) => {
                let stream = &mut sources[flow as usize];
                let [least, most] = load.sizes;
                let size = least + stream.below(u64::from(most - least + 1)) as u32;
                let gap = Span::from_us(stream.below(2 * load.mean_gap_us + 1).max(1));
                let flow_spec = &spec.flows[flow as usize];
                let (route, _) = network.routes().between(flow_spec.from, flow_spec.to).unwrap();
                let mut packet = Packet::default();
                number += 1;
                packet.segment.payload.offset = number;
                let label = Label { endpoint: 2 * flow + 1, generation: 0, route, size, resend: false };
                network.send(now, &packet.segment, label);
                network.arm(now + gap, flow);
            }
            Due::Packet(slot) => {
                let packet = network.packet(slot);
                arrived.push((now, packet.endpoint, packet.segment.payload.offset));
                network.release(slot);
            }
        }
    }
    let frames = frames.0.lock().unwrap().clone();
    (arrived, network, frames)
}

/// Frames in order of time: how far apart each is from the next, in picoseconds; negative where they overlap.
fn gaps(frames: &[(u64, u64)]) -> Vec<i128> {
    let mut frames = frames.to_vec();
    frames.sort_unstable();
    let gap = |pair: &[(u64, u64)]| i128::from(pair[1].0) - i128::from(pair[0].0 + pair[0].1 * BIT);
    frames.windows(2).map(gap).collect()
}

fn station(delay_us: u64) -> ChannelSpec {
    ChannelSpec::ethernet(RATE, Span::from_us(delay_us))
}

const GAP: i128 = 96 * BIT as i128;

fn queues() -> [QueueSpec; 5] {
    let law = CodelSpec { target: Span::from_ms(2), interval: Span::from_ms(20), mtu: 1500, ecn: false };
    [
        QueueSpec::Packets(8),
        QueueSpec::ResendFirst(Room::Bytes(9000)),
        QueueSpec::Red(RedSpec {
            weight: 0.05,
            room: Room::Packets(30),
            ..RedSpec::for_rate(Some(RATE), Unit::Packets, 800)
        }),
        QueueSpec::Codel(Room::Packets(50), law),
        QueueSpec::FqCodel(FqCodelSpec { room: Room::Packets(50), law, ..FqCodelSpec::default() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_medium_never_carries_two_frames_at_once(
        seed in 0u64..1000,
        stations in 2u32..12,
        delay_us in 0u64..26,
        mean_gap_us in 50u64..20_000,
        which in 0usize..5,
        contention in any::<bool>(),
    ) {
        let access = if contention { Access::CsmaCd } else { Access::FirstCome };
        let spec = lan(stations, &ChannelSpec { queue: queues()[which], ..station(delay_us) }, access);
        let (arrived, network, frames) = load(&spec, seed, Load { sizes: [20, 1500], mean_gap_us });
        prop_assert!(gaps(&frames).iter().all(|&gap| gap >= GAP));
        // Every packet is somewhere: arrived, dropped, or on its way.
        let sent: u64 = network.channels().iter().step_by(2).map(|channel| channel.counters().packets).sum();
        prop_assert_eq!(sent, frames.len() as u64);
        let (end, delay) = (spec.duration.as_ps(), delay_us * 1_000_000);
        let in_time = frames.iter().filter(|(start, bits)| start + bits * BIT + delay <= end).count();
        prop_assert_eq!(arrived.len(), in_time, "what has the medium arrives");
        let waiting: u32 = network.channels().iter().map(|channel| channel.backlog().packets).sum();
        prop_assert!(network.packets_under_way() <= waiting as usize + stations as usize + 1);
    }
}

#[test]
fn the_same_seed_has_the_same_collisions_and_another_has_others() {
    let spec = lan(6, &station(5), Access::CsmaCd);
    let busy = Load { sizes: [40, 1500], mean_gap_us: 5000 };
    let [(a, first, _), (b, again, _), (c, ..)] = [1, 1, 2].map(|seed| load(&spec, seed, busy));
    assert_eq!(a, b);
    assert_ne!(a, c);
    for channel in 0..12 {
        assert_eq!(first.contention(channel), again.contention(channel));
        assert_eq!(
            first.contention(channel).is_some(),
            channel % 2 == 0,
            "a station has it, the way back has not"
        );
    }
    assert!((0..12).step_by(2).all(|channel| first.contention(channel).unwrap().collisions > 10));
}

#[test]
fn one_station_that_is_always_busy_uses_all_but_the_gaps() {
    for access in [Access::CsmaCd, Access::FirstCome] {
        for size in [46, 1500] {
            let mut spec = lan(3, &station(3), access);
            spec.flows.truncate(1);
            let (_, network, frames) = load(&spec, 1, Load { sizes: [size, size], mean_gap_us: 10 });
            assert!(gaps(&frames).iter().all(|&gap| gap == GAP));
            let frame = f64::from(size) + FRAMING as f64;
            let used = network.channels()[0].utilisation(Time::ZERO + spec.duration);
            assert!((used - frame / (frame + 12.0)).abs() < 1e-4, "{access:?}, {size}: {used}");
            if access == Access::CsmaCd {
                let contention = network.contention(0).unwrap();
                assert_eq!((contention.collisions, contention.deferrals), (0, 0));
            }
        }
    }
}

/// The share of time in which frames are on the medium, with stations that are always busy.
fn efficiency(stations: u32, size: u32, delay_us: u64) -> f64 {
    let station = ChannelSpec { queue: QueueSpec::Packets(5), ..station(delay_us) };
    let mut spec = lan(stations, &station, Access::CsmaCd);
    spec.duration = Span::from_secs(10);
    // Each alone could fill the medium.
    let mean_gap_us = u64::from(size + 26) * 8 * 7 / 100;
    let (_, network, _) = load(&spec, 7, Load { sizes: [size, size], mean_gap_us });
    let end = Time::ZERO + spec.duration;
    network.channels().iter().step_by(2).map(|channel| channel.utilisation(end)).sum()
}

/// The same on a medium without delay, from one contest to the next: no events, no queues, another generator.
fn by_contests(stations: usize, size: u32) -> f64 {
    let frame = 8 * (u64::from(size) + FRAMING);
    let mut stream = Stream::new(99, "contests");
    let (mut ready, mut collided) = (vec![0u64; stations], vec![0u32; stations]);
    let (mut clear, mut sent) = (0, 0);
    while clear < 100_000_000 {
        let first = ready.iter().min().copied().unwrap().max(clear);
        // Who has waited for the gap no longer listens in its last third.
        let begins = |ready: u64| ready <= first || (ready <= clear && clear - first <= 32);
        let who: Vec<usize> = (0..stations).filter(|&n| begins(ready[n])).collect();
        if let [only] = who[..] {
            (ready[only], collided[only]) = (first + frame, 0);
            clear = first + frame + 96;
            sent += frame;
            continue;
        }
        let end = first + 64 + 32;
        for n in who {
            collided[n] += 1;
            ready[n] = end + 512 * stream.below(1 << collided[n].min(10));
            if collided[n] == 16 {
                (ready[n], collided[n]) = (end, 0);
            }
        }
        clear = end + 96;
    }
    sent as f64 / clear as f64
}

#[test]
fn busy_stations_waste_the_share_that_follows_from_the_rules() {
    for (stations, size) in [(2, 1500), (2, 100), (3, 500), (10, 500)] {
        let (got, expected) = (efficiency(stations, size, 0), by_contests(stations as usize, size));
        assert!((got / expected - 1.0).abs() < 0.01, "{stations}, {size}: {got} instead of {expected}");
    }
}

#[test]
fn busy_stations_waste_no_more_than_in_the_classical_model() {
    // Metcalfe and Boggs, CACM 19(7), 1976, section 6: a frame, then on average W slots without one, W = (1 - A) / A with
    // A = (1 - 1/Q)^(Q-1) for Q stations that each send in a slot with probability 1/Q. With the largest delay, half a
    // slot, that is what a collision costs. Backoff does better, since who has lost leaves the medium to the winner for
    // a while; how much better, the gap alone would allow.
    for (stations, size) in [(2, 1500), (5, 1500), (10, 1500), (2, 500), (10, 500), (20, 100)] {
        let q = f64::from(stations);
        let a = (1.0 - 1.0 / q).powf(q - 1.0);
        let frame = 8.0 * (f64::from(size) + FRAMING as f64);
        let model = frame / (frame + 96.0 + 512.0 * (1.0 - a) / a);
        let got = efficiency(stations, size, 25);
        let most = frame / (frame + 96.0);
        assert!((model..most).contains(&got), "{stations}, {size}: {got}, not between {model} and {most}");
    }
}

#[test]
fn frames_are_sent_in_order_of_arrival_over_all_stations() {
    let spec = lan(3, &station(3), Access::FirstCome);
    let mut network = Network::new(&spec, 1, None).unwrap();
    let stations = [1, 0, 2, 2, 0, 1, 1];
    for (number, &station) in stations.iter().enumerate() {
        let flow = &spec.flows[station as usize];
        let (route, _) = network.routes().between(flow.from, flow.to).unwrap();
        let mut packet = Packet::default();
        packet.segment.payload.offset = number as u64;
        let label = Label { endpoint: 1, generation: 0, route, size: 1000, resend: false };
        network.send(Time::ZERO, &packet.segment, label);
    }
    let mut arrived = Vec::new();
    while let Some((now, Due::Packet(slot))) = network.next(Time::NEVER) {
        arrived.push((now.as_ps() / BIT, network.packet(slot).segment.payload.offset));
        network.release(slot);
    }
    // A frame has 8208 bits, a gap 96, the way 30.
    let expected: Vec<(u64, u64)> = (0..7).map(|n| (30 + 8208 + n * (8208 + 96), n)).collect();
    assert_eq!(arrived, expected);
}

#[test]
fn a_frame_that_is_too_short_is_filled_up() {
    let spec = lan(2, &station(0), Access::CsmaCd);
    let mut network = Network::new(&spec, 1, None).unwrap();
    let (route, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    let label = Label { endpoint: 1, generation: 0, route, size: 40, resend: false };
    network.send(Time::ZERO, &Packet::default().segment, label);
    assert_eq!(network.next(Time::NEVER).map(|(now, _)| now.as_ps()), Some(8 * 72 * BIT));
}

fn run(spec: &WorldSpec) -> RunResult {
    World::new(spec.clone(), 1, None).unwrap().run(&|| false)
}

#[test]
fn tcp_over_a_hub_delivers_everything_whatever_the_queue() {
    for access in [Access::CsmaCd, Access::FirstCome] {
        for queue in queues() {
            let lossy = station(5).with_loss(LossSpec::PacketError { rate: 0.01 });
            let mut spec = lan(4, &ChannelSpec { queue, ..lossy }, access);
            for flow in &mut spec.flows {
                flow.app = AppSpec::Bulk { bytes: Some(100_000) };
            }
            spec.duration = Span::from_secs(100);
            let result = run(&spec);
            assert_eq!(result.digest, run(&spec).digest);
            for flow in &result.flows {
                assert_eq!((flow.bytes_delivered, flow.wrong_bytes), (100_000, 0), "{access:?}, {queue:?}");
            }
            let sum = |of: fn(&netspurt_sim::record::result::LinkResult) -> u64| {
                result.links.iter().map(of).sum::<u64>()
            };
            let lost = sum(|link| link.drops_by(Cause::PacketError));
            let through = |to_hub: bool| -> u64 {
                let ways = result.links.iter().filter(|link| link.direction.ends_with("->lan") == to_hub);
                ways.map(|link| link.packets).sum()
            };
            // Late acknowledgments apart, what the hub has taken it has given.
            assert_eq!(through(true) - lost, through(false));
            let met = result.links.iter().filter_map(|link| link.contention).any(|met| met.collisions > 0);
            assert_eq!(met, access == Access::CsmaCd);
        }
    }
}

const SCENARIO: &str = r#"duration = "5 s"
[hub.lan]
stations = ["a", "b", "c"]
rate = "10 Mbit/s"
delay = "5 us"
queue = { kind = "drop-tail", limit = "50 packets" }
[link.uplink]
between = ["c", "far"]
rate = "1.544 Mbit/s"
delay = "20 ms"
[[flow]]
app = { kind = "bulk", bytes = "200 kB" }
from = "a"
to = "far"
[[flow]]
app = { kind = "bulk", bytes = "200 kB" }
from = "b"
to = "a"
"#;

fn read(changes: &[(&str, &str)]) -> Result<Scenario, String> {
    Scenario::parse(SCENARIO, "hub.toml", changes).map_err(|error| error.to_string())
}

#[test]
fn a_scenario_names_a_hub() {
    let scenario = read(&[]).unwrap();
    assert_eq!(Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap(), scenario);
    let spec = scenario.build("hub").unwrap();
    let nodes: Vec<&str> = spec.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(nodes, ["c", "far", "a", "b", "lan"]);
    assert_eq!((spec.hubs[0].access, spec.hubs[0].gap, spec.hubs[0].stations), (Access::CsmaCd, 12, 3));
    let up = &spec.links[1].directions[0];
    assert_eq!((up.framing, up.least, up.queue), (26, 46, QueueSpec::Packets(50)));
    let result = run(&spec);
    assert!(result.flows.iter().all(|flow| flow.completed));
    let directions: Vec<String> =
        result.links.iter().map(|link| format!("{} {}", link.link, link.direction)).collect();
    let expected = [
        "uplink c->far",
        "uplink far->c",
        "lan a->lan",
        "lan lan->a",
        "lan b->lan",
        "lan lan->b",
        "lan c->lan",
        "lan lan->c",
    ];
    assert_eq!(directions, expected);
    let links = &document::to_json(&result)["links"];
    let json = &links[2];
    assert!(json["collisions"].as_u64().unwrap() > 0 && json["deferrals"].is_u64(), "{json}");
    assert_eq!(json["drops"], serde_json::json!({ "queue": 0, "collisions": 0 }));
    assert!(links[0].get("collisions").is_none());
}

#[test]
fn other_framing_leaves_the_smallest_frame_as_it_is() {
    let spec =
        read(&[("hub.lan.framing", "30 B"), ("hub.lan.access", "fifo")]).unwrap().build("hub").unwrap();
    let up = &spec.links[1].directions[0];
    assert_eq!((up.framing, up.least, spec.hubs[0].access), (30, 42, Access::FirstCome));
}

#[test]
fn a_loss_may_be_confined_to_what_one_station_sends() {
    let loss = "{ kind = 'packet-error', rate = 0.5, direction = 'b->lan' }";
    let spec = read(&[("hub.lan.loss", loss)]).unwrap().build("hub").unwrap();
    let losses: Vec<bool> =
        spec.links[1..].iter().map(|link| link.directions[0].loss != LossSpec::None).collect();
    assert_eq!(losses, [false, true, false]);
    assert!(spec.links.iter().all(|link| link.directions[1].loss == LossSpec::None));
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let refused = |path: &str, value: &str| read(&[(path, value)]).unwrap_err();
    for (path, value, sentence) in [
        ("hub.lan.stations", "['a']", "hub.lan.stations: there is 1 entry: there must be at least 2"),
        ("hub.lan.stations", "['a', 'b', 'c', 'b']", "\"b\" stands twice: a node is joined to a hub once"),
        ("hub.lan.stations", "['a', 'b', 'c', 'a->b']", "\"a->b\" is no name for a node"),
        (
            "hub.lan.stations",
            "['a', 'b', 'c', 'lan']",
            "there is a node \"lan\" already: give the hub a name of its own",
        ),
        ("hub.lan.rate", "0 Mbit/s", "hub \"lan\" has a rate of zero: give it a rate above zero"),
        (
            "hub.lan.delay",
            "26 us",
            "at 10 Mbit/s a collision is noticed in time over a delay of 25.6 us at most, half a slot of 512 bits, \
             not 26 us",
        ),
        ("hub.lan.framing", "1 MB", "a frame adds 64 KiB at most, not 1 MB"),
        (
            "hub.lan.access",
            "csma-ca",
            "unknown name \"csma-ca\": did you mean \"csma-cd\"? Known: csma-cd, fifo",
        ),
        (
            "hub.lan.loss",
            "{ kind = 'bit-error', rate = 1e-6, direction = 'a->b' }",
            "\"a->b\" is no direction of hub \"lan\": it has \"a->lan\" and \"b->lan\" and \"c->lan\"",
        ),
        ("hub.lan.queue.limit", "0 packets", "the queue of hub \"lan\" has no room for a single packet"),
        ("flow.0.to", "lan", "no link has a node \"lan\""),
    ] {
        let error = refused(path, value);
        assert!(error.contains(sentence), "{path} = {value}: {error}");
    }
    assert!(read(&[("hub.lan.delay", "26 us"), ("hub.lan.access", "fifo")]).is_ok());
    let alone = SCENARIO.replace("[link.uplink]", "[link.lan]");
    let error = Scenario::parse(&alone, "hub.toml", &[]).unwrap_err().to_string();
    assert_eq!(error, "hub.toml:2:6: there is a link \"lan\" already: give the hub a name of its own");
    let nothing = "duration = \"1 s\"\n[[flow]]\napp = { kind = \"bulk\" }\nfrom = \"a\"\nto = \"b\"\n";
    let error = Scenario::parse(nothing, "hub.toml", &[]).unwrap_err().to_string();
    assert_eq!(error, "hub.toml:1:1: there must be at least one link or hub");
}
