//! Which limit applied when.

use crate::limit::Limit;
use netspurt_tcp::time::{Span, Time};

/// A time during which one limit applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Its begin, since the begin of the connection.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// The limit.
    pub limit: Limit,
}

impl Interval {
    /// How long it lasts.
    pub const fn lasts(&self) -> Span {
        self.until.since(self.from)
    }
}

/// The limits of one direction of a connection, in order of time and without gaps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Timeline {
    intervals: Vec<Interval>,
}

impl Timeline {
    /// Continues the timeline until `until` with `limit`. A time that does not exceed the present end is ignored.
    pub fn extend(&mut self, until: Time, limit: Limit) {
        let from = self.end();
        if until <= from {
            return;
        }
        match self.intervals.last_mut() {
            Some(last) if last.limit == limit => last.until = until,
            _ => self.intervals.push(Interval { from, until, limit }),
        }
    }

    /// The intervals. Neighbours have different limits.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The longest interval of a limit, the last one of several; none if the limit never applied.
    pub fn longest(&self, limit: Limit) -> Option<&Interval> {
        self.intervals
            .iter()
            .filter(|interval| interval.limit == limit)
            .max_by_key(|interval| interval.lasts())
    }

    /// The end of the last interval; zero if there is none.
    pub fn end(&self) -> Time {
        self.intervals.last().map_or(Time::ZERO, |last| last.until)
    }

    /// What it has from `from` until `until`, as a timeline that begins with it.
    #[must_use]
    pub fn between(&self, from: Time, until: Time) -> Self {
        let first = self.intervals.partition_point(|interval| interval.until <= from);
        let mut part = Self::default();
        for interval in self.intervals[first..].iter().take_while(|interval| interval.from < until) {
            let lasts = interval.until.min(until) - interval.from.max(from);
            part.extend(part.end() + lasts, interval.limit);
        }
        part
    }

    /// Continues the timeline with all of another one.
    pub fn append(&mut self, next: &Self) {
        for interval in &next.intervals {
            self.extend(self.end() + interval.lasts(), interval.limit);
        }
    }

    /// Gives intervals shorter than `least` to their neighbours: to both in halves, or to the only one. A handshake takes none.
    ///
    /// An interval that is short only because the one beside it is also short keeps its time together with those of the
    /// same limit: runs of short intervals go to the limit that has most of the run, if the run is long enough.
    #[must_use]
    pub fn without_shorter_than(&self, least: Span) -> Self {
        let mut smooth = Self::default();
        let mut run: Vec<Interval> = Vec::new();
        for &interval in &self.intervals {
            if interval.lasts() < least {
                run.push(interval);
                continue;
            }
            smooth.end_run(&mut run, least, Some(interval.limit));
            smooth.extend(interval.until, interval.limit);
        }
        smooth.end_run(&mut run, least, None);
        smooth
    }

    /// Adds a run of short intervals before an interval of limit `next`.
    fn end_run(&mut self, run: &mut Vec<Interval>, least: Span, next: Option<Limit>) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        let (from, until) = (first.from, last.until);
        let before = self.intervals.last().map(|interval| interval.limit);
        if until - from >= least || before.is_none() && next.is_none() {
            self.extend(until, longest(run));
        } else {
            let middle = match (before, next) {
                // The end of the handshake is known exactly: by the packet that ends it.
                (Some(Limit::Handshake), Some(_)) => from,
                (Some(_), Some(_)) => from + (until - from).scale(1, 2),
                (Some(_), None) => until,
                (None, _) => from,
            };
            if let Some(before) = before {
                self.extend(middle, before);
            }
            if let Some(next) = next {
                self.extend(until, next);
            }
        }
        run.clear();
    }
}

/// The limit with the most time of `run`.
fn longest(run: &[Interval]) -> Limit {
    let mut sums = [Span::ZERO; Limit::ALL.len()];
    for interval in run {
        sums[interval.limit as usize] += interval.lasts();
    }
    Limit::ALL.into_iter().rev().max_by_key(|&limit| sums[limit as usize]).unwrap_or(Limit::Unknown)
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
    fn neighbours_with_the_same_limit_are_one_interval() {
        let twice =
            timeline(&[(1, Limit::Timeout), (2, Limit::Timeout), (2, Limit::Pacing), (3, Limit::Pacing)]);
        assert_eq!(twice, timeline(&[(2, Limit::Timeout), (3, Limit::Pacing)]));
    }

    #[test]
    fn the_longest_interval_of_a_limit_is_found() {
        let mut timeline = Timeline::default();
        for (until, limit) in [(10, Limit::SlowStart), (30, Limit::Bottleneck), (60, Limit::SlowStart)] {
            timeline.extend(Time::from_ps(until), limit);
        }
        let longest = timeline.longest(Limit::SlowStart).expect("it applied");
        assert_eq!((longest.from, longest.until), (Time::from_ps(30), Time::from_ps(60)));
        assert_eq!(timeline.longest(Limit::Timeout), None);
    }

    #[test]
    fn a_part_begins_at_zero_and_parts_can_be_joined() {
        let all = timeline(&[(10, Limit::SlowStart), (50, Limit::Pacing), (90, Limit::Timeout)]);
        let ms = |ms| Time::ZERO + Span::from_ms(ms);
        let mut part = all.between(ms(5), ms(30));
        assert_eq!(part, timeline(&[(5, Limit::SlowStart), (25, Limit::Pacing)]));
        part.append(&all.between(ms(40), ms(200)));
        assert_eq!(part, timeline(&[(5, Limit::SlowStart), (35, Limit::Pacing), (75, Limit::Timeout)]));
        assert_eq!(all.between(ms(90), ms(100)), Timeline::default());
    }

    #[test]
    fn a_short_interval_goes_to_both_neighbours() {
        let all = timeline(&[(100, Limit::SlowStart), (104, Limit::Pacing), (200, Limit::Timeout)]);
        let smooth = all.without_shorter_than(Span::from_ms(10));
        assert_eq!(smooth, timeline(&[(102, Limit::SlowStart), (200, Limit::Timeout)]));
    }

    #[test]
    fn a_handshake_takes_no_part_of_a_short_interval() {
        let all = timeline(&[(100, Limit::Handshake), (104, Limit::SlowStart), (200, Limit::RoundTrip)]);
        let smooth = all.without_shorter_than(Span::from_ms(10));
        assert_eq!(smooth, timeline(&[(100, Limit::Handshake), (200, Limit::RoundTrip)]));
    }

    #[test]
    fn a_long_run_of_short_intervals_has_the_limit_of_most_of_it() {
        let all =
            timeline(&[(4, Limit::Pacing), (5, Limit::Timeout), (9, Limit::Pacing), (30, Limit::RoundTrip)]);
        let smooth = all.without_shorter_than(Span::from_ms(6));
        assert_eq!(smooth, timeline(&[(9, Limit::Pacing), (30, Limit::RoundTrip)]));
    }

    #[test]
    fn a_timeline_that_is_short_as_a_whole_is_kept() {
        let all = timeline(&[(1, Limit::Handshake), (3, Limit::RoundTrip)]);
        assert_eq!(all.without_shorter_than(Span::from_ms(9)), timeline(&[(3, Limit::RoundTrip)]));
    }
}
