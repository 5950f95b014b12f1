//! Hosts that take their time.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::host::processor::{Costs, Handover};
use netspurt_sim::record::probe::{End, Recorder, Sent, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::{ChannelSpec, WorldSpec};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, InitialWindow};
use netspurt_tcp::profile;
use netspurt_tcp::segment::Flags;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Transmit;
use std::sync::Arc;

const DELAY: Span = Span::from_ms(1);

fn config() -> Config {
    Config {
        transmit: Transmit::NoDelay,
        initial_window: InitialWindow::Segments(30),
        ..profile::by_name("newreno").unwrap().config.clone()
    }
}

/// A client and a server on a link without limits.
fn pair(app: AppSpec, config: Config) -> WorldSpec {
    let mut spec = WorldSpec::new("pair", Span::from_secs(100));
    let ends = [spec.node("client"), spec.node("server")];
    spec.link("l", ends, &ChannelSpec { delay: DELAY, ..ChannelSpec::default() });
    spec.flow("f", ends, app, &Arc::new(config));
    spec
}

fn exchange(request: u64, response: u64, exchanges: u64) -> AppSpec {
    AppSpec::RequestResponse { request, response, exchanges, gap: Span::ZERO }
}

fn run(spec: &WorldSpec) -> RunResult {
    World::new(spec.clone(), 1, Some(Recorder::new(Wants::SEGMENTS))).unwrap().run(&|| false)
}

fn ps(span: Span) -> f64 {
    span.as_ps() as f64
}

fn end_ps(result: &RunResult, flow: usize) -> f64 {
    result.flows[flow].end_s.unwrap() * 1e12
}

/// Data segments that an end of a flow sent.
fn data(result: &RunResult, flow: u32, end: End) -> Vec<Sent> {
    let all = result.recording.segments.iter().copied();
    all.filter(|sent| sent.flow == flow && sent.end == end && sent.segment.payload.len > 0).collect()
}

const COSTS: Costs = Costs {
    request: Span::from_us(100),
    read: Span::from_us(7),
    byte_read: Span::from_ns(10),
    write: Span::from_us(11),
    byte_written: Span::from_ns(20),
    segment_in: Span::from_us(30),
    ack_in: Span::from_us(13),
    byte_in: Span::from_ns(5),
    segment_out: Span::from_us(40),
    ack_out: Span::from_us(17),
    byte_out: Span::from_ns(3),
};

#[test]
fn an_exchange_takes_what_its_parts_take() {
    // An ACK that waits rides on the answer; one exchange more is a difference without the handshake.
    let config = Config { acking: Acking::Delayed { every: 2, delay: Span::from_ms(200) }, ..config() };
    let took = |exchanges| {
        let mut spec = pair(exchange(100, 1000, exchanges), config.clone());
        spec.nodes.iter_mut().for_each(|node| node.processor = Some(COSTS));
        end_ps(&run(&spec), 0)
    };
    let one_way = |len: u64| {
        let each = COSTS.byte_written.as_ps()
            + COSTS.byte_out.as_ps()
            + COSTS.byte_in.as_ps()
            + COSTS.byte_read.as_ps();
        let fixed = [COSTS.write, COSTS.segment_out, DELAY, COSTS.segment_in, COSTS.read];
        fixed.into_iter().map(ps).sum::<f64>() + (each * len) as f64
    };
    let expected = one_way(100) + ps(COSTS.request) + one_way(1000);
    let got = took(6) - took(5);
    assert!((got - expected).abs() < 1.0, "{got} ps instead of {expected}");
}

#[test]
fn a_processor_that_costs_nothing_changes_nothing() {
    let free = pair(exchange(100, 30_000, 20), config());
    let mut costless = free.clone();
    costless.nodes.iter_mut().for_each(|node| node.processor = Some(Costs::default()));
    let sent = |spec| run(spec).recording.segments;
    let times = |sent: Vec<Sent>| sent.iter().map(|s| (s.time, s.segment.payload)).collect::<Vec<_>>();
    let data = |sent: Vec<Sent>| times(sent).into_iter().filter(|s| s.1.len > 0).collect::<Vec<_>>();
    assert_eq!(data(sent(&free)), data(sent(&costless)));
}

#[test]
fn one_thing_is_done_at_a_time() {
    let mut spec = pair(exchange(100, 100, 1), config());
    spec.flows[0].count = 3;
    spec.nodes[1].processor = Some(Costs { request: Span::from_ms(10), ..Costs::default() });
    let result = run(&spec);
    for flow in 0..3 {
        // The handshake, the request, three answers one after another.
        let expected = 4.0 * ps(DELAY) + (flow + 1) as f64 * 10e9;
        let got = end_ps(&result, flow);
        assert!((got - expected).abs() < 1.0, "flow {flow}: {got} ps instead of {expected}");
    }
}

