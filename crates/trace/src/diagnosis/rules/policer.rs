//! A token bucket drops what exceeds its rate: `policer`, after T. Flach et al., "An Internet-wide analysis of traffic
//! policing",
//! SIGCOMM 2016, section 3.1. Their test takes the rate from what passed between the first and the last loss. Here the rate is
//! fitted, because the tokens of a sender that stays below the rate for a while are lost; and a queue is distinguished by the rate
//! of the link behind it, and by its delay.

use super::token_queue::delays;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::path::bucket::{Bucket, Step, fit, with_rate};
use crate::diagnosis::sender::phase::{Phase, Phases};
use netspurt_budget::Limit;

/// Which drops a token bucket shall explain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drops {
    All,
    AfterFirstRepair,
}

/// Least numbers of lost segments, of segments that passed, and of slices with losses.
const LOST: u32 = 15;
const PASSED: f64 = 15.0;
const SLICES: usize = 3;
/// Fewer losses are enough if the bucket explains all of them, in so many slices, on a link that is faster by this factor; or by
/// less if only one rate agrees.
const FEW_LOST: u32 = 7;
const SLICES_OF_FEW: usize = 5;
const SPREAD_OF_FEW: f64 = 0.05;
const FASTER_FOR_FEW: f64 = 3.0;
/// At a loss the bucket is empty: at most this share of losses comes early or late.
const LOSSES_OFF: f64 = 0.1;
/// At a passage it has tokens: at most this share of passages comes without.
const PASSES_OFF: f64 = 0.03;
/// The least number of times that its tokens were used up.
const TIMES: f64 = 3.0;
/// A bucket that was used up so often agrees by chance with hardly anything. Then more losses may be off, since some of
/// them are
/// not seen where they happened, but next to no passages.
const OFTEN: f64 = 10.0;
const LOSSES_OFF_OFTEN: f64 = 0.4;
const PASSES_OFF_OFTEN: f64 = 0.003;
/// A deep bucket is seldom used up, and a queue before it drops too. Many losses show it, if more passes than a queue would let
/// pass.
const LESS_OFTEN: f64 = 5.0;
const MANY_LOST: u32 = 6 * LOST;
const EXCEEDS_QUEUE: f64 = 0.25;
/// Nearly all of so many losses at the same depth show a bucket that was used up once.
const LOST_AT_ONCE: u32 = 3 * LOST;
const TIMES_AT_ONCE: f64 = 1.0;
const LOSSES_OFF_AT_ONCE: f64 = 0.03;
const SPREAD_AT_ONCE: f64 = 0.02;
/// Where the first drops do not count, the others must agree better: this share of losses and passages may be off.
const LOSSES_OFF_LATER: f64 = 0.01;
const PASSES_OFF_LATER: f64 = 0.005;
/// Where no delay shows a queue, fewer losses may be off. No passages may be, unless only one rate agrees, and with all drops.
const LOSSES_OFF_UNSEEN: f64 = 0.3;
/// Segments pass a policer at the rate of the link, which is larger than that of the bucket by this factor at least.
const FASTER: f64 = 1.3;
/// The used tokens at losses differ by this share of the depth at most, and the link is faster by this factor.
const EXACT: f64 = 0.08;
const MUCH_FASTER: f64 = 2.0;
/// A full queue delays by its size over its rate. Packets of a bucket wait for less than this share of that. Its bursts may wait
/// behind it, in the queue of the link, for longer: then hardly any queue stands before them, of less than this share of a round
/// trip.
const DELAY: f64 = 0.25;
const DELAY_OF_BURSTS: f64 = 0.5;
const BEFORE_BURSTS: u64 = 8;
/// A queue of fewer segments cannot be distinguished from chance.
const LEAST_QUEUE: f64 = 4.0;
/// Segments leave a queue without pauses: none takes longer than at the rate of the link by this factor. A quarter of the drops, or more,
/// do not come behind `LEAST_QUEUE` such segments, and not behind this share of the depth.
const WITHOUT_PAUSE: f64 = 1.25;
const PART_APART: usize = 4;
const SHARE_APART: f64 = 0.5;
/// Segments by which a step of the fit may be wrong.
const SLACK: f64 = 2.0;

