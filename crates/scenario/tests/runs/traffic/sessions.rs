//! Sessions: clients that open connection after connection.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, End, PageFetched, Recorder, Wants};
use netspurt_sim::record::result::{FlowResult, RunResult, SessionResult};
use std::sync::{Arc, Mutex};

/// Two hosts, 100 ms apart there and back, and a client. Bits take no time, so that delays are whole round trips.
const FREE: &str = r#"duration = "100 s"
[link.l]
between = ["a", "b"]
delay = "50 ms"
[tcp]
profile = "newreno"
[[flow]]
app = { kind = "web", files = 4, size = "1000 B", think = "1 s", pages = 5 }
from = "a"
to = "b"
"#;

/// Sixteen clients and a narrow link that loses packets of its own.
const CROWD: &str = r#"duration = "40 s"
[link.l]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop-tail", limit = "20 packets" }
loss = { kind = "packet-error", rate = 0.01 }
[tcp]
profile = "newreno"
[[flow]]
name = "web"
count = 8
from = "a"
to = "b"
[flow.app]
kind = "web"
files = { kind = "uniform", min = 1, max = 6 }
size = { kind = "lomax", median = "1500 B", shape = 1.2, max = "100 kB" }
think = { kind = "exponential", mean = "100 ms" }
pages = 40
[[flow]]
name = "modern"
count = 4
from = "a"
to = "b"
[flow.app]
kind = "web"
files = { kind = "uniform", min = 1, max = 6 }
size = { kind = "lomax", median = "1500 B", shape = 1.2, max = "100 kB" }
think = { kind = "exponential", mean = "100 ms" }
pages = 40
http = { kind = "1.1", order = "pipelined", lasts = "session" }
[[flow]]
name = "files"
count = 4
app = { kind = "files", size = "20 kB", transfers = 40, closes = "client" }
from = "a"
to = "b"
"#;

fn world(text: &str, overrides: &[(&str, &str)], seed: u64, wants: Wants) -> World {
    let scenario = Scenario::parse(text, "test.toml", overrides).unwrap_or_else(|error| panic!("{error}"));
    let recorder = (wants != Wants::NOTHING).then(|| Recorder::new(wants));
    World::new(scenario.build("test").unwrap(), seed, recorder).unwrap()
}

fn run(text: &str, overrides: &[(&str, &str)], seed: u64) -> RunResult {
    world(text, overrides, seed, Wants::NOTHING).run(&|| false)
}

fn session(flow: &FlowResult) -> &SessionResult {
    flow.session.as_deref().expect("a session")
}

/// The pages of a run, each with its delay in round trips of 100 ms.
#[track_caller]
fn round_trips(overrides: &[(&str, &str)]) -> Vec<f64> {
    // Windows wide enough for every file, and no waiting for ACKs: a tail of one reply would wait behind another.
    let wide = [("tcp.initial_window", "10 segments"), ("tcp.transmit", "nodelay")];
    let result = world(FREE, &[&wide, overrides].concat(), 1, Wants::PAGES).run(&|| false);
    let pages = &result.recording.pages;
    assert_eq!(pages.len() as u64, session(&result.flows[0]).pages);
    pages.iter().map(|page| ((page.done - page.asked).as_secs_f64() * 1e4).round() / 1e3).collect()
}

fn http(value: &str) -> Vec<(&str, &str)> {
    vec![("flow.0.app.http", value)]
}

