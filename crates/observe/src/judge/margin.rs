//! How much of the wrong time lies near the changes of the true limit.

use netspurt_budget::Timeline;
use netspurt_tcp::time::{Span, Time};

/// The time near a change of the true limit: one and a half round trips before it, and as much after it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Margin {
    /// Its seconds.
    pub time: f64,
    /// Those in which the diagnosis is wrong.
    pub wrong: f64,
}

impl Margin {
    /// The margin of a diagnosis, in the time that both cover. `round` is the least round trip.
    pub(super) fn of(truth: &Timeline, found: &Timeline, round: Span) -> Self {
        let (width, end) = (round.scale(3, 2), truth.end().min(found.end()));
        let intervals = truth.intervals();
        let mut margin = Self::default();
        for (index, interval) in intervals.iter().enumerate().take_while(|(_, interval)| interval.from < end)
        {
            let until = interval.until.min(end);
            let after = if index == 0 { interval.from } else { (interval.from + width).min(until) };
            let begins = Time::from_ps(interval.until.as_ps().saturating_sub(width.as_ps()));
            let before = if index + 1 == intervals.len() { until } else { begins.clamp(after, until) };
            for (from, until) in [(interval.from, after), (before, until)] {
                margin.time += (until - from).as_secs_f64();
                let part = found.between(from, until);
                let wrong = part.intervals().iter().filter(|found| found.limit != interval.limit);
                margin.wrong += wrong.map(|found| found.lasts().as_secs_f64()).sum::<f64>();
            }
        }
        margin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_budget::Limit;

    fn timeline(parts: &[(u64, Limit)]) -> Timeline {
        let mut timeline = Timeline::default();
        parts.iter().for_each(|&(s, limit)| timeline.extend(Time::ZERO + Span::from_secs(s), limit));
        timeline
    }

    #[test]
    fn only_what_is_near_a_change_of_the_truth_counts() {
        let truth = timeline(&[(10, Limit::SlowStart), (100, Limit::Bottleneck), (200, Limit::Application)]);
        // Three seconds late, then twenty, and once for five seconds in the middle.
        let found = timeline(&[
            (13, Limit::SlowStart),
            (50, Limit::Bottleneck),
            (55, Limit::CrossTraffic),
            (120, Limit::Bottleneck),
            (190, Limit::Application),
        ]);
        let margin = Margin::of(&truth, &found, Span::from_secs(4));
        assert_eq!(margin, Margin { time: 24.0, wrong: 9.0 });
        assert_eq!(Margin::of(&truth, &truth, Span::from_secs(4)), Margin { time: 24.0, wrong: 0.0 });
        let long = Margin::of(&truth, &found, Span::from_secs(400));
        assert_eq!(long, Margin { time: 190.0, wrong: 28.0 }, "times near two changes count once");
    }
}
