//! Links whose capacity follows a recording: closed forms, and links of one rate as oracles.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::network::capacity::{Capacity, Deliveries};
use netspurt_sim::network::packet::Label;
use netspurt_sim::network::{Due, Network};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{ChannelSpec, CodelSpec, NodeId, QueueSpec, Room, WorldSpec};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::{Span, Time};
use std::sync::Arc;

const MS: u64 = 1_000_000_000;

/// Arrivals, in milliseconds, of packets of these sizes that are sent at these milliseconds through a link.
fn arrivals(link: &ChannelSpec, sent: &[(u64, u32)]) -> (Vec<u64>, u64) {
    let mut spec = WorldSpec::new("recorded", Span::from_secs(1000));
    let ends = [spec.node("a"), spec.node("b")];
    spec.link("l", ends, link);
    let mut network = Network::joining(&spec, std::iter::once((ends[0], ends[1])), 1);
    let (route, _) = network.routes().between(NodeId(0), NodeId(1)).unwrap();
    let mut arrived = Vec::new();
    let mut take = |network: &mut Network, until| {
        while let Some((now, due)) = network.next(until) {
            let Due::Packet(place) = due else { panic!("nobody has a timer") };
            assert_eq!(now.as_ps() % MS, 0, "opportunities are at whole milliseconds");
            arrived.push(now.as_ps() / MS);
            network.release(place);
        }
    };
    for &(at, size) in sent {
        let now = Time::from_ps(at * MS);
        take(&mut network, now);
        network.send(now, &Segment::default(), Label { route, size, ..Label::default() });
    }
    take(&mut network, Time::NEVER);
    let drops = network.channels()[0].counters().drops.iter().sum();
    (arrived, drops)
}

fn following(milliseconds: &[u64]) -> ChannelSpec {
    let capacity = Capacity::Deliveries(Arc::new(Deliveries::new(milliseconds).unwrap()));
    ChannelSpec { delay: Span::from_ms(100), ..ChannelSpec::default() }.following(Arc::new(capacity))
}

#[test]
fn one_full_packet_leaves_per_opportunity_and_one_arriving_at_that_instant_is_too_late() {
    let link = following(&[3, 4, 10]);
    let packets = [(0, 1500), (0, 1500), (3, 1500), (4, 1500), (30, 1500)];
    // Opportunities at 3, 4, 10, 13, 14, 20, 23, …, 30, 33: the third packet finds a queue, the last one comes at 30.
    assert_eq!(arrivals(&link, &packets), (vec![103, 104, 110, 113, 133], 0));
}

#[test]
fn short_packets_share_an_opportunity() {
    let link = following(&[5]);
    // 44 octets each with the device's four: 34 of them fit, and 8 octets of the next.
    let (arrived, _) = arrivals(&link, &[(0, 40); 40]);
    assert_eq!(arrived[..34], [105; 34]);
    assert_eq!(arrived[34..], [110; 6]);
}

#[test]
fn a_packet_that_waits_for_an_opportunity_counts_as_queued() {
    let link = following(&[5]).with_queue(2);
    let (arrived, drops) = arrivals(&link, &[(0, 1500), (0, 1500), (0, 1500), (5, 1500)]);
    assert_eq!((arrived, drops), (vec![105, 110, 115], 1));
}

#[test]
fn queues_that_decide_at_departure_release_packets_at_opportunities() {
    let fifo = following(&[3, 4, 10]);
    let patient = CodelSpec { target: Span::from_secs(60), ..CodelSpec::default() };
    let codel = ChannelSpec { queue: QueueSpec::Codel(Room::Unlimited, patient), ..fifo.clone() };
    let sent: Vec<(u64, u32)> = (0..200).map(|n| (n * n / 20, 40 + (n as u32 * 577) % 1461)).collect();
    assert_eq!(arrivals(&codel, &sent), arrivals(&fifo, &sent));
}

fn run(text: &str) -> RunResult {
    let scenario = Scenario::parse(text, "recorded.toml", &[]).unwrap();
    let spec = scenario.build("recorded.toml").unwrap();
    World::new(spec, 7, None).unwrap().run(&|| false)
}

fn scenario(link: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        [link.l]
        between = ["a", "b"]
        delay = "20 ms"
        {link}
        [[flow]]
        from = "a"
        to = "b"
        app = {{ kind = "bulk" }}
        "#
    )
}

#[test]
fn a_recording_of_one_rate_is_a_link_of_that_rate() {
    for queue in ["queue = { kind = \"drop-tail\", limit = \"30 packets\" }", "queue = { kind = \"red\" }"] {
        let plain = run(&scenario(&format!("rate = \"7.3 Mbit/s\"\n{queue}")));
        let trace = r#"trace = { kind = "rates", times = ["0 s"], rates = ["7.3 Mbit/s"] }"#;
        let recorded = run(&scenario(&format!("{trace}\n{queue}")));
        assert_eq!(recorded.digest, plain.digest);
        assert!(recorded.flows[0].bytes_delivered > 15_000_000, "{:?}", recorded.flows[0].bytes_delivered);
        assert!((recorded.links[0].utilisation - plain.links[0].utilisation).abs() < 1e-9);
    }
}

