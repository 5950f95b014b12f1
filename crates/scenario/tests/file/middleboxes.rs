//! Middleboxes and effects of hosts in a file, and what they do to a transfer.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::network::gather::{Aggregation, Thinning};
use netspurt_sim::network::middlebox::{MiddleboxSpec, Strip};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::ChannelSpec;
use netspurt_tcp::time::Span;

fn text(keys: &str) -> String {
    format!(
        "duration = \"20 s\"\n[link.line]\nbetween = [\"home\", \"net\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n{keys}\n\
         [tcp]\nprofile = \"linux\"\n[[flow]]\napp = {{ kind = \"bulk\", bytes = \"2 MB\" }}\nfrom = \"home\"\nto = \"net\"\n"
    )
}

#[track_caller]
fn read(keys: &str) -> [ChannelSpec; 2] {
    let scenario = Scenario::parse(&text(keys), "line.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    scenario.build("line").unwrap().links[0].directions.clone()
}

#[track_caller]
fn run(keys: &str) -> RunResult {
    let world = Scenario::parse(&text(keys), "line.toml", &[]).unwrap().build("line").unwrap();
    World::new(world, 1, None).unwrap().run(&|| false)
}

#[track_caller]
fn refused(keys: &str) -> String {
    Scenario::parse(&text(keys), "line.toml", &[]).unwrap_err().to_string()
}

#[test]
fn every_effect_is_read() {
    let [there, back] = read(
        "middlebox = [{ mss = \"1400 B\", strip = [\"sack\", \"unknown\"], window = \"64 KiB\", bleach_ecn = true, \
         idle_timeout = \"5 min\" }, \"none\"]\n\
         aggregation = [{ interval = \"1 ms\" }, { packets = \"8 packets\" }]\nack_thinning = [\"none\", { keep = 4 }]",
    );
    let middlebox = MiddleboxSpec {
        mss: Some(1400),
        strip: Strip { sack: true, unknown: true, ..Strip::default() },
        window: Some(65_536),
        bleaches_ecn: true,
        idle: Some(Span::from_secs(300)),
    };
    assert_eq!((there.middlebox, back.middlebox), (Some(middlebox), None));
    assert_eq!(there.aggregation, Some(Aggregation::Every(Span::from_ms(1))));
    assert_eq!(back.aggregation, Some(Aggregation::Of { packets: 8, timeout: Span::from_ms(1) }));
    assert_eq!(
        (there.thinning, back.thinning),
        (None, Some(Thinning { keep: 4, interval: Span::from_ms(10) }))
    );
}

#[test]
fn effects_that_do_nothing_are_placed() {
    assert_eq!(
        refused("middlebox = {}"),
        "line.toml:6:13: the middlebox of link \"line\": it does nothing: give it mss, strip, window, bleach_ecn or \
         idle_timeout"
    );
    assert!(
        refused("middlebox = { mss = \"0 B\" }")
            .starts_with("line.toml:6:21: the middlebox of link \"line\": an MSS is")
    );
    assert!(
        refused("middlebox = { idle_timeout = \"0 s\" }")
            .contains("a timeout of 0 forgets a connection at once")
    );
    assert!(refused("middlebox = { window = \"0 B\" }").contains("give at least 1 B"));
    assert!(refused("middlebox = { strip = [\"mptcp\"] }").contains("unknown name \"mptcp\""));
    assert!(refused("aggregation = {}").contains("give interval or packets"));
    assert!(refused("aggregation = { interval = \"0 s\" }").contains("an interval of 0 gathers nothing"));
    assert!(refused("aggregation = { packets = \"1 packet\" }").contains("at least 2 packets"));
    assert!(refused("aggregation = { interval = \"1 ms\", packets = \"3 packets\" }").contains("not both"));
    assert!(refused("ack_thinning = { keep = 1 }").contains("it must be at least 2"));
    assert!(refused("ack_thinning = { keep = 2, interval = \"0 s\" }").contains("leaves no ACK out"));
}

#[test]
fn a_transfer_gets_through_each_of_them() {
    let plain = run("");
    let sizes = |result: &RunResult| result.flows[0].segments_sent;
    for keys in [
        "middlebox = { strip = [\"sack\", \"timestamps\", \"window-scaling\", \"unknown\"] }",
        "middlebox = { bleach_ecn = true, idle_timeout = \"1 min\" }",
        "aggregation = { interval = \"2 ms\" }",
        "aggregation = { packets = \"4 packets\" }",
        "ack_thinning = [\"none\", { keep = 8 }]",
    ] {
        let result = run(keys);
        assert!(result.flows[0].completed, "{keys}");
        assert_eq!(result.flows[0].bytes_delivered, 2_000_000, "{keys}");
    }
    assert!(sizes(&run("middlebox = { mss = \"500 B\" }")) > 2 * sizes(&plain), "the MSS is clamped");
    let thinned = run("ack_thinning = [\"none\", { keep = 8 }]");
    assert!(thinned.links[1].packets * 2 < plain.links[1].packets, "fewer ACKs come back");
    assert!(thinned.links[1].drops["ack-thinning"] > 0);
    // Eight kilobytes in 20 ms are 3.3 Mbit/s.
    let bounded = run("middlebox = [\"none\", { window = \"8 KiB\" }]");
    assert!(bounded.flows[0].goodput_bps < 3.4e6, "{}", bounded.flows[0].goodput_bps);
}
