//! Which segments Linux accepts, answers and reports where documents leave room or say otherwise.

use crate::common::lone::{
    ACK, FIN_ACK, FULL, Lone, RST, SYN, SYN_ACK, ack, data, ours, plain, segment, theirs,
};
use netspurt_tcp::config::{Config, OldSegments, UnsentAcked};
use netspurt_tcp::options::{Options, SackBlock, SackBlocks, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::State;
use netspurt_tcp::time::Span;

/// Linux's rules, or those of RFC 9293, with SACK.
fn rules(old_segments: OldSegments) -> Config {
    Config { old_segments, sack: true, ..plain() }
}

const LINUX: OldSegments = OldSegments::Linux;
const STANDARD: OldSegments = OldSegments::Outside;

fn established(old_segments: OldSegments) -> Lone {
    Lone::established(rules(old_segments), Options { sack_permitted: true, ..FULL }, 5000)
}

/// The reported blocks of the last answer, relative to the peer's SYN.
pub(crate) fn blocks(lone: &mut Lone, s: Segment) -> Vec<(i32, i32)> {
    let irs = segment(ACK, 0, 1).seq;
    let out = lone.gets(s);
    let sack = out.last().expect("an answer").segment.options.sack;
    sack.as_slice().iter().map(|b| (b.left.distance_from(irs), b.right.distance_from(irs))).collect()
}

#[test]
fn a_fin_behind_a_gap_is_reported_like_data() {
    // tcp_data_queue_ofo() queues it.
    for (rules, lone_fin, with_data) in
        [(LINUX, vec![(11, 12)], vec![(101, 202)]), (STANDARD, vec![], vec![(101, 201)])]
    {
        assert_eq!(blocks(&mut established(rules), segment(FIN_ACK, 11, 1)), lone_fin);
        let mut lone = established(rules);
        let fin = data(101, 1, 100);
        let fin = Segment { flags: fin.flags | Flags::FIN, ..fin };
        assert_eq!(blocks(&mut lone, fin), with_data);
        lone.gets(data(1, 1, 100));
        assert_eq!((lone.c.state(), lone.c.readable()), (State::CloseWait, 200));
    }
}

#[test]
fn data_that_reaches_a_lone_fin_is_reported_together_with_it() {
    let mut lone = established(LINUX);
    lone.gets(segment(FIN_ACK, 301, 1));
    assert_eq!(blocks(&mut lone, data(101, 1, 100)), [(101, 201), (301, 302)]);
    assert_eq!(blocks(&mut lone, data(201, 1, 100)), [(101, 302)]);
    let out = lone.gets(data(1, 1, 100));
    assert_eq!((out.last().expect("at once").ack, lone.c.state()), (302, State::CloseWait));
}

#[test]
fn a_segment_without_ack_is_dropped_before_its_number_is_checked() {
    // tcp_rcv_established(): !th->ack && !th->rst && !th->syn.
    for (rules, answers) in [(LINUX, 0), (STANDARD, 1)] {
        let mut lone = established(rules);
        lone.gets(data(1, 1, 100));
        let old = Segment { flags: Flags::PSH, ..data(1, 1, 50) };
        assert_eq!(lone.gets(old).len(), answers, "{rules:?}");
    }
}

#[test]
fn an_ack_of_bytes_that_were_never_sent_is_challenged_on_both_sides() {
    // tcp_ack(): bytes_acked limits how old an ACK may be.
    for (rules, answers) in [(LINUX, 1), (STANDARD, 0)] {
        assert_eq!(established(rules).gets(ack(1, -1, 5000)).len(), answers, "{rules:?}");
    }
    assert_eq!(profile::by_name("linux").expect("it exists").config.unsent_acked, UnsentAcked::Answered);
}

#[test]
fn a_reset_one_before_rcv_nxt_counts_after_a_fin() {
    // tcp_reset_check().
    for (rules, state) in [(LINUX, State::Closed), (STANDARD, State::CloseWait)] {
        let mut lone = established(rules);
        lone.gets(segment(FIN_ACK, 1, 1));
        lone.gets(segment(RST, 1, 1));
        assert_eq!(lone.c.state(), state, "{rules:?}");
    }
    let mut lone = established(LINUX);
    lone.gets(data(1, 1, 100));
    lone.gets(segment(RST, 100, 1));
    assert_eq!(lone.c.state(), State::Established, "only after a FIN");
}

#[test]
fn a_reset_at_the_end_of_the_highest_reported_block_counts() {
    // tcp_validate_incoming().
    for (rules, seq, state) in
        [(LINUX, 401, State::Closed), (LINUX, 201, State::Established), (STANDARD, 401, State::Established)]
    {
        let mut lone = established(rules);
        lone.gets(data(301, 1, 100));
        lone.gets(data(101, 1, 100));
        lone.gets(segment(RST, seq, 1));
        assert_eq!(lone.c.state(), state, "{rules:?} {seq}");
    }
}

#[test]
fn without_sack_the_first_ack_behind_data_is_no_duplicate() {
    // tcp_may_update_window(): its sequence number is newer than that of the last window.
    for (old_segments, dup_acks) in [(LINUX, 1), (STANDARD, 2)] {
        let config = Config { sack: false, ..rules(old_segments) };
        let mut lone = Lone::established(config, FULL, 5000);
        lone.writes(3000);
        lone.gets(data(1, 1, 100));
        lone.gets(ack(101, 1, 5000));
        lone.gets(ack(101, 1, 5000));
        assert_eq!(lone.c.stats().dup_acks_received, dup_acks, "{old_segments:?}");
    }
}

/// The profile's connection after its SYN, with timestamps and SACK.
fn opening() -> Lone {
    let mut lone = Lone::closed(profile::by_name("linux").expect("it exists").config.clone());
    lone.c.open(lone.now);
    lone.poll();
    lone
}

#[test]
fn a_syn_ack_that_echoes_a_timestamp_of_another_connection_is_answered_with_a_reset() {
    // tcp_rcv_synsent_state_process(), PAWSActiveRejected; without an echo nothing is known.
    let sent = netspurt_tcp::timestamp(opening().now);
    for (echo, state) in [
        (sent + 9999, State::SynSent),
        (sent.wrapping_sub(9999), State::SynSent),
        (sent, State::Established),
        (0, State::Established),
    ] {
        let mut lone = opening();
        let mut answer = segment(SYN_ACK, 0, 1);
        answer.options.timestamps = Some(Timestamps { value: 7, echo });
        let out = lone.gets(answer);
        assert_eq!(lone.c.state(), state, "{echo}");
        assert_eq!(
            out.iter().map(|o| o.flags).collect::<Vec<_>>(),
            [if state == State::SynSent { RST } else { ACK }]
        );
    }
}

#[test]
fn the_syn_ack_of_a_simultaneous_open_is_reported_as_a_duplicate() {
    // tcp_data_queue(): the SYN has arrived before.
    let mut lone = opening();
    let mut syn = segment(SYN, 0, 0);
    syn.options.sack_permitted = true;
    lone.gets(syn);
    let mut answer = segment(SYN_ACK, 0, 1);
    answer.options.sack_permitted = true;
    let out = lone.gets(answer);
    assert_eq!(out[0].segment.options.sack.as_slice(), [SackBlock { left: theirs(0), right: theirs(1) }]);
}

#[test]
fn sack_blocks_leave_less_room_for_data() {
    // tcp_current_mss().
    let mut lone = established(LINUX);
    let full = lone.c.segment_payload();
    assert_eq!(lone.c.next_payload(), full);
    lone.gets(data(101, 1, 100));
    assert_eq!(lone.c.next_payload(), full - 12, "one block");
    lone.gets(data(301, 1, 100));
    assert_eq!(lone.c.next_payload(), full - 20, "two blocks");
    lone.gets(data(1, 1, 400));
    assert_eq!(lone.c.next_payload(), full, "no gap");
}

#[test]
fn the_largest_window_of_a_client_is_that_of_its_first_ack() {
    // tcp_create_openreq_child().
    for (old_segments, largest) in [(LINUX, 4000), (STANDARD, 5000)] {
        let mut lone = Lone::listening(rules(old_segments));
        lone.gets(Segment { window: 5000, ..segment(SYN, 0, 0) });
        lone.gets(ack(1, 1, 4000));
        assert_eq!(lone.c.state(), State::Established);
        assert_eq!(lone.c.largest_peer_window(), largest, "{old_segments:?}");
    }
}

#[test]
fn reports_open_the_window_once_reordering_was_far() {
    // tcp_may_raise_cwnd().
    let mut lone = opening();
    lone.passes(Span::from_ms(100));
    let mut answer = segment(SYN_ACK, 0, 1);
    (answer.window, answer.options) = (60_000, Options { sack_permitted: true, ..FULL });
    lone.gets(answer);
    let full = lone.c.segment_payload();
    lone.writes(20 * u64::from(full));
    lone.passes(Span::from_ms(90));
    let mut report = |first: u32| {
        let edge = |n: u32| ours(i32::try_from(1 + n * full).expect("small"));
        let mut report = ack(1, 1, 60_000);
        report.options.sack = SackBlocks::EMPTY;
        report.options.sack.push(SackBlock { left: edge(first), right: edge(first + 1) });
        lone.gets(report);
        lone.c.cwnd()
    };
    let cwnd = report(6);
    assert_eq!(report(5), cwnd, "reordered by two");
    assert_eq!(report(1), cwnd + full, "by six");
    assert_eq!(report(2), cwnd + 2 * full);
}
