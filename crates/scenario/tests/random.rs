//! Random scenarios with every mechanism of links, queues, paths, middleboxes, traffic and TCP that a file can name.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::random::Stream;
use netspurt_sim::record::result::RunResult;
use std::collections::BTreeSet;

const RATES: &[&str] = &["\"2 Mbit/s\"", "\"20 Mbit/s\"", "[\"1 Mbit/s\", \"10 Mbit/s\"]"];
const DELAYS: &[&str] = &[
    "\"3 ms\"",
    "[\"1 ms\", \"20 ms\"]",
    "{ kind = \"normal\", mean = \"10 ms\", sd = \"3 ms\", correlation = 0.5 }",
    "{ kind = \"uniform\", min = \"1 ms\", max = \"9 ms\", reorders = true }",
    "{ kind = \"pareto\", min = \"5 ms\", max = \"90 ms\", shape = 2.5 }",
    "{ kind = \"recording\", times = [\"0 s\", \"1 s\"], delays = [\"5 ms\", \"30 ms\"] }",
    "{ kind = \"walk\", start = \"9 ms\", every = \"100 ms\", step = \"1 ms\", min = \"5 ms\", max = \"15 ms\" }",
    "{ kind = \"steps\", every = \"300 ms\", min = \"5 ms\", max = \"40 ms\" }",
    "{ kind = \"quantiles\", probabilities = [0.0, 0.9, 1.0], values = [\"4 ms\", \"9 ms\", \"40 ms\"] }",
];
const QUEUES: &[&str] = &[
    "{ kind = \"drop-tail\", limit = \"30 packets\" }",
    "{ kind = \"drop-tail\", limit = \"40 kB\", mark_above = \"8 kB\" }",
    "{ kind = \"drop-tail\", limit = \"50 ms\" }",
    "{ kind = \"red\" }",
    "{ kind = \"codel\" }",
    "{ kind = \"fq-codel\" }",
    "{ kind = \"pie\" }",
    "{ kind = \"docsis-pie\" }",
    "{ kind = \"fq-pie\" }",
    "{ kind = \"dualpi2\" }",
    "{ kind = \"priority\", classes = [[\"EF\"], [\"AF41\"]] }",
    "{ kind = \"drr\", classes = [[\"EF\"]], quanta = [\"3 kB\", \"2 kB\"] }",
    "{ kind = \"cake\", bandwidth = \"900 kbit/s\", ack_filter = \"conservative\" }",
    "{ kind = \"cake\", diffserv = \"diffserv4\", isolation = \"hosts\" }",
];
/// Keys of a link that stand beside those above.
const EXTRAS: &[&str] = &[
    "policer = { rate = \"800 kbit/s\", burst = \"20 kB\" }",
    "policer = [\"none\", { rate = \"800 kbit/s\", burst = \"9 kB\", excess = \"9 kB\", yellow = \"mark\" }]",
    "shaper = [{ rate = \"700 kbit/s\", burst = \"15 kB\" }, \"none\"]",
    "shaper = { rate = \"700 kbit/s\", burst = \"15 kB\", peak = \"900 kbit/s\" }",
    "loss = [[{ kind = \"packet-error\", rate = 0.01 }], []]",
    "mtu = [[{ size = \"1300 B\", from = \"400 ms\" }], []]",
    "reorder = { probability = 0.02, delay = \"3 ms\" }",
    "duplicate = { probability = 0.01 }",
    "corrupt = { probability = 0.01 }",
    "middlebox = { mss = \"1200 B\", strip = [\"sack\", \"unknown\"], bleach_ecn = true }",
    "middlebox = { window = \"20 kB\", strip = [\"timestamps\", \"window-scaling\"], idle_timeout = \"1 s\" }",
    "aggregation = [{ packets = \"8 packets\", timeout = \"1 ms\" }, \"none\"]",
    "aggregation = { interval = \"2 ms\" }",
    "ack_thinning = [\"none\", { keep = 4, interval = \"5 ms\" }]",
];
const MODELS: &[&str] = &[
    "adsl",
    "vdsl",
    "docsis",
    "gpon",
    "wifi",
    "lte",
    "5g",
    "leo",
    "geo",
    "transatlantic",
    "data-centre",
    "cloud-vm",
];
const CHANGES: &[&str] = &[
    "at = \"300 ms\"\nset = { \"link.x.delay\" = \"12 ms\" }",
    "at = \"200 ms\"\nevery = \"500 ms\"\nset = { \"link.x.up\" = false }\n[[change]]\nat = \"250 ms\"\nevery = \"500 ms\"\n\
     set = { \"link.x.up\" = true }",
    "at = \"600 ms\"\nroute = { between = [\"a\", \"b\"], links = [\"y\", \"z\"] }",
];
const APPS: &[&str] = &[
    "{ kind = \"bulk\" }",
    "{ kind = \"bulk\", bytes = \"50 kB\" }",
    "{ kind = \"request-response\", request = \"300 B\", response = \"9 kB\", exchanges = 4, gap = \"50 ms\" }",
    "{ kind = \"files\", size = \"20 kB\", transfers = 3 }",
    "{ kind = \"streams\", bytes = \"30 kB\", streams = 3 }",
    "{ kind = \"arrivals\", workload = \"rpc\", load = 0.2 }",
    "{ kind = \"arrivals\", size = \"9 kB\", load = 0.3, process = \"log-normal\" }",
    "{ kind = \"incast\", servers = 5, size = \"9 kB\", think = \"10 ms\" }",
    "{ kind = \"video\" }",
    "{ kind = \"call\" }",
    "{ kind = \"datagrams\", size = \"200 B\", interval = { kind = \"exponential\", mean = \"5 ms\" } }",
    "{ kind = \"datagrams\", rate = \"300 kbit/s\", on = \"50 ms\", off = \"50 ms\" }",
];
const SENDERS: &[&str] = &[
    "profile = \"linux\"",
    "profile = \"prague\"",
    "profile = \"linux\"\ncongestion = \"bbr\"",
    "profile = \"linux\"\ncongestion = \"bbr3\"",
    "profile = \"linux\"\ncongestion = \"htcp\"",
    "profile = \"linux\"\ncongestion = \"illinois\"",
    "profile = \"linux\"\ncongestion = \"westwood\"",
    "profile = \"linux\"\ncongestion = \"ledbat-plus-plus\"",
    "profile = \"linux\"\ncongestion = \"cubic\"\necn = \"rfc3168\"\nabe = true",
    "profile = \"linux\"\nhystart = \"search\"",
    "profile = \"linux\"\ncareful_resume = { kind = \"saved\", cwnd = \"60 kB\", rtt = \"40 ms\" }",
    "profile = \"linux\"\nreceiver_congestion = \"rledbat\"",
];
const ENDS: &[&str] =
    &["from = \"a\"\nto = \"b\"", "from = \"b\"\nto = \"c\"", "among = [\"a\", \"b\", \"c\"]"];
