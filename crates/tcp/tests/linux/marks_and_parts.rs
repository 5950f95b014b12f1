//! Marks, segments of which a part is sent or acknowledged, and recoveries that were needless, as Linux takes them.

use crate::as_linux_recovery::report;
use crate::common::lone::{ACK, Lone, RST_ACK, SYN, data, plain, segment};
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::Segments;
use netspurt_tcp::config::{Config, CwndCounts, EcnUse, Grows, MssCounts, OldSegments, WithoutSack};
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, RackLoss, Timeout, WindowProbe};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::time::Span;

fn linux() -> Config {
    Config { limited_transmit: true, ..rules(Grows::WhenUsed) }
}

/// Acknowledges so many bytes.
fn ack_bytes(lab: &mut Lab, bytes: u32) {
    lab.arrives(Segment { ack: Lab::behind(0).plus(bytes), flags: ACK, ..Segment::default() });
}

#[test]
fn a_segment_that_is_acknowledged_in_two_parts_counts_as_reordering() {
    // tcp_clean_rtx_queue(): it begins below what was acknowledged before.
    for (grows, reorderings, repairs) in [(Grows::WhenUsed, 1, 0), (Grows::Always, 0, 1)] {
        let mut config = linux();
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write(10).at(200);
        ack_bytes(&mut lab, 500);
        assert_eq!(lab.tcp.info().reorderings, 0);
        lab.ack(1);
        assert_eq!(lab.tcp.info().reorderings, reorderings);
        lab.out();
        // Three reports are then no sign of a loss, and the reordering timer decides.
        lab.sack(1, &[(4, 6)]);
        let out = lab.out();
        assert_eq!(out.iter().filter(|(_, why)| *why == RackLoss).count(), repairs, "{out:?}");
    }
}

#[test]
fn the_ack_of_a_part_of_a_segment_shows_no_round_trip() {
    // tcp_clean_rtx_queue() ends at a segment of which a part is left: RACK.rtt is that of the one before.
    let mut lab = Lab::with_sack(linux());
    lab.write(5).at(120).write(5).at(200);
    lab.out();
    let mut options = Options::NONE;
    options.sack.push(SackBlock { left: Lab::behind(7), right: Lab::behind(10) });
    lab.arrives(Segment { ack: Lab::behind(5).plus(1), flags: ACK, options, ..Segment::default() });
    assert_eq!(lab.out(), [], "6 was sent 80 ms ago, and 5 has taken 100 ms");
    lab.at(300);
    assert_eq!(lab.timed()[0], (220, 6, RackLoss));
}

#[test]
fn without_sack_a_segment_that_is_acknowledged_in_two_parts_is_no_reordering() {
    let mut lab = without_sack(10);
    ack_bytes(&mut lab, 500);
    lab.ack(1);
    assert_eq!(lab.tcp.info().reorderings, 0);
}

#[test]
fn a_segment_whose_rest_was_sent_again_shows_nothing_when_it_is_acknowledged() {
    let mut lab = Lab::with_sack(linux());
    lab.write(10).at(200);
    ack_bytes(&mut lab, 500);
    lab.sack(0, &[(4, 6)]);
    assert_eq!(lab.out()[10], (1, RackLoss));
    lab.at(300).ack(6);
    assert_eq!(lab.tcp.info().reorderings, 0);
}

/// Ten segments at 100 ms, of 40; both ends have ECN and SACK.
fn marked() -> Lab {
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..Options::NONE };
    let mut lab = Lab::open_with(Config { ecn: EcnUse::Rfc3168, ..linux() }, offer, Flags::ECE);
    lab.write(40).out();
    lab.at(200);
    lab
}

/// An ACK up to segment `n` that reports a mark.
fn echo(lab: &mut Lab, n: u32) {
    lab.arrives(Segment { ack: Lab::behind(n), flags: ACK | Flags::ECE, ..Segment::default() });
}

