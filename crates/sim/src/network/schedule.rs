//! Values that change at times known in advance, once or periodically.
//!
//! The value at a time depends only on that time, so queries may come in any order. Another query for the same interval
//! costs two comparisons.

use netspurt_tcp::time::{Span, Time};

/// The value from a time on, until the next change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change<T> {
    /// Its first time.
    pub at: Time,
    /// The period of its repetition, which is positive.
    pub every: Option<Span>,
    /// No repetition after this time.
    pub until: Option<Time>,
    /// The new value.
    pub value: T,
}

impl<T> Change<T> {
    /// Its last time up to `now`.
    pub fn last_by(&self, now: u64) -> Option<u64> {
        let (at, last) = (self.at.as_ps(), self.until.map_or(u64::MAX, Time::as_ps));
        let now = now.min(last);
        let passed = now.checked_sub(at)?;
        Some(match self.every.map_or(0, Span::as_ps) {
            0 => at,
            every => at + passed / every * every,
        })
    }

    /// Its first time after `now`; [`u64::MAX`] for never.
    pub fn next_after(&self, now: u64) -> u64 {
        let (at, last) = (self.at.as_ps(), self.until.map_or(u64::MAX, Time::as_ps));
        let next = match (now.checked_sub(at), self.every.map_or(0, Span::as_ps)) {
            (None, _) => at,
            (Some(_), 0) => return u64::MAX,
            (Some(passed), every) => match (passed / every + 1).checked_mul(every) {
                Some(behind) => at.saturating_add(behind),
                None => return u64::MAX,
            },
        };
        if next > last { u64::MAX } else { next }
    }
}

/// A value over time.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    initial: T,
    changes: Box<[Change<T>]>,
    /// The result of the last query: the start and end of the interval, and its value.
    from: u64,
    to: u64,
    value: T,
}

impl<T: Copy> Schedule<T> {
    /// `initial` until the first of these changes. Of two changes at the same time, the later one in the list applies.
    pub fn new(initial: T, changes: &[Change<T>]) -> Self {
        Self { initial, changes: changes.into(), from: 0, to: 0, value: initial }
    }

    /// The value at `now`.
    pub fn at(&mut self, now: u64) -> T {
        self.seek(now);
        self.value
    }

    /// When the value may change next: after `now`, [`u64::MAX`] for never.
    pub fn until(&mut self, now: u64) -> u64 {
        self.seek(now);
        self.to
    }

    fn seek(&mut self, now: u64) {
        if self.from <= now && now < self.to {
            return;
        }
        let past = self.changes.iter().filter_map(|change| Some((change.last_by(now)?, change.value)));
        let (from, value) = past.max_by_key(|(time, _)| *time).unwrap_or((0, self.initial));
        let to = self.changes.iter().map(|change| change.next_after(now)).min().unwrap_or(u64::MAX);
        (self.from, self.to, self.value) = (from, to, value);
    }
}

impl Schedule<bool> {
    /// The first time from `now` on at which it is true; [`u64::MAX`] for never.
    pub fn first_true(&mut self, now: u64) -> u64 {
        let mut at = now;
        while !self.at(at) {
            let becomes = self.changes.iter().filter(|change| change.value);
            let Some(next) = becomes.map(|change| change.next_after(at)).min() else { return u64::MAX };
            if next == u64::MAX {
                return next;
            }
            at = next;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<T>(at: u64, every: Option<u64>, until: Option<u64>, value: T) -> Change<T> {
        let time = Time::from_ps;
        Change { at: time(at), every: every.map(Span::from_ps), until: until.map(time), value }
    }

    #[test]
    fn a_value_holds_from_its_change_to_the_next() {
        let mut schedule = Schedule::new('a', &[change(10, None, None, 'b'), change(30, None, None, 'c')]);
        let seen: String = [0, 9, 10, 29, 30, 1000].into_iter().map(|now| schedule.at(now)).collect();
        assert_eq!(seen, "aabbcc");
        assert_eq!([0, 10, 30].map(|now| schedule.until(now)), [10, 30, u64::MAX]);
    }

    #[test]
    fn periods_begin_at_the_first_change_and_end_with_the_last() {
        let mut schedule =
            Schedule::new(0, &[change(10, Some(20), Some(50), 1), change(20, Some(20), None, 2)]);
        let seen =
            |schedule: &mut Schedule<i32>| [5, 10, 19, 20, 30, 50, 59, 60, 70].map(|now| schedule.at(now));
        assert_eq!(seen(&mut schedule), [0, 1, 1, 2, 1, 1, 1, 2, 2]);
        assert_eq!(schedule.until(60), 80, "the first of the two is over");
        assert_eq!(schedule.at(5), 0, "earlier times may be asked for again");
        assert_eq!(change(10, Some(20), Some(50), 1).next_after(50), u64::MAX);
    }

    #[test]
    fn the_later_of_two_at_one_instant_holds() {
        let mut schedule = Schedule::new(0, &[change(10, None, None, 1), change(10, None, None, 2)]);
        assert_eq!(schedule.at(10), 2);
    }

    #[test]
    fn a_periodic_change_far_away_costs_no_steps() {
        let mut schedule = Schedule::new(0, &[change(0, Some(1), None, 1)]);
        assert_eq!((schedule.at(u64::MAX - 5), schedule.until(u64::MAX - 5)), (1, u64::MAX - 4));
    }

    #[test]
    fn the_first_true_time_is_found() {
        let mut up =
            Schedule::new(true, &[change(10, Some(100), None, false), change(15, Some(100), None, true)]);
        assert_eq!([0, 9, 10, 12, 15, 110, 114].map(|now| up.first_true(now)), [0, 9, 15, 15, 15, 115, 115]);
        let mut down = Schedule::new(true, &[change(10, None, None, false)]);
        assert_eq!(down.first_true(10), u64::MAX);
    }
}