/// When a policer dropped segments, or cwnd was smaller because of that: begins and ends.
pub(super) fn policed(facts: &Facts, phases: &Phases, steps: &[Step]) -> Vec<(u64, u64)> {
    let shows = is_policer(facts, steps) || is_policer_later(facts, phases, steps);
    if shows { until_back(facts, phases) } else { Vec::new() }
}

/// Whether a token bucket explains the losses, and a queue does not.
///
/// Before a capture point away from the sender, drops show at the segment that passed last: one segment may stand for many drops. Each
/// of them counts, because single drops in a repair are sometimes seen elsewhere than they happened. Needless retransmissions look
/// like many drops, too. So it is enough if the bucket explains the segments at which anything was dropped.
fn is_policer(facts: &Facts, steps: &[Step]) -> bool {
    let lost: u32 = steps.iter().map(|step| step.dropped).sum();
    let once = |step: &Step| Step { dropped: step.dropped.min(1), ..*step };
    explains_losses(facts, steps, lost, Drops::All)
        || steps.iter().any(|step| step.dropped > 1)
            && explains_losses(facts, &steps.iter().map(once).collect::<Vec<Step>>(), lost, Drops::All)
}

/// Whether a token bucket explains the losses after the first repair, all but exactly.
///
/// Slow start exceeds the link before a deep bucket is empty. What the queue of the link drops then has used tokens, and the bucket
/// agrees with none of these drops. Later it is full again.
fn is_policer_later(facts: &Facts, phases: &Phases, steps: &[Step]) -> bool {
    let mut repairs = phases.iter().skip_while(|(_, stretch)| !is_repair(stretch.phase));
    let Some((end, _)) = repairs.find(|(_, stretch)| !is_repair(stretch.phase)) else { return false };
    let mut at = 0;
    let later = |step: &Step| {
        at += step.lasted;
        Step { dropped: if at > end { step.dropped } else { 0 }, ..*step }
    };
    let later: Vec<Step> = steps.iter().map(later).collect();
    let lost: u32 = later.iter().map(|step| step.dropped).sum();
    lost >= LOST_AT_ONCE && explains_losses(facts, &later, lost, Drops::AfterFirstRepair)
}

const fn is_repair(phase: Phase) -> bool {
    matches!(phase, Phase::FastRecovery | Phase::Timeout | Phase::TailLoss)
}

