//! RED, CoDel and FQ-CoDel under TCP, and as a scenario names them.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::network::loss::Cause;
use netspurt_sim::record::probe::{Recorder, Wants};
use netspurt_sim::record::result::{LinkResult, RunResult};
use netspurt_sim::spec::{
    AckFilter, CakeSpec, ChannelSpec, ClassesSpec, CodelSpec, Diffserv, DrrSpec, DualPi2Spec, DualScheduler,
    FqCodelSpec, FqPieSpec, Isolation, LinkLayer, NodeId, Overload, PieForm, PieSpec, QueueSpec, RedSpec,
    Room, Unit, WorldSpec,
};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::WindowOption;
use netspurt_tcp::profile;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

const RATE: u64 = 10_000_000;

/// So many hosts, each with a fast link to a router, and one bottleneck of 10 Mbit/s and 20 ms to a server. Each flow
/// sends so many bytes, for ever if none are given.
fn bottleneck(queue: QueueSpec, flows: &[Option<u64>]) -> WorldSpec {
    let mut config = profile::by_name("newreno").unwrap().config.clone();
    config.receive_window = 1000 * u32::from(config.mss);
    config.window_option = WindowOption::Rfc7323;
    config.acking = Acking::EverySegment;
    // Slow start ends before NewReno, which mends one loss in each round trip, has many.
    config.initial_ssthresh = 35 * u32::from(config.mss);
    let config = Arc::new(config);
    let mut spec = WorldSpec::new("bottleneck", Span::from_secs(60));
    let (router, server) = (spec.node("router"), spec.node("server"));
    let channel = ChannelSpec { queue, ..ChannelSpec::new(RATE, Span::from_ms(20)) };
    spec.link("bottleneck", [router, server], &channel);
    for (number, bytes) in flows.iter().enumerate() {
        let host = spec.node(&format!("host {number}"));
        spec.link(
            &format!("access {number}"),
            [host, router],
            &ChannelSpec::new(1_000_000_000, Span::from_us(10)),
        );
        spec.flow(&format!("flow {number}"), [host, server], AppSpec::Bulk { bytes: *bytes }, &config);
    }
    spec
}

fn run(spec: &WorldSpec) -> RunResult {
    World::new(spec.clone(), 1, Some(Recorder::new(Wants::QUEUE))).unwrap().run(&|| false)
}

/// Milliseconds that a packet waits before the bottleneck, by Little's law.
fn mean_wait_ms(result: &RunResult) -> f64 {
    let link = &result.links[0];
    1e3 * link.queue_mean_packets * result.active_s / link.packets as f64
}

fn early_drops(link: &LinkResult) -> u64 {
    link.drops_by(Cause::Red) + link.drops_by(Cause::Codel)
}

fn codel() -> QueueSpec {
    QueueSpec::Codel(Room::Packets(1000), CodelSpec::default())
}

fn fq_codel() -> QueueSpec {
    QueueSpec::FqCodel(FqCodelSpec::default())
}

fn pie() -> QueueSpec {
    QueueSpec::Pie(Room::Packets(1000), PieSpec::default())
}

fn red() -> QueueSpec {
    // An average that follows within a round trip, and 2 % as the paper has it: a single flow is soon told, and mildly.
    let usual = RedSpec::for_rate(Some(RATE), Unit::Packets, 1500);
    QueueSpec::Red(RedSpec { room: Room::Packets(250), weight: 0.02, max_p: 0.02, ..usual })
}

