//! Whole worlds with the real TCP.

use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, End, Quantity, Recorder, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{
    AckFilter, CakeSpec, ChannelSpec, ClassesSpec, DrrSpec, DualPi2Spec, FqPieSpec, LossSpec, PieSpec,
    QueueSpec, ReorderSpec, Room, WorldSpec,
};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, TimerGrain};
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::{Arc, Mutex};

const MIB: u64 = 1 << 20;

fn config(name: &str) -> Config {
    profile::by_name(name).unwrap().config.clone()
}

fn run(spec: &WorldSpec, seed: u64) -> RunResult {
    World::new(spec.clone(), seed, None).unwrap().run(&|| false)
}

/// Two hosts and a link between them.
fn pair(channel: &ChannelSpec, app: AppSpec, config: Config, duration: Span) -> WorldSpec {
    let mut spec = WorldSpec::new("pair", duration);
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, channel);
    spec.flow("f", ends, app, &Arc::new(config));
    spec
}

/// Four hosts on each side of two routers, each with a transfer of 200 kB.
fn crowd(bottleneck: &ChannelSpec, config: Config) -> WorldSpec {
    let mut spec = WorldSpec::new("crowd", Span::from_secs(60));
    let config = Arc::new(config);
    let (left, right) = (spec.node("left"), spec.node("right"));
    spec.link("bottleneck", [left, right], bottleneck);
    for i in 0..4 {
        let (a, b) = (spec.node(&format!("a{i}")), spec.node(&format!("b{i}")));
        let access = ChannelSpec::new(100_000_000, Span::from_us(300 + 100 * i));
        spec.link(&format!("access a{i}"), [a, left], &access);
        spec.link(&format!("access b{i}"), [right, b], &access);
        spec.flow("f", [a, b], AppSpec::Bulk { bytes: Some(200_000) }, &config).start =
            Time::ZERO + Span::from_ms(5 * i);
    }
    spec
}

fn slow() -> ChannelSpec {
    ChannelSpec::new(8_000_000, Span::from_ms(5)).with_queue(15)
}

/// A bottleneck where everything happens that can.
fn rough() -> ChannelSpec {
    let mut channel = slow().with_loss(LossSpec::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.5,
        loss_good: 0.001,
        loss_bad: 0.3,
    });
    channel.reorder = Some(ReorderSpec { probability: 0.02, extra_delay: Span::from_ms(2) });
    channel.duplicate = 0.02;
    channel.corrupt = 0.01;
    channel
}

#[test]
fn a_transfer_is_delivered_whole() {
    let app = AppSpec::Bulk { bytes: Some(MIB) };
    let result = run(&pair(&slow(), app, config("newreno"), Span::from_secs(60)), 1);
    let flow = &result.flows[0];
    assert!(flow.completed);
    assert_eq!((flow.bytes_delivered, flow.wrong_bytes), (MIB, 0));
    let (delivered, end) = (flow.delivered_s.unwrap(), flow.end_s.unwrap());
    assert!(delivered < end && end < delivered + 0.02, "{delivered} {end}");
    // 8 Mbit/s carry at most 8 Mbit/s.
    assert!(flow.goodput_bps < 8e6 && flow.goodput_bps > 5e6, "{}", flow.goodput_bps);
    assert_eq!(result.links[0].drops_by(Cause::Queue) > 0, flow.retransmitted > 0);
}

#[test]
fn a_window_smaller_than_the_pipe_sets_the_pace() {
    let satellite = ChannelSpec::new(1_544_000, Span::from_ms(290));
    for window in [16_384, 32_768, 65_535] {
        let config = Config {
            receive_window: window,
            initial_ssthresh: u32::MAX,
            acking: Acking::EverySegment,
            ..config("newreno")
        };
        let mut spec = pair(&satellite, AppSpec::Bulk { bytes: None }, config.clone(), Span::from_secs(300));
        let result = run(&spec, 1);
        let segments = f64::from(window / u32::from(config.mss));
        let segment = f64::from(config.mss) + 40.0;
        let round_trip = 0.58 + (segment + 40.0) * 8.0 / 1_544_000.0;
        let ceiling = segments * f64::from(config.mss) * 8.0 / round_trip;
        let got = result.flows[0].goodput_bps;
        // Half a per cent is lost on slow start; a sender may use the odd bytes of the window as well.
        assert!(got > ceiling * 0.96 && got < f64::from(window) * 8.0 / 0.58, "{window}: {got} of {ceiling}");
        // The host's own latency counts as part of the round trip.
        spec.nodes[1].latency = Span::from_ms(290);
        let slower = run(&spec, 1).flows[0].goodput_bps;
        assert!((slower / got - 0.58 / 0.87).abs() < 0.02, "{window}: {slower} after {got}");
    }
}

