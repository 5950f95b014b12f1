//! The size of a burst, what a mark leaves to the timers and to an undo, what counts as the use of cwnd, and when probes are sent, as in
//! Linux.

use crate::common::lone::ACK;
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{
    Config, CwndCounts, EcnUse, Grows, MssCounts, OldSegments, WindowProbe as ProbesWindow, WithoutSack,
};
use netspurt_tcp::congestion;
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{NewData, RackLoss, TailProbe, TailProbeData, Timeout, WindowProbe};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::time::Span;
use netspurt_tcp::transmit::Transmit;
use netspurt_tcp::{Behind, Change};

fn linux() -> Config {
    Config { limited_transmit: true, ..rules(Grows::WhenUsed) }
}

/// The payload of each segment with data since `before`.
fn lens(lab: &Lab, before: usize) -> Vec<u32> {
    let sent = lab.sent[before..].iter().map(|(_, sent)| sent.segment.payload.len);
    sent.filter(|&len| len > 0).collect()
}

#[test]
fn all_segments_of_a_burst_are_as_long_as_the_first_one_that_reports_a_duplicate() {
    // tcp_current_mss() is called once, before tcp_write_xmit(); the D-SACK leaves with the first segment alone.
    for (grows, len) in [(Grows::WhenUsed, [988; 3]), (Grows::Always, [988, 1000, 1000])] {
        let mut config =
            Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..linux() };
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write(40);
        lab.data(0, 100);
        let before = lab.sent.len();
        // Its first half is old.
        let payload = Payload { offset: 0, len: 200 };
        lab.arrives(Segment { ack: Lab::behind(2), flags: ACK, payload, ..Segment::default() });
        assert_eq!(lens(&lab, before)[..3], len, "{grows:?}");
        let blocks = lab.sent[before..].iter().map(|(_, sent)| sent.segment.options.sack.as_slice().len());
        assert_eq!(blocks.take(3).collect::<Vec<_>>(), [1, 0, 0]);
        // The next burst has full segments.
        let before = lab.sent.len();
        lab.seq = lab.seq.plus(200);
        lab.ack(4);
        assert_eq!(lens(&lab, before)[0], 1000);
    }
}

#[test]
fn segments_of_the_rest_of_a_write_are_not_longer_than_those_of_its_beginning() {
    // tcp_send_mss() is called before the loop of tcp_sendmsg_locked(); the D-SACK leaves with the first segment alone.
    for (grows, len) in [(Grows::WhenUsed, [988, 988, 12, 1000]), (Grows::Always, [988, 1000, 1000, 12])] {
        let mut config =
            Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..linux() };
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.data(0, 100);
        let payload = Payload { offset: 0, len: 100 };
        let seq = Lab::their_first();
        let duplicate =
            Segment { seq, ack: Lab::behind(0), flags: ACK, payload, window: 30_000, ..Segment::default() };
        lab.tcp.handle_segment(lab.now, &duplicate);
        let (now, tcp) = (lab.now, &mut lab.tcp);
        let first = tcp.next_payload();
        let mut lens = Vec::new();
        for part in 0..3 {
            let written = match part {
                0 => tcp.write_part(now, 988, Behind::More),
                1 => tcp.write_rest(now, 1000, Behind::More, first),
                _ => tcp.write(now, 1012),
            };
            assert!(written.is_ok());
            let sent = std::iter::from_fn(|| tcp.poll_transmit(now)).map(|sent| sent.segment.payload.len);
            lens.extend(sent.filter(|&len| len > 0));
        }
        assert_eq!(lens[..4], len, "{grows:?}");
    }
}

/// Segments at 100 ms, of `written`, with ECN, SACK, timestamps and tail loss probes.
fn marked(config: Config, written: u64) -> Lab {
    let stamps = Some(Timestamps::default());
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, timestamps: stamps, ..Options::NONE };
    let config = Config { ecn: EcnUse::Rfc3168, timestamps: true, tail_loss_probe: true, ..config };
    let mut lab = Lab::open_with(config, offer, Flags::ECE);
    lab.write(written).out();
    lab.at(200);
    lab
}

