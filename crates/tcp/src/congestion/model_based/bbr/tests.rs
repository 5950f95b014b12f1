//! Tests of the arithmetic of the model. `tests/congestion/bbr.rs` tests its behaviour on a path.

use super::*;
use crate::congestion::tests::view;

const MSS: u32 = 1000;

#[test]
fn the_gains_are_those_of_the_document() {
    let as_real = |gain: u64| gain as f64 / UNIT as f64;
    let doubling = 2.0 / 2f64.ln();
    assert!((as_real(HIGH_GAIN) - doubling).abs() < 0.01);
    assert!((as_real(DRAIN_GAIN) - 1.0 / doubling).abs() < 0.01);
    assert_eq!(CYCLE.iter().sum::<u64>(), 8 * UNIT, "the mean gain of the cycle is one");
}

#[test]
fn a_cycle_starts_in_any_phase_except_the_draining_one() {
    let phases: Vec<usize> = (0..200)
        .map(|seed| {
            let mut bbr = Bbr::new(10_000, 77_777_777_u32.wrapping_mul(seed));
            bbr.begin_cycle(Time::ZERO);
            bbr.phase
        })
        .collect();
    assert!(phases.iter().all(|&phase| phase != 1));
    assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|phase| phases.contains(phase)));
}

#[test]
fn the_first_rate_is_the_window_in_a_round_trip_times_the_high_gain() {
    let mut bbr = Bbr::new(10 * MSS, 1);
    let mut seen = view(MSS, 0);
    seen.srtt = Some(Span::from_ms(100));
    bbr.set_pacing_rate(HIGH_GAIN, &seen);
    let expected = 100_000.0 * 2.885 * 0.99;
    let rate = bbr.pacing_rate().expect("a rate") as f64;
    assert!((rate / expected - 1.0).abs() < 0.002, "{rate}");
}

#[test]
fn the_first_rate_is_that_of_the_handshake_not_of_the_first_data() {
    let mut bbr = Bbr::new(10 * MSS, 1);
    bbr.begin_pace(Some(Span::from_ms(40)));
    let first = bbr.pacing_rate();
    let mut seen = view(MSS, 0);
    seen.srtt = Some(Span::from_ms(80));
    bbr.set_pacing_rate(HIGH_GAIN, &seen);
    assert_eq!(bbr.pacing_rate(), first);
    // Without a sample of the handshake: a millisecond, until there is one (`bbr_init_pacing_rate_from_rtt()`).
    let mut bbr = Bbr::new(10 * MSS, 1);
    bbr.begin_pace(None);
    assert!(bbr.pacing_rate() > first);
    bbr.set_pacing_rate(HIGH_GAIN, &seen);
    assert!(bbr.pacing_rate() < first);
}

#[test]
fn the_window_counts_the_path_the_hosts_and_pairs() {
    let mut bbr = Bbr::new(10 * MSS, 1);
    bbr.min_rtt = Some(Span::from_ms(100));
    bbr.pace.want(1_000_000, true);
    // 100 segments on the path, three bursts of two in the hosts.
    assert_eq!(bbr.inflight(1_000_000, UNIT, MSS), 106_000);
    assert_eq!(bbr.inflight(1_000_100, UNIT, MSS), 108_000, "rounded up to a segment, then to a pair");
    assert_eq!(bbr.inflight(1_000_000, CWND_GAIN, MSS), 206_000);
    bbr.pace.want(100_000_000, true);
    assert_eq!(bbr.inflight(1_000_000, UNIT, MSS), 296_000, "bursts of 65 segments at most");
}

/// What an ACK of a segment shows in this state.
fn sample_in(repairing: Repairing) -> RateSample {
    RateSample {
        delivered: 50_000,
        delivered_at: Time::ZERO,
        lost: 40_000,
        newly_delivered: 1000,
        newly_lost: 0,
        interval: None,
        rtt: None,
        min_rtt: None,
        maybe_delayed: false,
        prior_in_flight: 1000,
        in_flight: 0,
        next_departure: Time::ZERO,
        repairing,
        selective: true,
    }
}

#[test]
fn bbr_restores_its_window_after_a_timeout() {
    let mut bbr = Bbr::new(40 * MSS, 1);
    bbr.on(Signal::Timeout { first: true }, &view(MSS, 40_000));
    assert_eq!(bbr.cwnd(), MSS);
    bbr.delivered(&sample_in(Repairing::Timeout), &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), 4 * MSS);
    bbr.delivered(&sample_in(Repairing::Nothing), &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), 41 * MSS, "and it starts up as before");
}

#[test]
fn a_mark_saves_the_window_that_bbr_restores_after_a_recovery_that_begins_later() {
    // tcp_enter_cwr() calls bbr_ssthresh(); tcp_enter_recovery() does not, while the mark reduces the window.
    let mut bbr = Bbr::new(40 * MSS, 1);
    bbr.on(Signal::EcnCe, &view(MSS, 40_000));
    bbr.delivered(&sample_in(Repairing::Loss), &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), MSS);
    bbr.delivered(&sample_in(Repairing::Nothing), &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), 40 * MSS);
}

#[test]
fn an_undo_restores_three_quarters_of_cwnd_as_ssthresh() {
    let seen = view(MSS, 0);
    for (forgets, ssthresh) in [(false, 15 * MSS), (true, 10 * MSS)] {
        let mut bbr = Bbr { ssthresh: 10 * MSS, ..Bbr::new(20 * MSS, 1) };
        bbr.on(Signal::Timeout { first: true }, &seen);
        if forgets {
            assert_eq!(bbr.set_prior_ssthresh(0), 15 * MSS);
        }
        bbr.on(Signal::Undo, &seen);
        assert_eq!(bbr.ssthresh(), ssthresh);
    }
}
