//! What each recovery without SACK resends, when, and why.

use crate::lab::{Lab, MSS, config};
use netspurt_tcp::config::{InitialWindow, LossMeans, Recovery};
use netspurt_tcp::event::{Event, Timer};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::reason::Reason::{FastRetransmit, GoBackN, LimitedTransmit, NewData, PartialAck, Timeout};
use netspurt_tcp::segment::{Flags, Payload, Segment};
use netspurt_tcp::state::{CloseReason, State};

/// Ten segments out, forty written, at 100 ms.
fn ten(recovery: Recovery) -> Lab {
    let mut lab = Lab::plain(config(recovery));
    lab.write(40);
    assert_eq!(lab.out().len(), 10);
    lab.at(200);
    lab
}

#[test]
fn the_timer_alone_ignores_duplicate_acks() {
    let mut lab = ten(Recovery::Timeout);
    lab.acks(0, 9);
    assert_eq!(lab.out(), []);
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
}

#[test]
fn tahoe_resends_one_segment_on_exactly_the_third_duplicate_and_starts_slowly() {
    let mut lab = ten(Recovery::Tahoe);
    lab.acks(0, 2);
    assert_eq!(lab.out(), []);
    lab.ack(0);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (1, 5 * MSS));
    lab.acks(0, 6);
    assert_eq!(lab.out(), [], "later duplicates mean nothing");
    lab.at(300).ack(10);
    assert_eq!(lab.out(), [(11, NewData), (12, NewData)], "it goes on where it was, in slow start");
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
}

#[test]
fn tahoe_starts_over_at_every_third_duplicate() {
    let mut lab = ten(Recovery::Tahoe);
    lab.acks(0, 3).at(300).ack(4);
    lab.out();
    lab.acks(4, 3);
    assert_eq!(lab.out(), [(5, FastRetransmit)], "no phase protects the second loss of a window");
    assert_eq!(lab.tcp.stats().fast_retransmits, 2);
}

#[test]
fn what_tahoe_sends_again_after_a_timeout_is_called_so_though_a_fast_retransmit_came_between() {
    let mut lab = ten(Recovery::Tahoe);
    lab.at(1100);
    assert_eq!(lab.out(), [(1, Timeout)]);
    lab.at(1200).ack(1);
    assert_eq!(lab.out(), [(2, Timeout), (3, GoBackN)]);
    lab.acks(1, 3);
    assert_eq!(lab.out(), [(2, FastRetransmit)]);
    lab.at(1300).ack(3);
    assert_eq!(lab.out(), [(4, GoBackN), (5, GoBackN)]);
}

#[test]
fn reno_inflates_during_duplicate_acks_and_ends_recovery_at_the_first_new_ack() {
    let mut lab = ten(Recovery::Reno);
    lab.acks(0, 3);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (5, 5 * MSS));
    // Window 5 + 3 = 8 with ten out; the sixth duplicate opens it to 11.
    lab.acks(0, 2);
    assert_eq!(lab.out(), []);
    lab.ack(0);
    assert_eq!(lab.out(), [(11, NewData)]);
    lab.acks(0, 3);
    assert_eq!(lab.out(), [(12, NewData), (13, NewData), (14, NewData)]);
    lab.at(300).ack(10);
    assert_eq!(lab.cwnd(), 5, "deflated to ssthresh");
    assert_eq!(lab.out(), [(15, NewData)], "four are out, five permitted");
}

#[test]
fn reno_ends_recovery_at_a_partial_ack_and_halves_again_for_the_next_hole() {
    let mut lab = ten(Recovery::Reno);
    lab.acks(0, 3).at(300).ack(4);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.acks(4, 3);
    assert_eq!(lab.out(), [(5, FastRetransmit)]);
    assert_eq!(lab.tcp.stats().fast_retransmits, 2);
    assert!(lab.tcp.ssthresh() <= 3 * MSS);
}

#[test]
fn reno_with_sack_reports_does_not_count_a_duplicate_twice() {
    let mut lab = Lab::with_sack(netspurt_tcp::config::Config { sack: true, ..config(Recovery::Reno) });
    lab.write(40);
    lab.out();
    lab.sack(0, &[(2, 2)]).sack(0, &[(2, 3)]).sack(0, &[(2, 4)]);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.sack(0, &[(2, 5)]).sack(0, &[(2, 6)]);
    assert_eq!(lab.out(), [], "as without reports");
    lab.sack(0, &[(2, 7)]);
    assert_eq!(lab.out(), [(11, NewData)]);
}

