//! RFC 6675 at work: which segment, when, and why; and what the receiver reports (RFC 2018, RFC 2883).

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::reason::Reason::{
    FastRetransmit, GoBackN, LimitedTransmit, NewData, SackHole, SackRescue, Timeout,
};

/// Ten segments out, `written` in all, at 200 ms.
fn ten(written: u64) -> Lab {
    let mut lab = Lab::with_sack(config(Recovery::Sack));
    lab.write(written);
    assert_eq!(lab.out().len(), 10);
    lab.at(200);
    lab
}

#[test]
fn three_losses_in_a_window_are_repaired_in_one_round_trip() {
    // 1, 4 and 7 of ten are lost. pipe is worked out at each step by SetPipe(), cwnd is 5 from the third report on.
    let mut lab = ten(40);
    lab.sack(0, &[(2, 2)]).sack(0, &[(2, 3)]);
    assert_eq!(lab.out(), []);
    lab.sack(0, &[(5, 5), (2, 3)]);
    assert_eq!(lab.timed(), [(200, 1, FastRetransmit)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (5, 5 * MSS));
    assert_eq!(lab.tcp.flight(), 7 * MSS, "10 - 3 reported; 1 is lost and resent; 4 may still arrive");
    lab.at(210).sack(0, &[(5, 6), (2, 3)]);
    assert_eq!((lab.out(), lab.tcp.flight()), (vec![], 6 * MSS));
    lab.at(220).sack(0, &[(8, 8), (5, 6), (2, 3)]);
    assert_eq!(lab.timed(), [(220, 4, SackHole)], "three above 4: lost; pipe is 4");
    assert_eq!(lab.tcp.flight(), 5 * MSS);
    lab.at(230).sack(0, &[(8, 9), (5, 6), (2, 3)]);
    assert_eq!(lab.timed(), [(230, 11, NewData)], "7 has only two above it: new data first");
    lab.at(240).sack(0, &[(8, 10), (5, 6), (2, 3)]);
    assert_eq!(lab.timed(), [(240, 7, SackHole), (240, 12, NewData)], "7 leaves the pipe, two may go");
    lab.at(300).sack(3, &[(8, 10), (5, 6)]);
    assert_eq!(lab.timed(), [(300, 13, NewData)]);
    lab.at(320).sack(6, &[(8, 10)]);
    assert_eq!(lab.timed(), [(320, 14, NewData)]);
    lab.at(340).ack(10);
    assert_eq!(lab.timed(), [(340, 15, NewData)]);
    assert_eq!(lab.cwnd(), 5);
    let stats = lab.tcp.stats();
    assert_eq!((stats.retransmitted, stats.fast_retransmits, stats.timeouts), (3, 1, 0));
}

#[test]
fn recovery_starts_before_the_third_report_if_the_scoreboard_proves_the_loss() {
    let mut lab = ten(40);
    lab.sack(0, &[(2, 4)]);
    assert_eq!(lab.out()[0], (1, FastRetransmit), "more than two segments are reported above it");
}

#[test]
fn two_small_reports_prove_nothing() {
    let mut lab = ten(40);
    lab.sack(0, &[(2, 3)]);
    lab.sack(0, &[(2, 3)]);
    lab.sack(0, &[(2, 3)]);
    assert_eq!(lab.out(), [], "a repeated report is no duplicate ACK");
}

#[test]
fn without_new_data_unproven_losses_are_retransmitted_and_the_last_segment_once() {
    // 1 and 8 of ten are lost, nothing else is written.
    let mut lab = ten(10);
    lab.sack(0, &[(2, 2)]).sack(0, &[(2, 3)]).sack(0, &[(2, 4)]).sack(0, &[(2, 5)]).sack(0, &[(2, 6)]);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.sack(0, &[(2, 7)]);
    assert_eq!(lab.out(), [(10, SackRescue)], "NextSeg rule 4");
    lab.sack(0, &[(9, 9), (2, 7)]);
    assert_eq!(lab.out(), [(8, SackHole)], "NextSeg rule 3");
    assert_eq!(lab.tcp.flight(), 4 * MSS, "1, 8 twice (not held lost, and resent), 10");
    lab.at(300).ack(10);
    assert_eq!(lab.tcp.stats().timeouts, 0);
}

#[test]
fn limited_transmit_follows_the_data_that_left_the_network() {
    let mut lab = Lab::with_sack(Config { limited_transmit: true, ..config(Recovery::Sack) });
    lab.write(40);
    lab.out();
    lab.sack(0, &[(2, 2)]);
    assert_eq!(lab.out(), [(11, LimitedTransmit)]);
    lab.sack(0, &[(2, 3)]);
    assert_eq!(lab.out(), [(12, LimitedTransmit)]);
    lab.sack(0, &[(2, 4)]);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    assert_eq!(lab.tcp.ssthresh(), 5 * MSS);
}

#[test]
fn a_second_loss_of_the_same_window_reduces_nothing() {
    let mut lab = ten(40);
    lab.sack(0, &[(2, 4)]);
    let (cwnd, ssthresh) = (lab.cwnd(), lab.tcp.ssthresh());
    lab.at(300).sack(4, &[(6, 10)]);
    assert_eq!(lab.out()[..2], [(1, FastRetransmit), (5, SackHole)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (cwnd, ssthresh));
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
}

#[test]
fn the_loss_of_a_retransmission_is_repaired_by_the_timer() {
    let mut lab = ten(10);
    lab.sack(0, &[(2, 10)]);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.at(1199);
    assert_eq!(lab.out(), []);
    lab.at(1200);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1300).ack(10);
    assert_eq!(lab.out(), []);
}

#[test]
fn after_a_timeout_what_was_reported_is_passed_over() {
    let mut lab = ten(10);
    lab.sack(0, &[(3, 4)]);
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1200).sack(1, &[(3, 4)]);
    assert_eq!(lab.out(), [(2, Timeout), (5, GoBackN)]);
}

