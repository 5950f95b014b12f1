//! Bursts that an interface cuts up, and short segments that wait for a busy one.

use crate::bottleneck::{Path, World, config};
use crate::lab::Lab;
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::reason::Hold;
use netspurt_tcp::segment::Flags;
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Transmit;

/// 1 Gbit/s and 10 ms: 1250 segments of 1000 bytes, an ACK for two of them every 16 µs.
const FAST: Path = Path { rate: 125_000_000, delay: Span::from_ms(5), queue: 1 << 30, loss: 0 };
/// 5 Mbit/s: an ACK every 3.2 ms.
const SLOW: Path = Path { rate: 625_000, ..FAST };

/// How many segments leave at one instant on average in the second second, and how many in all of it.
fn together(path: Path, segmentation_offload: bool) -> (f64, usize) {
    let mut world = World::unopened(Config { segmentation_offload, ..config("linux") }, path, 1);
    world.open();
    world.write(250_000_000);
    world.run_for(Span::from_secs(2));
    let since = Time::ZERO + Span::from_secs(1);
    let times: Vec<Time> = world.left.iter().map(|left| left.at).filter(|&at| at >= since).collect();
    let instants = 1 + times.windows(2).filter(|pair| pair[0] < pair[1]).count();
    (times.len() as f64 / instants as f64, times.len())
}

#[test]
fn where_acks_come_close_together_several_are_answered_by_one_burst() {
    let (plain, all) = together(FAST, false);
    let (bursts, all_the_same) = together(FAST, true);
    println!("{plain:.1} segments together, {bursts:.1} with offload; {all} and {all_the_same} in all");
    assert!((1.0..3.0).contains(&plain), "{plain}");
    assert!(bursts > 2.0 * plain, "{bursts} after {plain}");
    assert!(all_the_same as f64 > 0.98 * all as f64, "nothing is lost by it: {all_the_same} of {all}");
}

#[test]
fn where_acks_are_far_apart_nothing_waits_for_the_next() {
    assert_eq!(together(SLOW, true), together(SLOW, false));
}

/// Three pieces, which would leave at once: what is sent of them, when, and how much.
fn pieces(autocork: u64) -> Lab {
    let config = Config { autocork, transmit: Transmit::NoDelay, ..crate::lab::config(Recovery::NewReno) };
    let mut lab = Lab::plain(config);
    lab.write_bytes(100).at(103).write_bytes(50).at(106).write_bytes(60);
    lab
}

fn lengths(lab: &Lab) -> Vec<u32> {
    lab.sent.iter().map(|(_, sent)| sent.segment.payload.len).filter(|&len| len > 0).collect()
}

#[test]
fn what_is_short_is_added_to_while_the_interface_is_busy() {
    // The bare ACK of 20 bytes and a header with 100 bytes of data take 11.2 ms at 100 kbit/s.
    let mut lab = pieces(100_000);
    assert_eq!(lengths(&lab), [100]);
    assert_eq!(lab.tcp.holding(), Hold::Autocork);
    assert_eq!(lab.tcp.next_deadline(), Time::ZERO + Span::from_us(111_200));
    lab.at(112);
    assert_eq!(lengths(&lab), [100, 110], "as one segment, before any ACK");
}

#[test]
fn an_interface_that_is_not_busy_holds_nothing() {
    for rate in [0, 1_000_000_000] {
        assert_eq!(lengths(&pieces(rate)), [100, 50, 60], "{rate}");
    }
}

#[test]
fn a_close_is_not_delayed() {
    let mut lab = pieces(100_000);
    lab.tcp.close(lab.now);
    let last = lab.tcp.poll_transmit(lab.now).map(|sent| sent.segment);
    assert_eq!(last.map(|segment| (segment.payload.len, segment.flags.has(Flags::FIN))), Some((110, true)));
}
