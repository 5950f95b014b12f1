//! The network driven with plain packets, without TCP.

use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::packet::{Content, Label, Packet};
use netspurt_sim::network::{Due, Network};
use netspurt_sim::random::Stream;
use netspurt_sim::record::probe::{Dropped, Recorder, Recording, Wants};
use netspurt_sim::spec::{
    Access, ChannelSpec, CodelSpec, Counted, Duplex, FqCodelSpec, LossSpec, NodeId, QueueSpec, RedSpec,
    ReorderSpec, Room, Unit, WorldSpec,
};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

/// N hosts - router - router - N hosts, one flow from each to its opposite.
fn dumbbell(n: u32, bottleneck: &ChannelSpec) -> WorldSpec {
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    let mut spec = WorldSpec::new("dumbbell", Span::from_secs(2));
    let (left, right) = (spec.node("left"), spec.node("right"));
    spec.link("bottleneck", [left, right], bottleneck);
    for i in 0..n {
        let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        let access = ChannelSpec::new(100_000_000, Span::from_us(100 * u64::from(i % 3)));
        spec.link(&format!("access a{i}"), [a, left], &access);
        spec.link(&format!("access b{i}"), [right, b], &access.clone().with_queue(3));
        spec.flow("f", [a, b], AppSpec::Bulk { bytes: None }, &config);
    }
    spec
}

/// Sends a packet on the route that begins at this hop.
fn send(network: &mut Network, now: Time, route: u32, packet: Packet) {
    let Packet { endpoint, size, generation, resend, .. } = packet;
    network.send(now, &packet.segment, Label { endpoint, generation, route, size, resend });
}

/// What a run of fake traffic left behind.
#[derive(PartialEq, Debug)]
struct Trace {
    /// When, to which endpoint, how many octets, which number, damaged or not.
    deliveries: Vec<(Time, u32, u32, u64, bool)>,
    counters: Vec<netspurt_sim::network::channel::ChannelCounters>,
    recording: Recording,
}

/// Each flow sends packets at random, every seventh of which counts as a resend, and each data packet that arrives is
/// answered.
fn run(spec: &WorldSpec, seed: u64, wants: Wants) -> (Trace, u64) {
    run_with(spec, seed, wants, |number| number % 7 == 0)
}

fn run_with(spec: &WorldSpec, seed: u64, wants: Wants, resend: fn(u64) -> bool) -> (Trace, u64) {
    let mut network = Network::new(spec, seed, Some(Recorder::new(wants))).unwrap();
    let mut sources: Vec<Stream> =
        (0..spec.flows.len()).map(|i| Stream::new(seed, &format!("source/{i}"))).collect();
    for source in 0..sources.len() as u32 {
        network.arm(Time::ZERO, source);
    }
    let route = |network: &Network, flow: usize| {
        network.routes().between(spec.flows[flow].from, spec.flows[flow].to).unwrap()
    };
    let mut deliveries = Vec::new();
    let mut number = 0;
    while let Some((now, due)) = network.next(Time::NEVER) {
        match due {
            Due::Timer(flow) => {
                let stream = &mut sources[flow as usize];
                let size = 40 + stream.below(1461) as u32;
                let burst = stream.below(4);
                let next = now + Span::from_us(stream.below(2000));
                let (there, _) = route(&network, flow as usize);
                for _ in 0..burst {
                    let mut packet = Packet { endpoint: 2 * flow + 1, size, ..Packet::default() };
                    number += 1;
                    packet.resend = resend(number);
                    packet.segment.payload.offset = number;
                    packet.segment.payload.len = size - 40;
                    send(&mut network, now, there, packet);
                }
                network.arm(next, flow);
            }
            Due::Packet(slot) => {
                let packet = *network.packet(slot);
                network.release(slot);
                deliveries.push((
                    now,
                    packet.endpoint,
                    packet.size,
                    packet.segment.payload.offset,
                    packet.content == Content::Damaged,
                ));
                if packet.endpoint % 2 == 1 {
                    let (_, back) = route(&network, packet.endpoint as usize / 2);
                    let answer = Packet { endpoint: packet.endpoint - 1, size: 40, ..packet };
                    send(&mut network, now, back, answer);
                }
            }
        }
    }
    let events = network.events();
    let counters = network.channels().iter().map(netspurt_sim::network::channel::Channel::counters).collect();
    let recording = network.close(Time::ZERO + spec.duration);
    (Trace { deliveries, counters, recording }, events)
}

