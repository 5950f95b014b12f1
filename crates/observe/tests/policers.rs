//! Policers are found, and nothing else is taken for one, on seeds that chose no parameter.

use netspurt_budget::{Budget, Limit};
use netspurt_observe::judge::{Place, draw, run};

/// The first seed.
const FIRST: u64 = 4_000_000;
/// Cases of each kind.
const CASES: usize = 16;

/// The true and the found share of `policer` at each place, of cases made for `kind`.
fn shares(kind: &str) -> Vec<[(f64, f64); 3]> {
    let folder = std::env::temp_dir().join(format!("netspurt-policers-{kind}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cases = (FIRST..).map(draw).filter(|case| case.kind == kind).take(CASES);
    let judged = cases.map(|case| {
        let trials = run(&case, &Place::ALL, &folder.join("case.pcapng"));
        let trials = trials.unwrap_or_else(|error| panic!("seed {}: {error}", case.seed));
        let share = |timeline| Budget::of(timeline).share(Limit::Policer);
        [0, 1, 2].map(|place| (share(&trials[place].truth), share(&trials[place].found)))
    });
    let judged = judged.collect();
    std::fs::remove_dir_all(&folder).unwrap();
    judged
}

#[test]
fn policers_are_found_from_every_place() {
    let judged = shares("policer");
    // At the receiver and between, a drop shows only in later packets. About a third of the policers is not found there
    // (docs/diagnosis/accuracy.md).
    for (place, missed) in [2, 5, 6].into_iter().enumerate() {
        let limited: Vec<_> = judged.iter().map(|case| case[place]).filter(|case| case.0 > 0.1).collect();
        let found = limited.iter().filter(|case| case.1 > case.0 / 4.0).count();
        assert!(
            limited.len() >= 10 && found + missed >= limited.len(),
            "{}: {limited:?}",
            Place::ALL[place].name()
        );
    }
}

#[test]
fn queues_and_shapers_are_not_taken_for_policers() {
    let mut accused = Vec::new();
    for kind in ["shaper", "shallow-queue", "cross-traffic", "random-loss"] {
        let cases = shares(kind).into_iter().filter(|case| case.iter().any(|place| place.1 >= 0.02));
        accused.extend(cases.map(|case| (kind, case)));
    }
    assert!(accused.is_empty(), "{accused:?}");
}
