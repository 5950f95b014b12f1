//! RFC 1106, section 3: the Big Window option, rule by rule; beside it the scale in every segment; RFC 1110's objection.

use crate::common::{End, Pair};
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::codec::{Addresses, Body, Ports, encode};
use netspurt_tcp::config::{Config, Recovery, WindowOption};
use netspurt_tcp::options::{BigWindow, Layout, Nak, Options, Timestamps};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;
use netspurt_tcp::{Connection, profile};
use std::sync::Arc;

const DELAY: Span = Span::from_ms(290);
const WINDOW: u32 = 156 * 1024;

/// A window of 156 K, told in this way.
fn wide(option: WindowOption) -> Config {
    Config {
        window_option: option,
        receive_window: WINDOW,
        congestion: netspurt_tcp::congestion::Kind::None,
        ..profile::by_name("bsd43-bigwindow").expect("built in").config.clone()
    }
}

/// Opens a pair and moves 300,000 bytes each way.
fn transfer(client: Config, server: Config) -> Pair<'static> {
    let mut pair = Pair::new(client, server, DELAY).open();
    pair.write(End::Client, 300_000);
    pair.write(End::Server, 300_000);
    pair.run_for(Span::from_secs(30));
    assert_eq!((pair.client_read, pair.server_read), (300_000, 300_000));
    assert_eq!(pair.client.stats().retransmitted + pair.server.stats().retransmitted, 0);
    pair
}

fn is_syn(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN)
}

#[test]
fn both_sides_offer_and_every_later_segment_carries_the_upper_bits() {
    let pair = transfer(wide(WindowOption::BigWindow), wide(WindowOption::BigWindow));
    for end in [End::Client, End::Server] {
        for sent in pair.sent_by(end) {
            let option = sent.segment.options.big_window;
            if is_syn(&sent.segment) {
                assert_eq!(option, Some(BigWindow::Offer(WINDOW)));
                assert_eq!(sent.segment.window, 65_535, "a SYN's own window has 16 bits");
            } else {
                assert!(matches!(option, Some(BigWindow::Upper(_))), "{end:?}: {sent:?}");
            }
        }
    }
    for window in [pair.client.peer_window(), pair.server.peer_window()] {
        assert!(WINDOW - window < 1024, "all but a last short segment, which opens no window: {window}");
    }
    let burst = pair.sent_by(End::Client).filter(|s| s.at.as_ps() == 2 * DELAY.as_ps() * 2);
    let bytes: u32 = burst.map(|s| s.segment.payload.len).sum();
    assert!(bytes > 65_535, "the window offered is used at once: {bytes}");
}

#[test]
fn one_side_alone_gets_windows_of_sixteen_bits() {
    for option in [WindowOption::BigWindow, WindowOption::ScaleEverySegment] {
        for (client, server) in [(option, WindowOption::None), (WindowOption::None, option)] {
            let pair = transfer(wide(client), wide(server));
            let carries = |s: &Segment| s.options.big_window.is_some() || s.options.segment_scale.is_some();
            assert!(pair.sent.iter().all(|s| is_syn(&s.segment) || !carries(&s.segment)));
            assert!(
                pair.sent_by(End::Server).all(|s| !carries(&s.segment)),
                "nothing unasked in the SYN-ACK"
            );
            assert!(pair.client.peer_window() <= 65_535 && pair.server.peer_window() <= 65_535);
        }
    }
}

#[test]
fn big_window_and_window_scale_do_not_interoperate() {
    let pair = transfer(wide(WindowOption::BigWindow), wide(WindowOption::Rfc7323));
    assert!(pair.client.peer_window() <= 65_535 && pair.server.peer_window() <= 65_535);
}

