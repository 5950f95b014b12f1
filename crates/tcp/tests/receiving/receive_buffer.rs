//! A receive buffer that counts the memory of packets (`tcp_grow_window()`), with a reader that reads at once.

use crate::common::lone::{Lone, data};
use netspurt_tcp::config::{Config, ReceiveMemory};
use netspurt_tcp::options::Options;
use netspurt_tcp::profile;
use netspurt_tcp::time::Span;

const PEER: Options =
    Options { mss: Some(1000), window_scale: Some(7), sack_permitted: true, ..Options::NONE };

fn config(receive_memory: ReceiveMemory) -> Config {
    let linux = profile::by_name("linux").expect("a profile").config.clone();
    Config { receive_memory, receive_window: 32 << 20, ..linux }
}

/// The windows of the ACKs of the first `count` segments, and which segments had one.
fn answers(config: Config, count: u32, len: u32) -> (Vec<u32>, Vec<u32>) {
    let mut lone = Lone::established(config, PEER, 5000);
    let (mut windows, mut answered) = (Vec::new(), Vec::new());
    for number in 0..count {
        lone.now += Span::from_ms(1);
        for out in lone.gets(data(1 + (number * len) as i32, 1, len)) {
            windows.push(u32::from(out.segment.window) << lone.c.info().own_shift);
            answered.push(number + 1);
        }
        lone.reads(u64::MAX);
    }
    (windows, answered)
}

#[test]
fn each_segment_that_opens_the_window_is_acknowledged_at_once() {
    // The window may grow from 65 535 to 70 144 bytes: by two segments with the first segment, and by the rest with the second.
    // Behind them are the sixteen quick ACKs of a new connection.
    let (windows, answered) = answers(config(ReceiveMemory::Linux), 24, 1000);
    assert_eq!(answered, [(1..=18).collect::<Vec<_>>(), vec![20, 22, 24]].concat());
    let kib = windows.iter().map(|window| window / 1024).collect::<Vec<_>>();
    assert_eq!(kib[..3], [65, 67, 67]);
    let (_, answered) = answers(config(ReceiveMemory::Bytes), 22, 1000);
    assert_eq!(answered, [(1..=16).collect::<Vec<_>>(), vec![18, 20, 22]].concat());
}

#[test]
fn tiny_segments_open_no_window() {
    let (windows, answered) = answers(config(ReceiveMemory::Linux), 16, 100);
    assert_eq!(answered, (1..=16).collect::<Vec<_>>());
    assert!(windows.iter().all(|&window| window <= 65_536), "{windows:?}");
}
