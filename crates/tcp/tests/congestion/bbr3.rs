//! BBR version 3 over paths that are known: what it believes of them, and what it does to them. The cases of the draft's
//! appendix are among them.

use crate::bottleneck::by_model::{
    PATH, at, bulk, finds_the_path, follows_changes_of_rate, keeps_the_estimate_when_application_limited,
    rounds_to_fill, with, works_without_sack,
};
use crate::bottleneck::{MSS, Path};
use netspurt_tcp::config::Config;
use netspurt_tcp::congestion;
use netspurt_tcp::time::{Span, Time};

fn bbr3() -> Config {
    with(congestion::Kind::Bbr3)
}

#[test]
fn it_finds_the_rate_and_the_round_trip_of_a_path() {
    finds_the_path(congestion::Kind::Bbr3);
}

#[test]
fn startup_doubles_until_the_pipe_is_full_and_drains_what_it_has_queued() {
    let mut world = bulk(bbr3(), PATH, 1);
    let round = rounds_to_fill(&mut world);
    assert!((8..=16).contains(&round), "after {round} rounds");
    // cwnd has bounded the queue to what the path holds; soon after there is none.
    let (max, _) = world.queue_since(Time::ZERO);
    assert!(max < 560_000, "{max}");
    let (_, mean) = world.queue_since(Time::ZERO + Span::from_ms(1300));
    assert!(mean < 50_000.0, "{mean}");
    assert_eq!(world.dropped, 0);
}

#[test]
fn the_queue_stays_short_while_the_path_is_full() {
    let mut world = bulk(bbr3(), PATH, 1);
    world.run_for(Span::from_secs(3));
    let goodput = world.goodput(Span::from_secs(6));
    assert!(goodput > 0.95 * PATH.rate as f64, "{goodput}");
    let (max, mean) = world.queue_since(at(3));
    // A quarter more for the three rounds and a half of each probe makes a queue of nine tenths of the path at most.
    assert!(max < 500_000 && mean < 75_000.0, "{max} {mean}");
}

#[test]
fn every_five_seconds_it_measures_the_round_trip_with_half_a_path_in_flight() {
    let mut world = bulk(bbr3(), PATH, 1);
    let mut sparse = Vec::new();
    for ms in 0..7_000 {
        world.run_for(Span::from_ms(1));
        if ms > 1000 && world.sender.flight() <= 255 * MSS {
            sparse.push(ms);
        }
    }
    let (first, last) = (*sparse.first().expect("it probes"), *sparse.last().expect("it probes"));
    assert!((5_000..=6_500).contains(&first), "{first}");
    assert!((199..=320).contains(&(last - first)), "{first} {last}");
    let least = sparse.len() as u64 * 2;
    assert!(least > 300, "half a path, not four segments: {least}");
    let after = world.goodput(Span::from_secs(4));
    assert!(after > 0.93 * PATH.rate as f64, "it comes back to where it was: {after}");
}

#[test]
fn random_losses_below_the_bound_hardly_slow_it_and_above_it_do() {
    let share = |loss, seed| {
        let mut world = bulk(bbr3(), Path { loss, ..PATH }, seed);
        world.run_for(Span::from_secs(2));
        world.goodput(Span::from_secs(10)) / PATH.rate as f64
    };
    let goodput = |loss| (1..=6).map(|seed| share(loss, seed)).sum::<f64>() / 6.0;
    let (none, half, one, eight) = (goodput(0), goodput(5_000), goodput(10_000), goodput(80_000));
    // Sixty segments are out: where one in a hundred is lost, in every eighth round trip it is two of them, beyond the bound.
    assert!(half > 0.8 && one > 0.65, "{none} {half} {one} {eight}");
    // Four times the bound: every probe goes too high at once. Version 1 would not notice.
    assert!(eight < 0.1, "{none} {half} {one} {eight}");
}

#[test]
fn in_a_shallow_queue_it_loses_less_than_version_1_and_keeps_the_path_full() {
    let shallow = Path { queue: 50_000, ..PATH };
    let run = |kind| {
        let mut world = bulk(with(kind), shallow, 1);
        world.run_for(Span::from_secs(2));
        let (sent, dropped) = (world.left.len(), world.dropped);
        let goodput = world.goodput(Span::from_secs(8)) / PATH.rate as f64;
        let lost = (world.dropped - dropped) as f64 / (world.left.len() - sent) as f64;
        (goodput, lost)
    };
    let (first, third) = (run(congestion::Kind::Bbr), run(congestion::Kind::Bbr3));
    assert!(third.0 > 0.85, "{third:?} {first:?}");
    assert!(third.1 < 0.02 && third.1 < 0.5 * first.1, "{third:?} {first:?}");
}

#[test]
fn an_application_that_sends_little_does_not_lower_the_estimate() {
    // A pause of more than five seconds ends in a probe of the round trip; the empty queue satisfies it.
    keeps_the_estimate_when_application_limited(congestion::Kind::Bbr3, Span::from_secs(7), 0.85);
}

#[test]
fn a_path_that_becomes_slower_or_faster_is_recognised_within_two_cycles() {
    follows_changes_of_rate(congestion::Kind::Bbr3, Span::from_secs(9), 80, 20);
}

#[test]
fn it_needs_neither_sack_nor_detection_by_time() {
    works_without_sack(congestion::Kind::Bbr3, 100, 0.9, 0.3);
}