fn assert_fusing_changes_nothing(mut spec: WorldSpec, what: &str) {
    for seed in 1..4 {
        for wants in [Wants::NOTHING, Wants::ALL] {
            spec.fuse = true;
            let (fused, fused_events) = run(&spec, seed, wants);
            spec.fuse = false;
            let (plain, plain_events) = run(&spec, seed, wants);
            assert!(fused == plain, "{what}, seed {seed}: fusing made a difference");
            assert!(fused_events < plain_events, "{what}: nothing was fused");
            assert!(fused.deliveries.len() > 100, "{what}: no traffic to speak of");
            if wants == Wants::ALL {
                assert!(!fused.recording.drops.is_empty(), "{what}: nothing was dropped");
            }
        }
    }
}

fn slow() -> ChannelSpec {
    ChannelSpec::new(15_440_000, Span::from_ms(3)).with_queue(10)
}

#[test]
fn a_fused_network_does_what_a_plain_one_does() {
    assert_fusing_changes_nothing(dumbbell(1, &slow()), "one flow");
    assert_fusing_changes_nothing(dumbbell(7, &slow()), "seven flows");
}

#[test]
fn a_fan_of_many_links_does_what_a_plain_network_does() {
    // Three fans each way, one for each delay. Packets of all sizes, and answers of one: where small ones catch up with large
    // ones, or wait in front of a slow link, they do not come out of their fan in the order in which they went in.
    for access in [100_000_000, 8_000_000] {
        let fast = ChannelSpec::new(154_400_000, Span::from_ms(3)).with_queue(10);
        let mut spec = dumbbell(120, &fast);
        for link in &mut spec.links[1..] {
            link.directions[0].rate = Some(access);
            link.directions[1].rate = Some(access);
        }
        assert_fusing_changes_nothing(spec, "a fan");
    }
}

#[test]
fn packets_of_a_fan_that_arrive_at_one_time_come_in_the_order_of_its_links() {
    // All packets have one size, and all links are as fast as the first one: packets of different links arrive at the same time
    // wherever they were sent at the same time.
    let mut spec = dumbbell(300, &ChannelSpec::new(100_000_000, Span::from_us(100)).with_queue(1000));
    for link in &mut spec.links {
        link.directions[0].delay = Span::from_us(100);
        link.directions[1].delay = Span::from_us(100);
    }
    spec.links[0].directions[0].rate = None;
    spec.links[0].directions[1].rate = None;
    let deliveries = |fuse| {
        let spec = WorldSpec { fuse, ..spec.clone() };
        let mut network = Network::new(&spec, 1, None).unwrap();
        // From the last to the first, so that the order of departure is not that of arrival.
        for flow in (0..300u32).rev() {
            let (there, _) = network
                .routes()
                .between(spec.flows[flow as usize].from, spec.flows[flow as usize].to)
                .unwrap();
            let packet = Packet { endpoint: 2 * flow + 1, size: 1500, ..Packet::default() };
            for _ in 0..3 {
                send(&mut network, Time::ZERO, there, packet);
            }
        }
        let mut deliveries = Vec::new();
        while let Some((now, Due::Packet(slot))) = network.next(Time::NEVER) {
            deliveries.push((now, network.packet(slot).endpoint));
            network.release(slot);
        }
        (deliveries, network.packets_under_way())
    };
    let (fused, under_way) = deliveries(true);
    assert_eq!((fused.len(), under_way), (900, 0));
    assert!(fused == deliveries(false).0);
    assert!(fused.is_sorted());
    assert!(fused.windows(2).filter(|pair| pair[0].0 == pair[1].0).count() > 800);
}

#[test]
fn a_fused_network_loses_what_a_plain_one_loses() {
    let bit_errors = slow().with_loss(LossSpec::BitError { rate: 1e-5 });
    let mut spec = dumbbell(5, &bit_errors);
    for link in &mut spec.links {
        link.directions[0].loss = LossSpec::PacketError { rate: 0.01 };
        link.directions[1].duplicate = 0.05;
        link.directions[1].corrupt = 0.05;
    }
    spec.links[0].directions[0].reorder =
        Some(ReorderSpec { probability: 0.1, extra_delay: Span::from_us(700) });
    assert_fusing_changes_nothing(spec, "losses");
}

