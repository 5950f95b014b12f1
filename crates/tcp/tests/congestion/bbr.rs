//! BBR over paths that are known: what it believes of them, and what it does to them.

use crate::bottleneck::by_model::{
    PATH, at, bulk, finds_the_path, follows_changes_of_rate, keeps_the_estimate_when_application_limited,
    rounds_to_fill, with, works_without_sack,
};
use crate::bottleneck::{MSS, Path};
use netspurt_tcp::config::Config;
use netspurt_tcp::congestion;
use netspurt_tcp::time::{Span, Time};

fn bbr() -> Config {
    with(congestion::Kind::Bbr)
}

#[test]
fn it_finds_the_rate_and_the_round_trip_of_a_path() {
    finds_the_path(congestion::Kind::Bbr);
}

#[test]
fn startup_doubles_until_the_pipe_is_full_and_no_longer() {
    let mut world = bulk(bbr(), PATH, 1);
    // From ten segments to five hundred: six doublings, then three rounds in which nothing more comes, each of which is up to
    // 2.9 times as long, as the queue fills.
    let round = rounds_to_fill(&mut world);
    assert!((9..=18).contains(&round), "after {round} rounds");
    // What it has queued by then it drains at once.
    let (_, mean) = world.queue_since(Time::ZERO + Span::from_ms(1200));
    assert!(mean < 0.15 * 500_000.0, "{mean}");
    assert_eq!(world.dropped, 0, "2.9 times the path and three bursts of 35 are all that startup sends");
}

#[test]
fn single_segments_leave_room_for_one_burst_less() {
    let mut world = bulk(Config { paced_bursts: false, ..bbr() }, PATH, 1);
    world.run_for(Span::from_secs(9));
    let (max, mean) = world.queue_since(at(3));
    assert!(max < 162_000 && mean < 50_000.0, "{max} {mean}");
}

#[test]
fn the_queue_stays_short_while_the_path_is_full() {
    let mut world = bulk(bbr(), PATH, 1);
    world.run_for(Span::from_secs(3));
    let goodput = world.goodput(Span::from_secs(6));
    assert!(goodput > 0.95 * PATH.rate as f64, "{goodput}");
    let (max, mean) = world.queue_since(at(3));
    // A quarter of the path's volume while it probes for more, three bursts of twelve segments that Linux's hosts would hold, and
    // one that arrives at once; less than a tenth of the path's volume on the whole.
    assert!(max < 174_000 && mean < 50_000.0, "{max} {mean}");

    let mut cubic = bulk(with(congestion::Kind::Cubic), PATH, 1);
    cubic.run_for(Span::from_secs(9));
    assert!(cubic.queue_since(at(3)).1 > 4.0 * mean, "a loss-based one fills it");
}

#[test]
fn every_ten_seconds_it_measures_the_round_trip_with_four_segments_in_flight() {
    let mut world = bulk(bbr(), PATH, 1);
    let mut sparse = Vec::new();
    for ms in 0..15_000 {
        world.run_for(Span::from_ms(1));
        if ms > 1000 && world.sender.flight() <= 4 * MSS {
            sparse.push(ms);
        }
    }
    let (first, last) = (*sparse.first().expect("it probes"), *sparse.last().expect("it probes"));
    assert!((10_000..=12_500).contains(&first), "{first}");
    // At least 200 ms, and then a round trip.
    assert!((199..=300).contains(&(last - first)), "{first} {last}");
    let after = world.goodput(Span::from_secs(4));
    assert!(after > 0.95 * PATH.rate as f64, "it comes back to where it was: {after}");
}

#[test]
fn random_losses_of_one_in_a_hundred_hardly_slow_it_where_cubic_collapses() {
    let lossy = Path { loss: 10_000, ..PATH };
    for seed in 1..=3 {
        let mut world = bulk(bbr(), lossy, seed);
        world.run_for(Span::from_secs(2));
        let fast = world.goodput(Span::from_secs(8));
        assert!(fast > 0.9 * PATH.rate as f64, "seed {seed}: {fast}");
        let mut cubic = bulk(with(congestion::Kind::Cubic), lossy, seed);
        cubic.run_for(Span::from_secs(2));
        let slow = cubic.goodput(Span::from_secs(8));
        assert!(slow < 0.25 * fast, "seed {seed}: {slow} {fast}");
    }
}

#[test]
fn a_shallow_queue_does_not_slow_it() {
    let shallow = Path { queue: 25_000, ..PATH };
    let mut world = bulk(bbr(), shallow, 1);
    world.run_for(Span::from_secs(2));
    let goodput = world.goodput(Span::from_secs(6));
    assert!(goodput > 0.85 * PATH.rate as f64, "{goodput}");
}

#[test]
fn an_application_that_sends_little_does_not_lower_the_estimate() {
    keeps_the_estimate_when_application_limited(congestion::Kind::Bbr, Span::from_secs(5), 0.9);
}

#[test]
fn a_path_that_becomes_slower_or_faster_is_recognised_within_five_seconds() {
    follows_changes_of_rate(congestion::Kind::Bbr, Span::from_secs(5), 100, 50);
}

#[test]
fn it_needs_neither_sack_nor_detection_by_time() {
    works_without_sack(congestion::Kind::Bbr, 1_000, 0.95, 0.3);
}
