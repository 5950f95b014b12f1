//! Whatever two ends are configured to do, and whatever the path or a stranger does to them. Each case is one seed.

mod world;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// The same seeds on every run, on all processors. A failure prints its seed.
fn on_all_processors(count: u32, check: impl Fn(u64) + Sync) {
    let drawn = RefCell::new(Vec::new());
    let mut runner = TestRunner::new(cases(count));
    runner
        .run(&(any::<u64>(),), |(seed,)| {
            drawn.borrow_mut().push(seed);
            Ok(())
        })
        .unwrap();
    let seeds = drawn.into_inner();
    let workers = std::thread::available_parallelism().map_or(1, core::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = catch_unwind(AssertUnwindSafe(|| check(seed)));
            if let Err(panic) = outcome {
                next.store(seeds.len(), Ordering::Relaxed);
                eprintln!("the failing seed is {seed}");
                resume_unwind(panic);
            }
        }
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
}

#[test]
fn the_stream_arrives_whole_and_in_order_or_the_connection_ends_with_an_error() {
    on_all_processors(10_000, |seed| World::new(seed, false).run());
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_failure_on_any_processor_fails_the_test() {
    let count = AtomicUsize::new(0);
    on_all_processors(100, |_| assert!(count.fetch_add(1, Ordering::Relaxed) != 50, "the 51st case fails"));
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