#[test]
fn a_fused_network_with_host_latency_and_half_duplex_is_the_same() {
    let mut spec = dumbbell(4, &slow());
    spec.links[0].duplex = Duplex::Half;
    for node in spec.nodes.iter_mut().skip(2) {
        node.latency = Span::from_us(333);
    }
    assert_fusing_changes_nothing(spec, "half duplex");
}

#[test]
fn a_fused_network_lets_resends_overtake_where_a_plain_one_does() {
    let resend_first = ChannelSpec { queue: QueueSpec::ResendFirst(Room::Packets(10)), ..slow() };
    assert_fusing_changes_nothing(dumbbell(7, &resend_first), "resends first");
    let (there, _) = run(&dumbbell(7, &resend_first), 1, Wants::ALL);
    assert_ne!(there.deliveries, run(&dumbbell(7, &slow()), 1, Wants::ALL).0.deliveries);
    let mut spec = dumbbell(5, &resend_first.with_loss(LossSpec::PacketError { rate: 0.05 }));
    for link in &mut spec.links {
        link.directions[1].queue = QueueSpec::ResendFirst(Room::Bytes(20_000));
        link.directions[1].duplicate = 0.05;
    }
    assert_fusing_changes_nothing(spec, "resends first everywhere on the way back");
}

/// Every queue that drops before it is full, such that it does.
fn early_droppers() -> [QueueSpec; 3] {
    let law = CodelSpec { target: Span::from_us(300), interval: Span::from_ms(3), mtu: 1500, ecn: false };
    let red = RedSpec { room: Room::Packets(12), weight: 0.1, max_p: 0.3, min: 2.0, max: 6.0, ..auto_red() };
    let fq = FqCodelSpec { room: Room::Packets(30), law, quantum: 300, flows: 64 };
    [QueueSpec::Red(red), QueueSpec::Codel(Room::Packets(12), law), QueueSpec::FqCodel(fq)]
}

fn auto_red() -> RedSpec {
    RedSpec::for_rate(Some(15_440_000), Unit::Packets, 1000)
}

#[test]
fn a_fused_network_drops_early_what_a_plain_one_does() {
    for queue in early_droppers() {
        let channel = ChannelSpec { queue, ..slow() };
        assert_fusing_changes_nothing(dumbbell(1, &channel), "one flow");
        assert_fusing_changes_nothing(dumbbell(7, &channel), "seven flows");
        let (trace, _) = run(&dumbbell(7, &channel), 1, Wants::ALL);
        let cause = if matches!(queue, QueueSpec::Red(_)) { Cause::Red } else { Cause::Codel };
        let early = trace.recording.drops.iter().filter(|drop| drop.cause == cause).count();
        assert!(early > 20, "{queue:?}: {early} dropped early");
        assert_eq!(early as u64, trace.counters.iter().map(|all| all.drops[cause as usize]).sum::<u64>());
        // Everywhere at once, lost and doubled as well.
        let mut spec = dumbbell(5, &channel.with_loss(LossSpec::PacketError { rate: 0.05 }));
        for link in &mut spec.links {
            link.directions[1].queue = queue;
            link.directions[1].duplicate = 0.05;
        }
        assert_fusing_changes_nothing(spec, "everywhere");
    }
}

#[test]
fn a_fused_network_with_a_hub_is_the_same() {
    for access in [Access::FirstCome, Access::CsmaCd] {
        for queue in [QueueSpec::Packets(4)].into_iter().chain(early_droppers()) {
            let mut spec = dumbbell(4, &slow());
            let station = ChannelSpec { queue, ..ChannelSpec::ethernet(10_000_000, Span::from_us(5)) };
            let stations: Vec<NodeId> = (0..3).map(|n| spec.node(&format!("station {n}"))).collect();
            // The routers stand at the hub too: the way between them is as short as the bottleneck, which goes first.
            spec.links.remove(0);
            spec.hub("lan", &[[NodeId(0), NodeId(1)].as_slice(), &stations].concat(), &station, access);
            let config = spec.flows[0].client.clone();
            spec.flow("g", [stations[0], stations[1]], AppSpec::Bulk { bytes: None }, &config);
            spec.flow("h", [stations[2], NodeId(2)], AppSpec::Bulk { bytes: None }, &config);
            assert_fusing_changes_nothing(spec, "a hub");
        }
    }
}

