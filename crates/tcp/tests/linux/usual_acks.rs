//! ACKs at which Linux does not look closely; how long a retransmission is, what it carries, and the timer that runs for it; what
//! leaves beside reports, and which these are.

use crate::common::lone::ACK;
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, Grows, MssCounts, OldSegments, WithoutSack};
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, NewData, RackLoss, TailProbe, Timeout, WindowProbe};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::time::Span;

fn linux() -> Config {
    let (mss_counts, old_segments) = (MssCounts::DataAndOptions, OldSegments::Linux);
    Config { tail_loss_probe: true, mss_counts, old_segments, ..rules(Grows::WhenUsed) }
}

#[test]
fn data_that_header_prediction_takes_does_not_restart_the_timer_of_a_closed_window() {
    // tcp_rcv_established() does not call tcp_ack(), and so not tcp_ack_probe().
    for (offset, probe) in [(0, 1200), (100, 1900)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(1).at(200).window = 0;
        lab.ack(1).write(1).at(900);
        let payload = Payload { offset: u64::from(offset), len: 50 };
        lab.seq = lab.seq.plus(offset);
        lab.arrives(Segment {
            ack: Lab::behind(1),
            flags: ACK,
            header_len: 20,
            payload,
            ..Segment::default()
        });
        lab.at(2000);
        let probes = lab.timed().into_iter().filter(|sent| sent.2 == WindowProbe);
        assert_eq!(probes.map(|sent| sent.0).collect::<Vec<_>>(), [probe], "offset {offset}");
    }
}

#[test]
fn an_ack_of_new_data_alone_reveals_no_loss_in_the_ordinary_state() {
    // tcp_ack_is_dubious(). The probe was cut to make room for a SACK block, and its rest has left earlier.
    for duplicate in [false, true] {
        let mut lab = Lab::with_sack(linux());
        lab.write(1).data(5000, 100);
        if duplicate {
            // With SACK, a duplicate ACK leaves the ordinary state as it is (`tcp_try_keep_open()`).
            lab.ack(0);
        }
        lab.at(600);
        assert_eq!(lab.timed()[1], (500, 1, TailProbe));
        let before = lab.sent.len();
        lab.arrives(Segment { ack: Lab::behind(0).plus(988), flags: ACK, ..Segment::default() });
        assert_eq!(lab.sent.len(), before);
    }
}

#[test]
fn a_segment_with_the_fin_is_alone_for_a_probe() {
    // tcp_schedule_loss_probe() counts packets: the probe waits for a delayed ACK, 200 ms longer.
    let mut lab = Lab::with_sack(linux());
    lab.write(11);
    lab.tcp.close(lab.now);
    lab.at(200).ack(10);
    assert_eq!(lab.out().last(), Some(&(11, NewData)));
    assert!(lab.sent.last().expect("data").1.segment.flags.has(Flags::FIN));
    lab.at(700);
    assert_eq!(lab.timed(), [(600, 11, TailProbe)]);
}

#[test]
fn psh_stays_with_the_end_of_a_retransmission_that_is_cut() {
    // tcp_fragment(). Data is written beside one SACK block, sent beside two, and sent again beside three.
    let mut lab = Lab::with_sack(linux());
    lab.data(5000, 100);
    lab.write_bytes(10 * 988);
    lab.write_bytes(988);
    lab.write_bytes(6 * 980);
    lab.data(7000, 100);
    lab.at(200).arrives(Segment { ack: Lab::behind(0).plus(5 * 988), flags: ACK, ..Segment::default() });
    let start = Lab::behind(0).plus(10 * 988 + 980);
    let first = lab.sent.iter().find(|(_, sent)| sent.segment.seq == start).expect("its first transmission");
    assert_eq!((first.1.segment.payload.len, first.1.segment.flags), (980, ACK | Flags::PSH));
    lab.data(9000, 100);
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: start.plus(980), right: start.plus(4 * 980) });
    let before = lab.sent.len();
    lab.at(300).arrives(Segment { ack: start, flags: ACK, options, ..Segment::default() });
    let again = lab.sent[before..].iter().filter(|(_, sent)| sent.reason == RackLoss);
    let again = again.map(|(_, sent)| (sent.segment.payload.len, sent.segment.flags));
    assert_eq!(again.collect::<Vec<_>>(), [(972, ACK), (8, ACK | Flags::PSH)]);
}

