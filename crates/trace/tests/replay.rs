//! Replays of ten samples, compared with values calculated by hand from each document's formulas.

use netspurt_tcp::rto::{Factor, Kind};
use netspurt_tcp::time::Span;
use netspurt_trace::replay::{Detail, Grid, Rules, Tally, Trip, grid, in_detail};

const BSD_TICK: Span = Span::from_ms(500);

/// RTTs in ms; `None` for a lost packet.
const TEN: [Option<u64>; 10] = [
    Some(1000),
    Some(1000),
    Some(3000),
    None,
    Some(1000),
    Some(800),
    Some(5000),
    None,
    Some(1000),
    Some(1200),
];

fn trips(delays_ms: &[Option<u64>]) -> Vec<Trip> {
    delays_ms.iter().map(|ms| ms.map_or(Trip::LOST, |ms| Trip::after(Span::from_ms(ms)))).collect()
}

/// RFC 793 and RFC 889 without limits.
fn mean_of(f1: (u32, u32), f2: (u32, u32)) -> Kind {
    let (min, max, initial) = (Span::ZERO, Span::ZERO, Span::from_secs(3));
    let [f1, f2, g] = [f1, f2, (2, 1)].map(|(num, den)| Factor::ratio(num, den));
    Kind::Rfc889 { f1, f2, g, min, max, initial }
}

fn mills() -> Kind {
    mean_of((15, 16), (3, 4))
}

fn rfc793() -> Kind {
    let (min, max, initial) = (Span::ZERO, Span::ZERO, Span::from_secs(3));
    Kind::Rfc793 { alpha: Factor::ratio(7, 8), beta: Factor::ratio(2, 1), min, max, initial }
}

fn rfc6298(min_ms: u64) -> Kind {
    let (min, max) = (Span::from_ms(min_ms), Span::from_secs(60));
    Kind::Rfc6298 { min, max, initial: Span::from_secs(1), granularity: Span::from_ms(1) }
}

fn linux() -> Kind {
    Kind::Linux { min: Span::from_ms(200), max: Span::from_secs(120), initial: Span::from_secs(1) }
}

/// The timeouts in microseconds, and their cost: rtx, and the microseconds spent on losses and on rtx.
#[track_caller]
fn assert_worked(kind: Kind, timeouts_us: [u64; 10], rtx: u64, lost_us: u128, rtx_us: u128) {
    let Detail { tally, rto, .. } = in_detail(kind, &trips(&TEN), Rules::Document);
    let got: Vec<u64> = rto.iter().map(|rto| rto.as_ps() / 1_000_000).collect();
    assert_eq!(got, timeouts_us, "{kind:?}");
    let Tally { lost, lost_ps, rtx: sent_again, rtx_ps } = tally;
    assert_eq!((lost, sent_again), (2, rtx), "{kind:?}");
    assert_eq!((lost_ps / 1_000_000, rtx_ps / 1_000_000), (lost_us, rtx_us), "{kind:?}");
}

#[test]
fn ten_samples_by_rfc_793() {
    // SRTT: 1000, 1000, 7/8·1000 + 3000/8 = 1250, 1218.75, 1166.406 25, 1645.605 46…, 1564.904…; twice that each time.
    let timeouts = [
        2_000_000, 2_000_000, 2_000_000, 2_500_000, 2_500_000, 2_437_500, 2_332_812, 3_291_210, 3_291_210,
        3_129_809,
    ];
    assert_worked(rfc793(), timeouts, 2, 5_791_210, 8_000_000);
    assert_worked(mean_of((7, 8), (7, 8)), timeouts, 2, 5_791_210, 8_000_000);
}

#[test]
fn ten_samples_by_rfc_889() {
    // E: 1000, 1000, 3/4·1000 + 3000/4 = 1500, 15/16·1500 + 1000/16 = 1468.75, 1426.953 125,
    // 3/4·1426.953 125 + 5000/4 = 2320.214 84…, 2237.701…
    let timeouts = [
        2_000_000, 2_000_000, 2_000_000, 3_000_000, 3_000_000, 2_937_500, 2_853_906, 4_640_429, 4_640_429,
        4_475_402,
    ];
    assert_worked(mills(), timeouts, 2, 7_640_429, 8_000_000);
}