#[test]
fn after_a_second_timeout_sack_reports_are_discarded() {
    let mut lab = ten(10);
    lab.sack(0, &[(3, 4)]);
    lab.at(3100);
    assert_eq!(lab.out(), [(1, Timeout), (1, Timeout)]);
    lab.at(3200).ack(1);
    assert_eq!(lab.out(), [(2, Timeout), (3, GoBackN)]);
}

#[test]
fn no_recovery_begins_before_all_that_a_timeout_found_outstanding_is_acknowledged() {
    let mut lab = ten(40);
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.sack(0, &[(2, 6)]);
    assert_eq!(lab.tcp.stats().fast_retransmits, 0);
    assert!(lab.out().iter().all(|&(_, why)| why != FastRetransmit));
}

#[test]
fn a_byte_that_is_sacked_but_not_acknowledged_is_retransmitted() {
    let mut lab = ten(10);
    lab.sack(0, &[(2, 10)]);
    lab.at(300).ack(4);
    lab.out();
    lab.at(1299);
    assert_eq!(lab.out(), []);
    lab.at(1300);
    assert_eq!(lab.out(), [(5, Timeout)]);
}

#[test]
fn sack_reports_of_unsent_or_acknowledged_data_are_ignored() {
    let mut lab = ten(40);
    lab.ack(2);
    lab.out();
    for _ in 0..5 {
        lab.sack(2, &[(1, 2)]);
        lab.sack(2, &[(30, 35)]);
        lab.sack(2, &[(5, 3)]);
    }
    assert!(lab.out().iter().all(|&(_, why)| why == FastRetransmit || why == NewData));
    assert!(lab.tcp.stats().fast_retransmits <= 1, "they are at most duplicate ACKs");
}

/// What an answer reports: the acknowledgment and the blocks, in the numbers of the RFC's tables, which begin at `base`.
fn report(lab: &mut Lab, base: u32, from: u32, to: u32) -> (u32, Vec<(u32, u32)>) {
    let answers = lab.data(from - base, to - from);
    let last = answers.last().expect("an answer");
    let number = |seq| Lab::theirs(seq) + base;
    let blocks = last.options.sack.as_slice().iter().map(|b| (number(b.left), number(b.right))).collect();
    (number(last.ack), blocks)
}

/// A row of a table: segment received (from, up to), acknowledgment, blocks.
type Row<'a> = (u32, u32, u32, &'a [(u32, u32)]);

