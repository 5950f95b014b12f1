//! RACK-TLP over simulated paths (RFC 8985), beside recovery by SACK reports alone (RFC 6675).

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::{FlowResult, RunResult};

/// One transfer over 10 Mbit/s and 50 ms there and back, with `link` said of the link.
fn transfer(bytes: &str, link: &str, overrides: &[(&str, &str)], seed: u64) -> FlowResult {
    let text = format!(
        "duration = \"600 s\"\n[tcp]\nprofile = \"linux\"\n[link.path]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n\
         delay = \"25 ms\"\n{link}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n[flow.app]\nkind = \"bulk\"\nbytes = \"{bytes}\"\n"
    );
    let spec = Scenario::parse(&text, "rack.toml", overrides).unwrap().build("rack").unwrap();
    let result: RunResult = World::new(spec, seed, None).unwrap().run(&|| false);
    result.flows[0].clone()
}

const BY_REPORTS: &[(&str, &str)] = &[
    ("tcp.recovery", "\"sack\""),
    ("tcp.tail_loss_probe", "false"),
    ("tcp.prr", "false"),
    ("tcp.undo", "false"),
];

#[test]
fn a_lost_tail_costs_a_probe_instead_of_a_timeout() {
    // The last two of twenty segments: packets of the server's side count from its SYN.
    let loss = "queue = { kind = \"drop-tail\", limit = \"200 packets\" }\nloss = { kind = \"script\", direction = \"a->b\", drop = [20, 21] }";
    let probed = transfer("28960 B", loss, &[], 1);
    let timed_out = transfer("28960 B", loss, BY_REPORTS, 1);
    assert_eq!((probed.timeouts, timed_out.timeouts), (0, 1));
    let (probed, timed_out) = (probed.end_s.unwrap(), timed_out.end_s.unwrap());
    assert!(probed < timed_out - 0.05, "{probed} against {timed_out}");
}

#[test]
fn a_lost_tail_arrives_one_and_a_half_round_trips_after_its_timer() {
    let queue = "queue = { kind = \"drop-tail\", limit = \"200 packets\" }";
    let whole = transfer("28960 B", queue, &[], 1);
    // The last of twenty segments of data, behind a SYN and an ACK, and up to five before it. The FIN stands on the last.
    for (drop, most) in [("21, 22", 4.0), ("20, 21, 22", 6.0), ("18, 19, 20, 21, 22", 7.0)] {
        let loss = format!("{queue}\nloss = {{ kind = \"script\", direction = \"a->b\", drop = [{drop}] }}");
        let cut = transfer("28960 B", &loss, &[], 1);
        assert_eq!((cut.timeouts, cut.completed), (0, true), "{drop}: {cut:?}");
        // Two round trips for the timer; the probe there, its report back, and what that shows lost there again. The timer
        // starts
        // with the last ACK, half a round trip after all would have been there, and that may be a delayed one. Proportional
        // rate
        // reduction lets one segment out for the report, and two for each that arrives then: a round trip for each doubling.
        let late = cut.delivered_s.unwrap() - whole.delivered_s.unwrap();
        let round_trips = late / whole.rtt_mean_s.unwrap();
        println!("{drop} lost: {late:.3} s, {round_trips:.2} round trips");
        assert!((3.0..most).contains(&round_trips), "{drop}: {late} s are {round_trips} round trips");
    }
}

#[test]
fn reordering_within_the_window_brings_no_retransmission_once_it_is_known() {
    // A tenth of the round trip, where a quarter is waited for.
    let reorder = "queue = { kind = \"drop-tail\", limit = \"10000 packets\" }\n\
                   reorder = { probability = 0.02, delay = \"5 ms\" }";
    for seed in 1..=3 {
        let [short, long] = ["1 MB", "21 MB"].map(|bytes| transfer(bytes, reorder, &[], seed));
        println!("{} {}", short.retransmitted, long.retransmitted);
        assert!(short.completed && long.completed);
        assert!(long.retransmitted <= short.retransmitted, "seed {seed}: {long:?}");
    }
}

#[test]
fn reordering_within_a_quarter_of_the_round_trip_is_hardly_ever_taken_for_loss() {
    let reorder = "queue = { kind = \"drop-tail\", limit = \"10000 packets\" }\n\
                   reorder = { probability = 0.02, delay = \"5 ms\" }";
    for seed in 1..=5 {
        let by_time = transfer("5 MB", reorder, &[], seed);
        let by_reports = transfer("5 MB", reorder, BY_REPORTS, seed);
        assert!(by_time.completed && by_reports.completed);
        assert!(
            by_time.retransmitted * 4 < by_reports.retransmitted,
            "seed {seed}: {} against {}",
            by_time.retransmitted,
            by_reports.retransmitted
        );
        let (by_time, by_reports) = (by_time.end_s.unwrap(), by_reports.end_s.unwrap());
        assert!(
            by_time * 2.0 < by_reports,
            "seed {seed}: what was a mistake is undone: {by_time} s, {by_reports} s"
        );
    }
}

#[test]
fn random_losses_need_fewer_timeouts_than_with_reports_alone() {
    let loss = "loss = { kind = \"packet-error\", rate = 0.03 }";
    let (mut by_time, mut by_reports) = (0, 0);
    for seed in 1..=5 {
        let with = transfer("5 MB", loss, &[], seed);
        let without = transfer("5 MB", loss, BY_REPORTS, seed);
        assert!(with.completed && without.completed, "seed {seed}");
        by_time += with.timeouts;
        by_reports += without.timeouts;
    }
    assert!(by_time * 2 < by_reports, "{by_time} against {by_reports}");
}

#[test]
fn a_shallow_queue_is_overrun_by_a_few_packets_in_a_cycle() {
    // A window that were cut from what is outstanding, instead of from itself, would grow from loss to loss.
    let queue = "queue = { kind = \"drop-tail\", limit = \"55 packets\" }";
    for overrides in [&[][..], BY_REPORTS] {
        let flow = transfer("100 MB", queue, overrides, 1);
        assert!(flow.completed);
        let lost = f64::from(flow.retransmitted) / flow.segments_sent as f64;
        assert!(lost < 0.01, "{overrides:?}: {} of {}", flow.retransmitted, flow.segments_sent);
        assert!(flow.timeouts <= 1, "{overrides:?}: {} timeouts", flow.timeouts);
    }
}

#[test]
fn where_packets_are_only_lost_no_recovery_is_taken_for_a_mistake() {
    // A window of a hundred packets, one in fifty lost: recoveries follow one another, and what one sent again is still out
    // when the next begins.
    let loss = "queue = { kind = \"drop-tail\", limit = \"300 packets\" }\nloss = { kind = \"packet-error\", rate = 0.02 }";
    for seed in 1..=4 {
        for congestion in ["\"bbr\"", "\"cubic\""] {
            let undoes = |undo| {
                let with = [("tcp.congestion", congestion), ("tcp.pacing", "true"), ("tcp.undo", undo)];
                transfer("8 MiB", loss, &with, seed)
            };
            let (with, without) = (undoes("true"), undoes("false"));
            assert!(with.completed && with.timeouts <= 2, "{congestion}, seed {seed}: {with:?}");
            assert_eq!(
                (with.end_s, with.retransmitted, with.timeouts),
                (without.end_s, without.retransmitted, without.timeouts),
                "{congestion}, seed {seed}"
            );
        }
    }
}
