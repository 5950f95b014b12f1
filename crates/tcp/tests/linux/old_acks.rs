//! ACKs that others have overtaken, windows, and FINs in places of their own, as Linux takes them.

use crate::as_linux_segments::blocks;
use crate::common::lone::{ACK, FIN_ACK, FULL, Lone, data, plain, segment};
use crate::lab::{Lab, config};
use netspurt_tcp::acking::Acking;
use netspurt_tcp::config::{Config, OldSegments, Recovery, UnsentAcked};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::segment::Segment;
use netspurt_tcp::state::State;
use netspurt_tcp::time::{Span, Time};

const LINUX: OldSegments = OldSegments::Linux;
const STANDARD: OldSegments = OldSegments::Outside;

fn established(old_segments: OldSegments) -> Lone {
    let config = Config { old_segments, sack: true, unsent_acked: UnsentAcked::Answered, ..plain() };
    Lone::established(config, Options { sack_permitted: true, ..FULL }, 5000)
}

/// With timestamps: the peer's SYN-ACK carries 1000.
fn stamped(old_segments: OldSegments) -> Lone {
    let timestamps = Some(Timestamps { value: 1000, echo: 0 });
    let config = Config { old_segments, sack: true, timestamps: true, ..plain() };
    Lone::established(config, Options { sack_permitted: true, timestamps, ..FULL }, 5000)
}

fn with_stamp(segment: Segment, value: u32) -> Segment {
    let timestamps = Some(Timestamps { value, echo: 0 });
    Segment { options: Options { timestamps, ..segment.options }, header_len: 32, ..segment }
}

#[test]
fn an_ack_with_an_old_timestamp_that_another_has_overtaken_is_taken() {
    // tcp_disordered_ack_check(): up to 1.2 times the RTO old.
    for (old, answers) in [(900, 0), (1, 0)] {
        let mut lone = stamped(LINUX);
        lone.writes(1000);
        lone.gets(with_stamp(segment(ACK, 1, 1), 1000));
        let out = lone.gets(with_stamp(segment(ACK, 1, 1), old));
        assert_eq!(out.len(), answers, "{old}");
    }
    let mut lone = stamped(STANDARD);
    lone.writes(1000);
    assert_eq!(lone.gets(with_stamp(segment(ACK, 1, 1), 900)).len(), 1, "RFC 7323, section 5.3, R1");
}

#[test]
fn the_timestamp_of_an_old_ack_counts_if_header_prediction_takes_the_segment() {
    // Only a duplicate is answered at once, so that the echo shows.
    let echo = |lone: &mut Lone| {
        let answer = lone.gets(with_stamp(data(-1, 2001, 1), 1005));
        answer[0].segment.options.timestamps.expect("agreed").echo
    };
    let mut lone = stamped(LINUX);
    lone.writes(2000);
    lone.gets(with_stamp(segment(ACK, 1, 2001), 1001));
    lone.gets(with_stamp(segment(ACK, 1, 1001), 1005));
    assert_eq!(echo(&mut lone), 1005);
    // An old segment that no SACK block can report is not stored.
    let timestamps = Some(Timestamps { value: 1000, echo: 0 });
    let config = Config { old_segments: LINUX, timestamps: true, ..plain() };
    let mut lone = Lone::established(config, Options { timestamps, ..FULL }, 5000);
    lone.writes(2000);
    lone.gets(with_stamp(segment(ACK, 1, 2001), 1001));
    lone.gets(with_stamp(data(-1, 2001, 1), 1001));
    lone.gets(with_stamp(segment(ACK, 1, 1001), 1005));
    assert_eq!(echo(&mut lone), 1005);
    // Another window: the slow path, in which tcp_ack() returns before it stores the timestamp.
    let mut lone = stamped(LINUX);
    lone.writes(2000);
    lone.gets(with_stamp(segment(ACK, 1, 2001), 1001));
    lone.gets(Segment { window: 4000, ..with_stamp(segment(ACK, 1, 1001), 1005) });
    assert_eq!(echo(&mut lone), 1001);
}

#[test]
fn the_timestamp_of_an_old_ack_does_not_count_while_a_fin_waits_behind_a_gap() {
    // tcp_data_queue_ofo() turns header prediction off, and tcp_ack() returns before it stores the timestamp.
    for sack_permitted in [true, false] {
        let timestamps = Some(Timestamps { value: 1000, echo: 0 });
        let config = Config { old_segments: LINUX, sack: true, timestamps: true, ..plain() };
        let mut lone = Lone::established(config, Options { sack_permitted, timestamps, ..FULL }, 5000);
        lone.writes(2000);
        lone.gets(with_stamp(segment(ACK, 1, 2001), 1001));
        lone.gets(with_stamp(segment(FIN_ACK, 301, 2001), 1001));
        lone.gets(with_stamp(segment(ACK, 1, 1001), 1005));
        let answer = lone.gets(with_stamp(data(-1, 2001, 1), 1005));
        assert_eq!(answer[0].segment.options.timestamps.expect("agreed").echo, 1001, "{sack_permitted}");
    }
}

