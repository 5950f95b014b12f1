//! A token bucket that is fitted to the packets that passed and to those that were lost.
//!
//! A bucket with a rate and a depth drops a packet when the packets before it have used up its tokens. So the bytes that have
//! passed, less what the rate has allowed since, are the same at every drop: the depth. At any other time they are fewer. A
//! queue that drops its last packet is such a bucket too: its rate is that of the link, and its depth the size of the queue.

/// Number of rates that are tried first, and the factor from each to the next.
const RATES: i32 = 36;
const FACTOR: f64 = 1.04;
/// A sender that mostly waits for its timer sends at much less than the rate of the bucket. Where none of those rates agrees better
/// than this, so many more are tried.
const MISFIT: f64 = 0.1;
const MORE_RATES: i32 = 36;
/// The first of them is below the rate of everything that passed, because headers count too.
const BELOW: i32 = 1;
/// Rates on each side of the rate of everything that passed, and of the best one, that are tried then.
const FINE: i32 = 16;
const FINER: i32 = 8;
/// Steps without a drop are joined up to this multiple of the slack.
const JOINED: f64 = 1.0;
/// By this share of the depth a drop may come early or late.
const SLACK: f64 = 0.1;

/// What happened in a short time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::diagnosis) struct Step {
    /// How long it lasted, in nanoseconds.
    pub(in crate::diagnosis) lasted: u64,
    /// Bytes that passed.
    pub(in crate::diagnosis) passed: u64,
    /// Packets that were dropped.
    pub(in crate::diagnosis) dropped: u32,
}

/// A token bucket, and how well it agrees with the steps that it was fitted to.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(in crate::diagnosis) struct Bucket {
    /// Bytes per nanosecond.
    pub(in crate::diagnosis) rate: f64,
    /// Bytes.
    pub(in crate::diagnosis) depth: f64,
    /// The share of dropped packets at which its tokens were not used up.
    pub(in crate::diagnosis) unexpected: f64,
    /// The share of other steps in which more passed than it had tokens for.
    pub(in crate::diagnosis) excessive: f64,
    /// How much the used tokens differ at drops, as a share of the depth.
    pub(in crate::diagnosis) spread: f64,
}

/// The bucket that agrees best with `steps`, from the first packet to the last drop. `least` is the rate of everything that
/// passed, in bytes per nanosecond, and `slack` the bytes by which a step may be wrong. `None` if none is deep enough for that.
pub(in crate::diagnosis) fn fit(steps: &[Step], least: f64, slack: f64) -> Option<Bucket> {
    let steps = joined(steps, slack);
    let mut best = (f64::INFINITY, Bucket::default());
    let mut attempt = |rate: f64| {
        let bucket = with_rate_if(&steps, rate, slack, best.0);
        if let Some(bucket) = bucket {
            best = (bucket.spread + bucket.excessive, bucket);
        }
        if best.0.is_finite() { (best.1.rate, best.0) } else { (least, best.0) }
    };
    let mut middle = (least, f64::INFINITY);
    for n in -BELOW..RATES - BELOW {
        middle = attempt(least * FACTOR.powi(n));
    }
    if middle.1 > MISFIT {
        for n in RATES - BELOW..RATES + MORE_RATES - BELOW {
            middle = attempt(least * FACTOR.powi(n));
        }
    }
    // A sender that always uses up the tokens leaves little choice: over a long time, only one rate has a small depth.
    let mut width = FACTOR - 1.0;
    for n in -FINE..=FINE {
        middle = attempt(least * (1.0 + width * f64::from(n) / f64::from(FINE)));
    }
    for _ in 0..2 {
        let center = middle.0;
        for n in -FINER..=FINER {
            middle = attempt(center * (1.0 + width * f64::from(n) / f64::from(FINER)));
        }
        width /= f64::from(FINER);
    }
    best.0.is_finite().then_some(best.1)
}

/// Merges steps and keeps their sums; each drop stays a separate step.
fn joined(steps: &[Step], slack: f64) -> Vec<Step> {
    let mut joined: Vec<Step> = Vec::with_capacity(steps.len() / 4);
    for step in steps {
        match joined.last_mut() {
            Some(last)
                if last.dropped + step.dropped == 0
                    && (last.passed + step.passed) as f64 <= JOINED * slack =>
            {
                last.lasted += step.lasted;
                last.passed += step.passed;
            }
            _ => joined.push(*step),
        }
    }
    joined
}

/// The bucket with this rate, in bytes per nanosecond, whose depth agrees best with the drops.
pub(in crate::diagnosis) fn with_rate(steps: &[Step], rate: f64, slack: f64) -> Bucket {
    let used = levels(steps, rate);
    let (depth, spread) = depth_and_spread(steps, &used);
    agreement(steps, &used, Bucket { rate, depth, spread, ..Bucket::default() }, slack)
}

/// The same if it agrees better than `misfit`. Any packet uses up a bucket that is not much deeper than the slack.
fn with_rate_if(steps: &[Step], rate: f64, slack: f64, misfit: f64) -> Option<Bucket> {
    let used = levels(steps, rate);
    let (depth, spread) = depth_and_spread(steps, &used);
    if spread >= misfit || depth < 2.0 * slack {
        return None;
    }
    let bucket = agreement(steps, &used, Bucket { rate, depth, spread, ..Bucket::default() }, slack);
    (bucket.spread + bucket.excessive < misfit).then_some(bucket)
}

/// The tokens that are used up after each step, in bytes.
fn levels(steps: &[Step], rate: f64) -> Vec<f64> {
    let mut level = 0.0_f64;
    let after = |step: &Step| {
        level = (level - rate * step.lasted as f64).max(0.0) + step.passed as f64;
        level
    };
    steps.iter().map(after).collect()
}

