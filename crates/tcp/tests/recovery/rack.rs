//! RFC 8985 at work: which segment, when, and why; with the reduction of RFC 6937, and what undoes a mistake.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{Config, PrrRule, Recovery};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{LimitedTransmit, NewData, RackLoss, TailProbe, TailProbeData, Timeout};
use netspurt_tcp::rto;
use netspurt_tcp::time::Span;

fn rack() -> Config {
    Config { tail_loss_probe: true, ..config(Recovery::Rack) }
}

/// Ten segments out at 100 ms, of `written`; a round trip takes 100 ms, as the handshake has shown.
fn ten(config: Config, written: u64) -> Lab {
    let mut lab = Lab::with_sack(config);
    lab.write(written);
    assert_eq!(lab.out().len(), 10);
    lab
}

/// With timestamps: the peer echoes ours as of `sent_ms`.
fn echo(sent_ms: u32) -> Options {
    Options { timestamps: Some(Timestamps { value: 1, echo: sent_ms }), ..Options::NONE }
}

#[test]
fn three_reports_above_a_hole_are_enough_while_nothing_was_ever_reordered() {
    let mut lab = ten(rack(), 40);
    lab.at(200).sack(0, &[(2, 2)]).sack(0, &[(2, 3)]);
    assert_eq!(lab.out(), [(11, LimitedTransmit), (12, LimitedTransmit)], "what is reported makes room");
    lab.sack(0, &[(2, 4)]);
    assert_eq!(lab.out()[0], (1, RackLoss));
    assert_eq!((lab.tcp.stats().fast_retransmits, lab.tcp.stats().timeouts), (1, 0));
}

#[test]
fn a_single_report_is_waited_upon_for_a_quarter_of_the_round_trip() {
    let mut lab = ten(Config { tail_loss_probe: false, ..rack() }, 10);
    lab.at(200).sack(0, &[(2, 2)]);
    assert_eq!(lab.out(), []);
    lab.at(224);
    assert_eq!(lab.out(), []);
    lab.at(230);
    assert_eq!(lab.timed(), [(225, 1, RackLoss)], "sent at 100, 100 ms of round trip and 25 more");
}

#[test]
fn data_that_arrives_within_the_reordering_window_is_not_retransmitted() {
    let mut lab = ten(Config { tail_loss_probe: false, ..rack() }, 10);
    lab.at(200).sack(0, &[(2, 2)]);
    lab.at(220).ack(2);
    // Now that reordering was seen, three reports are waited upon as well.
    lab.at(222).sack(2, &[(4, 6)]);
    lab.at(240);
    assert_eq!(lab.out(), []);
    lab.ack(6).at(300).ack(10);
    assert_eq!((lab.out(), lab.tcp.stats().retransmitted), (vec![], 0));
}

#[test]
fn blocks_of_one_ack_in_another_order_than_their_positions_show_no_reordering() {
    // The peer names what arrived last first (RFC 2018, section 4), and one ACK reports several arrivals when others were lost.
    let mut lab = ten(rack(), 40);
    lab.at(200).sack(0, &[(6, 6), (2, 4)]);
    assert_eq!(lab.out()[0], (1, RackLoss), "three reports are enough");
    assert_eq!(lab.tcp.info().reorderings, 0);
}

#[test]
fn a_lost_retransmission_is_noticed_without_a_timeout() {
    let mut lab = ten(rack(), 40);
    lab.at(200).sack(0, &[(2, 4)]);
    assert_eq!(lab.out()[0], (1, RackLoss));
    // What left after the retransmission comes back at 300; the retransmission does not.
    lab.at(210).sack(0, &[(2, 10)]);
    let after = lab.out();
    let newest = after.last().unwrap().0 as u32;
    assert!(newest > 10, "{after:?}");
    lab.at(310).sack(0, &[(2, newest)]);
    lab.at(340);
    assert_eq!(lab.out()[0], (1, RackLoss));
    assert_eq!(lab.tcp.stats().timeouts, 0);
}

#[test]
fn a_retransmission_with_a_shorter_rtt_than_queued_data_is_not_taken_for_the_original() {
    let mut lab = ten(Config { prr: false, tail_loss_probe: false, ..rack() }, 10);
    // The handshake took 100 ms, what was sent first twice as long.
    lab.at(300).sack(0, &[(3, 5)]);
    assert_eq!(lab.out(), [(1, RackLoss)]);
    lab.at(305).sack(0, &[(3, 10)]);
    assert_eq!(lab.out(), [(2, RackLoss)]);
    lab.at(455).sack(0, &[(2, 10)]);
    assert_eq!(
        lab.timed(),
        [(455, 1, RackLoss)],
        "the second comes back after 150 ms, the first is lost again"
    );
}

