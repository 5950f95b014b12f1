//! What speaks for a token bucket that drops, and against a queue.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;
use crate::diagnosis::path::bucket::{Bucket, Step, fit, with_rate};
use crate::diagnosis::rules::token_queue::delays;
use core::cell::OnceCell;

/// Which drops a token bucket shall explain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Drops {
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
/// A bucket that was used up so often agrees by chance with hardly anything. Then more losses may be off, since some of them are
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
pub(super) const LOST_AT_ONCE: u32 = 3 * LOST;
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
/// Where packets wait for tokens, they also do at losses. Beside a sender whose packets do not explain the delays alone, packets of a
/// policer wait there for less than this share of a round trip. That is not known where the link seems to need less than so many
/// nanoseconds for a segment: there the path may hold packets and forward them together.
const AT_LOSSES: (u64, u64) = (3, 8);
const TOGETHER_NS: f64 = 3e4;
/// A queue of fewer segments cannot be distinguished from chance.
const LEAST_QUEUE: f64 = 4.0;
/// Segments leave a queue without pauses: none takes longer than at the rate of the link by this factor. A quarter of the drops, or more,
/// do not come behind `LEAST_QUEUE` such segments, and not behind this share of the depth.
const WITHOUT_PAUSE: f64 = 1.25;
const PART_APART: usize = 4;
const SHARE_APART: f64 = 0.5;
/// Segments by which a step of the fit may be wrong.
const SLACK: f64 = 2.0;

/// The bucket and the queue that agree best with the losses.
pub(super) struct Evidence<'a> {
    facts: &'a Facts,
    steps: &'a [Step],
    drops: Drops,
    /// Lost segments, and slices with losses.
    lost: u32,
    slices: usize,
    /// The bytes that passed behind the first loss, and those of a segment.
    bytes: f64,
    segment: f64,
    /// The rate of the link, in bytes per nanosecond; infinite if it is not known.
    link: f64,
    bucket: Bucket,
    queue: Bucket,
    /// Whether no other rate fits, once that is known: a replay of all steps.
    sharp: OnceCell<bool>,
}

impl<'a> Evidence<'a> {
    /// For `steps` as they are, of which `lost` segments were lost; `None` with too few losses, or where nothing passes a bucket
    /// faster than its rate.
    pub(super) fn gather(facts: &'a Facts, steps: &'a [Step], lost: u32, drops: Drops) -> Option<Self> {
        let slices = facts.slices.iter().filter(|slice| slice.lost > 0).count();
        if lost < FEW_LOST || slices < SLICES {
            return None;
        }
        let begin = steps.iter().position(|step| step.dropped > 0)?;
        let between = steps[begin + 1..].iter();
        let (bytes, time) = between.fold((0, 0), |sum, step| (sum.0 + step.passed, sum.1 + step.lasted));
        let (bytes, least) = (bytes as f64, bytes as f64 / time.max(1) as f64);
        let segment = f64::from(facts.totals.segment.max(1));
        // Where delays do not show a queue, segments must pass faster than the bucket's rate often.
        let link = if facts.path.shows_queue { facts.path.peak } else { facts.path.capacity } / 1e9;
        // Few segments in flight show no rate of the link. Beside the sender, the delay shows whether there is a queue.
        let link = if link == 0.0 && facts.path.beside_sender { f64::INFINITY } else { link };
        if bytes < PASSED * segment || link < least * FASTER {
            return None;
        }
        let bucket = fit(steps, least, SLACK * segment)?;
        let queue = with_rate(steps, link, SLACK * segment);
        Some(Self {
            facts,
            steps,
            drops,
            lost,
            slices,
            bytes,
            segment,
            link,
            bucket,
            queue,
            sharp: OnceCell::new(),
        })
    }

    /// Whether the bucket explains the losses, and a queue does not.
    pub(super) fn shows_policer(&self) -> bool {
        let Self { facts, bucket, .. } = self;
        let at_once = self.is_used_up_once();
        let bursts = at_once || fits(bucket) && bucket.spread <= EXACT && stands_seldom(facts);
        self.are_enough()
            && self.is_sure()
            && (fits(bucket) || self.fits_often())
            && self.bytes > if at_once { TIMES_AT_ONCE } else { TIMES } * bucket.depth
            && self.link > FASTER * bucket.rate
            && !self.queue_is_as_good()
            && (facts.path.shows_queue || self.is_sharp() || self.is_exact() || self.drops_apart())
            && !waits_in_queue(facts, bucket, bursts)
            && (self.link_alone_delays()
                || !waits_at_losses(facts, bucket, self.link)
                    && !delays(facts, self.steps, self.link_of_most()))
    }

    /// The rate of the link that most trains have, if that exceeds the one of the bucket: the fastest train may have come together.
    fn link_of_most(&self) -> f64 {
        let most = self.facts.path.capacity / 1e9;
        if most > FASTER * self.bucket.rate { most.min(self.link) } else { self.link }
    }

    /// Whether the delays are those of a link that is faster than the bucket: then no packet waits for tokens.
    fn link_alone_delays(&self) -> bool {
        self.facts.path.replayed > FASTER * self.bucket.rate
    }

    /// Whether there are enough losses: fewer only if the bucket explains all of them.
    fn are_enough(&self) -> bool {
        let Self { bucket, link, .. } = self;
        self.lost >= LOST
            || self.slices >= SLICES_OF_FEW
                && bucket.unexpected + bucket.excessive == 0.0
                && bucket.spread <= SPREAD_OF_FEW
                && (*link > FASTER_FOR_FEW * bucket.rate
                    || *link > MUCH_FASTER * bucket.rate && self.is_sharp())
                && self.is_often()
    }

