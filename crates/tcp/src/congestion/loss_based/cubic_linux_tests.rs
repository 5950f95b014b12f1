//! Linux's CUBIC rule by rule, against the numbers of its formulas worked out by hand.

use super::*;
use crate::config::choices::Counting;
use crate::congestion::tests::{GROWTH, view};

const MSS: u32 = 1000;
const BY_BYTES: Growth = Growth { counting: Counting::Bytes { limit: 255 }, ..GROWTH };
const RTT: Span = Span::from_ms(100);
const START: Time = Time::from_ps(7_000_000_000_000);

fn with(segments: u32, ssthresh: u32) -> CubicLinux {
    CubicLinux::new(segments * MSS, ssthresh, BY_BYTES, crate::config::HyStart::Off)
}

fn after_loss_at(segments: u32) -> CubicLinux {
    let mut cc = with(segments, segments * MSS);
    cc.on(Signal::EnterRecovery, &view(MSS, segments * MSS));
    cc.on(Signal::ExitRecovery, &view(MSS, 0));
    cc
}

/// A window's worth of ACKs for `per_ack` segments each, spread over a round trip.
fn round(cc: &mut CubicLinux, now: &mut Time, rtt: Span, per_ack: u32) {
    let acks = cc.cwnd() / MSS / per_ack;
    for _ in 0..acks {
        *now += rtt.scale(1, u64::from(acks));
        ack(cc, *now, rtt, per_ack);
    }
}

fn ack(cc: &mut CubicLinux, now: Time, rtt: Span, segments: u32) {
    let view = View { now, rtt: Some(rtt), srtt: Some(rtt), sent: 1, ..view(MSS, cc.cwnd()) };
    cc.on(Signal::Acked { bytes: segments * MSS }, &view);
}

#[test]
fn before_the_first_loss_the_window_grows_by_a_twentieth_per_rtt() {
    for per_ack in [1, 2] {
        let mut cc = with(400, 400 * MSS);
        let mut now = START;
        for expected in [420, 441, 463] {
            round(&mut cc, &mut now, RTT, per_ack);
            assert!((cc.cwnd() / MSS).abs_diff(expected) <= 1, "{} for {expected}", cc.cwnd());
        }
    }
}

#[test]
fn the_curve_reaches_w_max_after_k() {
    // 717/1024 of 1000 segments are 700: K = cbrt(300 · 1024/410) s.
    let mut cc = after_loss_at(1000);
    assert_eq!(cc.cwnd(), 700_000);
    let mut now = START;
    ack(&mut cc, now, RTT, 1);
    let k = cc.curve.k as f64 / f64::from(ONE);
    let expected = (300.0_f64 * 1024.0 / 410.0).cbrt();
    assert!((k - expected).abs() < 0.001, "{k}, not {expected}");
    // cwnd reaches the value of the curve one RTT ahead after one RTT.
    while now < START + Span::from_secs(14) {
        round(&mut cc, &mut now, RTT, 1);
        let t = (now - START).as_ps() as f64 / 1e12;
        let curve = 410.0 / 1024.0 * (t - expected).powi(3) + 1000.0;
        let cwnd = f64::from(cc.cwnd()) / f64::from(MSS);
        assert!(t < 1.0 || (cwnd / curve - 1.0).abs() < 0.015, "{t} s: {cwnd}, not {curve}");
    }
    assert!(cc.cwnd() > 1_030_000, "the convex part was reached");
}

#[test]
fn the_curve_is_evaluated_one_minimum_rtt_ahead_regardless_of_the_queue() {
    let mut cc = after_loss_at(1000);
    ack(&mut cc, START, RTT, 1);
    let target = cc.curve.at(RTT);
    // The price of a segment follows from the shortest round trip, whatever the present one.
    ack(&mut cc, START + Span::from_secs(2), RTT.scale(9, 1), 1);
    assert_eq!(cc.curve.shortest_rtt, Some(RTT));
    assert!(cc.curve.at(RTT) == target && cc.curve.price == 700 / (cc.curve.at(Span::from_ms(2100)) - 700));
}

