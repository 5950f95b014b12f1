//! The replay of timers: one estimator, or a grid, over a million synthetic delays.
//!
//! `replay detail|grid [NAME] [MILLIONS] [THREADS]` prints the number of steps: delays times estimators.

use crate::Outcome;
use crate::request::{Request, wrong};
use netspurt_tcp::rto::{Factor, Kind};
use netspurt_tcp::time::Span;
use netspurt_trace::replay::{Grid, Rules, Trip, grid, in_detail};
use std::error::Error;

pub(crate) fn measure(request: &Request) -> Outcome {
    let kind = kind(request.word(1))?;
    let (millions, threads) = (request.number::<usize>(2, 1)?, request.number(3, 1)?);
    let trips = trips(millions * 1_000_000);
    let (members, wasted) = if request.word(0) == "detail" {
        (1, in_detail(kind, &trips, Rules::Document).tally.wasted_ps())
    } else {
        let kinds = vec![kind; 40];
        let work = Grid { trips: &trips, kinds: &kinds, rules: Rules::Document, blocks: 32, threads };
        let tallies = grid(work, || true).unwrap_or_default();
        (kinds.len(), tallies.iter().flatten().map(|tally| tally.wasted_ps()).sum())
    };
    println!("steps {}  wasted {wasted} ps", members * trips.len());
    Ok(())
}

fn kind(name: &str) -> Result<Kind, Box<dyn Error>> {
    let (min, max, initial) = (Span::from_ms(200), Span::from_secs(60), Span::from_secs(1));
    let [f1, f2, g, alpha] = [(15, 16), (3, 4), (2, 1), (7, 8)].map(|(num, den)| Factor::ratio(num, den));
    Ok(match name {
        "rfc793" => Kind::Rfc793 { alpha, beta: g, min, max, initial },
        "rfc6298" => Kind::Rfc6298 { min, max, initial, granularity: Span::from_ms(1) },
        "linux" => Kind::Linux { min, max, initial },
        "jacobson88" => Kind::Jacobson88 { tick: Span::from_ms(500), min_ticks: 2, max_ticks: 128 },
        "" | "rfc889" => Kind::Rfc889 { f1, f2, g, min, max, initial },
        other => return Err(wrong(format!("no such estimator: {other}"))),
    })
}

/// About 100 ms with noise, 1 % loss, and occasional bursts of long delays.
fn trips(count: usize) -> Vec<Trip> {
    let mut state = 1_u64;
    let mut draw = || {
        // A linear congruential generator (Knuth, MMIX) is good enough for a benchmark.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    (0..count)
        .map(|n| {
            let noise = Span::from_us(100_000 + draw() % 40_000);
            match draw() % 100 {
                0 => Trip::LOST,
                _ if n % 500 < 6 => Trip::after(noise.saturating_mul(8)),
                _ => Trip::after(noise),
            }
        })
        .collect()
}