#[test]
fn a_simultaneous_open_agrees_as_well() {
    for option in [WindowOption::BigWindow, WindowOption::ScaleEverySegment, WindowOption::Rfc7323] {
        let mut pair = Pair::new(wide(option), wide(option), DELAY);
        pair.server = Connection::new(Arc::new(wide(option)), Seq(77));
        let now = pair.now;
        pair.client.open(now);
        pair.server.open(now);
        pair.settle();
        pair.run_for(Span::from_ms(700));
        assert_eq!((pair.client.state(), pair.server.state()), (State::Established, State::Established));
        if option != WindowOption::BigWindow {
            assert_eq!(pair.client.peer_window(), 65_535, "the window of a SYN is not scaled");
        }
        pair.write(End::Client, 300_000);
        pair.write(End::Server, 300_000);
        pair.run_for(Span::from_secs(30));
        assert_eq!((pair.client_read, pair.server_read), (300_000, 300_000));
        for window in [pair.client.peer_window(), pair.server.peer_window()] {
            assert!(WINDOW - window < 1024 + 4, "{option:?}: {window}");
        }
        assert!(pair.sent.iter().all(|s| !s.reason.is_retransmission()), "{option:?}");
    }
}

/// A lab whose peer answers the SYN with `options` and a window field of 60,000.
fn answered(option: WindowOption, options: Options) -> Lab {
    let ours = Config { window_option: option, receive_window: WINDOW, ..config(Recovery::Reno) };
    Lab::open(ours, Options { mss: Some(MSS as u16), ..options })
}

fn big(option: BigWindow) -> Options {
    Options { big_window: Some(option), ..Options::NONE }
}

#[test]
fn the_offer_is_in_force_once_it_is_echoed() {
    let echoed = answered(WindowOption::BigWindow, big(BigWindow::Offer(200_000)));
    assert_eq!(echoed.tcp.peer_window(), 200_000);
    let silent = answered(WindowOption::BigWindow, Options::NONE);
    assert_eq!(silent.tcp.peer_window(), 60_000);
    let unasked = answered(WindowOption::None, big(BigWindow::Offer(200_000)));
    assert_eq!(unasked.tcp.peer_window(), 60_000);
}

#[test]
fn the_two_halves_make_one_window() {
    let mut lab = answered(WindowOption::BigWindow, big(BigWindow::Offer(65_535)));
    for window in [65_535, 65_536, 65_537, 131_071, 131_072, 131_073, (1 << 30) - 1, 0, 1] {
        lab.window = window as u16;
        lab.ack_with(0, big(BigWindow::Upper((window >> 16) as u16)));
        assert_eq!(lab.tcp.peer_window(), window);
    }
}

#[test]
fn no_window_has_more_than_thirty_bits() {
    let mut lab = answered(WindowOption::BigWindow, big(BigWindow::Offer(u32::MAX)));
    assert_eq!(lab.tcp.peer_window(), (1 << 30) - 1);
    for upper in [0x4000, 0x7FFF, 0xFFFF] {
        lab.window = 1;
        lab.ack_with(0, big(BigWindow::Upper(upper)));
        assert!(lab.tcp.peer_window() < 1 << 30, "{upper:x}");
    }
}

#[test]
fn a_segment_without_the_option_is_read_as_sixteen_bits() {
    let mut lab = answered(WindowOption::BigWindow, big(BigWindow::Offer(200_000)));
    lab.window = 500;
    lab.ack(0);
    assert_eq!(lab.tcp.peer_window(), 500);
    lab.ack_with(0, big(BigWindow::Upper(2)));
    assert_eq!(lab.tcp.peer_window(), 131_572);
    let mut lab =
        answered(WindowOption::ScaleEverySegment, Options { segment_scale: Some(3), ..Options::NONE });
    assert_eq!(lab.tcp.peer_window(), 60_000, "that of a SYN is not scaled");
    lab.ack_with(0, Options { segment_scale: Some(3), ..Options::NONE });
    assert_eq!(lab.tcp.peer_window(), 480_000);
    lab.ack(0);
    assert_eq!(lab.tcp.peer_window(), 60_000);
    lab.ack_with(0, Options { segment_scale: Some(255), ..Options::NONE });
    assert_eq!(lab.tcp.peer_window(), 60_000 << 14, "no shift above 14");
}

/// What a segment announces in each of the two forms.
fn announced(segment: &Segment) -> u32 {
    match (segment.options.big_window, segment.options.segment_scale) {
        (Some(BigWindow::Upper(upper)), _) => u32::from(upper) << 16 | u32::from(segment.window),
        (_, Some(shift)) => u32::from(segment.window) << shift,
        _ => u32::from(segment.window),
    }
}