#[test]
fn a_mark_reduces_cwnd_in_proportion_until_data_sent_after_it_is_acknowledged() {
    let mut lab = marked();
    echo(&mut lab, 1);
    assert!(lab.tcp.info().reduces_for_mark);
    assert_eq!(lab.tcp.ssthresh() / MSS, 5);
    assert_eq!(lab.out().len(), 1, "tcp_cwnd_reduction(): half of what was delivered, rounded up");
    for n in 2..=9 {
        lab.ack(n);
    }
    assert_eq!(lab.out().len(), 3);
    assert_eq!(lab.tcp.info().unacknowledged, u64::from(5 * MSS), "down to ssthresh");
    lab.ack(10);
    assert!(lab.tcp.info().reduces_for_mark, "high_seq itself is not enough");
    lab.at(300).ack(11);
    assert!(!lab.tcp.info().reduces_for_mark);
    assert_eq!(lab.cwnd(), 5);
}

#[test]
fn a_loss_beside_a_mark_reduces_no_further_and_no_undo_restores_what_the_mark_reduced() {
    let mut lab = marked();
    echo(&mut lab, 1);
    lab.sack(1, &[(3, 5)]);
    assert!(lab.out().contains(&(2, RackLoss)));
    assert_eq!(lab.tcp.ssthresh() / MSS, 5, "tcp_enter_recovery()");
    assert!(!lab.tcp.info().reduces_for_mark);
    // A D-SACK of the retransmission undoes the recovery, but prior_ssthresh is 0.
    lab.at(210).sack(5, &[(2, 2)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.ssthresh() / MSS, 5);
}

#[test]
fn a_recovery_within_a_reduction_ends_with_it_and_its_last_ack_may_report_a_mark() {
    let mut lab = marked();
    echo(&mut lab, 1);
    lab.out();
    // 11 was sent after the mark. The loss of 2 is repaired, and that of 11 is not known.
    lab.sack(1, &[(3, 5)]);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    lab.at(300);
    echo(&mut lab, 10);
    assert_ne!(lab.tcp.info().phase, Phase::Recovery, "high_seq is that of the mark");
    assert!(lab.tcp.info().reduces_for_mark, "tcp_try_to_open()");
    lab.out();
    let cwr = lab.sent.iter().filter(|sent| sent.1.segment.flags.has(Flags::CWR)).count();
    assert_eq!(cwr, 3, "the SYN, and one for each reduction");
}

/// Up to ten segments at 100 ms, of `written`, to a peer with timestamps and without SACK.
fn without_sack(written: u64) -> Lab {
    let offer = Options { mss: Some(MSS as u16), timestamps: Some(Timestamps::default()), ..Options::NONE };
    let config = Config { timestamps: true, without_sack: WithoutSack::Linux, ..linux() };
    let mut lab = Lab::open(config, offer);
    lab.write(written).out();
    lab.at(200);
    lab
}

/// Echoes what left at 100 ms.
const ORIGINAL: Options = Options { timestamps: Some(Timestamps { value: 1, echo: 100 }), ..Options::NONE };

fn duplicates(lab: &mut Lab, times: usize) {
    for _ in 0..times {
        lab.ack_with(0, ORIGINAL);
    }
}

#[test]
fn without_sack_a_needless_recovery_restores_the_windows_and_goes_on() {
    // tcp_try_undo_recovery(): it holds the state until something above high_seq is acknowledged.
    let mut lab = without_sack(5);
    duplicates(&mut lab, 4);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.at(210).ack_with(5, ORIGINAL);
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, Phase::Recovery));
    assert_eq!(lab.cwnd(), 10);
    // Three have been delivered since the loss was detected, one was sent, and one more may be.
    assert_eq!(lab.tcp.info().recovery_window, Some(u64::from(3 * MSS)));
    let later = Options { timestamps: Some(Timestamps { value: 2, echo: 210 }), ..Options::NONE };
    lab.write(1).at(310).ack_with(6, later);
    assert_ne!(lab.tcp.info().phase, Phase::Recovery);
    assert_eq!(lab.cwnd(), 3, "tcp_end_cwnd_reduction() leaves it");
}