#[test]
fn on_a_free_path_a_page_takes_the_round_trips_that_its_protocol_needs() {
    // A new connection costs one round trip before the request, which costs another.
    assert_eq!(round_trips(&[]), [4.0; 5], "two generations of connections");
    assert_eq!(round_trips(&http(r#"{ kind = "1.0", parallel = 2 }"#)), [6.0; 5], "1, then 2, then 1");
    assert_eq!(round_trips(&http(r#"{ kind = "1.0", parallel = 1 }"#)), [8.0; 5]);
    assert_eq!(round_trips(&http("\"1.1\"")), [5.0; 5], "one handshake, four requests");
    assert_eq!(round_trips(&http(r#"{ kind = "1.1", order = "pipelined" }"#)), [3.0; 5]);
    assert_eq!(round_trips(&http(r#"{ kind = "1.1", order = "as-one" }"#)), [2.0; 5]);
    let lasting = http(r#"{ kind = "1.1", lasts = "session" }"#);
    assert_eq!(round_trips(&lasting), [5.0, 4.0, 4.0, 4.0, 4.0], "the handshake is paid once");
    let both = http(r#"{ kind = "1.1", order = "pipelined", lasts = "session" }"#);
    assert_eq!(round_trips(&both), [3.0, 2.0, 2.0, 2.0, 2.0]);
}

#[test]
fn fast_open_saves_the_handshake_from_the_second_connection_on() {
    // RFC 7413: the first connection asks for the cookie; of four files on the first page, three are fetched after that.
    let fast = ("tcp.fast_open", "on");
    assert_eq!(round_trips(&[fast]), [3.0, 2.0, 2.0, 2.0, 2.0]);
    let alone = ("flow.0.app.http", r#"{ kind = "1.0", parallel = 1 }"#);
    assert_eq!(round_trips(&[fast, alone]), [5.0, 4.0, 4.0, 4.0, 4.0]);
    // A client that asks a server which knows nothing of it loses nothing.
    let client = ("host.a.tcp.fast_open", "on");
    assert_eq!(round_trips(&[client]), [4.0; 5]);
}

#[test]
fn a_reply_behind_another_waits_for_its_ack_under_nagles_rule() {
    // Of three pipelined replies of 1000 bytes the last ends in a tail that an ACK of the others lets go. A server that
    // closes behind it would let it go at once.
    let closes = ("flow.0.app.closes", "client");
    let nagle = [("tcp.transmit", "nagle-strict"), ("tcp.acking", "every-segment"), closes];
    let pipelined = http(r#"{ kind = "1.1", order = "pipelined" }"#);
    assert_eq!(round_trips(&[&nagle[..], &pipelined].concat()), [4.0; 5]);
}

#[test]
fn a_page_of_one_file_is_one_exchange() {
    let one = ("flow.0.app.files", "1");
    for protocol in ["\"1.0\"", "\"1.1\"", r#"{ kind = "1.1", order = "pipelined" }"#] {
        assert_eq!(round_trips(&[one, ("flow.0.app.http", protocol)]), [2.0; 5], "{protocol}");
    }
}

#[test]
fn a_file_larger_than_the_window_takes_the_rounds_of_slow_start() {
    // 15 segments from an initial window of one, an ACK for each: 1, 2, 4, 8.
    let settings = [
        ("flow.0.app.files", "1"),
        ("flow.0.app.size", "21900 B"),
        ("tcp.initial_window", "1 segment"),
        ("tcp.acking", "every-segment"),
    ];
    assert_eq!(round_trips(&settings), [5.0; 5]);
}

#[test]
fn thinking_lies_between_the_last_byte_and_the_next_page() {
    let result = world(FREE, &[("flow.0.app.first", "3 s")], 1, Wants::PAGES).run(&|| false);
    let asked: Vec<f64> = result.recording.pages.iter().map(|page| page.asked.as_secs_f64()).collect();
    for (asked, expected) in asked.iter().zip([3.0, 4.4, 5.8, 7.2, 8.6]) {
        assert!((asked - expected).abs() < 1e-9, "{asked}, not {expected}");
    }
    let flow = &result.flows[0];
    assert!(flow.completed && flow.end_s.is_some_and(|end| (end - 9.0).abs() < 1e-9), "{:?}", flow.end_s);
    let session = session(flow);
    assert_eq!((session.pages, session.transfers, session.connections), (5, 20, 20));
    let delay = session.page_delay.unwrap();
    assert!((delay.median - 0.4).abs() < 1e-9 && (delay.p95 - 0.4).abs() < 1e-9, "{delay:?}");
}

#[test]
fn what_is_fetched_does_not_depend_on_how() {
    let fetched = |protocol: &str| -> Vec<(u32, u64)> {
        let result = world(CROWD, &[("flow.0.app.http", protocol)], 5, Wants::PAGES).run(&|| false);
        let of_first = |page: &&PageFetched| page.flow == 0;
        result.recording.pages.iter().filter(of_first).map(|page| (page.files, page.bytes)).collect()
    };
    let plain = fetched("\"1.0\"");
    assert_eq!(plain.len(), 40);
    assert_eq!(plain, fetched(r#"{ kind = "1.0", parallel = 2 }"#));
    assert_eq!(plain, fetched(r#"{ kind = "1.1", order = "as-one" }"#));
}

#[test]
fn every_byte_is_accounted_for() {
    for seed in 1..4 {
        let result = world(CROWD, &[], seed, Wants::PAGES).run(&|| false);
        let pages: u64 = result.recording.pages.iter().map(|page| page.bytes).sum();
        let mut delivered = 0;
        for flow in &result.flows {
            assert!(flow.completed, "seed {seed}: {} {} stopped short", flow.flow, flow.index);
            assert_eq!(Some(flow.bytes_delivered), flow.bytes_asked, "seed {seed}");
            assert_eq!((flow.wrong_bytes, session(flow).pages), (0, 40), "seed {seed}");
            delivered += flow.bytes_delivered;
        }
        assert_eq!(delivered, pages, "seed {seed}");
        let files: u64 = result.recording.pages.iter().map(|page| u64::from(page.files)).sum();
        let transfers: u64 = result.flows.iter().map(|flow| session(flow).transfers).sum();
        assert_eq!(files, transfers, "seed {seed}");
        let timeouts: u32 = result.recording.pages.iter().map(|page| page.timeouts).sum();
        assert!(timeouts > 0, "seed {seed}: such a link costs timeouts");
    }
}

#[test]
fn a_load_written_out_in_full_is_the_same_load() {
    let dialogue = r#"{ kind = "request-response", exchanges = "forever", request = "100 B",
        response = { size = { kind = "weibull", scale = "1 kB", shape = 0.7 }, writes = ["60 B"], gap = "1 ms" } }"#;
    for overrides in [&[][..], &[("flow.2.app", dialogue)]] {
        let scenario = Scenario::parse(CROWD, "test.toml", overrides).unwrap();
        let merged = scenario.merged_toml();
        let again =
            Scenario::parse(&merged, "merged.toml", &[]).unwrap_or_else(|error| panic!("{error}: {merged}"));
        assert_eq!(scenario, again);
    }
}

#[test]
fn flows_of_one_name_are_summed_up_together() {
    let result = run(CROWD, &[], 2);
    let names: Vec<&str> = result.groups.iter().map(|group| &*group.flow).collect();
    assert_eq!(names, ["web", "modern", "files"]);
    for group in &result.groups {
        let members: Vec<&FlowResult> = result.flows.iter().filter(|flow| flow.flow == group.flow).collect();
        let session = group.session.as_ref().unwrap();
        assert_eq!(group.flows as usize, members.len());
        assert_eq!(group.bytes_delivered, members.iter().map(|flow| flow.bytes_delivered).sum::<u64>());
        assert_eq!(session.pages, 40 * members.len() as u64);
        let mean: f64 = members.iter().map(|flow| self::session(flow).page_delay.unwrap().mean).sum();
        let (mean, delay) = (mean / members.len() as f64, session.page_delay.unwrap());
        assert!((delay.mean / mean - 1.0).abs() < 1e-9, "{} {mean}", delay.mean);
        let power = group.goodput_bps / delay.median;
        assert!((session.power_bit_per_s2.unwrap() / power - 1.0).abs() < 1e-9);
    }
}

#[test]
fn watching_changes_nothing_and_neither_does_another_thread() {
    let plain = run(CROWD, &[], 7);
    let watched = world(CROWD, &[], 7, Wants::ALL).run(&|| false);
    assert_eq!(plain.digest, watched.digest);
    assert!(watched.recording.segments.iter().any(|sent| sent.connection > 100));
    let again = std::thread::scope(|scope| {
        let both = [8, 7].map(|seed| scope.spawn(move || run(CROWD, &[], seed).digest));
        both.map(|thread| thread.join().unwrap())
    });
    assert_eq!(plain.digest, again[1]);
    assert_ne!(plain.digest, again[0]);
}

/// Ports and flags of the packets that leave `a`.
type Seen = Arc<Mutex<Vec<(u16, u16, u16)>>>;
struct Ports(Seen);

impl CaptureSink for Ports {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        if channel == 0 {
            assert_eq!(packet.end, End::Client);
            let seen = (packet.source_port, packet.destination_port, packet.segment.flags.0);
            self.0.lock().unwrap().push(seen);
        }
    }
}

#[test]
fn each_connection_has_a_port_of_its_own() {
    let scenario = Scenario::parse(FREE, "test.toml", &[]).unwrap();
    let seen = Seen::default();
    let recorder = Recorder::new(Wants::NOTHING).with_capture(&[0], Box::new(Ports(Arc::clone(&seen))));
    World::new(scenario.build("test").unwrap(), 1, Some(recorder)).unwrap().run(&|| false);
    let seen = seen.lock().unwrap();
    let opened: Vec<u16> = seen.iter().filter(|packet| packet.2 == 2).map(|packet| packet.0).collect();
    assert_eq!(opened.len(), 20);
    for (position, port) in opened.iter().enumerate() {
        assert!(*port >= 49_152 && !opened[..position].contains(port), "{opened:?}");
    }
    assert!(seen.iter().all(|packet| packet.1 == 80));
}

/// A client that fetches one small file after another, from four ports.
fn four_ports(closes: &str, more: &[(&str, &str)]) -> RunResult {
    let closes = format!("\"{closes}\"");
    let mut settings = vec![
        ("flow.0.app", r#"{ kind = "files", size = "1000 B" }"#),
        ("flow.0.app.closes", &*closes),
        ("host.a.ports", "{ first = 2000, last = 2003 }"),
        ("tcp.time_wait", "10 s"),
    ];
    settings.extend(more);
    run(FREE, &settings, 1)
}

#[test]
fn a_client_that_closes_first_runs_out_of_ports_and_waits_for_them() {
    let result = four_ports("client", &[]);
    let session = session(&result.flows[0]);
    // Four transfers of 200 ms each, and then four again whenever 10 s of TIME-WAIT are over.
    assert!((36..=44).contains(&session.transfers), "{}", session.transfers);
    assert!(session.port_waits >= 9, "{}", session.port_waits);
    assert!(session.page_delay.unwrap().max > 8.0, "{session:?}");
}

#[test]
fn a_server_that_closes_first_keeps_no_port_of_its_clients() {
    let result = four_ports("server", &[]);
    let session = session(&result.flows[0]);
    assert_eq!(session.port_waits, 0);
    assert!(session.transfers >= 490, "{}", session.transfers);
    assert_eq!(session.broken, 0, "the server admits a later sequence number (RFC 6191)");
}

#[test]
fn timestamps_let_a_port_be_taken_again_after_a_second() {
    let by_timestamp = r#"{ first = 2000, last = 2003, reuse = "by-timestamp" }"#;
    let slow = four_ports("client", &[("host.a.ports", by_timestamp)]);
    assert!(session(&slow.flows[0]).port_waits > 0, "newreno has no timestamps");
    let settings = [("host.a.ports", by_timestamp), ("tcp.timestamps", "true")];
    let result = four_ports("client", &settings);
    let session = session(&result.flows[0]);
    // Four transfers each 200 ms, then a pause until the first port has rested for a second.
    assert!(session.transfers > 250, "{}", session.transfers);
    assert_eq!(session.broken, 0);
}

#[test]
fn files_missing_after_a_lost_connection_are_fetched_over_another() {
    // Six SYNs are lost, and a client gives up after two: the third connection brings the page.
    let settings = [
        ("link.l.loss", r#"{ kind = "script", drop = [1, 2, 3, 4], direction = "a->b" }"#),
        ("tcp.syn_retries", "1"),
        ("flow.0.app.pages", "1"),
    ];
    let result = world(FREE, &settings, 1, Wants::ALL).run(&|| false);
    let session = session(&result.flows[0]);
    assert_eq!((session.pages, session.broken, session.connections), (1, 2, 6));
    assert_eq!(Some(result.flows[0].bytes_delivered), result.flows[0].bytes_asked);
}

#[test]
fn a_hundred_thousand_connections_leave_no_memory_behind() {
    let settings = [
        ("duration", "1 h"),
        ("link.l.delay", "1 ms"),
        ("link.l.rate", "1 Gbit/s"),
        ("flow.0.app", r#"{ kind = "files", size = "500 B", transfers = 12500 }"#),
        ("flow.0.count", "8"),
    ];
    let mut world = world(FREE, &settings, 1, Wants::NOTHING);
    let mut places = Vec::new();
    while world.proceed() {
        places.push(world.places());
    }
    assert_eq!(world.network().packets_under_way(), 0);
    assert!(places.iter().all(|&places| places <= 64), "{:?}", places.iter().max());
    let result = world.finish(false);
    let connections: u32 = result.flows.iter().map(|flow| session(flow).connections).sum();
    assert_eq!(connections, 100_000);
    for flow in &result.flows {
        assert!(flow.completed && session(flow).broken == 0 && session(flow).port_waits == 0);
        assert_eq!((flow.bytes_delivered, flow.bytes_asked), (6_250_000, Some(6_250_000)));
    }
    assert_eq!(result.late_packets, 0);
}

#[test]
fn a_reply_is_written_piece_by_piece() {
    let app = r#"{ kind = "request-response", request = "100 B", exchanges = 2, gap = "1 s",
        response = { size = "2333 B", writes = ["60 B", "76 B"], piece = "4096 B" } }"#;
    let sent = |more: &[(&str, &str)]| -> Vec<(u64, u32)> {
        let settings = [&[("flow.0.app", app), ("tcp.transmit", "nodelay")], more].concat();
        let result = world(FREE, &settings, 1, Wants::SEGMENTS).run(&|| false);
        assert_eq!(session(&result.flows[0]).pages, 2);
        let data = result.recording.segments.iter().filter(|sent| sent.end == End::Server);
        let data = data.filter(|sent| sent.segment.payload.len > 0);
        data.map(|sent| (sent.time.as_ps() / 1_000_000_000, sent.segment.payload.len)).collect()
    };
    // The request arrives after three half round trips of 50 ms, the next one 1.1 s later.
    let first = [(150, 60), (150, 76), (150, 1460), (150, 737)];
    let second = first.map(|(time, len)| (time + 1100, len));
    assert_eq!(sent(&[("tcp.initial_window", "10 segments")]), [first, second].concat());
    let spread = sent(&[("tcp.initial_window", "10 segments"), ("flow.0.app.response.gap", "10 ms")]);
    assert_eq!(spread[..4], [(150, 60), (160, 76), (170, 1460), (170, 737)]);
}

#[test]
fn an_exchange_without_end_goes_on_to_the_end() {
    let app =
        r#"{ kind = "request-response", request = "100 B", response = "100 B", exchanges = "forever" }"#;
    let result = run(FREE, &[("flow.0.app", app)], 1);
    let session = session(&result.flows[0]);
    // A handshake, then an exchange in each round trip; the one under way at the end arrives in time.
    assert_eq!((session.pages, session.connections), (999, 1));
    assert!(!result.flows[0].completed);
}
