//! Marks beside recoveries, timeouts and undos, and the windows that they leave, as in Linux.

use crate::common::lone::ACK;
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, EcnUse, Grows, InitialWindow, WithoutSack};
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, SackBlock, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, LimitedTransmit, NewData, RackLoss, Timeout};
use netspurt_tcp::segment::{Flags, Segment};

/// Ten segments at 100 ms, of 40, with ECN, SACK and timestamps. It is 200 ms.
fn marked() -> Lab {
    marked_with(10)
}

/// The same with another initial window.
fn marked_with(segments: u32) -> Lab {
    marked_of(segments, 40)
}

/// The same, of so many segments.
fn marked_of(segments: u32, written: u64) -> Lab {
    let stamps = Some(Timestamps::default());
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, timestamps: stamps, ..Options::NONE };
    let initial_window = InitialWindow::Segments(segments);
    let config = Config { ecn: EcnUse::Rfc3168, timestamps: true, initial_window, ..rules(Grows::WhenUsed) };
    let mut lab = Lab::open_with(config, offer, Flags::ECE);
    lab.write(written).out();
    lab.at(200);
    lab
}

/// An ACK up to segment `n` that echoes what left at `sent_ms` and reports the segments of `block`, and perhaps a mark.
fn ack(lab: &mut Lab, (n, sent_ms): (u32, u32), block: Option<(u32, u32)>, mark: Flags) {
    let stamps = Some(Timestamps { value: 1, echo: sent_ms });
    let mut options = Options { timestamps: stamps, ..Options::NONE };
    if let Some((from, to)) = block {
        options.sack.push(SackBlock { left: Lab::behind(from - 1), right: Lab::behind(to) });
    }
    lab.arrives(Segment { ack: Lab::behind(n), flags: ACK | mark, options, ..Segment::default() });
}

const MARK: Flags = Flags::ECE;
const NONE: Flags = Flags::NONE;

#[test]
fn an_undo_that_may_restore_nothing_leaves_cwnd_as_it_is() {
    // tcp_undo_cwnd_reduction() with prior_ssthresh 0; the end of the recovery does not raise cwnd to ssthresh.
    let mut lab = marked_with(20);
    ack(&mut lab, (1, 100), None, MARK);
    ack(&mut lab, (1, 100), Some((18, 20)), NONE);
    assert_eq!(lab.out(), [(21, NewData), (2, RackLoss), (3, RackLoss), (4, RackLoss)]);
    assert_eq!(lab.tcp.info().recovery_window, Some(u64::from(4 * MSS)));
    // They had only been late.
    ack(&mut lab, (4, 100), Some((18, 20)), NONE);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!((lab.tcp.ssthresh() / MSS, lab.cwnd()), (10, 7), "three were delivered: slow start");
}

#[test]
fn a_mark_during_a_recovery_prevents_that_its_undo_restores_anything() {
    for (mark, ssthresh) in [(MARK, 5), (NONE, u32::MAX / MSS)] {
        let mut lab = marked();
        ack(&mut lab, (0, 100), Some((2, 4)), NONE);
        ack(&mut lab, (0, 100), Some((2, 5)), mark);
        ack(&mut lab, (5, 100), None, NONE);
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.ssthresh() / MSS, ssthresh, "prior_ssthresh in tcp_fastretrans_alert()");
    }
}

#[test]
fn a_loss_while_a_mark_reduces_cwnd_is_repaired_when_the_reduction_permits_it() {
    // tcp_enter_recovery() leaves a reduction as it is, and tcp_xmit_retransmit_queue() keeps to its cwnd.
    let mut lab = marked();
    ack(&mut lab, (1, 100), None, MARK);
    assert_eq!(lab.out(), [(11, NewData)]);
    ack(&mut lab, (1, 100), Some((3, 3)), NONE);
    ack(&mut lab, (1, 100), Some((3, 4)), NONE);
    assert_eq!(lab.out(), [(12, LimitedTransmit)]);
    // The reordering timer. Four are delivered, half of them may leave, and have left.
    lab.at(240);
    assert_eq!((lab.out(), lab.tcp.info().phase), (vec![], Phase::Recovery));
    ack(&mut lab, (1, 100), Some((3, 5)), NONE);
    assert_eq!(lab.out(), [(2, RackLoss)]);
}

