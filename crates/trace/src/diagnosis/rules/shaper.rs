//! A token bucket delays what exceeds its rate: `shaper`.

use super::queue::rate_and_capacity;
use crate::diagnosis::facts::Facts;

/// Least size of a burst, in segments, and in round trips at the rate after it.
const LEAST_SEGMENTS: f64 = 8.0;
const LEAST_ROUNDS: f64 = 0.25;
/// The burst is what exceeds so many times the rate after it.
const SLACK: f64 = 1.1;
/// A rate that differs by less from that after the burst is that rate.
const NEAR: f64 = 1.3;
/// Full slices that are looked at for the rate.
const SAMPLES: usize = 200;

/// A burst that passed before the path was full: its end, and the rate after it in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::diagnosis) struct Burst {
    until: u64,
    rate: f64,
}

/// Finds a burst.
///
/// A link has the same rate for the first segment as for the last one. A bucket of tokens lets a burst pass at the rate of the
/// link, and then only what its rate permits. Before any loss, since a repair releases what has waited for it.
pub(in crate::diagnosis) fn burst(facts: &Facts) -> Option<Burst> {
    let now = &facts.path.now;
    let full: Vec<usize> = (0..now.len()).filter(|&i| now[i].full && facts.slices[i].resent == 0).collect();
    let step = full.len() / SAMPLES + 1;
    let mut rates: Vec<(f64, u64)> = full
        .iter()
        .step_by(step)
        .filter_map(|&i| Some((rate_and_capacity(facts, i)?.0, now[i].queueing)))
        .collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let &(rate, queueing) = rates.get(rates.len() / 2)?;
    let first_loss = facts.totals.first_loss.unwrap_or(u64::MAX);
    let per_ns = rate * SLACK / 1e9;
    let (mut excess, mut most, mut until) = (0.0_f64, 0.0_f64, 0);
    for (i, slice) in facts.slices.iter().enumerate().take_while(|(_, slice)| slice.until < first_loss) {
        let waits = now[i].queueing > facts.path.threshold && now[i].queueing * 2 > queueing;
        excess += f64::from(slice.delivered) - per_ns * (slice.until - facts.began(i)) as f64;
        excess = if waits { 0.0 } else { excess.max(0.0) };
        if excess > most {
            (most, until) = (excess, slice.until);
        }
    }
    let least = (LEAST_SEGMENTS * f64::from(facts.totals.segment))
        .max(LEAST_ROUNDS * rate * facts.path.base as f64 / 1e9);
    (most > least).then_some(Burst { until, rate })
}

/// Whether a full path has the rate that is left after a burst.
pub(super) fn after_burst(facts: &Facts, index: usize, rate: f64) -> bool {
    facts.burst.is_some_and(|burst| {
        facts.slices[index].until > burst.until && rate < burst.rate * NEAR && rate * NEAR > burst.rate
    })
}
