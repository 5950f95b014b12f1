//! Choices that Linux makes in recoveries: what an ACK of an original means, what counts as delivered, when cwnd opens.

use crate::lab::{Lab, MSS, config};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, Counting, Grows, InitialWindow, PrrRule, Recovery, Reduces};
use netspurt_tcp::congestion;
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason::{NewData, RackLoss, TailProbe, Timeout};
use netspurt_tcp::time::Span;

/// Losses are detected by time, and cwnd opens as in Linux.
fn linux() -> Config {
    let mut config = config(Recovery::Rack);
    config.growth.grows = Grows::WhenUsed;
    config.growth.counting = Counting::Bytes { limit: u8::MAX };
    Config { reduces: Reduces::Cwnd, undo: true, ..config }
}

/// 40 segments are written, of which cwnd permits ten; both ends have timestamps.
pub(crate) fn stamped(config: Config) -> Lab {
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Options::NONE
    };
    let mut lab = Lab::open(Config { timestamps: true, ..config }, offer);
    lab.write(40).out();
    lab
}

/// Reports segments `from` to `to`, and echoes what left at `sent_ms`.
pub(crate) fn report(sent_ms: u32, from: u32, to: u32) -> Options {
    let timestamps = Some(Timestamps { value: 1, echo: sent_ms });
    let mut options = Options { timestamps, ..Options::NONE };
    options.sack.push(SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) });
    options
}

#[test]
fn an_ack_of_an_original_beside_other_retransmissions_permits_only_new_data() {
    let mut lab = stamped(linux());
    lab.at(200).ack_with(0, report(100, 6, 9));
    assert_eq!(lab.out(), [(1, RackLoss), (2, RackLoss), (3, RackLoss), (4, RackLoss)]);
    // The original of 1 was late. 2, 3 and 4 are in the network again, and 5 is still marked lost.
    lab.at(210).ack_with(1, report(100, 6, 9));
    assert_eq!(lab.tcp.stats().undone, 0, "tcp_try_undo_partial()");
    assert_eq!(lab.out(), [(11, NewData)]);
    lab.at(300).ack_with(2, report(200, 6, 9));
    assert_eq!(lab.out(), [(5, RackLoss), (10, RackLoss)], "the next ACK permits retransmissions");
}

#[test]
fn an_ack_of_the_only_original_undoes_the_recovery_and_opens_cwnd() {
    let mut lab = stamped(linux());
    lab.at(200).ack_with(0, report(100, 2, 4));
    assert_eq!((lab.out()[0], lab.cwnd()), ((1, RackLoss), 5));
    lab.at(210).ack_with(4, report(100, 6, 6));
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.cwnd(), 12, "ten restored, and 1 and 6 newly delivered: tcp_cong_control()");
}

#[test]
fn what_an_undone_recovery_had_marked_lost_waits_for_a_timeout() {
    let mut lab = stamped(Config { prr: true, prr_rule: PrrRule::Linux, ..linux() });
    // 1 to 5 are lost. PRR permits only the first one.
    lab.at(200).ack_with(0, report(100, 6, 6));
    lab.at(250).out();
    assert_eq!(lab.tcp.info().lost, 4 * u64::from(MSS));
    lab.at(260).ack_with(1, report(100, 6, 6));
    assert_eq!((lab.tcp.stats().undone, lab.tcp.info().lost), (1, 0));
    lab.out();
    lab.at(360).ack_with(1, report(200, 6, 11));
    let out = lab.out();
    assert!(out.iter().all(|&(n, _)| n > 10), "2 to 5 are in no list: tcp_rack_detect_loss(): {out:?}");
    lab.at(2500);
    assert_eq!(lab.out()[0], (2, Timeout));
}

#[test]
fn an_ack_that_reveals_a_loss_does_not_open_cwnd_before_the_reduction() {
    let mut lab = Lab::with_sack(linux());
    lab.write(40).out();
    // Eight are newly delivered. Slow start by them before the reduction would leave half of 18.
    lab.at(200).sack(1, &[(3, 9)]);
    assert_eq!((lab.out()[0], lab.tcp.ssthresh() / MSS), ((2, RackLoss), 5));
}

#[test]
fn a_duplicate_that_is_reported_counts_as_delivered() {
    let initial_window = InitialWindow::Segments(20);
    let config = Config { prr: true, prr_rule: PrrRule::Linux, undo: false, initial_window, ..linux() };
    let mut lab = Lab::with_sack(config);
    lab.write(40).out();
    lab.at(200).sack(0, &[(18, 20)]);
    assert_eq!(lab.out(), [(1, RackLoss), (2, RackLoss), (3, RackLoss)]);
    lab.at(210).sack(0, &[(18, 20)]);
    assert_eq!(lab.out(), []);
    // Each D-SACK permits one more.
    for (ms, out) in [(220, vec![(4, RackLoss)]), (230, vec![(5, RackLoss)]), (240, vec![(6, RackLoss)])] {
        lab.at(ms).sack(0, &[(19, 19), (18, 20)]);
        assert_eq!(lab.out(), out, "tcp_dsack_seen()");
    }
}

