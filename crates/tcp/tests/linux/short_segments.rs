//! Short segments, and FINs, where Linux looks for new data: which of them wait, and what they make wait.

use crate::lab::{Lab, MSS};
use crate::recounted::rules;
use netspurt_tcp::config::{Config, CwndCounts, Grows, MssCounts, OldSegments};
use netspurt_tcp::reason::Reason::{NewData, TailProbeData, Timeout};
use netspurt_tcp::segment::{Flags, Segment};
use netspurt_tcp::transmit::Transmit;

fn linux() -> Config {
    rules(Grows::WhenUsed)
}

#[test]
fn what_is_written_after_the_ack_of_a_timeout_obeys_nagle() {
    // tcp_xmit_recovery() turns Nagle's algorithm off for what the ACK itself permits.
    let mut lab = Lab::with_sack(Config { transmit: Transmit::NagleStrict, ..linux() });
    lab.write(9).write_bytes(300).at(1300).ack(1);
    assert_eq!(lab.out()[9..], [(1, Timeout), (10, NewData)]);
    lab.write_bytes(10);
    assert_eq!(lab.out(), []);
}

#[test]
fn a_short_segment_after_a_timeout_delays_the_next_one() {
    // tcp_minshall_update() does not ask whether Nagle's algorithm was on.
    let mut lab = Lab::with_sack(Config { transmit: Transmit::Minshall, ..linux() });
    lab.write(9).write_bytes(300).write_bytes(300).at(1300).ack(1);
    lab.out();
    lab.ack(9).write_bytes(10);
    assert_eq!(lab.out(), [], "300 bytes are not acknowledged");
}

#[test]
fn a_short_segment_as_a_tail_loss_probe_delays_the_next_one() {
    let mut lab = Lab::with_sack(Config { transmit: Transmit::Minshall, tail_loss_probe: true, ..linux() });
    lab.write(10).write_bytes(300).at(550);
    assert_eq!(lab.out().last(), Some(&(11, TailProbeData)));
    lab.ack(10).write_bytes(10);
    assert_eq!(lab.out(), []);
}

#[test]
fn a_fin_is_new_data_after_a_timeout() {
    // tcp_process_loss(): tcp_send_head() is the FIN.
    for (grows, repairs) in [(Grows::WhenUsed, 0), (Grows::Always, 1)] {
        let mut lab = Lab::with_sack(rules(grows));
        lab.write(10);
        if grows == Grows::WhenUsed {
            lab.tcp.close(lab.now);
        }
        lab.at(1300);
        lab.out();
        lab.ack(1);
        assert_eq!(lab.out().len().min(1), repairs);
        let ends = lab.sent.last().is_some_and(|sent| sent.1.segment.flags.has(Flags::FIN));
        assert_eq!(ends, repairs == 0);
    }
}

#[test]
fn a_fin_beside_a_full_segment_takes_no_room_in_a_recovery() {
    // Of three packets one is reported and one is lost; PRR permits as many as were delivered.
    let mut lab = Lab::with_sack(Config { cwnd_counts: CwndCounts::Packets, ..linux() });
    lab.write(7).at(200).ack(7).write(2);
    assert_eq!(lab.tcp.write(lab.now, u64::from(MSS)), Ok(u64::from(MSS)));
    lab.tcp.close(lab.now);
    while lab.tcp.poll_transmit(lab.now).is_some() {}
    lab.at(320).sack(7, &[(9, 9)]).at(400);
    assert_eq!(lab.tcp.info().recovery_window.map(|window| window.div_ceil(u64::from(MSS))), Some(2));
}

#[test]
fn a_corked_segment_that_reports_make_shorter_is_a_full_one() {
    // tcp_nagle_test() compares with tcp_current_mss(), which knows of the SACK blocks.
    for (len, leaves) in [(988, 1), (987, 0)] {
        let (mss_counts, old_segments) = (MssCounts::DataAndOptions, OldSegments::Linux);
        let mut lab =
            Lab::with_sack(Config { transmit: Transmit::Cork, mss_counts, old_segments, ..linux() });
        lab.write(1);
        lab.data(200, 100);
        lab.out();
        lab.write_bytes(len);
        assert_eq!(lab.out().len(), leaves, "{len} beside one SACK block");
    }
}

