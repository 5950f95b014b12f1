//! Marks instead of losses, end to end.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::record::probe::{Recorder, Wants};
use netspurt_sim::record::result::{FlowResult, RunResult};
use netspurt_sim::spec::{
    ChannelSpec, CodelSpec, FqCodelSpec, LossSpec, QueueSpec, RedSpec, Room, Unit, WorldSpec,
};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, EcnUse, InitialWindow, WindowOption};
use netspurt_tcp::segment::{Ecn, Flags};
use netspurt_tcp::time::Span;
use netspurt_tcp::{congestion, profile};
use std::sync::Arc;

const RATE: u64 = 10_000_000;
/// Classic feedback, and accurate.
const ASKING: [EcnUse; 2] = [EcnUse::Rfc3168, EcnUse::Rfc9768];

fn config(ecn: EcnUse) -> Config {
    let mut config = profile::by_name("newreno").expect("built in").config.clone();
    config.receive_window = 1000 * u32::from(config.mss);
    config.send_buffer = 1 << 22;
    config.window_option = WindowOption::Rfc7323;
    config.acking = Acking::EverySegment;
    config.ecn = ecn;
    config
}

/// `flows` without end from hosts of their own over a bottleneck of 10 Mbit/s with this queue, and a round trip of `rtt`.
fn bottleneck(queue: QueueSpec, flows: u32, rtt: Span, config: Config) -> WorldSpec {
    let config = Arc::new(config);
    let mut spec = WorldSpec::new("bottleneck", Span::from_secs(30));
    let (router, server) = (spec.node("router"), spec.node("server"));
    let half = Span::from_ps(rtt.as_ps() / 2);
    let channel = ChannelSpec { queue, ..ChannelSpec::new(RATE, half) };
    spec.link("bottleneck", [router, server], &channel);
    for number in 0..flows {
        let host = spec.node(&format!("host {number}"));
        let access = ChannelSpec::new(1_000_000_000, Span::from_us(10));
        spec.link(&format!("access {number}"), [host, router], &access);
        spec.flow(&format!("flow {number}"), [host, server], AppSpec::Bulk { bytes: None }, &config);
    }
    spec
}

fn run(spec: WorldSpec) -> RunResult {
    let wants = Wants::MARKS.and(Wants::DROPS).and(Wants::SEGMENTS);
    World::new(spec, 1, Some(Recorder::new(wants))).expect("routes").run(&|| false)
}

