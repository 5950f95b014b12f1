//! A token bucket drops what exceeds its rate: `policer`, after T. Flach et al., "An Internet-wide analysis of traffic policing",
//! SIGCOMM 2016, section 3.1. Their test takes the rate from what passed between the first and the last loss. Here the rate is
//! fitted, because the tokens of a sender that stays below the rate for a while are lost; and a queue is distinguished by the rate
//! of the link behind it, and by its delay.

mod evidence;
mod periods;

use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::path::bucket::Step;
use crate::diagnosis::sender::phase::{Phase, Phases};
use evidence::{Drops, Evidence, LOST_AT_ONCE};
use netspurt_budget::Limit;
use periods::until_back;

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
    shows_policer(facts, steps, lost, Drops::All)
        || steps.iter().any(|step| step.dropped > 1)
            && shows_policer(facts, &steps.iter().map(once).collect::<Vec<Step>>(), lost, Drops::All)
}

/// Whether a token bucket explains the losses after the first repair, all but exactly.
///
/// Slow start exceeds the link before a deep bucket is empty. What the queue of the link drops then has used tokens, and the bucket
/// agrees with none of these drops. Later it is full again.
fn is_policer_later(facts: &Facts, phases: &Phases, steps: &[Step]) -> bool {
    let mut repairs = phases.iter().skip_while(|(_, stretch)| !stretch.phase.is_repair());
    let Some((end, _)) = repairs.find(|(_, stretch)| !stretch.phase.is_repair()) else { return false };
    let mut at = 0;
    let later = |step: &Step| {
        at += step.lasted;
        Step { dropped: if at > end { step.dropped } else { 0 }, ..*step }
    };
    let later: Vec<Step> = steps.iter().map(later).collect();
    let lost: u32 = later.iter().map(|step| step.dropped).sum();
    lost >= LOST_AT_ONCE && shows_policer(facts, &later, lost, Drops::AfterFirstRepair)
}

fn shows_policer(facts: &Facts, steps: &[Step], lost: u32, drops: Drops) -> bool {
    Evidence::gather(facts, steps, lost, drops).is_some_and(|evidence| evidence.shows_policer())
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
pub(super) mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// Whether segments of 1000 bytes, sent at the end of so many milliseconds each, show a bucket with 60 kB/s and this depth.
    fn shows(parts: (u64, u64), depth: f64, sent: impl Iterator<Item = u64>) -> bool {
        is_policer(&facts(parts), &policed_steps(depth, sent))
    }

    fn policed_steps(depth: f64, sent: impl Iterator<Item = u64>) -> Vec<Step> {
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
        steps
    }

    /// Thirty seconds with losses now and then, in segments of 1000 bytes.
    pub(in crate::diagnosis::rules) fn facts(parts: (u64, u64)) -> Facts {
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

    /// Two segments each 30 ms.
    fn pairs() -> impl Iterator<Item = u64> {
        (0..2000).map(|n| if n % 2 == 0 { 30 } else { 0 })
    }

    /// Those on a path whose rate nothing shows.
    fn polices(parts: (u64, u64)) -> bool {
        shows(parts, 10_000.0, pairs())
    }

    #[test]
    fn packets_that_wait_for_tokens_show_no_policer_and_those_that_wait_for_a_faster_link_do() {
        let with_link = |rate: f64| {
            let mut facts = facts(AT_SENDER);
            facts.path.now.iter_mut().for_each(|now| now.queueing = 10_000_000);
            facts.path.replayed = rate;
            is_policer(&facts, &policed_steps(10_000.0, pairs()))
        };
        assert!(!with_link(0.0));
        assert!(!with_link(60e-6), "the link has the rate of the bucket");
        assert!(with_link(200e-6));
    }

    #[test]
    fn packets_wait_for_the_link_as_fast_as_most_trains_if_those_are_faster_than_the_bucket() {
        let with_trains = |usual: f64| {
            let mut facts = facts(AT_SENDER);
            facts.path.now.iter_mut().for_each(|now| now.queueing = 10_000_000);
            (facts.path.shows_queue, facts.path.peak, facts.path.capacity) = (true, 600e3, usual);
            is_policer(&facts, &policed_steps(10_000.0, pairs()))
        };
        assert!(with_trains(100e3), "two segments take 20 ms");
        assert!(!with_trains(600e3));
        assert!(!with_trains(60e3), "most trains have the rate of the bucket");
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
