//! Pacing and the measure of deliveries over a known path.

use crate::bottleneck::{MSS, Path, World, config};
use netspurt_tcp::config::{Config, HyStart, InitialWindow};
use netspurt_tcp::congestion::{self, CongestionControl, Signal, View};
use netspurt_tcp::reason::Hold;
use netspurt_tcp::time::{Span, Time};

/// 10 Mbit/s and 50 ms: 62.5 segments.
const PATH: Path = Path { rate: 1_250_000, delay: Span::from_ms(25), queue: 1 << 30, loss: 0 };

fn paced(name: &str) -> Config {
    Config { pacing: true, ..config(name) }
}

/// A window and a rate that never change.
#[derive(Debug)]
struct Fixed {
    cwnd: u32,
    rate: u64,
}

impl CongestionControl for Fixed {
    fn on(&mut self, _: Signal, _: &View) {}
    fn cwnd(&self) -> u32 {
        self.cwnd
    }
    fn ssthresh(&self) -> u32 {
        u32::MAX
    }
    fn pacing_rate(&self) -> Option<u64> {
        Some(self.rate)
    }
}

/// Bulk data at such a rate for some seconds.
fn at_rate(rate: u64, path: Path, config: &Config) -> World {
    let mut world = World::unopened(config.clone(), path, 1);
    world.sender.set_congestion(Box::new(Fixed { cwnd: 1000 * MSS, rate }));
    world.open();
    world.write(100_000_000);
    world.run_for(Span::from_secs(5));
    world
}

