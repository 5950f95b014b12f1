//! The windows of a receive buffer that counts packets, as Linux 6.18 announces them.

use crate::common::lone::{Lone, Out, RST, SYN, data, segment};
use netspurt_tcp::config::{Config, ReceiveMemory, ReceiverCongestion};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;

const PEER: Options =
    Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, ..Options::NONE };
const STAMPS: Timestamps = Timestamps { value: 1, echo: 0 };
/// The unit of the window.
const UNIT: u32 = 1024;

fn linux() -> Config {
    let linux = profile::by_name("linux").expect("a profile").config.clone();
    Config { receive_memory: ReceiveMemory::Linux, receive_window: 32 << 20, ..linux }
}

fn established(peer: Options) -> Lone {
    Lone::established(linux(), peer, 5000)
}

/// The window that the last of these segments announces.
fn window(out: &[Out]) -> u32 {
    u32::from(out.last().expect("an answer").segment.window) * UNIT
}

/// The windows of the answers to segments of `len` bytes in order that nobody reads, one each millisecond.
fn unread(lone: &mut Lone, from: i32, len: u32, count: u32) -> Vec<u32> {
    let mut windows = Vec::new();
    for number in 0..count {
        lone.now += Span::from_ms(1);
        let out = lone.gets(data(from + (number * len) as i32, 1, len));
        windows.extend(out.iter().map(|out| u32::from(out.segment.window) * UNIT));
    }
    windows
}

#[test]
fn a_syn_announces_whole_segments_and_only_a_server_knows_of_timestamps() {
    // tcp_select_initial_window().
    let mut client = Lone::closed(linux());
    client.c.open(client.now);
    assert_eq!(client.poll()[0].segment.window, 44 * 1460);
    let answer = |timestamps| {
        let mut server = Lone::listening(linux());
        server.gets(Segment { options: Options { timestamps, ..PEER }, ..segment(SYN, 0, 0) })[0]
            .segment
            .window
    };
    assert_eq!((answer(None), answer(Some(STAMPS))), (44 * 1460, 45 * 1448));
}

#[test]
fn all_that_a_syn_announces_is_taken_though_a_segment_of_it_is_kept_back() {
    // tcp_init_buffer_space() keeps a segment back, behind the window of the SYN.
    let mut lone = established(PEER);
    let out = lone.gets(data(64_241 - 1000, 1, 1000));
    assert_eq!(out[0].segment.options.sack.as_slice()[0].right, data(64_241, 1, 0).seq);
}

#[test]
fn unread_packets_take_their_memory_from_the_window_and_delay_acks_once_it_is_smaller() {
    // Each of the first segments opens the window by two, until that is more than is free. Each later one takes 1440 bytes of it, as
    // its part of 2304 bytes. Behind the twenty quick ACKs, __tcp_ack_snd_check() waits for the reader.
    let mut lone = established(PEER);
    let windows = unread(&mut lone, 1, 1460, 44);
    let expected = [66, 69, 72].into_iter().chain((59..=75).rev()).map(|units| units * UNIT);
    assert_eq!(windows, expected.collect::<Vec<_>>());
    assert_eq!(window(&lone.reads(1460).1), 25 * UNIT, "64 240 bytes have arrived");
}

#[test]
fn a_reader_causes_a_window_update_only_when_the_window_has_doubled() {
    // tcp_cleanup_rbuf().
    let mut lone = established(PEER);
    unread(&mut lone, 1, 1460, 44);
    let out = (0..44).flat_map(|_| lone.reads(1460).1).collect::<Vec<_>>();
    assert_eq!(out.iter().map(|out| out.reason).collect::<Vec<_>>(), [Reason::Ack, Reason::WindowUpdate]);
    assert_eq!(window(&out), 50 * UNIT);
}

#[test]
fn a_window_that_becomes_smaller_stays_where_it_was_announced() {
    // 600 bytes take as much memory as 1460, so that the window of a reader that reads at once is 33 792 bytes. The right edge never
    // moves left, and the rest of what was announced is rounded up to a unit.
    let mut lone = established(PEER);
    assert_eq!(unread(&mut lone, 1, 600, 3), [63 * UNIT; 3]);
}

#[test]
fn data_behind_a_gap_opens_the_window_unless_duplicate_acks_must_stay_such() {
    // tcp_data_queue_ofo(): without SACK an ACK that changes the window would be no duplicate.
    let answers = |sack_permitted| {
        let mut lone = established(Options { sack_permitted, ..PEER });
        lone.gets(data(1, 1, 1460));
        lone.reads(u64::MAX);
        [2921, 5841, 8761, 11_681, 14_601].map(|start| window(&lone.gets(data(start, 1, 1460))) / UNIT)
    };
    assert_eq!((answers(true), answers(false)), ([69, 72, 75, 76, 76], [66; 5]));
}

#[test]
fn data_behind_a_gap_takes_memory_when_the_gap_is_filled_too() {
    let mut lone = established(PEER);
    lone.gets(data(1, 1, 1460));
    lone.reads(u64::MAX);
    (1..=8).for_each(|number| drop(lone.gets(data(1 + 2920 * number, 1, 1460))));
    // Ten packets wait, and so do nine behind a gap in this order.
    assert_eq!(window(&lone.gets(data(1461, 1, 1460))), 74 * UNIT);
}

#[test]
fn a_reset_of_an_abort_announces_the_window_of_a_host_that_has_dropped_what_was_not_read() {
    // __tcp_close() frees the packets before tcp_send_active_reset().
    let mut lone = established(PEER);
    let windows = unread(&mut lone, 1, 1460, 20);
    lone.c.abort(lone.now);
    let out = lone.poll();
    assert!(out[0].flags.has(RST) && windows.last() == Some(&(59 * UNIT)));
    assert_eq!(window(&out), 75 * UNIT);
}

#[test]
fn a_receiver_that_controls_congestion_announces_no_more_than_its_own_window() {
    // rLEDBAT: RLWND limits what the memory would permit.
    let config = Config { receiver_congestion: ReceiverCongestion::Rledbat, ..linux() };
    let mut lone = Lone::established(config, Options { timestamps: Some(STAMPS), ..PEER }, 5000);
    let options = Options { timestamps: Some(STAMPS), ..Options::NONE };
    let out = lone.gets(Segment { options, header_len: 32, ..data(1, 1, 1448) });
    assert!(window(&out) <= 4 * UNIT, "{out:?}");
}
