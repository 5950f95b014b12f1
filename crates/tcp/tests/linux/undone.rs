//! What an undo leaves, which D-SACKs lead to one, and from when a timeout counts, as in Linux.

use crate::as_linux_recovery::{report, stamped};
use crate::lab::Lab;
use crate::recounted::rules;
use netspurt_tcp::config::Grows;
use netspurt_tcp::event::Phase;
use netspurt_tcp::reason::Reason::{NewData, RackLoss, Timeout};
use netspurt_tcp::time::{Span, Time};

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
fn duplicate_reports_that_undo_a_recovery_leave_what_is_lost() {
    let mut lab = three_lost(Grows::WhenUsed);
    lab.at(210).sack(1, &[(1, 1), (4, 6)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.out()[0], (2, RackLoss), "tcp_try_undo_dsack() comes before tcp_time_to_recover()");
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
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
    lab.at(225).ack_with(1, report(100, 7, 8));
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
