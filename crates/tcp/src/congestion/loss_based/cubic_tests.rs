//! CUBIC against its closed form, computed in floating point, and rule by rule.

use super::*;
use crate::congestion::tests::{GROWTH, view};

const MSS: u32 = 1000;

/// Acknowledges `seconds` of a saturated path with the given round trip, segment by segment; returns cwnd after each
/// round trip, in segments.
fn run(cc: &mut Cubic, now: &mut Time, rtt: Span, seconds: u64) -> Vec<f64> {
    let end = *now + Span::from_secs(seconds);
    let mut rounds = Vec::new();
    while *now < end {
        let segments = cc.cwnd() / MSS;
        for _ in 0..segments {
            *now += rtt.scale(1, u64::from(segments));
            let view = View { now: *now, srtt: Some(rtt), ..view(MSS, cc.cwnd()) };
            cc.on(Signal::Acked { bytes: MSS }, &view);
        }
        rounds.push(f64::from(cc.cwnd()) / f64::from(MSS));
    }
    rounds
}

fn after_loss_at(segments: u32) -> Cubic {
    let mut cc = Cubic::new(segments * MSS, segments * MSS, GROWTH);
    cc.on(Signal::EnterRecovery, &view(MSS, segments * MSS));
    cc.on(Signal::ExitRecovery, &view(MSS, 0));
    cc
}

#[test]
fn the_window_follows_the_closed_form() {
    let rtt = Span::from_ms(100);
    for segments in [1000_u32, 8000] {
        let mut cc = after_loss_at(segments);
        let w_max = f64::from(segments);
        let k = (w_max * 0.3 / 0.4).cbrt();
        let mut now = Time::from_ps(7_000_000_000_000);
        let rounds = run(&mut cc, &mut now, rtt, (1.6 * k) as u64);
        for (round, window) in rounds.iter().enumerate().skip(3) {
            // After n round trips cwnd has reached the target of the last one: W_cubic at the end of that trip.
            let t = 0.1 * (round + 1) as f64;
            let expected = 0.4 * (t - k).powi(3) + w_max;
            assert!((window / expected - 1.0).abs() < 0.01, "{t} s: {window}, not {expected}");
        }
        assert!(rounds.last().is_some_and(|last| *last > w_max * 1.02), "the convex region was reached");
    }
}

#[test]
fn the_time_to_w_max_is_k() {
    let mut cc = after_loss_at(1000);
    cc.on(Signal::Acked { bytes: MSS }, &view(MSS, 700_000));
    let k = cc.state.k as f64 / f64::from(1 << 20);
    assert!((k - 750_f64.cbrt()).abs() < 1e-5, "{k}");
}

#[test]
fn where_reno_is_faster_the_window_grows_like_reno() {
    // 10 ms and 40 segments: CUBIC would need 3.1 s to get back, AIMD(9/17, 0.7) needs 23 round trips.
    let mut cc = after_loss_at(40);
    let mut now = Time::ZERO;
    let rounds = run(&mut cc, &mut now, Span::from_ms(10), 1);
    let per_round = (rounds[19] - rounds[0]) / 19.0;
    assert!((per_round - 9.0 / 17.0).abs() < 0.05, "{per_round} below cwnd_prior");
    let per_round = (rounds[90] - rounds[40]) / 50.0;
    assert!((per_round - 1.0).abs() < 0.05, "{per_round} above it");
}

