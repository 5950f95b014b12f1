//! Segments that arrive beside the peer's FIN, in TIME-WAIT, and before header prediction begins, as Linux takes them.

use crate::as_linux_segments::blocks;
use crate::common::lone::{ACK, FIN_ACK, FULL, Lone, data, plain, segment, with_text};
use netspurt_tcp::config::{Config, Grows, OldSegments, UnsentAcked, WindowOption};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;

const LINUX: OldSegments = OldSegments::Linux;
const STANDARD: OldSegments = OldSegments::Outside;

fn rules(old_segments: OldSegments) -> Config {
    Config { old_segments, sack: true, unsent_acked: UnsentAcked::Answered, ..plain() }
}

fn established(old_segments: OldSegments) -> Lone {
    Lone::established(rules(old_segments), Options { sack_permitted: true, ..FULL }, 5000)
}

#[test]
fn data_that_reaches_the_fin_reports_no_duplicate() {
    // tcp_fin() resets what SACK would report.
    for (rules, reported) in [(LINUX, &[][..]), (STANDARD, &[(101, 151)][..])] {
        let mut lone = established(rules);
        lone.gets(with_text(segment(FIN_ACK, 101, 1), 100));
        assert_eq!(blocks(&mut lone, data(1, 1, 150)), reported, "{rules:?}");
    }
}

#[test]
fn a_lone_fin_behind_a_gap_stays_reported_though_other_reports_are_newer() {
    let mut lone = established(LINUX);
    lone.gets(segment(FIN_ACK, 301, 1));
    lone.gets(data(3, 1, 200));
    assert_eq!(blocks(&mut lone, data(1, 1, 2)), [(301, 302)]);
}

#[test]
fn data_before_a_fin_that_waits_behind_a_gap_is_acknowledged_at_once() {
    // tcp_data_queue_ofo() stores the FIN like data, so __tcp_ack_snd_check() sees a gap.
    let linux = profile::by_name("linux").expect("built in").config.acking;
    for (old_segments, answers) in [(LINUX, 1), (STANDARD, 0)] {
        let mut lone = Lone::established(Config { acking: linux, ..rules(old_segments) }, FULL, 5000);
        // The receiver no longer acknowledges each segment at once.
        for seq in 0..40 {
            lone.gets(data(1 + seq, 1, 1));
            lone.reads(1);
        }
        lone.passes(Span::from_ms(500));
        lone.gets(segment(FIN_ACK, 301, 1));
        lone.passes(Span::from_ms(500));
        lone.gets(data(41, 1, 1));
        lone.passes(Span::from_ms(500));
        assert_eq!(lone.gets(data(42, 1, 1)).len(), answers, "{old_segments:?}");
    }
}

#[test]
fn in_time_wait_the_acknowledgment_number_does_not_matter() {
    // tcp_timewait_state_process()
    for (old_segments, answers) in [(LINUX, 0), (STANDARD, 1)] {
        let mut lone = Lone::reached(rules(old_segments), State::TimeWait);
        assert_eq!(lone.gets(segment(ACK, 502, 9000)).len(), answers, "{old_segments:?}");
    }
}

#[test]
fn an_ack_may_lie_as_far_behind_a_shrunken_window_as_the_window_has_steps() {
    // tcp_acceptable_seq()
    for (grows, seq) in [(Grows::WhenUsed, 3001), (Grows::Always, 2901)] {
        let mut config =
            Config { receive_window: 1 << 22, window_option: WindowOption::Rfc7323, ..rules(LINUX) };
        config.growth.grows = grows;
        let offer = Options { window_scale: Some(0), sack_permitted: true, ..FULL };
        let mut lone = Lone::established(config, offer, 5000);
        assert_eq!(lone.writes(3000).len(), 3);
        let out = lone.gets(Segment { window: 2900, ..data(1, 1, 10) });
        assert_eq!(out[0].seq, seq, "the step is 128 bytes");
        let out = lone.gets(Segment { window: 2500, ..data(11, 1, 10) });
        assert_eq!(out[0].seq, 2501);
    }
}

