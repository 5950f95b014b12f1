//! What an undo leaves, which D-SACKs lead to one, from when a timeout counts, what a probe may send, and which windows count, as in
//! Linux.

use crate::as_linux_recovery::{report, stamped};
use crate::common::lone::{ACK, FULL, Lone, SYN, data, plain, segment};
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, CwndCounts, EcnUse, Grows, OldSegments, WithoutSack};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::profile;
use netspurt_tcp::reason::Reason::{FastRetransmit, GoBackN, NewData, RackLoss, TailProbe, Timeout};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::time::{Span, Time};
use netspurt_tcp::transmit::Transmit;

/// Ten segments at 100 ms, with SACK. At 200 ms, 4 to 6 are reported: 1 to 3 are lost, and PRR permits one retransmission.
fn three_lost(grows: Grows) -> Lab {
    let mut lab = Lab::with_sack(rules(grows));
    lab.write(10).out();
    lab.at(200).sack(0, &[(4, 6)]);
    assert_eq!(lab.out(), [(1, RackLoss)]);
    lab
}

#[test]
fn a_timeout_that_replaces_the_reordering_timer_counts_from_the_first_segment() {
    for (grows, at) in [(Grows::WhenUsed, 1100), (Grows::Always, 1210)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(10).out();
        lab.at(200).sack(0, &[(3, 3)]);
        lab.at(210).ack(3);
        lab.at(1300);
        assert_eq!(lab.timed(), [(at, 4, Timeout)], "tcp_rearm_rto()");
    }
}

#[test]
fn behind_an_expired_reordering_timer_the_timeout_counts_from_the_first_segment() {
    let mut lab = stamped(rules(Grows::WhenUsed));
    lab.at(200).ack_with(0, report(100, 4, 6));
    // The original of 1 was only late. 2 and 3 are not looked at before a timeout.
    lab.at(210).ack_with(1, report(100, 4, 6));
    assert_eq!(lab.tcp.stats().undone, 1);
    lab.at(220).ack_with(1, report(100, 8, 8));
    lab.out();
    lab.at(300);
    assert_eq!(lab.out(), [(7, RackLoss)]);
    lab.at(1150);
    assert_eq!(lab.timed(), [(1100, 2, Timeout)], "tcp_rack_reo_timeout()");
}

#[test]
fn a_retransmission_that_was_in_the_network_at_an_undo_is_not_sent_again_before_a_timeout() {
    for (grows, again) in [(Grows::WhenUsed, 0), (Grows::Always, 1)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(5).out();
        lab.at(1100);
        assert_eq!(lab.out(), [(1, Timeout)]);
        assert_eq!(lab.tcp.info().unanswered, 1);
        // 2 was sent once, before the timeout.
        lab.at(1110).sack(0, &[(2, 3)]);
        assert_eq!(lab.tcp.stats().undone, 1);
        lab.write(4);
        assert_eq!(lab.out(), (6..10).map(|n| (n, NewData)).collect::<Vec<_>>());
        lab.at(1300).sack(0, &[(2, 9)]);
        assert_eq!(lab.out(), vec![(1, RackLoss); again], "tcp_mark_skb_lost()");
        assert_eq!(lab.tcp.info().phase, Phase::Recovery);
        assert_eq!(lab.tcp.info().unanswered, again as u8, "tcp_try_undo_loss()");
    }
}

#[test]
fn a_duplicate_report_of_what_was_sent_once_does_not_count_toward_an_undo() {
    for (grows, undone) in [(Grows::WhenUsed, 0), (Grows::Always, 1)] {
        let mut lab = three_lost(grows);
        lab.at(210).sack(0, &[(5, 5), (4, 6)]);
        assert_eq!(lab.tcp.stats().undone, undone, "tcp_sacktag_one()");
    }
}