/// An ACK up to segment `n` that reports a mark, and the segments of `block`.
fn echo(lab: &mut Lab, n: u32, block: Option<(u32, u32)>, echo: u32) {
    let mut options = Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE };
    if let Some((from, to)) = block {
        let (left, right) = (Lab::behind(from - 1), Lab::behind(to));
        options.sack.push(netspurt_tcp::options::SackBlock { left, right });
    }
    lab.arrives(Segment { ack: Lab::behind(n), flags: ACK | Flags::ECE, options, ..Segment::default() });
}

fn stamped(lab: &mut Lab, n: u32, echo: u32) {
    lab.ack_with(n, Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE });
}

/// Segments that announce a reduction, but for the SYN.
fn announced(lab: &Lab) -> usize {
    lab.sent.iter().skip(1).filter(|(_, sent)| sent.segment.flags.has(Flags::CWR)).count()
}

#[test]
fn a_loss_that_a_probe_has_repaired_does_not_prevent_a_reduction_by_a_mark() {
    // tcp_process_tlp_ack() leaves the state open, so tcp_enter_cwr() follows.
    let mut lab = marked(linux(), 2);
    lab.at(700);
    assert_eq!(lab.out(), [(2, TailProbe)]);
    stamped(&mut lab, 2, 699);
    lab.write(8).at(800);
    stamped(&mut lab, 3, 700);
    lab.write(1);
    let ssthresh = lab.tcp.ssthresh();
    echo(&mut lab, 4, None, 700);
    assert_eq!(lab.tcp.stats().ecn_reductions, 1);
    assert!(lab.tcp.ssthresh() < ssthresh);
}

#[test]
fn a_mark_reduces_what_the_same_ack_restores() {
    // tcp_try_undo_recovery() comes before tcp_try_to_open().
    let mut lab = marked(linux(), 10);
    let report = Options { timestamps: Some(Timestamps { value: 1, echo: 100 }), ..Options::NONE };
    lab.ack_with(0, report);
    for to in [4, 5, 6] {
        let mut options = report;
        options.sack.push(netspurt_tcp::options::SackBlock { left: Lab::behind(3), right: Lab::behind(to) });
        lab.ack_with(0, options);
    }
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    lab.at(250);
    echo(&mut lab, 10, None, 100);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.tcp.info().reduces_for_mark);
    lab.write(1);
    assert_eq!(announced(&lab), 1);
}

#[test]
fn an_echo_without_outstanding_data_reduces_nothing() {
    // `no_queue` in tcp_ack().
    let mut lab = marked(linux(), 1);
    stamped(&mut lab, 1, 100);
    echo(&mut lab, 1, None, 100);
    assert_eq!(lab.tcp.stats().ecn_reductions, 0);
}

#[test]
fn while_a_mark_reduces_cwnd_new_data_turns_the_reordering_timer_into_a_probe() {
    // tcp_schedule_loss_probe() permits it in TCP_CA_CWR, and there is one timer for both.
    let mut lab = marked(linux(), 40);
    echo(&mut lab, 1, Some((4, 4)), 100);
    assert!(lab.tcp.info().reduces_for_mark);
    assert_eq!(lab.out().len(), 1, "new data");
    lab.at(390);
    assert_eq!(lab.out(), [], "no reordering timer");
    lab.at(420);
    assert_eq!(lab.out().len(), 1, "two round trips");
}

#[test]
fn a_recovery_of_bbr_within_a_reduction_announces_none() {
    // tcp_enter_recovery(): tcp_in_cwnd_reduction().
    let mut lab = marked(Config { congestion: congestion::Kind::Bbr, pacing: true, ..linux() }, 40);
    lab.write(40).at(200);
    echo(&mut lab, 1, None, 100);
    lab.at(210);
    assert_eq!(announced(&lab), 1);
    echo(&mut lab, 1, Some((4, 7)), 100);
    lab.at(230);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    assert_eq!(announced(&lab), 1);
}