#[test]
fn a_retransmission_of_the_first_segment_after_a_timeout_restarts_the_timer() {
    // tcp_xmit_retransmit_queue(). F-RTO has sent new data at 1200 ms, and at 1500 ms knows that 2 is lost.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: false, undo: true, ..linux() });
    lab.write(3).at(1100).write(2).at(1200).ack(1);
    assert_eq!(lab.out().last(), Some(&(5, NewData)));
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(3), right: Lab::behind(4) });
    lab.at(1500).ack_with(1, options);
    assert_eq!(lab.timed()[0].1, 2);
    lab.at(3000);
    assert_eq!(lab.timed()[0], (2500, 2, Timeout));
}

/// Two short segments, the second one shortly before eight full ones, the first of which is reported.
fn two_short_ones(grows: Grows) -> Vec<u32> {
    let mut lab = Lab::with_sack(rules(grows));
    lab.write_bytes(1);
    lab.at(195).write_bytes(100);
    lab.write(8);
    let before = lab.sent.len();
    let mut options = Options::NONE;
    let left = Lab::behind(0).plus(101);
    options.sack.push(SackBlock { left, right: left.plus(MSS) });
    lab.at(296).ack_with(0, options);
    lab.sent[before..].iter().map(|sent| sent.1.segment.payload.len).collect()
}

#[test]
fn a_retransmission_takes_the_next_segment_with_it_though_that_is_not_lost() {
    // tcp_retrans_try_collapse()
    assert_eq!(two_short_ones(Grows::WhenUsed)[0], 101);
    assert_eq!(two_short_ones(Grows::Always)[0], 1);
}

#[test]
fn a_retransmission_beside_sack_blocks_ends_with_a_segment() {
    // tcp_current_mss(): what does not fit beside the blocks is not sent in part.
    for (grows, len) in [(Grows::WhenUsed, 12), (Grows::Always, MSS - 12)] {
        let mut lab = Lab::with_sack(Config { mss_counts: MssCounts::DataAndOptions, ..rules(grows) });
        lab.write_bytes(12);
        lab.write_bytes(980);
        lab.write(8);
        lab.data(5000, 100);
        let before = lab.sent.len();
        let mut options = Options::NONE;
        let left = Lab::behind(4).plus(992);
        options.sack.push(SackBlock { left, right: left.plus(MSS) });
        lab.at(250).ack_with(0, options);
        lab.at(400);
        let again =
            lab.sent[before..].iter().find(|sent| sent.1.reason == RackLoss).expect("the first segment");
        assert_eq!(again.1.segment.payload.len, len, "{grows:?}");
    }
}

/// The options of an ACK that reports segments and, with `echo`, has a timestamp.
fn report(blocks: &[(u32, u32)], echo: Option<u32>) -> Options {
    let timestamps = echo.map(|echo| Timestamps { value: 1, echo });
    let mut options = Options { timestamps, ..Options::NONE };
    for &(from, to) in blocks {
        options.sack.push(SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) });
    }
    options
}

