//! What an ACK answers, and what it leaves of a recovery, as Linux takes it; what may be sent before the next ACK.

use crate::as_linux_recovery::{report, stamped};
use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, EcnUse, Grows, MssCounts, OldSegments, WithoutSack};
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::event::Phase;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, NewData, RackLoss, TailProbe, Timeout};
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::state::State;
use netspurt_tcp::transmit::Transmit;

fn linux() -> Config {
    Config { without_sack: WithoutSack::Linux, ..rules(Grows::WhenUsed) }
}

fn stamp(echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value: 1, echo }), ..Options::NONE }
}

/// Ten segments at 100 ms, of 40, to a peer without SACK.
fn without_sack() -> Lab {
    without_sack_of(40)
}

/// The same with so many segments written.
fn without_sack_of(segments: u64) -> Lab {
    let offer = Options { mss: Some(MSS as u16), ..stamp(0) };
    let mut lab = Lab::open(Config { timestamps: true, ..linux() }, offer);
    lab.write(segments).out();
    lab
}

/// So many duplicate ACKs of segment `n`.
fn repeat(lab: &mut Lab, n: u32, times: u32) {
    for _ in 0..times {
        lab.ack_with(n, stamp(100));
    }
}

#[test]
fn without_sack_an_echo_that_undoes_a_timeout_does_not_end_its_recovery() {
    // tcp_try_undo_loss(): until something above is acknowledged, duplicates report nothing.
    let mut lab = without_sack();
    lab.at(1300);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1310).ack_with(10, stamp(100));
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.info().phase, Phase::TimeoutRecovery);
    lab.out();
    repeat(&mut lab, 10, 3);
    assert!(lab.out().iter().all(|sent| sent.1 == NewData));
    lab.at(1400).ack_with(11, stamp(1310));
    assert_ne!(lab.tcp.info().phase, Phase::TimeoutRecovery);
}

#[test]
fn without_sack_duplicates_of_the_recovery_of_a_timeout_may_begin_another_at_its_end() {
    // tcp_identify_packet_loss() precedes tcp_reset_reno_sack(), and tcp_process_loss() leaves what they report.
    for (times, begins) in [(4, true), (3, false)] {
        let mut lab = without_sack_of(2);
        lab.at(1300);
        assert_eq!(lab.out(), [(1, Timeout)]);
        lab.write(40).at(1400).ack_with(1, stamp(1300));
        assert_eq!(lab.out(), [(3, NewData), (4, NewData)]);
        lab.at(1500);
        repeat(&mut lab, 1, times);
        assert!(lab.out().contains(&(2, Timeout)));
        // One acknowledges the hole, the other takes one of them (`tcp_remove_reno_sacks()`).
        lab.at(1600).ack_with(3, stamp(1500));
        let again: Vec<_> = lab.out().into_iter().filter(|sent| sent.1.is_retransmission()).collect();
        assert_eq!(again, if begins { vec![(4, FastRetransmit)] } else { vec![] }, "{times} duplicates");
        assert_eq!(lab.tcp.info().phase == Phase::Recovery, begins);
        // They do not outlast this ACK.
        lab.at(1610);
        repeat(&mut lab, 3, 1);
        assert_eq!(lab.tcp.info().phase == Phase::Recovery, begins);
    }
}

#[test]
fn without_sack_duplicates_report_no_fin_that_has_left_with_a_full_segment() {
    // tcp_limit_reno_sacked(): one packet is outstanding, and it is missing.
    let mut lab = without_sack_of(11);
    lab.tcp.close(lab.now);
    lab.at(200).ack_with(1, stamp(100));
    let last = &lab.sent.last().expect("the FIN").1.segment;
    assert_eq!((last.flags.has(Flags::FIN), last.payload.len), (true, MSS));
    lab.at(210).ack_with(10, stamp(100));
    repeat(&mut lab, 10, 1);
    assert_eq!(lab.tcp.info().sacked, 0);
}

#[test]
fn without_sack_a_late_original_raises_the_number_of_duplicates_that_reveal_a_loss() {
    // tcp_try_undo_partial(): tcp_check_sack_reordering() sets what tcp_newreno_mark_lost() compares with.
    let mut lab = without_sack();
    lab.at(200);
    repeat(&mut lab, 0, 3);
    assert!(lab.out().contains(&(1, FastRetransmit)));
    lab.at(210).ack_with(6, stamp(100));
    assert_eq!(lab.tcp.stats().undone, 1);
    assert!(lab.tcp.info().reordering_extent > u64::from(4 * MSS));
    lab.out();
    repeat(&mut lab, 6, 4);
    assert!(lab.out().iter().all(|sent| !sent.1.is_retransmission()));
    // A timeout lowers it only if SACK has reported as many (`tcp_timeout_mark_lost()`).
    lab.at(3000);
    assert!(lab.tcp.info().reordering_extent > u64::from(4 * MSS));
}