#[test]
fn a_duplicate_report_of_a_part_of_what_was_sent_again_does_not_count_toward_an_undo() {
    for (left, undone) in [(0, 1), (1, 0)] {
        let mut lab = three_lost(Grows::WhenUsed);
        let mut options = Options::NONE;
        options.sack.push(SackBlock { left: Lab::behind(0).plus(left), right: Lab::behind(1) });
        options.sack.push(SackBlock { left: Lab::behind(0), right: Lab::behind(1) });
        options.sack.push(SackBlock { left: Lab::behind(3), right: Lab::behind(6) });
        lab.at(210).ack_with(0, options);
        assert_eq!(lab.tcp.stats().undone, undone, "tcp_match_skb_to_sack()");
    }
}

#[test]
fn a_duplicate_within_a_report_of_the_last_segment_shows_reordering_and_counts_twice() {
    // tcp_sacktag_write_queue() goes through it twice, unless a block of the ACK before reached as far.
    for (before, last, shows) in [(7, 10, 1), (7, 9, 0), (10, 10, 0)] {
        let mut lab = Lab::with_sack(rules(Grows::WhenUsed));
        lab.write(10).at(200).ack(1);
        lab.at(210).sack(1, &[(4, 6)]);
        lab.at(220).sack(1, &[(4, before)]);
        assert_eq!(lab.out()[10..], [(2, RackLoss), (3, RackLoss)]);
        lab.at(300).sack(1, &[(3, 3), (3, last)]);
        assert_eq!(lab.tcp.info().reorderings, shows, "{before} {last}");
        assert_eq!(lab.tcp.stats().undone, shows, "both retransmissions");
    }
}

#[test]
fn duplicate_reports_that_undo_a_recovery_leave_what_is_lost() {
    let mut lab = three_lost(Grows::WhenUsed);
    lab.at(210).sack(1, &[(1, 1), (4, 6)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.out()[0], (2, RackLoss), "tcp_try_undo_dsack() comes before tcp_time_to_recover()");
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
}

#[test]
fn an_undo_restores_the_ssthresh_before_a_loss_that_a_probe_has_repaired() {
    // tcp_process_tlp_ack() reduces cwnd, but leaves prior_ssthresh.
    for congestion in [Kind::RenoLinux, Kind::CubicLinux] {
        let mut lab = Lab::with_sack(Config { congestion, tail_loss_probe: true, ..rules(Grows::WhenUsed) });
        lab.write(10).at(200).sack(0, &[(2, 4)]).out();
        lab.at(300).ack(10);
        lab.write(2).at(550);
        assert_eq!(lab.out().last(), Some(&(12, TailProbe)));
        let before = lab.tcp.ssthresh();
        lab.write(1).at(650).ack(13);
        assert!(lab.tcp.ssthresh() < before, "the probe has repaired a loss");
        lab.at(660).sack(13, &[(1, 1)]);
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.ssthresh(), u32::MAX, "{congestion:?}");
        assert!(lab.cwnd() < 10, "cwnd was reduced for another loss");
    }
}

#[test]
fn a_probe_that_may_still_cause_a_duplicate_report_counts_toward_an_undo() {
    // tcp_init_undo() counts the retransmission of a probe that no ACK has answered yet.
    for (acked_at, undone) in [(310, 0), (200, 1)] {
        let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..rules(Grows::WhenUsed) });
        lab.write(2).at(acked_at).ack(2);
        lab.at(400).out();
        lab.write(6).at(500).sack(2, &[(4, 6)]);
        assert!(lab.out().contains(&(3, RackLoss)));
        lab.at(600).ack(8);
        lab.at(610).sack(8, &[(3, 3)]);
        assert_eq!(lab.tcp.stats().undone, undone, "{acked_at}");
    }
}

#[test]
fn duplicate_reports_undo_a_timeout_only_with_an_ack_of_new_data() {
    let mut lab = Lab::with_sack(rules(Grows::WhenUsed));
    lab.write(20).out();
    lab.at(1200).ack(1);
    assert_eq!(lab.out(), [(1, Timeout), (11, NewData), (12, NewData)]);
    // All that was sent again has arrived twice.
    lab.at(1210).sack(1, &[(1, 1)]);
    assert_eq!(lab.tcp.info().phase, Phase::TimeoutRecovery);
    assert_eq!(lab.tcp.stats().undone, 0, "tcp_process_loss()");
    lab.at(1220).ack(2);
    assert_eq!(lab.tcp.stats().undone, 1);
}

