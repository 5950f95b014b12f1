//! A token bucket drops what exceeds its rate: `policer`, after T. Flach et al., "An Internet-wide analysis of traffic policing",
//! SIGCOMM 2016, section 3.1. Their test takes the rate from what passed between the first and the last loss. Here the rate is
//! fitted, because the tokens of a sender that stays below the rate for a while are lost; and a queue is told apart by the rate
//! of the link behind it, and by its delay.

use super::Moment;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::path::bucket::{Bucket, Step, fit, with_rate};
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// Least numbers of lost segments, of segments that passed, and of slices with losses.
const LOST: u32 = 15;
const PASSED: f64 = 15.0;
const SLICES: usize = 3;
/// At a loss the bucket is empty: at most this share of losses comes early or late.
const LOSSES_OFF: f64 = 0.1;
/// At a passage it has tokens: at most this share of passages comes without.
const PASSES_OFF: f64 = 0.03;
/// Its tokens were used up at least so many times.
const TIMES: f64 = 3.0;
/// Segments pass a policer at the rate of the link, which is larger than that of the bucket by this factor at least.
const FASTER: f64 = 1.3;
/// A full queue delays by its size over its rate. Packets of a bucket wait for less than this share of that.
const DELAY: f64 = 0.25;
/// A queue of fewer segments is not told from chance.
const LEAST_QUEUE: f64 = 4.0;
/// Segments by which a step of the fit may be wrong.
const SLACK: f64 = 2.0;

/// The time in which a policer dropped segments.
pub(in crate::diagnosis) fn policed(facts: &Facts, steps: &[Step]) -> Option<(u64, u64)> {
    let lossy = |slice: &crate::diagnosis::sender::meter::Slice| slice.lost > 0;
    let first = facts.slices.iter().position(lossy)?;
    let last = facts.slices.iter().rposition(lossy)?;
    let lost: u32 = steps.iter().map(|step| step.dropped).sum();
    if lost < LOST || facts.slices.iter().filter(|slice| lossy(slice)).count() < SLICES {
        return None;
    }
    let begin = steps.iter().position(|step| step.dropped > 0)?;
    let between = steps[begin + 1..].iter();
    let (bytes, time) = between.fold((0, 0), |sum, step| (sum.0 + step.passed, sum.1 + step.lasted));
    let (bytes, least) = (bytes as f64, bytes as f64 / time.max(1) as f64);
    let segment = f64::from(facts.totals.segment.max(1));
    // In bytes per nanosecond. Where delays do not show a queue, segments must pass faster than the bucket's rate often.
    let link = if facts.path.shows_queue { facts.path.peak } else { facts.path.capacity } / 1e9;
    if bytes < PASSED * segment || link < least * FASTER {
        return None;
    }
    let bucket = fit(steps, least, SLACK * segment)?;
    let fits = |bucket: &Bucket| bucket.unexpected <= LOSSES_OFF && bucket.excessive <= PASSES_OFF;
    let queue = with_rate(steps, link, SLACK * segment);
    // Bursts that differ little fit to any rate. Where delays show nothing, only the rate tells a policer from a queue.
    let is_sharp = || !fits(&with_rate(steps, bucket.rate * FASTER, SLACK * segment));
    let is_policer = fits(&bucket)
        && bytes > TIMES * bucket.depth
        && link > FASTER * bucket.rate
        && !(fits(&queue) && queue.depth >= LEAST_QUEUE * segment)
        && (facts.path.shows_queue || is_sharp())
        && !waits_in_queue(facts, bucket.depth / bucket.rate);
    is_policer.then(|| (facts.began(first), until_back(facts, last)))
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

/// Whether packets waited around losses: for a good part of `full`, the nanoseconds for which the queue would delay that drops
/// as the bucket does; or for longer than a round trip.
fn waits_in_queue(facts: &Facts, full: f64) -> bool {
    let now = &facts.path.now;
    let (mut at_losses, mut after): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for index in (0..now.len()).filter(|&index| facts.slices[index].lost > 0) {
        at_losses.push(now[index].queueing);
        // The delay of what was sent with it shows a round trip later.
        let until = facts.slices[index].until + now[index].rtt * 3 / 2;
        let last = facts.index_at(until).min(now.len() - 1);
        after.push(now[index..=last].iter().map(|now| now.queueing).max().unwrap_or(0));
    }
    median(&mut after) as f64 > full * DELAY || median(&mut at_losses) > facts.path.base
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// Whether what limits the sender now follows from the drops of a policer: repairs, and the small window after them.
pub(super) fn follows(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let (from, until) = facts.policed?;
    let follows = matches!(
        moment.phase,
        Phase::FastRecovery
            | Phase::Timeout
            | Phase::TailLoss
            | Phase::Sending
            | Phase::Drained
            | Phase::RestHeld
            | Phase::RestKept
    );
    let at = facts.slices.get(moment.index)?.until;
    (follows && at > from && at <= until).then_some(Limit::Policer)
}
