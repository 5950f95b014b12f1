//! What holds for every queue: nothing is lost or made, flows keep their order, nobody starves.

use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::packet::Label;
use netspurt_sim::network::{Due, Network};
use netspurt_sim::random::Stream;
use netspurt_sim::spec::{
    AckFilter, CakeSpec, ChannelSpec, ClassesSpec, CodelSpec, Diffserv, DrrSpec, DualPi2Spec, DualScheduler,
    FqCodelSpec, FqPieSpec, Isolation, LinkLayer, NodeId, Overload, PieSpec, QueueSpec, RedSpec, Room, Unit,
    WorldSpec,
};
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

const RATE: u64 = 8_000_000;
/// Hosts on each side; each sends to each.
const HOSTS: u32 = 3;
const CODEPOINTS: [u8; 4] = [0, 46, 8, 34];

fn room(stream: &mut Stream) -> Room {
    match stream.below(4) {
        0 => Room::Unlimited,
        1 => Room::Bytes(1500 + stream.below(60_000)),
        _ => Room::Packets(1 + stream.below(60) as u32),
    }
}

fn span(stream: &mut Stream, least_us: u64, most_us: u64) -> Span {
    Span::from_us(least_us + stream.below(most_us - least_us))
}

fn pie(stream: &mut Stream) -> PieSpec {
    if stream.below(2) == 0 {
        return PieSpec {
            target: span(stream, 500, 20_000),
            ..PieSpec::docsis(RATE, 3000 + stream.below(30_000))
        };
    }
    PieSpec {
        target: span(stream, 500, 20_000),
        update: span(stream, 1000, 20_000),
        alpha: 2.0 * stream.unit(),
        beta: 10.0 * stream.unit(),
        max_burst: span(stream, 0, 100_000),
        mean_packet: 100 + stream.below(1400) as u32,
        by_size: stream.below(2) == 0,
        ecn: stream.below(2) == 0,
        ..PieSpec::default()
    }
}

fn codel(stream: &mut Stream) -> CodelSpec {
    let target = span(stream, 100, 10_000);
    let interval = target + span(stream, 1000, 50_000);
    CodelSpec { target, interval, mtu: 100 + stream.below(1400) as u32, ecn: stream.below(2) == 0 }
}

fn dualpi2(stream: &mut Stream) -> DualPi2Spec {
    DualPi2Spec {
        room: room(stream),
        target: span(stream, 500, 20_000),
        update: span(stream, 1000, 20_000),
        alpha: 2.0 * stream.unit(),
        beta: 10.0 * stream.unit(),
        coupling: 1.0 + 2.0 * stream.unit(),
        step: span(stream, 0, 2000),
        step_packets: stream.below(4) as u32,
        ramp: span(stream, 0, 1000),
        scheduler: match stream.below(2) {
            0 => DualScheduler::WeightedRoundRobin { classic: 1 + stream.below(99) as u8 },
            _ => DualScheduler::TimeShifted { shift: span(stream, 0, 50_000) },
        },
        overload: [Overload::Drop, Overload::Overflow][stream.below(2) as usize],
        mtu: 1500,
    }
}

fn classes(stream: &mut Stream) -> ClassesSpec {
    let all: [&[u8]; 3] = [&CODEPOINTS[1..2], &CODEPOINTS[2..], &[0]];
    ClassesSpec::new(room(stream), &all[..stream.below(4) as usize]).unwrap()
}

fn cake(stream: &mut Stream) -> CakeSpec {
    use Isolation::{DstHost, DualDstHost, DualSrcHost, Flows, Hosts, SrcHost, Triple};
    let isolations = [Flows, SrcHost, DstHost, Hosts, DualSrcHost, DualDstHost, Triple];
    CakeSpec {
        room: room(stream),
        bandwidth: [None, Some(RATE), Some(RATE / 3), Some(3 * RATE)][stream.below(4) as usize],
        rtt: span(stream, 1000, 200_000),
        isolation: isolations[stream.below(7) as usize],
        diffserv: [Diffserv::BestEffort, Diffserv::Three, Diffserv::Four, Diffserv::Eight]
            [stream.below(4) as usize],
        ack_filter: [AckFilter::Off, AckFilter::Conservative, AckFilter::Aggressive]
            [stream.below(3) as usize],
        overhead: stream.below(60) as u32,
        mpu: stream.below(100) as u32,
        link_layer: [LinkLayer::Plain, LinkLayer::Atm, LinkLayer::Ptm][stream.below(3) as usize],
    }
}

