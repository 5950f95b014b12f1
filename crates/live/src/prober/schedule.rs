//! Decides when the next volley is sent, and the lengths of its packets.

use super::plan::{Lengths, Pace, Plan};
use netspurt_sim::random::Stream;

/// The state of the schedule. Times are nanoseconds of the monotonic clock.
#[derive(Debug)]
pub(super) struct Schedule {
    lengths: Lengths,
    pace: Pace,
    left: Option<u64>,
    volleys: u64,
    /// When the next volley may be sent.
    next: u64,
    intervals: Stream,
    drawn: Stream,
}

/// The action that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// A volley, now.
    Now,
    /// A volley at this time.
    At(u64),
    /// A volley when all packets of the last one have results.
    AfterReplies,
    /// No more volleys.
    Never,
}

impl Schedule {
    /// A schedule whose first volley is at `start`.
    pub(super) fn new(plan: &Plan, start: u64) -> Self {
        Self {
            lengths: plan.lengths.clone(),
            pace: plan.pace,
            left: plan.count,
            volleys: 0,
            next: start,
            intervals: Stream::new(plan.seed, "prober/interval"),
            drawn: Stream::new(plan.seed, "prober/length"),
        }
    }

    /// Whether a volley is due, with this number of outstanding packets.
    pub(super) fn due(&self, now: u64, waiting: usize) -> Due {
        match self.pace {
            _ if self.left == Some(0) => Due::Never,
            Pace::AfterReplies(_) if waiting > 0 => Due::AfterReplies,
            _ if now >= self.next => Due::Now,
            _ => Due::At(self.next),
        }
    }

    /// Starts a volley now. Returns the length of its packets.
    pub(super) fn volley(&mut self, now: u64) -> u16 {
        self.left = self.left.map(|left| left.saturating_sub(1));
        let length = match &self.lengths {
            Lengths::Listed(lengths) => lengths[(self.volleys % lengths.len() as u64) as usize],
            &Lengths::Uniform(low, high) => low + self.drawn.below(u64::from(high - low) + 1) as u16,
        };
        self.volleys += 1;
        self.next = match self.pace {
            Pace::Every(interval) => follow(self.next, interval, now),
            Pace::Between(low, high) => follow(self.next, low + self.intervals.below(high - low + 1), now),
            Pace::AfterReplies(gap) => now + gap,
        };
        length
    }
}

/// When the volley after one is due that was planned for `planned` and sent at `now`: an interval after the plan, so
/// that small delays do not add up. After a delay of more than half an interval, it is an interval after now, so that
/// there is no burst.
const fn follow(planned: u64, interval: u64, now: u64) -> u64 {
    let next = planned + interval;
    if next >= now + interval / 2 { next } else { now + interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prober::plan::Speed;

    const MS: u64 = 1_000_000;

    fn schedule(lengths: Lengths, pace: Pace, count: Option<u64>) -> Schedule {
        let plan = Plan {
            hosts: vec![],
            lengths,
            pace,
            fast: Speed::Gentle,
            count,
            lost_after_ns: 1,
            hasty_end: false,
            seed: 5,
        };
        Schedule::new(&plan, 1000 * MS)
    }

    #[test]
    fn a_fixed_interval_does_not_drift_and_causes_no_bursts() {
        let mut all = schedule(Lengths::Listed(vec![40]), Pace::Every(100 * MS), None);
        assert_eq!(all.due(999 * MS, 0), Due::At(1000 * MS));
        for (left_at, then) in [(1000, 1100), (1130, 1200), (1200, 1300), (1900, 2000), (2000, 2100)] {
            assert_eq!(all.due(left_at * MS, 9), Due::Now);
            all.volley(left_at * MS);
            assert_eq!(all.due(left_at * MS, 9), Due::At(then * MS));
        }
    }

    #[test]
    fn a_random_pace_stays_between_its_bounds_and_fills_them() {
        let mut all = schedule(Lengths::Listed(vec![40]), Pace::Between(100 * MS, 300 * MS), None);
        let (mut now, mut gaps) = (1000 * MS, Vec::new());
        for _ in 0..2000 {
            all.volley(now);
            let Due::At(next) = all.due(now, 0) else { panic!("due at once") };
            gaps.push(next - now);
            now = next;
        }
        assert!(gaps.iter().all(|gap| (100 * MS..=300 * MS).contains(gap)));
        let mean = gaps.iter().sum::<u64>() / gaps.len() as u64;
        assert!((195 * MS..205 * MS).contains(&mean), "{mean}");
    }

    #[test]
    fn the_next_volley_can_wait_for_the_results_of_the_last() {
        let mut all = schedule(Lengths::Listed(vec![40]), Pace::AfterReplies(100 * MS), Some(2));
        all.volley(1000 * MS);
        assert_eq!(all.due(1500 * MS, 1), Due::AfterReplies);
        assert_eq!(all.due(1050 * MS, 0), Due::At(1100 * MS));
        assert_eq!(all.due(1500 * MS, 0), Due::Now);
        all.volley(1500 * MS);
        assert_eq!(all.due(9000 * MS, 0), Due::Never);
    }

    #[test]
    fn lengths_are_taken_in_turn_or_drawn_evenly() {
        let mut listed = schedule(Lengths::Listed(vec![40, 125, 256]), Pace::Every(1), None);
        assert_eq!([0; 4].map(|_| listed.volley(0)), [40, 125, 256, 40]);
        let mut uniform = schedule(Lengths::Uniform(10, 19), Pace::Every(1), None);
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            counts[usize::from(uniform.volley(0)) - 10] += 1;
        }
        // Five standard deviations of a binomial count with mean 1000.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
