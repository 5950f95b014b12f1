//! Flows without a connection: what arrives, how late, and what a call sounds like.

use netspurt_scenario::{Scenario, ScenarioError};
use netspurt_sim::World;
use netspurt_sim::record::datagrams::DatagramResult;
use netspurt_sim::record::result::{FlowResult, RunResult};

fn run_with(seed: u64, link: &str, flows: &str) -> RunResult {
    let text = format!("duration = \"20 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\n{link}\n{flows}");
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), seed, None).unwrap().run(&|| false)
}

fn run(link: &str, flows: &str) -> RunResult {
    run_with(1, link, flows)
}

fn flow(app: &str) -> String {
    format!("[[flow]]\nfrom = \"a\"\nto = \"b\"\napp = {{ {app} }}\n")
}

fn of(flow: &FlowResult) -> &DatagramResult {
    flow.datagrams.as_deref().expect("the flow sends datagrams")
}

fn measure(result: &DatagramResult, name: &str) -> f64 {
    let all = result.measures();
    all.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value).expect(name)
}

#[test]
fn a_datagram_takes_its_transmission_and_propagation_time() {
    // 1250 octets with both headers take 1 ms at 10 Mbit/s.
    let result = run(
        "rate = \"10 Mbit/s\"\ndelay = \"20 ms\"",
        &flow("kind = \"datagrams\", size = \"1222 B\", interval = \"10 ms\", packets = 100"),
    );
    let got = of(&result.flows[0]);
    assert_eq!((got.sent, got.received, got.lost, got.under_way), (100, 100, 0, 0));
    assert!((measure(got, "delay_min_s") - 0.021).abs() < 1e-12);
    assert!((measure(got, "delay_max_s") - 0.021).abs() < 1e-12);
    assert!(measure(got, "jitter_s").abs() < 1e-15);
    assert_eq!(result.flows[0].bytes_delivered, 122_200);
    assert!(result.flows[0].completed);
    assert!((result.flows[0].end_s.unwrap() - 0.99).abs() < 1e-9, "the last one left then");
    assert_eq!(result.links[0].packets, 100);
    assert_eq!(result.links[0].bytes, 125_000);
}

#[test]
fn too_high_a_rate_fills_the_queue_and_loses_the_rest() {
    let result = run(
        "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = { kind = \"drop-tail\", limit = \"10 packets\" }",
        &flow("kind = \"datagrams\", size = \"1222 B\", rate = \"1.955200 Mbit/s\""),
    );
    // 200 datagrams a second are offered; 100 a second fit.
    let got = of(&result.flows[0]);
    assert_eq!(got.sent, 4001);
    assert!((measure(got, "datagram_loss") - 0.5).abs() < 0.01, "{got:?}");
    assert_eq!(got.sent, got.received + got.lost + got.under_way);
    assert_eq!(got.lost, result.links[0].drops["queue"]);
    // Ten wait and one is sent: 11 times 10 ms, and the propagation.
    assert!((measure(got, "delay_max_s") - 0.111).abs() < 0.0101, "{}", measure(got, "delay_max_s"));
    assert!(!result.flows[0].completed);
}

#[test]
fn a_poisson_process_waits_as_an_m_d_1_queue_does() {
    // Load 0.8 of 1 ms services: the mean wait is rho / (2 (1 - rho)) = 2 ms.
    let app =
        "kind = \"datagrams\", size = \"1222 B\", interval = { kind = \"exponential\", mean = \"1.25 ms\" }";
    let mut waits = Vec::new();
    for seed in 1..=20 {
        let result = run_with(seed, "rate = \"10 Mbit/s\"", &flow(app));
        waits.push(measure(of(&result.flows[0]), "delay_mean_s") - 0.001);
    }
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    let spread = waits.iter().map(|wait| (wait - mean).powi(2)).sum::<f64>().sqrt() / waits.len() as f64;
    assert!((mean - 0.002).abs() < 4.0 * spread, "{mean} ± {spread}");
}

