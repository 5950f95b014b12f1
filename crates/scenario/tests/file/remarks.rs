//! What a correct scenario is told: keys without effect, and what a choice switches on.

use netspurt_scenario::{End, Scenario, Weight};

const GOOD: &str = r#"duration = "10 s"
[link.path]
between = ["a", "b"]
rate = "10 Mbit/s"
[[flow]]
app = { kind = "bulk" }
from = "a"
to = "b"
"#;

fn remarks(overrides: &[(&str, &str)]) -> Vec<(Weight, String)> {
    of(GOOD, overrides)
}

fn of(text: &str, overrides: &[(&str, &str)]) -> Vec<(Weight, String)> {
    let scenario = Scenario::parse(text, "file.toml", overrides).expect("the scenario is correct");
    let remarks = scenario.remarks(text, "file.toml", overrides).into_iter();
    remarks.map(|remark| (remark.weight, remark.place.to_string())).collect()
}

#[test]
fn an_ordinary_scenario_has_none() {
    assert_eq!(remarks(&[]), []);
    assert_eq!(remarks(&[("tcp.profile", "linux"), ("tcp.receive_window", "16 MiB")]), []);
    assert_eq!(remarks(&[("tcp.profile", "newreno"), ("tcp.receive_window", "65535 B")]), []);
    assert_eq!(remarks(&[("tcp.profile", "bbr")]), []);
}

#[test]
fn bbr_switches_pacing_on_with_a_remark() {
    for name in ["bbr", "bbr3"] {
        let overrides = [("tcp.profile", "linux"), ("tcp.congestion", name)];
        let scenario = Scenario::parse(GOOD, "file.toml", &overrides).expect("pacing switches on by itself");
        assert!(scenario.tcp_for(0, End::From).is_ok_and(|config| config.pacing));
        let sentence = format!(
            "--set tcp.congestion: congestion \"{name}\" requires pacing, which is switched on: pacing = true"
        );
        assert_eq!(remarks(&overrides), [(Weight::Note, sentence)]);
    }
}

#[test]
fn dctcp_switches_ecn_on_with_a_remark() {
    let overrides = [("tcp.congestion", "dctcp")];
    let scenario = Scenario::parse(GOOD, "file.toml", &overrides).expect("ECN switches on by itself");
    assert!(scenario.tcp_for(0, End::From).is_ok_and(|config| config.ecn.asks()));
    let sentence =
        "--set tcp.congestion: congestion \"dctcp\" requires ecn, which is switched on: ecn = \"rfc3168\"";
    assert_eq!(remarks(&overrides), [(Weight::Note, sentence.to_owned())]);
}

#[test]
fn switching_off_a_required_mechanism_is_refused() {
    for overrides in [
        [("tcp.congestion", "bbr"), ("tcp.pacing", "false")],
        [("tcp.congestion", "dctcp"), ("tcp.ecn", "off")],
    ] {
        let error = Scenario::parse(GOOD, "file.toml", &overrides).expect_err("a contradiction");
        assert!(error.message.contains("requires"), "{error}");
    }
}

#[test]
fn a_window_that_no_option_announces_is_placed() {
    let text = GOOD
        .replace("[[flow]]", "[host.b.tcp]\nprofile = \"newreno\"\nreceive_window = \"16 MiB\"\n[[flow]]");
    assert_eq!(
        of(&text, &[]),
        [(
            Weight::Warning,
            "file.toml:7:1: a receive_window of 16 MiB is announced as 65535 bytes at most: window_option of profile \
             \"newreno\" is \"none\"; set window_option = \"rfc7323\" (window scaling) at both ends"
                .to_owned()
        )]
    );
    assert_eq!(of(&text, &[("tcp.window_option", "rfc7323")]), []);
    let one_end = [("host.b.tcp.window_option", "rfc7323"), ("host.a.tcp.window_option", "none")];
    let found = of(&text, &one_end);
    assert!(found[0].1.contains("the other end, \"a\", has another window_option"), "{found:?}");
}

#[track_caller]
fn warns(overrides: &[(&str, &str)], sentence: &str) {
    let found = remarks(overrides);
    assert!(
        found.iter().any(|(weight, text)| *weight == Weight::Warning && text.contains(sentence)),
        "{sentence:?} is not among {found:?}"
    );
}

#[test]
fn keys_without_effect_are_named_with_what_they_require() {
    warns(
        &[("tcp.hystart", "rfc9406"), ("tcp.congestion", "reno")],
        "hystart has no effect: it requires congestion",
    );
    warns(&[("tcp.reordering_tick", "4 ms"), ("tcp.recovery", "newreno")], "requires recovery = \"rack\"");
    warns(&[("tcp.rto_tick", "4 ms"), ("tcp.tail_loss_probe", "false")], "tail_loss_probe = true");
    warns(&[("tcp.paced_bursts", "true"), ("tcp.pacing", "false")], "pacing = true and push_bursts = true");
    warns(&[("tcp.base_mss", "1024 B"), ("tcp.path_mtu_discovery", "icmp")], "base_mss has no effect");
    warns(
        &[("tcp.dup_ack_threshold", "4"), ("tcp.recovery", "timeout")],
        "a recovery other than \"timeout\"",
    );
    warns(&[("tcp.slow_start_per_ack", "1"), ("tcp.congestion", "none")], "slow_start_per_ack has no effect");
    warns(&[("tcp.profile", "linux"), ("tcp.congestion", "bbr"), ("tcp.prr", "true")], "prr has no effect");
    warns(&[("tcp.option_layout", "shared")], "option_layout has no effect");
    warns(
        &[("flow.0.start", "10 s")],
        "flow.0 starts at 10 s, and the simulation ends at 10 s: it never starts",
    );
}

#[test]
fn a_queue_before_an_infinitely_fast_link_is_placed() {
    let text =
        GOOD.replace("rate = \"10 Mbit/s\"", "queue = { kind = \"drop-tail\", limit = \"50 packets\" }");
    assert_eq!(
        of(&text, &[]),
        [(
            Weight::Warning,
            "file.toml:4:1: queue of link \"path\" has no effect: without a rate the link is infinitely fast and no packet \
             waits; set rate"
                .to_owned()
        )]
    );
}

#[test]
fn choices_of_a_router_have_no_effect() {
    let text = GOOD.replace(
        "[[flow]]",
        "[link.second]\nbetween = [\"b\", \"c\"]\n[host.b.tcp]\nprofile = \"linux\"\n[[flow]]",
    );
    let text = text.replace("to = \"b\"", "to = \"c\"");
    let found = of(&text, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("file.toml:7:9: no flow starts or ends at \"b\""), "{found:?}");
}