#[test]
fn a_reordering_timer_goes_on_although_nothing_waits_for_it() {
    let mut lab = stamped(rules(Grows::WhenUsed));
    lab.at(200).ack_with(0, report(100, 4, 6));
    // The original of 1 was only late. 2 and 3 are not looked at before a timeout.
    lab.at(210).ack_with(1, report(100, 4, 6));
    assert_eq!(lab.tcp.stats().undone, 1);
    // 7 is waited for, until it is reported.
    lab.at(220).ack_with(1, report(100, 8, 8));
    let due = lab.tcp.next_deadline();
    assert!(due < Time::ZERO + Span::from_ms(300));
    // Also if it is due already, and the driver late.
    lab.now = due + Span::from_ms(1);
    lab.ack_with(1, report(100, 7, 8));
    assert_eq!(lab.tcp.next_deadline(), due, "tcp_rack_mark_lost() stops no timer");
}

#[test]
fn a_retransmission_that_is_lost_again_turns_the_recovery_of_a_timeout_into_one_of_a_revealed_loss() {
    for (grows, phase) in [(Grows::WhenUsed, Phase::Recovery), (Grows::Always, Phase::TimeoutRecovery)] {
        // No F-RTO: a recovery was under way.
        let mut lab = three_lost(grows);
        lab.at(1250);
        assert_eq!(lab.tcp.info().phase, Phase::TimeoutRecovery);
        lab.at(1300).ack(1).out();
        let ssthresh = lab.tcp.ssthresh();
        // 3 was sent behind 2.
        lab.at(1400).sack(1, &[(3, 6)]);
        assert_eq!(lab.tcp.info().phase, phase, "FLAG_LOST_RETRANS in tcp_fastretrans_alert()");
        assert_eq!(lab.tcp.ssthresh() < ssthresh, phase == Phase::Recovery);
    }
}

#[test]
fn at_a_timeout_a_short_first_segment_is_lost_without_the_recent_one_behind_it() {
    let mut lab = Lab::with_sack(rules(Grows::WhenUsed));
    lab.write_bytes(100).at(1050);
    lab.write(1).at(1110);
    assert_eq!(lab.out().last(), Some(&(1, Timeout)));
    assert_eq!(lab.tcp.info().lost, 0, "tcp_timeout_mark_lost()");
}

#[test]
fn at_a_timeout_segments_that_may_be_reordered_count_as_lost() {
    // tcp_timeout_mark_lost() asks tcp_rack_skb_timeout() with a window of zero.
    for (grows, cwnd) in [(Grows::WhenUsed, 1), (Grows::Always, 2)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(5).at(200).sack(0, &[(3, 3)]).at(201).sack(0, &[(2, 3)]);
        assert_eq!(lab.tcp.info().reorderings, 1);
        lab.at(202).ack(5).at(300).write(1).at(1190).write(1).at(1301);
        assert_eq!((lab.tcp.info().phase, lab.cwnd()), (Phase::TimeoutRecovery, cwnd));
    }
}

fn linux() -> Config {
    Config { limited_transmit: true, ..rules(Grows::WhenUsed) }
}

/// Timestamps with this echo.
fn echo(echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE }
}

#[test]
fn a_mark_beside_duplicate_reports_that_undo_a_recovery_reduces_nothing() {
    // tcp_try_to_open() finds the state of the recovery, in which tcp_enter_cwr() does nothing.
    for (grows, reductions) in [(Grows::WhenUsed, 0), (Grows::Always, 1)] {
        let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..echo(0) };
        let mut config = Config { ecn: EcnUse::Rfc3168, timestamps: true, ..linux() };
        config.growth.grows = grows;
        let mut lab = Lab::open_with(config, offer, Flags::ECE);
        lab.write(10).at(200);
        let block = |from: u32, to: u32| SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) };
        let mut options = echo(100);
        options.sack.push(block(2, 4));
        lab.ack_with(0, options);
        assert_eq!(lab.out()[10..], [(1, RackLoss)]);
        // The original was only late: everything up to 4 is acknowledged, and 1 is reported once more.
        lab.at(210);
        let mut options = echo(205);
        options.sack.push(block(1, 1));
        let flags = ACK | Flags::ECE;
        lab.arrives(Segment { ack: Lab::behind(4), flags, options, ..Segment::default() });
        assert_eq!((lab.tcp.stats().undone, lab.tcp.stats().ecn_reductions), (1, reductions), "{grows:?}");
    }
}

