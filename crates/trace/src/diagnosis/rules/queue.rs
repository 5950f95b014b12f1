//! The path is full: `bottleneck`, `cross-traffic`.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::phase::Phase;
use netspurt_budget::Limit;

/// Round trips on each side over which the delivery rate is compared.
const ROUNDS: u64 = 15;
/// Alone, a connection has the same rate whenever the path is full; the low rates are at least this share of the high ones.
const STEADY: f64 = 0.75;

/// A full path, if a queue stood for the last round trip.
///
/// Others have most of it if much less than the capacity reaches this connection, or if its rate varies while the path stays
/// full.
pub(super) fn full_path(facts: &Facts, phase: Phase, index: usize) -> Option<Limit> {
    let now = facts.path.now.get(index).filter(|now| now.full)?;
    let has_more = matches!(phase, Phase::Sending | Phase::WindowFull | Phase::FastRecovery);
    if !now.many && !has_more {
        return None;
    }
    let peak = facts.path.peak;
    let little = now.rate > 0.0 && now.rate < peak * 0.5;
    let others = little || now.rate < peak * STEADY && varies(facts, index);
    Some(if others { Limit::CrossTraffic } else { Limit::Bottleneck })
}

/// Whether the delivery rate varies while the path is full and nothing is repaired.
fn varies(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, ROUNDS);
    let step = (last - first) / 64 + 1;
    let mut rates: Vec<f64> = (first..=last)
        .step_by(step)
        .filter(|&i| facts.path.now[i].full && facts.slices[i].resent == 0 && facts.path.now[i].rate > 0.0)
        .map(|i| facts.path.now[i].rate)
        .collect();
    if rates.len() < 8 {
        return false;
    }
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 5] < rates[rates.len() * 4 / 5] * STEADY
}