#[test]
fn our_own_windows_are_announced_whole() {
    for window in [65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, (1 << 30) - 1] {
        for option in [WindowOption::BigWindow, WindowOption::ScaleEverySegment] {
            let ours = Config { window_option: option, receive_window: window, ..config(Recovery::Reno) };
            let offer =
                Options { mss: Some(MSS as u16), segment_scale: Some(0), ..big(BigWindow::Offer(60_000)) };
            let mut lab = Lab::open(ours, offer);
            let answer = lab.data(0, 1000);
            let grain = if option == WindowOption::BigWindow { 1 } else { 1 << 14 };
            let told = announced(&answer[0]);
            assert!(told <= window && window - told < grain, "{option:?} {window}: {told}");
        }
    }
}

#[test]
fn the_right_edge_never_moves_left() {
    for window in [70_000, 131_071, 131_073, 262_147, (1 << 20) + 1] {
        for option in [WindowOption::BigWindow, WindowOption::ScaleEverySegment] {
            let mut pair = Pair::new(wide(option), Config { receive_window: window, ..wide(option) }, DELAY);
            pair.server_reads = false;
            let mut pair = pair.open();
            pair.write(End::Client, 300_000);
            pair.run_for(Span::from_secs(5));
            pair.server_reads = true;
            pair.settle();
            pair.run_for(Span::from_secs(20));
            assert_eq!(pair.server_read, 300_000);
            let mut edge = 0;
            for sent in pair.sent_by(End::Server).filter(|s| !is_syn(&s.segment)) {
                let right = sent.segment.ack.minus(1_000_001).0 + announced(&sent.segment);
                assert!(right >= edge, "{option:?} {window}: from {edge} back to {right}");
                edge = right;
            }
        }
    }
}

#[test]
fn options_have_the_lengths_of_the_document_and_two_more_with_exids() {
    let nak = Options { nak: Some(Nak { first: Seq(1), count: 1 }), ..Options::NONE };
    let scale = Options { segment_scale: Some(1), ..Options::NONE };
    let permitted = Options { nak_permitted: true, ..Options::NONE };
    let rows = [
        (nak, 7, 9),
        (big(BigWindow::Offer(1)), 6, 8),
        (big(BigWindow::Upper(1)), 4, 6),
        (scale, 3, 5),
        (permitted, 0, 4),
    ];
    let loopback = core::net::Ipv4Addr::LOCALHOST;
    for (options, document, shared) in rows {
        for (layout, len) in [(Layout::DOCUMENT, document), (Layout::SHARED, shared)] {
            assert_eq!(options.wire_len(layout), u8::next_multiple_of(len, 4), "{options:?}");
            let segment = Segment { options, ..Segment::default() };
            let addresses = Addresses::V4 { source: loopback, destination: loopback };
            let mut bytes = Vec::new();
            encode(&segment, Ports::default(), addresses, layout, Body::Virtual, &mut bytes).expect("fits");
            if len > 0 {
                assert_eq!(bytes[21], len, "{options:?} in {layout:?}");
            }
        }
    }
}

#[test]
fn segments_are_as_long_as_their_options_say_in_both_layouts() {
    for layout in [Layout::DOCUMENT, Layout::SHARED] {
        let both = Config { layout, recovery: Recovery::Nak, ..wide(WindowOption::BigWindow) };
        let pair = transfer(both.clone(), both);
        for sent in &pair.sent {
            assert_eq!(sent.segment.header_len, 20 + sent.segment.options.wire_len(layout));
        }
    }
}