#[test]
fn ten_samples_by_rfc_6298() {
    // SRTT, RTTVAR: (1000, 500), (1000, 375), (1250, 781.25), (1218.75, 648.4375), (1166.40625, 591.015625),
    // (1645.60546…, 1401.66…), … ; the floor of a second is never met.
    let timeouts = [
        3_000_000, 3_000_000, 2_500_000, 4_375_000, 4_375_000, 3_812_500, 3_530_468, 7_252_246, 7_252_246,
        6_415_490,
    ];
    assert_worked(rfc6298(0), timeouts, 2, 11_627_246, 8_000_000);
    assert_worked(rfc6298(1000), timeouts, 2, 11_627_246, 8_000_000);
}

#[test]
fn ten_samples_by_jacobson_in_ticks() {
    // In ticks of 500 ms: 2, 2, 6, lost, 2, 1, 10, lost, 2, 2; the first counts as 3.
    let bounds = (BSD_TICK, 2, 128);
    let (tick, min_ticks, max_ticks) = bounds;
    let reno = [9, 9, 8, 12, 12, 11, 11, 16, 16, 14].map(|ticks| ticks * 500_000);
    assert_worked(Kind::Jacobson88 { tick, min_ticks, max_ticks }, reno, 0, 14_000_000, 0);
    let tahoe = [6, 6, 5, 7, 7, 7, 7, 10, 10, 9].map(|ticks| ticks * 500_000);
    assert_worked(Kind::Tahoe { tick, min_ticks, max_ticks }, tahoe, 2, 8_500_000, 8_000_000);
}

#[test]
fn ten_samples_by_linux() {
    // An error upwards counts in full: after 3000 ms, 375 + 2000/4 … as RFC 6298 (the variance terms in us are 2000000,
    // 2000000, 3125000); downwards by an eighth, and then the term falls back by a quarter of the difference only.
    let timeouts = [
        3_000_000, 3_000_000, 3_000_000, 4_375_000, 4_375_000, 4_210_938, 4_001_563, 7_252_247, 7_252_247,
        6_982_533,
    ];
    assert_worked(linux(), timeouts, 1, 11_627_247, 5_000_000);
}

#[test]
fn ten_samples_by_a_timeout_that_never_changes() {
    assert_worked(Kind::Fixed { rto: Span::from_ms(2500) }, [2_500_000; 10], 2, 5_000_000, 8_000_000);
}

#[test]
fn a_delay_equal_to_the_timeout_is_in_time() {
    let path = trips(&[Some(1000), Some(2000), Some(1)]);
    let detail = in_detail(mills(), &path, Rules::Document);
    assert_eq!(detail.tally.rtx, 0);
    assert_eq!(detail.late_percentiles.map(|late| late.p5), Some(Span::ZERO));
}

#[test]
fn a_loss_at_the_start_costs_rice_1_a_tenth_of_a_second_and_three_retransmissions() {
    // RFC 889's table, one way: 512 packets, mean 715 ms, one lost at .1 s, 3 sent again at 2.3 s.
    let mut path = vec![Trip::after(Span::from_us(2 * 716_400)); 512];
    path[0] = Trip::LOST;
    let Detail { tally, .. } = in_detail(mills(), &path, Rules::Document);
    assert_eq!((tally.lost, tally.lost_ps / 2), (1, u128::from(Span::from_ms(100).as_ps())));
    assert_eq!((tally.rtx, tally.rtx_ps / 2), (3, u128::from(Span::from_us(3 * 716_400).as_ps())));
}