#[test]
fn a_segment_with_the_numbers_of_the_last_one_does_not_shrink_the_window() {
    // tcp_may_update_window()
    for (rules, sent) in [(LINUX, 3), (STANDARD, 1)] {
        let mut lone = established(rules);
        lone.gets(Segment { window: 5000, ..segment(ACK, 1, 1) });
        lone.gets(Segment { window: 1000, ..segment(ACK, 1, 1) });
        assert_eq!(lone.writes(3000).len(), sent);
        lone.gets(Segment { window: 0, ..segment(ACK, 1, 1) });
        assert_eq!(lone.writes(1000).len(), 0, "but it closes it");
    }
}

#[test]
fn an_ack_one_before_rcv_nxt_is_not_processed() {
    // tcp_sequence()
    for (rules, sent) in [(LINUX, 1), (STANDARD, 0)] {
        let mut lone = established(rules);
        lone.gets(data(1, 1, 10));
        lone.gets(Segment { window: 0, ..segment(ACK, 10, 1) });
        assert_eq!(lone.writes(1000).len(), sent);
    }
}

#[test]
fn a_lone_fin_behind_a_gap_stays_reported_until_the_gap_is_closed() {
    let mut lone = established(LINUX);
    assert_eq!(blocks(&mut lone, segment(FIN_ACK, 301, 1)), [(301, 302)]);
    assert_eq!(blocks(&mut lone, data(1, 1, 100)), [(301, 302)]);
    assert_eq!(blocks(&mut lone, segment(FIN_ACK, 301, 1)), [(301, 302), (301, 302)], "a duplicate: D-SACK");
}

#[test]
fn a_lone_fin_at_a_place_that_data_occupies_is_a_duplicate() {
    let mut lone = established(LINUX);
    lone.gets(data(101, 1, 100));
    assert_eq!(blocks(&mut lone, segment(FIN_ACK, 151, 1)), [(151, 152), (101, 201)]);
}

#[test]
fn a_fin_behind_the_first_one_has_no_effect() {
    for (rules, answers) in [(LINUX, 0), (STANDARD, 1)] {
        let mut lone = established(rules);
        lone.gets(segment(FIN_ACK, 1, 1));
        assert_eq!(lone.gets(segment(FIN_ACK, 11, 1)).len(), answers, "tcp_rcv_state_process()");
    }
}

#[test]
fn the_d_sack_of_a_partly_old_segment_waits_for_the_ordinary_ack() {
    // tcp_data_queue() goes on with such a segment as with one in order.
    for (old_segments, at) in [(OldSegments::Linux, 140), (OldSegments::Outside, 100)] {
        let acking = Acking::Delayed { every: 9, delay: Span::from_ms(40) };
        let mut lab = Lab::with_sack(Config { acking, old_segments, ..config(Recovery::Rack) });
        lab.data(0, 100);
        let before = lab.sent.len();
        lab.data(50, 100);
        lab.at(200);
        let (sent_at, sent) = &lab.sent[before];
        assert_eq!(*sent_at, Time::ZERO + Span::from_ms(at));
        let [block] = sent.segment.options.sack.as_slice() else { panic!("one D-SACK") };
        assert_eq!((Lab::theirs(block.left), Lab::theirs(block.right)), (50, 100));
    }
}

#[test]
fn the_d_sack_of_a_partly_old_segment_is_not_reported_behind_the_next_one() {
    // tcp_data_queue() begins with `dsack = 0`.
    let acking = Acking::Delayed { every: 3, delay: Span::from_ms(40) };
    let mut lab = Lab::with_sack(Config { acking, old_segments: LINUX, ..config(Recovery::Rack) });
    lab.data(0, 100);
    lab.data(50, 100);
    let answers = lab.data(150, 100);
    assert_eq!(answers.iter().map(|sent| sent.options.sack.as_slice().len()).collect::<Vec<_>>(), [0]);
}

#[test]
fn in_time_wait_the_answers_to_invalid_segments_count_anew() {
    for (old_segments, answers) in [(LINUX, 1), (STANDARD, 0)] {
        let config = Config { old_segments, invalid_ratelimit: Span::from_ms(500), ..plain() };
        let mut lone = Lone::reached(config, State::FinWait2);
        assert_eq!(lone.gets(segment(ACK, 400, 3002)).len(), 1);
        assert_eq!(lone.gets(segment(ACK, 400, 3002)).len(), 0, "not twice in half a second");
        lone.gets(segment(FIN_ACK, 501, 3002));
        assert_eq!(lone.c.state(), State::TimeWait);
        assert_eq!(lone.gets(segment(ACK, 400, 3002)).len(), answers, "tcp_time_wait()");
        assert_eq!(lone.gets(segment(ACK, 400, 3002)).len(), 0);
    }
}