#[test]
fn a_half_duplex_link_is_a_hub_of_two_stations_without_a_gap() {
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    for queue in [QueueSpec::Unlimited, QueueSpec::Packets(4), QueueSpec::Bytes(4000)] {
        let channel = ChannelSpec { queue, ..ChannelSpec::new(7_000_003, Span::from_us(50)) };
        let mut link = WorldSpec::new("link", Span::from_secs(2));
        let ends = [link.node("a"), link.node("b")];
        let mut hub = link.clone();
        link.link("l", ends, &channel).duplex = Duplex::Half;
        hub.hub("l", &ends, &channel, Access::FirstCome);
        hub.hubs[0].gap = 0;
        let mut kept = link.clone();
        kept.links[0].directions =
            [0, 1].map(|_| ChannelSpec { queue: resends_first(queue), ..channel.clone() });
        let traces = [&mut link, &mut hub, &mut kept].map(|spec| {
            for _ in 0..3 {
                spec.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
                spec.flow("g", [ends[1], ends[0]], AppSpec::Bulk { bytes: None }, &config);
            }
            run_with(spec, 3, Wants::ALL, |_| false).0
        });
        assert!(traces[0].deliveries.len() > 1000, "{queue:?}");
        for other in &traces[1..] {
            assert_eq!(traces[0].deliveries, other.deliveries, "{queue:?}");
        }
        assert!(traces[0].recording == traces[2].recording, "{queue:?}: other records");
        let most = |trace: &Trace, channel: usize| trace.counters[channel].queue_max;
        assert_eq!([0, 1].map(|n| most(&traces[0], n)), [0, 2].map(|n| most(&traces[1], n)), "{queue:?}");
        assert_eq!([0, 1].map(|n| most(&traces[0], n)), [0, 1].map(|n| most(&traces[2], n)), "{queue:?}");
    }
}

/// The same queue, keeping its packets.
fn resends_first(queue: QueueSpec) -> QueueSpec {
    QueueSpec::ResendFirst(match queue {
        QueueSpec::Packets(limit) => Room::Packets(limit),
        QueueSpec::Bytes(limit) => Room::Bytes(limit),
        _ => Room::Unlimited,
    })
}

#[test]
fn queues_that_decide_at_departure_and_never_drop_are_first_in_first_out() {
    let law =
        CodelSpec { target: Span::from_secs(100), interval: Span::from_secs(200), mtu: 1500, ecn: false };
    let one = FqCodelSpec { room: Room::Unlimited, law, quantum: 300, flows: 1 };
    let red = RedSpec { room: Room::Packets(10), min: 1e9, max: 2e9, ..auto_red() };
    for (queue, plain) in [
        (QueueSpec::Codel(Room::Packets(10), law), QueueSpec::Packets(10)),
        (QueueSpec::FqCodel(one), QueueSpec::Unlimited),
        (QueueSpec::Red(red), QueueSpec::Packets(10)),
    ] {
        let [(a, _), (b, _)] =
            [queue, plain].map(|queue| run(&dumbbell(6, &ChannelSpec { queue, ..slow() }), 2, Wants::ALL));
        assert_eq!(a.deliveries, b.deliveries, "{queue:?}");
        assert!(a.recording == b.recording, "{queue:?}: other records");
    }
}

#[test]
fn without_resends_a_queue_that_prefers_them_is_first_in_first_out() {
    let pairs = [
        (QueueSpec::ResendFirst(Room::Unlimited), QueueSpec::Unlimited),
        (QueueSpec::ResendFirst(Room::Packets(10)), QueueSpec::Packets(10)),
        (QueueSpec::ResendFirst(Room::Bytes(9000)), QueueSpec::Bytes(9000)),
    ];
    for (keeping, computed) in pairs {
        let [(a, _), (b, _)] = [keeping, computed].map(|queue| {
            let spec = dumbbell(6, &ChannelSpec { queue, ..slow() });
            run_with(&spec, 2, Wants::ALL, |_| false)
        });
        assert_eq!(a.deliveries, b.deliveries, "{keeping:?}");
        assert!(a.recording == b.recording, "{keeping:?}: other records");
        let most = |trace: &Trace| trace.counters.iter().map(|all| all.queue_max).collect::<Vec<_>>();
        assert_eq!(most(&a), most(&b), "{keeping:?}");
        // Losses are decided in the order of leaving, which is the same.
        let [(a, _), (b, _)] = [keeping, computed].map(|queue| {
            let lossy = slow().with_loss(LossSpec::PacketError { rate: 0.1 });
            run_with(&dumbbell(6, &ChannelSpec { queue, ..lossy }), 2, Wants::NOTHING, |_| false)
        });
        assert_eq!(a.deliveries, b.deliveries, "{keeping:?} with losses");
    }
}

