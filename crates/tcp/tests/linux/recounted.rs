//! What Linux counts in and beside recoveries: retransmissions, duplicate ACKs, reordering, and the use of cwnd.

use crate::as_linux_recovery::{report, stamped};
use crate::common::lone::ACK;
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{
    Config, Counting, CwndCounts, Grows, InitialWindow, OldSegments, PrrRule, Recovery, Reduces, WithoutSack,
};
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, NewData, RackLoss, TailProbe, TailProbeData, Timeout};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::{Behind, Connection, Segments, congestion};

/// The recovery of Linux; `grows` says when cwnd does.
pub(crate) fn rules(grows: Grows) -> Config {
    let mut config = config(Recovery::Rack);
    config.growth.grows = grows;
    config.growth.counting = Counting::Bytes { limit: u8::MAX };
    Config {
        prr: true,
        prr_rule: PrrRule::Linux,
        reduces: Reduces::Cwnd,
        undo: true,
        congestion: congestion::Kind::RenoLinux,
        ..config
    }
}

fn linux() -> Config {
    rules(Grows::WhenUsed)
}

/// Ten segments at 100 ms, of `written`, to a peer without SACK and timestamps.
fn without_sack(written: u64) -> Lab {
    let mut lab = Lab::plain(Config { without_sack: WithoutSack::Linux, ..linux() });
    lab.write(written).out();
    lab.at(200);
    lab
}

#[test]
fn a_retransmission_that_is_marked_lost_again_is_no_longer_in_the_network() {
    let mut lab = Lab::with_sack(linux());
    lab.write(6).at(200).sack(0, &[(4, 6)]).sack(0, &[(4, 6)]).sack(0, &[(4, 6)]);
    lab.out();
    lab.at(1400);
    assert_eq!(lab.out(), [(1, Timeout)]);
    let info = lab.tcp.info();
    assert_eq!(info.resent, u64::from(MSS), "tcp_mark_skb_lost()");
    let counts = Segments { unacknowledged: 6, sacked: 3, lost: 2, resent: 1, spared: 0 };
    assert_eq!(lab.tcp.segments(), Some(counts));
}

#[test]
fn in_the_recovery_behind_it_a_tail_loss_probe_does_not_count_as_a_retransmission() {
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    lab.write(5).at(310).sack(2, &[(4, 4)]).at(340);
    assert_eq!(lab.out()[5..], [(5, TailProbe), (3, RackLoss)]);
    let counts = Segments { unacknowledged: 3, sacked: 1, lost: 0, resent: 1, spared: 0 };
    assert_eq!(lab.tcp.segments(), Some(counts), "tcp_send_loss_probe()");
    let info = lab.tcp.info();
    assert_eq!((info.resent, info.probed), (2 * u64::from(MSS), u64::from(MSS)));
}

#[test]
fn a_short_segment_counts_as_one() {
    let mut lab = Lab::with_sack(Config { cwnd_counts: CwndCounts::Packets, ..linux() });
    for _ in 0..3 {
        lab.write_bytes(100);
    }
    assert_eq!(lab.tcp.segments().map(|segments| segments.unacknowledged), Some(3));
}

#[test]
fn a_duplicate_report_of_a_segment_that_was_sent_again_and_reported_shows_reordering() {
    for (grows, reorderings) in [(Grows::WhenUsed, 1), (Grows::Always, 0)] {
        let mut lab = Lab::with_sack(Config { initial_window: InitialWindow::Segments(20), ..rules(grows) });
        lab.write(20).out();
        lab.at(200).sack(0, &[(18, 20)]);
        assert!(lab.out().contains(&(2, RackLoss)));
        lab.at(210).sack(0, &[(2, 2), (18, 20)]);
        assert_eq!(lab.tcp.info().reorderings, 0);
        lab.at(220).sack(0, &[(2, 2), (2, 2), (18, 20)]);
        assert_eq!(lab.tcp.info().reorderings, reorderings, "tcp_sacktag_one()");
    }
}

#[test]
fn the_rtt_of_rack_is_that_of_the_last_acknowledged_segment_also_if_it_was_sent_again() {
    let mut lab = stamped(linux());
    // 2 is late: segments overtake each other, and the reordering window is 25 ms.
    lab.at(200).ack_with(0, report(100, 3, 4));
    lab.at(201).ack_with(0, report(100, 2, 2));
    lab.at(230);
    assert!(lab.out().contains(&(1, RackLoss)));
    // The retransmission of 1 is acknowledged after 104 ms; 6 is reported after 230 ms.
    lab.at(330).ack_with(4, report(226, 6, 6));
    assert!(lab.out().contains(&(5, RackLoss)), "tcp_clean_rtx_queue() follows tcp_sacktag_write_queue()");
}