#[test]
fn a_recovery_that_pacing_has_kept_from_retransmitting_is_undone_by_an_ack_of_its_data() {
    // tcp_packet_delayed(): there is no retrans_stamp.
    for (acked, undone) in [(1, 1), (0, 0)] {
        let config = Config { congestion: congestion::Kind::Bbr, pacing: true, ..linux() };
        let mut lab = Lab::with_sack(config);
        lab.write(40).at(200).sack(0, &[(3, 3)]);
        lab.sack(0, &[(3, 4)]).sack(0, &[(3, 6)]);
        assert_eq!(lab.tcp.info().phase, Phase::Recovery);
        let repairs = lab.out().iter().filter(|(_, why)| *why == RackLoss).count();
        assert_eq!(repairs, 0, "the first ACK has used up the turn");
        lab.sack(acked, &[(3, 6)]);
        assert_eq!(lab.tcp.stats().undone, undone);
    }
}

#[test]
fn a_peer_that_does_not_acknowledge_what_it_has_reported_gets_half_an_rtt() {
    // tcp_check_sack_reneging(); then tcp_enter_loss() forgets the reports.
    let mut lab = Lab::with_sack(linux());
    lab.write(10).at(200).sack(0, &[(3, 4)]);
    lab.out();
    lab.ack(2);
    lab.out();
    lab.at(249);
    assert_eq!(lab.out(), []);
    lab.at(251);
    assert_eq!(lab.timed(), [(250, 3, Timeout)]);
    assert_eq!(lab.tcp.info().sacked, 0);
}

#[test]
fn what_remains_of_a_report_that_the_peer_has_discarded_is_sent_alone() {
    // tcp_shift_skb_data() has joined the segments of the report, but not the next one.
    let mut lab = Lab::with_sack(linux());
    lab.write(10).at(200).sack(0, &[(3, 4)]);
    lab.out();
    let ack = Lab::behind(4).minus(1);
    lab.arrives(Segment { ack, flags: Flags::ACK, ..Segment::default() });
    lab.at(251);
    let last = lab.sent.last().expect("a timeout").1;
    assert_eq!((last.reason, last.segment.payload.len), (Timeout, 1));
}

#[test]
fn a_lone_fin_uses_cwnd() {
    // tcp_cwnd_validate() counts packets.
    let mut lab = Lab::with_sack(Config { cwnd_counts: CwndCounts::Packets, ..linux() });
    lab.tcp.close(lab.now);
    lab.data(0, 10);
    lab.at(1500);
    assert_eq!(lab.cwnd(), 1, "a timeout");
    lab.seq = lab.seq.plus(10);
    lab.arrives(Segment { ack: Lab::behind(0).plus(1), flags: ACK, ..Segment::default() });
    assert_eq!(lab.cwnd(), 2);
}

#[test]
fn cwnd_grows_by_whole_segments_of_an_ack_that_ends_within_one() {
    // tcp_clean_rtx_queue().
    let mut lab = Lab::with_sack(linux());
    lab.write(40).at(200);
    lab.arrives(Segment { ack: Lab::behind(1).plus(500), flags: ACK, ..Segment::default() });
    assert_eq!(lab.tcp.cwnd(), 11 * MSS, "first");
    lab.arrives(Segment { ack: Lab::behind(1).plus(600), flags: ACK, ..Segment::default() });
    assert_eq!(lab.tcp.cwnd(), 11 * MSS);
    lab.ack(2);
    assert_eq!(lab.tcp.cwnd(), 12 * MSS);
}