#[test]
fn where_reno_is_faster_the_window_grows_by_eight_fifteenths_of_a_segment_per_rtt() {
    let mut cc = after_loss_at(40);
    let mut now = START;
    for _ in 0..45 {
        round(&mut cc, &mut now, Span::from_ms(5), 1);
    }
    // Also beyond 40 segments, where RFC 9438 would add a whole one: in 0.23 s the curve has not even got to 40.
    let (grown, expected) = (cc.cwnd() / MSS - 28, 45 * 8 / 15);
    assert!(grown.abs_diff(expected) <= 2, "{grown}, not {expected}");
}

#[test]
fn the_window_grows_by_at_most_half_per_rtt() {
    let mut cc = after_loss_at(20);
    ack(&mut cc, START, RTT, 1);
    let late = START + Span::from_secs(60);
    let before = cc.cwnd();
    round(&mut cc, &mut late.clone(), RTT, 1);
    assert_eq!(cc.cwnd(), before + before / 2);
}

#[test]
fn slow_start_stops_at_the_threshold_and_avoidance_counts_the_rest() {
    let mut cc = with(10, 12 * MSS);
    ack(&mut cc, START, RTT, 5);
    assert_eq!((cc.cwnd(), cc.window.acked), (12_000, 3));
}

#[test]
fn a_second_loss_below_w_max_applies_fast_convergence() {
    let mut cc = after_loss_at(100);
    assert_eq!((cc.curve.w_max, cc.cwnd()), (100, 70_000));
    cc.on(Signal::EnterRecovery, &view(MSS, 70_000));
    assert_eq!((cc.curve.w_max, cc.cwnd()), (70 * 1741 / 2048, 49_000));
    cc.on(Signal::EcnCe, &view(MSS, 49_000));
    assert_eq!(cc.cwnd(), 49_000, "a mark within a recovery is part of it");
}

#[test]
fn a_timeout_resets_the_curve() {
    let mut cc = after_loss_at(100);
    ack(&mut cc, START, RTT, 1);
    cc.on(Signal::Timeout { first: true }, &view(MSS, 70_000));
    assert_eq!((cc.cwnd(), cc.ssthresh(), cc.curve), (1000, 49_000, Curve::default()));
    cc.on(Signal::Timeout { first: false }, &view(MSS, 1000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 49_000));
    // In a recovery the threshold has been set already.
    let mut cc = with(100, 100 * MSS);
    cc.on(Signal::EnterRecovery, &view(MSS, 100_000));
    cc.on(Signal::Timeout { first: true }, &view(MSS, 70_000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 70_000));
}

#[test]
fn undo_restores_the_window_and_starts_a_new_curve() {
    let mut cc = after_loss_at(100);
    ack(&mut cc, START, RTT, 1);
    cc.on(Signal::EnterRecovery, &view(MSS, 70_000));
    cc.on(Signal::Undo, &view(MSS, 0));
    assert_eq!((cc.cwnd(), cc.ssthresh(), cc.curve.epoch), (70_000, 70_000, None));
}

#[test]
fn a_pause_does_not_count_on_the_clock_of_the_curve() {
    let mut cc = after_loss_at(1000);
    ack(&mut cc, START, RTT, 1);
    cc.begins_to_send(START + Span::from_secs(7), Span::from_secs(5));
    assert_eq!(cc.curve.epoch, Some(START + Span::from_secs(5)));
    // The round trip of what was sent last is a part of the pause, which may then begin before the curve.
    cc.begins_to_send(START + Span::from_secs(9), Span::from_secs(5));
    assert_eq!(cc.curve.epoch, Some(START + Span::from_secs(9)));
}

#[test]
fn the_shortest_round_trip_may_be_one_of_a_recovery() {
    let mut cc = with(100, 100 * MSS);
    cc.on(Signal::EnterRecovery, &view(MSS, 100 * MSS));
    cc.measure(START, Some(RTT));
    cc.on(Signal::ExitRecovery, &view(MSS, 0));
    ack(&mut cc, START, RTT.saturating_mul(2), 1);
    assert_eq!(cc.curve.shortest_rtt, Some(RTT));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut cc = after_loss_at(100);
    let unused = View { now: START, cwnd_limited: false, ..view(MSS, 1000) };
    for _ in 0..1000 {
        cc.on(Signal::Acked { bytes: MSS }, &unused);
    }
    assert_eq!(cc.cwnd(), 70_000);
}