/// Up to ten segments at 100 ms, of `written`, to a peer with timestamps and without SACK.
fn without_sack(config: Config, written: u64) -> Lab {
    let offer = Options { mss: Some(MSS as u16), ..echo(0) };
    let mut lab = Lab::open(Config { timestamps: true, without_sack: WithoutSack::Linux, ..config }, offer);
    lab.write(written).out();
    lab
}

#[test]
fn without_sack_an_echo_undoes_a_timeout_and_f_rto_ends_its_recovery() {
    // tcp_process_loss(): the first one returns early, and the second one opens the state.
    let mut lab = without_sack(linux(), 5);
    lab.at(1150);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.ack_with(1, echo(100));
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, Phase::TimeoutRecovery));
    lab.at(1160).ack_with(2, echo(100));
    assert_eq!(lab.tcp.info().phase, Phase::SlowStart);
    // What was outstanding at the timeout does not prevent another recovery.
    lab.write(3).at(1200);
    for _ in 0..3 {
        lab.ack_with(2, echo(100));
    }
    assert_eq!(lab.out().last(), Some(&(3, FastRetransmit)));
}

#[test]
fn without_sack_an_echo_is_compared_with_the_first_retransmission_also_behind_an_undo() {
    // tcp_try_undo_loss() leaves retrans_stamp as it is, unless all that was outstanding is acknowledged.
    let mut lab = without_sack(linux(), 5);
    lab.at(1150);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.ack_with(1, echo(100));
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, Phase::TimeoutRecovery));
    lab.at(4000);
    assert_eq!(lab.out().first(), Some(&(2, Timeout)));
    lab.ack_with(2, echo(1200));
    assert_eq!(lab.tcp.stats().undone, 1);
}

#[test]
fn without_sack_an_echo_counts_before_what_f_rto_finds() {
    // tcp_process_loss() tries tcp_try_undo_loss() without F-RTO first.
    for (stamp, phase) in [(100, Phase::TimeoutRecovery), (1150, Phase::SlowStart)] {
        let mut lab = without_sack(linux(), 12);
        lab.at(1150).ack_with(1, echo(1100));
        // The second segment was sent once.
        lab.at(1160).ack_with(2, echo(stamp));
        assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, phase), "{stamp}");
    }
}

#[test]
fn without_sack_f_rto_holds_the_state_until_higher_data_is_acknowledged() {
    // tcp_is_non_sack_preventing_reopen() in tcp_try_undo_loss().
    let mut lab = without_sack(linux(), 12);
    lab.at(1150).ack_with(1, echo(1100));
    assert_eq!((lab.out().len(), lab.tcp.info().phase), (3, Phase::TimeoutRecovery));
    lab.at(1160).ack_with(10, echo(1100));
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase), (1, Phase::TimeoutRecovery));
    lab.at(1260).ack_with(11, echo(1150));
    assert_ne!(lab.tcp.info().phase, Phase::TimeoutRecovery);
}

#[test]
fn without_sack_what_duplicates_report_is_delivered_once_also_behind_an_undo() {
    // tcp_try_undo_partial() keeps sacked_out, and tcp_remove_reno_sacks() counts the rest.
    let mut lab = without_sack(Config { congestion: Kind::Bbr, pacing: true, ..linux() }, 10);
    lab.at(200);
    for _ in 0..4 {
        lab.ack_with(0, echo(100));
    }
    lab.at(210).ack_with(3, echo(100));
    // Too few are reported for another recovery.
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().phase == Phase::Recovery), (1, false));
    let before = lab.cwnd();
    lab.at(215).ack_with(10, echo(100));
    assert_eq!(lab.cwnd() - before, 5, "of seven segments two had been reported");
}