#[test]
fn newreno_repairs_one_hole_a_round_trip_and_halves_once() {
    let mut lab = ten(Recovery::NewReno);
    // 1, 4 and 8 are lost: seven duplicates.
    lab.acks(0, 3);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    lab.acks(0, 4);
    assert_eq!(lab.out(), [(11, NewData), (12, NewData)], "5 + 7 permitted, 10 out");
    lab.at(300).ack(3);
    // Deflated by three, one added back: 5 + 7 - 3 + 1 = 10 of which 9 are out.
    assert_eq!(lab.timed(), [(300, 4, PartialAck), (300, 13, NewData)]);
    lab.at(400).ack(7);
    assert_eq!(lab.timed()[0], (400, 8, PartialAck));
    lab.at(500).ack(13);
    assert_eq!(lab.tcp.stats().fast_retransmits, 1);
    assert_eq!(lab.tcp.stats().timeouts, 0);
    assert_eq!(lab.tcp.ssthresh(), 5 * MSS, "no second reduction in one window");
}

#[test]
fn newreno_restarts_the_timer_at_the_first_partial_ack_only() {
    let mut lab = ten(Recovery::NewReno);
    lab.acks(0, 3).at(300).ack(2);
    let first = lab.tcp.next_deadline();
    assert_eq!(first, lab.now + lab.tcp.rto());
    lab.at(400).ack(3);
    assert_eq!(lab.tcp.next_deadline(), first);
}

#[test]
fn newreno_ends_recovery_with_a_window_of_at_most_one_segment_above_the_flight() {
    let mut lab = Lab::plain(config(Recovery::NewReno));
    lab.write(10);
    lab.at(200).acks(0, 9).at(300).ack(10);
    assert_eq!(lab.cwnd(), 2, "nothing is in flight: max(flight, MSS) + MSS");
}

#[test]
fn newreno_ignores_duplicate_acks_of_needless_retransmissions() {
    let mut lab = ten(Recovery::NewReno);
    lab.at(1100).at(1150).ack(1).ack(2);
    lab.out();
    // All ten had arrived: the rest of the ACKs, then three duplicates of what was resent.
    lab.ack(10);
    assert!(lab.out().iter().all(|&(_, why)| why == NewData));
    lab.acks(10, 3);
    assert_eq!(lab.tcp.stats().fast_retransmits, 0, "recover is 10, the ACK does not cover more");
}

#[test]
fn limited_transmit_sends_one_new_segment_on_each_of_the_first_two_duplicates() {
    let limited = netspurt_tcp::config::Config { limited_transmit: true, ..config(Recovery::NewReno) };
    let mut lab = Lab::plain(limited);
    lab.write(40);
    lab.out();
    lab.ack(0);
    assert_eq!(lab.out(), [(11, LimitedTransmit)]);
    lab.ack(0);
    assert_eq!(lab.out(), [(12, LimitedTransmit)]);
    lab.ack(0);
    assert_eq!(lab.out(), [(1, FastRetransmit)]);
    assert_eq!(
        lab.tcp.ssthresh(),
        5 * MSS,
        "what limited transmit sent does not count (RFC 5681, equation 4)"
    );
}

#[test]
fn limited_transmit_without_data_does_not_reduce_the_flight() {
    let limited = netspurt_tcp::config::Config { limited_transmit: true, ..config(Recovery::NewReno) };
    let mut lab = Lab::plain(limited);
    lab.write(10);
    lab.acks(0, 3);
    assert_eq!(lab.tcp.ssthresh(), 5 * MSS);
}

#[test]
fn limited_transmit_stops_after_two_with_sack_reports_and_the_timer_alone() {
    let timer =
        netspurt_tcp::config::Config { limited_transmit: true, sack: true, ..config(Recovery::Timeout) };
    let mut lab = Lab::with_sack(timer);
    lab.write(40);
    lab.out();
    for to in 2..=9 {
        lab.sack(0, &[(2, to)]);
    }
    assert_eq!(lab.out(), [(11, LimitedTransmit), (12, LimitedTransmit)]);
}