#[test]
fn new_data_after_a_timeout_may_be_a_short_segment() {
    // TCP_NAGLE_OFF in tcp_xmit_recovery()
    for (grows, first) in [(Grows::WhenUsed, NewData), (Grows::Always, Timeout)] {
        let mut config = linux();
        config.growth.grows = grows;
        let mut lab = Lab::with_sack(Config { transmit: Transmit::NagleStrict, ..config });
        lab.write(9).write_bytes(300).out();
        lab.at(1300).ack(1);
        assert_eq!(lab.out()[1].1, first);
    }
}

#[test]
fn the_pacing_timer_permits_to_retransmit_behind_the_new_data_after_a_timeout() {
    // tcp_tsq_write()
    let mut lab = Lab::with_sack(Config { pacing: true, ..linux() });
    lab.at(1000).write(40).at(1100).out();
    lab.at(3000);
    lab.out();
    lab.ack(3).at(3300);
    let out = lab.out();
    assert_eq!(out[0].1, NewData);
    assert!(out.iter().any(|sent| sent.1.is_retransmission()), "{out:?}");
}

#[test]
fn the_pacing_timer_runs_although_the_peers_window_holds_the_next_data_back() {
    // tcp_write_xmit() looks at pacing before it looks at the windows.
    let mut lab = Lab::with_sack(Config { pacing: true, ..linux() });
    lab.at(1000).write(40).at(1100).out();
    let sent = lab.tcp.info().unacknowledged / u64::from(MSS);
    lab.at(3000);
    lab.out();
    lab.window = (sent * u64::from(MSS)) as u16;
    lab.ack(1).at(3300);
    assert_eq!(lab.out()[..2], [(11, NewData), (2, Timeout)]);
}

#[test]
fn a_segment_that_reports_make_shorter_carries_the_push_of_a_write_that_ends_in_it() {
    // Linux joins the writes.
    let mut config = Config { mss_counts: MssCounts::DataAndOptions, ..linux() };
    config.growth.grows = Grows::Always;
    let mut lab = Lab::with_sack(config);
    lab.write(10).write_bytes(500).write_bytes(2000);
    lab.data(5000, 100);
    lab.at(200).ack(1);
    let next = lab
        .sent
        .iter()
        .map(|sent| &sent.1.segment)
        .find(|next| next.payload.offset == 10_000 && next.payload.len > 0);
    let next = next.expect("it has left");
    assert_eq!((next.payload.len, next.flags.has(Flags::PSH)), (MSS - 12, true));
}

#[test]
fn an_undone_reduction_does_not_prevent_that_a_mark_reduces_cwnd() {
    // tcp_try_to_open()
    let offer = Options { mss: Some(MSS as u16), sack_permitted: true, ..stamp(0) };
    let config = Config { ecn: EcnUse::Rfc3168, timestamps: true, ..linux() };
    let mut lab = Lab::open_with(config, offer, Flags::ECE);
    lab.write(40).at(200).ack_with(0, report(100, 2, 4));
    assert!(lab.out().contains(&(1, RackLoss)));
    lab.at(210).ack_with(4, stamp(100));
    assert_eq!(lab.tcp.stats().undone, 1);
    let ack = Segment { ack: Lab::behind(6), flags: Flags::ACK | Flags::ECE, ..Segment::default() };
    lab.arrives(Segment { options: stamp(100), ..ack });
    assert!(lab.tcp.info().reduces_for_mark);
}

#[test]
fn old_data_in_time_wait_is_not_reported() {
    // tcp_v4_timewait_ack() has no options for SACK.
    for (old_segments, blocks) in [(OldSegments::Linux, 0), (OldSegments::Outside, 1)] {
        let mut lab = Lab::with_sack(Config { old_segments, ..linux() });
        lab.data(0, 100);
        lab.tcp.close(lab.now);
        lab.at(150).ack(0);
        lab.seq = Lab::their_first().plus(100);
        let fin =
            Segment { ack: Lab::behind(0).plus(1), flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        lab.arrives(fin);
        assert_eq!(lab.tcp.state(), State::TimeWait);
        lab.seq = Lab::their_first();
        lab.data(0, 100);
        let last = &lab.sent.last().expect("an ACK").1.segment;
        assert_eq!(last.options.sack.as_slice().len(), blocks, "{old_segments:?}");
    }
}

#[test]
fn without_sack_more_duplicates_than_segments_set_the_number_that_reveals_a_loss_also_to_a_smaller_one() {
    // tcp_check_reno_reordering()
    let offer = Options { mss: Some(MSS as u16), ..stamp(0) };
    let mut lab = Lab::open(Config { timestamps: true, ..linux() }, offer);
    lab.write(10).at(200);
    repeat(&mut lab, 0, 3);
    lab.at(210).ack_with(6, stamp(100));
    assert_eq!(lab.tcp.info().dup_acks_needed, Some(6), "a late original");
    lab.at(220).ack_with(10, stamp(210));
    lab.write(2).at(300);
    repeat(&mut lab, 10, 2);
    assert_eq!(lab.tcp.info().dup_acks_needed, Some(2));
    lab.at(310).ack_with(12, stamp(300));
    lab.write(6).out();
    repeat(&mut lab, 12, 2);
    assert!(lab.out().contains(&(13, FastRetransmit)));
}

#[test]
fn an_ack_that_opens_the_window_is_no_duplicate_that_answers_a_probe() {
    // tcp_process_tlp_ack(): FLAG_NOT_DUP includes FLAG_WIN_UPDATE, so the next ACK shows that the probe has repaired a loss.
    for (window, cwnd) in [(60_000, 10), (61_000, 5)] {
        let mut lab =
            Lab::with_sack(Config { old_segments: OldSegments::Linux, tail_loss_probe: true, ..linux() });
        lab.write(2).at(450);
        assert_eq!(lab.out().last(), Some(&(2, TailProbe)));
        lab.ack(2);
        lab.window = window;
        lab.ack(2).write(1).at(500).ack(3);
        assert_eq!(lab.cwnd(), cwnd, "window {window}");
    }
}

#[test]
fn an_ack_of_an_original_with_the_duplicate_report_that_undoes_the_recovery_shows_reordering() {
    // tcp_try_undo_partial() comes before tcp_try_undo_dsack().
    for (echo, times) in [(100, 1), (200, 0)] {
        let mut lab = stamped(linux());
        lab.at(200).ack_with(0, report(100, 2, 4));
        assert_eq!(lab.out().into_iter().filter(|sent| sent.1 == RackLoss).count(), 1);
        lab.at(210).ack_with(5, report(echo, 1, 1));
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.tcp.info().reorderings, times, "an echo of {echo}");
    }
}