#[test]
fn every_datagram_sent_arrives_is_lost_or_is_in_flight() {
    for seed in 1..=40 {
        let link = "rate = \"2 Mbit/s\"\ndelay = \"300 ms\"\n\
            queue = { kind = \"fq-codel\" }\n\
            loss = { kind = \"packet-error\", rate = 0.05 }\n\
            duplicate = { probability = 0.1 }\ncorrupt = { probability = 0.05 }\n\
            reorder = { probability = 0.1, delay = \"50 ms\" }";
        let app = "kind = \"datagrams\", size = { kind = \"uniform\", min = \"20 B\", max = \"1400 B\" }, \
            rate = \"3 Mbit/s\", on = { kind = \"pareto\", min = \"100 ms\", shape = 1.5, max = \"5 s\" }, \
            off = { kind = \"exponential\", mean = \"300 ms\" }";
        let flows = format!("{}{}{}", flow(app), flow("kind = \"bulk\""), flow(app));
        let result = run_with(seed, link, &flows);
        for flow in result.flows.iter().filter(|flow| &*flow.flow == "datagrams") {
            let got = of(flow);
            assert!(got.sent > 100, "seed {seed}: {got:?}");
            assert_eq!(got.sent, got.received + got.lost + got.under_way, "seed {seed}");
            assert!(got.duplicated > 0 && got.reordered > 0 && got.lost > 0, "seed {seed}: {got:?}");
        }
        assert!(result.flows[1].datagrams.is_none());
        let group = result.groups.iter().find(|group| &*group.flow == "datagrams").unwrap();
        let both = group.datagrams.as_ref().unwrap();
        let sum: u64 =
            result.flows.iter().filter_map(|flow| flow.datagrams.as_ref()).map(|one| one.received).sum();
        assert_eq!(both.received, sum);
        assert_eq!(both.delays.count(), sum);
        let again = run_with(seed, link, &flows);
        assert_eq!(result.digest, again.digest, "seed {seed}");
    }
}

#[test]
fn datagrams_do_not_change_the_random_numbers_of_others() {
    let link = "rate = \"100 Mbit/s\"\ndelay = \"5 ms\"";
    let web = flow("kind = \"files\", size = { kind = \"exponential\", mean = \"20 kB\" }");
    let alone = run(link, &web);
    let calls =
        run(link, &format!("{web}{}", flow("kind = \"datagrams\", interval = \"1 s\", size = \"1 B\"")));
    let asked = |result: &RunResult| result.flows[0].bytes_asked;
    let close = (asked(&alone).unwrap() as f64 / asked(&calls).unwrap() as f64 - 1.0).abs();
    assert!(close < 0.01, "{close}");
}

#[test]
fn a_queue_marks_datagrams_that_may_be_marked() {
    let link = "rate = \"1 Mbit/s\"\nqueue = { kind = \"codel\", ecn = true }";
    let app = "kind = \"datagrams\", rate = \"1.2 Mbit/s\", ecn = \"ect0\"";
    let marked = run(link, &flow(app));
    assert!(of(&marked.flows[0]).marked > 10, "{:?}", of(&marked.flows[0]));
    let dropped = run(link, &flow("kind = \"datagrams\", rate = \"1.2 Mbit/s\""));
    assert_eq!(of(&dropped.flows[0]).marked, 0);
    assert!(of(&dropped.flows[0]).lost > 10);
}

#[test]
fn a_call_on_an_idle_path_is_as_good_as_its_codec() {
    let link = "rate = \"10 Mbit/s\"\ndelay = \"20 ms\"";
    let result =
        run(link, &format!("{}{}", flow("kind = \"call\""), flow("kind = \"call\", codec = \"g729a\"")));
    let [g711, g729] = [0, 1].map(|flow| of(&result.flows[flow]).call.unwrap());
    assert!((g711.opinion - 4.41).abs() < 0.01, "{g711:?}");
    assert_eq!((g711.late, g711.loss), (0, 0.0));
    // A frame, as much in the playout buffer, 20 ms of propagation and a packet of 200 octets.
    assert!((g711.mouth_to_ear_s.unwrap() - 0.060_16).abs() < 1e-4, "{g711:?}");
    assert!((g729.rating - (93.2 - 11.0)).abs() < 0.01, "{g729:?}");
    assert_eq!(of(&result.flows[0]).sent_bytes / of(&result.flows[0]).sent, 172);
}

