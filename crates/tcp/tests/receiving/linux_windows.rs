//! The windows of a receive buffer that counts packets, as Linux 6.18 announces them.

use crate::common::lone::{ACK, FIN_ACK, Lone, Out, RST, SYN, data, segment};
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
fn a_window_of_fixed_size_is_the_limit_from_the_beginning() {
    // The scale of 64 KiB is 1, that of 32 KiB is 0.
    for (receive_window, unit) in [(1 << 16, 2), (1 << 15, 1)] {
        let config = Config { initial_receive_window: None, receive_window, ..linux() };
        let client = Lone::established(config.clone(), PEER, 5000);
        let mut server = Lone::listening(config);
        server.gets(Segment { options: PEER, ..segment(SYN, 0, 0) });
        server.gets(segment(ACK, 1, 1));
        for mut lone in [client, server] {
            let windows: Vec<u32> = (0..20)
                .flat_map(|n| lone.gets(data(1 + n * 1460, 1, 1460)))
                .map(|out| u32::from(out.segment.window) * unit)
                .collect();
            assert!(
                !windows.is_empty() && windows.iter().all(|&window| window <= receive_window),
                "{windows:?}"
            );
        }
    }
}

#[test]
fn all_that_a_syn_announces_is_taken_though_a_segment_of_it_is_kept_back() {
    // tcp_init_buffer_space() keeps a segment back, behind the window of the SYN.
    let mut lone = established(PEER);
    let out = lone.gets(data(64_241 - 1000, 1, 1000));
    assert_eq!(out[0].segment.options.sack.as_slice()[0].right, data(64_241, 1, 0).seq);
}