#[test]
fn without_sack_three_duplicates_reveal_the_loss_of_the_first_segment_alone() {
    let mut lab = Lab::plain(Config { without_sack: WithoutSack::Linux, ..linux() });
    lab.write_bytes(100);
    lab.write(8).out();
    lab.at(200).acks(0, 3);
    assert_eq!(lab.tcp.info().lost, 0, "its 100 bytes were sent again");
    assert_eq!(lab.tcp.info().resent, 100);
}

#[test]
fn an_ack_of_all_data_that_was_outstanding_shows_no_reordering() {
    let original = Options { timestamps: Some(Timestamps { value: 1, echo: 100 }), ..Options::NONE };
    for (acked, reorderings) in [(10, 0), (9, 1)] {
        let mut lab = stamped(linux());
        lab.at(200).ack_with(0, report(100, 2, 4));
        assert_eq!(lab.out()[0], (1, RackLoss));
        lab.at(210).ack_with(acked, original);
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.info().reorderings, reorderings, "tcp_try_undo_partial() only");
    }
}

#[test]
fn without_sack_duplicates_of_the_last_ack_of_a_recovery_report_nothing() {
    let mut lab = without_sack(10);
    lab.acks(0, 3).out();
    lab.at(300).ack(10).write(30);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery, "until something above is acknowledged");
    assert!(!lab.out().is_empty());
    lab.at(400).acks(10, 2);
    assert_eq!(lab.out(), [], "tcp_try_undo_recovery()");
    // Neither after a timeout.
    let mut lab = without_sack(2);
    lab.at(1300);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1400).ack(2).write(5);
    lab.out();
    lab.acks(2, 3);
    assert_eq!(lab.tcp.info().sacked, 0, "tcp_process_loss()");
}

#[test]
fn a_retransmission_stays_within_the_window_of_the_peer() {
    for (grows, len) in [(Grows::WhenUsed, 400), (Grows::Always, MSS)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(10).out();
        lab.window = 400;
        lab.at(200).sack(0, &[(2, 4)]);
        assert_eq!(lab.out()[0].1, RackLoss);
        assert_eq!(
            lab.sent.iter().rfind(|sent| sent.1.reason == RackLoss).map(|s| s.1.segment.payload.len),
            Some(len)
        );
    }
}

#[test]
fn a_fin_that_left_behind_a_full_segment_is_sent_again_alone() {
    let mut lab = Lab::with_sack(linux());
    lab.write(2);
    lab.tcp.close(lab.now);
    lab.at(150).ack(0);
    lab.at(200);
    // The FIN is reported.
    let mut options = Options::NONE;
    let left = Lab::behind(2);
    options.sack.push(SackBlock { left, right: left.plus(1) });
    lab.ack_with(0, options);
    lab.at(300).ack_with(1, options);
    let again = lab.sent.iter().filter(|sent| sent.1.reason == RackLoss);
    let flags: Vec<bool> = again.map(|sent| sent.1.segment.flags.has(Flags::FIN)).collect();
    assert_eq!(flags, [false, false]);
}

#[test]
fn a_fin_waits_for_a_closed_window_to_open() {
    for (grows, sent) in [(Grows::WhenUsed, 0), (Grows::Always, 1)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(1).at(200).window = 0;
        lab.ack(1);
        let before = lab.sent.len();
        lab.tcp.close(lab.now);
        lab.at(201).ack(1);
        let fins =
            |lab: &Lab| lab.sent[before..].iter().filter(|sent| sent.1.segment.flags.has(Flags::FIN)).count();
        assert_eq!(fins(&lab), sent, "tcp_snd_wnd_test()");
        lab.window = 5000;
        lab.ack(1);
        assert_eq!(fins(&lab), 1);
    }
}

/// The application closes: whether a FIN leaves at once.
fn sends_fin(lab: &mut Lab) -> bool {
    lab.tcp.close(lab.now);
    lab.tcp.poll_transmit(lab.now).is_some_and(|sent| sent.segment.flags.has(Flags::FIN))
}

fn ends_with_fin(lab: &Lab) -> bool {
    lab.sent.last().is_some_and(|sent| sent.1.segment.flags.has(Flags::FIN))
}

#[test]
fn a_fin_waits_for_a_full_congestion_window() {
    for (grows, at_once) in [(Grows::WhenUsed, false), (Grows::Always, true)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(10);
        assert_eq!(sends_fin(&mut lab), at_once, "tcp_cwnd_test()");
        lab.at(200).ack(1);
        assert_ne!(ends_with_fin(&lab), at_once);
    }
}

#[test]
fn a_fin_takes_its_turn_among_paced_segments() {
    for (grows, at_once) in [(Grows::WhenUsed, false), (Grows::Always, true)] {
        let mut lab = Lab::with_sack(Config { pacing: true, ..rules(grows) });
        lab.write(10).at(200).ack(10).write(1);
        assert_eq!(sends_fin(&mut lab), at_once, "tcp_pacing_check()");
        lab.at(250);
        assert_ne!(ends_with_fin(&lab), at_once);
    }
}

