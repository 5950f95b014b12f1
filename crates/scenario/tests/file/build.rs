//! From a scenario file to a world, and the world's run.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::host::processor::{Costs, Handover};
use netspurt_sim::spec::{Counted, Duplex, LossSpec, QueueSpec, WorldSpec};
use netspurt_tcp::time::{Span, Time};

const EVERYTHING: &str = include_str!("everything.toml");
const SATELLITE: &str = include_str!("satellite.toml");

fn world(text: &str, overrides: &[(&str, &str)]) -> WorldSpec {
    Scenario::parse(text, "test.toml", overrides).unwrap().build("test").unwrap()
}

#[test]
fn names_become_numbers_in_the_order_of_the_file() {
    let spec = world(EVERYTHING, &[]);
    let nodes: Vec<&str> = spec.nodes.iter().map(|node| &*node.name).collect();
    assert_eq!(nodes, ["client", "router", "server"]);
    assert_eq!(spec.nodes[0].latency, Span::from_ms(40));
    let links: Vec<_> = spec.links.iter().map(|link| (&*link.name, link.ends.map(|end| end.0))).collect();
    assert_eq!(links, [("access", [0, 1]), ("bottleneck", [1, 2])]);
    assert_eq!(spec.duration, Span::from_secs(60));
    assert_eq!(&*spec.name, "test");
}

#[test]
fn a_link_is_the_same_both_ways_but_for_what_names_a_direction() {
    let spec = world(EVERYTHING, &[]);
    let [access, bottleneck] = &spec.links[..] else { panic!("two links") };
    assert_eq!(access.duplex, Duplex::Half);
    let [there, back] = &access.directions;
    assert_eq!(there, back);
    assert_eq!(there.rate, Some(10_000_000_000));
    assert_eq!(there.reorder.map(|reorder| reorder.extra_delay), Some(Span::from_ms(5)));
    assert_eq!((there.duplicate, there.corrupt), (0.001, 1e-4));

    assert_eq!(bottleneck.duplex, Duplex::Full);
    let [there, back] = &bottleneck.directions;
    assert_eq!((there.delay, there.queue), (Span::from_ms(25), QueueSpec::Bytes(64 * 1024)));
    let gaps = LossSpec::ExponentialGaps { mean_packets: 1000.0 };
    let bursts =
        LossSpec::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 };
    assert_eq!(there.loss, LossSpec::Several(vec![bursts, gaps.clone()]));
    let script = LossSpec::Script { counted: Counted::Packets, drop: vec![7, 12] };
    assert_eq!(back.loss, LossSpec::Several(vec![script, gaps]));
}

#[test]
fn flows_are_counted_out_and_share_their_configurations() {
    let spec = world(EVERYTHING, &[]);
    let flows: Vec<_> = spec.flows.iter().map(|flow| (&*flow.name, flow.first_index, flow.count)).collect();
    assert_eq!(flows, [("web", 0, 8), ("bulk", 0, 1)]);
    assert_eq!(spec.flows[0].start_of(3), Time::ZERO + Span::from_ms(500) + Span::from_us(3 * 1250));
    let (request, response) = (100, 2333);
    let app = AppSpec::RequestResponse { request, response, exchanges: 10, gap: Span::from_secs(1) };
    assert_eq!(spec.flows[0].app, app);
    assert_eq!(spec.flows[1].app, AppSpec::Bulk { bytes: None });
    assert_ne!(spec.flows[0].client, spec.flows[0].server);
    assert_ne!(spec.flows[1].client, spec.flows[0].client);
}

#[test]
fn a_flow_is_found_by_its_number() {
    let numbering = world(EVERYTHING, &[]).numbering();
    assert_eq!(numbering.count(), 9);
    let found: Vec<_> = (0..9).map(|flow| numbering.locate(flow)).collect();
    let expected: Vec<_> = (0..8).map(|position| (0, position)).chain([(1, 0)]).collect();
    assert_eq!(found, expected);
    assert!(found.iter().zip(0..).all(|(&(d, position), flow)| numbering.number(d, position) == flow));
}

#[test]
fn entries_of_one_name_are_numbered_through() {
    let more = "\n[[flow]]\napp = { kind = \"bulk\" }\nfrom = \"space\"\nto = \"earth\"\ncount = 2\n";
    let spec = world(&format!("{SATELLITE}{more}"), &[]);
    let flows: Vec<_> = spec.flows.iter().map(|flow| (&*flow.name, flow.first_index, flow.count)).collect();
    assert_eq!(flows, [("bulk", 0, 1), ("bulk", 1, 2)]);
}

#[test]
fn a_start_beyond_the_end_of_time_never_comes() {
    let spec = world(
        SATELLITE,
        &[("flow.0.count", "1000"), ("flow.0.stagger", "5000 h"), ("flow.0.app.bytes", "1 KiB")],
    );
    let result = World::new(spec, 1, None).unwrap().run(&|| false);
    let completed = result.flows.iter().filter(|flow| flow.completed).count();
    assert_eq!(completed, 1);
    assert_eq!(result.flows.len(), 1000);
}

#[test]
fn more_flows_than_memory_holds_are_refused() {
    let scenario = Scenario::parse(SATELLITE, "test.toml", &[("flow.0.count", "4000000000")]).unwrap();
    let error = scenario.build("test.toml").unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.toml: 4000000000 flows are more than one run can hold: 10000000 at most"
    );
}

#[test]
fn one_loss_more_leaves_the_others_as_they_were() {
    let run = |losses: &str| {
        let spec = world(
            SATELLITE,
            &[("link.satellite.loss", losses), ("flow.0.app.bytes", "1 MiB"), ("duration", "2000 s")],
        );
        World::new(spec, 1, None).unwrap().run(&|| false)
    };
    let noise = "{ kind = \"packet-error\", rate = 0.01 }";
    let alone = run(noise);
    let listed = run(&format!("[{noise}]"));
    assert_eq!(alone.digest, listed.digest);
    let script = "{ kind = \"script\", drop = [3], direction = \"earth->space\" }";
    let both = run(&format!("[{noise}, {script}]"));
    assert_eq!(both.links[0].drops["script"], 1);
    assert!(both.links[0].drops["packet-error"] > 0);
    assert!(!both.links[1].drops.contains_key("script"), "the other direction has no script");
}

#[test]
fn a_host_has_a_processor_only_if_one_is_described() {
    let overrides = [
        ("host.server.processor.request", "250 us"),
        ("host.server.processor.byte_written", "12.5 ns"),
        ("host.client.handover", "clusters"),
    ];
    let nodes = world(EVERYTHING, &overrides).nodes;
    let costs =
        Costs { request: Span::from_us(250), byte_written: Span::from_ps(12_500), ..Costs::default() };
    assert_eq!((nodes[2].processor, nodes[2].handover), (Some(costs), Handover::Whole));
    assert_eq!((nodes[0].processor, nodes[0].handover), (None, Handover::Clusters(2048)));
}