#[test]
fn without_sack_duplicates_that_remain_begin_another_recovery() {
    // tcp_try_undo_partial() keeps sacked_out.
    let mut lab = without_sack(10);
    duplicates(&mut lab, 6);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.at(210).ack_with(2, ORIGINAL);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.stats().fast_retransmits, 2);
    assert_eq!(lab.out(), [(3, FastRetransmit)]);
}

#[test]
fn a_duplicate_report_permits_no_segment() {
    // There is no limited transmit beside SACK, and a D-SACK reports nothing new.
    let mut lab = Lab::with_sack(linux());
    lab.write(60).at(200).ack(10);
    lab.out();
    lab.sack(10, &[(3, 3)]);
    assert_eq!(lab.out(), []);
}

#[test]
fn after_a_timeout_what_reports_made_room_for_is_sent_and_no_more() {
    // tcp_retransmit_skb() cuts the segment; cwnd is one segment.
    let config =
        Config { mss_counts: MssCounts::DataAndOptions, cwnd_counts: CwndCounts::Packets, ..linux() };
    let mut lab = Lab::with_sack(config);
    lab.write(2);
    lab.data(500, 100);
    let before = lab.sent.len();
    lab.at(1200);
    let lens: Vec<u32> = lab.sent[before..].iter().map(|(_, sent)| sent.segment.payload.len).collect();
    assert_eq!(lens, [988], "twelve bytes for the report");
}

#[test]
fn in_syn_received_a_stray_ack_is_reset_wherever_the_segment_lies() {
    // tcp_check_req() looks at the ACK before the window.
    let listening = |old_segments| {
        let mut lone = Lone::listening(Config { old_segments, ..plain() });
        lone.gets(segment(SYN, 0, 0));
        lone
    };
    let mut lone = listening(OldSegments::Linux);
    let reset = lone.gets(data(20_001, 77, 10));
    assert_eq!((reset[0].flags, reset[0].seq), (Flags::RST, 77));
    assert_eq!(lone.gets(segment(RST_ACK, 20_001, 77)), [], "but no reset");
    let answer = listening(OldSegments::Outside).gets(data(20_001, 77, 10));
    assert_eq!(answer[0].flags, ACK, "RFC 9293, section 3.10.7.4");
}

#[test]
fn a_recovery_that_begins_where_the_reduction_for_a_mark_ends_is_over_with_the_next_ack() {
    let mut lab = marked();
    echo(&mut lab, 1);
    lab.at(210).ack(10);
    assert!(lab.tcp.info().reduces_for_mark, "until something above is acknowledged");
    lab.write(20).out();
    lab.at(310).sack(10, &[(12, 14)]);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    let ssthresh = lab.tcp.ssthresh();
    // Another recovery begins at once, because the loss is still to be repaired.
    lab.at(311).sack(10, &[(12, 15)]);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    assert!(lab.tcp.ssthresh() < ssthresh, "tcp_fastretrans_alert()");
}

#[test]
fn a_timeout_at_the_end_of_a_recovery_reduces_once_more() {
    // tcp_enter_loss(): without SACK, a recovery goes on until something above its data is acknowledged.
    let mut lab = without_sack(10);
    duplicates(&mut lab, 3);
    lab.at(300)
        .ack_with(10, Options { timestamps: Some(Timestamps { value: 1, echo: 200 }), ..Options::NONE });
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    lab.write(6);
    let ssthresh = lab.tcp.ssthresh();
    lab.at(1400);
    assert!(lab.tcp.ssthresh() < ssthresh);
}

#[test]
fn without_sack_nothing_counts_as_lost_after_an_undo() {
    // tcp_undo_cwnd_reduction() removes the marks; TCP_CA_Loss and the retransmission in the network stay.
    let mut lab = without_sack(5);
    lab.at(1500);
    assert_eq!(lab.tcp.info().phase, Phase::TimeoutRecovery);
    lab.arrives(Segment { ack: Lab::behind(0).plus(1), flags: ACK, options: ORIGINAL, ..Segment::default() });
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, Phase::TimeoutRecovery));
    let counts = Segments { unacknowledged: 5, sacked: 0, lost: 0, resent: 1, spared: 1 };
    assert_eq!(lab.tcp.segments(), Some(counts));
}