#[test]
fn a_tail_loss_probe_sends_the_fin_that_waits_for_cwnd() {
    for data in [0, 1] {
        let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
        lab.write(u64::from(10 + data));
        lab.tcp.close(lab.now);
        lab.at(1000);
        let probes: Vec<_> = lab.sent.iter().filter(|sent| sent.1.reason == TailProbeData).collect();
        let [probe] = probes[..] else { panic!("{probes:?}") };
        assert_eq!(probe.1.segment.payload.len, data * MSS, "tcp_send_loss_probe()");
        assert!(probe.1.segment.flags.has(Flags::FIN));
    }
}

#[test]
fn the_ack_of_a_refused_segment_carries_no_data() {
    for (old_segments, lens) in [(OldSegments::Linux, vec![0, MSS]), (OldSegments::Outside, vec![MSS])] {
        let mut lab = Lab::with_sack(Config { old_segments, ..linux() });
        lab.data(0, 100);
        lab.data(100, 100);
        let from = lab.sent.len();
        lab.tcp.write(lab.now, u64::from(MSS)).expect("an open connection");
        lab.seq = Lab::their_first();
        lab.arrives(Segment {
            ack: Lab::behind(0),
            flags: ACK,
            payload: Payload { offset: 0, len: 100 },
            ..Segment::default()
        });
        let sent: Vec<u32> = lab.sent[from..].iter().map(|sent| sent.1.segment.payload.len).collect();
        assert_eq!(sent, lens, "tcp_send_dupack()");
    }
}

#[test]
fn the_d_sack_of_a_probe_counts_like_one_of_the_last_recovery() {
    // `tcp_send_loss_probe()` does not add to what D-SACKs must report (`undo_retrans`), and `tcp_check_dsack()` takes any.
    for (grows, undone) in [(Grows::WhenUsed, 1), (Grows::Always, 0)] {
        let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..rules(grows) });
        lab.write(10).at(200).sack(0, &[(2, 4)]);
        lab.at(300).ack(10).write(2).at(1000);
        assert!(lab.out().contains(&(12, TailProbe)));
        lab.ack(12).sack(12, &[(12, 12)]);
        assert_eq!(lab.tcp.stats().undone, undone);
    }
}

#[test]
fn a_segment_counts_when_all_of_it_is_acknowledged() {
    // `tcp_clean_rtx_queue()`: for the RTT and the retransmission timer.
    let stamp = |echo| Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE };
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..stamp(0) };
    for with_stamps in [false, true] {
        let mut lab = Lab::open(Config { timestamps: with_stamps, ..linux() }, offer);
        let echoed = if with_stamps { stamp(100) } else { Options::NONE };
        lab.write(20).out();
        let part = |lab: &mut Lab, bytes| {
            let ack = Lab::behind(0).plus(bytes);
            lab.arrives(Segment { ack, flags: ACK, options: echoed, ..Segment::default() });
            (lab.tcp.stats().rtt_samples, lab.tcp.next_deadline())
        };
        let (before, deadline) = (lab.tcp.stats().rtt_samples, lab.tcp.next_deadline());
        lab.at(200);
        assert_eq!(part(&mut lab, 1), (before, deadline), "{with_stamps}");
        let (samples, later) = part(&mut lab, 1500);
        assert_eq!(samples, before + 1, "{with_stamps}");
        assert!(later > deadline);
    }
}

#[test]
fn a_recovery_that_fills_cwnd_shows_that_it_is_used() {
    // The peer's window permits eight segments, which are not half of 16.
    let mut lab = Lab::open(
        Config { timestamps: true, ..linux() },
        Options {
            mss: Some(MSS as u16),
            sack_permitted: true,
            timestamps: Some(Timestamps::default()),
            ..Options::NONE
        },
    );
    lab.window = 8000;
    let original = Options { timestamps: Some(Timestamps { value: 1, echo: 100 }), ..Options::NONE };
    lab.ack_with(0, original).write(40).out();
    for n in 1..=4 {
        lab.at(200).ack_with(n, original);
    }
    assert_eq!(lab.cwnd(), 14);
    lab.ack_with(4, report(100, 6, 6)).ack_with(4, report(100, 6, 7)).ack_with(4, report(100, 6, 8));
    assert!(lab.out().contains(&(5, RackLoss)));
    lab.at(210).ack_with(8, original);
    assert_eq!(lab.tcp.stats().undone, 1);
    for n in 9..=14 {
        lab.at(300)
            .ack_with(n, Options { timestamps: Some(Timestamps { value: 1, echo: 200 }), ..Options::NONE });
    }
    assert!(lab.cwnd() > 16, "tcp_write_xmit(): {}", lab.cwnd());
    assert!(lab.out().iter().all(|sent| sent.1 == NewData || sent.1 == FastRetransmit));
}

