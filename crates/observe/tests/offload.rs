//! A capture above segmentation offload shows the same limits as one of segments.

use netspurt_observe::judge::{Place, draw, draw_with_offload, run};

#[test]
fn frames_of_several_segments_at_the_sender_show_the_limits_that_segments_show() {
    let folder = std::env::temp_dir().join(format!("netspurt-offload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Senders with and without timestamps, which make segments shorter than the MSS.
    for (seed, kind) in [
        (9_600_156, "policer"),
        (9_000_111, "slow-receiver"),
        (9_000_372, "receive-window"),
        (9_930_022, "requests"),
    ] {
        assert_eq!(draw(seed).kind, kind);
        let mut found = Vec::new();
        for case in [draw(seed), draw_with_offload(seed)] {
            let file = folder.join("case.pcapng");
            let trial = run(&case, &[Place::Sender], &file).unwrap().remove(0);
            let same: f64 = trial.cells().iter().filter(|((a, b), _)| a == b).map(|(_, share)| share).sum();
            found.push((trial.dominant(), same, std::fs::metadata(&file).unwrap().len()));
        }
        let [segments, frames] = [found[0], found[1]];
        assert!(frames.2 != segments.2, "{seed}: nothing was joined");
        assert_eq!(frames.0, segments.0, "{seed}");
        assert!((frames.1 - segments.1).abs() < 0.02, "{seed}: {} and {}", segments.1, frames.1);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