#[test]
fn an_undo_that_restores_nothing_does_not_withdraw_cwr() {
    // tcp_undo_cwnd_reduction(). There was no new data to announce the reduction.
    for mark in [MARK, NONE] {
        let mut lab = marked_of(10, 10);
        ack(&mut lab, (0, 100), Some((2, 4)), NONE);
        ack(&mut lab, (0, 100), Some((2, 5)), mark);
        ack(&mut lab, (5, 100), None, NONE);
        assert_eq!(lab.tcp.stats().undone, 1);
        lab.write(1);
        let last = lab.sent.last().expect("new data");
        assert_eq!((last.1.reason, last.1.segment.flags.has(Flags::CWR)), (NewData, mark == MARK));
    }
}

#[test]
fn a_partial_ack_that_undoes_a_recovery_does_not_judge_its_mark() {
    let mut lab = marked();
    ack(&mut lab, (0, 100), Some((2, 4)), NONE);
    ack(&mut lab, (5, 100), None, MARK);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.stats().ecn_reductions, 0, "tcp_try_undo_partial()");
    ack(&mut lab, (6, 100), None, MARK);
    assert_eq!(lab.tcp.stats().ecn_reductions, 1);
}

#[test]
fn after_a_timeout_a_mark_does_not_prevent_that_cwnd_opens() {
    let mut lab = marked();
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1200);
    ack(&mut lab, (1, 1100), None, MARK);
    assert_eq!(lab.tcp.info().phase, Phase::TimeoutRecovery);
    assert_eq!(lab.cwnd(), 2, "tcp_cong_control()");
}

#[test]
fn a_mark_that_reduces_cwnd_ends_the_undo_of_the_recovery_before() {
    let mut lab = marked();
    ack(&mut lab, (0, 100), Some((2, 4)), NONE);
    assert_eq!(lab.out()[0], (1, RackLoss));
    lab.at(300);
    ack(&mut lab, (10, 200), None, NONE);
    ack(&mut lab, (11, 200), None, MARK);
    assert!(lab.tcp.info().reduces_for_mark);
    ack(&mut lab, (11, 200), Some((1, 1)), NONE);
    assert_eq!(lab.tcp.stats().undone, 0, "tcp_enter_cwr()");
}

#[test]
fn an_ack_without_new_data_that_ends_a_recovery_may_undo_it_and_leaves_what_is_lost() {
    let mut lab = marked();
    ack(&mut lab, (1, 100), None, MARK);
    lab.at(210);
    ack(&mut lab, (10, 100), None, NONE);
    lab.write(20).out();
    lab.at(310);
    ack(&mut lab, (10, 210), Some((12, 14)), NONE);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    lab.out();
    lab.at(312);
    ack(&mut lab, (10, 210), Some((12, 15)), NONE);
    assert_eq!(lab.tcp.stats().undone, 1, "tcp_try_undo_recovery()");
    assert_eq!(lab.tcp.info().phase, Phase::Recovery, "another one, because nothing was marked as not lost");
}

#[test]
fn a_pause_within_a_recovery_does_not_lower_what_cwnd_becomes_at_its_end() {
    let offer = Options { mss: Some(MSS as u16), ..Options::NONE };
    let config = Config {
        without_sack: WithoutSack::Linux,
        idle_restart: true,
        initial_window: InitialWindow::Segments(4),
        ..rules(Grows::WhenUsed)
    };
    let mut lab = Lab::open(config, offer);
    lab.write(28).out();
    for (ms, acked) in [(200, 1..=4), (300, 5..=12)] {
        lab.at(ms);
        for n in acked {
            lab.ack(n);
        }
        lab.out();
    }
    lab.at(400).ack(12).ack(12).ack(12).ack(12);
    assert!(lab.out().contains(&(13, FastRetransmit)));
    // Without SACK, the recovery goes on until something above its data is acknowledged.
    lab.at(500).ack(28);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery);
    let ssthresh = lab.tcp.ssthresh() / MSS;
    lab.at(9000).write(1);
    lab.at(9100).ack(29);
    assert_eq!((ssthresh, lab.cwnd()), (8, 8), "tcp_cwnd_restart() knows only the window of the recovery");
}

