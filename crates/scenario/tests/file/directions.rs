//! Links whose directions differ: a list of two for a key.

use netspurt_scenario::{Directed, Rate, Scenario};
use netspurt_sim::network::capacity::Capacity;
use netspurt_sim::spec::{CakeSpec, ChannelSpec, LossSpec, MtuSpec, QueueSpec};
use netspurt_tcp::time::Span;

/// A scenario of one link with these keys, from `home` to `net`.
fn text(keys: &str) -> String {
    format!("[link.line]\nbetween = [\"home\", \"net\"]\n{keys}\n")
}

#[track_caller]
fn read(keys: &str) -> [ChannelSpec; 2] {
    let scenario = Scenario::parse(&text(keys), "line.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]).unwrap_or_else(|error| {
        panic!("{error}\n{}", scenario.merged_toml());
    });
    assert_eq!(again, scenario, "{}", scenario.merged_toml());
    scenario.build("line").unwrap().links[0].directions.clone()
}

#[track_caller]
fn refused(keys: &str) -> String {
    Scenario::parse(&text(keys), "line.toml", &[]).unwrap_err().to_string()
}

#[test]
fn one_value_is_for_both_directions_and_a_list_of_two_for_each() {
    let [up, down] = read("rate = [\"10 Mbit/s\", \"50 Mbit/s\"]\ndelay = \"9 ms\"");
    assert_eq!((up.rate, down.rate), (Some(10_000_000), Some(50_000_000)));
    assert_eq!((up.delay, down.delay), (Span::from_ms(9), Span::from_ms(9)));
    let [up, down] = read(
        "delay = [\"1 ms\", \"2 ms\"]\n\
         queue = [{ kind = \"drop-tail\", limit = \"5 packets\" }, { kind = \"codel\" }]\n\
         reorder = [{ probability = 0.1, delay = \"1 ms\" }, { probability = 0.2, delay = \"2 ms\" }]\n\
         duplicate = [{ probability = 0.3 }, { probability = 0.4 }]\n\
         corrupt = [{ probability = 0.5 }, { probability = 0.6 }]",
    );
    assert_eq!((up.delay, down.delay), (Span::from_ms(1), Span::from_ms(2)));
    assert_eq!(up.queue, QueueSpec::Packets(5));
    assert!(matches!(down.queue, QueueSpec::Codel(..)), "{:?}", down.queue);
    let held = |way: &ChannelSpec| way.reorder.map(|reorder| (reorder.probability, reorder.extra_delay));
    assert_eq!(held(&up), Some((0.1, Span::from_ms(1))));
    assert_eq!(held(&down), Some((0.2, Span::from_ms(2))));
    assert_eq!((up.duplicate, down.duplicate), (0.3, 0.4));
    assert_eq!((up.corrupt, down.corrupt), (0.5, 0.6));
}

#[test]
fn a_queue_is_checked_and_built_at_the_rate_of_each_direction() {
    let [up, down] =
        read("rate = [\"10 Mbit/s\", \"20 Mbit/s\"]\nqueue = { kind = \"drop-tail\", limit = \"10 ms\" }");
    assert_eq!((up.queue, down.queue), (QueueSpec::Bytes(12_500), QueueSpec::Bytes(25_000)));
    let [up, down] = read("queue = [{ kind = \"cake\", bandwidth = \"8 Mbit/s\" }, { kind = \"cake\" }]");
    let bandwidth = |way: &ChannelSpec| match way.queue {
        QueueSpec::Cake(CakeSpec { bandwidth, .. }) => bandwidth,
        _ => panic!("{:?}", way.queue),
    };
    assert_eq!((bandwidth(&up), bandwidth(&down)), (Some(8_000_000), None));

    let queue = "queue = { kind = \"drop-tail\", limit = \"20 us\" }";
    let slow = refused(&format!("rate = [\"20 Mbit/s\", \"10 Mbit/s\"]\n{queue}"));
    assert!(slow.ends_with("the queue of link \"line\" has no room for a single packet"), "{slow}");
    // Only one direction follows the recording, the other has no rate.
    let trace = "trace = [[{ kind = \"rates\", times = [\"0 s\"], rates = [\"1 Mbit/s\"] }], []]";
    let infinite = refused(&format!("{trace}\nqueue = {{ kind = \"drop-tail\", limit = \"10 ms\" }}"));
    assert!(infinite.contains("is before an infinitely fast link"), "{infinite}");
    let [up, _] = read(&format!(
        "{trace}\nqueue = [{{ kind = \"drop-tail\", limit = \"10 ms\" }}, {{ kind = \"codel\" }}]"
    ));
    assert_eq!(up.queue, QueueSpec::Bytes(1250));
    let shared = refused(
        "duplex = \"half\"\nqueue = [{ kind = \"codel\" }, { kind = \"cake\", bandwidth = \"8 Mbit/s\" }]",
    );
    assert!(shared.starts_with("line.toml:4:") && shared.contains("leave bandwidth out"), "{shared}");
}

