//! Congestion controls in scenario files, over whole simulated paths: what each of them is for.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::RunResult;

/// Flows without end over `link` for `seconds`, each with its own `tcp` keys.
pub(crate) fn run(link: &str, flows: &[&str], seconds: u32, seed: u64) -> RunResult {
    let mut text = format!("duration = \"{seconds} s\"\n[link.path]\nbetween = [\"a\", \"b\"]\n{link}\n");
    for tcp in flows {
        text += "[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n[flow.tcp]\nprofile = \"linux\"\n\
                 receive_window = \"64 MB\"\nsend_buffer = \"64 MB\"\n";
        text += tcp;
        text += "\n";
    }
    let spec = Scenario::parse(&text, "controls.toml", &[]).unwrap().build("controls").unwrap();
    World::new(spec, seed, None).unwrap().run(&|| false)
}

/// The goodput of one flow in parts of `rate` Mbit/s.
fn share(link: &str, tcp: &str, rate: f64) -> f64 {
    let goodput = |seed| run(link, &[tcp], 60, seed).flows[0].goodput_bps;
    (goodput(1) + goodput(2)) / 2.0 / (rate * 1e6)
}

/// 100 Mbit/s and 100 ms: 860 segments, and a queue of half of that.
const LONG: &str = "rate = \"100 Mbit/s\"\ndelay = \"50 ms\"\n\
                    queue = { kind = \"drop-tail\", limit = \"430 packets\" }";

#[test]
fn high_speed_controls_use_a_long_path_with_rare_losses_better_than_reno() {
    let lossy = format!("{LONG}\nloss = {{ kind = \"packet-error\", rate = 0.0001 }}");
    let reno = share(&lossy, "congestion = \"newreno\"", 100.0);
    for (name, gain) in [("htcp", 2.0), ("illinois", 2.0), ("westwood", 1.5)] {
        let other = share(&lossy, &format!("congestion = \"{name}\""), 100.0);
        println!("{name}: {other} against {reno}");
        assert!(other > gain * reno && other < 0.96, "{name}: {other} against {reno}");
    }
}

#[test]
fn high_speed_controls_fill_a_path_without_random_losses() {
    for name in ["htcp", "illinois", "westwood"] {
        // The filters of Westwood+ are slower than slow start, so slow start ends before the queue overflows.
        let tcp = format!("congestion = \"{name}\"\ninitial_ssthresh = \"860 segments\"");
        let seen = share(LONG, &tcp, 100.0);
        assert!(seen > 0.9, "{name}: {seen}");
    }
}

#[test]
fn with_abe_a_shallow_marking_queue_stays_in_use() {
    // RFC 8511, section 4: where marks come early, half of cwnd leaves the link idle, four fifths do not.
    let shallow = "rate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n\
                   queue = { kind = \"drop-tail\", limit = \"200 packets\", mark_above = \"10 packets\" }";
    for name in ["newreno", "cubic"] {
        let tcp = format!("congestion = \"{name}\"\necn = \"rfc3168\"\nhystart = \"off\"");
        let [without, with] = [false, true].map(|abe| share(shallow, &format!("{tcp}\nabe = {abe}"), 20.0));
        println!("{name}: {with} with, {without} without");
        assert!(with > 1.03 * without, "{name}: {with} with, {without} without");
    }
}
