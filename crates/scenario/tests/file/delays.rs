//! Delays that vary, in a file.

use netspurt_scenario::Scenario;
use netspurt_sim::network::delay::{DelaySpec, Drawn, Kind, Recorded, Shape, Steps, Walk};
use netspurt_sim::spec::ChannelSpec;
use netspurt_tcp::time::Span;
use std::sync::Arc;

const CSV: &str = "time_s,delay_ms\n0,10\n15,40.5\n30,20\n";

fn files(name: &str) -> Result<String, String> {
    match name {
        "delays.csv" => Ok(CSV.to_owned()),
        "backwards.csv" => Ok(CSV.replace("30,", "12,")),
        "rates.csv" => Ok("time_s,rate_bps\n0,1\n5,1\n4,2\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn text(delay: &str) -> String {
    format!("[link.line]\nbetween = [\"home\", \"net\"]\n{delay}\n")
}

#[track_caller]
fn read(delay: &str) -> [ChannelSpec; 2] {
    let text = text(delay);
    let scenario =
        Scenario::parse_with(&text, "line.toml", &[], &files).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    scenario.build("line").unwrap().links[0].directions.clone()
}

#[track_caller]
fn refused(delay: &str) -> String {
    Scenario::parse_with(&text(delay), "line.toml", &[], &files).unwrap_err().to_string()
}

const fn ms(n: u64) -> Span {
    Span::from_ms(n)
}

#[test]
fn every_kind_is_read() {
    let varies = |kind, reorders| Some(DelaySpec { kind, reorders });
    let [there, back] = read(
        "delay = [\"5 ms\", { kind = \"normal\", mean = \"50 ms\", sd = \"5 ms\", correlation = 0.3, reorders = true }]",
    );
    assert_eq!((there.delay, there.varies), (ms(5), None));
    let shape = Shape::Normal { mean: ms(50), sd: ms(5) };
    assert_eq!(
        (back.delay, back.varies),
        (ms(50), varies(Kind::Drawn(Drawn { shape, correlation: 0.3 }), true))
    );
    let [there, back] = read(
        "delay = [{ kind = \"uniform\", min = \"10 ms\", max = \"30 ms\" }, { kind = \"pareto\", min = \"10 ms\", shape = 2.5 }]",
    );
    let uniform = Shape::Uniform { min: ms(10), max: ms(30) };
    assert_eq!(
        (there.delay, there.varies),
        (ms(20), varies(Kind::Drawn(Drawn { shape: uniform, correlation: 0.0 }), false))
    );
    let pareto = Shape::Pareto { min: ms(10), shape: 2.5, max: Span::from_secs(10) };
    assert_eq!(back.varies, varies(Kind::Drawn(Drawn { shape: pareto, correlation: 0.0 }), false));
    let [there, back] = read(
        "delay = [{ kind = \"walk\", start = \"30 ms\", step = \"1 ms\", every = \"10 ms\", min = \"20 ms\", max = \"60 ms\" }, \
         { kind = \"steps\", every = \"15 s\", min = \"20 ms\", max = \"60 ms\" }]",
    );
    let walk = Walk { start: ms(30), step: ms(1), every: ms(10), min: ms(20), max: ms(60) };
    assert_eq!((there.delay, there.varies), (ms(30), varies(Kind::Walk(walk), false)));
    let steps = Steps { every: Span::from_secs(15), min: ms(20), max: ms(60) };
    assert_eq!((back.delay, back.varies), (ms(40), varies(Kind::Steps(steps), false)));
    let [there, _] = read(
        "delay = { kind = \"quantiles\", probabilities = [0, 0.5, 1], values = [\"1 ms\", \"2 ms\", \"9 ms\"] }",
    );
    assert!(matches!(
        there.varies,
        Some(DelaySpec { kind: Kind::Drawn(Drawn { shape: Shape::Quantiles(_), .. }), .. })
    ));
    let [there, _] = read("delay = { kind = \"recording\", file = \"delays.csv\", repeat = \"45 s\" }");
    let second = 1_000_000_000_000;
    let values = [(0, ms(10)), (15 * second, Span::from_us(40_500)), (30 * second, ms(20))];
    let recorded = Recorded::new(&values, Some(45 * second)).unwrap();
    assert_eq!(there.varies, varies(Kind::Recorded(Arc::new(recorded)), false));
}

#[test]
fn a_recording_that_goes_backwards_in_time_is_refused_with_its_row() {
    assert_eq!(
        refused("delay = { kind = \"recording\", file = \"backwards.csv\" }"),
        "line.toml:3:38: the delay of link \"line\": \"backwards.csv\", line 4: 12 s comes after 15 s: times must rise"
    );
    assert_eq!(
        refused(
            "delay = [\"1 ms\", { kind = \"recording\", times = [\"0 s\", \"2 s\", \"1 s\"], delays = [\"1 ms\", \"1 ms\", \"1 ms\"] }]"
        ),
        "line.toml:3:48: the delay of link \"line\": row 3: 1 s comes after 2 s: times must rise"
    );
    assert_eq!(
        refused("trace = { kind = \"rates\", file = \"rates.csv\" }"),
        "line.toml:3:34: the recording of link \"line\": \"rates.csv\", line 4: 4 s comes after 5 s: times must rise"
    );
    assert!(
        refused("delay = { kind = \"recording\", file = \"rates.csv\" }")
            .contains("the columns time_s and one of delay_ms")
    );
}

#[test]
fn delays_that_make_no_sense_are_placed() {
    assert_eq!(
        refused("delay = { kind = \"uniform\", min = \"3 ms\", max = \"2 ms\" }"),
        "line.toml:3:49: the delay of link \"line\": the greatest delay, 2 ms, is below the least, 3 ms"
    );
    assert!(
        refused("delay = { kind = \"normal\", mean = \"3 ms\", sd = \"2 ms\", correlation = 1 }")
            .contains("never varies")
    );
    assert!(
        refused("delay = { kind = \"pareto\", min = \"0 s\", shape = 2.0 }")
            .contains("give a least delay above it")
    );
    assert!(
        refused("delay = { kind = \"steps\", every = \"0 s\", min = \"0 s\", max = \"2 ms\" }")
            .contains("a period of 0")
    );
    assert!(
        refused("delay = { kind = \"norml\" }").contains("unknown kind \"norml\": did you mean \"normal\"?")
    );
    assert!(
        refused("delay = { kind = \"steps\", every = \"1 s\", min = \"0 s\", max = \"2 ms\" }\n[[change]]\nat = \"1 s\"\nset = { \"link.line.delay\" = \"1 ms\" }")
            .contains("the delay of link \"line\" varies by itself")
    );
    let walk = "delay = { kind = \"walk\", start = \"1 ms\", step = \"1 ms\", every = \"1 s\", min = \"2 ms\", max = \"3 ms\" }";
    assert!(refused(walk).contains("it begins at 1 ms, which is not between 2 ms and 3 ms"));
}
