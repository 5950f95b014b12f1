//! Queues as a scenario names them: what each key comes to, and what is refused.

use netspurt_scenario::Scenario;
use netspurt_sim::spec::{
    AckFilter, CakeSpec, ClassesSpec, CodelSpec, Diffserv, DrrSpec, DualPi2Spec, DualScheduler, FqCodelSpec,
    FqPieSpec, Isolation, LinkLayer, Overload, PieForm, PieSpec, QueueSpec, RedSpec, Room, Unit,
};
use netspurt_tcp::time::Span;

const SCENARIO: &str = include_str!("../file/satellite.toml");

pub(crate) fn read(queue: &str, rate: &str) -> Result<Scenario, String> {
    let overrides = [("link.satellite.queue", queue), ("link.satellite.rate", rate)];
    Scenario::parse(SCENARIO, "test.toml", &overrides).map_err(|error| error.message)
}

pub(crate) fn built(queue: &str) -> QueueSpec {
    let scenario = read(queue, "80 Mbit/s").unwrap();
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap();
    assert_eq!(again, scenario);
    scenario.build("test").unwrap().links[0].directions[1].queue
}

fn assert_refused(all: &[(&str, &str)]) {
    for (queue, sentence) in all {
        let error = read(queue, "80 Mbit/s").unwrap_err();
        assert!(error.contains(sentence), "{queue}: {error}");
    }
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

    assert_eq!(built("{ kind = 'codel' }"), QueueSpec::Codel(Room::Packets(1000), CodelSpec::default()));
    let law = CodelSpec { target: Span::from_ms(13), interval: Span::from_ms(50), mtu: 9000, ecn: false };
    let text = "{ kind = 'codel', limit = '1 MiB', target = '13 ms', interval = '50 ms', mtu = '9000 B' }";
    assert_eq!(built(text), QueueSpec::Codel(Room::Bytes(1 << 20), law));
    let marking = CodelSpec { ecn: true, ..CodelSpec::default() };
    assert_eq!(built("{ kind = 'codel', ecn = true }"), QueueSpec::Codel(Room::Packets(1000), marking));
    assert_eq!(built("{ kind = 'red', ecn = true }"), QueueSpec::Red(RedSpec { ecn: true, ..usual }));
    let step = "{ kind = 'drop-tail', limit = '100 packets', mark_above = '20 packets' }";
    assert_eq!(built(step), QueueSpec::Step(Room::Packets(100), Room::Packets(20)));
    assert_eq!(built("{ kind = 'fq-codel' }"), QueueSpec::FqCodel(FqCodelSpec::default()));
    let text = "{ kind = 'fq-codel', limit = '99 packets', quantum = '300 B', flows = 16 }";
    let law = CodelSpec::default();
    let expected = FqCodelSpec { room: Room::Packets(99), law, quantum: 300, flows: 16 };
    assert_eq!(built(text), QueueSpec::FqCodel(expected));
}

#[test]
fn pie_and_its_variants_are_named_with_parameters_or_without() {
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
    assert_eq!(built("{ kind = 'fq-pie' }"), QueueSpec::FqPie(FqPieSpec::default()));
}

#[test]
fn dualpi2_is_named_with_parameters_or_without() {
    assert_eq!(built("{ kind = 'dualpi2' }"), QueueSpec::DualPi2(DualPi2Spec::default()));
    let text = "{ kind = 'dualpi2', limit = '250 ms', target = '10 ms', update = '8 ms', alpha = 0.1, beta = 2.0, \
                coupling = 1.5, step = '800 us', step_packets = 0, ramp = '400 us', scheduler = 'time-shifted', shift = '30 ms', \
                overload = 'overflow', mtu = '9000 B' }";
    let expected = DualPi2Spec {
        room: Room::Bytes(2_500_000),
        target: Span::from_ms(10),
        update: Span::from_ms(8),
        alpha: 0.1,
        beta: 2.0,
        coupling: 1.5,
        step: Span::from_us(800),
        step_packets: 0,
        ramp: Span::from_us(400),
        scheduler: DualScheduler::TimeShifted { shift: Span::from_ms(30) },
        overload: Overload::Overflow,
        mtu: 9000,
    };
    assert_eq!(built(text), QueueSpec::DualPi2(expected));
}

#[test]
fn classes_and_cake_are_named_with_parameters_or_without() {
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
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    assert_refused(&[
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
        ("{ kind = 'coddel' }", "unknown kind \"coddel\": did you mean \"codel\"?"),
        ("{ kind = 'codel', target = 5 }", "5 has no unit: write \"5 ms\""),
    ]);
}

#[test]
fn what_makes_no_sense_of_pie_or_dualpi2_is_refused_in_a_sentence() {
    assert_refused(&[
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
        ("{ kind = 'dualpi2', coupling = 0.0 }", "link.satellite.queue.coupling: 0 is out of range"),
        ("{ kind = 'dualpi2', classic_share = 101 }", "classic_share: 101 is out of range"),
        ("{ kind = 'dualpi2', scheduler = 'wwr' }", "did you mean \"wrr\"?"),
        ("{ kind = 'dualpi2', target = '0 s' }", "a target of zero"),
        ("{ kind = 'pie', alpha = -1.0 }", "link.satellite.queue.alpha: -1 is out of range"),
    ]);
}

#[test]
fn what_makes_no_sense_of_classes_or_cake_is_refused_in_a_sentence() {
    assert_refused(&[
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
    ]);
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
