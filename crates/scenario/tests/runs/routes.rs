//! Routes that change, and flows among several nodes.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::RunResult;

/// A short way of 5 ms from a to b, and a long one of 40 ms.
const WAYS: &str = r#"duration = "3 s"
[link.short]
between = ["a", "b"]
delay = "5 ms"
[link.down]
between = ["b", "m"]
delay = "20 ms"
[link.up]
between = ["a", "m"]
delay = "20 ms"
"#;

#[track_caller]
fn run(text: &str) -> RunResult {
    let scenario = Scenario::parse(text, "ways.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
    assert_eq!(again.as_ref(), Ok(&scenario), "{}", scenario.merged_toml());
    World::new(scenario.build("ways").unwrap(), 1, None).unwrap().run(&|| false)
}

fn refused(change: &str, flow: &str) -> String {
    Scenario::parse(&format!("{WAYS}[[change]]\nat = \"1 s\"\n{change}\n[[flow]]\n{flow}"), "ways.toml", &[])
        .unwrap_err()
        .to_string()
}

const DATAGRAMS: &str = "app = { kind = \"datagrams\", interval = \"10 ms\" }";

#[test]
fn packets_take_the_new_links_from_the_change_on_and_those_under_way_stay_on_theirs() {
    for dscp in ["CS0", "EF"] {
        let result = run(&format!(
            "{WAYS}[[change]]\nat = \"1 s\"\nroute = {{ between = [\"b\", \"a\"], links = [\"down\", \"up\"] }}\n\
             [[change]]\nat = \"2 s\"\nroute = {{ between = [\"a\", \"b\"], links = [\"short\"] }}\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\ndscp = \"{dscp}\"\n{DATAGRAMS}"
        ));
        let flow = result.flows[0].datagrams.as_deref().unwrap();
        let measures = flow.measures();
        let of = |name| measures.iter().find(|(known, _)| *known == name).unwrap().1.unwrap();
        // A hundred each second: those of the second second take 40 ms.
        let mean = of("delay_mean_s");
        assert!((mean - (2.0 * 0.005 + 0.040) / 3.0).abs() < 2e-4, "{dscp}: {mean}");
        assert_eq!([of("delay_min_s"), of("delay_max_s")].map(|s| (s * 1e6).round() as u64), [5000, 40_000]);
        // Those that were sent 10, 20 and 30 ms before the way became short come after the first ones on it.
        assert_eq!((flow.lost, flow.reordered), (0, 3), "{dscp}");
        let packets: Vec<u64> = result.links.iter().map(|link| link.packets).collect();
        assert_eq!(packets.iter().filter(|&&packets| packets == 100).count(), 2, "{packets:?}");
        let told: Vec<_> = result.changes.iter().map(|change| (&*change.path, &*change.value)).collect();
        assert_eq!(told, [("route.b.a", "down, up"), ("route.a.b", "short")]);
    }
}

#[test]
fn a_connection_goes_on_over_the_new_route() {
    let flow = "[[flow]]\nfrom = \"a\"\nto = \"b\"\napp = { kind = \"request-response\", request = \"100 B\", response = \
                \"100 B\", exchanges = \"forever\" }";
    let change =
        "[[change]]\nat = \"0 s\"\nroute = { between = [\"a\", \"b\"], links = [\"up\", \"down\"] }\n";
    // A handshake and 300 exchanges of 10 ms, or 37 of 80 ms.
    let [short, long] =
        ["", change].map(|change| run(&format!("{WAYS}{change}{flow}")).flows[0].bytes_delivered);
    assert!((29_500..=30_000).contains(&short) && (3500..=3700).contains(&long), "{short} {long}");
}

#[test]
fn a_route_that_leads_nowhere_is_refused_with_what_would_be_right() {
    let flow = format!("from = \"a\"\nto = \"b\"\n{DATAGRAMS}");
    let route = |between: &str, links: &str| format!("route = {{ between = {between}, links = {links} }}");
    let ab = "[\"a\", \"b\"]";
    for (change, place, message) in [
        (
            route("[\"a\", \"c\"]", "[\"short\"]"),
            "13:27",
            "no flow begins or ends at \"c\": did you mean \"a\"? Known: a, b",
        ),
        (route("[\"a\", \"m\"]", "[\"up\"]"), "13:27", "no flow begins or ends at \"m\""),
        (route("[\"a\", \"a\"]", "[\"up\"]"), "13:21", "not from \"a\" to itself"),
        (route(ab, "[\"shrot\"]"), "13:42", "there is no link \"shrot\": did you mean \"short\"?"),
        (route(ab, "[\"down\", \"up\"]"), "13:42", "joins \"b\" and \"m\", and the route has come to \"a\""),
        (route(ab, "[\"up\"]"), "13:42", "the route ends at \"m\" and not at \"b\""),
        (route(ab, "[\"up\", \"up\"]"), "13:48", "comes to \"a\" a second time"),
    ] {
        let told = refused(&change, &flow);
        assert!(
            told.contains(message) && told.starts_with(&format!("ways.toml:{place}: change.0.route.")),
            "{told}"
        );
    }
    let nothing = refused("every = \"1 s\"", &flow);
    assert!(
        nothing.contains("a change sets something: name a number of a link, or give a \"route\""),
        "{nothing}"
    );
}

/// A star of four hosts.
fn star(flow: &str) -> String {
    let links = ["a", "b", "c", "d"].map(|host| {
        format!("[link.{host}]\nbetween = [\"{host}\", \"switch\"]\nrate = \"1 Gbit/s\"\ndelay = \"10 us\"\n")
    });
    format!("duration = \"1 s\"\n{}[[flow]]\n{flow}", links.concat())
}

#[test]
fn among_hosts_each_sends_to_each_other() {
    let flow = "name = \"shuffle\"\namong = [\"a\", \"b\", \"c\", \"d\"]\napp = { kind = \"bulk\", bytes = \"1 MB\" }";
    let result = run(&star(flow));
    assert_eq!(result.flows.len(), 12);
    let mut pairs: Vec<_> =
        result.flows.iter().map(|flow| (flow.from.to_string(), flow.to.to_string())).collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 12);
    assert!(result.flows.iter().all(|flow| &*flow.flow == "shuffle" && flow.bytes_delivered == 1_000_000));
    // Three transfers leave over each link.
    assert!(result.flows.iter().all(|flow| flow.end_s.unwrap() > 0.024), "three of 8 ms over one link");
}

#[test]
fn among_is_refused_where_it_makes_no_sense() {
    let app = "app = { kind = \"bulk\" }";
    for (among, message) in [
        ("among = [\"a\"]", "there are 1 nodes, and between 2 and 256 are possible"),
        ("among = [\"a\", \"b\", \"a\"]", "\"a\" is there twice"),
        ("among = \"a\"", "expected a list of nodes"),
        ("among = [\"a\", 3]", "a node is a name in quotation marks"),
        ("among = [\"a\", \"b\"]\nfrom = \"a\"", "leave \"from\" and \"to\" out"),
        ("among = [\"a\", \"x\"]", "\"x\""),
    ] {
        let told =
            Scenario::parse(&star(&format!("{among}\n{app}")), "star.toml", &[]).unwrap_err().to_string();
        assert!(told.contains(message) && told.starts_with("star.toml:"), "{told}");
    }
}