#[test]
fn one_newreno_flow_fills_the_link_and_waits_about_the_target() {
    // 250 packets of 1500 octets are 300 ms at 10 Mbit/s.
    let tail = run(&bottleneck(QueueSpec::Packets(250), &[None]));
    assert!(mean_wait_ms(&tail) > 100.0, "{}", mean_wait_ms(&tail));
    for (queue, least, most) in [(codel(), 1.0, 6.0), (fq_codel(), 1.0, 6.0), (red(), 1.0, 20.0)] {
        let result = run(&bottleneck(queue, &[None]));
        let (wait, link) = (mean_wait_ms(&result), &result.links[0]);
        assert!((least..most).contains(&wait), "{queue:?}: {wait} ms");
        // A window that is halved at the delay of the path and 5 ms more leaves a link of that path idle for a while.
        assert!(link.utilisation > 0.8, "{queue:?}: {}", link.utilisation);
        assert!(early_drops(link) > 5, "{queue:?}: {:?}", link.drops);
        // The series tells the same mean as the counters.
        let end = Time::ZERO + Span::from_secs(60);
        let samples: Vec<_> = result.recording.queues.iter().filter(|sample| sample.channel == 0).collect();
        let mut area = 0.0;
        for (this, next) in samples.iter().zip(samples.iter().skip(1).map(|next| next.time).chain([end])) {
            area += f64::from(this.packets) * next.since(this.time).as_secs_f64();
        }
        assert!((area / 60.0 - link.queue_mean_packets).abs() < 1e-6, "{queue:?}");
    }
}

#[test]
fn a_few_flows_keep_a_link_busy_and_wait_near_the_target() {
    for flows in [2, 3] {
        let tail = run(&bottleneck(QueueSpec::Packets(250), &vec![None; flows]));
        let result = run(&bottleneck(codel(), &vec![None; flows]));
        let wait = mean_wait_ms(&result);
        assert!((4.0..8.0).contains(&wait), "{flows} flows: {wait} ms");
        assert!(mean_wait_ms(&tail) > 20.0 * wait);
        assert!(result.links[0].utilisation > 0.95);
    }
}

/// The median over time of the queue at the bottleneck, as milliseconds at its rate, after the first ten seconds.
fn median_wait_ms(result: &RunResult) -> f64 {
    let mut spans: Vec<(u32, f64)> = Vec::new();
    let end = Time::ZERO + Span::from_secs(60);
    let samples: Vec<_> = result.recording.queues.iter().filter(|sample| sample.channel == 0).collect();
    for (this, next) in samples.iter().zip(samples.iter().skip(1).map(|next| next.time).chain([end])) {
        if this.time > Time::ZERO + Span::from_secs(10) {
            spans.push((this.packets, next.since(this.time).as_secs_f64()));
        }
    }
    spans.sort_by_key(|(packets, _)| *packets);
    let half = spans.iter().map(|(_, span)| span).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let median = spans.iter().find(|(_, span)| {
        sum += span;
        sum >= half
    });
    f64::from(median.unwrap().0) * 1500.0 * 8e3 / RATE as f64
}

#[test]
fn twenty_cubic_flows_wait_near_the_target_of_pie() {
    let mut spec = bottleneck(pie(), &[None; 20]);
    let cubic = Arc::new(profile::by_name("linux").unwrap().config.clone());
    for flow in &mut spec.flows {
        (flow.client, flow.server) = (Arc::clone(&cubic), Arc::clone(&cubic));
    }
    for (queue, target) in
        [(pie(), 15.0), (QueueSpec::Pie(Room::Bytes(312_500), PieSpec::docsis(RATE, 312_500)), 10.0)]
    {
        spec.links[0].directions[0].queue = queue;
        let result = run(&spec);
        let wait = median_wait_ms(&result);
        assert!((wait / target - 1.0).abs() < 0.35, "{queue:?}: {wait} ms");
        assert!(result.links[0].utilisation > 0.98, "{queue:?}: {}", result.links[0].utilisation);
    }
}