#[test]
fn a_write_that_fills_an_unsent_segment_removes_its_psh() {
    // tcp_sendmsg_locked(): a segment that is full keeps it.
    for (first, flags) in [(300, ACK), (1000, ACK | Flags::PSH)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(10).at(200);
        lab.write_bytes(first).write_bytes(1000);
        let before = lab.sent.len();
        lab.ack(5);
        assert_eq!(lab.sent[before].1.segment.flags, flags, "{first}");
    }
}

#[test]
fn two_short_segments_are_not_alone_for_a_probe() {
    // tcp_schedule_loss_probe() counts packets.
    for (cwnd_counts, at) in [(CwndCounts::Packets, 300), (CwndCounts::Bytes, 500)] {
        let mut lab = Lab::with_sack(Config { cwnd_counts, tail_loss_probe: true, ..linux() });
        lab.write_bytes(100);
        lab.write_bytes(100);
        lab.out();
        lab.at(600);
        assert_eq!(lab.timed(), [(at, 1, TailProbe)]);
    }
}

#[test]
fn the_reordering_timer_takes_the_place_of_a_probe() {
    // tcp_rack_mark_lost(): Linux has one timer for both.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    lab.write(3).at(299).sack(0, &[(3, 3)]);
    lab.at(400);
    assert_eq!(lab.timed()[3..], [(324, 1, RackLoss)], "the probe was due at 300 ms");
}

#[test]
fn a_probe_behind_new_data_comes_no_later_than_the_timeout_of_the_first_segment() {
    // tcp_rto_delta_us(): 100 ms and a second, not the timeout that the last ACK has set.
    for (grows, probe) in [(Grows::WhenUsed, 1100), (Grows::Always, 1222)] {
        let mut config = Config { tail_loss_probe: true, ..linux() };
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write(2).at(250).write(1).at(290).ack(1);
        for ms in [400, 550, 700, 850, 1000] {
            lab.at(ms).write(1);
        }
        lab.at(1280);
        let probes = lab.timed().into_iter().filter(|sent| sent.2 == TailProbe);
        assert_eq!(probes.map(|sent| sent.0).collect::<Vec<_>>(), [probe], "{grows:?}");
    }
}

#[test]
fn a_write_behind_a_packet_that_reports_have_made_shorter_leaves_its_psh() {
    // tcp_sendmsg_locked(): the packet is full, because tcp_send_mss() knows of the SACK blocks.
    let config =
        Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..linux() };
    let mut lab = Lab::with_sack(config);
    lab.data(200, 100);
    lab.write_bytes(10 * 988);
    lab.write_bytes(2 * 988);
    lab.write_bytes(988);
    let before = lab.sent.len();
    lab.at(200);
    let ack = Lab::behind(0).plus(10 * 988);
    lab.arrives(Segment { ack, flags: ACK, ..Segment::default() });
    let pushed = lab.sent[before..].iter().map(|(_, sent)| sent.segment.flags.has(Flags::PSH));
    assert_eq!(pushed.take(3).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn packets_that_wait_keep_the_length_that_segments_had_when_they_were_written() {
    // tcp_sendmsg_locked(): the blocks of a gap make segments shorter. Behind a gap, ten segments of data end in a packet with
    // room for more; before it, they fill packets that are longer than segments are now.
    for (gap_first, pushed) in [(true, false), (false, true)] {
        let config =
            Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..linux() };
        let mut lab = Lab::with_sack(config);
        lab.write(10);
        if gap_first {
            lab.data(200, 100);
        }
        lab.write(10);
        if gap_first {
            lab.data(0, 200);
        } else {
            lab.data(200, 100);
        }
        lab.write(10);
        if !gap_first {
            lab.data(0, 200);
        }
        let before = lab.sent.len();
        lab.seq = lab.seq.plus(300);
        lab.at(200).ack(10).at(300).ack(20);
        let end = 20 * u64::from(MSS);
        let mut sent = lab.sent[before..].iter().map(|(_, sent)| sent.segment);
        let last = sent.find(|sent| sent.payload.offset + u64::from(sent.payload.len) == end);
        assert_eq!(last.expect("the end of the second write").flags.has(Flags::PSH), pushed);
    }
}