/// The same for `steps` as they are, of which `lost` segments were lost.
fn explains_losses(facts: &Facts, steps: &[Step], lost: u32, drops: Drops) -> bool {
    let slices = facts.slices.iter().filter(|slice| slice.lost > 0).count();
    if lost < FEW_LOST || slices < SLICES {
        return false;
    }
    let Some(begin) = steps.iter().position(|step| step.dropped > 0) else { return false };
    let between = steps[begin + 1..].iter();
    let (bytes, time) = between.fold((0, 0), |sum, step| (sum.0 + step.passed, sum.1 + step.lasted));
    let (bytes, least) = (bytes as f64, bytes as f64 / time.max(1) as f64);
    let segment = f64::from(facts.totals.segment.max(1));
    // In bytes per nanosecond. Where delays do not show a queue, segments must pass faster than the bucket's rate often.
    let link = if facts.path.shows_queue { facts.path.peak } else { facts.path.capacity } / 1e9;
    // Few segments in flight show no rate of the link. Beside the sender, the delay shows whether there is a queue.
    let link = if link == 0.0 && facts.path.beside_sender { f64::INFINITY } else { link };
    if bytes < PASSED * segment || link < least * FASTER {
        return false;
    }
    let Some(bucket) = fit(steps, least, SLACK * segment) else { return false };
    let fits = |bucket: &Bucket| bucket.unexpected <= LOSSES_OFF && bucket.excessive <= PASSES_OFF;
    let queue = with_rate(steps, link, SLACK * segment);
    let is_as_good = |queue: &Bucket| {
        fits(queue) || queue.unexpected <= bucket.unexpected && queue.excessive <= bucket.excessive
    };
    // Bursts of similar length fit any rate. Where delays show nothing, only the rate distinguishes a policer from a queue.
    let is_sharp = || !fits(&with_rate(steps, bucket.rate * FASTER, SLACK * segment));
    let shows_queue = facts.path.shows_queue;
    let no_queue = shows_queue && lost >= MANY_LOST && queue.excessive >= EXCEEDS_QUEUE;
    let often = bytes > if no_queue { LESS_OFTEN } else { OFTEN } * bucket.depth;
    // A shallow bucket fits many rates. Then it must be used up to the same depth at every loss.
    let is_exact = || often && bucket.spread <= EXACT && link > MUCH_FASTER * bucket.rate;
    // Or no queue may have dropped what it dropped.
    let is_apart = || {
        bucket.spread <= EXACT
            && lost >= LOST
            && drops_apart(steps, link, segment) < SHARE_APART * bucket.depth
    };
    let fits_often = || {
        often
            && if shows_queue {
                bucket.unexpected <= LOSSES_OFF_OFTEN && bucket.excessive <= PASSES_OFF_OFTEN && is_sharp()
            } else {
                link > MUCH_FASTER * bucket.rate
                    && bucket.unexpected <= LOSSES_OFF_UNSEEN
                    && (bucket.excessive == 0.0 && (is_sharp() || is_exact())
                        || bucket.excessive <= PASSES_OFF && is_sharp() && is_exact())
            }
    };
    let is_sure = drops == Drops::All
        || bucket.unexpected <= LOSSES_OFF_LATER
            && bucket.excessive <= PASSES_OFF_LATER
            && bucket.spread <= SPREAD_AT_ONCE
            && (shows_queue || often);
    let enough = lost >= LOST
        || slices >= SLICES_OF_FEW
            && bucket.unexpected + bucket.excessive == 0.0
            && bucket.spread <= SPREAD_OF_FEW
            && (link > FASTER_FOR_FEW * bucket.rate || link > MUCH_FASTER * bucket.rate && is_sharp())
            && often;
    let at_once = shows_queue
        && lost >= LOST_AT_ONCE
        && bucket.unexpected <= LOSSES_OFF_AT_ONCE
        && bucket.excessive == 0.0
        && bucket.spread <= SPREAD_AT_ONCE
        && is_sharp();
    let bursts = at_once || fits(&bucket) && bucket.spread <= EXACT && stands_seldom(facts);
    enough
        && is_sure
        && (fits(&bucket) || fits_often())
        && bytes > if at_once { TIMES_AT_ONCE } else { TIMES } * bucket.depth
        && link > FASTER * bucket.rate
        && !(is_as_good(&queue) && queue.depth >= LEAST_QUEUE * segment)
        && (shows_queue || is_sharp() || is_exact() || is_apart())
        && !waits_in_queue(facts, &bucket, bursts)
        && !delays(facts, steps, link)
}

/// The bytes that came without a pause, on a link with this rate in bytes per nanosecond, before the drops that fewest came
/// before: a quarter of the drops has no more. Infinite if a queue of `LEAST_QUEUE` segments may have dropped them.
///
/// A queue drops a segment while it is full of others. They leave it one behind the other, in the time that the link needs for each.
fn drops_apart(steps: &[Step], link: f64, segment: f64) -> f64 {
    let (mut without_pause, mut since) = (0.0, 0);
    let mut before: Vec<f64> = Vec::new();
    for step in steps {
        since += step.lasted;
        let passed = step.passed as f64;
        if step.passed > 0 {
            let pauses = since as f64 * link > WITHOUT_PAUSE * passed.max(segment);
            without_pause = if pauses { passed } else { without_pause + passed };
            since = 0;
        }
        if step.dropped > 0 {
            before.push(without_pause);
        }
    }
    before.sort_unstable_by(f64::total_cmp);
    let least = before.get(before.len() / PART_APART).copied();
    least.filter(|&least| least < LEAST_QUEUE * segment).unwrap_or(f64::INFINITY)
}