#[test]
fn tcp_fills_a_recording() {
    // Two opportunities in every 3 ms, of which each takes one segment of 1460 octets.
    let queue = "queue = { kind = \"drop-tail\", limit = \"60 packets\" }";
    let result =
        run(&scenario(&format!("trace = {{ kind = \"mahimahi\", milliseconds = [1, 3] }}\n{queue}")));
    let goodput = result.flows[0].bytes_delivered as f64 / 20.0;
    let most = 1460.0 * 2.0 / 3e-3;
    assert!(goodput < most && goodput > 0.9 * most, "{goodput} of {most}");
}

#[test]
fn each_direction_may_follow_its_own() {
    let text = scenario(
        r#"trace = [
            { kind = "mahimahi", milliseconds = [10], direction = "a->b" },
            { kind = "rates", times = ["0 s", "1 s"], rates = ["1 Mbit/s", "2 Mbit/s"], repeat = "2 s", direction = "b->a" },
        ]"#,
    );
    let spec = Scenario::parse(&text, "x", &[]).unwrap().build("x").unwrap();
    assert_eq!(spec.links[0].directions.each_ref().map(|way| way.rate), [Some(1_203_200), Some(1_500_000)]);
    let result = run(&text);
    assert!(result.flows[0].bytes_delivered > 1_000_000);
}

fn files(name: &str) -> Result<String, String> {
    match name {
        "up" => Ok("1\n2\n2\n9\n".to_owned()),
        "falls" => Ok("1\n5\n4\n".to_owned()),
        "words" => Ok("1\nthree\n".to_owned()),
        "nothing" => Ok("0\n0\n".to_owned()),
        "rates.csv" => Ok("time_s,rate_mbps\n0,1\n2.5,0.5\n".to_owned()),
        "late.csv" => Ok("time_s,rate_mbps\n1,1\n".to_owned()),
        "names.csv" => Ok("t,r\n0,1\n".to_owned()),
        _ => Err("no such file or directory".to_owned()),
    }
}

#[test]
fn files_are_read_and_become_part_of_the_scenario() {
    for trace in
        [r#"{ kind = "mahimahi", file = "up" }"#, r#"{ kind = "rates", file = "rates.csv", repeat = "4 s" }"#]
    {
        let text = scenario(&format!("trace = {trace}"));
        let whole = Scenario::parse_with(&text, "x", &[], &files).unwrap();
        let merged = whole.merged_toml();
        assert!(!merged.contains("file"), "{merged}");
        assert_eq!(Scenario::parse(&merged, "x", &[]).unwrap(), whole);
    }
}

#[test]
fn what_is_wrong_with_a_recording_is_said_with_file_and_line() {
    let error = |link: &str| {
        let text = scenario(link);
        Scenario::parse_with(&text, "cell.toml", &[], &files).unwrap_err().to_string()
    };
    let cases = [
        (
            r#"trace = { kind = "mahimahi", file = "falls" }"#,
            ":6:",
            "\"falls\", line 3: 4 ms come after 5 ms",
        ),
        (
            r#"trace = { kind = "mahimahi", file = "words" }"#,
            ":6:",
            "\"words\", line 2: \"three\" is no whole number",
        ),
        (r#"trace = { kind = "mahimahi", file = "nothing" }"#, ":6:", "must be above 0 ms"),
        (r#"trace = { kind = "mahimahi", file = "gone" }"#, ":6:", "\"gone\" cannot be read: no such file"),
        (r#"trace = { kind = "mahimahi" }"#, ":6:", "at least one line"),
        (r#"trace = { kind = "rates", file = "late.csv" }"#, ":6:", "the first time must be 0 s"),
        (
            r#"trace = { kind = "rates", file = "names.csv" }"#,
            ":6:",
            "the columns time_s and one of rate_bps",
        ),
        (
            r#"trace = { kind = "rates", times = ["0 s"], rates = [] }"#,
            ":6:",
            "1 times need as many rates, not 0",
        ),
        (r#"trace = { kind = "rates", times = ["0 s"], rates = ["0 bit/s"] }"#, ":6:", "nothing ever leaves"),
        (r#"trace = { kind = "rates", file = "rates.csv", repeat = "2 s" }"#, ":6:", "begin anew"),
        (
            r#"trace = { kind = "mahimahi", file = "up", direction = "a->c" }"#,
            ":6:",
            "it has \"a->b\" and \"b->a\"",
        ),
        (
            r#"trace = [{ kind = "mahimahi", file = "up" }, { kind = "mahimahi", file = "up", direction = "a->b" }]"#,
            ":6:",
            "one recording, not two",
        ),
        ("rate = \"1 Mbit/s\"\ntrace = { kind = \"mahimahi\", file = \"up\" }", ":6:", "leave its rate out"),
        ("duplex = \"half\"\ntrace = { kind = \"mahimahi\", file = \"up\" }", ":6:", "share a medium"),
        (r#"trace = { kind = "mahimahi", fil = "up" }"#, ":6:", "fil"),
    ];
    for (link, place, words) in cases {
        let said = error(link);
        assert!(said.contains(place) && said.contains(words), "{link}\n{said}");
    }
}