#[test]
fn any_ack_restarts_the_timer_of_a_closed_window() {
    // tcp_ack_probe()
    for (grows, probe) in [(Grows::WhenUsed, 1900), (Grows::Always, 1200)] {
        let mut config = linux();
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write(1).at(200).window = 0;
        lab.ack(1).write(1).at(900).ack(1);
        lab.at(2000);
        let probes: Vec<u64> =
            lab.timed().into_iter().filter(|sent| sent.2 == WindowProbe).map(|sent| sent.0).collect();
        assert_eq!(probes, [probe], "{grows:?}");
    }
}

#[test]
fn a_corked_segment_waits_for_the_timer_of_window_probes() {
    // tcp_check_probe_timer(): a timeout, not 200 ms.
    for (grows, at) in [(Grows::WhenUsed, 1100), (Grows::Always, 300)] {
        let mut config = Config { transmit: Transmit::Cork, ..linux() };
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write_bytes(100).at(1500);
        assert_eq!(lab.timed()[0].0, at, "{grows:?}");
    }
}

#[test]
fn what_the_timer_of_window_probes_sends_does_not_delay_the_next_short_segment() {
    // tcp_write_wakeup() does not call tcp_minshall_update().
    let mut lab = Lab::with_sack(Config { transmit: Transmit::Cork, ..linux() });
    lab.write_bytes(100).at(1150);
    assert_eq!(lab.out().len(), 1);
    lab.tcp.change(lab.now, Change::Transmit(Transmit::Minshall));
    lab.write_bytes(10);
    assert_eq!(lab.out().len(), 1);
}

#[test]
fn a_timeout_into_a_closed_window_counts_as_no_retransmission() {
    // tcp_retransmit_timer() leaves icsk_retransmits as it is, and doubles the timeout.
    let mut lab = Lab::with_sack(rules(Grows::WhenUsed));
    lab.write(5).out();
    lab.at(200).window = 0;
    lab.ack(1).at(1300);
    assert_eq!(lab.timed(), [(1200, 2, Timeout)]);
    assert_eq!((lab.tcp.info().unanswered, lab.tcp.info().backoff), (0, 1));
    lab.at(3300);
    assert_eq!((lab.tcp.info().unanswered, lab.tcp.info().backoff), (0, 2));
    lab.window = 60_000;
    lab.ack(1).at(20_000);
    assert!(lab.tcp.info().unanswered > 0, "the window is open");
}