#[test]
fn without_sack_a_late_original_raises_the_number_of_duplicates_before_the_rest_is_judged() {
    let stamps = Some(Timestamps::default());
    let offer = Options { mss: Some(MSS as u16), timestamps: stamps, ..Options::NONE };
    let config = Config { timestamps: true, without_sack: WithoutSack::Linux, ..rules(Grows::WhenUsed) };
    let mut lab = Lab::open(config, offer);
    lab.write(40).out();
    lab.at(200);
    for _ in 0..6 {
        ack(&mut lab, (0, 100), None, NONE);
    }
    // Three of six duplicates remain: enough to begin another recovery, but for the four segments that were late.
    ack(&mut lab, (4, 100), None, NONE);
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.info().dup_acks_needed, Some(4), "tcp_try_undo_partial()");
    assert_ne!(lab.tcp.info().phase, Phase::Recovery, "tcp_newreno_mark_lost()");
}

#[test]
fn without_sack_a_timeout_in_a_recovery_whose_data_is_acknowledged_can_be_undone() {
    // The second condition of tcp_enter_loss(): high_seq is not above snd_una.
    let stamps = Some(Timestamps::default());
    let offer = Options { mss: Some(MSS as u16), timestamps: stamps, ..Options::NONE };
    let config = Config { timestamps: true, without_sack: WithoutSack::Linux, ..rules(Grows::WhenUsed) };
    let mut lab = Lab::open(config, offer);
    lab.write(10).out();
    lab.at(200);
    for _ in 0..3 {
        ack(&mut lab, (0, 100), None, NONE);
    }
    lab.at(300);
    ack(&mut lab, (10, 200), None, NONE);
    lab.write(2);
    assert_eq!(lab.tcp.info().phase, Phase::Recovery, "tcp_try_undo_recovery()");
    lab.at(1400);
    assert_eq!(lab.out().last(), Some(&(11, Timeout)));
    ack(&mut lab, (11, 300), None, NONE);
    assert_eq!(lab.tcp.stats().undone, 1, "it was only late");
}

#[test]
fn a_timeout_while_a_mark_reduces_cwnd_is_not_undone_by_a_late_original() {
    // tcp_enter_loss() begins no undo where high_seq of TCP_CA_CWR is above snd_una.
    for (mark, undone) in [(MARK, 0), (NONE, 1)] {
        let mut lab = marked_of(10, 10);
        ack(&mut lab, (1, 100), None, mark);
        assert_eq!(lab.tcp.info().reduces_for_mark, undone == 0);
        lab.at(1300);
        assert_eq!(lab.out(), [(2, Timeout)]);
        ack(&mut lab, (2, 100), None, NONE);
        assert_eq!(lab.tcp.stats().undone, undone);
    }
}

#[test]
fn an_ack_of_a_part_of_a_segment_that_undoes_a_timeout_leaves_the_timer_as_it_is() {
    // FLAG_SET_XMIT_TIMER in tcp_clean_rtx_queue(): no segment is acknowledged as a whole, so no tail loss probe begins to wait.
    for (acked, restarts) in [(500, false), (1000, true)] {
        let stamps = Some(Timestamps::default());
        let offer =
            Options { mss: Some(MSS as u16), sack_permitted: true, timestamps: stamps, ..Options::NONE };
        let config = Config { timestamps: true, tail_loss_probe: true, ..rules(Grows::WhenUsed) };
        let mut lab = Lab::open(config, offer);
        lab.write(2).out();
        lab.at(1300);
        assert_eq!(lab.out().last(), Some(&(1, Timeout)));
        let timeout = lab.tcp.next_deadline();
        let options = Options { timestamps: Some(Timestamps { value: 1, echo: 100 }), ..Options::NONE };
        lab.arrives(Segment { ack: Lab::behind(0).plus(acked), flags: ACK, options, ..Segment::default() });
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.next_deadline() != timeout, restarts, "{acked} bytes");
    }
}
