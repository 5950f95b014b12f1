//! Policers and shapers in a file.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::network::token_bucket::bucket::Bucket;
use netspurt_sim::network::token_bucket::policer::{Action, Excess, PolicerSpec};
use netspurt_sim::network::token_bucket::shaper::ShaperSpec;
use netspurt_sim::spec::ChannelSpec;

fn text(keys: &str) -> String {
    format!("duration = \"20 s\"\n[link.line]\nbetween = [\"home\", \"net\"]\n{keys}\n")
}

#[track_caller]
fn read(keys: &str) -> [ChannelSpec; 2] {
    let scenario = Scenario::parse(&text(keys), "line.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    scenario.build("line").unwrap().links[0].directions.clone()
}

#[track_caller]
fn refused(keys: &str) -> String {
    Scenario::parse(&text(keys), "line.toml", &[]).unwrap_err().to_string()
}

const BUCKET: Bucket = Bucket { rate: 2_000_000, burst: 15_000 };

#[test]
fn buckets_are_read() {
    let [there, back] = read("policer = { rate = \"2 Mbit/s\", burst = \"15 kB\" }");
    let (yellow, red) = (Action::Pass, Action::Drop);
    let plain = PolicerSpec { committed: BUCKET, excess: Excess::None, yellow, red };
    assert_eq!((there.policer, back.policer), (Some(plain), Some(plain)));
    let [there, back] = read(
        "policer = [\"none\", { rate = \"2 Mbit/s\", burst = \"15 kB\", excess = \"3 kB\", yellow = \"mark\" }]\n\
         shaper = [{ rate = \"2 Mbit/s\", burst = \"15 kB\", peak = \"5 Mbit/s\" }, \"none\"]",
    );
    let colours = PolicerSpec { excess: Excess::Burst(3000), yellow: Action::Mark, ..plain };
    assert_eq!((there.policer, back.policer), (None, Some(colours)));
    let peak = Bucket { rate: 5_000_000, burst: 1500 };
    assert_eq!((there.shaper, back.shaper), (Some(ShaperSpec { bucket: BUCKET, peak: Some(peak) }), None));
    let [there, _] = read("policer = { rate = \"2 Mbit/s\", burst = \"15 kB\", peak = \"5 Mbit/s\" }");
    let peak = Bucket { rate: 5_000_000, ..BUCKET };
    assert_eq!(there.policer, Some(PolicerSpec { excess: Excess::Peak(peak), ..plain }));
}

#[test]
fn buckets_that_never_let_a_packet_through_are_refused() {
    assert_eq!(
        refused("policer = { rate = \"0 bit/s\", burst = \"15 kB\" }"),
        "line.toml:4:20: the policer of link \"line\": a token bucket with a rate of zero is never filled again: give it a \
         rate above zero"
    );
    assert!(
        refused("policer = { rate = \"-1 bit/s\", burst = \"15 kB\" }")
            .starts_with("line.toml:4:20: link.line.policer.rate: ")
    );
    assert_eq!(
        refused("shaper = [\"none\", { rate = \"1 Mbit/s\", burst = \"1 kB\" }]"),
        "line.toml:4:48: the shaper of link \"line\": a burst of 1 kB is less than one packet: packets have up to 1500 B, so \
         give it at least that"
    );
    // A link that takes no larger packets needs no larger burst.
    read("mtu = { size = \"576 B\" }\nshaper = { rate = \"1 Mbit/s\", burst = \"576 B\" }");
    assert!(
        refused("shaper = { rate = \"1 Mbit/s\", burst = \"9 kB\", peak = \"1 kbit/s\" }")
            .contains("is below the rate")
    );
    assert!(
        refused("shaper = { rate = \"1 Mbit/s\", burst = \"9 kB\", peak_burst = \"9 kB\" }")
            .contains("give \"peak\" too")
    );
    assert!(
        refused("policer = { rate = \"1 bit/s\", burst = \"9 kB\", excess = \"1 B\", peak = \"2 bit/s\" }")
            .contains("not by both")
    );
    assert!(
        refused("rate = \"1 Mbit/s\"\nduplex = \"half\"\nshaper = { rate = \"1 Mbit/s\", burst = \"9 kB\" }")
            .starts_with("line.toml:6:1: the directions of link \"line\" share a medium, and have no shaper")
    );
    assert!(refused("shaper = \"nothing\"").contains("unknown name \"nothing\""));
}

#[test]
fn a_large_burst_is_the_rate_of_the_line_and_then_a_cliff() {
    let run = |keys: &str| {
        let flow = "[[flow]]\napp = { kind = \"bulk\" }\nfrom = \"net\"\nto = \"home\"\n";
        let text = format!("{}{flow}", text(&format!("rate = \"50 Mbit/s\"\ndelay = \"10 ms\"\n{keys}")));
        let world = Scenario::parse(&text, "line.toml", &[]).unwrap().build("line").unwrap();
        World::new(world, 1, None).unwrap().run(&|| false)
    };
    let queue = "queue = { kind = \"drop-tail\", limit = \"100 packets\" }\n";
    let shaped = run(&format!("{queue}shaper = [\"none\", {{ rate = \"5 Mbit/s\", burst = \"10 MB\" }}]"));
    // 10 MB and 20 s of 5 Mbit/s are 22.5 MB: headers and the start take a little of it.
    let bytes = shaped.flows[0].bytes_delivered as f64;
    assert!((20e6..22.5e6).contains(&bytes), "{bytes}");
    assert!(!shaped.links[1].drops.contains_key("policer"));
    let policed = run(&format!("{queue}policer = {{ rate = \"5 Mbit/s\", burst = \"10 MB\" }}"));
    assert!(policed.links[1].drops["policer"] > 0);
    let colours = policed.links[1].colours.unwrap();
    assert_eq!((colours.yellow, colours.red), (0, policed.links[1].drops["policer"]));
    let json = netspurt_scenario::document::to_json(&policed);
    assert_eq!(json["links"][1]["policed_red"], colours.red);
}
