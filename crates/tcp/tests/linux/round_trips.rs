//! RTT samples as in Linux (`tcp_ack_update_rtt()`), and ACKs that show nothing new.

use crate::as_linux_recovery::{report, stamped};
use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, Counting, Grows, PrrRule, Recovery, Reduces};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{NewData, RackLoss, TailProbe, Timeout};
use netspurt_tcp::rto;
use netspurt_tcp::time::Span;
use std::collections::BTreeSet;

fn linux() -> Config {
    let mut config = config(Recovery::Rack);
    config.growth.grows = Grows::WhenUsed;
    config.growth.counting = Counting::Bytes { limit: u8::MAX };
    config.rto =
        rto::Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(1) };
    Config { prr: true, prr_rule: PrrRule::Linux, reduces: Reduces::Cwnd, undo: true, ..config }
}

fn srtt_us(lab: &Lab) -> u64 {
    lab.tcp.srtt().expect("a sample").as_ps() / 1_000_000
}

#[test]
fn the_first_segment_that_a_duplicate_ack_reports_gives_a_sample() {
    let mut lab = Lab::with_sack(linux());
    lab.write(10);
    assert_eq!(srtt_us(&lab), 100_000);
    lab.at(260).sack(0, &[(2, 2)]);
    assert_eq!(srtt_us(&lab), 107_500, "an eighth of 160 ms");
    lab.at(300).sack(0, &[(2, 2)]);
    assert_eq!(srtt_us(&lab), 107_500, "nothing new");
}

#[test]
fn an_ack_of_data_of_which_some_was_sent_again_gives_the_age_of_the_echo() {
    let mut lab = stamped(linux());
    lab.at(200).ack_with(0, report(100, 2, 4));
    assert_eq!(lab.out()[0], (1, RackLoss));
    let before = srtt_us(&lab);
    // 5 was sent once, and 300 ms ago. The echo is 100 ms old.
    lab.at(400)
        .ack_with(5, Options { timestamps: Some(Timestamps { value: 1, echo: 300 }), ..Options::NONE });
    assert_eq!(srtt_us(&lab), before, "a sample of 100 ms");
}

#[test]
fn without_timestamps_such_an_ack_gives_none() {
    let mut lab = Lab::with_sack(linux());
    lab.write(10);
    lab.at(200).sack(0, &[(2, 4)]);
    assert_eq!(lab.out()[10], (1, RackLoss));
    let before = (srtt_us(&lab), lab.tcp.rto());
    lab.at(400).ack(5);
    assert_eq!((srtt_us(&lab), lab.tcp.rto()), before);
}

#[test]
fn a_report_ends_the_round_trip_of_the_estimator_that_acks_without_a_sample_have_passed() {
    // tcp_rtt_estimator() compares rtt_seq with what is acknowledged; the sample itself may be of a report.
    let min = Span::from_ms(50);
    let rto = rto::Kind::Linux { min, max: Span::from_secs(120), initial: Span::from_secs(1) };
    let mut lab = Lab::with_sack(Config { rto, ..linux() });
    lab.write(12).at(200).ack(2).out();
    lab.at(210).sack(2, &[(4, 6)]).out();
    let before = lab.tcp.rto();
    lab.at(320).ack(12).write(3).out();
    assert_eq!(lab.tcp.rto(), before, "segment 3 was sent twice");
    lab.at(420).sack(12, &[(14, 14)]);
    let srtt_falls = Span::from_ms(2);
    assert!(lab.tcp.rto() + srtt_falls < before, "the deviation falls, too: {:?}", lab.tcp.rto());
}

#[test]
fn an_old_ack_reveals_losses_and_opens_no_window() {
    let mut lab = Lab::with_sack(linux());
    lab.write(40);
    lab.at(200).ack(2);
    let before = lab.cwnd();
    lab.at(201).sack(1, &[(4, 5)]);
    assert_eq!(lab.cwnd(), before);
    // The probe for the reordering window of a quarter of 100 ms is on.
    lab.at(230).out();
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
}

#[test]
fn an_ack_that_delivers_nothing_does_not_look_for_losses() {
    let mut lab = Lab::with_sack(Config { reordering_tick: Span::from_ms(4), ..linux() });
    lab.write(10);
    lab.at(200).sack(0, &[(2, 2)]);
    lab.out();
    // 1 has been lost since 225 ms, and the timer, which counts ticks, is due at 236 ms.
    lab.at(230).sack(0, &[(2, 2)]);
    assert_eq!(lab.out(), [], "tcp_rack_mark_lost() returns: rack.advanced");
    lab.at(240);
    assert_eq!(lab.out()[0], (1, RackLoss));
}