#[test]
fn instant_links_are_not_fused_out_of_order() {
    let mut spec = dumbbell(6, &slow());
    for link in spec.links.iter_mut().skip(1) {
        for direction in &mut link.directions {
            *direction = ChannelSpec::default();
        }
    }
    spec.fuse = true;
    let fused = run(&spec, 1, Wants::ALL).0;
    spec.fuse = false;
    assert!(fused == run(&spec, 1, Wants::ALL).0);
}

#[test]
fn watching_changes_nothing() {
    let spec = dumbbell(3, &slow().with_loss(LossSpec::PacketError { rate: 0.1 }));
    let (watched, unwatched) = (run(&spec, 1, Wants::ALL).0, run(&spec, 1, Wants::NOTHING).0);
    assert_eq!(watched.deliveries, unwatched.deliveries);
    assert_eq!(watched.counters, unwatched.counters);
}

#[test]
fn a_queue_series_follows_every_change() {
    assert_series_follows(QueueSpec::Packets(10), Cause::Queue, |drop| drop.queue_packets == 10);
    let [red, codel, fq_codel] = early_droppers();
    assert_series_follows(red, Cause::Red, |drop| drop.queue_packets <= 12);
    assert_series_follows(codel, Cause::Codel, |drop| drop.queue_packets < 12);
    assert_series_follows(fq_codel, Cause::Codel, |drop| drop.queue_packets < 30);
}

fn assert_series_follows(queue: QueueSpec, cause: Cause, right: fn(&Dropped) -> bool) {
    let (trace, _) = run(&dumbbell(4, &ChannelSpec { queue, ..slow() }), 1, Wants::ALL);
    assert!(trace.recording.queues.windows(2).all(|pair| pair[0].time <= pair[1].time));
    for channel in 0..2 {
        let mut last = 0i64;
        let mut highest = 0;
        for sample in trace.recording.queues.iter().filter(|sample| sample.channel == channel) {
            let step = i64::from(sample.packets) - last;
            // Fair queueing may drop many at once to make room.
            let most = if matches!(queue, QueueSpec::FqCodel(_)) { 15 } else { 1 };
            assert!(step == 1 || (-most..0).contains(&step), "{step} at {:?}", sample.time);
            last = i64::from(sample.packets);
            highest = highest.max(sample.packets);
        }
        assert_eq!(highest, trace.counters[channel as usize].queue_max, "{queue:?}");
    }
    let drops = trace.recording.drops.iter().filter(|drop| drop.channel == 0 && drop.cause == cause);
    assert!(drops.clone().all(right) && drops.count() > 0, "{queue:?}");
}

#[test]
fn adding_a_component_does_not_shift_the_others() {
    let lossy = slow().with_loss(LossSpec::PacketError { rate: 0.1 });
    let mut spec = dumbbell(1, &ChannelSpec { queue: QueueSpec::Unlimited, ..lossy });
    let lost = |spec: &WorldSpec| -> Vec<u64> {
        let (trace, _) = run(spec, 5, Wants::DROPS);
        let drops = trace.recording.drops.iter().filter(|drop| drop.channel == 0);
        drops.map(|drop| drop.segment.payload.offset).collect()
    };
    let before = lost(&spec);
    spec.links[0].directions[0].duplicate = 0.5;
    spec.links[0].directions[0].corrupt = 0.5;
    spec.links[0].directions[1].loss = LossSpec::PacketError { rate: 0.5 };
    assert_eq!(lost(&spec), before);
    assert!(before.len() > 20);
}

/// Two nodes and one link; packets of 1000 octets are sent back to back from `a`.
fn one_link(spec: ChannelSpec, packets: u64) -> Vec<(Time, u64, bool)> {
    let mut world = WorldSpec::new("link", Span::from_secs(10));
    let ends = [world.node("a"), world.node("b")];
    world.link("l", ends, &spec);
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    world.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
    let mut network = Network::new(&world, 1, None).unwrap();
    let (there, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    for number in 1..=packets {
        let mut packet = Packet { endpoint: 1, size: 1000, ..Packet::default() };
        packet.segment.payload.offset = number;
        send(&mut network, Time::ZERO, there, packet);
    }
    let mut arrived = Vec::new();
    while let Some((now, Due::Packet(slot))) = network.next(Time::NEVER) {
        let packet = network.packet(slot);
        arrived.push((now, packet.segment.payload.offset, packet.content == Content::Damaged));
        network.release(slot);
    }
    assert_eq!(network.packets_under_way(), 0);
    arrived
}

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_ms(n)
}

