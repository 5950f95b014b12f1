//! An earlier log of departures, the oracle of [`crate::recovery::flight`] in tests (RFC 8985, section 5.2).
//!
//! First transmissions stand in the order of their positions, which is that of their times too; later ones in the order of
//! their times, and by position. So each is found in O(log n), and the oldest one at once, however much is in flight:
//! nobody walks over all that is outstanding.

#[cfg(test)]
use crate::ranges::work;
use crate::ranges::{Range, RangeSet};
use crate::recovery::flight::Sent;
use crate::time::Time;
use std::collections::{BTreeMap, VecDeque};

/// All transmissions that are not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// First transmissions: the position behind each, its time and its number.
    first: VecDeque<(u64, Time, u32)>,
    /// Where the oldest of them begins.
    edge: u64,
    /// Later transmissions; one that is out of date is passed over when its turn comes.
    later: VecDeque<Sent>,
    /// The newest of them, by where it begins.
    newest: BTreeMap<u64, Sent>,
    /// What is held lost and has not left again: when it left last, should it arrive after all.
    lost: BTreeMap<u64, Sent>,
    /// Departures so far.
    departures: u32,
}

impl Journal {
    /// What begins at the end of all that was sent before leaves.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64, at: Time) {
        if self.first.is_empty() {
            self.edge = start;
        }
        self.departures += 1;
        self.first.push_back((end, at, self.departures));
    }

    /// `range` leaves again.
    pub(crate) fn add_again(&mut self, range: Range, at: Time) {
        self.lost.remove(&range.start);
        self.departures += 1;
        let sent = Sent { range, at, serial: self.departures, again: true };
        self.later.push_back(sent);
        self.newest.insert(range.start, sent);
    }

    /// Whether nothing is out that was sent more than once.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.later.is_empty() && self.newest.is_empty() && self.lost.is_empty()
    }

    /// Everything below `una` is acknowledged, and of first transmissions that was all there is to know: returns the last
    /// of them.
    #[inline]
    pub(crate) fn acknowledge_plain(&mut self, una: u64) -> Option<(u64, Time)> {
        let mut last = None;
        while let Some(&(end, at, _)) = self.first.front()
            && end <= una
        {
            self.first.pop_front();
            last = Some((end, at));
        }
        self.edge = una;
        last
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn forget_below(&mut self, una: u64) {
        while self.first.front().is_some_and(|first| first.0 <= una) {
            self.first.pop_front();
        }
        self.edge = self.edge.max(una);
        while self.later.front().is_some_and(|sent| sent.range.end <= una) {
            self.later.pop_front();
        }
        while self.newest.first_key_value().is_some_and(|(_, newest)| newest.range.end <= una) {
            self.newest.pop_first();
        }
        while self.lost.first_key_value().is_some_and(|(_, sent)| sent.range.end <= una) {
            self.lost.pop_first();
        }
    }

    /// How many segments left more than once of late, as far as they are neither acknowledged nor reported, and when the
    /// first of them left again.
    pub(crate) fn resends(&self, sacked: &RangeSet) -> (u32, Option<Time>) {
        let out = self.newest.values().copied();
        let lost = self.lost.values().filter(|sent| sent.again).copied();
        let open = |sent: &Sent| sacked.covered_within(sent.range) < sent.range.len();
        out.chain(lost).filter(open).fold((0, None), |(count, first), sent| {
            (count + 1, Some(first.map_or(sent.at, |first: Time| first.min(sent.at))))
        })
    }

    /// Nothing is out any more as far as it is known here.
    pub(crate) fn clear(&mut self) {
        *self = Self { departures: self.departures, ..Self::default() };
    }

    /// What of `range` is made of whole transmissions, as far as they are known. The FIN behind `data_end` counts for
    /// nothing: nobody
    /// reports it.
    pub(crate) fn whole(&self, range: Range, data_end: u64) -> Range {
        let first = self.transmission_at(range.start).filter(|first| first.start < range.start);
        let last = self.transmission_at(range.end - 1).filter(|last| last.end.min(data_end) > range.end);
        let start = first.map_or(range.start, |first| first.end);
        let end = last.map_or(range.end, |last| last.start);
        Range::new(start, end.max(start))
    }

    /// The transmission, the latest if there are several, that carried this position.
    fn transmission_at(&self, position: u64) -> Option<Range> {
        let later = self.newest.range(..=position).next_back().map(|(_, sent)| sent.range);
        let lost = self.lost.range(..=position).next_back().map(|(_, sent)| sent.range);
        let here = |range: &Range| range.start <= position && position < range.end;
        later.filter(here).or_else(|| lost.filter(here)).or_else(|| {
            let at = self.first.partition_point(|&(end, ..)| end <= position);
            let start = at.checked_sub(1).map_or(self.edge, |before| self.first[before].0);
            Some(Range::new(start, self.first.get(at)?.0)).filter(here)
        })
    }

    /// The newest transmission of anything in `range`.
    pub(crate) fn newest_of(&self, range: Range) -> Option<Sent> {
        let first = self.first_of(range);
        let lost = self.lost.range(..range.end).next_back().map(|(_, sent)| *sent);
        let first = first.or(lost.filter(|sent| sent.range.end > range.start));
        let overlapping = self.newest.range(..range.end).rev();
        #[cfg(test)]
        work::search(self.newest.len());
        let again = overlapping
            .take_while(|(_, sent)| sent.range.end > range.start)
            .map(|(_, sent)| {
                #[cfg(test)]
                work::add(1);
                *sent
            })
            .reduce(|a, b| if b.is_after(&a) { b } else { a });
        match (first, again) {
            (Some(first), Some(again)) if first.is_after(&again) => Some(first),
            (first, again) => again.or(first),
        }
    }

    /// The newest first transmission of anything in `range`.
    fn first_of(&self, range: Range) -> Option<Sent> {
        #[cfg(test)]
        work::search(self.first.len());
        let at =
            self.first.partition_point(|&(end, ..)| end < range.end).min(self.first.len().checked_sub(1)?);
        let (end, time, serial) = self.first[at];
        let start = if at == 0 { self.edge } else { self.first[at - 1].0 };
        let sent = Sent { range: Range::new(start, end), at: time, serial, again: false };
        (start < range.end && end > range.start).then_some(sent)
    }

    /// The oldest transmission of which something has neither been reported nor left again since.
    pub(crate) fn oldest(&mut self, sacked: &RangeSet) -> Option<Sent> {
        loop {
            #[cfg(test)]
            work::search(self.newest.len());
            let (sent, from_first) = self.front()?;
            let stale = self.newest.get(&sent.range.start).is_some_and(|newest| newest.serial > sent.serial);
            if !stale && sacked.covered_within(sent.range) < sent.range.len() {
                return Some(sent);
            }
            self.pop(from_first);
        }
    }

    /// The oldest transmission of all is held lost.
    pub(crate) fn drop_oldest(&mut self) {
        if let Some((sent, from_first)) = self.front() {
            self.pop(from_first);
            self.lost.insert(sent.range.start, sent);
            if self.newest.get(&sent.range.start).is_some_and(|newest| newest.serial <= sent.serial) {
                self.newest.remove(&sent.range.start);
            }
        }
    }

    /// Nothing is held lost any more: what was is as old as it is, and may be found lost once more.
    pub(crate) fn restore_lost(&mut self) {
        let mut restored: Vec<Sent> = core::mem::take(&mut self.lost).into_values().collect();
        restored.sort_unstable_by_key(Sent::order);
        for sent in restored.into_iter().rev() {
            self.newest.insert(sent.range.start, sent);
            self.later.push_front(sent);
        }
    }

    fn front(&self) -> Option<(Sent, bool)> {
        let first = self.first.front().map(|&(end, at, serial)| {
            let range = Range::new(self.edge.min(end), end);
            Sent { range, at, serial, again: false }
        });
        match (first, self.later.front().copied()) {
            (Some(first), Some(later)) if later.is_after(&first) => Some((first, true)),
            (first, Some(later)) if first.is_none_or(|first| first.is_after(&later)) => Some((later, false)),
            (first, _) => first.map(|first| (first, true)),
        }
    }

    fn pop(&mut self, from_first: bool) {
        if from_first {
            if let Some((end, ..)) = self.first.pop_front() {
                self.edge = end;
            }
        } else {
            self.later.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn journal() -> Journal {
        let mut journal = Journal::default();
        for n in 0..5 {
            journal.add(1 + 100 * n, 101 + 100 * n, at(n));
        }
        journal
    }

    #[test]
    fn the_newest_transmission_of_a_range_is_found_among_first_ones_and_later_ones() {
        let mut journal = journal();
        assert_eq!(journal.newest_of(Range::new(101, 301)).unwrap().at, at(2));
        journal.add_again(Range::new(101, 201), at(9));
        let newest = journal.newest_of(Range::new(101, 301)).unwrap();
        assert_eq!((newest.at, newest.again), (at(9), true));
        assert_eq!(journal.newest_of(Range::new(501, 601)), None);
    }

    #[test]
    fn what_was_reported_or_has_left_again_since_is_not_the_oldest() {
        let mut journal = journal();
        let mut sacked = RangeSet::default();
        sacked.insert(Range::new(1, 101));
        journal.add_again(Range::new(101, 201), at(9));
        let oldest = journal.oldest(&sacked).unwrap();
        assert_eq!(oldest.range, Range::new(201, 301));
        for start in [201, 301, 401] {
            assert_eq!(journal.oldest(&sacked).unwrap().range.start, start);
            journal.drop_oldest();
        }
        let last = journal.oldest(&sacked).unwrap();
        assert_eq!((last.range, last.again), (Range::new(101, 201), true));
        journal.drop_oldest();
        assert_eq!(journal.oldest(&sacked), None);
        let late = journal.newest_of(Range::new(301, 401)).unwrap();
        assert_eq!((late.at, late.again), (at(3), false), "what was held lost may arrive after all");
        assert!(journal.newest_of(Range::new(101, 201)).unwrap().again);
        journal.forget_below(501);
        assert!(journal.is_plain());
    }

    #[test]
    fn what_is_not_held_lost_after_all_is_the_oldest_again() {
        let mut journal = journal();
        let none = RangeSet::default();
        for _ in 0..2 {
            journal.oldest(&none);
            journal.drop_oldest();
        }
        journal.add_again(Range::new(1, 101), at(9));
        journal.restore_lost();
        for (start, ms) in [(101, 1), (201, 2), (301, 3), (401, 4), (1, 9)] {
            let oldest = journal.oldest(&none).unwrap();
            assert_eq!((oldest.range.start, oldest.at), (start, at(ms)));
            journal.drop_oldest();
        }
    }

    #[test]
    fn of_a_range_only_whole_transmissions_count() {
        let journal = journal();
        let whole = |start, end| {
            let range = journal.whole(Range::new(start, end), 500);
            (range.start, range.end)
        };
        assert_eq!(whole(101, 301), (101, 301));
        assert_eq!(whole(1, 501), (1, 501));
        assert_eq!(whole(150, 301), (201, 301));
        assert_eq!(whole(101, 350), (101, 301));
        assert_eq!(whole(401, 500), (401, 500), "the last one with a FIN behind it");
        assert!(journal.whole(Range::new(450, 500), 500).is_empty());
        assert!(journal.whole(Range::new(1, 100), 500).is_empty());
        assert_eq!(whole(401, 600), (401, 600), "beyond what is known nothing is cut off");
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut journal = journal();
        assert_eq!(journal.acknowledge_plain(250), Some((201, at(1))));
        assert_eq!(journal.oldest(&RangeSet::default()).unwrap().range, Range::new(250, 301));
        journal.add_again(Range::new(250, 301), at(9));
        journal.forget_below(301);
        assert!(journal.is_plain());
        assert_eq!(journal.oldest(&RangeSet::default()).unwrap().range, Range::new(301, 401));
    }
}
