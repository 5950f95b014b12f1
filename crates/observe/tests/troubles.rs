//! Each trouble of a path is found in a capture at the sender, for about as long as it lasted.

use netspurt_budget::{Budget, Limit};
use netspurt_observe::judge::{Place, draw, run};

/// Of cases in which a limit has a part of the time: the limit, what the case was made for, and its seed.
const CASES: [(Limit, &str, u64); 6] = [
    (Limit::Policer, "policer", 66),
    (Limit::Shaper, "shaper", 412),
    (Limit::PathMtu, "path-mtu", 270),
    (Limit::Outage, "outage", 560),
    (Limit::Reordering, "reordering", 135),
    (Limit::AckPath, "ack-path", 563),
];

#[test]
fn each_trouble_is_found_for_about_as_long_as_it_lasted() {
    let folder = std::env::temp_dir().join(format!("netspurt-troubles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (limit, kind, seed) in CASES {
        let case = draw(seed);
        assert_eq!(case.kind, kind, "seed {seed}");
        let trials = run(&case, &[Place::Sender], &folder.join("case.pcapng")).unwrap();
        let [truth, found] = [&trials[0].truth, &trials[0].found].map(|line| Budget::of(line).share(limit));
        assert!(truth > 0.05, "{kind}: the case shows {} for {truth:.3} of its time", limit.name());
        assert!((truth - found).abs() < 0.1 * truth + 0.02, "{kind}: {found:.3} found, {truth:.3} true");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