/// How many kinds of queue there are.
const KINDS: u64 = 13;

/// A queue of this kind with parameters at random.
fn random_queue(kind: u64, stream: &mut Stream) -> QueueSpec {
    let quantum = 100 + stream.below(3000) as u32;
    let flows = 1 + stream.below(64) as u32;
    match kind {
        0 => QueueSpec::Unlimited,
        1 => QueueSpec::Packets(1 + stream.below(50) as u32),
        2 => QueueSpec::Bytes(1500 + stream.below(50_000)),
        3 => QueueSpec::Step(room(stream), Room::Packets(stream.below(20) as u32)),
        4 => {
            let usual = RedSpec::for_rate(Some(RATE), Unit::Packets, 1000);
            QueueSpec::Red(RedSpec {
                room: room(stream),
                weight: stream.unit(),
                ecn: stream.below(2) == 0,
                ..usual
            })
        }
        5 => QueueSpec::Codel(room(stream), codel(stream)),
        6 => QueueSpec::FqCodel(FqCodelSpec { room: room(stream), law: codel(stream), quantum, flows }),
        7 => QueueSpec::Pie(room(stream), pie(stream)),
        8 => QueueSpec::FqPie(FqPieSpec { room: room(stream), law: pie(stream), quantum, flows }),
        9 => QueueSpec::DualPi2(dualpi2(stream)),
        10 => QueueSpec::Priority(classes(stream)),
        11 => QueueSpec::Drr(DrrSpec::new(classes(stream), &[quantum, 1500, 700])),
        _ => QueueSpec::Cake(cake(stream)),
    }
}

/// A flow: from where, to where, of which class and kind.
type Flow = (u32, u32, u8, u8);

struct Outcome {
    sent: BTreeMap<Flow, u64>,
    arrived: BTreeMap<Flow, Vec<u64>>,
    dropped: u64,
    under_way: usize,
}

/// Random traffic through one queue between `HOSTS` hosts on each side, for two seconds, and what has come of it.
fn run(queue: QueueSpec, seed: u64) -> Outcome {
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    let mut spec = WorldSpec::new("queues", Span::from_secs(600));
    let (left, right) = (spec.node("left"), spec.node("right"));
    spec.link("bottleneck", [left, right], &ChannelSpec::new(RATE, Span::from_ms(1))).directions[0].queue =
        queue;
    let mut hosts = Vec::new();
    for i in 0..HOSTS {
        let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        spec.link("access a", [a, left], &ChannelSpec::default());
        spec.link("access b", [right, b], &ChannelSpec::default());
        hosts.push((a, b));
    }
    for (a, b) in hosts.iter().flat_map(|(a, _)| hosts.iter().map(move |(_, b)| (*a, *b))) {
        for dscp in CODEPOINTS {
            spec.flow("f", [a, b], AppSpec::Bulk { bytes: None }, &config).dscp = dscp;
        }
    }
    let mut network = Network::new(&spec, seed, None).unwrap();
    let mut stream = Stream::new(seed, "traffic");
    let mut outcome = Outcome { sent: BTreeMap::new(), arrived: BTreeMap::new(), dropped: 0, under_way: 0 };
    let mut number = 0;
    let mut labels: Vec<Flow> = Vec::new();
    network.arm(Time::ZERO, 0);
    while let Some((now, due)) = network.next(Time::NEVER) {
        match due {
            Due::Packet(slot) => {
                let packet = *network.packet(slot);
                network.release(slot);
                let flow = labels[packet.endpoint as usize];
                outcome.arrived.entry(flow).or_default().push(packet.segment.payload.offset);
            }
            Due::Timer(_) => {
                // Bursts of every size, 90 to 150 per cent of the rate on average.
                for _ in 0..stream.below(8) {
                    let (a, b) = (stream.below(3) as u32, stream.below(3) as u32);
                    let dscp = CODEPOINTS[stream.below(4) as usize];
                    let bits = stream.below(3) as u8;
                    let ecn = Ecn::from_bits(bits);
                    let flow = (a, b, dscp, bits);
                    let known = labels.iter().position(|label| *label == flow);
                    let endpoint = known.unwrap_or(labels.len());
                    if known.is_none() {
                        labels.push(flow);
                    }
                    number += 1;
                    let len = if stream.below(3) == 0 { 0 } else { stream.below(1460) as u32 };
                    let mut segment =
                        Segment { ecn, flags: Flags::ACK, header_len: 20, ..Segment::default() };
                    segment.ack = Seq(number as u32);
                    (segment.payload.offset, segment.payload.len) = (number, len);
                    let ends = (hosts[a as usize].0, hosts[b as usize].1);
                    let (route, _) = network.routes().between_in_class(ends.0, ends.1, dscp).unwrap();
                    let label =
                        Label { endpoint: endpoint as u32, route, size: 40 + len, ..Label::default() };
                    network.send(now, &segment, label);
                    *outcome.sent.entry(flow).or_default() += 1;
                }
                let next = now + Span::from_us(stream.below(5000));
                if next < Time::ZERO + Span::from_secs(4) {
                    network.arm(next, 0);
                }
            }
        }
    }
    outcome.dropped = network.channels().iter().flat_map(|channel| channel.counters().drops).sum();
    outcome.under_way = network.packets_under_way();
    outcome
}

