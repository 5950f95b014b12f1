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

/// 40 Mbit/s and 20 ms; marks from a queueing delay of 1 ms on.
const MARKING: &str = "rate = \"40 Mbit/s\"\ndelay = \"10 ms\"\n\
                       queue = { kind = \"drop-tail\", limit = \"400 packets\", mark_above = \"4 packets\" }";
const PRAGUE: &str = "congestion = \"prague\"\necn = \"rfc9768\"\npacing = true\nhystart = \"off\"";

#[test]
fn prague_fills_a_link_with_a_queue_of_milliseconds() {
    // A threshold above a seventh of the bandwidth-delay product, here ten packets, keeps the link busy (Alizadeh et al.,
    // "Data center TCP", SIGCOMM 2010, section 3.3); one of four does not quite.
    for (above, least, queue) in [(4, 0.9, 6.0), (10, 0.98, 12.0)] {
        let marking = MARKING.replace("\"4 packets\"", &format!("\"{above} packets\""));
        let result = run(&marking, &[PRAGUE], 30, 1);
        let (flow, link) = (&result.flows[0], &result.links[0]);
        println!("{above}: {} {}", link.utilisation, link.queue_mean_packets);
        assert!(link.utilisation > least, "{above}: {}", link.utilisation);
        assert!(link.queue_mean_packets < queue, "{above}: {}", link.queue_mean_packets);
        assert!(flow.retransmitted == 0 && link.marked > 100, "{} {}", flow.retransmitted, link.marked);
    }
}

#[test]
fn prague_without_accurate_feedback_behaves_like_reno() {
    // The peer accepts classic ECN only: one flow from a, whose peer b has another configuration.
    let text = |congestion: &str| {
        format!(
            "duration = \"20 s\"\n[link.path]\nbetween = [\"a\", \"b\"]\n{MARKING}\n[host.a.tcp]\nprofile = \"linux\"\n\
             {congestion}\necn = \"rfc9768\"\npacing = true\nhystart = \"off\"\n[host.b.tcp]\nprofile = \"linux\"\n\
             ecn = \"accept\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n"
        )
    };
    let utilisation = |congestion: &str| {
        let spec = Scenario::parse(&text(congestion), "c.toml", &[]).unwrap().build("c").unwrap();
        let result = World::new(spec, 1, None).unwrap().run(&|| false);
        assert!(result.links[0].marked > 10);
        result.links[0].utilisation
    };
    let [prague, reno] = ["prague", "newreno"].map(|name| utilisation(&format!("congestion = \"{name}\"")));
    assert!((prague / reno - 1.0).abs() < 0.05, "{prague} {reno}");
}

#[test]
fn prague_shares_a_queue_among_different_round_trips() {
    // Two flows of 6 and 24 ms: below 25 ms all grow the same in time, where DCTCP favours the short one. A window of few
    // segments is rounded up to whole ones, and a step marks bursts, so rates are within a factor of two and not equal.
    let shares = |tcp: &str| {
        let mut text = "duration = \"60 s\"\n[link.path]\nbetween = [\"l\", \"r\"]\nrate = \"40 Mbit/s\"\ndelay = \"2 ms\"\n\
                        queue = { kind = \"drop-tail\", limit = \"400 packets\", mark_above = \"4 packets\" }\n"
            .to_owned();
        for (name, delay) in [("near", "0.5 ms"), ("far", "5 ms")] {
            text += &format!(
                "[link.{name}a]\nbetween = [\"{name}-a\", \"l\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay}\"\n\
                 [link.{name}b]\nbetween = [\"r\", \"{name}-b\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay}\"\n\
                 [[flow]]\nfrom = \"{name}-a\"\nto = \"{name}-b\"\n[flow.app]\nkind = \"bulk\"\n\
                 [flow.tcp]\nprofile = \"linux\"\n{tcp}\n"
            );
        }
        let spec = Scenario::parse(&text, "shares.toml", &[]).unwrap().build("shares").unwrap();
        let result = World::new(spec, 1, None).unwrap().run(&|| false);
        result.flows[0].goodput_bps / result.flows[1].goodput_bps
    };
    let prague = shares(PRAGUE);
    let dctcp = shares("congestion = \"dctcp\"\necn = \"rfc9768\"\npacing = true\nhystart = \"off\"");
    println!("{prague} against {dctcp}");
    assert!(prague < 2.0 && prague > 0.5 && dctcp > 5.0 * prague, "{prague} against {dctcp}");
}