const DSCPS: &[&str] = &["CS0", "EF", "AF41"];

/// Draws from these, and notes what was drawn.
struct Draw {
    stream: Stream,
    drawn: BTreeSet<&'static str>,
}

impl Draw {
    fn one_of(&mut self, all: &'static [&'static str]) -> &'static str {
        let one = all[self.stream.below(all.len() as u64) as usize];
        self.drawn.insert(one);
        one
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.stream.below(n) == 0
    }
}

/// A link with keys at random, or a path model.
fn link(draw: &mut Draw, name: &str, ends: [&str; 2], plain: bool) -> String {
    let mut text = format!("[link.{name}]\nbetween = [\"{}\", \"{}\"]\n", ends[0], ends[1]);
    if !plain && draw.one_in(5) {
        return text + &format!("path = \"{}\"\n", draw.one_of(MODELS));
    }
    let delay = if plain { "\"4 ms\"" } else { draw.one_of(DELAYS) };
    text += &format!("rate = {}\ndelay = {delay}\nqueue = {}\n", draw.one_of(RATES), draw.one_of(QUEUES));
    if draw.one_in(2) {
        text += &format!("{}\n", draw.one_of(EXTRAS));
    }
    text
}

/// Two ways from a to b, one of them over c, and some flows.
fn scenario(draw: &mut Draw) -> String {
    let changes = draw.one_in(2);
    let mut text = "duration = \"1500 ms\"\n".to_owned();
    for (name, ends, plain) in
        [("x", ["a", "b"], changes), ("y", ["a", "c"], false), ("z", ["c", "b"], false)]
    {
        text += &link(draw, name, ends, plain);
    }
    if changes {
        text += &format!("[[change]]\n{}\n", draw.one_of(CHANGES));
    }
    for number in 0..1 + draw.stream.below(3) {
        // A change of the route is one between ends of flows.
        let ends = if number == 0 { ENDS[0] } else { draw.one_of(ENDS) };
        let app = draw.one_of(APPS);
        text += &format!("[[flow]]\n{ends}\napp = {app}\ndscp = \"{}\"\n", draw.one_of(DSCPS));
        if !(app.contains("call") || app.contains("datagrams")) {
            text += &format!("[flow.tcp]\n{}\n", draw.one_of(SENDERS));
        }
    }
    text
}

#[track_caller]
fn run(text: &str, seed: u64) -> RunResult {
    let scenario =
        Scenario::parse(text, "random.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    let spec = scenario.build("random").unwrap_or_else(|error| panic!("{error}\n{text}"));
    World::new(spec, seed, None).unwrap().run(&|| false)
}

#[test]
fn every_mechanism_takes_part_in_random_scenarios() {
    let mut drawn = BTreeSet::new();
    let mut delivered = 0;
    for seed in 0..160 {
        let mut draw = Draw { stream: Stream::new(seed, "scenario"), drawn: BTreeSet::new() };
        let text = scenario(&mut draw);
        drawn.append(&mut draw.drawn);
        let result = run(&text, seed);
        assert!(!result.interrupted);
        for flow in &result.flows {
            assert_eq!(flow.wrong_bytes, 0, "seed {seed}\n{text}");
            delivered += usize::from(flow.bytes_delivered > 0);
            let counted = flow.datagrams.as_deref();
            assert!(counted.is_none_or(|sent| sent.lost <= sent.sent), "seed {seed}\n{text}");
        }
        for link in &result.links {
            assert!(link.utilisation <= 1.0 + 1e-9, "seed {seed}: {link:?}\n{text}");
        }
        if seed % 8 == 0 {
            assert_eq!(run(&text, seed).digest, result.digest, "seed {seed}\n{text}");
        }
    }
    assert!(delivered > 160, "{delivered}");
    let all = [RATES, DELAYS, QUEUES, EXTRAS, MODELS, CHANGES, APPS, SENDERS, ENDS, DSCPS];
    let never: Vec<_> = all.concat().into_iter().filter(|one| !drawn.contains(one)).collect();
    assert!(never.is_empty(), "{never:?}");
}