#[test]
fn flows_of_unlike_windows_share_a_fair_queue_equally() {
    // Jain's index of what four flows deliver whose round trips lie between 42 and 100 ms.
    let fairness = |queue| {
        let mut spec = bottleneck(queue, &[None; 4]);
        for (link, ms) in spec.links[1..].iter_mut().zip([1, 10, 20, 30]) {
            for direction in &mut link.directions {
                direction.delay = Span::from_ms(ms);
            }
        }
        let result = run(&spec);
        let rates: Vec<f64> = result.flows.iter().map(|flow| flow.goodput_bps).collect();
        rates.iter().sum::<f64>().powi(2) / (4.0 * rates.iter().map(|rate| rate * rate).sum::<f64>())
    };
    let (fair, one_for_all) = (fairness(fq_codel()), fairness(codel()));
    assert!(fair > 0.99 && one_for_all < 0.98, "{fair} and {one_for_all}");
}

#[test]
fn a_sparse_flow_hardly_waits_behind_a_bulk_flow() {
    // A short exchange every 100 ms beside four bulk flows.
    let round_trip_ms = |queue| {
        let mut spec = bottleneck(queue, &[None; 4]);
        let config = Arc::clone(&spec.flows[0].client);
        let client = spec.node("client");
        spec.link("access client", [client, NodeId(0)], &ChannelSpec::new(1_000_000_000, Span::from_us(10)));
        let exchange =
            AppSpec::RequestResponse { request: 200, response: 200, exchanges: 300, gap: Span::from_ms(100) };
        spec.flow("sparse", [client, NodeId(1)], exchange, &config);
        let result = run(&spec);
        1e3 * result.flows.last().unwrap().rtt_mean_s.unwrap()
    };
    let (fair, tail) = (round_trip_ms(fq_codel()), round_trip_ms(QueueSpec::Packets(100)));
    // 40 ms on the way, 0.2 ms of its own, and at most what is being sent: 1.2 ms.
    assert!((40.0..42.0).contains(&fair), "{fair} ms");
    assert!(tail > 80.0, "{tail} ms");
}

const SCENARIO: &str = include_str!("../file/satellite.toml");

fn read(queue: &str, rate: &str) -> Result<Scenario, String> {
    let overrides = [("link.satellite.queue", queue), ("link.satellite.rate", rate)];
    Scenario::parse(SCENARIO, "test.toml", &overrides).map_err(|error| error.message)
}

fn built(queue: &str) -> QueueSpec {
    let scenario = read(queue, "80 Mbit/s").unwrap();
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap();
    assert_eq!(again, scenario);
    scenario.build("test").unwrap().links[0].directions[1].queue
}