#[test]
fn a_lost_tail_is_probed_for_after_two_round_trips() {
    let mut lab = ten(rack(), 10);
    lab.at(200).ack(8);
    assert_eq!(lab.out(), []);
    // 9 and 10 are lost. The timeout would be a second later.
    lab.at(600);
    assert_eq!(lab.timed(), [(400, 10, TailProbe)]);
    // Its report shows that 9 is lost too.
    let mut lab = ten(rack(), 10);
    lab.at(200).ack(8).at(500).sack(8, &[(10, 10)]);
    lab.at(530);
    let sent = lab.timed();
    assert_eq!(sent[0], (400, 10, TailProbe));
    assert_eq!((sent[1].1, sent[1].2), (9, RackLoss));
    assert!(sent[1].0 <= 525, "{sent:?}");
    lab.at(630).ack(10);
    assert_eq!(lab.tcp.stats().timeouts, 0);
}

/// RFC 8985, section 7.2: where the timer would run out before the probe is due, the probe leaves in its place.
#[test]
fn a_probe_takes_the_place_of_a_timeout_that_would_come_before_it() {
    let rto =
        rto::Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(1) };
    let mut lab = Lab::with_sack(Config { rto, ..rack() });
    lab.write(1);
    lab.out();
    // Smoothed 100 ms and 200 ms of variation; a lone segment's probe would wait for 400.
    lab.at(1100);
    assert_eq!(lab.timed(), [(400, 1, TailProbe), (700, 1, Timeout)]);
}

#[test]
fn a_probe_carries_new_data_if_there_is_any() {
    let mut lab = ten(rack(), 40);
    lab.at(500);
    assert_eq!(lab.timed(), [(300, 11, TailProbeData)], "beyond cwnd");
    // And there is one probe, then the timeout.
    lab.at(1400);
    assert_eq!(lab.timed(), [(1300, 1, Timeout)]);
}

#[test]
fn new_data_behind_a_probe_lets_the_timeout_count_from_the_first_segment() {
    // RFC 8985, section 7.2: new data starts the timer of a probe, but only one probe is sent at a time. Linux then counts
    // the timeout from the first segment (`tcp_send_loss_probe()`, `tcp_rearm_rto()`).
    for (written_at, timeout_at) in [(500, 1100), (1000, 1100), (1150, 1350)] {
        let mut lab = Lab::with_sack(rack());
        lab.write(5).out();
        lab.at(written_at);
        assert_eq!(lab.timed(), [(300, 5, TailProbe)]);
        lab.write(1).at(2000);
        let sent = lab.timed();
        assert_eq!(sent.get(1), Some(&(timeout_at, 1, Timeout)), "{sent:?}");
    }
}

#[test]
fn a_probe_that_repaired_the_loss_by_itself_makes_the_window_fall() {
    let mut lab = ten(rack(), 10);
    lab.at(200).ack(9).at(650);
    assert_eq!(lab.timed(), [(600, 10, TailProbe)], "the ACK of a lone segment may be delayed");
    let before = lab.cwnd();
    lab.ack(10);
    // Whatever lies behind it tells that it arrived once.
    lab.write(2).at(750).ack(11);
    assert!(lab.cwnd() < before, "{} of {before}", lab.cwnd());
    assert_eq!(lab.tcp.stats().timeouts, 0);
}

#[test]
fn a_probe_that_arrives_twice_changes_nothing() {
    let mut lab = ten(rack(), 10);
    lab.at(200).ack(9).at(650);
    assert_eq!(lab.timed(), [(600, 10, TailProbe)], "the ACK of a lone segment may be delayed");
    let before = lab.cwnd();
    lab.ack(10).sack(10, &[(10, 10)]);
    lab.write(2).at(750).ack(11);
    assert!(lab.cwnd() >= before);
}

#[test]
fn the_window_falls_in_proportion_to_what_arrives() {
    [PrrRule::Rfc6937, PrrRule::Rfc9937, PrrRule::Linux].into_iter().for_each(falls_in_proportion);
}

fn falls_in_proportion(prr_rule: PrrRule) {
    let mut lab = ten(Config { prr: true, prr_rule, ..rack() }, 60);
    // 1 is lost, nine others are reported one by one: five leave, the retransmission among them.
    let mut sent = Vec::new();
    for n in 2..=10 {
        lab.at(198 + u64::from(n)).sack(0, &[(2, n)]);
        sent.push(lab.out().len());
    }
    let limited = sent[..2].iter().sum::<usize>();
    assert_eq!(limited, 2, "one for each of the first two reports");
    let left = sent[2..].iter().sum::<usize>();
    assert!((4..=5).contains(&left), "{sent:?}");
    assert!(sent.iter().all(|&n| n <= 1), "no burst: {sent:?}");
}

#[test]
fn after_a_timeout_only_what_is_lost_is_sent_again() {
    let mut lab = ten(Config { tail_loss_probe: false, ..rack() }, 40);
    lab.at(1150);
    assert_eq!(lab.timed(), [(1100, 1, Timeout)]);
    // The peer had all but the first.
    lab.at(1200).ack(10);
    let out = lab.out();
    assert!(out.iter().all(|&(n, why)| n > 10 && why == NewData), "{out:?}");
    assert_eq!(lab.tcp.stats().retransmitted, 1);
}

