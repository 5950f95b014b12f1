//! Files over one connection with windows of the application's own.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::RunResult;

fn parse(app: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"10 min\"\n[tcp]\nprofile = \"linux\"\ntransmit = \"nodelay\"\n[link.l]\nbetween = [\"client\", \"server\"]\n\
        rate = \"1 Gbit/s\"\ndelay = \"50 ms\"\n\
        [[flow]]\nfrom = \"client\"\nto = \"server\"\napp = {{ kind = \"streams\", {app} }}\n"
    );
    Scenario::parse(&text, "test.toml", &[]).map_err(|error| error.to_string())
}

fn run(app: &str) -> RunResult {
    let scenario = parse(app).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), 1, None).unwrap().run(&|| false)
}

/// The closed form: each round trip, and while half a window is transmitted, a whole window is delivered.
fn expected(bytes: f64, window: f64) -> f64 {
    let half_s = window / 2.0 * 8.0 / 1e9;
    bytes / window * (0.1 + half_s)
}

#[test]
fn a_window_of_the_application_sets_the_pace() {
    for (app, bytes, window) in [
        ("bytes = \"10 MB\"", 10_000_000, 65_535.0),
        ("bytes = \"10 MB\", window = \"1 MB\"", 10_000_000, 65_535.0),
        ("bytes = \"40 MB\", window = \"1 MB\", connection_window = \"400 kB\"", 40_000_000, 4e5),
        ("bytes = \"5 MB\", streams = 4, window = \"50 kB\", connection_window = \"1 MB\"", 20_000_000, 2e5),
    ] {
        let result = run(app);
        let flow = &result.flows[0];
        assert!(flow.completed, "{app}");
        assert_eq!(flow.bytes_delivered, bytes, "{app}");
        let (took, expected) = (flow.delivered_s.or(flow.end_s).unwrap(), expected(bytes as f64, window));
        // The handshake and slow start come first.
        assert!(took > expected && took < 1.03 * expected + 1.0, "{app}: {took} s instead of {expected} s");
    }
}

#[test]
fn keys_that_streams_must_not_have_are_refused() {
    for (app, key, words) in [
        ("bytes = \"1 MB\", window = \"1 B\"", "window", "2^31 - 1"),
        ("bytes = \"1 MB\", connection_window = \"3 GB\"", "connection_window", "2^31 - 1"),
        ("bytes = \"1 MB\", streams = 0", "streams", "between 1 and 100000"),
        ("bytes = \"0 B\"", "bytes", "1 at least"),
        ("streams = 2", "bytes", "missing"),
    ] {
        let error = parse(app).expect_err(app);
        assert!(error.contains(key) && error.contains(words) && error.contains("test.toml:"), "{error}");
    }
}