#[test]
fn an_original_undoes_the_recovery_before_its_duplicate_report_and_forgets_what_is_lost() {
    // tcp_try_undo_partial() removes the marks, tcp_try_undo_dsack() would leave them.
    for (echo, again) in [(100, false), (235, true)] {
        let mut lab = stamped(linux());
        // 1 is late, so reports start a timer. It finds 3 and 4 lost, and sends the first of them again.
        lab.at(200).ack_with(0, report(100, 2, 2));
        lab.at(205).ack_with(2, stamp(100));
        lab.at(210).ack_with(2, report(100, 5, 5));
        lab.at(260);
        assert_eq!(lab.out().iter().filter(|sent| sent.1 == RackLoss).collect::<Vec<_>>(), [&(3, RackLoss)]);
        lab.ack_with(3, report(echo, 3, 3));
        assert_eq!(lab.tcp.stats().undone, 1);
        assert_eq!(lab.out().contains(&(4, RackLoss)), again, "an echo of {echo}");
    }
}

#[test]
fn bbr_takes_a_segment_for_delivered_when_all_of_it_is_acknowledged() {
    // tcp_clean_rtx_queue(): tp->delivered counts packets.
    let mut lab = Lab::with_sack(Config { congestion: Kind::Bbr, pacing: true, ..linux() });
    lab.write(10).at(200);
    for (part, cwnd) in [(500, 10_000), (1500, 11_000), (1900, 11_000), (2000, 12_000)] {
        lab.arrives(Segment { ack: Lab::behind(0).plus(part), flags: Flags::ACK, ..Segment::default() });
        assert_eq!(lab.tcp.cwnd(), cwnd, "{part} bytes");
    }
}

#[test]
fn without_sack_the_ack_of_a_part_of_a_segment_says_nothing_of_duplicates() {
    // FLAG_ACKED in tcp_clean_rtx_queue()
    for (part, needed) in [(1, 3), (MSS, 2)] {
        let mut lab = Lab::open(linux(), Options { mss: Some(MSS as u16), ..Options::NONE });
        lab.write(2).at(200).ack(0);
        lab.arrives(Segment { ack: Lab::behind(0).plus(part), flags: Flags::ACK, ..Segment::default() });
        assert_eq!(lab.tcp.info().dup_acks_needed, Some(needed), "{part}");
    }
}

#[test]
fn without_sack_a_segment_that_is_acknowledged_in_part_is_not_ahead_of_a_late_one() {
    // tcp_highest_sack_seq() in tcp_try_undo_partial()
    let offer = Options { mss: Some(MSS as u16), ..stamp(0) };
    let mut lab = Lab::open(Config { timestamps: true, ..linux() }, offer);
    lab.write(10).at(200);
    repeat(&mut lab, 0, 3);
    let ack = Lab::behind(5).plus(100);
    lab.at(210).arrives(Segment { ack, flags: Flags::ACK, options: stamp(100), ..Segment::default() });
    assert_eq!(lab.tcp.stats().undone, 1);
    assert_eq!(lab.tcp.info().dup_acks_needed, Some(5));
}

#[test]
fn the_last_data_waits_if_its_fin_lies_behind_the_window() {
    // tcp_snd_wnd_test()
    for (window, sent) in [(1000, false), (1001, true)] {
        let mut lab = Lab::with_sack(linux());
        lab.write(1).at(200);
        lab.window = 500;
        lab.ack(1).write(1);
        lab.tcp.close(lab.now);
        lab.out();
        lab.at(250);
        lab.window = window;
        lab.ack(1);
        assert_eq!(!lab.out().is_empty(), sent, "{window}");
    }
}