#[test]
fn packets_arrive_one_transmission_apart() {
    let arrived = one_link(ChannelSpec::new(8_000_000, Span::from_ms(5)), 3);
    assert_eq!(arrived, [(ms(6), 1, false), (ms(7), 2, false), (ms(8), 3, false)]);
}

#[test]
fn a_packet_held_back_is_overtaken() {
    let mut spec = ChannelSpec::new(8_000_000, Span::from_ms(5));
    spec.reorder = Some(ReorderSpec { probability: 0.3, extra_delay: Span::from_us(2500) });
    let arrived = one_link(spec, 200);
    assert_eq!(arrived.len(), 200);
    assert!(arrived.is_sorted_by_key(|packet| packet.0));
    let mut held = 0;
    for &(at, number, _) in &arrived {
        let due = ms(5 + number);
        assert!(at == due || at == due + Span::from_us(2500), "packet {number} at {at:?}");
        held += u32::from(at > due);
    }
    assert!((30..90).contains(&held));
    assert!(!arrived.is_sorted_by_key(|packet| packet.1));
}

#[test]
fn a_doubled_packet_comes_twice_and_takes_no_more_time() {
    let mut spec = ChannelSpec::new(8_000_000, Span::from_ms(5));
    spec.duplicate = 1.0;
    let arrived = one_link(spec, 2);
    assert_eq!(
        arrived.iter().map(|a| (a.0, a.1)).collect::<Vec<_>>(),
        [(ms(6), 1), (ms(6), 1), (ms(7), 2), (ms(7), 2)]
    );
}

#[test]
fn a_damaged_packet_arrives_marked() {
    let mut spec = ChannelSpec::new(8_000_000, Span::from_ms(5));
    spec.corrupt = 1.0;
    assert!(one_link(spec, 5).iter().all(|packet| packet.2));
}

#[test]
fn a_script_drops_the_seventh_and_it_takes_its_time() {
    let script = LossSpec::Script { counted: Counted::Packets, drop: vec![7] };
    let arrived = one_link(ChannelSpec::new(8_000_000, Span::from_ms(5)).with_loss(script), 8);
    assert_eq!(arrived.iter().map(|a| a.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 8]);
    assert_eq!(arrived[6].0, ms(13));
}

#[test]
fn directions_of_a_half_duplex_link_wait_for_each_other() {
    let mut world = WorldSpec::new("hub", Span::from_secs(10));
    let ends = [world.node("a"), world.node("b")];
    world.link("l", ends, &ChannelSpec::new(8_000_000, Span::ZERO)).duplex = Duplex::Half;
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    world.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
    let mut network = Network::new(&world, 1, None).unwrap();
    let (there, back) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    for (route, endpoint) in [(there, 1), (back, 0), (there, 1)] {
        send(&mut network, Time::ZERO, route, Packet { endpoint, size: 1000, ..Packet::default() });
    }
    let mut arrived = Vec::new();
    while let Some((now, Due::Packet(slot))) = network.next(Time::NEVER) {
        arrived.push((now, network.packet(slot).endpoint));
        network.release(slot);
    }
    assert_eq!(arrived, [(ms(1), 1), (ms(2), 0), (ms(3), 1)]);
}

#[test]
fn a_host_with_latency_gets_its_packets_later() {
    let mut world = WorldSpec::new("latency", Span::from_secs(10));
    let ends = [world.node("a"), world.node("b")];
    world.nodes[1].latency = Span::from_ms(40);
    world.link("l", ends, &ChannelSpec::new(8_000_000, Span::from_ms(5)));
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    world.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
    let mut network = Network::new(&world, 1, None).unwrap();
    let (there, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    send(&mut network, Time::ZERO, there, Packet { endpoint: 1, size: 1000, ..Packet::default() });
    assert_eq!(network.next(Time::NEVER).map(|(now, _)| now), Some(ms(46)));
}