#[test]
fn a_scenario_names_them_with_parameters_or_without() {
    // 80 Mbit/s are 10,000 packets of 1000 octets a second.
    let usual = RedSpec::for_rate(Some(80_000_000), Unit::Packets, 1000);
    assert_eq!(built("{ kind = 'red' }"), QueueSpec::Red(usual));
    assert!((usual.min - 25.0).abs() < 1e-9);
    let ns2 = "{ kind = 'red', limit = '25 packets', min = '5 packets', max = '15 packets', max_p = 0.02, weight = 0.002, \
               gentle = false, mean_packet = '500 B' }";
    let expected = RedSpec {
        room: Room::Packets(25),
        unit: Unit::Packets,
        min: 5.0,
        max: 15.0,
        max_p: 0.02,
        weight: 0.002,
        gentle: false,
        mean_packet: 500,
        ecn: false,
    };
    assert_eq!(built(ns2), QueueSpec::Red(expected));
    let QueueSpec::Red(bytes) = built("{ kind = 'red', limit = '64 KiB', max = '30 kB' }") else { panic!() };
    assert_eq!((bytes.unit, bytes.room), (Unit::Bytes, Room::Bytes(65_536)));
    assert!((bytes.min - 10_000.0).abs() < 1e-9 && (bytes.max - 30_000.0).abs() < 1e-9);
    let QueueSpec::Red(low) = built("{ kind = 'red', min = '7 packets' }") else { panic!() };
    assert!((low.max - 21.0).abs() < 1e-9);

    assert_eq!(built("{ kind = 'codel' }"), codel());
    let law = CodelSpec { target: Span::from_ms(13), interval: Span::from_ms(50), mtu: 9000, ecn: false };
    let text = "{ kind = 'codel', limit = '1 MiB', target = '13 ms', interval = '50 ms', mtu = '9000 B' }";
    assert_eq!(built(text), QueueSpec::Codel(Room::Bytes(1 << 20), law));
    let marking = CodelSpec { ecn: true, ..CodelSpec::default() };
    assert_eq!(built("{ kind = 'codel', ecn = true }"), QueueSpec::Codel(Room::Packets(1000), marking));
    assert_eq!(built("{ kind = 'red', ecn = true }"), QueueSpec::Red(RedSpec { ecn: true, ..usual }));
    let step = "{ kind = 'drop-tail', limit = '100 packets', mark_above = '20 packets' }";
    assert_eq!(built(step), QueueSpec::Step(Room::Packets(100), Room::Packets(20)));
    assert_eq!(built("{ kind = 'fq-codel' }"), fq_codel());
    assert_eq!(built("{ kind = 'pie' }"), QueueSpec::Pie(Room::Packets(1000), PieSpec::default()));
    let text = "{ kind = 'pie', limit = '50 ms', target = '5 ms', update = '10 ms', alpha = 0.2, beta = 2, \
                max_burst = '20 ms', mean_packet = '1 kB', by_size = true, ecn = true }";
    let law = PieSpec {
        target: Span::from_ms(5),
        update: Span::from_ms(10),
        alpha: 0.2,
        beta: 2.0,
        max_burst: Span::from_ms(20),
        mean_packet: 1000,
        by_size: true,
        ecn: true,
        form: PieForm::Rfc8033,
    };
    assert_eq!(built(text), QueueSpec::Pie(Room::Bytes(500_000), law));
    let docsis = PieSpec::docsis(80_000_000, 2_500_000);
    assert_eq!(built("{ kind = 'docsis-pie' }"), QueueSpec::Pie(Room::Bytes(2_500_000), docsis));
    let docsis = PieSpec { target: Span::from_ms(20), ..PieSpec::docsis(80_000_000, 102_400) };
    let text = "{ kind = 'docsis-pie', target = '20 ms', limit = '100 packets' }";
    assert_eq!(built(text), QueueSpec::Pie(Room::Packets(100), docsis));
    assert_eq!(built("{ kind = 'dualpi2' }"), QueueSpec::DualPi2(DualPi2Spec::default()));
    let text = "{ kind = 'dualpi2', limit = '250 ms', target = '10 ms', update = '8 ms', alpha = 0.1, beta = 2.0, \
                coupling = 1.5, step = '800 us', ramp = '400 us', scheduler = 'time-shifted', shift = '30 ms', \
                overload = 'overflow', mtu = '9000 B' }";
    let expected = DualPi2Spec {
        room: Room::Bytes(2_500_000),
        target: Span::from_ms(10),
        update: Span::from_ms(8),
        alpha: 0.1,
        beta: 2.0,
        coupling: 1.5,
        step: Span::from_us(800),
        ramp: Span::from_us(400),
        scheduler: DualScheduler::TimeShifted { shift: Span::from_ms(30) },
        overload: Overload::Overflow,
        mtu: 9000,
    };
    assert_eq!(built(text), QueueSpec::DualPi2(expected));
    let classes = ClassesSpec::new(Room::Packets(1000), &[&[46, 48], &[34, 3]]).unwrap();
    let text = "{ kind = 'priority', classes = [['EF', 'CS6'], ['AF41', 3]] }";
    assert_eq!(built(text), QueueSpec::Priority(classes));
    let text = "{ kind = 'drr', classes = [['EF', 48], ['AF41', 3]], quanta = ['3 kB', '2 kB', '1 kB'] }";
    assert_eq!(built(text), QueueSpec::Drr(DrrSpec::new(classes, &[3000, 2000, 1000])));
    assert_eq!(built("{ kind = 'cake' }"), QueueSpec::Cake(CakeSpec::default()));
    let text = "{ kind = 'cake', bandwidth = '400 Mbit/s', rtt = '50 ms', isolation = 'dual-srchost', \
                diffserv = 'diffserv4', ack_filter = 'aggressive', overhead = '18 B', mpu = '64 B', link_layer = 'ptm' }";
    let expected = CakeSpec {
        room: Room::Bytes(10_000_000),
        bandwidth: Some(400_000_000),
        rtt: Span::from_ms(50),
        isolation: Isolation::DualSrcHost,
        diffserv: Diffserv::Four,
        ack_filter: AckFilter::Aggressive,
        overhead: 18,
        mpu: 64,
        link_layer: LinkLayer::Ptm,
    };
    assert_eq!(built(text), QueueSpec::Cake(expected));
    assert_eq!(built("{ kind = 'fq-pie' }"), QueueSpec::FqPie(FqPieSpec::default()));
    let text = "{ kind = 'fq-codel', limit = '99 packets', quantum = '300 B', flows = 16 }";
    let law = CodelSpec::default();
    let expected = FqCodelSpec { room: Room::Packets(99), law, quantum: 300, flows: 16 };
    assert_eq!(built(text), QueueSpec::FqCodel(expected));
}

