//! Tests of the arithmetic of the model. `tests/congestion/bbr3.rs` tests its behaviour on a path.

use super::*;
use crate::congestion::tests::view;
use crate::time::Span;

const MSS: u32 = 1000;

#[test]
fn the_gains_are_those_of_the_document() {
    let as_real = |gain: u64| gain as f64 / UNIT as f64;
    for (state, pacing, cwnd) in [
        (State::Startup, 4.0 * 2f64.ln(), 2.0),
        (State::Drain, 0.5, 2.0),
        (State::Down, 0.9, 2.0),
        (State::Cruise, 1.0, 2.0),
        (State::Refill, 1.0, 2.0),
        (State::Up, 1.25, 2.25),
        (State::ProbeRtt, 1.0, 0.5),
    ] {
        assert!((as_real(state.pacing_gain()) - pacing).abs() < 0.003, "{state:?}");
        assert!((as_real(state.cwnd_gain()) - cwnd).abs() < 0.003, "{state:?}");
    }
}

#[test]
fn the_bytes_in_flight_at_two_percent_loss_are_computed_exactly() {
    let at = |tx_in_flight, lost| {
        bounds::inflight_at_loss(&LostSegment { start: 1, end: 1001, tx_in_flight, lost, app_limited: false })
    };
    // 100 kB before it, 2000 of them lost already: it was enough then.
    assert_eq!(at(101_000, 3000), 100_000);
    // With 1500 lost before, x more are enough when 1500 + x is a fiftieth of 100,000 + x.
    let x = at(101_000, 2500) - 100_000;
    assert_eq!(x, (100_000 - 50 * 1500) / 49);
    assert!((1500 + x) * 50 >= 100_000 + x - 50 && (1500 + x) * 50 <= 100_000 + x + 50);
    assert_eq!(at(101_000, 20_000), 100_000, "never less than what was there before");
}

#[test]
fn the_first_rate_is_that_of_the_handshake() {
    // 10,000 bytes in 40 ms, times the gain of startup, less the margin of a hundredth.
    let mut bbr = Bbr3::new(10 * MSS, 1);
    bbr.begin_pace(Some(Span::from_ms(40)));
    let first = bbr.pacing_rate().expect("a rate");
    let expected = 250_000.0 * 4.0 * 2f64.ln();
    assert!((first as f64 / expected - 1.0).abs() < 0.02, "{first}");
    // A later RTT does not replace it, but one after a handshake without a sample does.
    bbr.begin_pace(Some(Span::from_ms(80)));
    assert_eq!(bbr.pacing_rate(), Some(first));
    let mut bbr = Bbr3::new(10 * MSS, 1);
    bbr.begin_pace(None);
    assert!(bbr.pacing_rate() > Some(first), "a millisecond is assumed");
    bbr.begin_pace(Some(Span::from_ms(40)));
    assert_eq!(bbr.pacing_rate(), Some(first));
}

#[test]
fn one_decrease_is_at_most_three_tenths() {
    for value in [0, 1, 9, 10, 12_345, 1 << 40] {
        assert_eq!(loss::beta(value), value * 7 / 10, "{value}");
    }
}

/// One that has filled a path of 1 MB/s and 100 ms, with 100 segments in flight, and cruises.
fn cruising() -> Bbr3 {
    let mut bbr = Bbr3::new(10 * MSS, 1);
    bbr.round_trip.begin(Some(Span::from_ms(100)), Time::ZERO);
    bbr.bandwidth = [1_000_000; 2];
    bbr.full_reached = true;
    bbr.delivered = 1_000_000;
    bbr.cwnd = 200_000;
    bbr.start_cruise(Time::ZERO);
    bbr
}

/// A segment of the stream that gets lost with 100 others in flight, `lost` bytes with it.
fn segment(n: u64, lost: u64) -> LostSegment {
    LostSegment { start: n * 1000, end: n * 1000 + 1000, tx_in_flight: 100_000, lost, app_limited: false }
}

/// The ACK that ends a round, at such a rate.
fn round(delivered: u64, rate: u64) -> RateSample {
    RateSample {
        delivered,
        delivered_at: Time::ZERO,
        lost: 0,
        newly_delivered: 1000,
        newly_lost: 0,
        interval: Some(Interval {
            prior_delivered: delivered - rate / 10,
            delivered: rate / 10,
            span: Span::from_ms(100),
            app_limited: false,
            tx_in_flight: rate / 20,
            lost: 0,
        }),
        rtt: None,
        min_rtt: None,
        maybe_delayed: false,
        prior_in_flight: 100_000,
        in_flight: 100_000,
        next_departure: Time::ZERO,
        repairing: Repairing::Loss,
        selective: true,
    }
}

