//! Whatever two ends are configured to do, and whatever the path or a stranger does to them. Each case is one seed.

mod world;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use world::{World, hostile};

fn cases(cases: u32) -> ProptestConfig {
    // The same cases on every run; a seed has nothing to shrink.
    let rng_seed = RngSeed::Fixed(1106);
    ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn the_stream_arrives_whole_and_in_order_or_the_connection_ends_with_an_error(seed in any::<u64>()) {
        World::new(seed, false).run();
    }
}

/// Cases that other seeds had found, of which each taught something.
#[test]
fn a_syn_that_brought_more_than_the_window_is_sent_again() {
    World::new(10_382_353_775_273_241_523, false).run();
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn recording_events_changes_no_segment(seed in any::<u64>()) {
        prop_assert_eq!(World::new(seed, false).digest(), World::new(seed, true).digest());
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn no_stranger_breaks_a_connection(seed in any::<u64>()) {
        hostile::run(seed, 150);
    }
}
