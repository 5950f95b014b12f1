//! When the rounds of a run on several threads begin and end.

use super::exchange::SLACK;
use core::ops::Range;
use netspurt_tcp::time::{Span, Time};

/// The round of a thread. All threads have the same rounds, since they begin when what all know says so.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    pub(super) number: u64,
    pub(super) start: Time,
    /// The last instant of a round that begins at time 0.
    length: Span,
    /// The next events of the whole world after the last rounds that are over.
    dues: [Time; SLACK as usize],
}

impl Rounds {
    /// The first round. A packet needs at least `lookahead` picoseconds from one part to another.
    pub(super) fn new(lookahead: u64) -> Self {
        debug_assert!(lookahead >= SLACK);
        let length = Span::from_ps(lookahead / SLACK - 1);
        Self { number: 0, start: Time::ZERO, length, dues: [Time::ZERO; SLACK as usize] }
    }

    /// The last instant of this round.
    pub(super) fn end(&self) -> Time {
        self.start + self.length
    }

    /// The round that must be over everywhere before the next one begins.
    pub(super) const fn over(&self) -> Option<u64> {
        (self.number + 1).checked_sub(SLACK)
    }

    /// Begins the next round. After the round that is [over](Self::over) the next event of the whole world was due at `due`.
    ///
    /// Messages of a round that is not over everywhere may not be known to their receivers. So all dues count since then. If
    /// they are behind the end of this round, nothing has happened since, and the next round begins with the first of them.
    pub(super) fn advance(&mut self, due: Option<Time>) {
        let end = self.end();
        self.number += 1;
        self.dues[(self.number % SLACK) as usize] = due.unwrap_or(Time::ZERO);
        let first = self.dues.iter().copied().min().unwrap_or(Time::ZERO);
        self.start = first.max(end + Span::from_ps(1));
    }

    /// The rounds before this one whose messages have not been received.
    pub(super) const fn left(&self) -> Range<u64> {
        (self.number + 1).saturating_sub(SLACK)..self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn rounds_follow_each_other_while_anything_may_happen() {
        let mut rounds = Rounds::new(10);
        assert_eq!((rounds.over(), rounds.left()), (None, 0..0));
        let mut seen = Vec::new();
        for due in [None, Some(4), Some(12), Some(7)] {
            seen.push((rounds.start.as_ps(), rounds.end().as_ps()));
            rounds.advance(due.map(at));
        }
        assert_eq!(seen, [(0, 4), (5, 9), (10, 14), (15, 19)]);
        assert_eq!((rounds.over(), rounds.left()), (Some(3), 3..4));
    }

    #[test]
    fn a_round_begins_with_the_next_event_if_none_is_due_before_for_as_long_as_messages_are_on_their_way() {
        let mut rounds = Rounds::new(10);
        rounds.advance(None);
        for _ in 0..SLACK {
            assert!(rounds.start < at(1000));
            rounds.advance(Some(at(1000)));
        }
        assert_eq!(rounds.start, at(1000));
        rounds.advance(Some(at(1000)));
        assert_eq!(rounds.start, at(1005), "not the same event again");
    }
}