/// The median of the used tokens at drops, and how much they differ from it as a share of it. Each dropped packet counts.
fn depth_and_spread(steps: &[Step], used: &[f64]) -> (f64, f64) {
    let at_drops = steps.iter().zip(used).filter(|(step, _)| step.dropped > 0);
    let mut at_drops: Vec<(f64, u32)> = at_drops.map(|(step, &used)| (used, step.dropped)).collect();
    at_drops.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let all: u32 = at_drops.iter().map(|drop| drop.1).sum();
    let mut before = 0;
    let middle = at_drops.iter().find(|drop| {
        before += drop.1;
        before > all / 2
    });
    let Some(&(depth, _)) = middle else { return (0.0, 0.0) };
    let off = at_drops
        .iter()
        .map(|&(used, count)| ((used - depth).abs() / depth.max(1.0)).min(1.0) * f64::from(count));
    (depth, off.sum::<f64>() / f64::from(all))
}

/// Counts what does not agree with a bucket.
fn agreement(steps: &[Step], used: &[f64], bucket: Bucket, slack: f64) -> Bucket {
    let slack = slack.max(SLACK * bucket.depth);
    let (mut drops, mut unexpected, mut others, mut excessive) = (0, 0, 0, 0);
    for (step, &used) in steps.iter().zip(used) {
        if step.dropped > 0 {
            drops += step.dropped;
            unexpected += if (used - bucket.depth).abs() > slack { step.dropped } else { 0 };
        } else if step.passed > 0 {
            others += 1;
            excessive += u32::from(used > bucket.depth + slack);
        }
    }
    let share = |count: u32, of: u32| f64::from(count) / f64::from(of.max(1));
    Bucket { unexpected: share(unexpected, drops), excessive: share(excessive, others), ..bucket }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets that pass a bucket that is full at the begin: a burst of this many packets of 1000 bytes every `period`
    /// nanoseconds.
    fn police(rate: f64, depth: f64, period: u64, bursts: impl Iterator<Item = u64>) -> Vec<Step> {
        let (mut tokens, mut steps) = (depth, Vec::new());
        for burst in bursts {
            for n in 0..burst {
                let lasted = if n == 0 { period - burst * 1000 } else { 1000 };
                tokens = (tokens + rate * lasted as f64).min(depth);
                let passes = tokens >= 1000.0;
                tokens -= if passes { 1000.0 } else { 0.0 };
                steps.push(Step { lasted, passed: u64::from(passes) * 1000, dropped: u32::from(!passes) });
            }
        }
        steps
    }

    fn least(steps: &[Step]) -> f64 {
        let (passed, lasted) =
            steps.iter().fold((0, 0), |sums, step| (sums.0 + step.passed, sums.1 + step.lasted));
        passed as f64 / lasted as f64
    }

    #[test]
    fn the_rate_and_the_depth_follow_from_what_a_bucket_drops() {
        // 2 MB/s and 40 kB; the sender exceeds the rate for a while and stays below it for a while.
        let steps =
            police(0.002, 40_000.0, 10_000_000, (0..400).map(|n| if n / 20 % 2 == 0 { 25 } else { 12 }));
        let bucket = fit(&steps, least(&steps), 2000.0).unwrap();
        assert!((bucket.rate / 0.002 - 1.0).abs() < 0.02, "{bucket:?}");
        assert!((bucket.depth / 40_000.0 - 1.0).abs() < 0.1, "{bucket:?}");
        assert!(bucket.unexpected < 0.01 && bucket.excessive < 0.01, "{bucket:?}");
    }

    #[test]
    fn a_sender_that_mostly_waits_shows_a_rate_far_above_its_own() {
        let steps = police(0.002, 40_000.0, 30_000_000, (0..400).map(|n| if n % 40 < 4 { 100 } else { 1 }));
        let least = least(&steps);
        assert!(least < 0.002 / 5.0);
        let bucket = fit(&steps, least, 2000.0).unwrap();
        assert!(
            bucket.rate > least * 5.0 && bucket.unexpected < 0.01 && bucket.excessive < 0.01,
            "{bucket:?}"
        );
        assert!((bucket.depth / 40_000.0 - 1.0).abs() < 0.02, "{bucket:?}");
    }

    #[test]
    fn a_sender_that_uses_up_all_tokens_shows_the_rate_too() {
        let steps = police(0.002, 40_000.0, 400_000, (0..5000).map(|_| 1));
        let bucket = fit(&steps, least(&steps), 2000.0).unwrap();
        assert!((bucket.rate / 0.002 - 1.0).abs() < 0.002, "{bucket:?}");
        assert!(bucket.unexpected < 0.01 && bucket.excessive < 0.01, "{bucket:?}");
    }

    #[test]
    fn each_dropped_packet_counts() {
        let step = |passed: u64, dropped: u32| Step { lasted: 0, passed, dropped };
        let steps = [step(10_000, 1), step(1000, 1), step(9000, 6)];
        let bucket = with_rate(&steps, 1e-6, 2000.0);
        assert_eq!((bucket.depth, bucket.unexpected), (20_000.0, 0.25));
    }

    #[test]
    fn losses_at_random_agree_with_no_bucket() {
        let mut steps = police(1.0, 1e9, 10_000_000, (0..400).map(|n| 5 + n * 7 % 20));
        for step in steps.iter_mut().skip(30).step_by(97) {
            *step = Step { passed: 0, dropped: 1, ..*step };
        }
        let bucket = fit(&steps, least(&steps), 2000.0).unwrap();
        assert!(bucket.unexpected > 0.1 || bucket.excessive > 0.03, "{bucket:?}");
    }
}