#[test]
fn a_report_of_a_duplicate_alone_opens_no_window() {
    let mut lab = Lab::with_sack(Config { undo: false, ..linux() });
    lab.write(40);
    // Reordering of more than three segments: from now on reports alone open cwnd.
    lab.at(200).sack(0, &[(6, 6)]).ack(6);
    assert!(lab.tcp.info().reordering_extent > u64::from(3 * MSS));
    // The recovery of 7 ends, and something is outstanding.
    lab.at(300).sack(6, &[(8, 12)]);
    lab.at(400).out();
    lab.at(420).ack(20);
    assert!(lab.tcp.stats().retransmitted > 0);
    let before = lab.cwnd();
    lab.at(430).sack(20, &[(7, 7)]);
    assert_eq!(lab.cwnd(), before, "FLAG_FORWARD_PROGRESS");
}

#[test]
fn what_was_sent_again_and_reported_since_is_not_in_the_network_again() {
    let mut lab = Lab::with_sack(linux());
    lab.write(10);
    lab.at(200).sack(0, &[(5, 7)]);
    lab.at(210).sack(0, &[(5, 8)]);
    lab.at(310).sack(0, &[(2, 2), (5, 8)]);
    let repairs = lab.sent.iter().filter(|(_, sent)| sent.reason == RackLoss);
    let again = repairs.map(|(_, sent)| sent.segment.seq.0).collect::<BTreeSet<u32>>().len() as u64;
    assert!(again >= 3);
    assert_eq!(lab.tcp.info().resent, (again - 1) * u64::from(MSS), "tcpi_retrans");
}

#[test]
fn an_ack_of_a_retransmission_gives_no_least_rtt() {
    // tcp_clean_rtx_queue(): what was sent behind it may have waited for it.
    let mut lab = Lab::with_sack(linux());
    lab.write(4);
    lab.at(200).sack(0, &[(2, 4)]);
    assert_eq!(lab.out().last(), Some(&(1, RackLoss)));
    lab.at(290).write(1).at(310).ack(5);
    assert_eq!(lab.out(), [(5, NewData)]);
    assert_eq!(lab.tcp.info().min_rtt, Some(Span::from_ms(100)), "not 20 ms");
}

#[test]
fn new_data_beside_a_report_ends_the_wait_for_a_probe() {
    // tcp_event_new_data_sent(): the retransmission timer takes its place, and counts from the first segment.
    let mut lab = Lab::with_sack(Config { tail_loss_probe: true, ..linux() });
    let mut ms = 100;
    for n in 1..=60 {
        ms += 100 + 15 * u64::from(n.min(20));
        lab.write(1).at(ms).ack(n);
    }
    lab.out();
    // The timeout ends before two round trips.
    lab.write(2).out();
    let probe = (ms..ms + 900).find(|&ms| lab.at(ms).out() == [(62, TailProbe)]).expect("a probe");
    lab.at(probe + 10).write(1).out();
    // It comes too soon for the probe, so it shows no loss.
    lab.at(probe + 60).sack(60, &[(62, 62)]).write(1).at(probe + 100);
    assert_eq!(lab.out(), [(64, NewData), (61, Timeout)]);
}

#[test]
fn cubic_takes_the_round_trips_of_a_recovery() {
    // tcp_clean_rtx_queue() calls pkts_acked in each state; cubictcp_acked() ignores samples only for a second afterwards.
    let mut lab = Lab::with_sack(Config { congestion: Kind::CubicLinux, ..linux() });
    lab.write(40).at(200).sack(0, &[(2, 4)]);
    // Its 100 ms ahead of now, the curve is at 8; the 250 ms of the ACK that ends the recovery ahead, it would be at 9.
    lab.at(350).ack(10);
    assert_eq!(lab.cwnd(), 8);
}

#[test]
fn cubic_takes_the_round_trip_of_what_an_ack_reports_before_that_of_what_it_acknowledges() {
    // ca_rtt_us in tcp_clean_rtx_queue()
    let mut lab = Lab::with_sack(Config { congestion: Kind::CubicLinux, ..linux() });
    lab.write(3).at(340).write(37);
    lab.at(380).sack(1, &[(4, 10)]);
    // The last reported segment has taken 40 ms, the acknowledged one 280, and the retransmissions 270. So far ahead, the curve is at
    // 8, or at 9.
    lab.at(650).ack(10).at(750).ack(17);
    assert_eq!(lab.cwnd(), 8);
}
