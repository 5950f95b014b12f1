//! The deadlock finder, on cases built so that the answer is known.

use netspurt_scenario::Scenario;
use netspurt_scenario::document::{acking_name, transmit_name};
use netspurt_sim::World;
use netspurt_sim::record::probe::{Recorder, Wants};
use netspurt_sim::record::result::RunResult;

/// Ten questions in two writes each, over a link without limits and 1 ms long.
fn write_write_read(transmit: &str, acking: &str) -> RunResult {
    exchange(transmit, acking, "{ writes = [\"100 B\", \"100 B\"] }", "\"300 B\"")
}

fn exchange(transmit: &str, acking: &str, request: &str, response: &str) -> RunResult {
    let text = format!(
        "duration = \"100 s\"\n[tcp]\nprofile = \"newreno\"\nmss = \"1460 B\"\ninitial_window = \"40 segments\"\n\
         transmit = \"{transmit}\"\nacking = {acking}\n[link.l]\nbetween = [\"client\", \"server\"]\ndelay = \"1 ms\"\n\
         [[flow]]\nfrom = \"client\"\nto = \"server\"\n[flow.app]\nkind = \"request-response\"\n\
         request = {request}\nresponse = {response}\nexchanges = 10\n"
    );
    let spec = Scenario::parse(&text, "held.toml", &[]).unwrap().build("held").unwrap();
    let recorder = Recorder::new(Wants::HELD_TAILS);
    let result = World::new(spec, 1, Some(recorder)).unwrap().run(&|| false);
    assert!(result.flows[0].completed, "{transmit} {acking}");
    assert_eq!(result.recording.held_tails.len() as u64, result.flows[0].held_tails);
    result
}

const DELAYED_200: &str = "{ kind = \"delayed\", every = 2, delay = \"200 ms\" }";
const DELAYED_40: &str = "{ kind = \"delayed\", every = 2, delay = \"40 ms\" }";
const BSD_TICK: &str = "{ kind = \"bsd-tick\", every = 2, period = \"200 ms\" }";

#[test]
fn write_write_read_waits_once_in_each_exchange_for_the_whole_delay() {
    for (acking, delay) in [(DELAYED_200, 0.2), (DELAYED_40, 0.04)] {
        let result = write_write_read("nagle-strict", acking);
        let flow = &result.flows[0];
        assert_eq!(flow.held_tails, 10, "{acking}");
        assert!((flow.held_tail_s - 10.0 * delay).abs() < 1e-4, "{acking}: {}", flow.held_tail_s);
        let (held_by, held_for) = (flow.held_by.map(transmit_name), flow.held_for.map(acking_name));
        assert_eq!(
            [flow.held_at, held_by.as_deref(), held_for.as_deref()],
            [Some("client"), Some("nagle-strict"), Some("delayed")]
        );
        for tail in &result.recording.held_tails {
            assert_eq!((tail.len, tail.offset % 200), (100, 100));
            assert!(((tail.time - tail.since).as_secs_f64() - delay).abs() < 1e-5);
        }
    }
}

#[test]
fn a_free_running_tick_makes_it_five_exchanges_a_second() {
    let result = write_write_read("nagle-strict", BSD_TICK);
    let flow = &result.flows[0];
    assert_eq!(flow.held_tails, 10);
    // The first exchange falls anywhere between two ticks, all others wait from one to the next.
    let took = flow.end_s.unwrap();
    assert!(took > 1.8 && took < 2.02, "{took}");
}

#[test]
fn an_answer_with_an_odd_number_of_full_segments_holds_its_tail() {
    // Three full segments of which the third is not acknowledged at once, and a tail.
    let result = exchange("nagle-strict", DELAYED_200, "\"100 B\"", "\"4480 B\"");
    assert_eq!(result.flows[0].held_tails, 10);
    assert_eq!(result.flows[0].held_at, Some("server"));
    // With two of them the last ACK comes at once.
    let even = exchange("nagle-strict", DELAYED_200, "\"100 B\"", "\"3020 B\"");
    assert_eq!((even.flows[0].held_tails, even.flows[0].held_at), (0, None));
}

#[test]
fn a_sender_that_holds_no_segment_is_not_reported() {
    for transmit in ["nodelay", "doupnik", "doupnik-liberal"] {
        for acking in [DELAYED_200, DELAYED_40, BSD_TICK] {
            let flow = &write_write_read(transmit, acking).flows[0];
            assert_eq!((flow.held_tails, flow.held_tail_s), (0, 0.0), "{transmit} {acking}");
            assert!(flow.end_s.unwrap() < 0.1, "{transmit} {acking}");
        }
    }
}

#[test]
fn a_sender_without_data_is_not_reported_as_waiting() {
    // One write for each question: the ACK of the last answer is late, and nobody minds.
    let flow = &exchange("nagle-strict", DELAYED_200, "\"100 B\"", "\"100 B\"").flows[0];
    assert_eq!(flow.held_tails, 0);
    let every = &write_write_read("nagle-strict", "\"every-segment\"").flows[0];
    assert_eq!(every.held_tails, 0);
}