/// Feeds the rows of a table.
fn table(base: u32, rows: &[Row<'_>]) {
    let mut lab = Lab::with_sack(config(Recovery::Sack));
    for &(from, to, ack, blocks) in rows {
        assert_eq!(report(&mut lab, base, from, to), (ack, blocks.to_vec()), "after {from}-{to}");
    }
}

#[test]
fn rfc_2018_section_7_case_2_the_first_of_eight_is_lost() {
    table(
        5000,
        &[
            (5500, 6000, 5000, &[(5500, 6000)]),
            (6000, 6500, 5000, &[(5500, 6500)]),
            (6500, 7000, 5000, &[(5500, 7000)]),
            (7000, 7500, 5000, &[(5500, 7500)]),
            (7500, 8000, 5000, &[(5500, 8000)]),
            (8000, 8500, 5000, &[(5500, 8500)]),
            (8500, 9000, 5000, &[(5500, 9000)]),
        ],
    );
}

#[test]
fn rfc_2018_section_7_case_3_the_latest_block_comes_first() {
    table(
        5000,
        &[
            (5000, 5500, 5500, &[]),
            (6000, 6500, 5500, &[(6000, 6500)]),
            (7000, 7500, 5500, &[(7000, 7500), (6000, 6500)]),
            (8000, 8500, 5500, &[(8000, 8500), (7000, 7500), (6000, 6500)]),
            (6500, 7000, 5500, &[(6000, 7500), (8000, 8500)]),
            (5500, 6000, 7500, &[(8000, 8500)]),
        ],
    );
}

#[test]
fn no_more_than_four_blocks_are_reported_the_latest_ones() {
    let mut lab = Lab::with_sack(config(Recovery::Sack));
    for n in 1..=6 {
        report(&mut lab, 0, 1000 * n, 1000 * n + 10);
    }
    let blocks = report(&mut lab, 0, 7000, 7010).1;
    assert_eq!(blocks, [(7000, 7010), (6000, 6010), (5000, 5010), (4000, 4010)]);
}

#[test]
fn rfc_2883_example_1_a_duplicate_segment() {
    table(3000, &[(3000, 3500, 3500, &[]), (3500, 4000, 4000, &[]), (3000, 3500, 4000, &[(3000, 3500)])]);
}

#[test]
fn rfc_2883_example_2_a_duplicate_beside_a_gap() {
    table(
        3000,
        &[
            (3000, 3500, 3500, &[]),
            (3500, 4000, 4000, &[]),
            (4500, 5000, 4000, &[(4500, 5000)]),
            (3000, 3500, 4000, &[(3000, 3500), (4500, 5000)]),
        ],
    );
}

#[test]
fn rfc_2883_example_3_a_duplicate_of_what_is_held_beyond_a_gap() {
    table(
        3500,
        &[
            (3500, 4000, 4000, &[]),
            (4500, 5000, 4000, &[(4500, 5000)]),
            (5000, 5500, 4000, &[(4500, 5500)]),
            (5000, 5500, 4000, &[(5000, 5500), (4500, 5500)]),
        ],
    );
}

#[test]
fn rfc_2883_example_4_part_of_a_segment_is_a_duplicate() {
    table(
        500,
        &[
            (500, 1000, 1000, &[]),
            (2000, 2500, 1000, &[(2000, 2500)]),
            (1000, 1500, 1500, &[(2000, 2500)]),
            (1000, 2000, 2500, &[(1000, 1500)]),
        ],
    );
}

#[test]
fn rfc_2883_example_5_of_two_duplicate_parts_the_first_is_reported() {
    table(
        500,
        &[
            (500, 1000, 1000, &[]),
            (3000, 3500, 1000, &[(3000, 3500)]),
            (1000, 1500, 1500, &[(3000, 3500)]),
            (2000, 2500, 1500, &[(2000, 2500), (3000, 3500)]),
            (1000, 2500, 2500, &[(1000, 1500), (3000, 3500)]),
        ],
    );
}

#[test]
fn rfc_2883_example_6_two_duplicate_parts_beyond_a_gap() {
    // As corrected: the second delayed segment is 2500-2999.
    table(
        500,
        &[
            (500, 1000, 1000, &[]),
            (3500, 4000, 1000, &[(3500, 4000)]),
            (1500, 2000, 1000, &[(1500, 2000), (3500, 4000)]),
            (2500, 3000, 1000, &[(2500, 3000), (1500, 2000), (3500, 4000)]),
            (1500, 3000, 1000, &[(1500, 2000), (1500, 3000), (3500, 4000)]),
        ],
    );
}

#[test]
fn a_duplicate_is_reported_once() {
    let mut lab = Lab::with_sack(config(Recovery::Sack));
    report(&mut lab, 0, 0, 500);
    assert_eq!(report(&mut lab, 0, 0, 500), (500, vec![(0, 500)]));
    assert_eq!(report(&mut lab, 0, 500, 1000), (1000, vec![]));
}

#[test]
fn no_sack_is_sent_to_a_peer_that_did_not_permit_it() {
    let mut lab = Lab::plain(config(Recovery::Sack));
    assert_eq!(report(&mut lab, 0, 1000, 2000), (0, vec![]));
    assert_eq!(report(&mut lab, 0, 1000, 2000), (0, vec![]));
}

#[test]
fn recovery_begins_with_the_first_byte_though_a_report_claims_it() {
    let mut lab = ten(10);
    lab.sack(0, &[(5, 6)]).at(250).ack(5);
    assert_eq!(lab.out(), []);
    lab.sack(5, &[(8, 8)]).sack(5, &[(8, 9)]).sack(5, &[(8, 10)]);
    assert_eq!(lab.out()[0], (6, FastRetransmit), "6 is reported, and yet not acknowledged");
}
