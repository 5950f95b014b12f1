//! Recovery without SACK as in Linux: duplicate ACKs count as reports of segments.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, PrrRule, Recovery, WithoutSack};
use netspurt_tcp::congestion;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, GoBackN, LimitedTransmit, NewData, PartialAck, Timeout};

fn counting() -> Config {
    Config {
        without_sack: WithoutSack::Linux,
        limited_transmit: true,
        tail_loss_probe: true,
        prr: true,
        prr_rule: PrrRule::Linux,
        congestion: congestion::Kind::RenoLinux,
        ..config(Recovery::Rack)
    }
}

/// Ten segments out at 100 ms, of `written`, to a peer without SACK; a round trip takes 100 ms.
fn ten(config: Config, written: u64) -> Lab {
    let mut lab = Lab::plain(config);
    lab.write(written);
    assert_eq!(lab.out().len(), 10);
    lab.at(200);
    lab
}

#[test]
fn each_duplicate_ack_makes_room_for_a_segment_and_the_third_reveals_the_loss() {
    let mut lab = ten(counting(), 40);
    lab.acks(0, 2);
    assert_eq!(lab.out(), [(11, LimitedTransmit), (12, LimitedTransmit)]);
    lab.ack(0);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
}

#[test]
fn cwnd_falls_in_proportion_to_what_duplicates_report() {
    let mut lab = ten(counting(), 60);
    let sent: Vec<usize> = (0..9)
        .map(|_| {
            lab.ack(0);
            lab.out().len()
        })
        .collect();
    // Two by limited transmit. Then cwnd falls from ten to five: about every second ACK sends a segment.
    assert!((3..=5).contains(&sent[2..].iter().sum::<usize>()), "{sent:?}");
    assert!(sent.iter().all(|&n| n <= 1), "no burst: {sent:?}");
}

#[test]
fn a_partial_ack_shows_the_next_loss_without_further_duplicates() {
    let mut lab = ten(counting(), 40);
    // 1, 5 and 8 are lost; the other seven are reported, and 11 to 14 leave.
    lab.acks(0, 7).out();
    // PRR permits the repair once fewer segments are in the network than ssthresh.
    lab.at(300).acks(4, 2);
    assert_eq!(lab.out(), [(5, PartialAck)]);
    lab.acks(4, 3).at(400).ack(7);
    assert!(lab.out().contains(&(8, PartialAck)));
    assert_eq!((lab.tcp.stats().fast_retransmits, lab.tcp.stats().timeouts), (1, 0));
}

#[test]
fn duplicates_of_the_data_that_was_outstanding_at_the_loss_begin_no_second_recovery() {
    let mut lab = ten(counting(), 60);
    lab.acks(0, 3).out();
    // 12 is the last segment that was outstanding.
    lab.at(300).ack(12).out();
    lab.acks(12, 4);
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
    assert!(lab.out().iter().all(|&(n, why)| n > 12 && why == NewData));
    // An ACK beyond it ends the recovery: then duplicates count again.
    lab.at(400).ack(13).acks(13, 3);
    assert_eq!(lab.tcp.stats().fast_retransmits, 2);
}

#[test]
fn a_timeout_loses_everything_and_no_probe_comes_before_it() {
    let mut lab = ten(counting(), 10);
    lab.at(1150);
    assert_eq!(lab.timed(), [(1100, 1, Timeout)]);
    lab.at(1200).ack(1);
    assert_eq!(lab.out(), [(2, Timeout), (3, GoBackN)], "slow start over what was lost");
}

#[test]
fn a_recovery_that_an_echo_shows_to_be_a_mistake_is_undone() {
    let stamps = Config { timestamps: true, undo: true, ..counting() };
    let offer = Options { mss: Some(MSS as u16), timestamps: Some(Timestamps::default()), ..Options::NONE };
    let echo =
        |sent_ms| Options { timestamps: Some(Timestamps { value: 1, echo: sent_ms }), ..Options::NONE };
    let mut lab = Lab::open(stamps, offer);
    lab.write(40);
    let cwnd = lab.cwnd();
    lab.at(200);
    (0..3).for_each(|_| {
        lab.ack_with(0, echo(100));
    });
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
    // The original of the first segment comes late.
    lab.at(210).ack_with(10, echo(100));
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.cwnd() >= cwnd);
}

#[test]
fn without_the_choice_a_peer_without_sack_meets_rfc_6582() {
    let mut lab = ten(Config { without_sack: WithoutSack::NewReno, prr: false, ..counting() }, 40);
    lab.acks(0, 3);
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
    assert_eq!(lab.tcp.info().recovery_window, None, "cwnd is inflated instead");
}

#[test]
fn new_data_after_a_timeout_shows_whether_it_was_spurious() {
    let mut lab = ten(Config { undo: true, ..counting() }, 40);
    let cwnd = lab.cwnd();
    lab.at(1150);
    assert_eq!(lab.timed(), [(1100, 1, Timeout)]);
    // 1 was sent twice: which transmission this ACK answers is unknown. New data is sent to find out.
    lab.at(1200).ack(4);
    assert_eq!(lab.out()[0], (11, NewData));
    assert_eq!(lab.tcp.stats().undone, 0);
    // 5 was sent once.
    lab.at(1210).ack(5);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.cwnd() >= cwnd);
}