#[test]
fn an_undo_that_sets_no_data_free_is_followed_by_a_tail_loss_probe() {
    // tcp_set_xmit_timer() follows tcp_fastretrans_alert().
    let mut lab = Lab::with_sack(probing());
    lab.write(10).at(200).sack(0, &[(4, 6)]);
    lab.out();
    // Late originals, and the D-SACK of the only retransmission.
    lab.at(210).sack(6, &[(1, 1)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    lab.at(900);
    assert_eq!(lab.out().last(), Some(&(10, TailProbe)));
}

fn probing() -> Config {
    Config { tail_loss_probe: true, ..rules(Grows::WhenUsed) }
}

#[test]
fn no_tail_loss_probe_follows_what_the_timer_of_window_probes_has_sent() {
    // tcp_write_wakeup() does not call tcp_schedule_loss_probe().
    for (grows, second) in [(Grows::WhenUsed, (2100, 1, Timeout)), (Grows::Always, (700, 1, TailProbe))] {
        let mut config = Config { transmit: Transmit::Cork, ..probing() };
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(config);
        lab.write_bytes(100).at(2200);
        assert_eq!(lab.timed()[1], second, "{grows:?}");
    }
}

#[test]
fn new_data_delays_no_timeout_that_has_not_passed_in_ticks() {
    // tcp_schedule_loss_probe(): the RTO of a second ends after 1.2 s in ticks of 300 ms.
    for (tick, at) in [(300, 1300), (0, 1350)] {
        let mut lab = Lab::with_sack(Config { rto_tick: Span::from_ms(tick), ..probing() });
        lab.write(2).at(1150);
        assert_eq!(lab.timed().last(), Some(&(300, 2, TailProbe)));
        lab.write(1).at(1400);
        assert_eq!(lab.timed(), [(1150, 3, NewData), (at, 1, Timeout)]);
    }
}

#[test]
fn the_timeout_counts_from_a_probe_with_new_data_also_if_options_have_made_that_shorter() {
    let config =
        Config { mss_counts: MssCounts::DataAndOptions, old_segments: OldSegments::Linux, ..probing() };
    let mut lab = Lab::with_sack(config);
    // What is reported takes room in each segment.
    lab.data(100, 100);
    lab.write(12).at(1400);
    let timed = lab.timed();
    assert_eq!(timed[10], (300, 10, TailProbeData));
    assert_eq!(timed[11], (1300, 1, Timeout), "tcp_send_loss_probe()");
}

#[test]
fn a_tail_loss_probe_stays_within_a_window_that_has_shrunk() {
    // __tcp_retransmit_skb() refuses it, and tcp_rearm_rto() counts from the first segment.
    for (window, expected) in [(1000, (1100, 3, Timeout)), (3000, (420, 5, TailProbe))] {
        let mut lab = Lab::with_sack(probing());
        lab.write(5).at(200).out();
        lab.window = window;
        lab.ack(2).at(1150);
        let (at, n, reason) = lab.timed()[0];
        assert_eq!((n, reason), (expected.1, expected.2));
        assert!(at <= expected.0 && expected.0 < at + 50, "{at}");
    }
}

#[test]
fn while_a_probe_is_outstanding_a_report_of_it_leaves_the_timer_of_the_next_one() {
    // tcp_send_loss_probe() only arms the timeout then, from the first segment.
    let mut lab = Lab::with_sack(probing());
    lab.write(5).at(300);
    assert!(lab.out().contains(&(5, TailProbe)));
    // The report comes too soon after the probe to say anything about its time.
    lab.at(310).ack(1).at(312).sack(1, &[(5, 5)]).at(1300);
    let (at, n, reason) = lab.timed()[0];
    assert_eq!((n, reason), (2, Timeout));
    assert!(at < 1400);
}

#[test]
fn a_probe_is_answered_by_a_duplicate_report_that_is_not_believed() {
    // tcp_dsack_seen() tells tcp_process_tlp_ack() before it compares with the number of retransmissions.
    let mut lab = Lab::with_sack(probing());
    lab.write(3).at(200).ack(1).sack(1, &[(1, 1)]);
    lab.at(1000);
    assert!(lab.out().contains(&(3, TailProbe)));
    lab.sack(3, &[(3, 3)]).write(2).at(2000);
    assert!(lab.out().contains(&(5, TailProbe)), "no other one is outstanding");
}

#[test]
fn a_fin_that_waits_for_the_window_is_probed() {
    // tcp_send_probe0()
    let mut lab = Lab::with_sack(Config { window_probe: ProbesWindow::Empty, ..probing() });
    lab.write(1).at(200);
    lab.window = 0;
    lab.ack(1);
    lab.tcp.close(lab.now);
    assert!(lab.tcp.poll_transmit(lab.now).is_none());
    let before = lab.sent.len();
    lab.at(1250);
    assert_eq!(lab.sent.len(), before + 1);
    let probe = &lab.sent[before].1.segment;
    assert_eq!((probe.seq, probe.payload.len), (Lab::behind(1).minus(1), 0));
    // The window opens, and the FIN leaves.
    lab.window = 1000;
    lab.ack(1);
    assert_eq!(lab.sent.last().map(|sent| sent.1.segment.seq), Some(Lab::behind(1)));
}

#[test]
fn without_sack_a_duplicate_ack_delivers_a_segment_also_beside_a_short_one() {
    // tcp_limit_reno_sacked() counts segments.
    let mut config =
        Config { without_sack: WithoutSack::Linux, cwnd_counts: CwndCounts::Packets, ..probing() };
    config.congestion = congestion::Kind::Bbr;
    let mut lab = Lab::plain(config);
    lab.write_bytes(100).write(1);
    let cwnd = lab.cwnd();
    lab.at(200).ack(0);
    assert_eq!(lab.cwnd(), cwnd + 1);
}

#[test]
fn a_connection_that_has_ended_has_no_timer() {
    let mut lab = Lab::with_sack(probing());
    lab.write(10).at(200).ack(1).sack(1, &[(3, 3)]);
    assert!(!lab.tcp.next_deadline().is_never(), "the third segment came before the second");
    lab.tcp.abort(lab.now);
    assert!(lab.tcp.next_deadline().is_never());
}

#[test]
fn a_window_that_opens_resets_the_count_of_its_probes() {
    // `icsk_probes_out` in tcp_ack_probe()
    let mut lab = Lab::with_sack(Config { window_probe: ProbesWindow::Empty, ..probing() });
    lab.write(3).at(200);
    lab.window = 0;
    lab.ack(3).write(1).at(4000);
    assert!(lab.tcp.info().unanswered > 1);
    lab.window = 60_000;
    lab.ack(3);
    assert_eq!((lab.tcp.info().unanswered, lab.out().len()), (0, 4));
}

#[test]
fn a_tail_loss_probe_before_a_timeout_is_not_its_first_retransmission() {
    // tcp_send_loss_probe() sets no retrans_stamp: an echo of what left between the two answers an original.
    let echo = |echo| Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE };
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..echo(0) };
    let mut lab = Lab::open(Config { timestamps: true, tail_loss_probe: true, ..linux() }, offer);
    lab.write(2).out();
    lab.at(1600);
    let sent = lab.timed();
    let [(probed, 2, TailProbe), (timed_out, 1, Timeout)] = sent[..] else { panic!("{sent:?}") };
    assert!(probed + 2 < timed_out);
    lab.ack_with(1, echo(probed as u32 + 1));
    assert_eq!(lab.tcp.stats().undone, 1);
}