fn marking_queues() -> [(&'static str, QueueSpec); 4] {
    let usual = RedSpec::for_rate(Some(RATE), Unit::Packets, 1500);
    let law = CodelSpec { ecn: true, ..CodelSpec::default() };
    [
        ("step", QueueSpec::Step(Room::Packets(250), Room::Packets(20))),
        ("red", QueueSpec::Red(RedSpec { weight: 0.02, max_p: 0.1, max: 60.0, ecn: true, ..usual })),
        ("codel", QueueSpec::Codel(Room::Packets(1000), law)),
        ("fq-codel", QueueSpec::FqCodel(FqCodelSpec { law, ..FqCodelSpec::default() })),
    ]
}

/// Nothing is lost on a path that marks, and it is as full.
fn expect_marks_alone(name: &str, queue: QueueSpec, flows: u32, ecn: EcnUse) {
    let mut config = config(ecn);
    // The slow start of four at once would fill any of these queues before a mark has come back.
    config.initial_ssthresh = 20 * u32::from(config.mss);
    let result = run(bottleneck(queue, flows, Span::from_ms(40), config));
    let (link, what) = (&result.links[0], format!("{name} {flows} {ecn:?}"));
    assert_eq!(link.drops.values().sum::<u64>(), 0, "{what}");
    assert!(link.marked > 5, "{what}: {}", link.marked);
    assert!(link.utilisation > 0.8, "{what}: {}", link.utilisation);
    assert_eq!(result.recording.marks.len() as u64, link.marked);
    let received: u32 = result.flows.iter().map(|flow| flow.marks_received).sum();
    // What was marked last may be on its way.
    assert!(u64::from(received).abs_diff(link.marked) <= 40, "{what}: {received} {}", link.marked);
    for flow in &result.flows {
        assert_eq!((flow.retransmitted, flow.timeouts), (0, 0), "{what}");
        assert!(flow.ecn_reductions > 0, "{what}");
        let told = if ecn == EcnUse::Rfc9768 { flow.marks_received } else { 0 };
        assert!(flow.marks_reported.abs_diff(told) <= 40, "{what}: {} {told}", flow.marks_reported);
    }
}

#[test]
fn a_marked_path_loses_nothing_and_is_as_full() {
    for (name, queue) in marking_queues() {
        for flows in [1, 4] {
            ASKING.into_iter().for_each(|ecn| expect_marks_alone(name, queue, flows, ecn));
        }
    }
}

#[test]
fn a_queue_that_marks_drops_what_cannot_be_marked() {
    for (name, queue) in marking_queues().into_iter().skip(1) {
        let result = run(bottleneck(queue, 4, Span::from_ms(40), config(EcnUse::Off)));
        let link = &result.links[0];
        assert_eq!(link.marked, 0, "{name}");
        assert!(link.drops.values().sum::<u64>() > 0, "{name}");
    }
}

#[test]
fn only_new_data_is_marked() {
    let usual = RedSpec::for_rate(Some(RATE), Unit::Packets, 1500);
    let queue = QueueSpec::Red(RedSpec { room: Room::Packets(30), ecn: true, ..usual });
    for ecn in ASKING {
        expect_marks_on_new_data(queue, ecn);
    }
}

fn expect_marks_on_new_data(queue: QueueSpec, ecn: EcnUse) {
    let mut spec = bottleneck(queue, 8, Span::from_ms(40), config(ecn));
    spec.links[0].directions[0].loss = LossSpec::PacketError { rate: 0.01 };
    let result = run(spec);
    assert!(result.links[0].marked > 100 && result.flows.iter().any(|flow| flow.retransmitted > 0));
    for mark in &result.recording.marks {
        assert!(mark.segment.payload.len > 0 && mark.segment.ecn == Ecn::Ce);
    }
    for sent in &result.recording.segments {
        let capable = sent.segment.ecn.is_capable();
        assert!(!capable || (sent.segment.payload.len > 0 && !sent.reason.is_retransmission()), "{sent:?}");
    }
}

#[test]
fn a_run_with_marks_is_repeatable_with_and_without_probes() {
    for (name, queue) in marking_queues() {
        let spec = || bottleneck(queue, 3, Span::from_ms(40), config(EcnUse::Rfc3168));
        let unwatched = World::new(spec(), 1, None).expect("routes").run(&|| false);
        assert_eq!(unwatched.digest, run(spec()).digest, "{name}");
    }
}

#[test]
fn a_path_that_drops_ecn_setup_syns_is_used_without_ecn() {
    let plain = Flags::SYN;
    let (classic, accurate) = (plain | Flags::ECE | Flags::CWR, plain | Flags::AE | Flags::ECE | Flags::CWR);
    expect_fallback(EcnUse::Rfc3168, &[classic, plain]);
    expect_fallback(EcnUse::Rfc9768, &[accurate, accurate, plain]);
}

fn expect_fallback(ecn: EcnUse, expected: &[Flags]) {
    let step = QueueSpec::Step(Room::Packets(250), Room::Packets(20));
    let mut spec = bottleneck(step, 1, Span::from_ms(40), config(ecn));
    spec.links[0].directions[0].loss = LossSpec::EcnBlackHole;
    let result = run(spec);
    let (link, flow) = (&result.links[0], &result.flows[0]);
    assert_eq!((link.drops["ecn-black-hole"], link.marked), (expected.len() as u64 - 1, 0));
    assert!(flow.bytes_delivered > 1_000_000 && flow.ecn_reductions == 0);
    let syns: Vec<Flags> = result
        .recording
        .segments
        .iter()
        .map(|sent| sent.segment.flags)
        .filter(|flags| flags.has(Flags::SYN))
        .collect();
    assert_eq!(syns[..expected.len()], *expected);
    assert!(result.recording.segments.iter().all(|sent| !sent.segment.ecn.is_capable()));
}

/// Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.3: N flows in step, each with a window of W packets at
/// which the queue stands at K: W* = (C RTT + K) / N. Alpha solves alpha² (1 − alpha/4) = (2 W* + 1) / (W* + 1)², and the queue
/// swings by A = N D, where D = (W* + 1) alpha / 2.
fn fluid(flows: f64, packets_per_rtt: f64, k: f64) -> (f64, f64) {
    let w = (packets_per_rtt + k) / flows;
    let wanted = (2.0 * w + 1.0) / ((w + 1.0) * (w + 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let alpha = (low + high) / 2.0;
        if alpha * alpha * (1.0 - alpha / 4.0) < wanted { low = alpha } else { high = alpha }
    }
    (low, flows * (w + 1.0) * low / 2.0)
}

#[test]
fn dctcp_swings_as_the_model_of_its_authors_does() {
    // 40 ms at 10 Mbit/s are 33.3 packets of 1500 octets.
    for (k, rtt_ms, ecn) in
        [(20, 40), (40, 40), (40, 80)].into_iter().flat_map(|(k, rtt)| ASKING.map(|ecn| (k, rtt, ecn)))
    {
        let config = Config { congestion: congestion::Kind::Dctcp, initial_ssthresh: 30_000, ..config(ecn) };
        let queue = QueueSpec::Step(Room::Packets(500), Room::Packets(k));
        let mut spec = bottleneck(queue, 1, Span::from_ms(rtt_ms), config);
        spec.duration = Span::from_secs(120);
        let recorder = Recorder::new(Wants::QUEUE);
        let result = World::new(spec, 1, Some(recorder)).expect("routes").run(&|| false);
        assert_eq!(result.flows[0].retransmitted, 0);
        let per_rtt = RATE as f64 / 12_000.0 * rtt_ms as f64 / 1e3;
        let (alpha, swing) = fluid(1.0, per_rtt, f64::from(k));
        let late = result.recording.queues.iter().filter(|q| q.channel == 0 && q.time.as_secs_f64() > 60.0);
        let (mut least, mut most) = (u32::MAX, 0);
        for sample in late {
            (least, most) = (least.min(sample.packets), most.max(sample.packets));
        }
        let seen = f64::from(most - least);
        assert!(
            (seen - swing).abs() <= 0.35 * swing + 2.0,
            "K = {k}, RTT = {rtt_ms} ms, {ecn:?}: {least} to {most}, {swing:.1} expected, alpha {alpha:.2}"
        );
        // Q_max = K + N in the model.
        assert!(most.abs_diff(k) <= 4, "K = {k}: {most}");
    }
}

#[test]
fn accurate_feedback_survives_acks_that_are_late_and_few() {
    // Every fifth ACK gets lost, and there is but one for four segments: classic exact echoes lose marks with them.
    let acking = Acking::Delayed { every: 4, delay: Span::from_ms(40) };
    let config = Config {
        congestion: congestion::Kind::Dctcp,
        initial_ssthresh: 30_000,
        initial_window: InitialWindow::Segments(40),
        acking,
        ..config(EcnUse::Rfc9768)
    };
    let queue = QueueSpec::Step(Room::Packets(500), Room::Packets(20));
    let mut spec = bottleneck(queue, 1, Span::from_ms(40), config);
    spec.links[0].directions[1].loss = LossSpec::PacketError { rate: 0.2 };
    // Where the SYN-ACK gets lost there is but one segment in flight, and nothing to be marked for long.
    for seed in 3..=6 {
        let result = World::new(spec.clone(), seed, None).expect("routes").run(&|| false);
        let flow = &result.flows[0];
        assert!(flow.marks_received > 100, "{}, seed {seed}", flow.marks_received);
        // The options tell bytes, so nothing has to be assumed; what was marked last may be on its way.
        let missing = flow.marks_received.abs_diff(flow.marks_reported);
        assert!(missing <= 8, "{} of {}, seed {seed}", flow.marks_reported, flow.marks_received);
    }
}

#[test]
fn dctcp_requests_ecn_by_default_and_is_refused_without_it() {
    let text = |tcp: &str| {
        format!(
            "duration = '5 s'\n[tcp]\n{tcp}\n[link.l]\nbetween = ['a', 'b']\nrate = '10 Mbit/s'\ndelay = '5 ms'\n\
             queue = {{ kind = 'drop-tail', limit = '100 packets', mark_above = '10 packets' }}\n\
             [[flow]]\nfrom = 'a'\nto = 'b'\napp = {{ kind = 'bulk', bytes = '1 MB' }}\n"
        )
    };
    let parse = |tcp: &str| Scenario::parse(&text(tcp), "s.toml", &[]).map_err(|error| error.to_string());
    let refused = parse("congestion = 'dctcp'\necn = 'accept'")
        .and_then(|s| s.build("s").map(drop).map_err(|e| e.to_string()));
    let sentence = refused.expect_err("nobody asks");
    assert!(sentence.contains("congestion \"dctcp\" requires ECN: set ecn = \"rfc3168\""), "{sentence}");
    for ecn in ["", "ecn = 'rfc3168'", "ecn = 'rfc9768'"] {
        let tcp = format!("congestion = 'dctcp'\n{ecn}");
        let result = run(parse(&tcp).expect("a scenario").build("s").expect("a world"));
        let flow = &result.flows[0];
        assert!(result.links[0].marked > 0 && flow.completed && flow.retransmitted == 0, "{ecn}");
    }
}

/// The first flow of a run with these losses from a to b and these `tcp` keys.
fn over_losses(loss: &str, tcp: &str) -> FlowResult {
    let text = format!(
        "duration = \"20 s\"\n[link.path]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         loss = [{{ {loss}, direction = \"a->b\" }}]\n[[flow]]\nfrom = \"a\"\nto = \"b\"\napp = {{ kind = \"bulk\" }}\n\
         [flow.tcp]\n{tcp}\n"
    );
    let spec = Scenario::parse(&text, "losses.toml", &[]).unwrap().build("losses").unwrap();
    World::new(spec, 1, None).unwrap().run(&|| false).flows.swap_remove(0)
}

#[test]
fn retransmissions_of_prague_are_ecn_capable_and_those_of_others_are_not() {
    let loss = "kind = \"packet-error\", rate = 0.01";
    let prague = over_losses(loss, "profile = \"prague\"");
    assert!(prague.retransmitted > 20, "{prague:?}");
    // SYN and ACK of the handshake.
    assert_eq!(prague.segments_sent, u64::from(prague.ecn_capable_sent) + 2, "{prague:?}");
    let cubic = over_losses(loss, "profile = \"linux\"\necn = \"rfc9768\"");
    assert!(cubic.retransmitted > 20, "{cubic:?}");
    assert_eq!(cubic.segments_sent, u64::from(cubic.ecn_capable_sent + cubic.retransmitted) + 2, "{cubic:?}");
}

#[test]
fn without_ecn_no_segment_is_ecn_capable() {
    // RFC 9768, section 3.1.4.1: the second SYN requests accurate ECN again, the third does not.
    for (lost, is_capable) in [("1", true), ("1, 2", false)] {
        let flow = over_losses(&format!("kind = \"script\", drop = [{lost}]"), "profile = \"prague\"");
        assert_eq!(flow.ecn_capable_sent > 0, is_capable, "{flow:?}");
        assert!(flow.bytes_delivered > 0, "{flow:?}");
    }
}