#[test]
fn a_list_of_tables_applies_to_both_directions_and_a_list_of_lists_to_each() {
    let error = |rate| LossSpec::PacketError { rate };
    let [up, down] =
        read("loss = [{ kind = \"packet-error\", rate = 0.1 }, { kind = \"packet-error\", rate = 0.2 }]");
    let both = LossSpec::Several(vec![error(0.1), error(0.2)]);
    assert_eq!([&up.loss, &down.loss], [&both, &both]);
    let [up, down] = read(
        "loss = [[{ kind = \"packet-error\", rate = 0.1 }, { kind = \"packet-error\", rate = 0.2 }], []]\n\
         mtu = [{ size = \"1400 B\" }, [{ size = \"1500 B\" }, { size = \"1300 B\", from = \"3 s\" }]]",
    );
    assert_eq!([&up.loss, &down.loss], [&both, &LossSpec::None]);
    let sizes = |way: &ChannelSpec| way.mtu.iter().map(|MtuSpec { mtu, .. }| *mtu).collect::<Vec<_>>();
    assert_eq!([sizes(&up), sizes(&down)], [vec![1400], vec![1500, 1300]]);
    let [up, down] = read("loss = [{ kind = \"packet-error\", rate = 0.1 }, [{ kind = \"none\" }]]");
    assert_eq!([up.loss, down.loss], [error(0.1), LossSpec::None]);
}

#[test]
fn two_recordings_are_one_for_each_direction() {
    let recording =
        |rate: u64| format!("{{ kind = \"rates\", times = [\"0 s\"], rates = [\"{rate} bit/s\"] }}");
    let (first, second) = (recording(1000), recording(2000));
    for keys in [format!("trace = [{first}, {second}]"), format!("trace = [[{first}], {second}]")] {
        let [up, down] = read(&keys);
        assert_eq!([up.rate, down.rate], [Some(1000), Some(2000)]);
        assert!(matches!(up.capacity.as_deref(), Some(Capacity::Rates(_))));
    }
    let [up, down] = read(&format!("rate = \"5 bit/s\"\ntrace = [[{first}], []]"));
    assert_eq!([up.rate, down.rate], [Some(1000), Some(5)]);
    assert!(down.capacity.is_none());
}

#[test]
fn an_override_names_a_direction_or_gives_both() {
    let text =
        text("rate = [\"10 Mbit/s\", \"50 Mbit/s\"]\nloss = [[{ kind = \"packet-error\", rate = 0.1 }], []]");
    let read =
        |path, value| Scenario::parse(&text, "line.toml", &[(path, value)]).unwrap().link["line"].clone();
    let rates = |there, back| Some(Directed::Each([Rate(there), Rate(back)]));
    assert_eq!(read("link.line.rate.1", "9 bit/s").rate, rates(10_000_000, 9));
    assert_eq!(read("link.line.rate", "[\"1 bit/s\", \"2 bit/s\"]").rate, rates(1, 2));
    assert_eq!(read("link.line.rate", "3 bit/s").rate, Some(Directed::Both(Rate(3))));
    let loss = read("link.line.loss.0.0.rate", "0.5").loss;
    assert!(format!("{loss:?}").contains("rate: 0.5"), "{loss:?}");
}

#[test]
fn three_directions_are_refused_with_what_would_be_right() {
    assert_eq!(
        refused("rate = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]"),
        "line.toml:3:8: link.line.rate: there are 3 entries, but a link has two directions: write one value for both, or a \
         list of two, from the first node of \"between\" to the second and back"
    );
    assert!(
        refused("delay = [\"1 ms\"]").starts_with("line.toml:3:9: link.line.delay: there are 1 entries, but")
    );
    assert!(
        refused("loss = [[], [], []]").starts_with("line.toml:3:8: link.line.loss: there are 3 entries, but")
    );
}

#[test]
fn what_is_wrong_with_a_direction_is_placed() {
    assert_eq!(
        refused("rate = [\"1 Mbit/s\", \"0 Mbit/s\"]"),
        "line.toml:3:21: link \"line\" has a rate of zero: give it a rate above zero, or none for infinitely fast"
    );
    assert_eq!(
        refused("delay = [\"1 ms\", 2]"),
        "line.toml:3:18: link.line.delay.1: 2 has no unit: write \"2 ms\" or \"2 s\"; other units: ps, ns, us, µs, min, h"
    );
    assert_eq!(
        refused("queue = [{ kind = \"codel\" }, { kind = \"drop-tail\", limit = \"0 packets\" }]"),
        "line.toml:3:60: the queue of link \"line\" has no room for a single packet"
    );
    assert_eq!(
        refused("mtu = [[{ size = \"1500 B\" }], [{ size = \"60 B\" }]]"),
        "line.toml:3:41: link \"line\" takes packets of 60 B at most: every link takes 68 bytes (RFC 791, section 3.2)"
    );
    let mtus =
        "mtu = [[{ size = \"1500 B\" }], [{ size = \"600 B\", from = \"2 s\" }, { size = \"700 B\" }]]";
    assert_eq!(
        refused(mtus),
        "line.toml:3:66: the mtu of link \"line\" changes at 0 s, no later than the one before: name them in the order in \
         which they begin"
    );
    assert_eq!(
        refused("loss = [[], { kind = \"packet-error\", rate = 0.1, direction = \"home->net\" }]"),
        "line.toml:3:62: the place in the list of two says the direction of link \"line\": leave out direction = \
         \"home->net\""
    );
    let recording = "{ kind = \"rates\", times = [\"0 s\"], rates = [\"1 bit/s\"] }";
    assert!(
        refused(&format!("trace = [[{recording}, {recording}], []]"))
            .ends_with("the recording of link \"line\": a direction follows one recording, not two")
    );
}