#[test]
fn the_timer_of_retransmissions_does_not_expire_while_that_of_reordering_runs() {
    // tcp_rack_mark_lost() sets the only timer. The report is so late that its segment's RTT leaves the first one some more time.
    for (grows, reason) in [(Grows::WhenUsed, RackLoss), (Grows::Always, Timeout)] {
        let mut lab = Lab::with_sack(Config { tail_loss_probe: false, ..rules(grows) });
        lab.write(2).out();
        let due = lab.tcp.next_deadline();
        let before = (due.as_ps() / 1_000_000_000) - 2;
        lab.at(before).sack(0, &[(2, 2)]);
        assert_eq!(lab.out(), [], "{grows:?}");
        lab.at(before + 60);
        assert_eq!(lab.out().first(), Some(&(1, reason)), "{grows:?}");
    }
}

#[test]
fn what_an_ack_sets_free_after_a_timeout_is_paced_also_if_it_is_the_first_segment() {
    // tcp_xmit_retransmit_queue() asks tcp_pacing_check(); only tcp_retransmit_timer() does not.
    let first_resent = |grows| {
        let mut lab = Lab::with_sack(Config { pacing: true, ..rules(grows) });
        lab.write(10).at(1300);
        assert_eq!(lab.out().last(), Some(&(1, Timeout)));
        lab.at(1400).ack(1);
        lab.at(1401).ack(2);
        lab.out();
        lab.ack(4);
        lab.out().iter().any(|sent| sent.0 == 5)
    };
    assert!(!first_resent(Grows::WhenUsed));
    assert!(first_resent(Grows::Always));
}