#[test]
fn loss_taken_for_noise_is_repaired_without_touching_the_window() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let noise = netspurt_tcp::config::Config { loss_means: LossMeans::Noise, ..config(recovery) };
        let mut lab = Lab::with_sack(noise);
        lab.write(40);
        lab.out();
        lab.sack(0, &[(2, 2)]).sack(0, &[(2, 3)]).sack(0, &[(2, 4)]);
        assert_eq!(lab.out()[0], (1, FastRetransmit), "{recovery:?}");
        assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (10, u32::MAX), "{recovery:?}");
        lab.at(300).ack(10);
        assert!(lab.cwnd() >= 10, "{recovery:?}");
        lab.at(5000);
        assert!(lab.cwnd() < 10, "{recovery:?}: a timeout is congestion");
    }
}

#[test]
fn a_duplicate_ack_is_one_without_data_or_another_window_while_something_is_out() {
    let mut lab = ten(Recovery::NewReno);
    lab.acks(0, 2);
    lab.window = 59_000;
    lab.ack(0);
    assert_eq!(lab.tcp.stats().dup_acks_received, 2, "a window update is no duplicate");
    lab.data(0, 10);
    assert_eq!(lab.tcp.stats().fast_retransmits, 0, "data is no duplicate");
    lab.ack(10);
    lab.at(250).ack(20).ack(30).ack(40);
    lab.acks(40, 5);
    assert_eq!(lab.tcp.stats().dup_acks_received, 2, "nothing is out");
}

#[test]
fn a_timeout_goes_back_to_the_first_unacknowledged_segment_and_sends_all_again() {
    let mut lab = ten(Recovery::NewReno);
    lab.at(1100);
    assert_eq!(lab.timed(), [(1100, 1, Timeout)]);
    assert_eq!((lab.cwnd(), lab.tcp.ssthresh()), (1, 5 * MSS));
    lab.at(1200).ack(1);
    assert_eq!(lab.out(), [(2, Timeout), (3, GoBackN)]);
    lab.at(1300).ack(3);
    assert_eq!(lab.out(), [(4, Timeout), (5, GoBackN), (6, GoBackN)], "one ACK: one segment more");
    lab.at(1400).ack(10);
    assert!(lab.out().iter().all(|&(n, why)| n > 10 && why == NewData));
}

#[test]
fn timeouts_double_and_the_threshold_falls_once() {
    let mut lab = ten(Recovery::Reno);
    lab.at(16_500);
    // The RTT sample of the SYN, 100 ms, leaves the floor of 1 s in force.
    let at: Vec<u64> = lab
        .timed()
        .iter()
        .map(|&(at, n, why)| {
            assert_eq!((n, why), (1, Timeout));
            at
        })
        .collect();
    assert_eq!(at, [1100, 3100, 7100, 15_100]);
    assert_eq!(lab.tcp.ssthresh(), 5 * MSS);
    assert_eq!(lab.tcp.stats().timeouts, 4);
}

#[test]
fn backoff_lasts_until_a_segment_that_was_sent_once_is_acknowledged() {
    let mut lab = ten(Recovery::Reno);
    lab.at(3100);
    assert_eq!(lab.tcp.rto(), netspurt_tcp::time::Span::from_secs(4));
    lab.at(3200).ack(1);
    assert_eq!(lab.tcp.rto(), netspurt_tcp::time::Span::from_secs(4), "Karn: no sample of what was resent");
    lab.at(3300).ack(10);
    assert_eq!(lab.tcp.rto(), netspurt_tcp::time::Span::from_secs(4));
    let samples = lab.tcp.stats().rtt_samples;
    lab.at(3400).ack(11);
    assert_eq!(lab.tcp.stats().rtt_samples, samples + 1);
    assert_eq!(lab.tcp.rto(), netspurt_tcp::time::Span::from_secs(1), "11 was new");
}

#[test]
fn a_timestamp_gives_a_sample_though_the_segment_was_resent() {
    let stamped = netspurt_tcp::config::Config { timestamps: true, ..config(Recovery::Reno) };
    let stamp = |echo| Some(Timestamps { value: 7, echo });
    let offer = Options { mss: Some(MSS as u16), timestamps: stamp(0), ..Options::NONE };
    let mut lab = Lab::open(stamped, offer);
    lab.write(10);
    let samples = lab.tcp.stats().rtt_samples;
    lab.at(1250);
    assert_eq!(lab.out().last(), Some(&(1, Timeout)));
    lab.ack_with(1, Options { timestamps: stamp(1100), ..Options::NONE });
    assert_eq!(lab.tcp.stats().rtt_samples, samples + 1);
    assert_eq!(lab.tcp.rto(), netspurt_tcp::time::Span::from_secs(1));
}