#[test]
fn prague_is_refused_without_accurate_feedback() {
    let text = "duration = \"1 s\"\n[tcp]\nprofile = \"linux\"\ncongestion = \"prague\"\npacing = true\n[link.path]\n\
                between = [\"a\", \"b\"]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n\
                [flow.app]\nkind = \"bulk\"\n";
    let build = |overrides: &[(&str, &str)]| {
        let scenario = Scenario::parse(text, "p.toml", overrides).map_err(|e| e.to_string())?;
        scenario.build("p").map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(build(&[]), Ok(()), "no key names ECN: it is switched on");
    let sentence = build(&[("tcp.ecn", "\"rfc3168\"")]).expect_err("without accurate ECN");
    assert!(
        sentence.contains("congestion \"prague\" requires accurate ECN: set ecn = \"rfc9768\""),
        "{sentence}"
    );
    assert_eq!(build(&[("tcp.ecn", "\"rfc9768\"")]), Ok(()));
    assert_eq!(build(&[("tcp.profile", "\"prague\"")]), Ok(()));
}

/// 20 Mbit/s and 40 ms, with a queue of 240 ms.
const DEEP: &str =
    "rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\nqueue = { kind = \"drop-tail\", limit = \"400 packets\" }";

#[test]
fn ledbat_alone_fills_the_path_and_keeps_to_its_target() {
    let result = run(DEEP, &["congestion = \"ledbat-plus-plus\""], 60, 1);
    let link = &result.links[0];
    assert!(link.utilisation > 0.8, "{}", link.utilisation);
    // 60 ms are 100 packets.
    assert!(link.queue_mean_packets < 110.0 && link.queue_max_packets < 160, "{link:?}");
    assert_eq!(result.flows[0].retransmitted, 0);
}

#[test]
fn ledbat_yields_to_cubic() {
    let result = run(DEEP, &["congestion = \"ledbat-plus-plus\"", "congestion = \"cubic-linux\""], 60, 1);
    let [background, other] = [0, 1].map(|i| result.flows[i].goodput_bps / 20e6);
    println!("{background} beside {other}");
    assert!(background < 0.1 && other > 0.8, "{background} beside {other}");
}

/// The receiver's control: the sender runs CUBIC.
const BY_RECEIVER: &str = "congestion = \"cubic-linux\"\nreceiver_congestion = \"rledbat\"";

#[test]
fn rledbat_alone_keeps_the_link_busy_and_the_queue_at_its_target() {
    let result = run(DEEP, &[BY_RECEIVER], 60, 1);
    let link = &result.links[0];
    println!("{link:?}");
    assert!(link.utilisation > 0.8, "{}", link.utilisation);
    assert!(link.queue_mean_packets < 110.0 && link.queue_max_packets < 160, "{link:?}");
    assert_eq!(result.flows[0].retransmitted, 0);
}

#[test]
fn rledbat_yields_to_cubic_although_its_own_sender_is_cubic() {
    for seed in 1..=3 {
        let result = run(DEEP, &[BY_RECEIVER, "congestion = \"cubic-linux\""], 60, seed);
        let [background, other] = [0, 1].map(|i| result.flows[i].goodput_bps / 20e6);
        println!("{background} beside {other}");
        assert!(background < 0.1 && other > 0.8, "{background} beside {other}");
    }
}

#[test]
fn rledbat_leaves_a_slower_sender_alone() {
    // The smaller window counts: a sender that is limited to ten segments keeps its throughput.
    let limited = "congestion = \"cubic-linux\"\nsend_window = \"10 segments\"";
    let both = [limited.to_owned(), format!("{limited}\nreceiver_congestion = \"rledbat\"")];
    let [without, with] = both.map(|tcp| run(DEEP, &[&tcp], 60, 1).flows[0].goodput_bps);
    // A smaller window opens less often, and so other segments are acknowledged at once.
    assert!(with > 0.85 * without && with < 1.02 * without, "{with} {without}");
}

#[test]
fn rledbat_switches_timestamps_on_and_refuses_a_file_without_them() {
    let build = |keys: &[(&str, &str)]| {
        let text = "duration = \"1 s\"\n[link.path]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                    [[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n";
        Scenario::parse(text, "r.toml", keys)
            .and_then(|s| s.build("r"))
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let rledbat = ("tcp.receiver_congestion", "\"rledbat\"");
    assert_eq!(build(&[rledbat]), Ok(()));
    assert_eq!(build(&[rledbat, ("tcp.profile", "\"reno\"")]), Ok(()));
    let refused = build(&[rledbat, ("tcp.timestamps", "false")]).unwrap_err();
    assert!(refused.contains("set timestamps = true"), "{refused}");
}

#[test]
fn windows_and_macos_use_a_long_path_in_both_roles() {
    let path = "rate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
                queue = { kind = \"drop-tail\", limit = \"100 packets\" }";
    for (sender, receiver) in
        [("windows", "macos"), ("macos", "windows"), ("windows", "linux"), ("macos", "linux")]
    {
        let text = format!(
            "duration = \"20 s\"\n[link.path]\nbetween = [\"a\", \"b\"]\n{path}\n[host.a.tcp]\nprofile = \"{sender}\"\n\
             [host.b.tcp]\nprofile = \"{receiver}\"\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\n"
        );
        let spec = Scenario::parse(&text, "systems.toml", &[]).unwrap().build("systems").unwrap();
        let share = World::new(spec, 1, None).unwrap().run(&|| false).flows[0].goodput_bps / 20e6;
        println!("{sender} to {receiver}: {share}");
        assert!(share > 0.85 && share < 0.98, "{sender} to {receiver}: {share}");
    }
}
