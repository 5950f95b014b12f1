//! RFC 5682 with SACK, and what a timeout does to SACK reports.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Recovery};
use netspurt_tcp::reason::Reason::{GoBackN, NewData, RackLoss, Timeout};
use netspurt_tcp::segment::{Flags, Segment};

/// Ten segments of `written` are sent at 100 ms. Spurious recoveries are undone.
fn ten(written: u64) -> Lab {
    let mut lab = Lab::with_sack(Config { undo: true, ..config(Recovery::Rack) });
    lab.write(written);
    assert_eq!(lab.out().len(), 10);
    lab
}

#[test]
fn new_data_is_sent_before_lost_data_when_the_retransmission_of_a_timeout_is_acknowledged() {
    let mut lab = ten(40);
    lab.at(1150);
    assert_eq!(lab.timed(), [(1100, 1, Timeout)]);
    lab.at(1200).ack(1);
    assert_eq!(lab.out(), [(11, NewData), (12, NewData)]);
    // The peer reports the new data above the gap: the timeout was real.
    lab.at(1300).sack(1, &[(11, 11)]).sack(1, &[(11, 12)]);
    assert_eq!(lab.out()[0], (2, Timeout));
    assert_eq!(lab.tcp.stats().undone, 0);
}

#[test]
fn without_new_data_lost_data_is_retransmitted_when_the_retransmission_of_a_timeout_is_acknowledged() {
    let mut lab = ten(10);
    lab.at(1150).at(1200).ack(1);
    assert_eq!(lab.out(), [(1, Timeout), (2, Timeout), (3, GoBackN)]);
}

#[test]
fn a_segment_sent_once_that_is_acknowledged_after_new_data_shows_that_a_timeout_was_spurious() {
    let mut lab = ten(40);
    let before = lab.cwnd();
    lab.at(1150).at(1200).ack(1);
    lab.at(1210).ack(2);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.cwnd() >= before);
    assert!(lab.out().iter().all(|&(n, why)| n == 1 || why == NewData), "nothing else is retransmitted");
}

#[test]
fn a_segment_sent_once_that_is_reported_by_sack_shows_that_a_timeout_was_spurious() {
    let mut lab = ten(40);
    lab.at(1150).at(1160).sack(0, &[(3, 3)]);
    assert_eq!(lab.tcp.stats().undone, 1);
}

#[test]
fn a_part_of_a_segment_sent_once_does_not_show_that_a_timeout_was_spurious() {
    // Linux looks at segments that are acknowledged as a whole (tcp_clean_rtx_queue()).
    let undone = |part: u32| {
        let mut lab = ten(10);
        lab.at(1150).at(1200);
        lab.arrives(Segment { ack: Lab::behind(1).plus(part), flags: Flags::ACK, ..Segment::default() });
        lab.tcp.stats().undone
    };
    assert_eq!([undone(MSS - 1), undone(MSS)], [0, 1]);
}

#[test]
fn new_data_that_is_reported_by_sack_does_not_show_that_a_timeout_was_spurious() {
    let mut lab = ten(40);
    lab.at(1150).at(1200).ack(1);
    lab.at(1300).sack(1, &[(11, 12)]);
    assert_eq!(lab.tcp.stats().undone, 0);
}

#[test]
fn a_timeout_during_a_recovery_is_not_taken_for_spurious() {
    let mut lab = ten(40);
    lab.at(200).sack(0, &[(5, 8)]);
    assert_eq!(lab.out()[0], (1, RackLoss));
    // The retransmissions are lost; 9 and 10 arrive after the timeout.
    lab.at(2000);
    assert!(lab.out().contains(&(1, Timeout)));
    lab.at(2010).sack(0, &[(5, 10)]);
    lab.at(2020).ack(1);
    assert!(lab.out().iter().all(|&(n, _)| n <= 4), "lost data comes first");
    assert_eq!(lab.tcp.stats().undone, 0);
}

#[test]
fn two_timeouts_in_a_row_keep_what_sack_has_reported() {
    let mut lab = ten(10);
    lab.at(200).sack(0, &[(5, 8)]);
    lab.at(1300).at(3500);
    assert_eq!(lab.tcp.stats().timeouts, 2);
    lab.out();
    // The retransmission arrives at last: of the others, only what was never reported is retransmitted.
    lab.at(3600).ack(1);
    lab.at(3700).ack(3);
    lab.at(3800).ack(8);
    lab.at(3900).ack(10);
    let again: Vec<u64> = lab.out().into_iter().map(|(n, _)| n).collect();
    assert!(again.iter().all(|n| !(5..=8).contains(n)), "{again:?}");
    assert_eq!((lab.tcp.stats().undone, lab.tcp.stats().timeouts), (0, 2));
}

#[test]
fn a_peer_that_has_discarded_reported_data_gets_all_of_it_again_and_nothing_is_undone() {
    let mut lab = ten(10);
    lab.at(200).sack(0, &[(2, 4)]);
    assert_eq!(lab.out(), [(1, RackLoss)]);
    // It acknowledges the retransmission, but not the data that it has reported.
    lab.at(300).ack(1);
    lab.at(2000);
    assert!(lab.tcp.stats().timeouts >= 1);
    for n in 2..=10 {
        lab.at(2000 + 10 * u64::from(n)).ack(n);
    }
    let again: Vec<u64> = lab.out().into_iter().map(|(n, _)| n).collect();
    assert!((2..=10).all(|n| again.contains(&n)), "{again:?}");
    assert_eq!(lab.tcp.stats().undone, 0);
}
