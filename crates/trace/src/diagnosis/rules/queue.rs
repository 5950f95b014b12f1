//! The path is full: `bottleneck`, `cross-traffic`, `shaper`.

use super::shaper::after_burst;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::phase::Phase;
use netspurt_budget::Limit;

/// Round trips on each side over which the rates of trains and the delivery rate are compared.
const TRAIN_ROUNDS: u64 = 15;
const RATE_ROUNDS: u64 = 8;
/// Alone, a connection gets what its trains show; below this share of it, others have most of the rest.
const SHARE: f64 = 0.8;
/// The quantile of the trains that shows the capacity.
const CAPACITY: f64 = 0.9;

/// A full path, if a queue stood for the last round trip.
///
/// The capacity shows in trains of segments that happened to be neighbours in the queue. Others have most of the path if much
/// less than that reaches this connection.
pub(super) fn full_path(facts: &Facts, phase: Phase, index: usize) -> Option<Limit> {
    let now = facts.path.now.get(index).filter(|now| now.full)?;
    let has_more = matches!(phase, Phase::Sending | Phase::WindowFull | Phase::FastRecovery);
    if !now.many && !has_more {
        return None;
    }
    let Some((rate, capacity)) = rate_and_capacity(facts, index) else { return Some(Limit::Bottleneck) };
    Some(if rate < capacity * SHARE {
        Limit::CrossTraffic
    } else if after_burst(facts, index, rate) {
        Limit::Shaper
    } else {
        Limit::Bottleneck
    })
}

/// Whether packets wait at this moment.
pub(super) fn is_queued(facts: &Facts, index: usize) -> bool {
    facts.path.now.get(index).is_some_and(|now| now.queueing > facts.path.threshold)
}

/// The delivery rate while the path is full, and the capacity that the trains show, in bytes per second.
pub(super) fn rate_and_capacity(facts: &Facts, index: usize) -> Option<(f64, f64)> {
    let is_full = |&i: &usize| facts.path.now[i].full && facts.slices[i].resent == 0;
    let (first, last) = facts.around(index, RATE_ROUNDS);
    let (mut bytes, mut time) = (0_u64, 0);
    for i in (first..=last).filter(is_full) {
        bytes += u64::from(facts.slices[i].delivered);
        time += facts.slices[i].until - facts.began(i);
    }
    let (first, last) = facts.around(index, TRAIN_ROUNDS);
    let step = (last - first) / 128 + 1;
    let mut trains: Vec<u32> = (first..=last)
        .step_by(step)
        .filter(is_full)
        .map(|i| facts.slices[i].train)
        .filter(|&train| train > 0)
        .collect();
    if trains.len() < 3 || time == 0 || bytes == 0 {
        return None;
    }
    trains.sort_unstable();
    let capacity = f64::from(trains[(trains.len() - 1) * (CAPACITY * 100.0) as usize / 100]) * 1e3;
    Some((bytes as f64 * 1e9 / time as f64, capacity))
}