#[test]
fn a_limit_in_time_is_what_the_link_sends_in_that_time() {
    // 80 Mbit/s are 10 kB in a millisecond.
    assert_eq!(built("{ kind = 'drop-tail', limit = '20 ms' }"), QueueSpec::Bytes(200_000));
    assert_eq!(built("{ kind = 'drop-tail', limit = '2e1 ms' }"), QueueSpec::Bytes(200_000));
    let step = "{ kind = 'drop-tail', limit = '100 ms', mark_above = '1 ms' }";
    assert_eq!(built(step), QueueSpec::Step(Room::Bytes(1_000_000), Room::Bytes(10_000)));
    let mixed = "{ kind = 'drop-tail', limit = '1 MB', mark_above = '1 ms' }";
    assert_eq!(built(mixed), QueueSpec::Step(Room::Bytes(1_000_000), Room::Bytes(10_000)));
    let QueueSpec::Red(red) = built("{ kind = 'red', min = '5 ms', max = '15 ms' }") else { panic!() };
    assert_eq!((red.unit, red.min, red.max), (Unit::Bytes, 50_000.0, 150_000.0));

    // A packet that comes behind a limit's worth of packets is dropped: no wait exceeds the limit.
    let mut spec = bottleneck(QueueSpec::Unlimited, &[None; 3]);
    let text = "{ kind = 'drop-tail', limit = '30 ms' }";
    spec.links[0].directions[0].queue =
        read(text, "10 Mbit/s").unwrap().build("test").unwrap().links[0].directions[1].queue;
    let result = run(&spec);
    let most = result.links[0].queue_max_packets;
    assert!(result.links[0].drops_by(Cause::Queue) > 0 && (24..=25).contains(&most), "{most}");
}

#[test]
fn a_limit_in_time_needs_a_rate() {
    let without = SCENARIO.lines().filter(|line| !line.starts_with("rate")).collect::<Vec<_>>().join("\n");
    let overrides = [("link.satellite.queue", "{ kind = 'drop-tail', limit = '20 ms' }")];
    let error = Scenario::parse(&without, "test.toml", &overrides).unwrap_err();
    let sentence = "limit is a time, and the queue of link \"satellite\" is before an infinitely fast link: give it in \
                    packets or bytes, or give the link a rate";
    assert!(error.message.contains(sentence), "{}", error.message);
}

