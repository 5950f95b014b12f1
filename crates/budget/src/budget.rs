//! Seconds and shares of each limit.

use crate::limit::Limit;
use crate::measured::Measured;
use crate::timeline::{Interval, Timeline};
use netspurt_tcp::time::{Span, Time};

/// The time of one limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// The limit.
    pub limit: Limit,
    /// How long it applied.
    pub time: Span,
    /// Its share of the whole, from 0 to 1.
    pub share: f64,
}

/// The time of each limit that applied, longest first. The times add up to the duration of the timeline.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Budget {
    lines: Vec<Line>,
}

impl Budget {
    /// The budget of a timeline.
    pub fn of(timeline: &Timeline) -> Self {
        let mut sums = [Span::ZERO; Limit::ALL.len()];
        for interval in timeline.intervals() {
            sums[interval.limit as usize] += interval.lasts();
        }
        let whole = timeline.end().as_secs_f64();
        let mut lines: Vec<Line> = Limit::ALL
            .into_iter()
            .map(|limit| (limit, sums[limit as usize]))
            .filter(|&(_, time)| time > Span::ZERO)
            .map(|(limit, time)| Line { limit, time, share: time.as_secs_f64() / whole })
            .collect();
        lines.sort_by_key(|line| core::cmp::Reverse(line.time));
        Self { lines }
    }

    /// The lines, longest first.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The limit with the most time.
    pub fn dominant(&self) -> Option<Limit> {
        self.lines.first().map(|line| line.limit)
    }

    /// What limited the transfer most, in one sentence with the numbers that were `measured` for that limit.
    pub fn sentence(&self, measured: Option<&Measured>) -> String {
        let Some((first, measured)) = self.lines.first().zip(measured) else {
            return "No data was sent.".to_owned();
        };
        let whole = self.lines.iter().fold(Span::ZERO, |sum, line| sum + line.time);
        measured.sentence_of_whole(first.limit, first.time, whole)
    }

    /// The share of a limit, from 0 to 1.
    pub fn share(&self, limit: Limit) -> f64 {
        self.lines.iter().find(|line| line.limit == limit).map_or(0.0, |line| line.share)
    }
}

/// Calls `record` with each time that two timelines share: the limits of the first and the second, and how long.
///
/// A confusion matrix is the sum over these calls. What only one of them covers is left out.
pub fn agreement(first: &Timeline, second: &Timeline, mut record: impl FnMut(Limit, Limit, Span)) {
    let (mut a, mut b) = (first.intervals().iter().peekable(), second.intervals().iter().peekable());
    let mut at = Time::ZERO;
    while let (Some(&&Interval { until: ua, limit: la, .. }), Some(&&Interval { until: ub, limit: lb, .. })) =
        (a.peek(), b.peek())
    {
        let until = ua.min(ub);
        record(la, lb, until - at);
        at = until;
        if ua == until {
            a.next();
        }
        if ub == until {
            b.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(parts: &[(u64, Limit)]) -> Timeline {
        let mut timeline = Timeline::default();
        for &(until, limit) in parts {
            timeline.extend(Time::ZERO + Span::from_ms(until), limit);
        }
        timeline
    }

    #[test]
    fn the_sentence_of_a_budget_names_its_first_line_and_the_whole_time() {
        let mut timeline = Timeline::default();
        timeline.extend(Time::ZERO + Span::from_ms(500), Limit::Handshake);
        timeline.extend(Time::ZERO + Span::from_ms(2000), Limit::Outage);
        let budget = Budget::of(&timeline);
        let measured = Measured::default();
        assert_eq!(
            budget.sentence(Some(&measured)),
            "For 1.50 s of 2.00 s nothing passed in either direction."
        );
        assert_eq!(Budget::default().sentence(None), "No data was sent.");
    }

    #[test]
    fn the_lines_of_a_budget_add_up_and_the_longest_is_first() {
        let parts = [(10, Limit::SlowStart), (70, Limit::Bottleneck), (100, Limit::SlowStart)];
        let budget = Budget::of(&timeline(&parts));
        assert_eq!(budget.dominant(), Some(Limit::Bottleneck));
        assert!((budget.share(Limit::SlowStart) - 0.4).abs() < 1e-12);
        let sum: u64 = budget.lines().iter().map(|line| line.time.as_ps()).sum();
        assert_eq!(Span::from_ps(sum), Span::from_ms(100));
        assert_eq!(Budget::of(&Timeline::default()).dominant(), None);
    }

    #[test]
    fn agreement_compares_each_instant() {
        let one = timeline(&[(10, Limit::SlowStart), (100, Limit::Bottleneck)]);
        let other = timeline(&[(30, Limit::SlowStart), (90, Limit::Bottleneck)]);
        let mut seen = Vec::new();
        agreement(&one, &other, |a, b, time| seen.push((a, b, time.as_secs_f64() * 1e3)));
        assert_eq!(
            seen,
            [
                (Limit::SlowStart, Limit::SlowStart, 10.0),
                (Limit::Bottleneck, Limit::SlowStart, 20.0),
                (Limit::Bottleneck, Limit::Bottleneck, 60.0),
            ]
        );
    }
}