/// The closed form of "TCP sending rate control at Tera bits per second", table I.
#[test]
fn a_megabyte_at_a_terabit_takes_the_calculated_time() {
    for rate in [1_000_000_000_000u64, 10_000_000_000_000] {
        let config =
            Config { initial_ssthresh: 65_535, timer_grain: TimerGrain::Continuous, ..config("ssfnet") };
        let app = AppSpec::RequestResponse { request: 4, response: 1_000_000, exchanges: 1, gap: Span::ZERO };
        let link = ChannelSpec::new(rate, Span::from_us(1));
        let result = run(&pair(&link, app, config, Span::from_secs(1)), 1);
        let per_tbit = 1_000_000_000_000.0 / rate as f64;
        let [segment, last, ack, request] = [12_320.0, 8320.0, 320.0, 352.0].map(|bits| bits * per_tbit);
        let (delay, rounds, behind) = (1e6, 19.0, 10.0);
        let round_trip = 2.0 * delay + segment + ack;
        let expected = 3.0 * ack
            + request
            + 3.0 * delay
            + (rounds - 1.0) * round_trip
            + (behind - 1.0) * segment
            + last
            + delay;
        let got = result.flows[0].end_s.unwrap() * 1e12;
        assert!((got - expected).abs() < 1000.0, "{rate}: {got} ps instead of {expected}");
    }
}

#[test]
fn exchanges_follow_one_another_with_their_gap() {
    let app =
        AppSpec::RequestResponse { request: 100, response: 5000, exchanges: 10, gap: Span::from_ms(100) };
    let link = ChannelSpec::new(100_000_000, Span::from_ms(1));
    // Acknowledge at once: else Nagle's rule and the delayed ACK wait for each other.
    let config = Config { acking: Acking::EverySegment, ..config("newreno") };
    let result = run(&pair(&link, app, config, Span::from_secs(60)), 1);
    let flow = &result.flows[0];
    assert!(flow.completed);
    assert_eq!(flow.bytes_delivered, 50_000);
    let end = flow.end_s.unwrap();
    assert!(end > 0.9 + 10.0 * 0.002 && end < 1.2, "{end}");
}

#[test]
fn the_stream_arrives_over_any_path() {
    for profile in profile::profiles() {
        for seed in 0..3 {
            let result = run(&crowd(&rough(), profile.config.clone()), seed);
            for flow in &result.flows {
                let what = format!("{} seed {seed} flow {}", profile.name, flow.index);
                assert!(flow.completed, "{what}: {flow:?}");
                assert_eq!((flow.bytes_delivered, flow.wrong_bytes), (200_000, 0), "{what}");
            }
            assert!(result.checksum_drops > 0 && result.links[0].duplicated > 0);
        }
    }
}

/// The bottleneck under each discipline that keeps its packets and has a clock or classes.
fn managed() -> impl Iterator<Item = ChannelSpec> {
    let classes = ClassesSpec::new(Room::Packets(15), &[&[46]]).unwrap();
    let law = PieSpec { target: Span::from_ms(5), max_burst: Span::ZERO, ..PieSpec::default() };
    let cake =
        CakeSpec { bandwidth: Some(7_000_000), ack_filter: AckFilter::Aggressive, ..CakeSpec::default() };
    let queues = [
        QueueSpec::Pie(Room::Packets(100), law),
        QueueSpec::Pie(Room::Bytes(100_000), PieSpec::docsis(8_000_000, 30_000)),
        QueueSpec::FqPie(FqPieSpec { law, ..FqPieSpec::default() }),
        QueueSpec::DualPi2(DualPi2Spec::default()),
        QueueSpec::Priority(classes),
        QueueSpec::Drr(DrrSpec::new(classes, &[])),
        QueueSpec::Cake(cake),
    ];
    queues.into_iter().map(|queue| ChannelSpec { queue, ..slow() })
}

#[test]
fn a_run_is_the_same_fused_or_not_with_or_without_probes_at_once_or_in_steps() {
    let resend_first = ChannelSpec { queue: QueueSpec::ResendFirst(Room::Packets(15)), ..slow() };
    for name in ["bsd43-tahoe", "newreno", "rfc"] {
        for channel in [slow(), rough(), resend_first.clone()].into_iter().chain(managed()) {
            let mut spec = crowd(&channel, config(name));
            let reference = run(&spec, 7);
            assert_ne!(run(&spec, 8).digest, reference.digest);

            let recorder = Recorder::new(Wants::ALL);
            let watched = World::new(spec.clone(), 7, Some(recorder)).unwrap().run(&|| false);
            assert_eq!(watched.digest, reference.digest, "{name}: watching changed something");

            let mut world = World::new(spec.clone(), 7, None).unwrap();
            for ms in (0..60_000).step_by(7) {
                world.run_until(Time::ZERO + Span::from_ms(ms));
            }
            world.run_until(Time::NEVER);
            assert_eq!(world.finish(false).digest, reference.digest, "{name}: steps changed something");

            spec.fuse = false;
            let plain = run(&spec, 7);
            assert_eq!(plain.digest, reference.digest, "{name}: fusing changed something");
            for (a, b) in plain.links.iter().zip(&reference.links) {
                assert_eq!(format!("{a:?}"), format!("{b:?}"));
            }
            // Hosts get ahead even where no channel is fused.
            assert!(reference.performance.events < plain.performance.events);
        }
    }
}

