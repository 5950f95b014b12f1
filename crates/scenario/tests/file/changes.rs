//! `[[change]]`: what links become at given times.

use netspurt_scenario::{Scenario, document};
use netspurt_sim::World;
use netspurt_sim::network::schedule::Change;
use netspurt_sim::spec::{Changes, Room};
use netspurt_tcp::time::{Span, Time};

const LINE: &str = r#"duration = "40 s"
[link.up]
between = ["home", "net"]
rate = ["10 Mbit/s", "20 Mbit/s"]
delay = "10 ms"
queue = { kind = "drop-tail", limit = "50 packets" }
loss = [{ kind = "packet-error", rate = 0 }, { kind = "bit-error", rate = 0, direction = "net->home" }]
[[flow]]
app = { kind = "bulk", bytes = "20 MB" }
from = "net"
to = "home"
[[change]]
"#;

fn text(change: &str) -> String {
    format!("{LINE}{change}\n")
}

/// The changes of the two directions.
#[track_caller]
fn read(change: &str) -> [Changes; 2] {
    let scenario = Scenario::parse(&text(change), "line.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    let world = scenario.build("line").unwrap();
    world.links[0].directions.each_ref().map(|way| way.changes.clone())
}

#[track_caller]
fn refused(change: &str) -> String {
    Scenario::parse(&text(change), "line.toml", &[]).unwrap_err().to_string()
}

fn once<T>(secs: u64, value: T) -> Change<T> {
    Change { at: Time::ZERO + Span::from_secs(secs), every: None, until: None, value }
}

#[test]
fn numbers_of_a_link_are_set_for_both_directions_for_each_or_for_one() {
    let [there, back] = read(
        "at = \"15 s\"\nset = { \"link.up.rate\" = [\"2 Mbit/s\", \"3 Mbit/s\"], \"link.up.delay\" = \"40 ms\", \
         \"link.up.queue.limit\" = \"9 kB\", \"link.up.up.1\" = false, \"link.up.loss.0.rate\" = 0.1 }",
    );
    assert_eq!((there.rate, back.rate), (vec![once(15, 2_000_000)], vec![once(15, 3_000_000)]));
    assert_eq!((&there.delay, &back.delay), (&vec![once(15, Span::from_ms(40))], &there.delay));
    assert_eq!((there.up, back.up), (vec![], vec![once(15, false)]));
    assert_eq!((&there.room, &back.room), (&vec![once(15, Room::Bytes(9000))], &there.room));
    assert_eq!((&there.loss, &back.loss), (&vec![(0, once(15, 0.1))], &there.loss));
    let [there, back] = read("at = \"15 s\"\nset = { \"link.up.loss.1.rate\" = 1 }");
    assert_eq!(
        (there.loss, back.loss),
        (vec![], vec![(1, once(15, 1.0))]),
        "it is confined to one direction"
    );
}

#[test]
fn a_limit_in_time_is_what_the_direction_sends_in_it_at_first() {
    let set = "at = \"15 s\"\nset = { \"link.up.queue.limit\" = \"1 ms\", \"link.up.rate\" = \"1 Mbit/s\" }";
    let [there, back] = read(set);
    assert_eq!(
        (there.room, back.room),
        (vec![once(15, Room::Bytes(1250))], vec![once(15, Room::Bytes(2500))])
    );
    // 40 octets are 32 us at 10 Mbit/s and 16 us at 20 Mbit/s.
    let short = |path: &str| format!("at = \"15 s\"\nset = {{ \"link.up.queue.limit{path}\" = \"20 us\" }}");
    let error = refused(&short("")).replace('\n', " ");
    assert!(error.ends_with("the queue of link \"up\" has no room for a single packet"), "{error}");
    let of = |way: &str| {
        let path = format!("link.up.queue.{way}.limit");
        let text = text(&format!("at = \"15 s\"\nset = {{ \"{path}\" = \"20 us\" }}"));
        Scenario::parse(&text, "line.toml", &[]).is_ok()
    };
    assert_eq!((of("0"), of("1")), (false, true));
}

#[test]
fn a_limit_changes_where_it_is_one_for_all_packets_and_keeps_a_meaning() {
    let change = |queue: &str, limit: &str| {
        let text = format!(
            "[link.up]\nbetween = [\"a\", \"b\"]\nqueue = {queue}\n[[change]]\nat = \"1 s\"\n\
             set = {{ \"link.up.queue.limit\" = \"{limit}\" }}"
        );
        Scenario::parse(&text, "line.toml", &[]).map_err(|error| error.to_string())
    };
    for kind in ["codel", "red", "resend-first", "pie", "fq-pie", "dualpi2"] {
        let queue = format!("{{ kind = \"{kind}\" }}");
        assert!(change(&queue, "9 packets").is_ok(), "{kind}");
        assert!(
            change(&queue, "9 ms").unwrap_err().contains(
                "limit is a time, and the queue of link \"up\" is before an infinitely fast link: give it in packets or bytes"
            ),
            "{kind}"
        );
    }
    let classes = |kind: &str| format!("{{ kind = \"{kind}\", classes = [[\"EF\"]] }}");
    let [cake, fq_codel] = ["cake", "fq-codel"].map(|kind| format!("{{ kind = \"{kind}\" }}"));
    for queue in [cake, fq_codel, classes("priority"), classes("drr")] {
        let error = change(&queue, "9 packets").unwrap_err();
        assert!(error.contains("has no queue whose limit can change"), "{queue}: {error}");
    }
}

#[test]
fn a_period_ends_with_a_time_or_a_count() {
    let ends = |change: &str| {
        let [there, _] = read(&format!("{change}\nset = {{ \"link.up.up\" = true }}"));
        (there.up[0].every, there.up[0].until)
    };
    let (secs, at) = (|secs| Some(Span::from_secs(secs)), |secs| Some(Time::ZERO + Span::from_secs(secs)));
    assert_eq!(ends("at = \"5 s\"\nevery = \"15 s\""), (secs(15), None));
    assert_eq!(ends("at = \"5 s\"\nevery = \"15 s\"\nuntil = \"1 min\""), (secs(15), at(60)));
    assert_eq!(ends("at = \"5 s\"\nevery = \"15 s\"\ncount = 3"), (secs(15), at(35)));
}

#[test]
fn what_cannot_change_is_placed() {
    let path = |path: &str, value: &str| refused(&format!("at = \"15 s\"\nset = {{ \"{path}\" = {value} }}"));
    assert_eq!(
        path("link.upp.rate", "\"1 bit/s\""),
        "line.toml:14:9: change.0: there is no link \"upp\": did you mean \"up\"? Known: up"
    );
    assert_eq!(
        path("link.up.rat", "\"1 bit/s\""),
        "line.toml:14:9: change.0: link \"up\" has no \"rat\" that can change: did you mean \"rate\"? Known: rate, delay, \
         up, queue.limit, loss.rate"
    );
    assert_eq!(
        path("flow.0.start", "\"1 s\""),
        "line.toml:14:9: change.0: \"flow.0.start\" is no number of a link: a change sets link.NAME.rate, \
         link.NAME.delay, link.NAME.up, link.NAME.queue.limit, link.NAME.loss.rate"
    );
    assert!(path("link.up.rate.2", "\"1 bit/s\"").ends_with("it has 0, home->net, and 1, net->home"));
    assert!(path("link.up.loss.rate", "0.5").contains("has no loss with a rate there"));
    assert!(
        path("link..rate", "\"1 bit/s\"").starts_with("line.toml:14:9: change.0: \"link..rate\" is no path")
    );
}

#[test]
fn a_value_that_its_key_refuses_is_placed() {
    let value =
        |path: &str, value: &str| refused(&format!("at = \"15 s\"\nset = {{ \"{path}\" = {value} }}"));
    assert_eq!(
        value("link.up.rate", "\"0 bit/s\""),
        "line.toml:14:26: change.0: link.up.rate: a rate of zero lets nothing leave: set \"link.up.up\" to false instead"
    );
    assert!(
        value("link.up.rate", "[\"1 bit/s\", \"9 ms\"]")
            .starts_with("line.toml:14:38: change.0: link.up.rate: \"ms\" is not a unit for this")
    );
    assert!(
        value("link.up.delay", "5")
            .starts_with("line.toml:14:27: change.0: link.up.delay: 5.0 has no unit: write")
    );
    assert!(value("link.up.up", "\"no\"").ends_with("a link is up or not: write true or false, not no"));
    assert!(
        value("link.up.loss.0.rate", "1.5").ends_with("1.5 is no rate of a loss: it must be between 0 and 1")
    );
    assert!(value("link.up.queue.limit", "\"0 packets\"").ends_with("has no room for a single packet"));
    assert!(
        value("link.up.rate.0", "[\"1 bit/s\", \"2 bit/s\"]")
            .ends_with("\"link.up.rate.0\" names one direction, which has one value, not two")
    );
    assert!(value("link.up.delay", "[\"1 s\", \"2 s\", \"3 s\"]").starts_with(
        "line.toml:14:27: change.0.set.link.up.delay: there are 3 entries, but a link has two directions"
    ));
}

#[test]
fn times_that_make_no_sense_are_placed() {
    let set = "set = { \"link.up.up\" = true }";
    assert_eq!(
        refused(&format!("at = \"15 s\"\nevery = \"0 s\"\n{set}")),
        "line.toml:14:9: change.0.every: a period of 0 never lets time pass: write how long it is, such as \"15 s\", or \
         leave it out for a change that happens once"
    );
    assert!(
        refused(&format!("at = \"15 s\"\ncount = 2\n{set}"))
            .starts_with("line.toml:14:9: change.0.count: a change without")
    );
    assert!(
        refused(&format!("at = \"15 s\"\nevery = \"1 s\"\nuntil = \"9 s\"\n{set}"))
            .starts_with("line.toml:15:9: change.0.until: it ends at 9 s, before it begins at 15 s")
    );
    assert!(refused(set).contains("the key \"at\" is missing"));
    assert!(refused("at = \"1 s\"\nset = {}").contains("change.0.set: a change sets something"));
}

#[test]
fn links_whose_directions_share_a_medium_or_follow_a_recording_keep_their_rate() {
    let change = |keys: &str, path: &str| {
        let text = format!(
            "[link.up]\nbetween = [\"a\", \"b\"]\n{keys}\n[[change]]\nat = \"1 s\"\nset = {{ \"{path}\" = \"1 bit/s\" }}"
        );
        Scenario::parse(&text, "line.toml", &[]).unwrap_err().to_string()
    };
    let trace = "trace = { kind = \"rates\", times = [\"0 s\"], rates = [\"1 bit/s\"] }";
    assert!(
        change(trace, "link.up.rate").contains("follows a recording: its rate does not change beside it")
    );
    let half = "rate = \"1 Mbit/s\"\nduplex = \"half\"";
    assert!(change(half, "link.up.rate").contains("share a medium: its rate does not change"));
    assert!(change(half, "link.up.queue.limit").contains("has no queue whose limit can change"));
}

#[test]
fn a_run_follows_its_changes_and_lists_them() {
    let change = "at = \"5 s\"\nset = { \"link.up.rate.1\" = \"2 Mbit/s\" }\n[[change]]\nat = \"8 s\"\nevery = \"10 s\"\n\
                  set = { \"link.up.up\" = false }\n[[change]]\nat = \"10 s\"\nevery = \"10 s\"\nset = { \"link.up.up\" = true }";
    let run = |text: &str| {
        let scenario = Scenario::parse(text, "line.toml", &[]).unwrap();
        World::new(scenario.build("line").unwrap(), 1, None).unwrap().run(&|| false)
    };
    let result = run(&text(change));
    let listed: Vec<_> = result
        .changes
        .iter()
        .map(|change| (change.time_s.round() as u64, &*change.path, &*change.value))
        .collect();
    assert_eq!(
        listed[..3],
        [(5, "link.up.rate.1", "2 Mbit/s"), (8, "link.up.up", "false"), (10, "link.up.up", "true")]
    );
    let json = document::to_json(&result);
    assert_eq!(
        json["changes"][1],
        serde_json::json!({ "time_s": 8.0, "path": "link.up.up", "value": "false" })
    );
    // 5 s at 20 Mbit/s, then 2 Mbit/s, of which it is down a fifth of the time.
    let bytes = result.flows[0].bytes_delivered as f64;
    let most = (5.0 * 20e6 + (result.active_s - 5.0) * 2e6 * 0.8) / 8.0;
    assert!(bytes > 0.7 * most && bytes <= 1.01 * most, "{bytes} of {most}");
}
