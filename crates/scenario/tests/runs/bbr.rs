//! BBR and pacing in scenario files, over whole simulated paths.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::{FlowResult, LinkResult};

/// `flows` without end over 20 Mbit/s and 40 ms there and back for 20 s, with `link` said of the link.
fn run(link: &str, tcp: &str, flows: usize, seed: u64) -> (Vec<FlowResult>, LinkResult) {
    let text = format!(
        "duration = \"20 s\"\n[tcp]\n{tcp}\n[link.path]\nbetween = [\"a\", \"b\"]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
         {link}\n"
    );
    let flow = "[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n";
    let text = text + &flow.repeat(flows);
    let spec = Scenario::parse(&text, "bbr.toml", &[]).unwrap().build("bbr").unwrap();
    let result = World::new(spec, seed, None).unwrap().run(&|| false);
    (result.flows, result.links[0].clone())
}

const DEEP: &str = "queue = { kind = \"drop-tail\", limit = \"400 packets\" }";

#[test]
fn bbr_paces_by_itself_and_is_refused_where_pacing_is_switched_off() {
    let text = "duration = \"1 s\"\n[tcp]\nprofile = \"linux\"\ncongestion = \"bbr\"\n[link.path]\nbetween = [\"a\", \"b\"]\n\
                rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n";
    let build = |overrides: &[(&str, &str)]| {
        let scenario = Scenario::parse(text, "bbr.toml", overrides).map_err(|e| e.to_string())?;
        scenario.build("bbr").map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(build(&[]), Ok(()));
    let sentence = build(&[("tcp.pacing", "false")]).expect_err("without pacing");
    assert!(sentence.starts_with("bbr.toml:4:"), "{sentence}");
    assert!(
        sentence.contains(
            "congestion \"bbr\" requires pacing: set pacing = true or choose another congestion control"
        ),
        "{sentence}"
    );
    assert_eq!(build(&[("tcp.pacing", "true")]), Ok(()));
    assert_eq!(build(&[("tcp.profile", "\"bbr\"")]), Ok(()));
}

#[test]
fn the_profile_fills_a_lossy_path_on_which_the_profile_linux_collapses() {
    let lossy = format!("{DEEP}\nloss = {{ kind = \"packet-error\", rate = 0.01 }}");
    for seed in 1..=3 {
        let (_, bbr) = run(&lossy, "profile = \"bbr\"", 1, seed);
        let (_, cubic) = run(&lossy, "profile = \"linux\"", 1, seed);
        let (bbr, cubic) = (bbr.utilisation, cubic.utilisation);
        assert!(bbr > 0.85 && cubic < 0.5 * bbr, "seed {seed}: {bbr} against {cubic}");
    }
}

#[test]
fn four_flows_share_a_path_without_overrunning_it() {
    let (flows, link) = run(DEEP, "profile = \"bbr\"", 4, 1);
    assert!(link.utilisation > 0.95, "{}", link.utilisation);
    let bytes: Vec<f64> = flows.iter().map(|flow| flow.bytes_delivered as f64).collect();
    let (sum, squares) = (bytes.iter().sum::<f64>(), bytes.iter().map(|b| b * b).sum::<f64>());
    let jain = sum * sum / (4.0 * squares);
    assert!(jain > 0.8, "{jain}: {bytes:?}");
    let lost: u32 = flows.iter().map(|flow| flow.retransmitted).sum();
    assert!(f64::from(lost) < 0.02 * sum / 1448.0, "{lost}");
}

#[test]
fn pacing_spreads_a_first_window_over_its_round_trip() {
    let first = |pacing: bool| {
        let tcp = format!(
            "profile = \"linux\"\npacing = {pacing}\ninitial_window = \"40 segments\"\nsend_window = \"40 segments\""
        );
        let (flows, link) = run(DEEP, &tcp, 1, 1);
        assert_eq!(flows[0].retransmitted, 0);
        link
    };
    let (paced, bursty) = (first(true), first(false));
    assert!((paced.utilisation - bursty.utilisation).abs() < 0.02);
    assert!(bursty.queue_max_packets >= 38, "{}", bursty.queue_max_packets);
    // At 1.2 times the rate of the path, which they are sent at behind the first ten, a sixth of the others waits.
    assert!(paced.queue_max_packets <= 20, "{}", paced.queue_max_packets);
}
