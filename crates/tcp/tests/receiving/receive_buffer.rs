//! A receive buffer that counts the memory of packets (`tcp_grow_window()`), with a reader that reads at once.

use crate::common::lone::{Lone, data};
use netspurt_tcp::config::{Config, ReceiveMemory};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;

const PEER: Options =
    Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..Options::NONE };

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
        let at_once = lone.gets(data(1 + (number * len) as i32, 1, len));
        for out in at_once.into_iter().chain(lone.reads(u64::MAX).1) {
            windows.push(u32::from(out.segment.window) << lone.c.info().own_shift);
            answered.push(number + 1);
        }
    }
    (windows, answered)
}

#[test]
fn each_segment_that_opens_the_window_is_acknowledged_at_once() {
    // The window grows from 64 240 to 81 488 bytes, which are left of 82 944 while the last segment waits. Behind the segments that
    // open it are the sixteen quick ACKs of a new connection.
    let (windows, answered) = answers(config(ReceiveMemory::Linux), 26, 1460);
    assert_eq!(answered, [(1..=22).collect::<Vec<_>>(), vec![24, 26]].concat());
    let kib = windows.iter().map(|window| window.div_ceil(1024)).collect::<Vec<_>>();
    assert_eq!(kib[..7], [66, 69, 72, 75, 78, 80, 80]);
    let (_, answered) = answers(config(ReceiveMemory::Bytes), 22, 1460);
    assert_eq!(answered, [(1..=16).collect::<Vec<_>>(), vec![18, 20, 22]].concat());
}

#[test]
fn segments_that_waste_memory_open_no_window() {
    // 1000 bytes take as much memory as 1460, so that the window has no more than 56 832 of 131 072 bytes. What was announced stays.
    let (windows, answered) = answers(config(ReceiveMemory::Linux), 24, 1000);
    assert_eq!(answered, [(1..=16).collect::<Vec<_>>(), vec![18, 20, 22, 24]].concat());
    let kib = windows.iter().map(|window| window.div_ceil(1024)).collect::<Vec<_>>();
    assert_eq!(kib[..3], [63, 63, 63]);
}

#[test]
fn tiny_segments_open_no_window() {
    let (windows, answered) = answers(config(ReceiveMemory::Linux), 16, 100);
    assert_eq!(answered, (1..=16).collect::<Vec<_>>());
    assert!(windows.iter().all(|&window| window <= 65_536), "{windows:?}");
}

#[test]
fn a_buffer_grows_with_a_reader_whose_peer_sends_full_segments_with_timestamps() {
    // Such segments are 12 bytes shorter than the MSS. Each measures the round trip, which buffers of all these kinds grow by.
    for name in ["linux", "freebsd", "macos", "windows"] {
        let config = profile::by_name(name).expect("a profile").config.clone();
        let peer = Options { timestamps: Some(Timestamps { value: 1, echo: 0 }), ..PEER };
        let mut lone = Lone::established(config, peer, 5000);
        let first = lone.c.receive_buffer();
        for number in 0..200 {
            let echo = (lone.now.as_ps() / 1_000_000_000) as u32;
            lone.now += Span::from_ms(if number % 40 == 0 { 50 } else { 0 });
            let options = Options { timestamps: Some(Timestamps { value: 2, echo }), ..Options::NONE };
            lone.gets(Segment { options, header_len: 32, ..data(1 + number * 1448, 1, 1448) });
            lone.reads(u64::MAX);
        }
        assert!(lone.c.receive_buffer() > first + 50_000, "{name}: {first} to {}", lone.c.receive_buffer());
    }
}