#[test]
fn no_packet_is_lost_or_made_flows_keep_their_order_and_none_starves() {
    for kind in 0..KINDS {
        for seed in 1..=25 {
            let queue = random_queue(kind, &mut Stream::new(seed, "queue"));
            let Outcome { sent, arrived, dropped, under_way } = run(queue, seed);
            let what = format!("seed {seed}: {queue:?}");
            let all: u64 = sent.values().sum();
            let came: u64 = arrived.values().map(|numbers| numbers.len() as u64).sum();
            assert!(all > 3000, "{what}: {all} sent");
            assert_eq!(came + dropped + under_way as u64, all, "{what}: packets are lost or made");
            assert_eq!(under_way, 0, "{what}: packets wait for ever");
            for (flow, numbers) in &arrived {
                assert!(numbers.is_sorted(), "{what}: {flow:?} is out of order");
            }
            for (flow, count) in sent.iter().filter(|(_, count)| **count > 20) {
                let got = arrived.get(flow).map_or(0, Vec::len);
                assert!(got > 0, "{what}: nothing of {count} packets of {flow:?} has arrived");
            }
        }
    }
}

#[test]
fn every_drop_of_a_queue_has_a_reason() {
    let law = PieSpec { max_burst: Span::ZERO, ..PieSpec::default() };
    for (queue, cause) in [
        (QueueSpec::Pie(Room::Unlimited, law), Cause::Pie),
        (
            QueueSpec::FqPie(FqPieSpec {
                law: PieSpec { target: Span::from_ms(1), ..law },
                flows: 1,
                ..FqPieSpec::default()
            }),
            Cause::Pie,
        ),
        (QueueSpec::DualPi2(DualPi2Spec::default()), Cause::DualPi2),
    ] {
        let mut spec = WorldSpec::new("causes", Span::from_secs(60));
        let ends: [NodeId; 2] = [spec.node("a"), spec.node("b")];
        spec.link("l", ends, &ChannelSpec::new(RATE, Span::ZERO)).directions[0].queue = queue;
        let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
        spec.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
        let mut network = Network::new(&spec, 1, None).unwrap();
        let (route, _) = network.routes().between(ends[0], ends[1]).unwrap();
        // A third more than the link sends, for three seconds.
        for n in 0..4000 {
            let now = Time::ZERO + Span::from_us(750 * n);
            while let Some((_, Due::Packet(slot))) = network.next(now) {
                network.release(slot);
            }
            network.send(
                now,
                &Segment::default(),
                Label { endpoint: 1, route, size: 1000, ..Label::default() },
            );
        }
        let drops = network.channels()[0].counters().drops;
        assert!(drops[cause as usize] > 100, "{queue:?}: {drops:?}");
        assert_eq!(drops.iter().sum::<u64>(), drops[cause as usize], "{queue:?}");
    }
}