#[test]
fn a_large_buffer_has_all_of_its_first_window_from_the_beginning() {
    // tcp_select_initial_window() limits it to 64 KB no more since 6.10. These are the fields of a kernel with
    // tcp_rmem = 4096 540000 15728640.
    let config = Config { initial_receive_window: Some(270_000), receive_window: 15 << 20, ..linux() };
    let mut lone = Lone::established(config, PEER, 5000);
    assert_eq!(lone.writes(700)[0].segment.window, 1050);
    assert_eq!(lone.gets(data(1, 701, 1000))[0].segment.window, 1047);
    assert!(lone.reads(1000).1.is_empty(), "that changes nothing");
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
fn data_behind_a_gap_takes_a_part_of_what_a_read_has_opened_since_the_last_ack() {
    // A buffer of 128 KiB gets 82 944 bytes of window for packets of 1460 bytes, each of which takes 1458 of them.
    let config = Config { receive_window: 6 << 20, ..linux() };
    let mut lone = Lone::established(config, PEER, 5000);
    let field = |lone: &mut Lone, number: i32| {
        lone.gets(data(1 + number * 1460, 1, 1460)).last().expect("an ACK").segment.window
    };
    for number in [0, 1, 2, 3, 4, 5, 6, 8] {
        field(&mut lone, number);
        lone.reads(1460);
    }
    // The gap is filled, and all is read. Now the window is as large as the buffer permits.
    field(&mut lone, 7);
    lone.reads(2 * 1460);
    let full = (82_944_u32 - 1458).div_ceil(128) as u16;
    assert_eq!(field(&mut lone, 9), full);
    lone.reads(1460);
    assert_eq!(field(&mut lone, 11), full);
}

#[test]
fn packets_behind_a_gap_that_one_of_another_length_fills_count_as_they_came() {
    let mut lone = established(PEER);
    let mut next = 1;
    let mut read = |lone: &mut Lone, len: u32| {
        let out = lone.gets(data(next, 1, len));
        lone.reads(u64::MAX);
        next += len as i32;
        (next, window(&out) / UNIT)
    };
    let (end, _) = (0..13).map(|_| read(&mut lone, 1460)).last().expect("thirteen");
    // All of the window is open, so this one need not be counted yet.
    lone.gets(data(end + 1000, 1, 1460));
    // Two packets of 2304 bytes wait, not three of 1000 bytes of data.
    assert_eq!(read(&mut lone, 1000).1, 79);
}

#[test]
fn a_fin_behind_a_gap_takes_a_packet_or_opens_the_window_if_it_joins_one() {
    // tcp_data_queue_ofo(); truesize_adjust() counts nothing for a FIN without data that joins a packet.
    let answers = |fin: i32| {
        let mut lone = established(PEER);
        lone.gets(data(1, 1, 1460));
        lone.reads(u64::MAX);
        lone.gets(data(2921, 1, 1460));
        [segment(FIN_ACK, fin, 1), data(1461, 1, 1460)].map(|one| window(&lone.gets(one)) / UNIT)
    };
    assert_eq!((answers(4381), answers(4382)), ([72, 75], [69, 72]));
    let mut lone = established(PEER);
    for number in 0..13 {
        lone.gets(data(1 + 1460 * number, 1, 1460));
        lone.reads(u64::MAX);
    }
    lone.gets(data(1 + 1460 * 14, 1, 1460));
    let fin = segment(FIN_ACK, 2 + 1460 * 15, 1);
    // All of the window is open. Two packets of 2304 bytes take 2916 bytes of it, and this one takes 526.
    lone.gets(fin);
    assert_eq!(window(&lone.gets(data(1 + 1460 * 13, 1, 1460))) / UNIT, 78);
}

#[test]
fn a_fin_in_order_takes_a_packet_until_the_application_reads_the_end_unless_data_waits() {
    // tcp_data_queue(), tcp_queue_rcv(), tcp_recvmsg_locked(). A packet with 1000 bytes has 111 of 256 bytes for the window.
    let windows = |reads| {
        let mut lone = Lone::established(Config { receive_window: 100_000, ..linux() }, PEER, 5000);
        let unit = 1 << 1;
        let told = |out: &[Out]| u32::from(out.last().expect("an answer").segment.window) * unit;
        for number in 0..20 {
            lone.gets(data(1 + 1000 * number, 1, 1000));
            if reads || number < 19 {
                lone.reads(u64::MAX);
            }
        }
        let mut answers = lone.gets(segment(FIN_ACK, 20_001, 1));
        answers.extend(lone.passes(Span::from_ms(60)));
        let with_fin = told(&answers);
        lone.reads(u64::MAX);
        lone.reads(u64::MAX);
        (with_fin, told(&lone.gets(data(1, 1, 1000))))
    };
    assert_eq!(windows(true), (56_472, 56_832));
    assert_eq!(windows(false), (55_834, 56_832), "it has joined a packet of 2304 bytes");
}

#[test]
fn a_socket_of_time_wait_keeps_the_window_and_tells_sixteen_bits_of_it() {
    // tw_rcv_wnd in tcp_time_wait(). Without a scale, the window that has opened beyond 16 bits is told as if it had not.
    let mut lone = established(Options { window_scale: None, ..PEER });
    lone.gets(data(1, 1, 1460));
    lone.reads(u64::MAX);
    lone.closes();
    lone.gets(segment(ACK, 1461, 2));
    let fin = lone.gets(segment(FIN_ACK, 1461, 2));
    let again = lone.gets(data(1460, 2, 1));
    assert_eq!((fin[0].segment.window, again[0].segment.window), (0xFFFF, (67_160_u32 - 65_536) as u16));
}

#[test]
fn the_first_estimate_of_full_segments_is_what_the_first_window_permits() {
    // tcp_initialize_rcv_mss() behind tcp_sync_mss(): with half of a window of 1024 bytes, 536 bytes are more than a full segment. They
    // leave less of the memory for the window, so it stays where it was announced.
    let windows = |shift| {
        // The windows of 6 MiB count 128 bytes.
        let mut lone = Lone::listening(Config { receive_window: 6 << 20, ..linux() });
        let options = Options { mss: Some(536), window_scale: Some(shift), ..PEER };
        lone.gets(Segment { options, window: 2000, ..segment(SYN, 0, 0) });
        lone.gets(Segment { window: 1, ..segment(ACK, 1, 1) });
        unread(&mut lone, 1, 536, 3).into_iter().map(|window| window / UNIT).collect::<Vec<_>>()
    };
    assert_eq!((windows(10), windows(14)), (vec![498, 494, 490], vec![501, 501, 497]));
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
