//! Links that do not take every packet, end to end: who is told, who finds out, and who never does.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::probe::{Recorder, Wants};
use netspurt_sim::record::result::RunResult;
use netspurt_sim::spec::WorldSpec;
use netspurt_tcp::reason::Reason;

/// A transfer of 3 MB over three links of 20 ms in all, the middle one of which takes what `mtu` says.
fn text(mtu: &str, tcp: &str) -> String {
    format!(
        "duration = '300 s'\n[tcp]\n{tcp}\n[link.near]\nbetween = ['a', 'r']\nrate = '1 Gbit/s'\ndelay = '1 ms'\n\
         [link.middle]\nbetween = ['r', 's']\nrate = '10 Mbit/s'\ndelay = '8 ms'\n{mtu}\n\
         queue = {{ kind = 'drop-tail', limit = '300 packets' }}\n\
         [link.far]\nbetween = ['s', 'b']\nrate = '1 Gbit/s'\ndelay = '1 ms'\n\
         [[flow]]\nfrom = 'a'\nto = 'b'\napp = {{ kind = 'bulk', bytes = '3 MB' }}\n"
    )
}

fn world(mtu: &str, tcp: &str) -> WorldSpec {
    let scenario = Scenario::parse(&text(mtu, tcp), "s.toml", &[]).expect("a scenario");
    scenario.build("s").expect("a world")
}

fn run(mtu: &str, tcp: &str) -> RunResult {
    let recorder = Recorder::new(Wants::SEGMENTS.and(Wants::DROPS));
    World::new(world(mtu, tcp), 1, Some(recorder)).expect("routes").run(&|| false)
}

/// Octets of the longest packet with data that got through the narrow link, by what was sent and what was dropped there.
fn dropped(result: &RunResult) -> u64 {
    result.links.iter().map(|link| link.drops.get("too-big").copied().unwrap_or(0)).sum()
}

const PROFILES: [&str; 4] = ["newreno", "rfc", "linux", "bbr"];

#[test]
fn a_packet_too_big_message_costs_one_round_trip() {
    for profile in PROFILES {
        let tcp = format!("profile = '{profile}'");
        let (wide, narrow) = (run("", &tcp), run("mtu = { size = '1400 bytes' }", &tcp));
        let (wide_flow, flow) = (&wide.flows[0], &narrow.flows[0]);
        assert!(flow.completed && flow.timeouts == 0, "{profile}: {flow:?}");
        let (took, least) = (flow.end_s.expect("an end"), wide_flow.end_s.expect("an end"));
        // Headers take more of shorter packets, by less than a hundredth.
        assert!(took < 1.03 * least + 0.2, "{profile}: {took} s and {least} s");
        assert!((1..=20).contains(&dropped(&narrow)), "{profile}: {}", dropped(&narrow));
        assert!(narrow.recording.segments.iter().any(|sent| sent.reason == Reason::TooBig));
        assert_eq!(dropped(&wide), 0);
    }
}

#[test]
fn in_a_black_hole_nothing_moves_without_probes_and_everything_with_them() {
    let hole = "mtu = { size = '1400 bytes', too_big = 'silent' }";
    for profile in PROFILES {
        let of = |discovery: &str| {
            run(hole, &format!("profile = '{profile}'\npath_mtu_discovery = '{discovery}'"))
        };
        let stalled = of("icmp");
        assert_eq!((stalled.flows[0].bytes_delivered, stalled.flows[0].completed), (0, false), "{profile}");
        for discovery in ["probe-after-black-hole", "probe"] {
            let result = of(discovery);
            let flow = &result.flows[0];
            assert!(flow.completed, "{profile} {discovery}: {flow:?}");
            let sent = |reason| result.recording.segments.iter().filter(move |sent| sent.reason == reason);
            assert!(sent(Reason::MtuProbe).count() > 0, "{profile} {discovery}");
            // What was found is within eight bytes of what there is.
            let longest = result.recording.segments.iter().filter(|sent| sent.reason == Reason::NewData);
            let longest = longest.map(|sent| sent.segment.wire_len() + 20).filter(|size| *size <= 1400).max();
            assert!(longest.is_some_and(|size| size > 1392), "{profile} {discovery}: {longest:?}");
            // Who probes from the beginning never waits for a timer.
            if discovery == "probe" {
                assert_eq!(flow.timeouts, 0, "{profile}");
            }
        }
    }
}

#[test]
fn a_path_that_becomes_narrower_in_mid_transfer_is_followed() {
    for (too_big, discovery) in [("icmp", "icmp"), ("icmp", "probe"), ("silent", "probe-after-black-hole")] {
        let mtu = format!(
            "mtu = [{{ size = '1400 bytes', from = '1 s', too_big = '{too_big}' }}, \
             {{ size = '1000 bytes', from = '2 s', too_big = '{too_big}' }}]"
        );
        for profile in PROFILES {
            let tcp =
                format!("profile = '{profile}'\npath_mtu_discovery = '{discovery}'\nbase_mss = '512 bytes'");
            let result = run(&mtu, &tcp);
            let flow = &result.flows[0];
            assert!(flow.completed && dropped(&result) > 0, "{profile} {discovery}: {flow:?}");
            // All that was out leaves again at once, for which a full queue may have no room.
            let least = u64::from(too_big == "silent");
            assert!(
                (least..=least + 9 * least + 1).contains(&u64::from(flow.timeouts)),
                "{profile} {discovery}: {flow:?}"
            );
        }
    }
}

#[test]
fn a_narrow_first_link_reports_packet_too_big_as_well() {
    let text = text("", "profile = 'linux'")
        .replace("between = ['a', 'r']", "between = ['a', 'r']\nmtu = { size = '1280 bytes' }");
    let spec = Scenario::parse(&text, "s.toml", &[]).expect("a scenario").build("s").expect("a world");
    let result = World::new(spec, 1, None).expect("routes").run(&|| false);
    assert!(result.flows[0].completed && result.flows[0].timeouts == 0);
}

#[test]
fn a_run_is_repeatable_fused_or_not_with_and_without_probes() {
    for mtu in ["mtu = { size = '1400 bytes' }", "mtu = { size = '1400 bytes', too_big = 'silent' }"] {
        let digest = |fuse: bool, watched: bool| {
            let mut spec = world(mtu, "profile = 'linux'\npath_mtu_discovery = 'probe'");
            spec.fuse = fuse;
            let recorder = watched.then(|| Recorder::new(Wants::SEGMENTS));
            World::new(spec, 7, recorder).expect("routes").run(&|| false).digest
        };
        assert_eq!(digest(true, false), digest(false, true), "{mtu}");
        assert_eq!(digest(true, true), digest(true, false), "{mtu}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (mtu, expected) in [
        (
            "mtu = { size = '67 bytes' }",
            "link \"middle\" takes packets of 67 B at most: every link takes 68 bytes",
        ),
        (
            "mtu = [{ size = '1400 bytes', from = '2 s' }, { size = '1300 bytes', from = '2 s' }]",
            "the mtu of link \"middle\" changes at 2 s, no later than the one before",
        ),
        ("mtu = { size = '1400 bytes', too_big = 'quiet' }", "quiet"),
    ] {
        let scenario = Scenario::parse(&text(mtu, ""), "s.toml", &[]);
        let error = scenario.and_then(|scenario| scenario.build("s").map(drop)).expect_err(mtu).to_string();
        assert!(error.contains(expected) && error.contains("s.toml"), "{error}");
    }
}
