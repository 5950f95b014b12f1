//! How systems make, tell and use windows: buffers in whole segments, windows told at once, segments cut when written, and a
//! cwnd that only grows when it was the limit.

use crate::common::lone::{ACK, FULL, Lone, Out, SYN, SYN_ACK, ack, data, plain, segment};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
use netspurt_tcp::config::{Config, Cutting, Grows, Growth, InitialWindow, WindowGrowth};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::{Hold, Reason};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;
use std::net::Ipv4Addr;

/// Segments with data: where they begin, and how long they are.
type Texts = Vec<(i32, u32)>;

fn texts(out: &[Out]) -> Texts {
    out.iter().filter(|o| o.len > 0).map(|o| (o.seq, o.len)).collect()
}

/// What the ACK that opens the connection announces, in bytes.
fn first_window(config: Config) -> u16 {
    let mut lone = Lone::closed(config);
    lone.c.open(lone.now);
    lone.poll();
    lone.gets(Segment { options: FULL, ..segment(SYN_ACK, 0, 1) })[0].segment.window
}

#[test]
fn buffers_are_rounded_up_to_whole_segments_of_the_size_agreed_on() {
    // FreeBSD's 4380 and 17520 bytes, for an MSS of 1460; here it is 1000.
    for (buffer, rounded) in [(4096, 5000), (16_384, 17_000), (5000, 5000), (65_535, 65_535)] {
        let config = Config { receive_window: buffer, round_buffers: true, ..plain() };
        assert_eq!(u32::from(first_window(config)), rounded, "{buffer}");
    }
    assert_eq!(first_window(Config { receive_window: 4096, ..plain() }), 4096);
    let config = Config { send_buffer: 4096, round_buffers: true, ..plain() };
    let mut lone = Lone::established(config, FULL, 5000);
    assert_eq!(lone.c.write(lone.now, 10_000), Ok(5000));
}

#[test]
fn freebsd_announces_its_buffer_in_whole_segments_and_its_own_scale() {
    // recvspace = 65536; tcp_mss() rounds it up to 45 segments of 1460 bytes, and sb_max = 2 MB needs a scale of 6.
    let config = || profile::by_name("freebsd").expect("a profile").config.clone();
    let stamps = Some(Timestamps { value: 1, echo: 0 });
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: stamps,
        ..Options::NONE
    };
    let mut client = Lone::closed(config());
    client.c.open(client.now);
    let syn = client.poll()[0].segment;
    let first = client.gets(Segment { options, ..segment(SYN_ACK, 0, 1) })[0].segment;
    let mut server = Lone::listening(config());
    let accept = server.gets(Segment { options, ..segment(SYN, 0, 0) })[0].segment;
    server.gets(Segment { options: Options { timestamps: stamps, ..Options::NONE }, ..ack(1, 1, 5000) });
    let reply = server.writes(100)[0].segment;
    for opening in [syn, accept] {
        assert_eq!((opening.window, opening.options.window_scale), (65_535, Some(6)));
        // tcp_addoptions(): MSS, NOP, window scale, SACK-permitted, timestamps.
        let ports = Ports { source: 1, destination: 2 };
        let ip = Ip::new(Addresses::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST });
        let mut packet = Vec::new();
        encode_packet(&opening, ports, &ip, config().layout, Body::Bytes(&[]), &mut packet).expect("a SYN");
        assert_eq!(packet[40..52], [2, 4, 5, 180, 1, 3, 3, 6, 4, 2, 8, 10]);
        let read = decode_packet(&packet, config().layout, Verify::All).expect("a packet").tcp.segment;
        assert_eq!(read.options, opening.options);
    }
    for later in [first, reply] {
        // tcp_default_output(): roundup2().
        assert_eq!(u32::from(later.window), 65_700_u32.div_ceil(1 << 6));
    }
    // The buffer is announced whole, not in steps as the application reads.
    let text = Segment { options: Options { timestamps: stamps, ..Options::NONE }, ..data(1, 101, 1000) };
    server.gets(text);
    server.reads(1000);
    assert_eq!(server.writes(100)[0].segment.window, 65_700_u32.div_ceil(1 << 6) as u16);
}