#[test]
fn a_corked_segment_that_a_timer_sends_leaves_the_use_of_cwnd_as_it_was() {
    // tcp_write_wakeup() does not call tcp_cwnd_validate().
    let config = Config { transmit: Transmit::Cork, cwnd_counts: CwndCounts::Packets, ..linux() };
    let mut lab = Lab::with_sack(config);
    lab.write(10).at(200).ack(10);
    assert_eq!(lab.cwnd(), 20);
    lab.write_bytes(100).at(1400);
    assert_eq!(lab.out().len(), 11);
    lab.arrives(Segment { ack: Lab::behind(10).plus(100), flags: ACK, ..Segment::default() });
    assert_eq!(lab.cwnd(), 21);
}

#[test]
fn a_tail_loss_probe_is_cut_where_a_window_that_has_shrunk_ends() {
    // __tcp_retransmit_skb() calls tcp_fragment().
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    lab.write(5).at(200).out();
    lab.window = 600;
    lab.ack(4).at(700);
    assert_eq!(lab.out(), [(5, TailProbe)]);
    assert_eq!(lab.sent.last().map(|(_, sent)| sent.segment.payload.len), Some(600));
}

#[test]
fn an_old_segment_does_not_set_the_window_of_a_client() {
    // tcp_may_update_window(): the SYN-ACK has acknowledged our SYN (RFC 9293, section 3.10.7.3, SND.WL2 := SEG.ACK).
    let config = Config { old_segments: OldSegments::Linux, ..plain() };
    let mut client = Lone::established(config, FULL, 5000);
    client.gets(Segment { window: 3000, ..data(0, 1, 1) });
    let written = client.writes(10_000);
    assert_eq!(written.iter().map(|out| out.len).sum::<u32>(), 5000);
    client.gets(Segment { window: 3000, ..segment(ACK, 1, 5001) });
    assert_eq!(client.c.info().unacknowledged, 3000);
}

#[test]
fn data_that_is_sent_soon_after_the_opening_makes_a_connection_interactive() {
    // lrcvtime in tcp_finish_connect(), tcp_event_data_sent(): less than 40 ms. Then the ACK of data waits.
    let acking = profile::by_name("linux").expect("built in").config.acking;
    for (sent, answers) in [(120, 0), (160, 1)] {
        let mut lab = Lab::with_sack(Config { acking, old_segments: OldSegments::Linux, ..linux() });
        lab.at(110);
        let first = lab.seq;
        lab.seq = first.minus(100);
        // Old data begins the quick ACKs.
        let payload = Payload { offset: 0, len: 100 };
        lab.arrives(Segment { ack: Lab::behind(0), flags: ACK, payload, ..Segment::default() });
        lab.seq = first;
        lab.at(sent).write_bytes(100).at(200);
        assert_eq!(lab.data(0, 100).len(), answers, "{sent}");
    }
}