/// Reordering was seen, and 3 was sent again at 276 ms. At 330 ms an ACK of it arrives that cannot answer the retransmission. 11
/// has been late enough for 5 ms, but the timer, which counts ticks, has not expired. Returns the numbers of the segments that are
/// found lost then.
fn overdue(echo: Option<u32>) -> Vec<u64> {
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: echo.map(|_| Timestamps::default()),
        ..Options::NONE
    };
    let config =
        Config { reordering_tick: Span::from_ms(4), timestamps: echo.is_some(), ..rules(Grows::WhenUsed) };
    let mut lab = Lab::open(config, offer);
    lab.write(40).at(200).ack_with(0, report(&[(2, 2)], echo));
    lab.at(210).ack_with(2, report(&[], echo));
    lab.at(240).ack_with(2, report(&[(4, 10)], echo)).out();
    lab.at(300);
    assert_eq!(lab.timed(), [(276, 3, RackLoss)]);
    lab.at(310).ack_with(2, report(&[(4, 10), (12, 12)], echo.map(|_| 210))).out();
    lab.at(330).ack_with(10, report(&[(12, 12)], echo));
    lab.out().into_iter().filter(|sent| sent.1 == RackLoss).map(|sent| sent.0).collect()
}

#[test]
fn an_ack_that_may_answer_no_retransmission_reveals_no_loss() {
    // rack.advanced in tcp_rack_mark_lost()
    assert_eq!(overdue(None), []);
}

#[test]
fn an_undo_looks_for_losses_once_more() {
    // tcp_undo_cwnd_reduction(): the echo shows that the original of 3 was late.
    assert_eq!(overdue(Some(100)), [11]);
}

#[test]
fn without_sack_an_ack_of_a_part_of_a_retransmission_sends_it_no_third_time() {
    // tcp_newreno_mark_lost(): the segment is marked already.
    let mut lab = Lab::plain(Config { without_sack: WithoutSack::Linux, ..rules(Grows::WhenUsed) });
    lab.write(10).at(200).acks(0, 3);
    assert_eq!(lab.out().last(), Some(&(1, FastRetransmit)));
    lab.at(300).arrives(Segment { ack: Lab::behind(0).plus(500), flags: ACK, ..Segment::default() });
    assert_eq!(lab.out(), []);
}

#[test]
fn a_window_that_permits_no_full_segment_may_permit_one_beside_reports() {
    // tcp_current_mss() comes before tcp_snd_wnd_test().
    let mut lab = Lab::with_sack(linux());
    lab.window = 2988;
    lab.ack(0).write(5);
    assert_eq!(lab.out().len(), 2);
    let answers = lab.data(5000, 100);
    assert_eq!(answers.iter().map(|sent| sent.payload.len).collect::<Vec<_>>(), [988]);
}

#[test]
fn the_rest_of_a_retransmission_keeps_its_psh_if_the_next_segment_has_no_room() {
    // Nothing is cut (`tcp_fragment()`): the segment behind the rest only does not leave with it.
    let mut lab = Lab::with_sack(linux());
    lab.write(1).data(5000, 100);
    lab.write_bytes(8 * 988);
    let before = lab.sent.len();
    let start = Lab::behind(1).plus(988);
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: start, right: start.plus(5 * 988) });
    lab.at(200).ack_with(0, options);
    lab.ack_with(0, options);
    options.sack = report(&[], None).sack;
    options.sack.push(SackBlock { left: start, right: start.plus(7 * 988) });
    lab.at(201).ack_with(0, options);
    let again = lab.sent[before..].iter().filter(|(_, sent)| sent.reason == RackLoss);
    let again: Vec<_> = again.map(|(_, sent)| (sent.segment.payload.len, sent.segment.flags)).collect();
    assert_eq!(again[..2], [(988, ACK), (12, ACK | Flags::PSH)], "{again:?}");
}

/// The blocks of the last answer to data of one byte at each of these offsets, as offsets.
fn blocks(lab: &mut Lab, offsets: &[u32]) -> Vec<(u32, u32)> {
    let answers = offsets.iter().map(|&offset| lab.data(offset, 1)).last().expect("an offset");
    let blocks = answers.last().expect("an answer").options.sack;
    blocks.as_slice().iter().map(|block| (Lab::theirs(block.left), Lab::theirs(block.right))).collect()
}