/// A call of one packet in 20 ms beside four bulk flows: its mean RTT in milliseconds, with this codepoint.
fn call_beside_bulk(queue: &str, dscp: &str) -> f64 {
    let text = format!(
        "duration = '20 s'\n[tcp]\nprofile = 'linux'\nacking = 'every-segment'\n[link.up]\nbetween = ['home', 'isp']\nrate = '10 Mbit/s'\n\
         delay = '10 ms'\nqueue = {queue}\n[[flow]]\napp = {{ kind = 'bulk' }}\nfrom = 'home'\nto = 'isp'\ncount = 4\n\
         [[flow]]\nname = 'call'\napp = {{ kind = 'request-response', request = '200 B', response = '200 B', \
         exchanges = 500, gap = '20 ms' }}\nfrom = 'home'\nto = 'isp'\ndscp = {dscp}\n"
    );
    let scenario = Scenario::parse(&text, "call.toml", &[]).unwrap();
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap();
    assert_eq!(again, scenario);
    let result = run(&scenario.build("call").unwrap());
    1e3 * result.flows.last().unwrap().rtt_mean_s.unwrap()
}

#[test]
fn cake_at_home_keeps_the_delay_short_that_a_buffer_in_the_modem_would_add() {
    // The modem's own buffer holds 300 ms; CAKE in front of it at 95 per cent of its rate does not let it fill.
    let modem = call_beside_bulk("{ kind = 'drop-tail', limit = '300 ms' }", "'CS0'");
    assert!(modem > 150.0, "{modem} ms");
    for dscp in ["'CS0'", "'EF'"] {
        let cake = call_beside_bulk("{ kind = 'cake', bandwidth = '9.5 Mbit/s' }", dscp);
        assert!((20.0..23.5).contains(&cake), "{dscp}: {cake} ms");
    }
}

#[test]
fn the_ack_filter_drops_acks_on_a_slow_way_back_and_no_data_is_lost() {
    let run_with = |ack_filter| {
        let mut spec = bottleneck(QueueSpec::Packets(250), &[Some(5_000_000)]);
        // 10 Mbit/s there, 100 kbit/s back: an ACK for each segment does not fit.
        spec.links[0].directions[1] = ChannelSpec {
            queue: QueueSpec::Cake(CakeSpec { ack_filter, ..CakeSpec::default() }),
            ..ChannelSpec::new(100_000, Span::from_ms(20))
        };
        let result = run(&spec);
        let flow = &result.flows[0];
        assert!(flow.completed && flow.wrong_bytes == 0, "{ack_filter:?}");
        (flow.end_s.unwrap(), result.links[1].drops_by(Cause::AckFilter))
    };
    let (off, conservative, aggressive) =
        (run_with(AckFilter::Off), run_with(AckFilter::Conservative), run_with(AckFilter::Aggressive));
    assert!(
        off.1 == 0 && conservative.1 > 500 && aggressive.1 >= conservative.1,
        "{conservative:?} {aggressive:?}"
    );
    assert!(
        conservative.0 < 0.8 * off.0 && aggressive.0 < 0.8 * off.0,
        "{off:?} {conservative:?} {aggressive:?}"
    );
}

#[test]
fn a_medium_that_others_use_too_takes_no_bandwidth() {
    let overrides = [
        ("link.satellite.queue", "{ kind = 'cake', bandwidth = '1 Mbit/s' }"),
        ("link.satellite.duplex", "'half'"),
    ];
    let error = Scenario::parse(SCENARIO, "test.toml", &overrides).unwrap_err();
    let sentence = "the queue of link \"satellite\" stands before a medium that others use too, and sends when it has its \
                    turn: leave bandwidth out";
    assert!(error.message.contains(sentence), "{}", error.message);
}

