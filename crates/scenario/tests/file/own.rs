//! Algorithms of the user's own: the built-in ones, brought in from outside, do what they do inside.

use netspurt_scenario::{Algorithms, Scenario, ScenarioError};
use netspurt_sim::World;
use netspurt_sim::host::app::{Action, AppSpec, Application};
use netspurt_sim::host::own::Make;
use netspurt_tcp::Connection;
use netspurt_tcp::config::{Counting, Grows, Growth};
use netspurt_tcp::congestion::{CongestionControl, Reno, Signal, Start, View};
use netspurt_tcp::reason::Hold;
use netspurt_tcp::rto::{Estimator, Kind, RtoEstimator};
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::{Policy, Situation, Transmit};
use std::sync::Arc;

const SCENARIO: &str = r#"
duration = "30 s"

[tcp]
profile = "reno"
initial_window = "2 segments"

[link.line]
between = ["a", "b"]
rate = "2 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "15 packets" }
loss = { kind = "packet-error", rate = 0.02 }

[[flow]]
app = { kind = "bulk", bytes = "1 MiB" }
from = "a"
to = "b"

[[flow]]
app = { kind = "request-response", request = "300 B", response = "5000 B", exchanges = 40 }
from = "a"
to = "b"
"#;

/// Reno, which begins as it is told.
#[derive(Debug)]
struct OwnReno(Growth, Reno);

impl CongestionControl for OwnReno {
    fn begin(&mut self, start: &Start) {
        self.1 = Reno::new(start.cwnd, start.ssthresh, self.0);
    }
    fn on(&mut self, signal: Signal, view: &View) {
        self.1.on(signal, view);
    }
    fn cwnd(&self) -> u32 {
        self.1.cwnd()
    }
    fn ssthresh(&self) -> u32 {
        self.1.ssthresh()
    }
}

/// Nagle's rule, under a reason of its own.
#[derive(Debug)]
struct OwnNagle;

impl Policy for OwnNagle {
    fn hold(&self, s: &Situation) -> Option<Hold> {
        Transmit::NagleStrict.hold(s).map(|_| Hold::Own)
    }
    fn is_released_by_acks(&self) -> bool {
        true
    }
}

/// Writes a mebibyte as room comes, and closes.
#[derive(Debug)]
struct OwnBulk {
    closed: bool,
    done: Time,
}

impl Application for OwnBulk {
    fn next(&mut self, now: Time, _: &AppSpec, connection: &Connection) -> Action {
        let left = (1 << 20) - connection.written();
        if left == 0 && !self.closed {
            self.closed = true;
            return Action::Close;
        }
        if self.done.is_never() && connection.acknowledged() >= 1 << 20 {
            self.done = now;
        }
        let room = connection.room();
        if left > 0 && room > 0 && room >= left.min(connection.send_buffer() / 64) {
            return Action::Write(left.min(room));
        }
        Action::Wait(Time::NEVER)
    }
    fn done(&self) -> Time {
        self.done
    }
}

struct Given;

fn only<T>(known: &str, name: &str, made: T) -> Result<T, String> {
    if name == known { Ok(made) } else { Err(format!("\"{name}\" is not \"{known}\"")) }
}

impl Algorithms for Given {
    fn congestion(&self, name: &str) -> Result<Make<dyn CongestionControl>, String> {
        let growth = Growth { grows: Grows::Always, counting: Counting::Acks, slow_start_per_ack: 1 };
        only("reno", name, Arc::new(move || Box::new(OwnReno(growth, Reno::new(1, 1, growth)))))
    }
    fn rto(&self, name: &str) -> Result<Make<dyn RtoEstimator>, String> {
        let (min, max, initial) = (Span::from_secs(1), Span::from_secs(60), Span::from_secs(1));
        let kind = Kind::Rfc6298 { min, max, initial, granularity: Span::from_ms(1) };
        only("rfc6298", name, Arc::new(move || Box::new(Estimator::new(kind))))
    }
    fn transmit(&self, name: &str) -> Result<Make<dyn Policy>, String> {
        only("nagle", name, Arc::new(|| Box::new(OwnNagle)))
    }
    fn application(&self, name: &str) -> Result<Make<dyn Application>, String> {
        only("bulk", name, Arc::new(|| Box::new(OwnBulk { closed: false, done: Time::NEVER })))
    }
}

fn digest(overrides: &[(&str, &str)]) -> String {
    let spec = Scenario::parse(SCENARIO, "own", overrides).unwrap().build_with("own", &Given).unwrap();
    World::new(spec, 7, None).unwrap().run(&|| false).digest
}

#[test]
fn a_built_in_algorithm_installed_from_outside_gives_the_same_run() {
    for (path, built_in, own) in [
        ("tcp.congestion", "reno", "python:reno"),
        ("tcp.rto", "rfc6298", "python:rfc6298"),
        ("tcp.transmit", "nagle-strict", "python:nagle"),
        (
            "flow.0.app",
            "{ kind = \"bulk\", bytes = \"1 MiB\" }",
            "{ kind = \"python\", client = \"python:bulk\" }",
        ),
    ] {
        let fixed = [("tcp.counting", "acks"), ("tcp.cwnd_grows", "always")];
        let with = |choice| digest(&[&fixed[..], &[(path, choice)]].concat());
        assert_eq!(with(built_in), with(own), "{path}");
    }
}

fn refusal(overrides: &[(&str, &str)], own: &dyn Algorithms) -> ScenarioError {
    Scenario::parse(SCENARIO, "own", overrides).unwrap().build_with("own", own).unwrap_err()
}

#[test]
fn a_missing_algorithm_is_reported_with_its_place() {
    let error = refusal(&[("host.a.tcp.congestion", "python:cubik")], &Given);
    assert_eq!(error.to_string(), "own: flow 0: tcp.congestion: \"cubik\" is not \"reno\"");
    let app = ("flow.1.app", "{ kind = \"python\", client = \"python:bulk\", server = \"python:x\" }");
    assert_eq!(refusal(&[app], &Given).to_string(), "own: flow 1: app.server: \"x\" is not \"bulk\"");
    let error =
        Scenario::parse(SCENARIO, "own", &[("tcp.rto", "python:mine")]).unwrap().build("own").unwrap_err();
    assert!(error.message.contains("no algorithm \"mine\" was given"), "{error}");
}

#[test]
fn a_merged_scenario_names_it_as_before() {
    let scenario = Scenario::parse(SCENARIO, "own", &[("tcp.rto", "python:mine")]).unwrap();
    assert!(scenario.merged_toml().contains("rto = \"python:mine\""), "{}", scenario.merged_toml());
    assert_eq!(Scenario::parse(&scenario.merged_toml(), "own", &[]).unwrap(), scenario);
}

#[test]
fn an_invalid_name_is_refused_with_its_place() {
    let error = Scenario::parse(SCENARIO, "own", &[("tcp.congestion", "\"python: no\"")]).unwrap_err();
    assert!(error.to_string().contains("names no algorithm"), "{error}");
    let error = Scenario::parse(SCENARIO, "own", &[("tcp.recovery", "python:mine")]).unwrap_err();
    assert!(error.to_string().contains("unknown name"), "{error}");
}
