//! Bad input: one clear sentence, at the line and column of what is wrong.

use netspurt_scenario::Scenario;

const GOOD: &str = r#"duration = "10 s"
[link.satellite]
between = ["earth", "space"]
rate = "1.544 Mbit/s"
delay = "290 ms"
loss = { kind = "bit-error", rate = 1e-6 }
[host.earth.tcp]
profile = "bsd43-tahoe"
[[flow]]
app = { kind = "bulk" }
from = "earth"
to = "space"
"#;

/// The good file with one change.
#[track_caller]
fn changed(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} must stand once in the file");
    let text = GOOD.replace(from, to);
    match Scenario::parse(&text, "bad.toml", &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn overridden(path: &str, value: &str) -> String {
    match Scenario::parse(GOOD, "bad.toml", &[(path, value)]) {
        Ok(_) => panic!("accepted: {path} = {value}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_unchanged_file_is_good() {
    assert!(Scenario::parse(GOOD, "good.toml", &[]).is_ok());
}

#[test]
fn broken_toml_is_placed() {
    assert!(changed("duration = \"10 s\"", "duration = \"10 s").starts_with("bad.toml:1:"));
    assert!(
        changed("to = \"space\"", "to = \"space\"\nto = \"space\"")
            .starts_with("bad.toml:13:1: \"to\" is defined twice")
    );
    assert_eq!(
        changed("[host.earth.tcp]", "[link.satellite]"),
        "bad.toml:7:7: \"satellite\" is defined twice: remove one of the definitions"
    );
}

#[test]
fn an_unknown_key_is_placed_and_the_nearest_known_one_named() {
    assert_eq!(
        changed("delay = ", "dealy = "),
        "bad.toml:5:1: link.satellite: unknown key \"dealy\": did you mean \"delay\"? Known: ack_thinning, aggregation, between, \
         corrupt, delay, duplex, duplicate, loss, middlebox, mtu, path, policer, queue, rate, reorder, shaper, trace"
    );
    assert!(
        changed("rate = 1e-6", "rat = 1e-6")
            .starts_with("bad.toml:6:30: link.satellite.loss: unknown key \"rat\": did you mean \"rate\"?")
    );
}

#[test]
fn what_is_no_list_is_told_how_one_is_written() {
    assert_eq!(
        changed("[\"earth\", \"space\"]", "\"earth\""),
        "bad.toml:3:11: link.satellite.between: expected a list such as [\"a\", \"b\"]"
    );
    assert_eq!(
        changed("[[flow]]", "[flow]"),
        "bad.toml:9:1: flow: expected a list of tables, each of which begins with [[flow]]"
    );
}

#[test]
fn what_is_no_table_is_told_how_one_is_written() {
    assert_eq!(
        changed("[link.satellite]", "[[link]]"),
        "bad.toml:2:1: link: expected tables with names, each of which begins with [link.NAME]"
    );
    let message = changed("rate = \"1.544", "mtu = 1500\nrate = \"1.544");
    assert!(
        message.starts_with(
            "bad.toml:4:7: link.satellite.mtu: expected a table with the key \"size\", or a list"
        ),
        "{message}"
    );
}

#[test]
fn a_negative_number_without_a_unit_is_not_repeated() {
    let message = changed("\"290 ms\"", "-290");
    assert!(
        message.ends_with("-290 is negative and has no unit: write a value such as \"290 ms\""),
        "{message}"
    );
}

#[test]
fn another_kind_of_file_is_recognized_by_its_first_key() {
    let sweep = Scenario::parse("scenario = \"a.toml\"\nseeds = 5\n", "a.toml", &[]).unwrap_err();
    let message = "a.toml:1:1: unknown key \"scenario\": this is a sweep, which 'netspurt sweep' reads";
    assert_eq!(sweep.to_string(), message);
    let nested = changed("kind = \"bulk\"", "kind = \"bulk\", scenario = 3");
    assert!(!nested.contains("sweep"), "{nested}");
}

#[test]
fn a_table_without_its_name_is_told_how_it_begins() {
    assert_eq!(
        changed("[link.satellite]", "[link]"),
        "bad.toml:3:1: link: \"between\" is a key of a link, and the table has no name: begin it with [link.NAME]"
    );
}

#[test]
fn a_missing_unit_is_an_error_that_says_which_would_be_right() {
    assert_eq!(
        changed("\"290 ms\"", "290"),
        "bad.toml:5:9: link.satellite.delay: 290 has no unit: write \"290 ms\" or \"290 s\"; other units: \
         ps, ns, us, µs, min, h"
    );
    assert!(changed("\"1.544 Mbit/s\"", "1.544").starts_with(
        "bad.toml:4:8: link.satellite.rate: 1.544 has no unit: write \"1.544 Mbit/s\"; other units: bit/s, kbit/s"
    ));
    let sized = overridden("flow.0.app.bytes", "5000");
    assert!(sized.contains("5000 has no unit: write \"5000 KiB\" or \"5000 B\"; other units: "), "{sized}");
    assert!(
        changed("\"290 ms\"", "\"290\"").starts_with("bad.toml:5:9: link.satellite.delay: 290 has no unit")
    );
    assert!(changed("\"290 ms\"", "\"290 millis\"").contains("\"millis\" is not a unit for this"));
    assert!(changed("\"290 ms\"", "\"-290 ms\"").contains("negative"));
}

#[test]
fn an_unknown_name_is_placed_and_the_nearest_known_one_named() {
    assert_eq!(
        changed("profile = \"bsd43-tahoe\"", "congestion = \"cubik\""),
        "bad.toml:8:14: host.earth.tcp.congestion: unknown name \"cubik\": did you mean \"cubic\"? Known: none, tahoe, \
         reno, newreno, reno-linux, cubic, cubic-linux, dctcp, vegas, bbr, bbr3, htcp, illinois, westwood, prague, \
         ledbat-plus-plus"
    );
    assert!(changed("\"bsd43-tahoe\"", "\"bsd43-taho\"").contains("did you mean \"bsd43-tahoe\"?"));
    assert!(changed("profile = \"bsd43-tahoe\"", "rto = \"rfc6289\"").contains("did you mean \"rfc6298\"?"));
    assert_eq!(
        changed("profile = \"bsd43-tahoe\"", "transmit = \"minshal\""),
        "bad.toml:8:12: host.earth.tcp.transmit: unknown name \"minshal\": did you mean \"minshall\"? Known: nodelay, \
         nagle-strict, nagle-liberal, minshall, linux22, doupnik, doupnik-liberal, cork"
    );
    assert!(changed("profile = \"bsd43-tahoe\"", "acking = { kind = \"bsd-byte\" }").starts_with(
        "bad.toml:8:19: host.earth.tcp.acking: unknown kind \"bsd-byte\": did you mean \"bsd-bytes\"?"
    ));
    assert!(
        changed("profile = \"bsd43-tahoe\"", "profile = \"freebsd33\"")
            .contains("did you mean \"freebsd3\"?")
    );
    assert!(
        changed("profile = \"bsd43-tahoe\"", "rto = \"fixed\"").contains("write { kind = \"fixed\", … }")
    );
    assert_eq!(
        changed("\"bit-error\"", "\"bit-eror\""),
        "bad.toml:6:17: link.satellite.loss: unknown kind \"bit-eror\": did you mean \"bit-error\"? Known: none, \
         bit-error, packet-error, exponential-gaps, gilbert-elliott, script, ecn-black-hole"
    );
    assert!(
        changed("kind = \"bulk\"", "")
            .starts_with("bad.toml:10:7: flow.0.app: the table needs a key \"kind\"")
    );
    assert!(
        changed("profile = \"bsd43-tahoe\"", "initial_window = \"rfc6982\"")
            .contains("did you mean \"rfc6928\"?")
    );
}

#[test]
fn nodes_that_are_not_there_are_placed() {
    assert_eq!(
        changed("to = \"space\"", "to = \"spce\""),
        "bad.toml:12:6: no link has a node \"spce\": did you mean \"space\"? Known: earth, space"
    );
    assert_eq!(
        changed("from = \"earth\"", "from = \"mars\""),
        "bad.toml:11:8: no link has a node \"mars\": known: earth, space"
    );
    assert_eq!(
        changed("[host.earth.tcp]", "[host.erth.tcp]"),
        "bad.toml:7:7: no link has a node \"erth\": did you mean \"earth\"? Known: earth, space"
    );
}

#[test]
fn a_rate_of_zero_is_placed() {
    assert_eq!(
        changed("\"1.544 Mbit/s\"", "\"0 Mbit/s\""),
        "bad.toml:4:8: link \"satellite\" has a rate of zero: give it a rate above zero, or none for infinitely fast"
    );
}

#[test]
fn a_window_of_two_to_the_thirty_is_placed() {
    assert_eq!(
        changed("profile = \"bsd43-tahoe\"", "receive_window = \"1 GiB\""),
        "bad.toml:8:18: receive_window is too large: every TCP window lies below 2^30 = 1073741824 bytes"
    );
    assert!(changed("profile = \"bsd43-tahoe\"", "receive_window = \"1 TiB\"").contains("too large"));
}

#[test]
fn nak_against_sack_is_placed() {
    assert_eq!(
        changed("profile = \"bsd43-tahoe\"", "profile = \"linux\"\nrecovery = \"nak\""),
        "bad.toml:9:12: recovery \"nak\" and sack exclude each other: both report missing data to the sender; set sack = \
         false or choose recovery = \"sack\""
    );
    assert!(
        changed("profile = \"bsd43-tahoe\"", "profile = \"bsd43-bigwindow-nak\"\nsack = true")
            .starts_with("bad.toml:9:8: recovery \"nak\"")
    );
}

#[test]
fn other_contradictions_of_tcp_are_placed() {
    let tcp = |keys: &str| changed("profile = \"bsd43-tahoe\"", keys);
    assert!(tcp("mss = \"100 kB\"").starts_with("bad.toml:8:7: an MSS of 100 kB does not fit"));
    assert!(tcp("base_mss = \"100 kB\"").starts_with("bad.toml:8:12: a base_mss of 100 kB does not fit"));
    assert!(tcp("mss = \"0 B\"").starts_with("bad.toml:8:7: an MSS of 0 bytes"));
    assert!(tcp("sack = false").starts_with("bad.toml:8:8: recovery \"sack\" requires"));
    assert!(
        tcp("dup_ack_threshold = 0").starts_with("bad.toml:8:21: host.earth.tcp.dup_ack_threshold: 0 is out")
    );
    assert!(tcp("retries = 300").contains("between 0 and 255"));
    assert!(tcp("timer_grain = \"0 ms\"").starts_with("bad.toml:8:15: timer_grain must not be zero"));
    assert!(
        tcp("option_layout = { kind = \"document\", nak = 8 }").contains("8 belongs to a standard option")
    );
    assert!(tcp("option_layout = { kind = \"shared\", option = 252 }").contains("RFC 6994"));
    assert!(tcp("rto = { kind = \"rfc6298\", min = \"90 s\" }").contains("lower bound"));
    assert!(tcp("acking = { kind = \"adaptive\", min = \"300 ms\" }").contains("minimum delay of acking"));
    let counts = tcp("acking = { kind = \"adaptive\", counts = \"acts\" }");
    assert!(
        counts
            .starts_with("bad.toml:8:40: host.earth.tcp.acking.counts: unknown name \"acts\": did you mean")
    );
    assert!(tcp("sack = 1").starts_with("bad.toml:8:8: host.earth.tcp.sack: expected true or false"));
}

#[test]
fn flows_without_sense_are_placed() {
    assert!(
        changed("to = \"space\"", "to = \"earth\"")
            .starts_with("bad.toml:12:6: a flow from \"earth\" to itself")
    );
    assert_eq!(
        changed("to = \"space\"", "to = \"space\"\ncount = 0"),
        "bad.toml:13:9: flow.0.count: 0 is out of range: it must be at least 1"
    );
}

#[test]
fn nodes_that_no_links_join_are_placed() {
    let text = GOOD.replace("[host.earth.tcp]", "[link.other]\nbetween = [\"a\", \"b\"]\n[host.earth.tcp]");
    let text = text.replace("to = \"space\"", "to = \"a\"");
    let error = Scenario::parse(&text, "bad.toml", &[]).expect_err("no route");
    assert_eq!(error.to_string(), "bad.toml:14:6: no links lead from \"earth\" to \"a\"");
    assert_eq!((error.line, error.column), (Some(14), Some(6)));
}

#[test]
fn a_network_alone_is_a_scenario_and_flows_want_a_duration() {
    let no_flow = &GOOD[..GOOD.find("[[flow]]").expect("flows")];
    let alone = Scenario::parse(no_flow, "alone.toml", &[]).expect("a network");
    assert_eq!(alone.hosts(), ["earth", "space"]);
    let timeless = no_flow.replace("duration = \"10 s\"", "");
    let timeless = Scenario::parse(&timeless, "alone.toml", &[]).expect("a network");
    assert_eq!(Scenario::parse(&timeless.merged_toml(), "again.toml", &[]), Ok(timeless));
    let error = changed("duration = \"10 s\"", "");
    assert_eq!(
        error,
        "bad.toml:1:1: duration is missing or zero: it says when the simulation ends, such as \"60 s\""
    );
    assert!(
        Scenario::parse("", "bad.toml", &[]).expect_err("nothing").to_string().starts_with("bad.toml:1:1: ")
    );
}

#[test]
fn without_flows_hosts_are_the_nodes_that_nothing_lies_behind() {
    let star = "[link.a]\nbetween = [\"a\", \"r\"]\n[link.b]\nbetween = [\"r\", \"b\"]\n[link.c]\nbetween = [\"c\", \"r\"]\n";
    assert_eq!(Scenario::parse(star, "star.toml", &[]).expect("a network").hosts(), ["a", "b", "c"]);
    let ring = format!(
        "{star}[link.d]\nbetween = [\"a\", \"b\"]\n[link.e]\nbetween = [\"c\", \"a\"]\n[link.f]\nbetween = [\"b\", \"c\"]\n"
    );
    assert_eq!(Scenario::parse(&ring, "ring.toml", &[]).expect("a network").hosts(), ["a", "r", "b", "c"]);
}

#[test]
fn links_without_sense_are_placed() {
    assert!(
        changed("[\"earth\", \"space\"]", "[\"earth\"]")
            .starts_with("bad.toml:3:11: link.satellite.between: ")
    );
    assert!(changed("[\"earth\", \"space\"]", "[\"earth\", \"earth\"]").starts_with("bad.toml:3:21: "));
    assert_eq!(
        changed("rate = 1e-6", "rate = 1.5"),
        "bad.toml:6:37: link.satellite.loss.rate: 1.5 is out of range: it must be between 0 and 1"
    );
    assert!(changed("rate = 1e-6", "rate = nan").contains("out of range"));
    assert_eq!(
        changed("rate = 1e-6", "rate = 1e-6, direction = \"earth->mars\""),
        "bad.toml:6:55: \"earth->mars\" is no direction of link \"satellite\": it has \"earth->space\" and \
         \"space->earth\""
    );
    assert!(
        changed("between = [\"earth\", \"space\"]\n", "")
            .starts_with("bad.toml:2:1: link.satellite: the key")
    );
    assert!(changed("\"10 s\"", "\"0 s\"").starts_with("bad.toml:1:12: duration is missing or zero"));
    let listed = changed(
        "loss = { kind = \"bit-error\", rate = 1e-6 }",
        "loss = [{ kind = \"bit-error\", rate = 1e-6, direction = \"a->b\" }]",
    );
    assert!(listed.starts_with("bad.toml:6:56: \"a->b\" is no direction"), "{listed}");
}

#[test]
fn an_error_in_an_override_names_the_override() {
    assert_eq!(
        overridden("link.satellite.delay", "300"),
        "--set link.satellite.delay: 300 has no unit: write \"300 ms\" or \"300 s\"; \
         other units: ps, ns, us, µs, min, h"
    );
    assert!(overridden("link.satelite.delay", "300 ms").contains("did you mean \"satellite\"?"));
    assert!(overridden("link.satellite.dealy", "300 ms").contains("did you mean \"delay\"?"));
    assert!(overridden("flow.1.start", "1 s").contains("\"1\" is no index of flow, which has 1"));
    assert!(
        overridden("host.mars.latency", "1 s").starts_with("--set host.mars.latency: no link has a node")
    );
    assert!(
        overridden("host.earth.tcp.receive_window", "2 GiB")
            .starts_with("--set host.earth.tcp.receive_window: ")
    );
    assert!(overridden("duration.x", "1").starts_with("--set duration.x: "));
    assert!(overridden("", "1").contains("is no path"));
}

#[test]
fn columns_count_characters() {
    let text =
        GOOD.replace("loss = { kind = \"bit-error\", rate = 1e-6 }", "loss = { kind = \"µµµ\", rate = 1 }");
    let error = Scenario::parse(&text, "bad.toml", &[]).expect_err("unknown kind");
    assert_eq!((error.line, error.column), (Some(6), Some(17)));
    let text = GOOD.replace("rate = 1e-6 }", "direction = \"µ->µ\", rat = 1 }");
    let error = Scenario::parse(&text, "bad.toml", &[]).expect_err("unknown key");
    assert_eq!((error.line, error.column), (Some(6), Some(50)));
}

#[test]
fn a_host_that_cannot_be_is_refused() {
    assert_eq!(
        overridden("host.earth.handover", "{ kind = \"clusters\", size = \"0 B\" }"),
        "--set host.earth.handover: clusters of no bytes carry nothing: host \"earth\" needs at least 1 B"
    );
    assert!(overridden("host.earth.handover", "segment").contains("did you mean \"segments\"?"));
    assert!(overridden("host.earth.processor.segmentin", "1 us").contains("did you mean \"segment_in\"?"));
    assert!(overridden("host.earth.processor.read", "5").contains("unit"));
}

#[test]
fn a_reader_that_never_reads_is_refused() {
    assert_eq!(
        overridden("host.space.reader", "{ buffer = \"0 B\" }"),
        "--set host.space.reader: a buffer of no bytes reads nothing: host \"space\" needs at least 1 B"
    );
    assert_eq!(
        overridden("host.space.reader.rate", "0 Mbit/s"),
        "--set host.space.reader.rate: a reader with a rate of zero never reads on: give host \"space\" a rate above zero, \
         or none for infinitely fast"
    );
    assert!(overridden("host.space.reader.bufer", "1 KiB").contains("did you mean \"buffer\"?"));
}

const LOAD: &str = r#"duration = "10 s"
[link.l]
between = ["a", "b"]
[host.a]
ports = { first = 2000, last = 2003 }
[[flow]]
from = "a"
to = "b"
[flow.app]
kind = "web"
files = 4
size = { kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }
think = { kind = "uniform", min = "1 s", max = "5 s" }
http = "1.0"
"#;

/// The load above with one change.
#[track_caller]
fn load(from: &str, to: &str) -> String {
    assert_eq!(LOAD.matches(from).count(), 1, "{from:?} must stand once in the file");
    let files = |name: &str| match name {
        "sizes.csv" => Ok("probability,length\n0,10\n0.5,9\n1,20\n".to_owned()),
        "short.csv" => Ok("probability,length,time\n0,10,1\n0.9,20,2\n".to_owned()),
        _ => Err("no such file or directory".to_owned()),
    };
    match Scenario::parse_with(&LOAD.replace(from, to), "bad.toml", &[], &files) {
        Ok(_) => panic!("accepted: {to}"),
        Err(error) => error.to_string(),
    }
}

const SIZE: &str = r#"{ kind = "lomax", median = "1500 B", shape = 1.2, max = "1 MB" }"#;

#[test]
fn what_cannot_be_a_distribution_is_placed() {
    let says = |to: &str, message: &str| assert_eq!(load(SIZE, to), format!("bad.toml:{message}"), "{to}");
    says(
        "\"-1 B\"",
        "12:8: flow.0.app.size: \"-1 B\" is negative: write a value without the sign, such as \"1 B\"",
    );
    says(
        "{ kind = \"lomax\", median = \"-5 B\", shape = 1.2 }",
        "12:35: flow.0.app.size.median: \"-5 B\" is negative: write a value without the sign, such as \"5 B\"",
    );
    says(
        "{ kind = \"lomax\", median = \"1 kB\", shape = 0 }",
        "12:51: flow.0.app.size.shape: shape must be a number above 0",
    );
    says(
        "{ kind = \"uniform\", min = \"2 kB\", max = \"1 kB\" }",
        "12:48: flow.0.app.size.max: max must not be below min",
    );
    let unknown = load(SIZE, "{ kind = \"pareto2\", median = \"1 kB\" }");
    assert!(
        unknown.starts_with(
            "bad.toml:12:17: flow.0.app.size: unknown kind \"pareto2\": did you mean \"pareto\"?"
        )
    );
    assert!(load(SIZE, "1500").contains("1500 has no unit"));
}

#[test]
fn what_cannot_be_quantiles_is_placed() {
    let table = |rest: &str| load(SIZE, &format!("{{ kind = \"quantiles\", {rest} }}"));
    assert_eq!(
        table("probabilities = [0, 0.5, 1], values = [\"10 B\", \"30 B\", \"20 B\"]"),
        "bad.toml:12:8: flow.0.app.size: the value at position 3 is below the one before: quantiles never fall"
    );
    assert_eq!(
        table("probabilities = [0, 0.9], values = [\"10 B\", \"30 B\"]"),
        "bad.toml:12:8: flow.0.app.size: the probabilities go from 0 to 0.9: they must go from 0 to 1"
    );
    assert!(table("probabilities = [0, 1], values = [\"10 B\"]").contains("2 probabilities and 1 values"));
    assert_eq!(
        table("file = \"none.csv\""),
        "bad.toml:12:37: flow.0.app.size.file: \"none.csv\" cannot be read: no such file or directory"
    );
    assert!(
        table("file = \"sizes.csv\"").ends_with("position 2 is below the one before: quantiles never fall")
    );
    assert!(table("file = \"short.csv\", column = \"time\"").ends_with("they must go from 0 to 1"));
    let slip = table("file = \"short.csv\", column = \"tme\"");
    assert!(slip.starts_with(
        "bad.toml:12:59: flow.0.app.size.column: \"short.csv\": there is no column \"tme\": did you mean \"time\"?"
    ));
    assert!(table("file = \"short.csv\"").ends_with("name the column of the values: length, time"));
    assert!(table("column = \"time\", probabilities = [0, 1]").contains("a column is one of a file"));
    let alone = LOAD.replace(SIZE, "{ kind = \"quantiles\", file = \"sizes.csv\" }");
    let error = Scenario::parse(&alone, "bad.toml", &[]).unwrap_err().to_string();
    assert!(error.contains("stands alone"), "{error}");
}

#[test]
fn pages_without_files_and_messages_without_bytes_are_refused() {
    let page =
        "bad.toml:11:9: flow.0.app.files: a page with no files is none: there must be 1 at least, its first";
    assert_eq!(load("files = 4", "files = 0"), page);
    assert_eq!(load("files = 4", "files = { kind = \"uniform\", min = 0, max = 3 }"), page);
    let app = "kind = \"web\"\nfiles = 4\n";
    let dialogue = |request: &str| {
        let text = LOAD.replace(app, "kind = \"request-response\"\nresponse = \"1 kB\"\n");
        let text = text.split("size = ").next().unwrap().to_owned() + request;
        match Scenario::parse(&text, "bad.toml", &[]) {
            Ok(_) => panic!("accepted: {request}"),
            Err(error) => error.to_string(),
        }
    };
    assert!(dialogue("request = { writes = [\"0 B\"] }").contains("each must have one byte at least"));
    assert!(dialogue("request = { gap = \"1 s\" }").contains("a message needs a \"size\""));
    let short = dialogue("request = { size = \"100 B\", writes = [\"60 B\", \"76 B\"] }");
    assert_eq!(
        short,
        "bad.toml:12:20: flow.0.app.request.size: the message is shorter than its first writes, 136 bytes together"
    );
    assert!(dialogue("request = \"1 kB\"\nexchanges = \"forver\"").contains("did you mean \"forever\"?"));
    assert!(dialogue("request = \"1 kB\"\nexchanges = 0").contains("0 is out of range: it must be"));
}

#[test]
fn a_protocol_that_looks_like_a_number_wants_quotation_marks() {
    assert_eq!(
        load("http = \"1.0\"", "http = 1.1"),
        "bad.toml:14:8: flow.0.app.http: 1.1 is a name here: write it in quotation marks, \"1.1\""
    );
    assert!(load("http = \"1.0\"", "http = \"2\"").contains("unknown name \"2\""));
    assert!(
        load("files = 4", "fils = 4").contains("flow.0.app: unknown key \"fils\": did you mean \"files\"?")
    );
    assert_eq!(
        load("last = 2003", "last = 1999"),
        "bad.toml:5:32: the last port, 1999, lies before the first, 2000"
    );
}

#[test]
fn a_buffer_smaller_than_one_segment_is_refused() {
    let error = changed(
        "profile = \"bsd43-tahoe\"",
        "profile = \"bsd43-tahoe\"\nmss = \"1460 B\"\nsend_buffer = \"1000 B\"",
    );
    assert_eq!(error, "bad.toml:10:15: a send_buffer of 1000 bytes does not hold one segment of 1460 bytes");
    let error = overridden("tcp.receive_window", "\"100 B\"");
    assert!(error.contains("a receive_window of 100 bytes does not hold one segment of"), "{error}");
}

#[test]
fn a_unit_that_means_different_things_is_refused_with_what_to_write() {
    assert_eq!(
        changed("\"1.544 Mbit/s\"", "\"10mbps\""),
        "bad.toml:4:8: link.satellite.rate: \"mbps\" means bytes per second in tc, and bits per second elsewhere: write \
         \"Mbit/s\""
    );
    assert_eq!(
        overridden("flow.0.app.bytes", "20KB"),
        "--set flow.0.app.bytes: \"KB\" means 1024 bytes in some tools, and 1000 in others: write \"KiB\" for 1024 bytes, or \
         \"kB\" for 1000"
    );
}

#[test]
fn a_percentage_outside_its_range_is_placed() {
    assert_eq!(
        changed("1e-6", "\"101%\""),
        "bad.toml:6:37: link.satellite.loss.rate: \"101%\" is out of range: it must be between 0% and 100%"
    );
    assert_eq!(
        changed("1e-6", "\"often\""),
        "bad.toml:6:37: link.satellite.loss.rate: \"often\" is neither a number nor a percentage: write a probability such \
         as 0.001, or \"0.1%\""
    );
    assert!(changed("1e-6", "1.5").contains("1.5 is out of range: it must be between 0 and 1"));
    assert!(changed("1e-6", "\"-1%\"").contains("out of range"));
    assert!(changed("1e-6", "\"inf%\"").contains("does not begin with a number"));
}

#[test]
fn choices_of_recovery_and_of_the_start_are_refused_with_what_would_be_right() {
    let key = "profile = \"bsd43-tahoe\"";
    assert!(changed(key, "prr_rule = \"rfc9936\"").contains("did you mean \"rfc9937\"?"));
    assert!(changed(key, "hystart = \"serach\"").contains("did you mean \"search\"?"));
    assert!(changed(key, "abe = \"yes\"").starts_with("bad.toml:8:7: host.earth.tcp.abe:"));
    let missing = changed(key, "careful_resume = { kind = \"saved\", rtt = \"100 ms\" }");
    assert!(missing.starts_with("bad.toml:8:") && missing.contains("cwnd"), "{missing}");
    let built = |tcp: &str| {
        let scenario =
            Scenario::parse(&GOOD.replace(key, tcp), "bad.toml", &[]).map_err(|e| e.to_string())?;
        scenario.build("bad").map(drop).map_err(|e| e.to_string())
    };
    let saved = "careful_resume = { kind = \"saved\", rtt = \"600 ms\", cwnd = \"100 kB\" }";
    assert_eq!(built(saved), Ok(()), "cubic, and pacing is switched on");
    let other = built(&format!("{saved}\ncongestion = \"vegas\"")).expect_err("vegas cannot");
    assert!(other.contains("careful_resume requires congestion \"reno\", \"newreno\", \"cubic\""), "{other}");
    let unpaced = built(&format!("{saved}\npacing = false")).expect_err("pacing is off");
    assert!(unpaced.contains("careful_resume requires pacing: set pacing = true"), "{unpaced}");
    let zero = built(&saved.replace("600 ms", "0 s")).expect_err("no round trip");
    assert!(zero.starts_with("bad.toml:8:") && zero.contains("careful_resume must not be zero"), "{zero}");
}

#[test]
fn a_name_that_nothing_could_show_is_refused() {
    assert_eq!(
        changed("[link.satellite]", "[link.\"\"]"),
        "bad.toml:2:7: \"\" is no name for a link: it must not be empty, or begin or end with a space"
    );
    assert_eq!(
        changed("from = \"earth\"", "from = \"earth\"\nname = \" a\""),
        "bad.toml:12:8: \" a\" is no name for a flow: it must not be empty, or begin or end with a space"
    );
}

#[test]
fn packets_and_segments_have_no_parts() {
    for (path, value, sentence) in [
        (
            "link.satellite.queue",
            "{ kind = 'drop-tail', limit = '0.5 packets' }",
            "\"0.5 packets\" is not a whole number: write \"1 packet\"",
        ),
        (
            "tcp.initial_window",
            "2.5 segments",
            "\"2.5 segments\" is not a whole number: write \"3 segments\"",
        ),
    ] {
        assert!(overridden(path, value).ends_with(sentence), "{}", overridden(path, value));
    }
    let whole = [("tcp.initial_window", "0.3e1 segments")];
    assert!(Scenario::parse(GOOD, "good.toml", &whole).is_ok());
}

#[test]
fn a_number_without_end_is_refused() {
    assert_eq!(changed("rate = 1e-6", "rate = inf"), "bad.toml:6:37: the number inf is out of range");
}