#[test]
fn a_pause_halves_the_window_for_each_timeout_down_to_the_initial_one() {
    let mut cc = with(10, 20 * MSS);
    ack(&mut cc, START, RTT, 30);
    assert_eq!(cc.cwnd(), 21_000);
    cc.window.cwnd = 80_000;
    cc.on(Signal::IdleRestart { timeouts: 3 }, &view(MSS, 0));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (10_000, 60_000));
    cc.window.cwnd = 81_000;
    cc.on(Signal::IdleRestart { timeouts: 1 }, &view(MSS, 0));
    assert_eq!(
        (cc.cwnd(), cc.ssthresh()),
        (40_000, 60_000),
        "whole segments; 40 + 20 is the threshold already"
    );
}

#[test]
fn hystart_ends_slow_start_once_and_again_after_a_timeout() {
    let mut cc = CubicLinux::new(20 * MSS, u32::MAX, BY_BYTES, crate::config::HyStart::Linux);
    let mut now = START;
    let mut acknowledged = 0;
    let mut until_over = |cc: &mut CubicLinux| {
        for ms in [30, 30, 30, 40, 40, 40] {
            for _ in 0..20 {
                now += Span::from_ms(3);
                acknowledged += u64::from(MSS);
                let sent = acknowledged + 19 * u64::from(MSS);
                let rtt = Some(Span::from_ms(ms));
                let view = View { now, rtt, acknowledged, sent, ..view(MSS, cc.cwnd()) };
                cc.on(Signal::Acked { bytes: MSS }, &view);
            }
        }
        cc.cwnd() >= cc.ssthresh()
    };
    assert!(until_over(&mut cc) && cc.hystart.is_none());
    cc.on(Signal::Timeout { first: true }, &view(MSS, 20_000));
    assert!(cc.hystart.is_some());
}

#[test]
fn extremes_do_not_overflow() {
    for (mss, window) in [(1, u32::MAX), (u32::MAX, u32::MAX), (0, 0), (65_535, u32::MAX - 1)] {
        for counting in [Counting::Acks, Counting::Bytes { limit: 255 }] {
            let growth = Growth { counting, ..GROWTH };
            let mut cc = CubicLinux::new(window, 0, growth, crate::config::HyStart::Linux);
            for signal in [Signal::EnterRecovery, Signal::ExitRecovery, Signal::Acked { bytes: u32::MAX }] {
                cc.on(signal, &view(mss, window));
            }
            let late = View {
                now: Time::from_ps(u64::MAX - 1),
                rtt: Some(Span::MAX),
                srtt: Some(Span::MAX),
                ..view(mss, window)
            };
            cc.on(Signal::Acked { bytes: u32::MAX }, &late);
            cc.on(Signal::Timeout { first: true }, &late);
            cc.on(Signal::Acked { bytes: u32::MAX }, &late);
            cc.on(Signal::Undo, &late);
            cc.on(Signal::IdleRestart { timeouts: 3 }, &late);
        }
    }
}

#[test]
fn a_price_that_holds_is_the_one_that_would_be_computed() {
    let (mut held, mut now, mut steady) = (after_loss_at(400), START, 0);
    for n in 0..20_000_u64 {
        now += Span::from_us(n * 7919 % 9000);
        let mss = if n % 4001 == 4000 { MSS + 1 } else { MSS };
        let (cwnd, mut computed) = (held.window.cwnd, held.curve);
        let price = held.curve.steady_price(cwnd, 1, mss, now);
        if let Some(price) = price {
            assert_eq!(computed.price((cwnd / mss).max(1), 1, now), price, "step {n}");
            assert_eq!(held.curve, computed, "step {n}");
            steady += 1;
        }
        ack(&mut held, now, RTT, 1);
        if n % 7000 == 6999 {
            held.on(Signal::EnterRecovery, &view(MSS, held.cwnd()));
            held.on(Signal::ExitRecovery, &view(MSS, 0));
        }
    }
    assert!(steady > 1000 && steady < 19_000, "{steady}");
}