#[test]
fn a_loss_reduces_the_window_to_seven_tenths_of_the_data_in_flight() {
    let mut cc = Cubic::new(50_000, u32::MAX, GROWTH);
    cc.on(Signal::EnterRecovery, &view(MSS, 40_000));
    assert_eq!((cc.cwnd(), cc.ssthresh(), cc.state.w_max), (28_000, 28_000, 50_000));
    let mut cc = Cubic::new(50_000, u32::MAX, GROWTH);
    cc.on(Signal::EnterRecovery, &view(MSS, 2000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (2000, 2000), "two segments at least");
}

#[test]
fn with_abe_a_mark_reduces_the_window_to_85_hundredths_and_a_loss_to_seven_tenths() {
    // RFC 8511, section 4.1.
    for (signal, cwnd) in [(Signal::EcnCe, 85_000), (Signal::EnterRecovery, 70_000)] {
        let mut cc = Cubic::new(100_000, u32::MAX, GROWTH).with_abe(true);
        cc.on(signal, &view(MSS, 100_000));
        assert_eq!((cc.cwnd(), cc.ssthresh()), (cwnd, cwnd), "{signal:?}");
        assert_eq!(cc.state.w_max, 100_000);
    }
}

#[test]
fn marks_may_take_the_window_to_one_segment() {
    let mut cc = Cubic::new(1000, u32::MAX, GROWTH);
    cc.on(Signal::EcnCe, &view(MSS, 1000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 2000));
}

#[test]
fn a_second_loss_below_w_max_lowers_it_further() {
    let mut cc = after_loss_at(100);
    cc.on(Signal::EnterRecovery, &view(MSS, 70_000));
    assert_eq!(cc.state.w_max, 59_500, "70 segments times (1 + 0.7) / 2");
}

#[test]
fn a_timeout_starts_over_and_the_next_stage_has_its_plateau_at_once() {
    let mut cc = after_loss_at(100);
    cc.on(Signal::Timeout { first: true }, &view(MSS, 70_000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 49_000));
    cc.on(Signal::Timeout { first: false }, &view(MSS, 1000));
    assert_eq!((cc.cwnd(), cc.ssthresh()), (1000, 49_000));
    for _ in 0..48 {
        cc.on(Signal::Acked { bytes: MSS }, &view(MSS, 49_000));
    }
    assert_eq!(cc.cwnd(), 49_000, "slow start up to the threshold");
    cc.on(Signal::Acked { bytes: MSS }, &view(MSS, 49_000));
    assert_eq!((cc.state.k, cc.state.w_max), (0, 49_000));
}

#[test]
fn an_unused_window_does_not_grow_and_its_clock_stops() {
    let rtt = Span::from_ms(100);
    let (mut steady, mut paused) = (after_loss_at(1000), after_loss_at(1000));
    let (mut steady_now, mut paused_now) = (Time::ZERO, Time::ZERO);
    run(&mut steady, &mut steady_now, rtt, 3);
    run(&mut paused, &mut paused_now, rtt, 3);
    let before = paused.cwnd();
    for _ in 0..600 {
        paused_now += rtt;
        let view = View { now: paused_now, cwnd_limited: false, ..view(MSS, 5000) };
        paused.on(Signal::Acked { bytes: MSS }, &view);
    }
    assert_eq!(paused.cwnd(), before);
    assert_eq!(run(&mut steady, &mut steady_now, rtt, 3), run(&mut paused, &mut paused_now, rtt, 3));
}

#[test]
fn undo_restores_the_curve_unless_the_window_has_passed_it() {
    let mut cc = after_loss_at(100);
    let mut now = Time::ZERO;
    run(&mut cc, &mut now, Span::from_ms(100), 2);
    let before = cc.state;
    cc.on(Signal::EnterRecovery, &view(MSS, cc.cwnd()));
    cc.on(Signal::Timeout { first: true }, &view(MSS, cc.cwnd()));
    cc.on(Signal::Undo, &view(MSS, 0));
    assert_eq!(cc.state, before);
    cc.on(Signal::EnterRecovery, &view(MSS, cc.cwnd()));
    cc.state.window.cwnd = 1_000_000;
    cc.on(Signal::Undo, &view(MSS, 0));
    assert_eq!(cc.cwnd(), 1_000_000);
}

#[test]
fn cube_roots_are_exact() {
    for n in [0_u64, 1, 2, 7, 8, 1000, 999_999, (1 << 42) - 1] {
        let cube = u128::from(n).pow(3);
        assert_eq!(cube_root(cube), n);
        assert_eq!(cube_root(cube + u128::from(n > 0)), n);
        assert_eq!(cube_root(cube.saturating_sub(1)), n.saturating_sub(1));
    }
}

#[test]
fn extremes_do_not_overflow() {
    for (mss, window) in [(1, u32::MAX), (u32::MAX, u32::MAX), (0, 0), (65_535, u32::MAX - 1)] {
        let mut cc = Cubic::new(window, 0, GROWTH);
        for signal in [Signal::EnterRecovery, Signal::ExitRecovery, Signal::Acked { bytes: u32::MAX }] {
            cc.on(signal, &view(mss, window));
        }
        let late = View { now: Time::from_ps(u64::MAX - 1), srtt: Some(Span::MAX), ..view(mss, window) };
        cc.on(Signal::Acked { bytes: u32::MAX }, &late);
        cc.on(Signal::Timeout { first: true }, &late);
        cc.on(Signal::Acked { bytes: u32::MAX }, &late);
    }
}