#[test]
fn a_window_grows_in_steps_or_at_once() {
    for (window_growth, window) in [(WindowGrowth::InSteps, 9900), (WindowGrowth::AtOnce, 10_000)] {
        let mut lone = Lone::established(Config { window_growth, ..plain() }, FULL, 5000);
        lone.c.handle_segment(lone.now, &data(1, 1, 100));
        assert_eq!(lone.reads(100).1[0].segment.window, window, "{window_growth:?}");
    }
}

#[test]
fn a_window_announced_at_once_is_zero_below_a_segment_and_a_quarter_of_the_buffer() {
    let config = Config { receive_window: 2000, window_growth: WindowGrowth::AtOnce, ..plain() };
    let mut lone = Lone::established(config, FULL, 5000);
    lone.gets(data(1, 1, 1000));
    assert_eq!(lone.gets(data(1001, 1, 1000))[0].segment.window, 0);
    let window_after = |lone: &mut Lone, bytes| {
        lone.reads(bytes);
        lone.gets(segment(ACK, 2000, 1)).first().map_or(0, |out| out.segment.window)
    };
    assert_eq!(window_after(&mut lone, 499), 0, "not a quarter yet");
    assert_eq!(window_after(&mut lone, 1), 500);
}

#[test]
fn where_bytes_are_counted_a_reader_makes_the_ack_due() {
    let acking = Acking::DelayedBytes { every: 2, delay: Span::from_ms(200) };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    assert_eq!(lone.gets(data(1, 1, 1000)), []);
    assert_eq!(lone.reads(u64::MAX), (1000, vec![]));
    assert_eq!(lone.gets(data(1001, 1, 1000)), [], "nothing goes before the reader has come");
    let (_, update) = lone.reads(u64::MAX);
    assert_eq!(update.iter().map(|o| (o.ack, o.reason)).collect::<Vec<_>>(), [(2001, Reason::WindowUpdate)]);
    for n in 0..19 {
        lone.gets(data(2001 + 100 * n, 1, 100));
        assert_eq!(lone.reads(u64::MAX).1, [], "short segments do not add up to two full ones");
    }
    let since = lone.now;
    assert_eq!(lone.c.ack_delayed_since(lone.now), Some(since));
    let late = lone.passes(Span::from_secs(1));
    assert_eq!((late[0].at, late[0].reason), (since + Span::from_ms(200), Reason::DelayedAck));
    assert_eq!(lone.c.ack_delayed_since(lone.now), None);
}

#[test]
fn half_of_a_small_buffer_makes_the_ack_due_as_well() {
    let acking = Acking::DelayedBytes { every: 2, delay: Span::from_ms(200) };
    let config = Config { acking, receive_window: 3000, window_growth: WindowGrowth::AtOnce, ..plain() };
    let mut lone = Lone::established(config, FULL, 5000);
    lone.gets(data(1, 1, 1000));
    assert_eq!(lone.reads(u64::MAX).1, []);
    lone.gets(data(1001, 1, 500));
    assert_eq!(lone.reads(u64::MAX).1.len(), 1);
}

/// Writes 5000 bytes into windows as they come, with segments cut as `cutting` says.
fn into(cutting: Cutting, first: u16, then: u16) -> (Texts, Texts, Lone) {
    let mut lone = Lone::established(Config { cutting, ..plain() }, FULL, first);
    let begin = texts(&lone.writes(5000));
    let sent: u32 = begin.iter().map(|(_, len)| len).sum();
    let next = texts(&lone.gets(ack(1, 1 + sent.cast_signed(), then)));
    (begin, next, lone)
}

#[test]
fn a_segment_cut_when_sent_fits_half_of_a_small_window() {
    let (begin, next, _) = into(Cutting::AtSend, 1200, 700);
    assert_eq!((begin, next), (vec![(1, 1000)], vec![(1001, 700)]));
}

#[test]
fn a_segment_cut_when_written_is_half_of_the_first_window_and_never_cut_again() {
    let (begin, next, mut lone) = into(Cutting::AtWrite, 1200, 599);
    assert_eq!(begin, [(1, 600), (601, 600)], "segments of half the window");
    assert_eq!((next, lone.c.holding()), (vec![], Hold::ReceiveWindow), "a byte short, and it waits");
    assert_eq!(texts(&lone.gets(ack(1, 1201, 600))), [(1201, 600)]);
}