#[test]
fn a_run_can_be_stopped() {
    let app = AppSpec::Bulk { bytes: None };
    let spec =
        pair(&ChannelSpec::new(1_000_000_000, Span::from_ms(1)), app, config("newreno"), Span::from_secs(60));
    let result = World::new(spec, 1, None).unwrap().run(&|| true);
    assert!(result.interrupted);
    assert!(result.active_s > 0.0 && result.active_s < 10.0);
    assert!(result.flows[0].bytes_delivered > 0);
}

#[test]
fn records_agree_with_counters() {
    let spec = crowd(&rough(), config("newreno"));
    let result = World::new(spec, 3, Some(Recorder::new(Wants::ALL))).unwrap().run(&|| false);
    let recording = &result.recording;
    for (number, flow) in (0u32..).zip(&result.flows) {
        for (end, stats) in [(End::Client, &flow.client), (End::Server, &flow.server)] {
            let sent = recording.segments.iter().filter(|s| s.flow == number && s.end == end);
            assert_eq!(sent.clone().count() as u64, stats.segments_sent);
            let again = sent.filter(|s| s.reason.is_retransmission()).count();
            assert!(again <= stats.retransmitted as usize);
        }
    }
    for (number, link) in (0u32..).zip(&result.links) {
        for (cause, &count) in &link.drops {
            let seen = recording.drops.iter().filter(|d| d.channel == number && d.cause.name() == *cause);
            assert_eq!(seen.count() as u64, count);
        }
    }
    assert!(recording.segments.is_sorted_by_key(|sent| sent.time));
    assert!(recording.drops.is_sorted_by_key(|drop| drop.time));
    for quantity in [Quantity::Cwnd, Quantity::Srtt, Quantity::Flight, Quantity::Window] {
        assert!(recording.samples.iter().any(|sample| sample.quantity == quantity), "{quantity:?}");
    }
    assert!(!recording.events.is_empty());
}

#[derive(Default)]
struct Capture(Arc<Mutex<Vec<(u32, CapturedPacket)>>>);

impl CaptureSink for Capture {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        self.0.lock().unwrap().push((channel, *packet));
    }
}

#[test]
fn a_capture_sees_every_packet_of_its_link_in_order() {
    let spec = crowd(&slow(), config("newreno"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder::new(Wants::NOTHING).with_capture(&[0], Box::new(Capture(Arc::clone(&seen))));
    let result = World::new(spec, 3, Some(recorder)).unwrap().run(&|| false);
    let seen = seen.lock().unwrap();
    for direction in 0..2 {
        let packets: Vec<_> = seen.iter().filter(|(channel, _)| *channel == direction).collect();
        assert_eq!(packets.len() as u64, result.links[direction as usize].packets);
        assert!(packets.is_sorted_by_key(|(_, packet)| packet.leaves));
    }
    let (_, first) = seen.first().unwrap();
    assert_eq!((first.source, first.destination), (2, 3));
    assert_eq!(
        first.arrives.unwrap() - first.leaves,
        Span::from_ms(5) + Span::from_us(u64::from(first.size))
    );
}

#[test]
fn what_is_recorded_and_captured_is_the_same_fused_or_not() {
    let observed = |spec: &WorldSpec| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let links: Vec<u32> = (0..spec.links.len() as u32).collect();
        let sink = Box::new(Capture(Arc::clone(&seen)));
        let recorder = Recorder::new(Wants::ALL).with_capture(&links, sink);
        let result = World::new(spec.clone(), 7, Some(recorder)).unwrap().run(&|| false);
        let mut packets = seen.lock().unwrap().clone();
        // Each link has a capture of its own.
        packets.sort_by_key(|(channel, _)| *channel);
        (result, packets)
    };
    for name in ["newreno", "linux", "bbr"] {
        let mut spec = crowd(&slow(), config(name));
        let (fused, packets) = observed(&spec);
        spec.fuse = false;
        let (plain, plain_packets) = observed(&spec);
        assert!(fused.performance.events < plain.performance.events, "{name}: something is fused");
        assert!(packets.len() > 2000 && fused.recording.segments.len() > 700, "{name}");
        assert_eq!(packets, plain_packets, "{name}");
        assert_eq!(fused.recording, plain.recording, "{name}");
    }
}
