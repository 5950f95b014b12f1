//! Videos: the quality that a path carries, and what happens when it carries less.

use netspurt_scenario::Scenario;
use netspurt_sim::World;
use netspurt_sim::record::result::RunResult;

fn run(link: &str, app: &str, more: &str) -> RunResult {
    let text = format!(
        "duration = \"200 s\"\n[tcp]\nprofile = \"linux\"\n[link.l]\nbetween = [\"home\", \"net\"]\ndelay = \"20 ms\"\n{link}\n\
        [[flow]]\nfrom = \"home\"\nto = \"net\"\napp = {{ kind = \"video\", {app} }}\n{more}"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), 1, None).unwrap().run(&|| false)
}

fn measure(result: &RunResult, name: &str) -> f64 {
    let video = result.flows[0].video.expect("it plays a video");
    video.measures().iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value).expect(name)
}

#[test]
fn each_control_finds_the_quality_that_the_path_carries() {
    for control in ["rate", "bola"] {
        let result = run("rate = \"4 Mbit/s\"", &format!("control = \"{control}\", segments = 40"), "");
        let video = result.flows[0].video.unwrap();
        assert_eq!((video.segments, video.stalls), (40, 0), "{control}: {video:?}");
        let rate = measure(&result, "video_rate_bps");
        assert!((2.0e6..4.0e6).contains(&rate), "{control}: {rate}");
        assert!(result.flows[0].completed);
        // Half a round trip for each SYN, and a segment of the lowest quality: 1.4 Mbit at 4 Mbit/s.
        let start = measure(&result, "video_start_s");
        assert!((0.4..0.8).contains(&start), "{control}: {start}");
        assert!((video.played.as_secs_f64() - 160.0).abs() < 1e-6, "{control}");
    }
}

#[test]
fn a_path_that_is_too_narrow_stalls() {
    let result = run("rate = \"250 kbit/s\"", "", "");
    let video = result.flows[0].video.unwrap();
    assert!(video.stalls > 5, "{video:?}");
    assert!((measure(&result, "video_rate_bps") - 350_000.0).abs() < 1e-6);
    // It plays at most the share of the time that the path carries.
    let share = measure(&result, "stalled_share");
    assert!((0.25..0.45).contains(&share), "{share}");
}

#[test]
fn a_path_that_becomes_narrow_lowers_the_quality() {
    let change = "[[change]]\nat = \"80 s\"\nset = { \"link.l.rate\" = \"4 Mbit/s\" }\n";
    let result = run("rate = \"20 Mbit/s\"", "control = \"rate\"", change);
    let video = result.flows[0].video.unwrap();
    assert!(video.switches >= 2 && video.stalls == 0, "{video:?}");
    let rate = measure(&result, "video_rate_bps");
    assert!((4e6..7e6).contains(&rate), "{rate}");
}

#[test]
fn the_same_seed_gives_the_same_video() {
    let one = || run("rate = \"3 Mbit/s\"\nloss = { kind = \"packet-error\", rate = 0.01 }", "", "");
    let (a, b) = (one(), one());
    assert_eq!((a.digest, a.flows[0].video), (b.digest, b.flows[0].video));
}

#[test]
fn keys_that_a_video_must_not_have_are_refused_with_their_place() {
    for (app, said) in [
        ("ladder = []", "at least one quality"),
        ("ladder = [\"2 Mbit/s\", \"1 Mbit/s\"]", "qualities must rise"),
        ("segment = \"0 s\"", "a segment of no time"),
        ("buffer = \"5 s\"", "two segments at least, 8 s, not 5 s"),
        ("start_at = \"1 min\"", "the buffer never holds"),
        ("control = \"bba\"", "bola"),
    ] {
        let text = format!(
            "duration = \"1 s\"\n[link.l]\nbetween = [\"a\", \"b\"]\n[[flow]]\nfrom = \"a\"\nto = \"b\"\n\
            app = {{ kind = \"video\", {app} }}\n"
        );
        let error = Scenario::parse(&text, "test.toml", &[]).expect_err(app);
        assert!(error.message.contains(said) && error.line.is_some(), "{app}: {error}");
    }
}
