//! A scenario file is read to what it says, and written back to the same.

use netspurt_scenario::{
    App, Cap, Delay, Directed, Duration, End, Limit, Loss, Queue, Rate, Scenario, Size, TcpTable,
    mechanisms_json, profiles_json, schema,
};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{LossMeans, Recovery, TimerGrain, WindowOption};
use netspurt_tcp::options::Layout;
use netspurt_tcp::profile;
use netspurt_tcp::rto;
use netspurt_tcp::time::Span;
use serde_json::json;

const SATELLITE: &str = include_str!("satellite.toml");
const EVERYTHING: &str = include_str!("everything.toml");

fn read(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    Scenario::parse(text, "test.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_of_the_interface_is_read() {
    let scenario = read(SATELLITE, &[]);
    assert_eq!(scenario.duration, Duration(Span::from_secs(600)));
    assert_eq!(scenario.nodes(), ["earth", "space"]);
    let link = &scenario.link["satellite"];
    assert_eq!(link.rate, Some(Directed::Both(Rate(1_544_000))));
    assert_eq!(link.delay, Directed::Both(Delay::Always(Duration(Span::from_ms(290)))));
    let queue = Queue::DropTail { limit: Limit::Packets(50), mark_above: None };
    assert_eq!(link.queue, Some(Directed::Both(queue)));
    assert_eq!(link.loss.of(0), [Loss::BitError { rate: 1e-6, direction: None }]);
    let flow = &scenario.flow[0];
    assert_eq!(flow.app, App::Bulk { bytes: Some(Size(8 << 20)) });
    assert_eq!((flow.label(), flow.count, flow.start), ("bulk", 1, Duration(Span::ZERO)));
}

#[test]
fn a_host_changes_single_choices_of_its_profile() {
    let scenario = read(SATELLITE, &[]);
    let earth = scenario.tcp_for(0, End::From).expect("valid");
    assert_eq!(earth.receive_window, 156 * 1024);
    assert_eq!(earth.window_option, WindowOption::BigWindow);
    assert_eq!((earth.recovery, earth.loss_means), (Recovery::Nak, LossMeans::Noise));
    assert_eq!(earth.mss, 1024);
    let space = scenario.tcp_for(0, End::To).expect("valid");
    assert_eq!(space, profile::by_name("linux").expect("built in").config);
    assert!(scenario.tcp_for(1, End::To).is_err());
}

#[test]
fn each_key_comes_from_the_nearest_place_that_names_it() {
    let scenario = read(
        SATELLITE,
        &[
            ("tcp.congestion", "reno"),
            ("tcp.retries", "3"),
            ("host.earth.tcp.retries", "4"),
            ("flow.0.tcp.retries", "5"),
            ("host.space.tcp.profile", "newreno"),
        ],
    );
    let earth = scenario.tcp_for(0, End::From).expect("valid");
    assert_eq!(earth.retries, 5);
    assert_eq!(earth.congestion, netspurt_tcp::congestion::Kind::Reno);
    let space = scenario.tcp_for(0, End::To).expect("valid");
    assert_eq!(space.recovery, Recovery::NewReno);
    assert_eq!(space.congestion, netspurt_tcp::congestion::Kind::Reno);
}

#[test]
fn without_a_profile_the_standards_are_followed() {
    let scenario = read(SATELLITE, &[("tcp", "{}"), ("host", "{}")]);
    let config = scenario.tcp_for(0, End::From).expect("valid");
    assert_eq!(config, profile::by_name("rfc").expect("built in").config);
}

#[test]
fn every_key_reaches_the_configuration() {
    let scenario = read(EVERYTHING, &[]);
    let server = scenario.tcp_for(0, End::To).expect("valid");
    assert_eq!((server.mss, server.receive_window, server.send_window), (1000, 100_000, Some(40_000)));
    assert_eq!(server.send_buffer, 65_536);
    assert!(matches!(server.layout, Layout::Shared { kind: 254, nak: 0x4E41, .. }));
    assert!(matches!(server.rto, rto::Kind::Rfc6298 { min, max, .. }
        if min == Span::from_ms(200) && max == Span::from_secs(60)));
    assert_eq!(server.timer_grain, TimerGrain::Ticks { period: Span::from_ms(500), phase: Span::ZERO });
    assert_eq!(server.acking, Acking::Delayed { every: 3, delay: Span::from_ms(200) });
    assert_eq!(server.keep_alive, None);
    assert_eq!(server.user_timeout, Some(Span::from_secs(300)));
    let client = scenario.tcp_for(1, End::From).expect("valid");
    assert!(matches!(client.acking, Acking::FreeTick { every: 2, .. }));
    assert!(matches!(client.rto, rto::Kind::Jacobson88 { min_ticks: 2, max_ticks: 128, .. }));
    assert_eq!(client.keep_alive.map(|probing| probing.probes), Some(9));
    assert_eq!(scenario.nodes(), ["client", "router", "server"]);
    assert_eq!(scenario.link["bottleneck"].loss.of(0).len(), 3);
}

#[test]
fn what_is_written_is_read_to_the_same_scenario() {
    for text in [SATELLITE, EVERYTHING] {
        let scenario = read(text, &[]);
        let written = scenario.merged_toml();
        assert_eq!(read(&written, &[]), scenario, "{written}");
    }
}

#[test]
fn overrides_reach_values_lists_and_what_was_not_there() {
    let scenario = read(
        SATELLITE,
        &[
            ("link.satellite.delay", "\"300 ms\""),
            ("link.satellite.loss.rate", "1e-7"),
            ("flow.0.app.bytes", "1 MB"),
            ("tcp.rto", "linux"),
            ("tcp.rto.min", "100 ms"),
            ("host.space.latency", "40 ms"),
            ("link.satellite.reorder", "{ probability = 0.5, delay = '1 ms' }"),
        ],
    );
    let link = &scenario.link["satellite"];
    assert_eq!(link.delay, Directed::Both(Delay::Always(Duration(Span::from_ms(300)))));
    assert_eq!(link.loss.of(0), [Loss::BitError { rate: 1e-7, direction: None }]);
    assert_eq!(link.reorder.map(|reorder| reorder.of(0).delay), Some(Duration(Span::from_ms(1))));
    assert_eq!(scenario.flow[0].app, App::Bulk { bytes: Some(Size(1_000_000)) });
    assert_eq!(scenario.host["space"].latency, Duration(Span::from_ms(40)));
    let space = scenario.tcp_for(0, End::To).expect("valid");
    assert!(matches!(space.rto, rto::Kind::Linux { min, max, .. }
        if min == Span::from_ms(100) && max == Span::from_secs(120)));
}

#[test]
fn profiles_are_listed_in_the_form_of_a_file() {
    let list = profiles_json();
    let list = list.as_array().expect("a list");
    assert_eq!(list.len(), profile::profiles().len());
    for (row, profile) in list.iter().zip(profile::profiles()) {
        assert_eq!(row["name"], profile.name);
        let table: TcpTable = serde_json::from_value(row["tcp"].clone()).expect("the keys of a file");
        let config = table.config().unwrap_or_else(|error| panic!("{}: {error}", profile.name));
        assert_eq!(config, profile.config, "{}", profile.name);
    }
    assert_eq!(list[0]["tcp"]["acking"]["kind"], "bsd-tick");
    assert_eq!(list[0]["tcp"]["initial_ssthresh"], "infinite");
    let cap: Cap = serde_json::from_value(list[0]["tcp"]["send_window"].clone()).expect("a cap");
    assert_eq!(cap, Cap::Infinite);
}

/// A family of the catalogue of mechanisms.
fn family(name: &str) -> serde_json::Value {
    let list = mechanisms_json();
    let rows = list.as_array().expect("a list");
    rows.iter().find(|row| row["family"] == name).unwrap_or_else(|| panic!("no family {name}")).clone()
}

/// The names of its choices.
fn names(of: &str) -> Vec<String> {
    let choices = family(of)["choices"].as_array().expect("choices").clone();
    choices.iter().map(|choice| choice["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn mechanisms_carry_default_unit_summary_and_document() {
    let rto = family("rto");
    let rfc6298 = &rto["choices"][4];
    assert_eq!(rfc6298["default"], true);
    assert_eq!(rfc6298["document"], "RFC 6298");
    let min = rfc6298["parameters"]
        .as_array()
        .and_then(|list| list.iter().find(|row| row["name"] == "min"))
        .expect("a parameter");
    assert_eq!((min["default"].as_str(), min["unit"].as_str()), (Some("1 s"), Some("time span")));
    for row in mechanisms_json().as_array().expect("a list") {
        assert!(!row["summary"].as_str().expect("a text").is_empty(), "{row}");
    }
}

#[test]
fn mechanisms_list_every_choice() {
    assert_eq!(names("recovery"), ["timeout", "tahoe", "reno", "newreno", "sack", "rack", "nak"]);
    assert_eq!(names("rto"), ["rfc793", "rfc889", "jacobson88", "tahoe", "rfc6298", "linux", "fixed"]);
    assert_eq!(
        names("transmit"),
        [
            "nodelay",
            "nagle-strict",
            "nagle-liberal",
            "minshall",
            "linux22",
            "doupnik",
            "doupnik-liberal",
            "cork"
        ]
    );
    assert_eq!(
        names("acking"),
        ["every-segment", "delayed", "bsd-tick", "delayed-bytes", "bsd-bytes", "quick-start", "adaptive"]
    );
    assert_eq!(
        names("queue"),
        [
            "drop-tail",
            "resend-first",
            "red",
            "codel",
            "fq-codel",
            "pie",
            "docsis-pie",
            "fq-pie",
            "dualpi2",
            "priority",
            "drr",
            "cake"
        ]
    );
    assert_eq!(
        names("app"),
        [
            "bulk",
            "request-response",
            "files",
            "web",
            "arrivals",
            "incast",
            "streams",
            "video",
            "datagrams",
            "call",
            "python"
        ]
    );
    assert_eq!(names("process"), ["poisson", "even", "log-normal"]);
    assert_eq!(names("control"), ["rate", "bola"]);
    assert_eq!(names("codec"), ["g711", "g729a"]);
    assert_eq!(names("playout"), ["adaptive", "fixed"]);
    assert_eq!(names("http"), ["1.0", "1.1"]);
    assert_eq!(
        names("distribution"),
        ["uniform", "exponential", "pareto", "lomax", "log-normal", "weibull", "quantiles"]
    );
}

#[test]
fn the_schema_describes_every_key() {
    fn walk(value: &serde_json::Value, path: &str) {
        if let Some(keys) = value["properties"].as_object() {
            for (key, inner) in keys.iter().filter(|(key, _)| *key != "kind") {
                assert!(inner["description"].is_string(), "{path}/{key} has no description");
            }
        }
        if let Some(map) = value.as_object() {
            map.iter().for_each(|(key, inner)| walk(inner, &format!("{path}/{key}")));
        }
        if let Some(list) = value.as_array() {
            list.iter().for_each(|inner| walk(inner, path));
        }
        assert_ne!(value["type"], "null", "{path} allows null, which TOML has not");
    }
    let schema = schema();
    walk(&schema, "");
    assert_eq!(schema["additionalProperties"], false);
    let rate = &schema["$defs"]["Link"]["properties"]["rate"]["anyOf"];
    assert_eq!(rate[0]["$ref"], "#/$defs/Rate");
    assert_eq!((&rate[1]["items"]["$ref"], &rate[1]["maxItems"]), (&json!("#/$defs/Rate"), &json!(2)));
    assert_eq!(schema["$defs"]["Flow"]["properties"]["count"]["default"], 1);
}