/// From each loss until the flight is as large as before it, once the loss is repaired.
///
/// A flight that meets the policer again sooner than after the time that it needed was limited by it all the time.
fn until_back(facts: &Facts, phases: &Phases) -> Vec<(u64, u64)> {
    let repairs: Vec<(u64, u64)> = phases
        .iter()
        .filter(|(_, stretch)| is_repair(stretch.phase))
        .map(|(from, stretch)| (from, stretch.until))
        .collect();
    // The repair in which a slice lies. One that begins with the last ACK of a repair still has the flight of the repair.
    let repair_of = |from: u64, until: u64| {
        let index = repairs.partition_point(|repair| repair.1 < from);
        repairs.get(index).filter(|repair| repair.0 < until).map(|repair| (index, repair.0))
    };
    // New data that is lost during a repair is sent again in the next one.
    let repairs_it = |from: u64, until: u64| {
        let index = match repair_of(from, until) {
            Some((index, began)) => index + usize::from(began <= from),
            None => repairs.partition_point(|repair| repair.1 < from),
        };
        index.min(repairs.len().saturating_sub(1))
    };
    let mut periods: Vec<(u64, u64)> = Vec::new();
    // The flight before the losses that count now, and the index of the repair of the last of them.
    let mut before: Option<(u32, usize)> = None;
    for (index, slice) in facts.slices.iter().enumerate() {
        let began = facts.began(index);
        let repairing = repair_of(began, slice.until).is_some();
        if slice.lost > 0 {
            match (before, periods.last_mut()) {
                (Some(_), _) => {}
                (None, Some(last)) if began - last.1 <= last.1 - last.0 => last.1 = u64::MAX,
                (None, _) => periods.push((began, u64::MAX)),
            }
            let most = before.map_or(0, |before| before.0);
            let most = if repairing { most } else { most.max(slice.flight) };
            before = Some((most, repairs_it(began, slice.until)));
        } else if let (Some((most, repair)), Some(last)) = (before, periods.last_mut())
            && repairs.get(repair).is_some_and(|repair| repair.1 < began)
            && !repairing
            && slice.flight >= most
        {
            last.1 = slice.until;
            before = None;
        }
    }
    periods
}

/// Whether packets waited around losses: for a good part of the time for which the queue would delay that drops as the bucket
/// does; or for longer than a round trip, and than a segment needs at the rate of the bucket. `bursts` may wait behind the bucket.
fn waits_in_queue(facts: &Facts, bucket: &Bucket, bursts: bool) -> bool {
    let full = bucket.depth / bucket.rate;
    let one = f64::from(facts.totals.segment) / bucket.rate;
    let now = &facts.path.now;
    // The delay of what was sent with a loss shows a round trip later.
    let until = |index: usize| facts.index_at(facts.slices[index].until + now[index].rtt * 3 / 2);
    let last = |index: usize| until(index).min(now.len() - 1);
    let most = |index: usize| now[index..=last(index)].iter().map(|now| now.queueing).max().unwrap_or(0);
    let after = median(facts.losses().map(most)) as f64;
    after > full * if bursts { DELAY_OF_BURSTS } else { DELAY }
        || queue_at_losses(facts) > facts.path.base.max(one as u64)
}

/// Whether hardly any queue stands before losses.
fn stands_seldom(facts: &Facts) -> bool {
    queue_at_losses(facts) * BEFORE_BURSTS < facts.path.base
}

/// The median of the queueing delay at losses.
fn queue_at_losses(facts: &Facts) -> u64 {
    median(facts.losses().map(|index| facts.path.now[index].queueing))
}