/// The timestamp that is echoed after an old ACK with the timestamp 1005, of a peer that shifts its windows by `shift`. `text`: data
/// has arrived before.
fn echoed(shift: u8, text: u32) -> u32 {
    let stamp = |value| Some(Timestamps { value, echo: 0 });
    let stamped = |segment: Segment, value| Segment {
        options: Options { timestamps: stamp(value), ..segment.options },
        header_len: 32,
        window: 5000 >> shift,
        ..segment
    };
    let config = Config { timestamps: true, window_option: WindowOption::Rfc7323, ..rules(LINUX) };
    let offer = Options { window_scale: Some(shift), sack_permitted: true, timestamps: stamp(1000), ..FULL };
    let mut lone = Lone::established(config, offer, 5000);
    lone.writes(2000);
    if text > 0 {
        lone.gets(stamped(data(1, 1, text), 1001));
    }
    let next = 1 + text.cast_signed();
    lone.gets(stamped(segment(ACK, next, 2001), 1001));
    lone.gets(stamped(segment(ACK, next, 1001), 1005));
    let answer = lone.gets(stamped(data(next - 2, 2001, 1), 1005));
    answer[0].segment.options.timestamps.expect("agreed").echo
}

#[test]
fn a_client_begins_without_header_prediction_if_the_peer_scales_its_window() {
    // tcp_finish_connect(): so the timestamp of an old ACK does not count before data arrives.
    assert_eq!([(0, 0), (3, 0), (3, 1)].map(|(shift, text)| echoed(shift, text)), [1005, 1001, 1005]);
}

#[test]
fn data_in_order_sets_the_number_of_the_last_window_update_back() {
    // tcp_update_wl() in tcp_rcv_established(); then the first ACK of a later number is no duplicate.
    for (old_segments, dup_acks) in [(LINUX, 1), (STANDARD, 2)] {
        let mut lone = Lone::established(Config { sack: false, ..rules(old_segments) }, FULL, 5000);
        lone.writes(3000);
        lone.gets(segment(ACK, 101, 1));
        let before = lone.c.stats().dup_acks_received;
        lone.gets(data(1, 1, 100));
        lone.gets(segment(ACK, 101, 1));
        lone.gets(segment(ACK, 101, 1));
        assert_eq!(lone.c.stats().dup_acks_received - before, dup_acks, "{old_segments:?}");
    }
}

#[test]
fn partly_old_data_does_not_set_the_number_of_the_last_window_update_back() {
    // tcp_rcv_established(): header prediction takes data at RCV.NXT only.
    let mut lone = established(LINUX);
    lone.gets(data(1, 1, 100));
    lone.gets(Segment { window: 0, ..segment(ACK, 101, 1) });
    lone.gets(Segment { window: 0, ..data(51, 1, 100) });
    lone.gets(Segment { window: 5000, ..data(91, 1, 100) });
    assert_eq!(lone.writes(1000).len(), 0, "the window is still closed");
}

#[test]
fn a_fin_in_fin_wait_1_is_acknowledged_before_data_leaves() {
    // tcp_fin() calls tcp_send_ack() there, and the state begins when the application closes.
    for (old_segments, lengths) in [(LINUX, &[0, 900][..]), (STANDARD, &[900][..])] {
        let mut lone = Lone::established(rules(old_segments), FULL, 1000);
        lone.writes(1900);
        lone.closes();
        let out = lone.gets(segment(FIN_ACK, 1, 1001));
        assert_eq!(out.iter().map(|out| out.len).collect::<Vec<_>>(), lengths, "{old_segments:?}");
        assert!(out.iter().all(|out| out.ack == 2));
    }
}

#[test]
fn the_ack_of_a_fin_that_waited_behind_a_gap_still_reports_it_after_closing() {
    // tcp_fin() calls tcp_send_ack() there before tcp_sack_reset().
    for (old_segments, closes, reported) in
        [(LINUX, true, &[(101, 102)][..]), (LINUX, false, &[][..]), (STANDARD, true, &[][..])]
    {
        let mut lone = established(old_segments);
        let mut acknowledged = 1;
        if closes {
            lone.closes();
            acknowledged = 2;
            lone.gets(segment(ACK, 1, 2));
        }
        lone.gets(segment(FIN_ACK, 101, acknowledged));
        assert_eq!(blocks(&mut lone, data(1, acknowledged, 100)), reported, "{old_segments:?}");
    }
}

#[test]
fn the_ack_of_our_fin_is_consumed_with_the_fin_that_comes_again() {
    // TCP_CLOSING in tcp_rcv_state_process(). The FIN would be a duplicate that is answered.
    for (old_segments, answers) in [(LINUX, 0), (STANDARD, 1)] {
        let mut lone = established(old_segments);
        lone.closes();
        lone.gets(segment(FIN_ACK, 1, 1));
        assert_eq!(lone.c.state(), State::Closing, "{old_segments:?}");
        assert_eq!(lone.gets(segment(FIN_ACK, 1, 2)).len(), answers, "{old_segments:?}");
    }
}