#[test]
fn a_timeout_while_a_mark_reduces_the_window_does_not_doubt_the_reordering() {
    // tcp_timeout_mark_lost() does so in TCP_CA_Open and TCP_CA_Disorder.
    for (flags, extent) in [(ACK | Flags::ECE, 6), (ACK, 3)] {
        let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..report(0, 1, 0) };
        let offer = Options { sack: Options::NONE.sack, ..offer };
        let config = Config { ecn: EcnUse::Rfc3168, timestamps: true, ..linux() };
        let mut lab = Lab::open_with(config, offer, Flags::ECE);
        lab.write(10).at(200).ack_with(0, report(100, 4, 6));
        // The original of 1 was only late.
        lab.at(210).ack_with(1, report(100, 4, 6));
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.info().reordering_extent, u64::from(6 * MSS));
        let options = report(100, 4, 10);
        lab.at(220).arrives(Segment { ack: Lab::behind(1), flags, options, ..Segment::default() });
        lab.at(2000);
        assert!(lab.tcp.stats().timeouts > 0);
        assert_eq!(lab.tcp.info().reordering_extent, u64::from(extent * MSS));
    }
}

/// An ACK of so many bytes, which reports the segments of each pair.
fn ack_and_report(lab: &mut Lab, bytes: u32, blocks: &[(u32, u32)]) {
    let mut options = Options::NONE;
    for &(from, to) in blocks {
        options.sack.push(SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) });
    }
    let ack = Lab::behind(0).plus(bytes);
    lab.arrives(Segment { ack, flags: ACK, options, ..Segment::default() });
}

/// The payload, flags and time in ms of the last segment.
fn last(lab: &Lab) -> (u32, Flags, u64) {
    let (at, sent) = lab.sent.last().expect("something was sent");
    (sent.segment.payload.len, sent.segment.flags, at.as_ps() / 1_000_000_000)
}

#[test]
fn what_a_small_window_permits_of_a_segment_is_new_data_and_both_parts_carry_psh() {
    // tcp_write_wakeup(); tcp_send_probe0() ends the backoff of the probes.
    let mut lab = Lab::with_sack(linux());
    lab.write(2).at(200).window = 400;
    lab.ack(2).write(3).out();
    lab.at(1300);
    assert_eq!((last(&lab), lab.out()), ((400, ACK | Flags::PSH, 1200), vec![(3, WindowProbe)]));
    lab.at(2300);
    assert_eq!((last(&lab), lab.out()), ((400, ACK | Flags::PSH, 2200), vec![(3, Timeout)]));
    lab.window = 60_000;
    let before = lab.sent.len();
    ack_and_report(&mut lab, 2400, &[]);
    let sent = lab.sent[before..].iter().map(|(_, sent)| (sent.segment.payload.len, sent.segment.flags));
    let (pushed, plain) = (ACK | Flags::PSH, ACK);
    assert_eq!(sent.collect::<Vec<_>>()[..2], [(1000, pushed), (1000, plain)]);
}

#[test]
fn other_senders_probe_a_small_window_again() {
    let mut config = linux();
    config.growth.grows = Grows::Always;
    let mut lab = Lab::with_sack(config);
    lab.write(2).at(200).window = 400;
    lab.ack(2).write(3).out();
    lab.at(3300);
    assert_eq!(lab.timed(), [(1200, 3, WindowProbe), (3200, 3, WindowProbe)]);
}

#[test]
fn the_rest_of_a_segment_keeps_the_push_of_a_write_that_ended_before() {
    // tcp_trim_head() leaves the flags.
    let config =
        Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..linux() };
    let mut lab = Lab::with_sack(config);
    lab.write(10);
    for _ in 0..5 {
        lab.write(1);
    }
    lab.data(0, 100);
    let before = lab.sent.len();
    // Its first half is old. The D-SACK makes all segments of the burst shorter.
    let payload = Payload { offset: 0, len: 200 };
    lab.arrives(Segment { ack: Lab::behind(2), flags: ACK, payload, ..Segment::default() });
    let ends = lab.sent[before..].iter().map(|(_, sent)| sent.segment.payload.offset);
    assert_eq!(ends.take(3).collect::<Vec<_>>(), [10_000, 10_988, 11_976]);
    lab.seq = lab.seq.plus(200);
    ack_and_report(&mut lab, 11_500, &[]);
    lab.at(1500);
    assert_eq!(lab.out().last(), Some(&(12, Timeout)));
    assert_eq!(last(&lab), (476, ACK | Flags::PSH, 1100), "a write ended at 11 000");
}