/// Whether what limits the sender now follows from the drops of a policer: repairs, and the small window after them.
pub(super) fn follows(facts: &Facts, moment: &Moment) -> Option<Limit> {
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
    let period = facts.policed.partition_point(|period| period.1 < at);
    let within = facts.policed.get(period).is_some_and(|period| period.0 < at);
    (follows && within).then_some(Limit::Policer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// When a policer counts: slices of 10 ms with these flights, in which losses fall and which are repaired later.
    fn periods(flights: &[u32], lost: &[usize], repairs: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let slice = |(index, &flight): (usize, &u32)| Slice {
            until: (index as u64 + 1) * 10,
            flight,
            lost: u16::from(lost.contains(&index)),
            ..Slice::default()
        };
        let slices = flights.iter().enumerate().map(slice).collect();
        let none = Trains::default();
        let facts = Facts::new(slices, (0, 20), Default::default(), [&none, &none], Default::default());
        let mut phases = Phases::default();
        for &(from, until) in repairs {
            phases.push(from, Phase::Sending);
            phases.push(until, Phase::FastRecovery);
        }
        phases.push(flights.len() as u64 * 10, Phase::Sending);
        until_back(&facts, &phases)
    }

    #[test]
    fn the_drops_count_until_the_flight_is_as_large_as_before_them() {
        // Lost in the third slice, repaired in the fifth; what is in flight during the repair does not count.
        let flights = [4, 6, 8, 8, 9, 4, 5, 6, 8, 9];
        assert_eq!(periods(&flights, &[2], &[(40, 50)]), [(20, 90)]);
        assert_eq!(periods(&flights[..8], &[2], &[(40, 50)]), [(20, u64::MAX)]);
    }

    #[test]
    fn a_flight_that_meets_the_policer_again_soon_was_limited_all_the_time() {
        let flights = [8, 8, 4, 6, 8, 9, 9, 9, 4, 6, 9, 9];
        assert_eq!(periods(&flights, &[0, 6], &[(10, 20), (70, 80)]), [(0, 110)]);
        let later = [8, 8, 8, 9, 9, 9, 9, 9, 9, 6, 9, 9];
        assert_eq!(periods(&later, &[0, 7], &[(10, 19), (80, 89)]), [(0, 30), (70, 110)]);
    }

    #[test]
    fn the_flight_at_the_last_ack_of_a_repair_is_that_of_the_repair() {
        // The repair ends with the ACK with which the third slice begins.
        let flights = [8, 8, 9, 4, 5, 6, 7, 8];
        assert_eq!(periods(&flights, &[0], &[(10, 20)]), [(0, 80)]);
        assert_eq!(periods(&flights, &[0], &[(10, 19)]), [(0, 30)]);
    }

    #[test]
    fn a_loss_during_a_repair_counts_until_the_next_repair_is_over() {
        // Lost in the third slice, and again in the sixth, while the first loss is repaired.
        let flights = [4, 6, 8, 8, 9, 9, 8, 9, 4, 6, 9];
        assert_eq!(periods(&flights, &[2, 5], &[(40, 60), (79, 85)]), [(20, 110)]);
        assert_eq!(periods(&flights, &[2], &[(40, 60)]), [(20, 80)]);
    }

    /// Whether segments of 1000 bytes, sent at the end of so many milliseconds each, show a bucket with 60 kB/s and this depth.
    fn shows(parts: (u64, u64), depth: f64, sent: impl Iterator<Item = u64>) -> bool {
        let rate = 60e-6;
        let mut tokens = depth;
        let mut steps = Vec::new();
        for ms in sent {
            let lasted = ms * 1_000_000;
            tokens = (tokens + rate * lasted as f64).min(depth);
            let passes = tokens >= 1000.0;
            tokens -= if passes { 1000.0 } else { 0.0 };
            steps.push(Step { lasted, passed: if passes { 1000 } else { 0 }, dropped: u32::from(!passes) });
        }
        is_policer(&facts(parts), &steps)
    }

    /// Thirty seconds with losses now and then, in segments of 1000 bytes.
    fn facts(parts: (u64, u64)) -> Facts {
        let slice = |n: u64| Slice {
            until: n * 10_000_000,
            lost: u16::from(n.is_multiple_of(300)),
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        Facts::new((1..=3000).map(slice).collect(), parts, totals, [&none, &none], Default::default())
    }

    const AT_SENDER: (u64, u64) = (0, 20_000_000);

    /// Two segments each 30 ms, on a path whose rate nothing shows.
    fn polices(parts: (u64, u64)) -> bool {
        shows(parts, 10_000.0, (0..2000).map(|n| if n % 2 == 0 { 30 } else { 0 }))
    }

    #[test]
    fn a_bucket_shows_without_the_rate_of_the_link_beside_the_sender() {
        assert!(polices(AT_SENDER));
        assert!(!polices((20_000_000, 0)), "no delay shows a queue");
    }

    #[test]
    fn few_drops_are_enough_if_the_bucket_explains_all_of_them() {
        // Each second eleven segments, of which one is dropped.
        let bursts = |count: u64| (0..11 * count).map(|n| if n % 11 == 0 { 1000 } else { 0 });
        assert!(shows(AT_SENDER, 10_000.0, bursts(13)));
        assert!(!shows(AT_SENDER, 10_000.0, bursts(6)));
    }

    #[test]
    fn many_drops_at_one_depth_show_a_bucket_that_was_used_up_once() {
        // At twice its rate until 110 were dropped.
        let twice = |count: u64| (0..count).map(|n| if n % 3 == 0 { 9 } else { 8 });
        assert!(shows(AT_SENDER, 100_000.0, twice(420)));
        assert!(!shows(AT_SENDER, 100_000.0, twice(320)), "less passed than its depth");
    }

    /// Bursts at uneven intervals away from the sender, on a link that is `faster` than a bucket of 100 kB with 60 kB/s by this
    /// factor. The bucket drops the last segment of each. In every third burst an earlier one seems to be dropped if `disturbed`,
    /// and in every tenth more segments seem to come after the drop.
    fn shows_away(bursts: u64, faster: f64, disturbed: bool) -> bool {
        shows_with_drops(bursts, faster, (u64::from(disturbed), 1, 1))
    }

    /// The same, where in so many of three bursts some segments seem to be dropped earlier, and at the end of each so many are.
    fn shows_with_drops(bursts: u64, faster: f64, (of_three, earlier, at_end): (u64, u32, u32)) -> bool {
        let disturbed = of_three > 0;
        let (rate, depth) = (60e-6, 100_000.0);
        let mut tokens = depth;
        let mut steps = Vec::new();
        let passes = |lasted: u64, segments: u64| Step { lasted, passed: segments * 1000, dropped: 0 };
        let drop = |dropped: u32| Step { lasted: 0, passed: 0, dropped };
        for burst in 0..bursts {
            let lasted = 1_000_000_000 + burst % 3 * 300_000_000;
            tokens = (tokens + rate * lasted as f64).min(depth);
            let passed = (tokens / 1000.0) as u64;
            tokens -= passed as f64 * 1000.0;
            steps.push(passes(lasted, 1));
            steps.extend((1..passed - 20).map(|_| passes(0, 1)));
            steps.extend((burst % 3 < of_three).then_some(drop(earlier)));
            steps.extend((0..20).map(|_| passes(0, 1)));
            steps.push(drop(at_end));
            steps.extend((disturbed && burst % 10 == 5).then_some(passes(0, 15)));
        }
        let mut facts = facts((20_000_000, 0));
        facts.path.capacity = faster * rate * 1e9;
        is_policer(&facts, &steps)
    }

    #[test]
    fn drops_at_one_depth_on_a_much_faster_link_show_a_bucket_even_if_a_passage_seems_too_early() {
        assert!(shows_away(60, 2.5, true));
        assert!(!shows_away(60, 1.5, true), "the link is not much faster");
        assert!(shows_away(60, 1.5, false), "all of them are where they should be");
    }

    #[test]
    fn a_segment_counts_as_often_as_it_stands_for_drops_or_once() {
        assert!(shows_with_drops(60, 2.5, (2, 1, 5)), "most drops are where they should be");
        assert!(!shows_with_drops(60, 2.5, (2, 1, 1)));
        assert!(shows_with_drops(60, 2.5, (1, 5, 1)), "most segments with drops are where they should be");
    }

    #[test]
    fn a_delay_of_one_segment_at_the_rate_of_the_bucket_is_no_queue() {
        // The bucket needs 17 ms for a segment.
        let delayed_by = |ms: u64| {
            let mut facts = facts((0, 5_000_000));
            facts.path.threshold = 10_000_000;
            facts.path.now.iter_mut().for_each(|now| now.queueing = ms * 1_000_000);
            let bucket = Bucket { rate: 60e-6, depth: 10_000.0, ..Bucket::default() };
            waits_in_queue(&facts, &bucket, false)
        };
        assert_eq!([15, 18].map(delayed_by), [false, true]);
    }

    #[test]
    fn few_drops_need_a_link_that_is_much_faster_even_if_only_one_rate_agrees() {
        assert!(shows_away(14, 2.5, false));
        assert!(!shows_away(14, 1.5, false));
    }

    #[test]
    fn losses_that_a_queue_explains_as_well_as_a_bucket_show_no_policer() {
        // Each second a burst on a link of 10 MB/s, whose queue has room for 50 segments. Of each third burst one more is lost.
        let (rate, room) = (10e-3, 50_000.0);
        let mut backlog = 0.0_f64;
        let mut steps = Vec::new();
        for burst in 0..40 {
            for segment in 0..57 + burst % 3 {
                let lasted = if segment == 0 { 1_000_000_000 } else { 10_000 };
                backlog = (backlog - rate * lasted as f64).max(0.0);
                let is_lost = backlog + 1000.0 > room || (burst % 3 == 0 && segment == 7);
                backlog += if is_lost { 0.0 } else { 1000.0 };
                steps.push(Step {
                    lasted,
                    passed: if is_lost { 0 } else { 1000 },
                    dropped: u32::from(is_lost),
                });
            }
        }
        let policed_on = |link: f64| {
            let mut facts = facts(AT_SENDER);
            facts.path.shows_queue = true;
            facts.path.peak = link * 1e9;
            is_policer(&facts, &steps)
        };
        assert!(!policed_on(rate));
        assert!(policed_on(20.0 * rate), "on a faster link no queue would drop here");
    }

    #[test]
    fn a_queue_drops_behind_segments_without_pauses_and_a_bucket_may_drop_behind_fewer() {
        // Blocks of so many segments on a link that needs 10 ms for each, with pauses between them; each third block ends with a drop.
        let apart = |segments: u64| {
            let step = |n: u64| Step {
                lasted: if n.is_multiple_of(segments) { 16_000_000 } else { 10_000_000 },
                passed: 1000,
                dropped: u32::from(n % (3 * segments) == segments - 1),
            };
            drops_apart(&(0..300).map(step).collect::<Vec<Step>>(), 100e-6, 1000.0)
        };
        assert_eq!([2, 3].map(|segments| apart(segments) as u64), [2000, 3000]);
        assert!(apart(4).is_infinite(), "a queue of four segments drops so");
    }

    #[test]
    fn drops_behind_fewer_segments_than_a_queue_holds_show_a_bucket_that_fits_many_rates() {
        // Away from the sender: blocks of so many pairs of segments, each of which takes so much longer than the link needs; then a drop.
        let shows = |pairs: u64, longer_ms: u64| {
            let mut steps = Vec::new();
            for burst in 0..40 {
                for n in 0..2 * pairs {
                    let lasted = if n % 2 == 1 { 0 } else { longer_ms };
                    let pause = 110 - (pairs - 1) * longer_ms + burst % 3;
                    let lasted = 10 + if n == 0 { pause } else { lasted };
                    steps.push(Step { lasted: lasted * 1_000_000, passed: 1000, dropped: 0 });
                }
                steps.push(Step { lasted: 0, passed: 0, dropped: 1 });
            }
            let mut facts = facts((20_000_000, 0));
            facts.path.capacity = 100e3;
            is_policer(&facts, &steps)
        };
        assert!(shows(8, 8));
        assert!(!shows(8, 0), "as a full queue lets them pass");
    }

    #[test]
    fn drops_of_the_link_in_slow_start_do_not_hide_the_bucket_that_drops_later() {
        // Beside the sender: 120 segments leave at once after each pause, of which a bucket of 100 kB with 60 kB/s drops some. Behind it,
        // the link drops each fourth segment of the first bursts.
        let shows = |link_drops_until: u64| {
            let (rate, depth) = (60e-6, 100_000.0);
            let mut tokens = depth;
            let mut steps = Vec::new();
            for burst in 0..12_u64 {
                for n in 0..120 {
                    let lasted = if n > 0 {
                        0
                    } else if burst % 3 == 2 {
                        1_200_000_000
                    } else {
                        2_000_000_000
                    };
                    tokens = (tokens + rate * lasted as f64).min(depth);
                    let dropped_behind = burst < link_drops_until && n % 4 == 3;
                    let passes = tokens >= 1000.0;
                    tokens -= if passes { 1000.0 } else { 0.0 };
                    let arrives = passes && !dropped_behind;
                    steps.push(Step {
                        lasted,
                        passed: u64::from(arrives) * 1000,
                        dropped: u32::from(!arrives),
                    });
                }
            }
            let mut phases = Phases::default();
            phases.push(2_000_000_000, Phase::Sending);
            phases.push(3_000_000_000, Phase::FastRecovery);
            phases.push(30_000_000_000, Phase::Sending);
            let mut facts = facts(AT_SENDER);
            facts.path.shows_queue = true;
            facts.path.peak = 600e3;
            !policed(&facts, &phases, &steps).is_empty()
        };
        assert!(shows(1), "in the first burst only");
        assert!(!shows(6), "later drops do not agree either");
    }
}