    /// Whether the agreement is as good as it must be for these drops.
    fn is_sure(&self) -> bool {
        self.drops == Drops::All
            || self.bucket.unexpected <= LOSSES_OFF_LATER
                && self.bucket.excessive <= PASSES_OFF_LATER
                && self.bucket.spread <= SPREAD_AT_ONCE
                && (self.facts.path.shows_queue || self.is_often())
    }

    /// Whether nearly all of many losses are at one depth: a bucket may then have been used up once only.
    fn is_used_up_once(&self) -> bool {
        self.facts.path.shows_queue
            && self.lost >= LOST_AT_ONCE
            && self.bucket.unexpected <= LOSSES_OFF_AT_ONCE
            && self.bucket.excessive == 0.0
            && self.bucket.spread <= SPREAD_AT_ONCE
            && self.is_sharp()
    }

    /// Whether the bucket was used up so often that it agrees by chance with hardly anything.
    fn is_often(&self) -> bool {
        let no_queue =
            self.facts.path.shows_queue && self.lost >= MANY_LOST && self.queue.excessive >= EXCEEDS_QUEUE;
        self.bytes > if no_queue { LESS_OFTEN } else { OFTEN } * self.bucket.depth
    }

    /// Whether the bucket agrees as a bucket must that was used up often.
    fn fits_often(&self) -> bool {
        let Self { bucket, link, .. } = self;
        let seen = || {
            bucket.unexpected <= LOSSES_OFF_OFTEN && bucket.excessive <= PASSES_OFF_OFTEN && self.is_sharp()
        };
        let unseen = || {
            *link > MUCH_FASTER * bucket.rate
                && bucket.unexpected <= LOSSES_OFF_UNSEEN
                && (bucket.excessive == 0.0 && (self.is_sharp() || self.is_exact())
                    || bucket.excessive <= PASSES_OFF && self.is_sharp() && self.is_exact())
        };
        self.is_often() && if self.facts.path.shows_queue { seen() } else { unseen() }
    }

    /// Whether no other rate fits. Bursts of similar length fit any rate. Where delays show nothing, only the rate distinguishes a
    /// policer from a queue.
    fn is_sharp(&self) -> bool {
        let other = || with_rate(self.steps, self.bucket.rate * FASTER, SLACK * self.segment);
        *self.sharp.get_or_init(|| !fits(&other()))
    }

    /// Whether the bucket is used up to the same depth at every loss. A shallow one fits many rates.
    fn is_exact(&self) -> bool {
        self.is_often() && self.bucket.spread <= EXACT && self.link > MUCH_FASTER * self.bucket.rate
    }

    /// Whether no queue may have dropped what the bucket dropped.
    fn drops_apart(&self) -> bool {
        self.bucket.spread <= EXACT
            && self.lost >= LOST
            && drops_apart(self.steps, self.link, self.segment) < SHARE_APART * self.bucket.depth
    }

    /// Whether a queue explains the losses as well.
    fn queue_is_as_good(&self) -> bool {
        let Self { bucket, queue, .. } = self;
        let as_good =
            fits(queue) || queue.unexpected <= bucket.unexpected && queue.excessive <= bucket.excessive;
        as_good && queue.depth >= LEAST_QUEUE * self.segment
    }
}

/// Whether losses and passages are where the bucket has them, but for a few.
fn fits(bucket: &Bucket) -> bool {
    bucket.unexpected <= LOSSES_OFF && bucket.excessive <= PASSES_OFF
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

/// Whether packets wait at losses for longer than behind a policer, and than a segment needs at the rate of the bucket.
fn waits_at_losses(facts: &Facts, bucket: &Bucket, link: f64) -> bool {
    let segment = f64::from(facts.totals.segment);
    let least = facts.path.base * AT_LOSSES.0 / AT_LOSSES.1;
    facts.path.beside_sender
        && segment > TOGETHER_NS * link
        && queue_at_losses(facts) > least.max((segment / bucket.rate) as u64)
}

/// Whether hardly any queue stands before losses.
fn stands_seldom(facts: &Facts) -> bool {
    queue_at_losses(facts) * BEFORE_BURSTS < facts.path.base
}

/// The median of the queueing delay at losses.
fn queue_at_losses(facts: &Facts) -> u64 {
    median(facts.losses().map(|index| facts.path.now[index].queueing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::rules::policer::tests::facts;

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
    fn a_queue_that_stands_at_losses_beside_the_sender_waits_for_tokens() {
        let waits_on = |link, parts, ms: u64, rate| {
            let mut facts = facts(parts);
            facts.path.now.iter_mut().for_each(|now| now.queueing = ms * 1_000_000);
            waits_at_losses(&facts, &Bucket { rate, depth: 10_000.0, ..Bucket::default() }, link)
        };
        let waits = |parts, ms, rate| waits_on(6e-3, parts, ms, rate);
        let at_sender = (0, 20_000_000);
        assert!(waits(at_sender, 8, 600e-6));
        assert!(!waits_on(6.0, at_sender, 8, 600e-6), "the path forwards packets together");
        assert!(!waits(at_sender, 7, 600e-6), "a burst behind a policer waits for the link");
        assert!(!waits(at_sender, 8, 60e-6), "one segment needs 17 ms");
        assert!(!waits((20_000_000, 0), 8, 600e-6), "delays are not known so well");
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
}
