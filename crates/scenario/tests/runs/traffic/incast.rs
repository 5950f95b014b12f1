//! Many servers that answer one client at the same time.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::{FlowResult, RunResult};

/// A rack behind one port of a switch.
fn text(port: &str, app: &str, tcp: &str) -> String {
    format!(
        "duration = \"20 s\"\n[tcp]\nprofile = \"linux\"\n{tcp}\n[link.rack]\nbetween = [\"servers\", \"switch\"]\n\
        rate = \"40 Gbit/s\"\ndelay = \"10 us\"\n[link.port]\nbetween = [\"switch\", \"client\"]\nrate = \"1 Gbit/s\"\n\
        delay = \"10 us\"\n{port}\n[[flow]]\nfrom = \"client\"\nto = \"servers\"\n\
        app = {{ kind = \"incast\", {app} }}\n"
    )
}

fn run(port: &str, app: &str, tcp: &str) -> RunResult {
    let text = text(port, app, tcp);
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), 1, None).unwrap().run(&|| false)
}

fn only(result: &RunResult) -> &FlowResult {
    &result.flows[0]
}

#[test]
fn a_question_is_over_when_all_have_answered() {
    let result = run("", "size = \"10 kB\", servers = 20, queries = 50, think = \"1 ms\"", "");
    let flow = only(&result);
    let session = flow.session.as_deref().unwrap();
    assert_eq!((session.pages, session.transfers, session.connections), (50, 1000, 20));
    assert_eq!(flow.bytes_delivered, 50 * 20 * 10_000);
    assert!(flow.completed);
    // 200 kB and the headers of 140 segments take 1.66 ms at 1 Gbit/s; the round trip is 40 us.
    let delay = session.page_delay.unwrap();
    assert!((delay.median / 1.70e-3 - 1.0).abs() < 0.03, "{}", delay.median);
    assert!(delay.max >= delay.p99 && delay.p99 >= delay.p95);
}

#[test]
fn new_connections_cost_a_round_trip_and_ports() {
    let app = |connections: &str| {
        format!(
            "size = \"1 kB\", servers = 5, queries = 20, think = \"1 ms\", connections = \"{connections}\""
        )
    };
    let [kept, new] = ["kept", "new"].map(|connections| run("", &app(connections), ""));
    let sessions = [&kept, &new].map(|result| only(result).session.as_deref().unwrap());
    assert_eq!(sessions.map(|session| session.connections), [5, 100]);
    let [kept, new] = sessions.map(|session| session.page_delay.unwrap().median);
    // The round trip is 40 us, and each handshake takes one.
    assert!((new - kept - 42e-6).abs() < 5e-6, "{kept} {new}");
}

#[test]
fn a_short_queue_makes_answers_wait_for_the_retransmission_timer() {
    let port = "queue = { kind = \"drop-tail\", limit = \"60 packets\" }";
    let app = "size = \"64 kB\", servers = 40, queries = 20";
    let worst = |tcp| only(&run(port, app, tcp)).session.as_deref().unwrap().page_delay.unwrap().p95;
    // 2.6 MB take 22 ms, but the least timeout of Linux is 200 ms.
    let usual = worst("");
    assert!(usual > 0.2, "{usual}");
    let fine = worst("rto = { kind = \"linux\", min = \"5 ms\" }");
    assert!(fine < usual / 2.0, "{usual} {fine}");
}

#[test]
fn no_server_is_refused() {
    for (app, words) in
        [("servers = 0, size = \"1 kB\"", "between 1 and 100000"), ("size = \"1 kB\"", "servers")]
    {
        let error = Scenario::parse(&text("", app, ""), "test.toml", &[]).expect_err(app).to_string();
        assert!(error.contains(words) && error.starts_with("test.toml:"), "{app}: {error}");
    }
}
