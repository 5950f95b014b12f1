//! Transfers without SACK over a lossy bottleneck come to their end, with every profile and every congestion control.

use crate::bottleneck::{Path, World, config};
use netspurt_tcp::config::{Config, EcnUse, Recovery, WithoutSack};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::profile;
use netspurt_tcp::time::Span;

/// 21.9 Mbit/s, 16 ms one way, a queue of 37 packets.
const PATH: Path = Path { rate: 2_733_000, delay: Span::from_us(16_158), queue: 37_000, loss: 0 };

/// The profile with this congestion control, without SACK.
fn without_sack(name: &str, congestion: Kind) -> Config {
    let mut config = Config { sack: false, congestion, ..config(name) };
    match config.recovery {
        Recovery::Sack => config.recovery = Recovery::NewReno,
        Recovery::Rack => config.without_sack = WithoutSack::Linux,
        _ => {}
    }
    config.pacing = congestion.needs_pacing().is_some() || config.pacing && congestion != Kind::None;
    match congestion {
        Kind::Prague => config.ecn = EcnUse::Rfc9768,
        Kind::Dctcp => config.ecn = EcnUse::Rfc3168,
        _ => {}
    }
    config
}

/// Whether all of `bytes` arrives within so many seconds.
fn finishes(config: Config, path: Path, seed: u64, bytes: u64, seconds: u64) -> bool {
    let mut world = World::new(config, path, seed);
    world.write(bytes);
    for _ in 0..seconds {
        if world.arrived() == bytes {
            return true;
        }
        world.run_for(Span::from_secs(1));
    }
    world.arrived() == bytes
}

/// Every ACK delivers something, as in Linux (`tcp_remove_reno_sacks()`). Duplicate ACKs that counted for more than was
/// outstanding left a measured rate of zero, and BBR then sent a segment in many minutes.
#[test]
fn bbr_never_stops() {
    for kind in [Kind::Bbr, Kind::Bbr3] {
        for seed in 1..=6 {
            for name in ["linux", "newreno"] {
                let config = without_sack(name, kind);
                assert!(finishes(config, PATH, seed, 4_400_000, 60), "{name} {kind:?} {seed}");
            }
        }
    }
}

#[test]
fn every_profile_finishes_with_every_congestion_control_under_random_loss() {
    for profile in profile::profiles() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            for loss in [3_000, 30_000] {
                let config = without_sack(profile.name, kind);
                assert_eq!(config.validate(), Ok(()), "{} {kind:?}", profile.name);
                let path = Path { loss, ..PATH };
                assert!(
                    finishes(config, path, place as u64 + 1, 300_000, 600),
                    "{} {kind:?}, {loss} of a million lost",
                    profile.name
                );
            }
        }
    }
}