#[test]
fn a_segment_cut_when_written_goes_in_pieces_only_if_the_window_stays_small() {
    // The override timeout of RFC 9293, section 3.8.6.2.1: all that the window permits.
    let (_, _, mut lone) = into(Cutting::AtWrite, 1200, 100);
    let probe = lone.until(lone.c.next_deadline());
    assert_eq!((texts(&probe), probe[0].reason), (vec![(1201, 100)], Reason::WindowProbe));
}

/// cwnd behind an exchange of a request of 500 bytes, in segments.
fn after_a_request(grows: Grows) -> Lone {
    let config = Config {
        initial_window: InitialWindow::Segments(3),
        growth: Growth { grows, ..plain().growth },
        ..plain()
    };
    let mut lone = Lone::established(config, FULL, 50_000);
    lone.writes(500);
    lone.gets(ack(1, 501, 50_000));
    lone
}

#[test]
fn the_ack_of_a_request_leaves_the_initial_window_as_it_is_where_only_a_full_window_grows() {
    assert_eq!(after_a_request(Grows::Always).c.cwnd(), 4000);
    let mut lone = after_a_request(Grows::WhenLimiting);
    assert_eq!(lone.c.cwnd(), 3000);
    assert_eq!(texts(&lone.writes(20_000)), [(501, 1000), (1501, 1000), (2501, 1000)], "the first flight");
    assert_eq!(texts(&lone.gets(ack(1, 1501, 50_000))), [(3501, 1000), (4501, 1000)], "and then it opens");
}

#[test]
fn a_loss_restarts_from_one_segment_whatever_the_initial_window() {
    // RFC 2415, section 2; RFC 5681, section 3.1: the loss window.
    let mut lone = after_a_request(Grows::WhenLimiting);
    lone.writes(20_000);
    let again = lone.until(lone.c.next_deadline());
    assert_eq!((texts(&again), lone.c.cwnd()), (vec![(501, 1000)], 1000));
}

#[test]
fn data_rides_on_the_third_segment_of_the_handshake() {
    let mut lone = Lone::closed(plain());
    lone.c.open(lone.now);
    lone.poll();
    assert_eq!(lone.writes(500), [], "it waits for the SYN-ACK");
    let third = lone.gets(Segment { options: FULL, ..segment(SYN_ACK, 0, 1) });
    assert_eq!(third.iter().map(|o| (o.seq, o.len, o.ack)).collect::<Vec<_>>(), [(1, 500, 1)]);
}

#[test]
fn a_young_connection_acknowledges_each_segment_and_so_does_one_that_met_a_loss() {
    let tick = Span::from_ms(100);
    let acking = Acking::QuickStart { young: 3000, every: 2, period: tick, phase: Span::ZERO };
    let mut lone = Lone::established(Config { acking, ..plain() }, FULL, 5000);
    let mut acks = |seq: i32, len: u32| {
        let acks: Vec<_> = lone.gets(data(seq, 1, len)).iter().map(|o| o.ack).collect();
        lone.reads(u64::MAX);
        acks
    };
    assert_eq!(acks(1, 1000), [1001]);
    assert_eq!(acks(1001, 1999), [3000], "2999 bytes");
    assert_eq!(acks(3000, 1000), [], "old now");
    assert_eq!(acks(4000, 1000), [5000], "two segments' worth");
    assert_eq!(acks(5000, 100), []);
    assert_eq!(acks(6000, 100), [5100], "behind a hole");
    assert_eq!(acks(5100, 900), [6100], "which is filled: young until 9100 bytes have come");
    assert_eq!(acks(6100, 100), [6200]);
    assert_eq!(acks(6200, 2900), [9100]);
    assert_eq!(acks(9100, 100), []);
}