#[test]
fn a_timeout_that_an_echo_shows_to_be_a_mistake_is_undone() {
    let with_stamps = Config { timestamps: true, undo: true, tail_loss_probe: false, ..rack() };
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Options::NONE
    };
    let mut lab = Lab::open(with_stamps, offer);
    lab.write(40);
    let (cwnd, ssthresh) = (lab.cwnd(), lab.tcp.ssthresh());
    lab.at(1150);
    assert_eq!(lab.tcp.stats().timeouts, 1);
    assert_eq!(lab.cwnd(), 1);
    // The ACK of the original comes late: it echoes what left at 100 ms.
    lab.at(1160).ack_with(1, echo(100));
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.cwnd() >= cwnd && lab.tcp.ssthresh() == ssthresh);
    let again = lab.tcp.stats().retransmitted;
    lab.at(1200).ack_with(10, echo(100));
    assert_eq!(lab.tcp.stats().retransmitted, again, "nothing else goes again");
}

#[test]
fn a_timeout_that_an_echo_confirms_is_not_undone() {
    let with_stamps = Config { timestamps: true, undo: true, tail_loss_probe: false, ..rack() };
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Options::NONE
    };
    let mut lab = Lab::open(with_stamps, offer);
    lab.write(10);
    lab.at(1150).at(1200).ack_with(1, echo(1100));
    assert_eq!((lab.tcp.stats().timeouts, lab.tcp.stats().undone), (1, 0));
}

#[test]
fn a_timestamp_that_we_never_sent_undoes_nothing() {
    let with_stamps = Config { timestamps: true, undo: true, tail_loss_probe: false, ..rack() };
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Options::NONE
    };
    // Older than the connection, modulo 2^32.
    for invented in [u32::MAX - 10, u32::MAX - 100_000, (1 << 31) + 2000] {
        let mut lab = Lab::open(with_stamps.clone(), offer);
        lab.write(40);
        lab.at(1150);
        assert_eq!(lab.tcp.stats().timeouts, 1);
        lab.at(1160).ack_with(1, echo(invented));
        assert_eq!(lab.tcp.stats().undone, 0, "{invented}");
    }
}

#[test]
fn a_recovery_is_undone_once_all_that_was_sent_again_is_reported_twice() {
    let mut lab = ten(Config { undo: true, tail_loss_probe: false, ..rack() }, 10);
    lab.at(200).sack(0, &[(2, 4)]);
    assert_eq!(lab.out(), [(1, RackLoss)]);
    let low = lab.cwnd();
    lab.at(210).ack(10);
    // The original was only late; the retransmission arrives as well.
    lab.at(300).sack(10, &[(1, 1)]);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.cwnd() > low && lab.cwnd() >= 10, "{}", lab.cwnd());
}

#[test]
fn a_peer_without_sack_is_served_by_duplicate_acks() {
    let mut lab = Lab::plain(rack());
    lab.write(10);
    lab.out();
    lab.at(200).acks(0, 3);
    assert_eq!(lab.out()[0].0, 1);
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
}

#[test]
fn what_left_in_a_recovery_and_was_lost_is_a_loss_of_its_own_though_it_was_sent_again_before_the_end() {
    // Of ten, 1 and 10 are lost, the latter found out later; of what leaves meanwhile, 11 or nothing.
    let recoveries = |lost: bool| {
        let mut lab = ten(Config { tail_loss_probe: false, ..rack() }, 40);
        lab.at(200).sack(0, &[(2, 4)]);
        assert_eq!(lab.out()[0], (1, RackLoss));
        lab.at(210).sack(0, &[(2, 9)]);
        assert_eq!(lab.out()[..2], [(11, NewData), (12, NewData)]);
        let at_300 = lab.at(300).ack(9).out();
        assert_eq!(at_300[0], (10, RackLoss));
        let newest = at_300.last().unwrap().0 as u32;
        lab.at(310).sack(9, &[if lost { (12, 12) } else { (11, 12) }]);
        assert_eq!(lab.out().contains(&(11, RackLoss)), lost);
        let before = lab.tcp.ssthresh();
        if lost {
            lab.at(400).sack(10, &[(12, newest)]);
        } else {
            lab.at(400).ack(newest);
        }
        (lab.tcp.stats().fast_retransmits, lab.tcp.ssthresh() < before)
    };
    assert_eq!(recoveries(false), (1, false));
    assert_eq!(recoveries(true), (2, true));
}

#[test]
fn a_probe_carries_no_new_segment_that_the_window_permits_only_in_part() {
    let mut lab = Lab::with_sack(rack());
    lab.window = 2500;
    lab.write(2).ack(0);
    lab.write(5);
    lab.out();
    lab.at(450);
    assert_eq!(lab.out().first().map(|&(n, why)| (n, why)), Some((2, TailProbe)));
}