/// The times between data segments, from half a second on.
fn steady_gaps(world: &World) -> Vec<Span> {
    let sent: Vec<Time> = world.left.iter().map(|left| left.at).filter(|at| at.as_secs_f64() > 0.5).collect();
    assert!(sent.len() > 500, "{}", sent.len());
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn the_gaps_between_departures_are_the_size_by_the_rate() {
    for name in ["newreno", "linux", "rfc"] {
        let world = at_rate(800_000, PATH, &Config { paced_bursts: false, ..paced(name) });
        let gaps = steady_gaps(&world);
        assert!(gaps.len() >= 3000, "{name}: {}", gaps.len());
        assert!(gaps.iter().all(|gap| *gap == Span::from_us(1250)), "{name}: 1000 bytes at 800 kB/s");
        assert_eq!(world.sender.holding(), Hold::Pacing);
        assert_eq!(world.sender.info().pacing_rate, Some(800_000));
        assert_eq!(world.queue_since(Time::ZERO + Span::from_secs(1)).0, 0, "{name}: no queue");
    }
}

#[test]
fn bursts_of_what_leaves_in_a_millisecond_are_paced_as_a_whole() {
    // On a long path a burst is what the rate permits in 2^-10 s, and at least two segments; on a short one it is more.
    let short = Path { delay: Span::from_us(1000), ..PATH };
    for (rate, path, burst) in [(800_000, PATH, 2), (4_000_000, PATH, 3), (800_000, short, 8)] {
        let path = Path { rate: 100_000_000, ..path };
        let world = at_rate(rate, path, &paced("linux"));
        let gaps = steady_gaps(&world);
        let apart: Vec<usize> = (0..gaps.len()).filter(|&n| gaps[n] > Span::ZERO).collect();
        assert!(apart.len() > 400, "{}", apart.len());
        assert!(apart.windows(2).all(|pair| pair[1] - pair[0] == burst), "{burst}: {apart:?}");
        let expected = Span::from_ps(burst as u64 * 1000 * 1_000_000_000_000 / rate);
        assert!(apart.iter().all(|&n| gaps[n] == expected), "{burst} segments at {rate} B/s");
        let most = world.queue_since(Time::ZERO + Span::from_secs(1)).0;
        assert!(most <= burst as u64 * 1000, "{burst}: {most} bytes in the queue");
    }
}

#[test]
fn bbr_paces_single_segments_below_150_kilobytes_a_second() {
    for (rate, burst) in [(110_000, 1), (250_000, 2)] {
        let path = Path { rate, ..PATH };
        let mut world =
            World::new(Config { initial_window: InitialWindow::Segments(4), ..config("bbr") }, path, 1);
        world.write(100_000_000);
        world.run_for(Span::from_secs(9));
        let gaps = steady_gaps(&world);
        let together = gaps.iter().filter(|gap| **gap == Span::ZERO).count();
        let expected = gaps.len() * (burst - 1) / burst;
        assert!(together.abs_diff(expected) <= gaps.len() / 20, "{rate}: {together} of {}", gaps.len());
    }
}

#[test]
fn the_delivery_rate_is_the_senders_where_that_is_lower_and_the_bottlenecks_where_it_is_not() {
    for name in ["newreno", "linux", "rfc"] {
        for (rate, expected) in [(800_000, 800_000.0), (1_250_000, 1_250_000.0), (4_000_000, 1_250_000.0)] {
            let world = at_rate(rate, PATH, &paced(name));
            let measured = world.sender.info().delivery_rate.expect("measured") as f64;
            assert!((measured / expected - 1.0).abs() < 1e-3, "{name} {rate}: {measured}");
        }
    }
}

#[test]
fn losses_do_not_change_the_measured_rate() {
    let lossy = Path { loss: 20_000, ..PATH };
    for name in ["newreno", "linux", "rfc"] {
        let world = at_rate(800_000, lossy, &paced(name));
        assert!(world.dropped > 20, "{name}: {}", world.dropped);
        let measured = world.sender.info().delivery_rate.expect("measured") as f64;
        // Two in a hundred do not arrive; and never is more measured than was sent.
        assert!(measured < 801_000.0, "{name}: {measured}");
        assert!(name == "newreno" || measured > 700_000.0, "{name}: {measured}");
    }
}

#[test]
fn an_application_that_pauses_marks_the_samples() {
    let mut world = World::new(paced("linux"), PATH, 1);
    for _ in 0..40 {
        world.write(2 * u64::from(MSS));
        world.run_for(Span::from_ms(200));
    }
    let info = world.sender.info();
    assert!(info.is_app_limited, "{info:?}");
    world.write(20_000_000);
    world.run_for(Span::from_secs(5));
    let info = world.sender.info();
    assert!(!info.is_app_limited, "{info:?}");
    assert!(info.delivery_rate.expect("measured").abs_diff(PATH.rate) < PATH.rate / 100, "{info:?}");
}

#[test]
fn a_window_is_spread_over_its_round_trip() {
    // A first window that only just fits: unpaced it comes as one train, and the queue holds nearly all of it.
    let fits = |pacing| {
        let config = Config {
            pacing,
            congestion: congestion::Kind::NewReno,
            hystart: HyStart::Off,
            initial_window: InitialWindow::Segments(60),
            send_window: Some(60 * MSS),
            ..config("linux")
        };
        let mut world = World::new(config, PATH, 1);
        world.write(10_000_000);
        world.run_for(Span::from_secs(3));
        world
    };
    let (spread, bursty) = (fits(true), fits(false));
    let peak = |world: &World| world.queue_since(Time::ZERO).0;
    // At twice the rate of the path half of it waits.
    assert!(peak(&bursty) >= 59 * 1000 && peak(&spread) <= 38 * 1000, "{} {}", peak(&spread), peak(&bursty));
    let apart = spread.sender.acknowledged().abs_diff(bursty.sender.acknowledged());
    assert!(apart <= 60 * 1000, "and it brings as much: {apart}");
}

#[test]
fn segments_that_request_an_ack_are_not_paced() {
    // At a kilobyte a second the turn of the next one comes after the timeout.
    let mut world = World::unopened(paced("linux"), Path { loss: 1_000_000, ..PATH }, 1);
    world.sender.set_congestion(Box::new(Fixed { cwnd: 1000 * MSS, rate: 1000 }));
    world.open();
    world.write(30_000);
    world.run_for(Span::from_secs(3));
    assert!(world.sender.stats().timeouts > 0);
    let again = world.left.iter().filter(|left| left.offset == 0).count();
    assert!(again > 1, "{:?}", world.left);
}