#[test]
fn a_packet_that_reports_made_shorter_grows_before_linux_looks_at_the_window() {
    // tcp_grow_skb() in tcp_write_xmit(). So the next write begins a packet of its own, and PSH stays at the end of the first.
    let (mss_counts, old_segments) = (MssCounts::DataAndOptions, OldSegments::Linux);
    let mut lab = Lab::with_sack(Config { push_bursts: false, mss_counts, old_segments, ..linux() });
    lab.window = 0;
    lab.write(1).ack(1);
    lab.data(200, 100);
    lab.write_bytes(1000);
    assert_eq!(lab.tcp.unsent_in_last_packet(), Some(12), "a SACK block takes twelve bytes");
    lab.data(0, 200);
    assert_eq!(lab.tcp.unsent_in_last_packet(), Some(1000));
    lab.write_bytes(500).out();
    (lab.window, lab.seq) = (9000, Lab::their_first().plus(300));
    let before = lab.sent.len();
    lab.ack(1);
    let pushes = lab.sent[before..].iter().map(|(_, sent)| sent.segment.flags.has(Flags::PSH));
    assert_eq!(pushes.collect::<Vec<_>>(), [true, true]);
}

#[test]
fn a_write_that_joins_a_packet_that_waits_does_not_look_at_the_pause_before_it() {
    // tcp_slow_start_after_idle_check() in tcp_skb_entail().
    for (written, cwnd) in [(900, 20), (901, 10)] {
        let mut lab = Lab::with_sack(Config { transmit: Transmit::Cork, ..linux() });
        lab.write(10).at(200).ack(10).at(600).write_bytes(100).at(1300).out();
        assert_eq!(lab.cwnd(), 20);
        lab.write_bytes(written);
        assert_eq!((lab.out().len(), lab.cwnd()), (1, cwnd), "{written} bytes");
    }
}

#[test]
fn minshalls_rule_does_not_hold_what_is_a_full_segment_beside_reports() {
    // tcp_nagle_test() compares with tcp_current_mss(). A full part of a write therefore leaves before the next one is written.
    for (len, leaves) in [(988, 1), (987, 0)] {
        let (mss_counts, old_segments) = (MssCounts::DataAndOptions, OldSegments::Linux);
        let mut lab =
            Lab::with_sack(Config { transmit: Transmit::Minshall, mss_counts, old_segments, ..linux() });
        lab.write_bytes(100);
        lab.data(200, 100);
        lab.out();
        lab.write_bytes(len);
        assert_eq!(lab.out().len(), leaves, "{len} beside one SACK block");
    }
}

#[test]
fn after_a_timeout_new_data_that_fits_the_window_beside_reports_leaves_first() {
    // tcp_xmit_recovery() asks tcp_current_mss(), which leaves room for SACK blocks.
    let mut lab = Lab::with_sack(Config { mss_counts: MssCounts::DataAndOptions, ..linux() });
    lab.write(1).at(200);
    lab.window = 2000;
    lab.ack(1).write(6).data(5000, 100);
    lab.at(1300);
    assert_eq!(lab.out().last(), Some(&(2, Timeout)));
    let ack = Lab::behind(1).plus(988);
    lab.seq = Lab::their_first();
    lab.arrives(Segment { ack, flags: Flags::ACK, ..Segment::default() });
    assert_eq!(lab.out().first(), Some(&(4, NewData)));
}

#[test]
fn segments_that_leave_again_are_not_joined_beyond_the_window() {
    // tcp_retrans_try_collapse() asks tcp_wnd_end().
    for (window, joined) in [(799, 400), (800, 800)] {
        let mut lab = Lab::with_sack(linux());
        lab.write_bytes(400).write_bytes(400).at(200);
        lab.window = window;
        lab.ack(0).at(1300);
        let last = &lab.sent.last().expect("sent").1;
        assert_eq!((last.reason, last.segment.payload.len), (Timeout, joined), "{window}");
    }
}
