//! A queue in which what is retransmitted overtakes what waits.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::network::packet::{Label, Packet};
use netspurt_sim::network::{Due, Network};
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, Recorder, Wants};
use netspurt_sim::spec::{ChannelSpec, Counted, LossSpec, NodeId, QueueSpec, ReorderSpec, Room, WorldSpec};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// A packet that comes to the link.
#[derive(Clone, Copy, Debug)]
struct Coming {
    at: u64,
    size: u32,
    resend: bool,
}

/// Two nodes and a link.
fn one_link(channel: &ChannelSpec) -> WorldSpec {
    let mut spec = WorldSpec::new("link", Span::from_secs(10));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, channel);
    let config = Arc::new(profile::by_name("newreno").unwrap().config.clone());
    spec.flow("f", ends, AppSpec::Bulk { bytes: None }, &config);
    spec
}

/// When which packet arrives, counted from 0; and the network as it is then.
fn arrivals(
    channel: &ChannelSpec,
    coming: &[Coming],
    recorder: Option<Recorder>,
) -> (Vec<(u64, u64)>, Network) {
    let mut network = Network::new(&one_link(channel), 1, recorder).unwrap();
    let (route, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    for (number, packet) in (0u32..).zip(coming) {
        network.arm(Time::from_ps(packet.at), number);
    }
    let mut arrived = Vec::new();
    while let Some((now, due)) = network.next(Time::NEVER) {
        match due {
            Due::Timer(number) => {
                let Coming { size, resend, .. } = coming[number as usize];
                let mut packet = Packet::default();
                packet.segment.payload.offset = u64::from(number);
                let label = Label { endpoint: 1, generation: 0, route, size, resend };
                network.send(now, &packet.segment, label);
            }
            Due::Packet(slot) => {
                arrived.push((now.as_ps(), network.packet(slot).segment.payload.offset));
                network.release(slot);
            }
        }
    }
    (arrived, network)
}

const MS: u64 = 1_000_000_000;

/// 1000 octets last 1 ms, and 5 ms on the way.
fn link() -> ChannelSpec {
    let queue = QueueSpec::ResendFirst(Room::Unlimited);
    ChannelSpec { queue, ..ChannelSpec::new(8_000_000, Span::from_ms(5)) }
}

fn coming(at_ms: u64, resend: bool) -> Coming {
    Coming { at: at_ms * MS, size: 1000, resend }
}

#[test]
fn a_resend_overtakes_what_waits_but_not_what_is_being_sent() {
    let all = [coming(0, false), coming(0, false), coming(0, false), coming(0, true), coming(0, true)];
    let (arrived, network) = arrivals(&link(), &all, None);
    assert_eq!(arrived, [(6 * MS, 0), (7 * MS, 3), (8 * MS, 4), (9 * MS, 1), (10 * MS, 2)]);
    assert_eq!(network.packets_under_way(), 0);
    // Waits of 1, 2, 3 and 4 ms in 10 ms.
    let there = &network.channels()[0];
    assert_eq!(there.counters().queue_max, 4);
    assert!((there.queue_mean(Time::from_ps(10 * MS)) - 1.0).abs() < 1e-12);
    assert!((there.utilisation(Time::from_ps(10 * MS)) - 0.5).abs() < 1e-12);
}

#[test]
fn what_begins_at_the_instant_at_which_a_resend_comes_is_not_overtaken() {
    let all = [coming(0, false), coming(0, false), coming(0, false), coming(1, true)];
    let (arrived, _) = arrivals(&link(), &all, None);
    assert_eq!(arrived, [(6 * MS, 0), (7 * MS, 1), (8 * MS, 3), (9 * MS, 2)]);
}

#[test]
fn a_resend_that_finds_no_room_is_dropped_like_any_other() {
    for room in [Room::Packets(2), Room::Bytes(2999)] {
        let spec = ChannelSpec { queue: QueueSpec::ResendFirst(room), ..link() };
        let all = [coming(0, false), coming(0, false), coming(0, false), coming(0, true), coming(1, true)];
        let (arrived, network) = arrivals(&spec, &all, None);
        assert_eq!(arrived.iter().map(|a| a.1).collect::<Vec<_>>(), [0, 1, 4, 2]);
        assert_eq!(network.channels()[0].counters().drops[Cause::Queue as usize], 1);
        assert_eq!(network.channels()[0].counters().queue_max, 2);
    }
}

#[test]
fn a_packet_that_is_held_back_on_the_way_does_not_hold_the_queue() {
    let held = ReorderSpec { probability: 1.0, extra_delay: Span::from_ms(3) };
    let spec = ChannelSpec { reorder: Some(held), ..link() };
    let (arrived, _) = arrivals(&spec, &[coming(0, false), coming(0, false), coming(0, true)], None);
    assert_eq!(arrived, [(9 * MS, 0), (10 * MS, 2), (11 * MS, 1)]);
}

#[derive(Clone, Default)]
struct Leaving(Arc<Mutex<Vec<(u64, u64)>>>);

impl CaptureSink for Leaving {
    fn packet(&mut self, _channel: u32, packet: &CapturedPacket) {
        self.0.lock().unwrap().push((packet.leaves.as_ps(), packet.segment.payload.offset));
    }
}

#[test]
fn a_script_and_a_capture_count_in_the_order_of_leaving() {
    let script = LossSpec::Script { counted: Counted::Packets, drop: vec![2] };
    let seen = Leaving::default();
    let recorder = Recorder::new(Wants::ALL).with_capture(&[0], Box::new(seen.clone()));
    let all = [coming(0, false), coming(0, false), coming(0, true)];
    let (arrived, mut network) = arrivals(&link().with_loss(script), &all, Some(recorder));
    assert_eq!(arrived, [(6 * MS, 0), (8 * MS, 1)]);
    assert_eq!(*seen.0.lock().unwrap(), [(0, 0), (MS, 2), (2 * MS, 1)]);
    let recording = network.close(Time::from_ps(9 * MS));
    let queue: Vec<_> = recording.queues.iter().map(|q| (q.time.as_ps() / MS, q.packets)).collect();
    assert_eq!(queue, [(0, 1), (0, 2), (1, 1), (2, 0)]);
}

/// The same link by the definition, in exact fractions: times are multiples of 1 / rate picoseconds.
fn by_definition(rate: u64, delay: u64, coming: &[Coming]) -> Vec<(u64, u64)> {
    const PER_BYTE: u128 = 8_000_000_000_000;
    let rate = u128::from(rate);
    let (mut free, mut arrived) = (0u128, Vec::new());
    let mut waiting: Vec<usize> = Vec::new();
    let mut next = 0;
    while next < coming.len() || !waiting.is_empty() {
        // Who comes strictly before the transmitter is free waits for it.
        while next < coming.len() && (waiting.is_empty() || u128::from(coming[next].at) < free / rate) {
            if waiting.is_empty() && u128::from(coming[next].at) > free / rate {
                free = u128::from(coming[next].at) * rate;
            }
            waiting.push(next);
            next += 1;
        }
        let first = waiting.iter().position(|&i| coming[i].resend).unwrap_or(0);
        let leaving = waiting.remove(first);
        free += u128::from(coming[leaving].size) * PER_BYTE;
        arrived.push(((free / rate) as u64 + delay, leaving as u64));
    }
    arrived
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_arrives_when_the_definition_says(
        rate in 1_000_000u64..100_000_000,
        gaps in prop::collection::vec((0u64..300, 40u32..1500, prop::bool::weighted(0.2)), 1..80),
    ) {
        let mut at = 0;
        let all: Vec<Coming> = gaps.into_iter().map(|(gap_us, size, resend)| {
            at += gap_us.saturating_sub(100) * 1_000_000;
            Coming { at, size, resend }
        }).collect();
        let queue = QueueSpec::ResendFirst(Room::Unlimited);
        let spec = ChannelSpec { queue, ..ChannelSpec::new(rate, Span::from_us(70)) };
        let (arrived, network) = arrivals(&spec, &all, None);
        prop_assert_eq!(arrived, by_definition(rate, 70_000_000, &all));
        prop_assert_eq!(network.packets_under_way(), 0);
    }
}

const SATELLITE: &str = include_str!("../file/satellite.toml");

fn read(queue: &str, duplex: &str) -> Result<Scenario, String> {
    let overrides = [("link.satellite.queue", queue), ("link.satellite.duplex", duplex)];
    Scenario::parse(SATELLITE, "test.toml", &overrides).map_err(|error| error.message)
}

#[test]
fn a_scenario_names_it_with_a_limit_or_without() {
    for (text, room) in [
        ("{ kind = 'resend-first' }", Room::Unlimited),
        ("{ kind = 'resend-first', limit = '7 packets' }", Room::Packets(7)),
        ("{ kind = 'resend-first', limit = '64 KiB' }", Room::Bytes(65_536)),
    ] {
        let scenario = read(text, "full").unwrap();
        assert!(read(text, "half").is_ok());
        let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap();
        assert_eq!(again, scenario);
        let spec = scenario.build("test").unwrap();
        assert_eq!(spec.links[0].directions[1].queue, QueueSpec::ResendFirst(room));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |queue: &str, duplex: &str| read(queue, duplex).unwrap_err();
    assert_eq!(
        refused("{ kind = 'resend-first', limit = '0 packets' }", "full"),
        "the queue of link \"satellite\" has no room for a single packet"
    );
    assert!(refused("{ kind = 'resends-first' }", "full").contains("resend-first"));
    assert!(refused("{ kind = 'resend-first', room = '1 packet' }", "full").contains("unknown key \"room\""));
}

#[test]
fn only_data_that_was_sent_before_overtakes() {
    // A window of many packets waits at the sender's own link when the 30th packet of data is lost.
    let script = LossSpec::Script { counted: Counted::Data, drop: vec![30] };
    let mut config = profile::by_name("bsd43-bigwindow-nak").unwrap().config.clone();
    config.receive_window = 100 * u32::from(config.mss);
    let ended = |queue| {
        let channel = ChannelSpec { queue, ..ChannelSpec::new(8_000_000, Span::from_ms(1)) };
        let mut spec = one_link(&channel.with_loss(script.clone()));
        spec.flows[0].app = AppSpec::Bulk { bytes: Some(1 << 20) };
        spec.flows[0].client = Arc::new(config.clone());
        spec.flows[0].server = Arc::clone(&spec.flows[0].client);
        let result = World::new(spec, 1, None).unwrap().run(&|| false);
        assert_eq!((result.flows[0].bytes_delivered, result.flows[0].wrong_bytes), (1 << 20, 0));
        assert!(result.flows[0].retransmitted >= 1);
        result.digest
    };
    assert_ne!(ended(QueueSpec::ResendFirst(Room::Unlimited)), ended(QueueSpec::Unlimited));
}