#[test]
fn what_arrives_is_served_between_the_parts_of_a_write() {
    // One server writes a megabyte in 500 parts of 1 ms; a request of a second flow arrives in the 6th of them.
    let config = Config { acking: Acking::EverySegment, ..config() };
    let answer = |handover| {
        let mut spec = pair(exchange(100, 1_000_000, 1), config.clone());
        let ends = [spec.flows[0].from, spec.flows[0].to];
        let late = spec.flow("late", ends, exchange(100, 100, 1), &Arc::new(config.clone()));
        late.start = Time::ZERO + Span::from_us(5500);
        spec.nodes[1].processor = Some(Costs { byte_written: Span::from_ns(500), ..Costs::default() });
        spec.nodes[1].handover = handover;
        let result = run(&spec);
        let mut acks = result.recording.segments.iter().filter(|s| s.flow == 1 && s.end == End::Server);
        acks.next().unwrap().time
    };
    // The SYN arrives at 6.5 ms; the first write began at 3 ms, parts end at 3 ms + n · 1 ms (2000 bytes each).
    assert_eq!(answer(Handover::Clusters(2000)), Time::ZERO + Span::from_ms(7));
    assert_eq!(answer(Handover::Whole), Time::ZERO + Span::from_ms(503));
}

#[test]
fn a_write_is_cut_as_it_is_handed_over() {
    let cut = |handover| {
        let mut spec = pair(exchange(100, 4096, 2), Config { mss: 1460, ..config() });
        spec.nodes[1].handover = handover;
        let result = run(&spec);
        let sent = data(&result, 0, End::Server);
        sent.iter().map(|s| (s.segment.payload.len, s.segment.flags.has(Flags::PSH))).collect::<Vec<_>>()
    };
    let whole = [(1460, false), (1460, false), (1176, true)];
    let clusters = [(1460, false), (588, false), (1460, false), (588, true)];
    assert_eq!(cut(Handover::Whole), whole.repeat(2));
    assert_eq!(cut(Handover::Segments), whole.repeat(2));
    assert_eq!(cut(Handover::Clusters(2048)), clusters.repeat(2));
}

#[test]
fn a_slow_receiver_acknowledges_late_and_the_stream_arrives() {
    let mut spec = pair(AppSpec::Bulk { bytes: Some(1_000_000) }, config());
    spec.nodes[1].processor = Some(Costs { segment_in: Span::from_us(500), ..Costs::default() });
    let result = run(&spec);
    let flow = &result.flows[0];
    let segments = (1_000_000_f64 / f64::from(config().mss)).ceil();
    assert!(flow.completed && flow.bytes_delivered == 1_000_000 && flow.wrong_bytes == 0);
    let took = flow.delivered_s.unwrap();
    assert!(took > segments * 500e-6 && took < segments * 500e-6 + 0.05, "{took}");
    assert_eq!(run(&spec).digest, result.digest);
}

/// A client that asks and a server that answers in three writes, over and over, as a file would describe it.
fn web(host: &str, exchanges: u32) -> WorldSpec {
    let text = format!(
        "duration = \"100 s\"\n[tcp]\nprofile = \"newreno\"\ntransmit = \"nodelay\"\ninitial_window = \"30 segments\"\n[link.l]\nbetween = [\"client\", \"server\"]\n\
         delay = \"1 ms\"\n{host}\n[[flow]]\nfrom = \"client\"\nto = \"server\"\n[flow.app]\nkind = \"request-response\"\n\
         request = \"100 B\"\nresponse = {{ size = \"4232 B\", writes = [\"60 B\", \"76 B\"], piece = \"2048 B\" }}\n\
         exchanges = {exchanges}\n"
    );
    Scenario::parse(&text, "web.toml", &[]).unwrap().build("web").unwrap()
}

#[test]
fn each_write_of_an_answer_is_sent_as_it_is_written() {
    let host = "[host.server.processor]\nrequest = \"3 ms\"\nwrite = \"100 us\"";
    let result = run(&web(host, 3));
    let sent: Vec<u32> = data(&result, 0, End::Server).iter().map(|s| s.segment.payload.len).collect();
    assert_eq!(sent, [60, 76, 1460, 588, 1460, 588].repeat(3));
    let began = |exchange: usize| data(&result, 0, End::Server)[6 * exchange].time;
    // Work, four writes, the way there and back.
    let took = Span::from_us(3000 + 4 * 100 + 2 * 1000);
    assert_eq!(began(1), began(0) + took);
    assert!(result.flows[0].completed);
}
