//! What both versions of BBR are tried with.

use super::{Path, World, config};
use netspurt_tcp::config::{Config, EcnUse};
use netspurt_tcp::congestion;
use netspurt_tcp::time::{Span, Time};

/// 100 Mbit/s and 40 ms: 500 segments; a queue of more than twice that.
pub(crate) const PATH: Path = Path { rate: 12_500_000, delay: Span::from_ms(20), queue: 1_200_000, loss: 0 };

pub(crate) fn with(kind: congestion::Kind) -> Config {
    Config { congestion: kind, pacing: kind.needs_pacing().is_some(), ecn: EcnUse::Off, ..config("linux") }
}

/// Data without end.
pub(crate) fn bulk(config: Config, path: Path, seed: u64) -> World {
    let mut world = World::new(config, path, seed);
    world.write((1 << 28) - 1);
    world
}

pub(crate) fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// It knows the rate and the round trip of any path after some seconds.
pub(crate) fn finds_the_path(kind: congestion::Kind) {
    for (rate, delay, seed) in
        [(1_250_000, 5, 1), (12_500_000, 20, 2), (12_500_000, 100, 3), (125_000, 50, 4)]
    {
        let path = Path { rate, delay: Span::from_ms(delay), queue: rate / 5, ..PATH };
        let mut world = bulk(with(kind), path, seed);
        world.run_for(Span::from_secs(8));
        let found = world.sender.info().path.expect("a model");
        let apart = found.bandwidth as f64 / rate as f64 - 1.0;
        assert!(apart.abs() < 0.02, "{path:?}: {found:?}");
        // The shortest round trip is that of the opening segments, which take no time to send here.
        assert_eq!(found.min_rtt, Some(Span::from_ms(2 * delay)), "{path:?}: {found:?}");
    }
}

/// In which round trip of a transfer over [`PATH`] it holds the path full.
pub(crate) fn rounds_to_fill(world: &mut World) -> u32 {
    let mut full = None;
    for round in 0..40 {
        world.run_for(Span::from_ms(40));
        if full.is_none() && world.sender.ssthresh() != u32::MAX {
            full = Some(round);
        }
    }
    full.expect("startup ends")
}

fn bandwidth(world: &World) -> u64 {
    world.sender.info().path.expect("a model").bandwidth
}

/// An application that sends little does not lower the estimated bandwidth; after a pause, a bulk transfer reaches this
/// share of the path's rate at once.
pub(crate) fn keeps_the_estimate_when_application_limited(
    kind: congestion::Kind,
    pause: Span,
    least_share: f64,
) {
    let mut world = World::new(with(kind), PATH, 1);
    world.write(20_000_000);
    world.run_for(Span::from_secs(3));
    let before = bandwidth(&world);
    assert!(before.abs_diff(PATH.rate) < PATH.rate / 50, "{before}");
    // Twenty segments every 100 ms are a sixtieth of the path's rate.
    for _ in 0..40 {
        world.write(20_000);
        world.run_for(Span::from_ms(100));
    }
    let after = bandwidth(&world);
    assert!(after.abs_diff(PATH.rate) < PATH.rate / 50, "{after}");
    world.run_for(pause);
    world.write(100_000_000);
    world.run_for(Span::from_ms(200));
    let goodput = world.goodput(Span::from_secs(2));
    assert!(goodput > least_share * PATH.rate as f64, "{goodput}");
}

/// The rate falls to a quarter and rises again; after each change the estimate is right within `time`, up to these
/// fractions of the path's rate.
pub(crate) fn follows_changes_of_rate(kind: congestion::Kind, time: Span, slower: u64, faster: u64) {
    let mut world = bulk(with(kind), PATH, 1);
    world.run_for(Span::from_secs(3));
    for (rate, error) in [(PATH.rate / 4, PATH.rate / slower), (PATH.rate, PATH.rate / faster)] {
        world.path.rate = rate;
        world.run_for(time);
        let found = bandwidth(&world);
        assert!(found.abs_diff(rate) < error, "{rate}: {found}");
    }
}

/// Profiles without SACK and without loss detection by time reach these shares of the path's rate without loss and with
/// `loss` (in a million).
pub(crate) fn works_without_sack(kind: congestion::Kind, loss: u32, lossless_share: f64, lossy_share: f64) {
    for name in ["newreno", "rfc"] {
        let config = Config { congestion: kind, pacing: true, ..config(name) };
        for (loss, least) in [(0, lossless_share), (loss, lossy_share)] {
            let mut world = bulk(config.clone(), Path { loss, ..PATH }, 1);
            world.run_for(Span::from_secs(2));
            let goodput = world.goodput(Span::from_secs(5));
            assert!(goodput > least * PATH.rate as f64, "{name} {loss}: {goodput}");
        }
    }
}