/// 2^32 bytes in pieces of 2^28, less 500; the segment with the first 1000 bytes comes again.
fn old_duplicate(timestamps: bool) -> Lab {
    let ours = Config {
        window_option: WindowOption::BigWindow,
        receive_window: (1 << 30) - 1,
        timestamps,
        ..config(Recovery::Reno)
    };
    let stamp = |value| timestamps.then_some(Timestamps { value, echo: 0 });
    let peer = Options { mss: Some(MSS as u16), timestamps: stamp(1), ..big(BigWindow::Offer(60_000)) };
    let mut lab = Lab::open(ours, peer);
    let (end, step) = ((1_u64 << 32) - 500, 1 << 28);
    for n in 0..16 {
        lab.at(200 + 100 * n);
        lab.stamp = stamp(2 + n as u32);
        let from = n * step;
        lab.data_at(from, (end - from).min(step) as u32);
    }
    assert_eq!(lab.tcp.received(), end);
    assert_eq!(lab.tcp.stats().foreign_bytes, 0);
    // Four windows, four round trips later.
    lab.stamp = stamp(2);
    lab.data_at(0, 1000);
    lab.stamp = stamp(30);
    lab.data_at(end, 1500);
    lab
}

#[test]
fn rfc_1110_an_old_duplicate_is_taken_for_new_data() {
    let lab = old_duplicate(false);
    assert_eq!(lab.tcp.stats().foreign_bytes, 1000);
    assert_eq!(lab.tcp.received(), (1 << 32) + 1000);
}

#[test]
fn rfc_1110_timestamps_cure_it() {
    let lab = old_duplicate(true);
    assert_eq!((lab.tcp.stats().foreign_bytes, lab.tcp.stats().paws_drops), (0, 1));
    assert_eq!(lab.tcp.received(), (1 << 32) + 1000);
}

/// Data of the peer that nobody reads.
fn unread(offset: u32, len: u32) -> Segment {
    Segment {
        seq: Lab::their_first().plus(offset),
        ack: Lab::behind(0),
        flags: Flags::ACK,
        window: 60_000,
        payload: Payload { offset: u64::from(offset), len },
        ..Segment::default()
    }
}

#[test]
fn what_the_offer_on_our_syn_invites_is_taken_before_our_first_ack() {
    let mut tcp = passive_with_offer(200_000);
    for n in 0..3 {
        let offset = 60_000 * n;
        tcp.handle_segment(netspurt_tcp::time::Time::ZERO, &unread(offset, 60_000));
    }
    assert_eq!(tcp.received(), 180_000);
}

/// Listening, with the peer's SYN in and our SYN-ACK out, which alone has announced a window.
fn passive_with_offer(window: u32) -> Connection {
    let ours = Config {
        window_option: WindowOption::BigWindow,
        receive_window: window,
        acking: netspurt_tcp::acking::Acking::Delayed { every: 200, delay: Span::from_ms(500) },
        ..config(Recovery::Reno)
    };
    let mut tcp = Connection::listen(Arc::new(ours), Lab::behind(0).minus(1));
    let now = netspurt_tcp::time::Time::ZERO;
    let options = Options { mss: Some(MSS as u16), ..big(BigWindow::Offer(60_000)) };
    let syn = Segment { seq: Lab::their_first().minus(1), flags: Flags::SYN, options, ..Segment::default() };
    tcp.handle_segment(now, &syn);
    let answer = tcp.poll_transmit(now).expect("a SYN-ACK").segment;
    assert_eq!((answer.window, answer.options.big_window), (65_535, Some(BigWindow::Offer(window))));
    tcp
}

#[test]
fn a_window_just_below_a_power_of_two_is_kept_by_a_scale_in_every_segment() {
    for promise in [65_536, 65_537, 131_070, 131_071, 131_073, 262_141, 262_143, 524_287] {
        let ours = Config {
            window_option: WindowOption::ScaleEverySegment,
            receive_window: 1 << 20,
            ..config(Recovery::Reno)
        };
        let offer = Options { mss: Some(MSS as u16), segment_scale: Some(0), ..Options::NONE };
        let mut lab = Lab::open(ours, offer);
        let window = announced(&lab.data(0, 1000)[0]);
        let len = window - promise;
        let segment = unread(1000, len);
        lab.tcp.handle_segment(lab.now, &segment);
        let answer = lab.tcp.poll_transmit(lab.now).expect("an ACK").segment;
        assert!(announced(&answer) >= promise, "{promise}: {}", announced(&answer));
    }
}