#[test]
fn a_held_segment_is_reported_with_reason_and_start() {
    let tells = |transmit, writes: &[u64]| {
        let mut lone = Lone::established(Config { transmit, ..plain() }, FULL, 50_000);
        lone.c.record_events(true);
        for &len in writes {
            lone.passes(Span::from_ms(1));
            lone.writes(len);
        }
        let held = lone.c.held(lone.now).map(|held| (held.offset, held.len, held.since));
        let told: Vec<String> = std::iter::from_fn(|| lone.c.poll_event())
            .filter_map(|(_, event)| match event {
                netspurt_tcp::event::Event::Held(held) => Some(held.to_string()),
                _ => None,
            })
            .collect();
        (held, told, lone)
    };
    let at = |ms| netspurt_tcp::time::Time::ZERO + Span::from_ms(ms);
    let (held, told, _) = tells(Transmit::NagleStrict, &[1873]);
    assert_eq!(held, Some((1000, 873, at(1))));
    assert_eq!(told, ["held: 873 bytes, nagle, waits for the ACK of 1000 bytes"]);
    let (held, told, mut lone) = tells(Transmit::Minshall, &[100, 1000, 20, 30]);
    assert_eq!(held, Some((1100, 50, at(3))), "since the first of the bytes that wait");
    assert_eq!(told, ["held: 20 bytes, minshall, waits for the ACK of 100 bytes"]);
    assert_eq!(texts(&lone.gets(ack(1, 101, 50_000))), [(1101, 50)]);
    assert_eq!(lone.c.held(lone.now), None);
    let (_, told, mut lone) = tells(Transmit::Cork, &[873]);
    assert_eq!(told, ["held: 873 bytes, cork, waits to be uncorked"]);
    lone.c.uncork();
    assert_eq!(texts(&lone.poll()), [(1, 873)]);
    let (held, _, _) = tells(Transmit::Doupnik, &[873, 100, 1]);
    assert_eq!(held, None, "each write ends its data");
}

#[test]
fn a_write_that_was_promised_more_is_kept_back_until_it_ends_or_200_ms_have_passed() {
    use netspurt_tcp::Behind;
    let part = |lone: &mut Lone, len, behind| {
        assert_eq!(lone.c.write_part(lone.now, len, behind), Ok(len));
        texts(&lone.poll())
    };
    let config = || Config { transmit: Transmit::Doupnik, ..plain() };
    let mut lone = Lone::established(config(), FULL, 5000);
    assert_eq!(part(&mut lone, 1300, Behind::More), [(1, 1000)]);
    assert_eq!(lone.c.holding(), Hold::EndOfData);
    assert_eq!(part(&mut lone, 100, Behind::Nothing), [(1001, 400)]);

    let mut broken = Lone::established(config(), FULL, 5000);
    part(&mut broken, 300, Behind::More);
    let late = broken.passes(Span::from_secs(1));
    assert_eq!((texts(&late), late[0].at), (vec![(1, 300)], crate::common::ms(200)));

    let mut closed = Lone::established(config(), FULL, 5000);
    part(&mut closed, 300, Behind::More);
    assert_eq!(texts(&closed.closes()), [(1, 300)]);
}

#[test]
fn urgent_data_is_held_up_by_no_rule() {
    for transmit in [Transmit::NagleStrict, Transmit::Minshall, Transmit::Cork] {
        let mut lone = Lone::established(Config { transmit, ..plain() }, FULL, 5000);
        lone.writes(100);
        assert_eq!(lone.c.write_urgent(lone.now, 1), Ok(1));
        let sent: u32 = lone.poll().iter().map(|out| out.len).sum();
        let before = if transmit == Transmit::Cork { 101 } else { 1 };
        assert_eq!(sent, before, "{transmit:?}");
    }
}

#[test]
fn a_full_send_buffer_is_never_held_for_more() {
    use netspurt_tcp::Behind;
    for transmit in [Transmit::Doupnik, Transmit::DoupnikLiberal, Transmit::Cork] {
        let config = Config { transmit, send_buffer: 300, ..plain() };
        let mut lone = Lone::established(config, FULL, 5000);
        assert_eq!(lone.c.write_part(lone.now, 5000, Behind::More), Ok(300));
        assert_eq!(texts(&lone.poll()), [(1, 300)], "{transmit:?}");
    }
}