#[test]
fn the_connection_is_given_up_after_the_last_permitted_resend() {
    let patient = netspurt_tcp::config::Config { retries: 3, ..config(Recovery::Reno) };
    let mut lab = Lab::plain(patient);
    lab.write(1).at(60_000);
    assert_eq!(lab.out().len(), 1 + 3);
    assert_eq!(lab.tcp.closed(), Some(CloseReason::TimedOut));
    assert_eq!(lab.sent.last().map(|(_, sent)| sent.reason), Some(netspurt_tcp::reason::Reason::Reset));
    // RFC 9293, sections 3.8.3 and 3.10.8, ask for no segment, and Linux sends none (`tcp_write_err()`).
    let old_segments = netspurt_tcp::config::OldSegments::Linux;
    let mut lab =
        Lab::plain(netspurt_tcp::config::Config { retries: 3, old_segments, ..config(Recovery::Reno) });
    lab.write(1).at(60_000);
    assert_eq!(lab.out(), [(1, NewData), (1, Timeout), (1, Timeout), (1, Timeout)]);
    assert_eq!(lab.tcp.closed(), Some(CloseReason::TimedOut));
    // The application's own abort resets.
    let mut lab =
        Lab::plain(netspurt_tcp::config::Config { retries: 3, old_segments, ..config(Recovery::Reno) });
    lab.tcp.abort(lab.now);
    assert!(lab.tcp.poll_transmit(lab.now).is_some_and(|sent| sent.segment.flags.has(Flags::RST)));
}

#[test]
fn the_loss_of_a_fast_retransmission_is_repaired_by_the_timer() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno] {
        let mut lab = ten(recovery);
        lab.acks(0, 9);
        assert_eq!(lab.out()[0], (1, FastRetransmit), "{recovery:?}");
        lab.at(1199);
        assert_eq!(lab.out(), [], "{recovery:?}: the timer started anew with the resend");
        lab.at(1200);
        assert_eq!(lab.out(), [(1, Timeout)], "{recovery:?}");
    }
}

#[test]
fn the_loss_of_a_tail_is_repaired_by_the_timer() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Nak] {
        let mut lab = Lab::with_sack(config(recovery));
        lab.write(10);
        lab.at(200).ack(8);
        lab.out();
        lab.at(1300);
        assert_eq!(lab.out(), [(9, Timeout)], "{recovery:?}");
        lab.at(1400).ack(9);
        assert_eq!(lab.out(), [(10, Timeout)], "{recovery:?}");
    }
}

#[test]
fn the_timer_starts_anew_with_each_ack_of_new_data_and_stops_with_the_last() {
    let mut lab = Lab::plain(config(Recovery::Reno));
    lab.tcp.record_events(true);
    lab.write(2);
    lab.at(200).ack(1);
    assert_eq!(lab.tcp.next_deadline(), lab.now + lab.tcp.rto());
    lab.at(300).ack(2);
    assert!(lab.tcp.next_deadline().is_never());
    lab.at(10_000);
    let events = core::iter::from_fn(|| lab.tcp.poll_event());
    assert_eq!(events.filter(|(_, e)| *e == Event::Fired { timer: Timer::Retransmit }).count(), 0);
}

#[test]
fn a_window_of_one_segment_still_moves_after_a_loss() {
    let narrow = netspurt_tcp::config::Config {
        initial_window: InitialWindow::Segments(1),
        ..config(Recovery::NewReno)
    };
    let mut lab = Lab::plain(narrow);
    lab.write(3).at(1100);
    assert_eq!(lab.out(), [(1, NewData), (1, Timeout)]);
    lab.ack(1);
    assert_eq!(lab.out(), [(2, NewData), (3, NewData)]);
}

#[test]
fn a_segment_that_covers_the_whole_window_and_more_is_taken() {
    let narrow = netspurt_tcp::config::Config { receive_window: 500, ..config(Recovery::Reno) };
    let mut lab = Lab::plain(narrow);
    // A probe of one byte is taken; then it comes again with all that the window of 500 had room for, and a FIN behind.
    lab.data(0, 1);
    lab.arrives(Segment {
        ack: Lab::behind(0),
        flags: Flags::FIN | Flags::ACK,
        payload: Payload { offset: 0, len: 500 },
        ..Segment::default()
    });
    assert_eq!((lab.tcp.received(), lab.tcp.state()), (500, State::CloseWait));
}