#[test]
fn a_flow_has_a_codepoint_by_which_queues_tell_it_apart() {
    let priority = "{ kind = 'priority', classes = [['EF'], ['AF41']], limit = '100 packets' }";
    let drr = "{ kind = 'drr', classes = [['EF'], ['AF41']], limit = '100 packets' }";
    for queue in [priority, drr] {
        for dscp in ["'EF'", "46", "'AF41'"] {
            let rtt = call_beside_bulk(queue, dscp);
            // At most what is being sent and a turn of the other class are in the way.
            assert!((20.0..23.5).contains(&rtt), "{queue}, {dscp}: {rtt} ms");
        }
        for dscp in ["'CS0'", "'CS7'"] {
            let rtt = call_beside_bulk(queue, dscp);
            assert!(rtt > 60.0, "{queue}, {dscp}: {rtt} ms");
        }
    }
}

#[test]
fn results_list_the_causes_that_can_occur() {
    let drops = |queue| run(&bottleneck(queue, &[Some(1000)])).links[0].drops.clone();
    let names = |queue| drops(queue).into_keys().collect::<Vec<_>>();
    assert_eq!(names(red()), ["queue", "red"]);
    assert_eq!(names(codel()), ["codel", "queue"]);
    assert_eq!(names(fq_codel()), ["codel", "queue"]);
    let unlimited = QueueSpec::FqCodel(FqCodelSpec { room: Room::Unlimited, ..FqCodelSpec::default() });
    assert_eq!(names(unlimited), ["codel"]);
    assert_eq!(names(pie()), ["pie", "queue"]);
    assert_eq!(names(QueueSpec::Cake(CakeSpec::default())), ["cobalt", "queue"]);
    let filter = CakeSpec { ack_filter: AckFilter::Aggressive, room: Room::Unlimited, ..CakeSpec::default() };
    assert_eq!(names(QueueSpec::Cake(filter)), ["ack-filter", "cobalt"]);
    assert_eq!(names(QueueSpec::DualPi2(DualPi2Spec::default())), ["dualpi2", "queue"]);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    for (queue, sentence) in [
        (
            "{ kind = 'red', min = '15 packets', max = '5 packets' }",
            "max, 5 packets, is not above min, 15 packets: the queue of link \"satellite\" drops between the two",
        ),
        (
            "{ kind = 'red', limit = '64 KiB', max = '5 packets' }",
            "the queue of link \"satellite\" counts both packets and bytes: give max in the same unit as limit",
        ),
        (
            "{ kind = 'red', min = '0 packets' }",
            "a threshold of zero leaves the queue of link \"satellite\" no queue at all",
        ),
        (
            "{ kind = 'red', max_p = 0.0 }",
            "max_p must be above 0, or the queue of link \"satellite\" never drops early",
        ),
        (
            "{ kind = 'red', weight = 1.5 }",
            "link.satellite.queue.weight: 1.5 is out of range: it must be between 0 and 1",
        ),
        (
            "{ kind = 'red', mean_packet = '2 B' }",
            "mean_packet of the queue of link \"satellite\" must be the size of a packet, between 40 B and 1 MiB",
        ),
        (
            "{ kind = 'codel', target = '0 s' }",
            "a target of zero makes the queue of link \"satellite\" drop whatever waits",
        ),
        (
            "{ kind = 'codel', target = '100 ms' }",
            "interval, 100 ms, is not above target, 100 ms: the queue of link \"satellite\" needs a round trip to see \
             what its drops have done",
        ),
        (
            "{ kind = 'drop-tail', limit = '20 packets', mark_above = '20 packets' }",
            "mark_above, 20 packets, is not below limit, 20 packets: the queue of link \"satellite\" would drop packets \
             before it marks any",
        ),
        (
            "{ kind = 'drop-tail', limit = '20 packets', mark_above = '1 KiB' }",
            "the queue of link \"satellite\" counts both packets and bytes: give mark_above in the same unit as limit",
        ),
        (
            "{ kind = 'drop-tail', limit = '10 ms', mark_above = '10 ms' }",
            "mark_above, 10 ms, is not below limit, 10 ms: the queue of link \"satellite\" would drop packets before it \
             marks any",
        ),
        (
            "{ kind = 'drop-tail', limit = '3 us' }",
            "the queue of link \"satellite\" has no room for a single packet",
        ),
        ("{ kind = 'drop-tail', limit = '3 msec' }", "\"msec\" is not a unit for this"),
        (
            "{ kind = 'codel', limit = '39 B' }",
            "the queue of link \"satellite\" has no room for a single packet",
        ),
        (
            "{ kind = 'fq-codel', flows = 0 }",
            "link.satellite.queue.flows: 0 is out of range: it must be between 1 and 65536",
        ),
        (
            "{ kind = 'fq-codel', quantum = '0 B' }",
            "quantum of the queue of link \"satellite\" must be the size of a packet, between 40 B and 1 MiB",
        ),
        (
            "{ kind = 'pie', target = '0 ms' }",
            "a target of zero makes the queue of link \"satellite\" drop whatever waits",
        ),
        (
            "{ kind = 'fq-pie', update = '0 ms' }",
            "the queue of link \"satellite\" computes its probability every 100 us … 10 s, not every 0 s",
        ),
        ("{ kind = 'pie', mean_packet = '2 B' }", "must be the size of a packet, between 40 B and 1 MiB"),
        ("{ kind = 'docsis-pie', limit = '0 packets' }", "has no room for a single packet"),
        (
            "{ kind = 'cake', bandwidth = '0 Mbit/s' }",
            "a bandwidth of zero makes the queue of link \"satellite\" keep all packets: give it one, or none",
        ),
        (
            "{ kind = 'cake', overhead = '1 kB' }",
            "overhead of the queue of link \"satellite\" is 256 B at most, not 1 kB",
        ),
        (
            "{ kind = 'cake', rtt = '1 us' }",
            "a round trip of 1 us is too short for the queue of link \"satellite\": 20 us at least",
        ),
        ("{ kind = 'cake', isolation = 'dual-host' }", "did you mean \"dual-srchost\""),
        ("{ kind = 'cake', limit = '1 B' }", "has no room for a single packet"),
        ("{ kind = 'priority', classes = [] }", "there are 0 entries"),
        ("{ kind = 'priority' }", "the key \"classes\" is missing"),
        ("{ kind = 'priority', classes = [['EE']] }", "unknown name \"EE\": did you mean"),
        ("{ kind = 'priority', classes = [[64]] }", "64 is out of range: it must be between 0 and 63"),
        (
            "{ kind = 'priority', classes = [['EF'], [46]] }",
            "EF stands twice in the classes of the queue of link \"satellite\"",
        ),
        ("{ kind = 'drr', classes = [[]] }", "a class of the queue of link \"satellite\" has no codepoint"),
        (
            "{ kind = 'drr', classes = [['EF']], quanta = ['1500 B'] }",
            "has 2 classes, that of all other packets included, but 1 quanta: give one for each",
        ),
        ("{ kind = 'dualpi2', coupling = 0.0 }", "link.satellite.queue.coupling: 0 is out of range"),
        ("{ kind = 'dualpi2', classic_share = 101 }", "classic_share: 101 is out of range"),
        ("{ kind = 'dualpi2', scheduler = 'wwr' }", "did you mean \"wrr\"?"),
        ("{ kind = 'dualpi2', target = '0 s' }", "a target of zero"),
        ("{ kind = 'pie', alpha = -1.0 }", "link.satellite.queue.alpha: -1 is out of range"),
        ("{ kind = 'coddel' }", "unknown kind \"coddel\": did you mean \"codel\"?"),
        ("{ kind = 'codel', target = 5 }", "5 has no unit: write \"5 ms\""),
    ] {
        let error = read(queue, "80 Mbit/s").unwrap_err();
        assert!(error.contains(sentence), "{queue}: {error}");
    }
}