#[test]
fn a_report_that_four_others_have_replaced_does_not_come_back_with_the_data_beside_it() {
    // tcp_sack_new_ofo_skb() looks at the reports, not at the data that is held; RFC 2018, section 4, wants the whole block.
    for (old_segments, first) in [(OldSegments::Linux, (11, 12)), (OldSegments::Outside, (10, 12))] {
        let mut lab = Lab::with_sack(Config { old_segments, ..linux() });
        let reported = blocks(&mut lab, &[10, 20, 30, 40, 50, 11]);
        assert_eq!(reported, [first, (50, 51), (40, 41), (30, 31)]);
    }
}

#[test]
fn what_is_acknowledged_takes_no_place_among_the_reports() {
    // tcp_sack_remove()
    let mut lab = Lab::with_sack(linux());
    let reported = blocks(&mut lab, &[40, 30, 20, 1, 0, 50]);
    assert_eq!(reported, [(50, 51), (20, 21), (30, 31), (40, 41)]);
}

#[test]
fn a_segment_in_which_a_known_block_begins_is_not_reported_by_a_longer_one() {
    // recv_sack_cache in tcp_sacktag_write_queue(): only what lies before and behind a block of the ACK before is looked at.
    let reported = |grows, blocks: &[(u32, u32)]| {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(10).at(200).out();
        for &(left, right) in blocks {
            let mut options = Options::NONE;
            options
                .sack
                .push(SackBlock { left: Lab::behind(0).plus(left), right: Lab::behind(0).plus(right) });
            lab.ack_with(0, options);
        }
        lab.tcp.info().sacked / u64::from(MSS)
    };
    let linux = |blocks: &[(u32, u32)]| reported(Grows::WhenUsed, blocks);
    let longer = [(4500, 7000), (3000, 7000), (3000, 8000)];
    assert_eq!(linux(&longer[..1]), 2);
    assert_eq!(linux(&longer[..2]), 3, "not the segment from 4000 on");
    assert_eq!(linux(&longer), 4, "nor later");
    assert_eq!(
        linux(&[(4500, 7000), (8000, 9000), (3000, 7000)]),
        5,
        "the ACK before did not have the block"
    );
    assert_eq!(linux(&[(4500, 4900), (3000, 7000)]), 4, "nothing was reported");
    assert_eq!(reported(Grows::Always, &longer[..2]), 4);
}

#[test]
fn a_block_that_begins_below_the_ack_is_a_d_sack_also_if_it_ends_above() {
    // tcp_check_dsack(); what it reports twice counts as delivered (tcp_dsack_seen()).
    let delivered = |left, right| {
        let mut lab = Lab::with_sack(rules(Grows::WhenUsed));
        lab.write(5).at(200).ack(1).sack(1, &[(3, 5)]);
        assert!(lab.out().contains(&(2, RackLoss)));
        let before = lab.tcp.info().recovery_window;
        let mut options = Options::NONE;
        options.sack.push(SackBlock { left: Lab::behind(0).plus(left), right: Lab::behind(0).plus(right) });
        lab.ack_with(1, options);
        lab.tcp.info().recovery_window != before
    };
    assert!(delivered(200, 900), "below");
    assert!(delivered(200, 1100));
    assert!(!delivered(1020, 1100), "a part of a segment");
}

#[test]
fn without_sack_an_ack_that_announces_a_closed_window_is_no_duplicate() {
    // FLAG_WIN_UPDATE: tcp_may_update_window() takes a window of zero each time.
    for (window, repairs) in [(60_000, true), (0, false)] {
        let mut lab = Lab::plain(Config { without_sack: WithoutSack::Linux, ..linux() });
        lab.write(10).at(200).out();
        lab.window = window;
        lab.acks(0, 5);
        assert_eq!(lab.out().contains(&(1, FastRetransmit)), repairs, "{window}");
    }
}