#[test]
fn a_lossy_round_of_cruising_reduces_the_bounds_by_at_most_three_tenths() {
    let seen = view(MSS, 100_000);
    for (arrives, expected) in [(900_000, 900_000), (500_000, 700_000)] {
        let mut bbr = cruising();
        bbr.lost(&segment(900, 1000), &seen);
        assert_eq!(bbr.rate(), 1_000_000, "not before the round is over");
        bbr.delivered(&round(1_100_000, arrives), &seen);
        assert_eq!(bbr.rate(), expected);
        assert_eq!(bbr.most_bandwidth(), 1_000_000, "what is known of the path stays");
        bbr.delivered(&round(1_200_000, arrives), &seen);
        assert_eq!(bbr.rate(), expected, "no loss, no less");
        bbr.start_refill();
        assert_eq!(bbr.rate(), 1_000_000, "and the next probe forgets it");
    }
}

#[test]
fn a_probe_with_more_than_two_percent_loss_sets_the_bound_and_ends() {
    let seen = view(MSS, 100_000);
    let mut bbr = cruising();
    bbr.start_refill();
    bbr.probing.is_sampled = true;
    bbr.state = State::Up;
    bbr.lost(&segment(900, 1000), &seen);
    bbr.lost(&segment(910, 2000), &seen);
    assert_eq!((bbr.state, bbr.bounds.inflight_hi), (State::Up, bounds::INFINITE), "2 % is within the bound");
    bbr.lost(&segment(920, 3000), &seen);
    // 99 kB before it, of which 2000 were lost: more than 2 % of it.
    assert_eq!((bbr.state, bbr.bounds.inflight_hi), (State::Down, 99_000));
    bbr.lost(&segment(930, 30_000), &seen);
    assert_eq!(bbr.bounds.inflight_hi, 99_000, "once in each probe");
    bbr.delivered(&round(1_100_000, 1_000_000), &seen);
    assert!(bbr.cwnd() <= 99_000, "{}", bbr.cwnd());
    bbr.state = State::Cruise;
    bbr.delivered(&round(1_101_000, 1_000_000), &seen);
    assert!((84_000..=85_000).contains(&bbr.cwnd()), "15 % is left to others: {}", bbr.cwnd());
}

#[test]
fn a_spurious_loss_is_undone_and_the_probe_repeated() {
    let seen = view(MSS, 100_000);
    let mut bbr = cruising();
    bbr.start_refill();
    bbr.probing.is_sampled = true;
    bbr.state = State::Up;
    bbr.on(Signal::EnterRecovery, &seen);
    bbr.lost(&segment(900, 10_000), &seen);
    assert_eq!(bbr.state, State::Down);
    bbr.on(Signal::Undo, &seen);
    assert_eq!((bbr.state, bbr.bounds), (State::Refill, Bounds::NONE));
    assert_eq!(bbr.cwnd(), 200_000);
}

#[test]
fn a_mark_counts_as_excessive_loss() {
    let seen = view(MSS, 100_000);
    let mut bbr = cruising();
    bbr.on(Signal::EcnCe, &seen);
    bbr.delivered(&round(1_100_000, 900_000), &seen);
    assert_eq!(bbr.rate(), 900_000);
    bbr.start_refill();
    (bbr.probing.is_sampled, bbr.state) = (true, State::Up);
    bbr.on(Signal::EcnCe, &seen);
    assert_eq!((bbr.state, bbr.bounds.inflight_hi), (State::Down, 100_000));
}

#[test]
fn bbr3_restores_its_window_after_a_timeout() {
    let mut bbr = cruising();
    bbr.on(Signal::Timeout { first: true }, &view(MSS, 200_000));
    assert_eq!(bbr.cwnd(), MSS);
    let mut sample = round(1_050_000, 100_000);
    sample.repairing = Repairing::Timeout;
    bbr.delivered(&sample, &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), 4 * MSS);
    sample.repairing = Repairing::Nothing;
    bbr.delivered(&sample, &view(MSS, 1000));
    assert_eq!(bbr.cwnd(), 201_000, "and grows by what has arrived");
}