#[test]
fn an_option_that_releases_data_shows_that_a_recovery_of_a_timer_fills_cwnd() {
    // tcp_push_pending_frames() in __tcp_sock_set_nodelay()
    for (releases, cwnd) in [(false, 10), (true, 14)] {
        let mut lab = Lab::with_sack(linux());
        lab.window = 4 * MSS as u16;
        lab.ack(0).write(20);
        lab.at(200).sack(0, &[(3, 3)]).at(290);
        assert_eq!(lab.out()[4..], [(1, RackLoss)], "of the reordering timer");
        if releases {
            lab.tcp.release();
            assert!(lab.tcp.poll_transmit(lab.now).is_none());
        }
        let mut options = Options::NONE;
        options.sack.push(SackBlock { left: Lab::behind(0), right: Lab::behind(1) });
        lab.ack_with(4, options);
        assert_eq!((lab.tcp.stats().undone, lab.cwnd()), (1, cwnd));
    }
}

#[test]
fn only_the_beginning_of_a_write_shows_that_the_application_has_paused() {
    // tcp_rate_check_app_limited()
    for (parts, limited) in [(true, false), (false, true)] {
        let mut lab = Lab::with_sack(Config { pacing: true, ..linux() });
        lab.write(1).at(200).ack(1).write(1);
        for (ms, acked) in [(210, 1), (310, 2)] {
            lab.at(ms).ack(acked);
            let (now, len) = (lab.now, u64::from(MSS));
            let tcp = &mut lab.tcp;
            let rest = |tcp: &mut Connection| tcp.write_rest(now, len, Behind::Nothing, tcp.next_payload());
            let written = if parts { rest(tcp) } else { tcp.write(now, len) };
            assert_eq!(written, Ok(len));
        }
        lab.at(330).ack(3).at(430).ack(4);
        assert_eq!(lab.tcp.info().is_app_limited, limited, "{parts}");
    }
}

#[test]
fn what_lies_behind_a_window_that_has_shrunk_is_not_sent_again() {
    let mut lab = Lab::with_sack(linux());
    lab.write(10).out();
    lab.window = 1500;
    lab.at(200).sack(0, &[(4, 8)]);
    lab.at(210).sack(0, &[(4, 9)]);
    lab.at(220).sack(0, &[(4, 10)]);
    let again: Vec<(u64, u32)> = lab
        .sent
        .iter()
        .filter(|sent| sent.1.reason == RackLoss)
        .map(|sent| (sent.1.segment.payload.offset, sent.1.segment.payload.len))
        .collect();
    assert_eq!(again, [(0, MSS), (u64::from(MSS), 500)], "tcp_retransmit_skb()");
}

#[test]
fn a_timeout_sends_as_much_of_the_first_segment_as_a_window_that_has_shrunk_permits() {
    // __tcp_retransmit_skb()
    for (window, len) in [(400, 400), (0, MSS), (1500, MSS)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(4).at(200).window = window;
        lab.ack(1).at(1300);
        let (_, last) = lab.sent.last().expect("a retransmission");
        assert_eq!((last.reason, last.segment.payload.len), (Timeout, len), "{window}");
    }
}

#[test]
fn a_fin_that_has_left_with_a_full_segment_is_sent_again_with_it() {
    // tcp_retransmit_skb(): the FIN is a flag of the segment, and takes no room in it.
    let mut lab = Lab::with_sack(linux());
    lab.write(11);
    lab.tcp.close(lab.now);
    lab.at(200).ack(10).at(1300);
    let last: Vec<_> = lab.sent[lab.sent.len() - 2..].iter().map(|(_, sent)| sent.segment).collect();
    assert!(last.iter().all(|sent| sent.payload.len == MSS && sent.flags.has(Flags::FIN)), "{last:?}");
}

#[test]
fn a_fin_joins_the_retransmission_of_a_short_segment_before_it() {
    // tcp_retrans_try_collapse(): it takes no room, and data before it may come along.
    for data in [0, 200] {
        let mut lab = Lab::with_sack(linux());
        let before = lab.sent.len();
        lab.write_bytes(300).at(110);
        lab.tcp.write(lab.now, data).expect("open");
        lab.tcp.close(lab.now);
        lab.ack(0).at(1500);
        let sent: Vec<_> = lab.sent[before..].iter().map(|(_, sent)| sent).collect();
        let len = |n: usize| sent[n].segment.payload.len;
        assert_eq!((len(0), len(1)), (300, data as u32));
        assert_eq!(
            (sent[2].reason, len(2), sent[2].segment.flags.has(Flags::FIN)),
            (Timeout, 300 + data as u32, true)
        );
    }
}
