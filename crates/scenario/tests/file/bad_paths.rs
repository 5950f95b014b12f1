//! Bad descriptions of paths: each is one sentence with file, line, column, and what would be right.

use netspurt_scenario::Scenario;

const LINE: &str = "duration = \"10 s\"\n[link.line]\nbetween = [\"home\", \"net\"]\n";

/// The message for a link with these keys. They begin in line 4.
#[track_caller]
fn link(keys: &str) -> String {
    Scenario::parse(&format!("{LINE}{keys}\n"), "home.toml", &[]).unwrap_err().to_string()
}

/// The message for a change with these keys. They begin in line 8.
#[track_caller]
fn change(keys: &str) -> String {
    link(&format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n[[change]]\nat = \"1 s\"\n{keys}"))
}

#[test]
fn each_mistake_is_placed_and_its_correction_is_named() {
    let cases: &[(String, &str, &[&str])] = &[
        // A list of three directions.
        (
            link("rate = [\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]"),
            "4:8",
            &["one value for both, or a list of two"],
        ),
        // A negative or zero token bucket.
        (
            link("policer = { rate = \"-1 Mbit/s\", burst = \"15 kB\" }"),
            "4:20",
            &["negative", "\"1 Mbit/s\""],
        ),
        (
            link("shaper = { rate = \"0 bit/s\", burst = \"15 kB\" }"),
            "4:19",
            &["never filled", "a rate above zero"],
        ),
        (link("shaper = { rate = \"1 Mbit/s\", burst = \"-15 kB\" }"), "4:39", &["negative", "\"15 kB\""]),
        (
            link("shaper = { rate = \"1 Mbit/s\", burst = \"15 kB\", peak = \"0 bit/s\" }"),
            "4:55",
            &["is below the rate", "give it at least the rate"],
        ),
        // A burst below one packet.
        (link("policer = { rate = \"1 Mbit/s\", burst = \"0 B\" }"), "4:40", &["1500 B", "at least that"]),
        (link("policer = { rate = \"1 Mbit/s\", burst = \"1 kB\" }"), "4:40", &["1500 B", "at least that"]),
        // A change of a path that does not exist, or to a value that its key refuses.
        (change("set = { \"link.lien.rate\" = \"2 Mbit/s\" }"), "8:9", &["did you mean \"line\""]),
        (change("set = { \"link.line.rat\" = \"2 Mbit/s\" }"), "8:9", &["did you mean \"rate\""]),
        (change("set = { \"link.line.rate\" = \"0 bit/s\" }"), "8:28", &["set \"link.line.up\" to false"]),
        (change("set = { \"link.line.rate\" = \"2 ms\" }"), "8:28", &["\"ms\" is not a unit", "Mbit/s"]),
        (change("set = { \"link.line.delay\" = \"-2 ms\" }"), "8:29", &["negative", "\"2 ms\""]),
        // A period of 0.
        (change("every = \"0 s\"\nset = { \"link.line.up\" = false }"), "8:9", &["such as \"15 s\""]),
        // A delay recording that goes backwards in time.
        (
            link(
                "delay = { kind = \"recording\", times = [\"0 s\", \"2 s\", \"1 s\"], delays = [\"1 ms\", \"1 ms\", \"1 ms\"] }",
            ),
            "4:39",
            &["row 3: 1 s comes after 2 s", "times must rise"],
        ),
        // A path model with a key that it does not know.
        (link("path = { model = \"docsis\", upp = \"1 Mbit/s\" }"), "4:28", &["did you mean \"up\""]),
        (
            link("path = { model = \"leo\", satellites = 3 }"),
            "4:25",
            &["write the keys of the link beside it"],
        ),
    ];
    for (message, place, parts) in cases {
        assert!(message.starts_with(&format!("home.toml:{place}: ")), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}: {parts:?}");
        assert!(!message.contains('\n'), "{message}");
    }
}
