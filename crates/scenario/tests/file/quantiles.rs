//! Mah's measured replies (INFOCOM 1997), as the study of RFC 2415 uses them.

use netspurt_scenario::Scenario;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::random::Stream;
use netspurt_sim::random::distribution::{Distribution, Family};

const SCENARIO: &str = r#"duration = "1 s"
link.l.between = ["a", "b"]
[[flow]]
from = "a"
to = "b"
[flow.app]
kind = "web"
files = { kind = "quantiles", file = "mah.csv", column = "files_per_page" }
size = { kind = "quantiles", file = "mah.csv", column = "reply_length_octets" }
think = { kind = "quantiles", file = "mah.csv", column = "think_time_s", max = "15 min" }
"#;

fn scenario() -> Scenario {
    let table = include_str!("../../../../studies/rfc2415/mah_quantiles.csv");
    let files = |name: &str| {
        assert_eq!(name, "mah.csv");
        Ok(table.to_owned())
    };
    Scenario::parse_with(SCENARIO, "mah.toml", &[], &files).unwrap_or_else(|error| panic!("{error}"))
}

fn distributions(scenario: &Scenario) -> [Distribution; 3] {
    let spec = scenario.build("mah").unwrap();
    let AppSpec::Session(session) = &spec.flows[0].app else { panic!("it is a session") };
    [session.primary.clone(), session.files.clone(), session.think.clone()]
}

#[test]
fn a_million_replies_have_the_mean_and_the_median_that_were_measured() {
    const DRAWS: usize = 1_000_000;
    let [size, ..] = distributions(&scenario());
    let Family::Quantiles(table) = &size.family else { panic!("it is a table") };
    // The mean of the whole trace is 7231; thirty quantiles of it say 7184.69, worked out apart from this program.
    assert!((table.mean() - 7_184.692_164).abs() < 1e-3, "{}", table.mean());
    let mut stream = Stream::new(1997, "mah");
    let mut drawn: Vec<u64> = (0..DRAWS).map(|_| size.draw_bytes(&mut stream)).collect();
    let mean = drawn.iter().sum::<u64>() as f64 / DRAWS as f64;
    // The standard deviation is about 40 kB: 40 bytes for the mean of a million.
    assert!((mean - 7184.7).abs() < 120.0, "{mean}");
    drawn.sort_unstable();
    assert!(drawn[DRAWS / 2].abs_diff(2112) <= 10, "{}", drawn[DRAWS / 2]);
    assert!(drawn[DRAWS * 9 / 10].abs_diff(12_581) <= 120, "{}", drawn[DRAWS * 9 / 10]);
    assert!(drawn[0] >= 1 && drawn[DRAWS - 1] <= 1_636_039);
}

#[test]
fn other_columns_have_units_of_their_own() {
    let [_, files, think] = distributions(&scenario());
    let mut stream = Stream::new(1, "mah");
    let pages: Vec<u32> = (0..10_000).map(|_| files.draw_count(&mut stream)).collect();
    assert!(pages.iter().all(|files| (1..=65).contains(files)));
    let single = pages.iter().filter(|files| **files == 1).count() as f64 / 10_000.0;
    assert!((0.50..0.56).contains(&single), "{single}");
    let mut think: Vec<f64> = (0..10_000).map(|_| think.draw_span(&mut stream).as_secs_f64()).collect();
    think.sort_by(f64::total_cmp);
    assert!((think[5000] - 16.192).abs() < 1.0 && think[9999] <= 900.0, "{} {}", think[5000], think[9999]);
}

#[test]
fn a_merged_scenario_holds_the_table_itself() {
    let scenario = scenario();
    let merged = scenario.merged_toml();
    assert!(!merged.contains("mah.csv"), "{merged}");
    let again = Scenario::parse(&merged, "merged.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(distributions(&again), distributions(&scenario));
}