#[test]
fn a_duplicate_from_before_the_stream_counts_against_the_next_ones() {
    // tcp_dsack_seen()
    for (begins, undone) in [(1, 0), (10_000, 1)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(10).at(200);
        let mut options = Options::NONE;
        let left = Lab::behind(0).minus(begins);
        options.sack.push(SackBlock { left, right: left.plus(if begins == 1 { 1 } else { 70_000 }) });
        lab.ack_with(0, options).sack(0, &[(2, 5)]).at(260).sack(5, &[(1, 1)]);
        assert_eq!(lab.tcp.stats().undone, undone, "more than the largest window is none");
    }
}

#[test]
fn more_duplicates_than_retransmissions_are_not_believed() {
    let mut lab = Lab::with_sack(linux());
    lab.write(40).out();
    lab.at(200).sack(2, &[(1, 1)]);
    assert_eq!(lab.cwnd(), 12, "nothing was retransmitted");
}

#[test]
fn a_timeout_leaves_one_segment_more_than_what_left_lately() {
    for (reduces, cwnd) in [(Reduces::Cwnd, 3), (Reduces::Flight, 1)] {
        let mut lab = Lab::with_sack(Config { reduces, ..linux() });
        lab.write(5).at(1050).write(2).at(1100);
        let (_, reason) = *lab.out().last().expect("a retransmission");
        assert_eq!((reason, lab.cwnd()), (Timeout, cwnd), "{reduces:?}: tcp_enter_loss()");
    }
}

#[test]
fn a_tail_loss_probe_is_no_retransmission_of_the_recovery_that_follows_it() {
    let offer = Options {
        mss: Some(MSS as u16),
        sack_permitted: true,
        timestamps: Some(Timestamps::default()),
        ..Options::NONE
    };
    let mut lab = Lab::open(Config { timestamps: true, tail_loss_probe: true, ..linux() }, offer);
    lab.write(2).at(310);
    assert_eq!(lab.timed().last(), Some(&(300, 2, TailProbe)));
    lab.write(1).out();
    lab.at(400).ack_with(0, report(310, 3, 3));
    assert_eq!(lab.out(), [(1, RackLoss)]);
    // The peer echoes the probe, which left before the recovery began: __tcp_retransmit_skb() sets no retrans_stamp.
    lab.at(420)
        .ack_with(3, Options { timestamps: Some(Timestamps { value: 2, echo: 300 }), ..Options::NONE });
    assert_eq!((lab.tcp.stats().undone, lab.cwnd()), (1, 10));
}

#[test]
fn a_report_of_duplicates_opens_no_window_if_nothing_is_outstanding() {
    // tcp_ack(), no_queue.
    let mut config = Config { congestion: congestion::Kind::Bbr, pacing: true, ..linux() };
    config.initial_window = InitialWindow::Segments(10);
    let mut lab = Lab::with_sack(config);
    lab.write(4).at(200).sack(0, &[(2, 4)]);
    lab.at(300).ack(4);
    let cwnd = lab.tcp.cwnd();
    lab.at(310).sack(4, &[(1, 1)]);
    assert_eq!(lab.tcp.cwnd(), cwnd);
}

#[test]
fn an_ack_that_ends_a_recovery_and_delivers_nothing_for_certain_does_not_look_at_the_time() {
    let mut lab = Lab::with_sack(Config { reordering_tick: Span::from_ms(1), ..rules(Grows::WhenUsed) });
    lab.write(10).at(250).sack(0, &[(3, 3)]).sack(0, &[(2, 3)]);
    // 3 has overtaken 2: the reordering window is a quarter of 100 ms from now on.
    lab.at(280).sack(0, &[(2, 10)]);
    lab.write(1).at(310).write(1).at(330).write(1).at(380).sack(0, &[(2, 11)]);
    lab.at(430).sack(0, &[(2, 11), (13, 13)]);
    let repairs = lab.out().split_off(10);
    assert_eq!(repairs.iter().filter(|sent| sent.0 == 1).count(), 2, "sent again, twice: {repairs:?}");
    // 12 has waited for long enough at 435 ms. The timer that finds it comes two ticks later.
    lab.at(436).sack(11, &[(13, 13)]);
    assert_eq!(lab.timed(), [], "tcp_rack_mark_lost()");
    assert!(!matches!(lab.tcp.info().phase, Phase::Recovery | Phase::TimeoutRecovery), "it has ended");
}