#[test]
fn the_rest_of_a_reported_segment_is_not_delivered_once_more() {
    // tcp_clean_rtx_queue(): the whole segment counted when it was reported.
    let mut lab = Lab::with_sack(linux());
    lab.write(40).at(200).sack(0, &[(2, 2)]);
    let before = lab.tcp.cwnd();
    // The first segment, and half of the second one.
    ack_and_report(&mut lab, 1500, &[]);
    assert_eq!(lab.tcp.cwnd() - before, MSS);
    lab.ack(2);
    assert_eq!(lab.tcp.cwnd() - before, MSS);
}

#[test]
fn an_overdue_reordering_timer_ends_with_an_ack_of_new_data() {
    // tcp_rearm_rto(): it is the same timer. The ACK of a retransmission tells RACK nothing if it is too early.
    let mut lab = Lab::with_sack(linux());
    lab.write(5).at(120).write(5).at(200);
    lab.sack(0, &[(2, 2)]).ack(2).sack(2, &[(4, 5)]);
    lab.at(226);
    assert_eq!(lab.out().last(), Some(&(3, RackLoss)));
    lab.at(230).sack(2, &[(8, 8), (4, 5)]);
    lab.at(254).now += Span::from_ms(2);
    assert!(lab.tcp.next_deadline() < lab.now, "the driver is late");
    lab.ack(5).at(257);
    assert_eq!(lab.out(), []);
}

/// The echo of a timestamp, and reports of the segments of each pair.
fn echo_and_report(echo: u32, blocks: &[(u32, u32)]) -> Options {
    let mut options = Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE };
    for &(from, to) in blocks {
        options.sack.push(SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) });
    }
    options
}

#[test]
fn an_echo_behind_the_first_retransmission_of_an_earlier_recovery_undoes_nothing() {
    // tcp_retrans_stamp_cleanup(): retransmissions are in flight when the next recovery begins.
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..echo_and_report(0, &[]) };
    for (stamp, undone) in [(250, 0), (150, 1)] {
        let mut lab = Lab::open(Config { timestamps: true, ..linux() }, offer);
        lab.write(40).at(200);
        lab.ack_with(0, echo_and_report(100, &[(3, 5)])).ack_with(0, echo_and_report(100, &[(3, 9)]));
        assert_eq!(lab.out()[10..12], [(1, RackLoss), (2, RackLoss)]);
        lab.at(300).ack_with(1, echo_and_report(200, &[(12, 12), (3, 9)]));
        assert_eq!(lab.out()[..3], [(2, RackLoss), (10, RackLoss), (11, RackLoss)]);
        // The first recovery ends, and 11 is not acknowledged.
        lab.at(400).ack_with(10, echo_and_report(300, &[(12, 12)]));
        assert_eq!(lab.tcp.stats().fast_retransmits, 2);
        lab.ack_with(12, echo_and_report(stamp, &[]));
        assert_eq!(lab.tcp.stats().undone, undone, "{stamp}");
    }
}

#[test]
fn the_rest_of_a_segment_takes_as_much_of_cwnd_as_the_whole() {
    // tcp_trim_head(): it stays a packet.
    let mut lab = Lab::with_sack(Config { cwnd_counts: CwndCounts::Packets, ..linux() });
    lab.write_bytes(12_300);
    lab.at(200);
    let before = lab.sent.len();
    ack_bytes(&mut lab, 1500);
    assert_eq!(lab.cwnd(), 11);
    let lengths = lab.sent[before..].iter().map(|(_, sent)| sent.segment.payload.len);
    assert_eq!(lengths.collect::<Vec<_>>(), [MSS, MSS], "beside nine packets: 300 bytes wait");
}
