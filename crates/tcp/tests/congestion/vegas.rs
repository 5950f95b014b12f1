//! Vegas over paths that are known: how much of it waits in the queue.

use crate::bottleneck::{MSS, Path, World, config};
use netspurt_tcp::config::{Config, EcnUse, ReceiveMemory};
use netspurt_tcp::congestion;
use netspurt_tcp::time::{Span, Time};

/// 10 Mbit/s and 100 ms: 125 segments, and a queue that would hold four times as many.
const PATH: Path = Path { rate: 1_250_000, delay: Span::from_ms(50), queue: 500_000, loss: 0 };

/// The receiver counts bytes: segments of 1000 bytes waste the memory of a receiver that counts packets, whose window would then limit
/// slow start.
fn vegas(name: &str) -> Config {
    let receive_memory = ReceiveMemory::Bytes;
    Config { congestion: congestion::Kind::Vegas, ecn: EcnUse::Off, receive_memory, ..config(name) }
}

#[test]
fn two_to_four_segments_wait_and_the_path_is_full() {
    for name in ["linux", "rfc", "newreno"] {
        for delay in [10, 50, 80] {
            let path = Path { delay: Span::from_ms(delay), ..PATH };
            // Slow start would leave a queue that shrinks by a segment in each round.
            let config = Config { initial_ssthresh: 20 * MSS, ..vegas(name) };
            let mut world = World::new(config, path, 1);
            world.write(200_000_000);
            world.run_for(Span::from_secs(60));
            let since = world.now;
            let goodput = world.goodput(Span::from_secs(30));
            assert!(goodput > 0.99 * path.rate as f64, "{name} {delay}: {goodput}");
            // A segment finds up to four before it; the shortest round trip does not have the time in it that it takes to send.
            let (max, mean) = world.queue_since(since);
            assert!(max <= 5 * u64::from(MSS), "{name} {delay}: {max}");
            assert!((500.0..=4000.0).contains(&mean), "{name} {delay}: {mean}");
            assert_eq!(world.dropped, 0, "{name} {delay}");
        }
    }
}

#[test]
fn slow_start_ends_before_the_queue_is_full() {
    let mut world = World::new(vegas("linux"), PATH, 1);
    world.write(50_000_000);
    world.run_for(Span::from_secs(5));
    let (max, _) = world.queue_since(Time::ZERO);
    // The first segment of a round waits only once the window is larger than the path; by the end of that round it has
    // doubled, and what has waited longest stands for twice the path.
    assert!(max <= 3 * 125_000 && world.dropped == 0, "{max} {}", world.dropped);
    // What is too much by then goes by one segment in each round.
    let (before, since) = (world.sender.cwnd(), world.now);
    world.run_for(Span::from_secs(5));
    let rounds = (world.now - since).as_secs_f64() / world.sender.srtt().expect("measured").as_secs_f64();
    let less = f64::from(before - world.sender.cwnd()) / f64::from(MSS);
    assert!((less / rounds - 1.0).abs() < 0.25, "{less} segments in {rounds} rounds");
}

#[test]
fn a_loss_halves_the_window_and_it_comes_back() {
    let mut world = World::new(vegas("linux"), Path { loss: 200, ..PATH }, 3);
    world.write(100_000_000);
    world.run_for(Span::from_secs(60));
    assert!(world.dropped > 5, "{}", world.dropped);
    assert!(world.sender.stats().timeouts <= 1);
    assert!(world.arrived() > 40_000_000, "{}", world.arrived());
}