#[test]
fn as_a_connection_the_timer_doubles_until_there_is_a_sample() {
    // Fixed estimators do not double (their bound is the timeout itself), so RFC 6298 it is: 1 s, then 3 · 400 ms.
    let path = trips(&[Some(400), None, None, None, Some(400), None]);
    let detail = in_detail(rfc6298(0), &path, Rules::Connection);
    let ms: Vec<u64> = detail.rto.iter().map(|rto| rto.as_ps() / 1_000_000_000).collect();
    // After the sample at 8 · 1.2 s, RTTVAR is 150 ms.
    assert_eq!(ms, [1000, 1200, 2400, 4800, 9600, 1000]);
    assert_eq!(detail.tally.lost_ps, u128::from(Span::from_ms(1200 + 2400 + 4800 + 1000).as_ps()));
}

#[test]
fn as_a_connection_a_retransmitted_packet_is_no_sample() {
    // 400 ms, then for good 5 s: the timer runs out at 1.2 and again at 3.6 s, so 4.8 s are in force for the next, then
    // 9.6: in time at last, and the first sample of the new delay.
    let path = trips(&[Some(400), Some(5000), Some(5000), Some(5000), Some(5000)]);
    let detail = in_detail(rfc6298(0), &path, Rules::Connection);
    let ms: Vec<u64> = detail.rto.iter().map(|rto| rto.as_ps() / 1_000_000_000).collect();
    assert_eq!(ms[..4], [1000, 1200, 4800, 9600]);
    assert_eq!(detail.tally.rtx, 2);
    // SRTT 7/8·400 + 5000/8 = 975; RTTVAR 3/4·200 + 4600/4 = 1300.
    assert_eq!(ms[4], 975 + 4 * 1300);
}

#[test]
fn the_upper_bound_holds_for_backoff_too() {
    let path = trips(&[None; 12]);
    let detail = in_detail(rfc6298(1000), &path, Rules::Connection);
    assert_eq!(detail.rto.last(), Some(&Span::from_secs(60)));
}

/// Synthetic delays without randomness.
fn long_path(count: u64) -> Vec<Trip> {
    (0..count)
        .map(|n| match n * 7919 % 101 {
            0 => Trip::LOST,
            rest => Trip::after(Span::from_us(100_000 + 997 * rest + if n % 251 < 5 { 900_000 } else { 0 })),
        })
        .collect()
}

#[test]
fn a_grid_equals_single_replays_on_any_number_of_cores() {
    let path = long_path(5000);
    let kinds: Vec<Kind> = [1, 2, 3, 5, 7, 9, 11]
        .into_iter()
        .map(|n| mean_of((n, 12), (n, 16)))
        .chain([linux(), rfc6298(0), rfc793(), linux(), mills()])
        .collect();
    for rules in [Rules::Document, Rules::Connection] {
        let run = |threads, blocks| {
            let work = Grid { trips: &path, kinds: &kinds, rules, blocks, threads };
            grid(work, || true).expect("nobody stopped it")
        };
        let one = run(1, 1);
        for (kind, tallies) in kinds.iter().zip(&one) {
            assert_eq!(tallies[..], [in_detail(*kind, &path, rules).tally], "{kind:?}");
        }
        let many = run(3, 17);
        assert_eq!(many, run(1, 17));
        for (whole, blocks) in one.iter().zip(&many) {
            assert_eq!(blocks.len(), 17);
            assert_eq!(whole[0].lost, blocks.iter().map(|tally| tally.lost).sum::<u64>());
            assert_eq!(whole[0].wasted_ps(), blocks.iter().map(Tally::wasted_ps).sum::<u128>());
        }
    }
}

#[test]
fn a_grid_that_is_stopped_has_no_result() {
    let (path, kinds) = (long_path(100), [mills(); 64]);
    let work = Grid { trips: &path, kinds: &kinds, rules: Rules::Document, blocks: 1, threads: 2 };
    assert_eq!(grid(work, || false), None);
}

#[test]
fn nothing_to_replay_costs_nothing() {
    for rules in [Rules::Document, Rules::Connection] {
        assert_eq!(in_detail(mills(), &[], rules).tally, Tally::default());
    }
    let work = Grid { trips: &[], kinds: &[], rules: Rules::Document, blocks: 1, threads: 1 };
    assert_eq!(grid(work, || true), Some(Vec::new()));
}