#[test]
fn a_call_suffers_from_a_download_behind_a_large_buffer_and_not_behind_cake() {
    let call =
        "[[flow]]\nname = \"call\"\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"call\" }\nstart = \"1 s\"\n";
    let flows = format!("{call}{}[tcp]\nprofile = \"linux\"\n", flow("kind = \"bulk\""));
    let line = "rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n";
    let opinion = |queue: &str| {
        let result = run(&format!("{line}{queue}"), &flows);
        of(&result.flows[0]).call.unwrap().opinion
    };
    let bloated = opinion("queue = { kind = \"drop-tail\", limit = \"1000 packets\" }");
    let cake = opinion("queue = { kind = \"cake\" }");
    assert!(bloated < 3.0, "{bloated}");
    assert!(cake > 4.2, "{cake}");
}

#[test]
fn a_recording_is_played_from_the_start_of_the_flow() {
    let app = "kind = \"datagrams\", recording = { times = [\"0 s\", \"5 ms\", \"1 s\"], sizes = [\"10 B\", \"20 B\", \"30 B\"] }";
    let result = run("delay = \"1 ms\"", &format!("{}start = \"2 s\"\n", flow(app)));
    let got = of(&result.flows[0]);
    assert_eq!((got.sent, got.sent_bytes, result.flows[0].end_s), (3, 60, Some(3.0)));
}

fn refused(app: &str) -> String {
    let text = format!("duration = \"1 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\n{}", flow(app));
    let error: ScenarioError = Scenario::parse(&text, "test.toml", &[]).expect_err(app);
    assert!(error.line.is_some() && error.column.is_some(), "{error}");
    error.message
}

#[test]
fn keys_that_a_flow_of_datagrams_must_not_have_are_refused_with_their_place() {
    for (app, said) in [
        ("kind = \"datagrams\"", "datagrams need a \"rate\", an \"interval\" or a \"recording\""),
        (
            "kind = \"datagrams\", rate = \"1 Mbit/s\", interval = \"1 ms\"",
            "by rate, by interval, or by recording",
        ),
        ("kind = \"datagrams\", rate = \"0 bit/s\"", "a rate of zero sends nothing"),
        ("kind = \"datagrams\", interval = \"0 ms\"", "above zero"),
        ("kind = \"datagrams\", rate = \"1 Mbit/s\", size = \"70 kB\"", "65507 B at most"),
        ("kind = \"datagrams\", rate = \"1 Mbit/s\", on = \"1 s\"", "\"on\" needs \"off\""),
        ("kind = \"datagrams\", rate = \"1 Mbit/s\", off = \"1 s\"", "\"off\" needs \"on\""),
        ("kind = \"datagrams\", recording = { times = [\"0 s\"] }", "one size for each time"),
        (
            "kind = \"datagrams\", recording = { times = [\"2 s\", \"1 s\"], sizes = [\"1 B\", \"1 B\"] }",
            "times must not fall",
        ),
        ("kind = \"datagrams\", recording = { file = \"x.csv\" }", "\"x.csv\" cannot be read"),
        ("kind = \"datagrams\", rates = \"1 Mbit/s\"", "rate"),
        ("kind = \"call\", frame = \"1 ms\"", "5 ms to 200 ms of speech"),
        ("kind = \"call\", codec = \"g712\"", "g711"),
    ] {
        let message = refused(app);
        assert!(message.contains(said), "{app}: {message}");
    }
}

#[test]
fn a_recording_is_read_from_a_file_and_becomes_part_of_the_scenario() {
    let app = "kind = \"datagrams\", recording = { file = \"r.csv\" }";
    let text = format!("duration = \"1 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\n{}", flow(app));
    let files = |_: &str| Ok("time_s,bytes\n0,100\n0.5,200\n".to_owned());
    let scenario = Scenario::parse_with(&text, "test.toml", &[], &files).unwrap();
    let merged = scenario.merged_toml();
    assert_eq!(Scenario::parse(&merged, "merged", &[]).unwrap(), scenario, "{merged}");
    let bad = |_: &str| Ok("time_s,bytes\n0,100\n0,200\n".to_owned());
    let error = Scenario::parse_with(&text, "test.toml", &[], &bad).unwrap_err();
    assert!(error.message.contains("line 3") && error.message.contains("times must rise"), "{error}");
}

#[test]
fn choices_about_tcp_of_datagrams_are_remarked() {
    let text = format!(
        "duration = \"1 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\n{}tcp = {{ profile = \"reno\" }}\n",
        flow("kind = \"call\"")
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap();
    let remarks = scenario.remarks(&text, "test.toml", &[]);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].place.message.contains("tcp of flow.0 has no effect"), "{remarks:?}");
}
