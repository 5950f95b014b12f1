//! A token bucket drops what exceeds its rate: `policer`, after T. Flach et al., "An Internet-wide analysis of traffic policing",
//! SIGCOMM 2016, section 3.1. Their test looks at packets; this one looks at slices of a quarter of a round trip.

use super::Moment;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::meter::Slice;
use crate::diagnosis::phase::Phase;
use netspurt_budget::Limit;

/// Least numbers of lost segments, of segments that passed, and of slices with losses.
const LOST: u32 = 15;
const PASSED: u64 = 15;
const SLICES: usize = 3;
/// At a loss the bucket is empty: at most this share of losses is off by more than two round trips' worth of tokens.
const LOSSES_OFF: f64 = 0.1;
/// At a passage it has tokens: at most this share is below by more than three quarters of a round trip's worth.
const PASSES_OFF: f64 = 0.03;
/// A queue would show before losses: at most this share of them follows a round trip above 1.3 times the 10th percentile.
const QUEUED: f64 = 0.2;
const QUEUED_ABOVE: f64 = 1.3;

/// The time in which a policer dropped segments.
pub(in crate::diagnosis) fn policed(facts: &Facts) -> Option<(u64, u64)> {
    let slices = &facts.slices;
    let first = slices.iter().position(|slice| slice.lost > 0)?;
    let last = slices.iter().rposition(|slice| slice.lost > 0)?;
    let lost: u32 = slices.iter().map(|slice| u32::from(slice.lost)).sum();
    let with_loss = slices.iter().filter(|slice| slice.lost > 0).count();
    let segment = u64::from(facts.totals.segment.max(1));
    let passed = |slice: &Slice| {
        (u64::from(slice.sent) + u64::from(slice.resent) * segment)
            .saturating_sub(u64::from(slice.lost) * segment)
    };
    let bytes: u64 = slices[first + 1..=last.max(first + 1).min(slices.len() - 1)].iter().map(passed).sum();
    if lost < LOST || bytes / segment < PASSED || with_loss < SLICES {
        return None;
    }
    let span = slices[last].until - slices[first].until;
    let rate = bytes as f64 / span.max(1) as f64;
    let round_of_tokens = rate * facts.path.base as f64;
    let (mut tokens, mut at_losses, mut at_passes) = (0.0, Vec::new(), Vec::new());
    for (index, slice) in slices.iter().enumerate().take(last + 1).skip(first + 1) {
        tokens += rate * (slice.until - facts.began(index)) as f64;
        tokens -= passed(slice) as f64;
        if slice.lost > 0 {
            at_losses.push(tokens);
        } else if slice.sent > 0 {
            at_passes.push(tokens);
        }
    }
    let share = |values: &[f64], off: &dyn Fn(f64) -> bool| {
        values.iter().filter(|&&value| off(value)).count() as f64 / values.len().max(1) as f64
    };
    let fits = share(&at_losses, &|tokens| tokens.abs() > 2.0 * round_of_tokens) <= LOSSES_OFF
        && share(&at_passes, &|tokens| tokens < -0.75 * round_of_tokens) <= PASSES_OFF
        && mean(&at_losses) < mean(&at_passes)
        && median(&mut at_losses) < median(&mut at_passes);
    (fits && !is_queued(facts)).then_some((facts.began(first), until_back(facts, last)))
}

/// When the flight is as large as before the loss in slice `last`.
fn until_back(facts: &Facts, last: usize) -> u64 {
    let (first, _) = facts.around(last, 2);
    let before = facts.flight[first..=last].iter().max().copied().unwrap_or(0);
    let back = (last + 1..facts.slices.len())
        .filter(|&i| facts.slices[i].until > facts.slices[last].until + 2 * facts.path.base);
    let back = back.into_iter().find(|&i| facts.slices[i].flight >= before);
    back.map_or(u64::MAX, |index| facts.slices[index].until)
}

/// Whether losses follow a queue: by the threshold of Flach et al., or because packets waited in a short queue.
fn is_queued(facts: &Facts) -> bool {
    let now = &facts.path.now;
    let mut rtts: Vec<f64> =
        (0..now.len()).filter(|&i| facts.slices[i].ahead > 0).map(|i| now[i].rtt as f64).collect();
    rtts.sort_by(f64::total_cmp);
    let Some(low) = rtts.get(rtts.len() / 10) else { return false };
    // In slices, not in segments: the first burst fills the bucket and a queue at once, and many segments are lost then.
    let (mut losses, mut queued, mut waited) = (0, 0, 0);
    for (_, now) in facts.slices.iter().zip(now).filter(|(slice, _)| slice.lost > 0) {
        losses += 1;
        queued += u32::from(now.rtt as f64 > low * QUEUED_ABOVE);
        waited += u32::from(now.queueing > facts.path.threshold);
    }
    f64::from(queued.max(waited)) > f64::from(losses) * QUEUED
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Whether what limits the sender now follows from the drops of a policer: repairs, and the small window after them.
pub(super) fn follows(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let (from, until) = facts.policed?;
    let follows = matches!(
        moment.phase,
        Phase::FastRecovery | Phase::Timeout | Phase::TailLoss | Phase::Sending | Phase::Drained
    );
    let at = facts.slices.get(moment.index)?.until;
    (follows && at > from && at <= until).then_some(Limit::Policer)
}
