//! Transfers that arrive in an open loop: as often, as long and as slow as they must be.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::host::session::ArrivalTally;
use netspurt_sim::record::result::RunResult;

fn text(duration: &str, link: &str, app: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[tcp]\nprofile = \"linux\"\n[link.l]\nbetween = [\"client\", \"server\"]\n{link}\n\
        [[flow]]\nfrom = \"client\"\nto = \"server\"\napp = {{ kind = \"arrivals\", {app} }}\n"
    )
}

fn run(duration: &str, link: &str, app: &str, seed: u64) -> RunResult {
    let text = text(duration, link, app);
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), seed, None).unwrap().run(&|| false)
}

fn tally(result: &RunResult) -> &ArrivalTally {
    result.flows[0].arrivals.as_deref().expect("its transfers arrive")
}

fn count(result: &RunResult, name: &str) -> u64 {
    tally(result).counts().into_iter().find(|(known, _)| *known == name).expect(name).1
}

fn measure(result: &RunResult, name: &str) -> f64 {
    let found = tally(result).measures().into_iter().find(|(known, _)| *known == name);
    found.and_then(|(_, value)| value).expect(name)
}

const FAST: &str = "rate = \"1 Gbit/s\"\ndelay = \"1 ms\"";

#[test]
fn poisson_arrivals_come_as_often_and_scatter_as_much_as_they_must() {
    // A load of 0.1 of 1 Gbit/s in transfers of 10 kB: 1250 a second, so 12 500 in 10 s with a deviation of 112.
    let counts: Vec<f64> = (1..=20)
        .map(|seed| count(&run("10 s", FAST, "size = \"10 kB\", load = 0.1", seed), "arrivals") as f64)
        .collect();
    let mean = counts.iter().sum::<f64>() / 20.0;
    assert!((mean - 12_500.0).abs() < 3.5 * 112.0 / 20_f64.sqrt(), "{mean}");
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 19.0;
    // Chi squared with 19 degrees of freedom lies between 6 and 40 in 99 of 100 cases.
    let spread = 19.0 * variance / 12_500.0;
    assert!((5.0..42.0).contains(&spread), "{spread}");
}

#[test]
fn even_arrivals_do_not_scatter_and_bursts_scatter_more() {
    let app = |process: &str| format!("size = \"10 kB\", load = 0.1, process = {process}");
    let even = run("10 s", FAST, &app("\"even\""), 1);
    assert_eq!(count(&even, "arrivals"), 12_500);
    // Bursts queue behind themselves: large gaps between them do not help those within.
    let poisson = run("10 s", FAST, "size = \"10 kB\", load = 0.1", 1);
    let bursts = run("10 s", FAST, &app("{ kind = \"log-normal\", sigma = 2.0 }"), 1);
    assert!(measure(&bursts, "slowdown_p99") > measure(&poisson, "slowdown_p99"));
    let sent = count(&bursts, "arrivals") as f64;
    assert!((sent / 12_500.0 - 1.0).abs() < 0.2, "{sent}");
}

#[test]
fn a_transfer_on_an_idle_path_takes_two_round_trips_and_its_sending_time() {
    // Ten segments leave at once: no slow start. 14 480 bytes of data are 15 000 octets with headers: 1.2 ms at 100 Mbit/s.
    let link = "rate = \"100 Mbit/s\"\ndelay = \"5 ms\"";
    let result = run("20 s", link, "size = \"14480 B\", every = \"500 ms\", request = \"1 B\"", 1);
    let took = measure(&result, "small_time_median_s");
    assert!((took / (0.02 + 0.0012) - 1.0).abs() < 0.01, "{took}");
    let slowdown = measure(&result, "slowdown_median");
    assert!((slowdown - 1.0).abs() < 0.01, "{slowdown}");
}

#[test]
fn large_transfers_take_the_rate_of_the_path() {
    let link = "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"";
    let result = run("100 s", link, "size = \"20 MB\", every = \"10 s\", transfers = 5", 1);
    assert_eq!([count(&result, "arrivals"), count(&result, "large_transfers")], [5, 5]);
    assert!((1.0..1.1).contains(&measure(&result, "large_slowdown_mean")));
    assert!(result.flows[0].completed);
}

#[test]
fn a_published_workload_keeps_its_load_and_its_classes() {
    // The table is half small (up to 100 kB: 0.546) and 3 % large (above 10 MB).
    let result =
        run("60 s", "rate = \"10 Gbit/s\"\ndelay = \"10 us\"", "workload = \"web-search\", load = 0.3", 1);
    let all = count(&result, "arrivals") as f64;
    let share = |name| count(&result, name) as f64 / all;
    assert!((share("small_transfers") - 0.546).abs() < 0.02, "{}", share("small_transfers"));
    assert!((share("large_transfers") - 0.03).abs() < 0.01, "{}", share("large_transfers"));
    let load = result.flows[0].bytes_delivered as f64 * 8.0 / 60.0 / 10e9;
    assert!((load / 0.3 - 1.0).abs() < 0.1, "{load}");
}

#[test]
fn slowdown_grows_with_the_load() {
    let at = |load: f64| {
        let app = format!("size = {{ kind = \"exponential\", mean = \"100 kB\" }}, load = {load}");
        measure(&run("20 s", "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"", &app, 1), "slowdown_mean")
    };
    let [low, middle, high] = [0.2, 0.5, 0.8].map(at);
    assert!(1.0 < low && low < middle && middle < high, "{low} {middle} {high}");
}

#[test]
fn the_same_seed_gives_the_same_arrivals_whatever_the_path() {
    let asked =
        |link| run("5 s", link, "workload = \"data-mining\", every = \"5 ms\"", 3).flows[0].bytes_asked;
    assert_eq!(
        asked("rate = \"100 Mbit/s\"\ndelay = \"1 ms\""),
        asked("rate = \"1 Gbit/s\"\ndelay = \"9 ms\"")
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would_be_right() {
    let cases = [
        ("load = 0.5", "transfers need a length"),
        ("size = \"1 kB\", workload = \"web-search\", load = 0.5", "either \"size\" or \"workload\""),
        ("size = \"1 kB\"", "say how often transfers arrive"),
        ("size = \"1 kB\", load = 0.5, every = \"1 ms\"", "either \"load\" or \"every\""),
        ("size = \"1 kB\", load = 0", "above 0 and at most 2"),
        ("size = \"1 kB\", load = 3", "above 0 and at most 2"),
        ("size = { kind = \"pareto\", min = \"1 kB\", shape = 0.9 }, load = 0.5", "infinite"),
        ("size = \"1 kB\", every = \"0 s\"", "more than zero"),
        ("size = \"1 kB\", every = \"1 s\", process = \"even\"", "\"process\" is for \"load\""),
        (
            "size = \"1 kB\", load = 0.5, small = \"1 MB\", medium = \"1 MB\"",
            "larger than the largest small one",
        ),
        ("workload = \"web-serch\", load = 0.5", "web-search"),
    ];
    for (app, words) in cases {
        let error = Scenario::parse(&text("1 s", FAST, app), "test.toml", &[]).expect_err(app).to_string();
        assert!(error.contains(words), "{app}: {error}");
        assert!(error.starts_with("test.toml:"), "{app}: {error}");
    }
    let endless =
        Scenario::parse(&text("1 s", "delay = \"1 ms\"", "size = \"1 kB\", load = 0.5"), "test.toml", &[]);
    let error = endless.unwrap().build("test").expect_err("no rate").to_string();
    assert!(error.contains("no link on the way has a rate"), "{error}");
}