/// A timeout, which the delivery of new data shows to be spurious. `first` segments were sent long before that, and are lost.
fn undone_by_new_data(first: u64) -> Lab {
    let mut lab = Lab::with_sack(linux());
    lab.write(first).at(1090).write(2).at(1150);
    assert_eq!(lab.out().last(), Some(&(1, Timeout)));
    let new = first as u32 + 1;
    lab.at(1190).sack(0, &[(new, new)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    lab
}

#[test]
fn no_more_is_sent_again_than_counts_as_lost_beside_what_an_undo_finds_in_the_network() {
    // tcp_xmit_retransmit_queue(): `retrans_out` has the retransmission of the timeout, `lost_out` has not.
    assert_eq!(undone_by_new_data(2).out(), []);
    assert_eq!(undone_by_new_data(3).out(), [(2, RackLoss)]);
}

#[test]
fn a_retransmission_that_the_ack_of_an_undo_reports_is_not_in_the_network_beside_its_original() {
    // tcp_sacktag_one() takes the marks of loss and retransmission from it, before the undo could take the first alone.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    lab.write(4).at(1350);
    assert_eq!(lab.out()[4..], [(4, TailProbe), (1, Timeout)]);
    lab.at(1400).sack(1, &[(1, 1), (3, 4)]);
    assert_eq!(lab.out(), [(2, RackLoss)]);
}

#[test]
fn the_rest_of_a_reported_segment_gives_no_round_trip_sample() {
    // tcp_clean_rtx_queue() passes over TCPCB_SACKED_ACKED.
    let mut lab = Lab::with_sack(linux());
    lab.write(3).at(200).sack(0, &[(2, 3)]);
    lab.arrives(Segment { ack: Lab::behind(1).plus(500), flags: ACK, ..Segment::default() });
    let samples = lab.tcp.stats().rtt_samples;
    lab.at(210).ack(3);
    assert_eq!(lab.tcp.stats().rtt_samples, samples);
}

#[test]
fn new_data_behind_a_recovery_lets_a_tail_loss_probe_take_the_place_of_the_reordering_timer() {
    // tcp_schedule_loss_probe(): the state is open again. What waits was sent before the last retransmission.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    lab.write(40).at(200).sack(0, &[(2, 4)]).at(210).sack(0, &[(2, 8)]);
    assert!(lab.out().contains(&(11, NewData)));
    lab.at(215).sack(0, &[(2, 8), (10, 10)]);
    assert!(lab.out().contains(&(9, RackLoss)));
    lab.at(320).ack(11);
    assert!(lab.out().iter().any(|sent| sent.1 == NewData));
    assert!(lab.tcp.next_deadline() > Time::ZERO + Span::from_ms(500));
}

#[test]
fn an_ack_that_closes_the_window_forgets_no_timeout_of_outstanding_data() {
    // icsk_retransmits in tcp_ack().
    let mut lab = Lab::with_sack(linux());
    lab.write(2).at(1200);
    lab.window = 0;
    lab.ack(0);
    assert_eq!(lab.tcp.info().unanswered, 1);
}

#[test]
fn a_server_of_which_nothing_was_acknowledged_takes_all_for_lost_after_a_timeout() {
    // tcp_synack_rtt_meas() gives RACK no RTT, so tcp_timeout_mark_lost() marks what was sent just before, too.
    let lost = |answers: bool| {
        let config = profile::by_name("linux").expect("a profile").config.clone();
        let mut lone = Lone::listening(config);
        lone.gets(Segment { options: Options { sack_permitted: true, ..FULL }, ..segment(SYN, 0, 0) });
        lone.passes(Span::from_ms(100));
        lone.gets(segment(ACK, 1, 1));
        if answers {
            lone.writes(1000);
            lone.passes(Span::from_ms(100));
            lone.gets(segment(ACK, 1, 1001));
        }
        lone.writes(1000);
        // The timer expires after 600 ms, and a round trip takes 100 ms.
        lone.passes(Span::from_ms(550));
        lone.writes(1000);
        let out = lone.passes(Span::from_ms(60));
        assert_eq!(out[0].reason, Timeout);
        lone.c.info().lost
    };
    assert_eq!((lost(false), lost(true)), (1000, 0), "besides the one that was sent again");
}

#[test]
fn what_a_second_timeout_counts_as_lost_again_needs_no_d_sack_of_its_own() {
    // tcp_enter_loss(): tcp_timeout_mark_lost() before tcp_init_undo(), so retrans_out no longer counts it.
    let mut lab = Lab::with_sack(linux());
    lab.write(3).at(1300).ack(1).at(1400).ack(2);
    assert_eq!(lab.out().last(), Some(&(3, GoBackN)));
    let again = (1401..5000).find(|&ms| lab.at(ms).out() == [(3, Timeout)]).expect("a second timeout");
    lab.at(again + 150).sack(3, &[(3, 3)]);
    assert_eq!(lab.tcp.stats().undone, 1);
}
