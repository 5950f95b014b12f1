//! The log of departures: when each outstanding segment left last, and whether it had left before (RFC 8985, section 5.2).
//!
//! One entry for each segment, in order of positions, in a ring. First transmissions are in order of their times as well, so
//! the oldest of them is found by an index that only moves forward; retransmissions wait in a queue of their own, in order
//! of time. An entry that was reported, or has left again since, is skipped when its turn comes. An ACK in order costs O(1),
//! a report O(log n), however much is in flight.
//!
//! A retransmission that covers parts of entries, after a partial ACK or with another MSS, splits them, and what it covers
//! becomes one entry. So the log holds no more entries than the sender has sent segments: no report makes it longer.

#[cfg(test)]
pub(super) mod flight_tests;
#[cfg(test)]
pub(super) mod journal;

#[cfg(test)]
use crate::ranges::work;
use crate::ranges::{Range, RangeSet};
use crate::time::Time;
use std::collections::VecDeque;

/// One transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) range: Range,
    pub(crate) at: Time,
    /// Its number among all departures.
    pub(crate) serial: u32,
    /// It had been sent before.
    pub(crate) again: bool,
}

impl Sent {
    /// Whether it left after the other. RFC 8985, section 6.2 (`RACK_sent_after`), orders transmissions of the same time by their
    /// ends, because a sender transmits in that order. This is wrong for a retransmission that follows new data at the same
    /// instant, so the number of the departure decides.
    pub(crate) fn is_after(&self, other: &Self) -> bool {
        self.order() > other.order()
    }

    /// Orders transmissions. Parts of one have the same number.
    pub(crate) fn order(&self) -> (Time, u32, u64) {
        (self.at, self.serial, self.range.end)
    }
}

/// What became of the latest transmission of a segment, reports apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    /// Held lost, and not sent again since.
    Lost,
    /// Nothing is known of it any more.
    Forgotten,
}

/// A segment that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The position behind it; it begins where the one before ends.
    end: u64,
    /// When it left last.
    at: Time,
    /// The number of that departure.
    serial: u32,
    again: bool,
    fate: Fate,
}

/// All that was sent and is not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    entries: VecDeque<Entry>,
    /// Where the first entry begins.
    edge: u64,
    /// First transmissions before this index were reported, sent again or held lost.
    next: usize,
    /// Retransmissions in order of time; one that is out of date is skipped when its turn comes.
    later: VecDeque<Sent>,
    /// Entries that were sent again, held lost or forgotten: with none, the log is plain.
    unusual: usize,
    /// Departures so far.
    departures: u32,
}

impl Flight {
    /// What begins at the end of all that was sent before leaves.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64, at: Time) {
        if self.entries.is_empty() {
            (self.edge, self.next) = (start, 0);
        } else if self.end() < start {
            self.forget_up_to(start);
        }
        let serial = self.next_serial();
        self.entries.push_back(Entry { end, at, serial, again: false, fate: Fate::InFlight });
    }

    /// The number of the segment that leaves.
    #[inline]
    fn next_serial(&mut self) -> u32 {
        self.departures = self.departures.wrapping_add(1);
        self.departures
    }

    /// Behind all that is known.
    fn end(&self) -> u64 {
        self.entries.back().map_or(self.edge, |last| last.end)
    }

    /// What was sent without a note, such as a byte that probed a closed window, is nothing known.
    #[cold]
    fn forget_up_to(&mut self, start: u64) {
        self.unusual += 1;
        self.entries.push_back(Entry {
            end: start,
            at: Time::ZERO,
            serial: 0,
            again: true,
            fate: Fate::Forgotten,
        });
    }

    /// `range` leaves again.
    pub(crate) fn add_again(&mut self, range: Range, at: Time) {
        if self.entries.is_empty() {
            (self.edge, self.next) = (range.start, 0);
        } else if self.end() < range.start {
            self.forget_up_to(range.start);
        }
        let serial = self.next_serial();
        let entry = Entry { end: range.end, at, serial, again: true, fate: Fate::InFlight };
        let range = Range::new(range.start.max(self.edge), range.end);
        self.later.push_back(Sent { range, at, serial, again: true });
        let first = self.split(range.start);
        let last = self.split(range.end);
        if first == last {
            self.entries.push_back(entry);
            self.unusual += 1;
            return;
        }
        let usual = self.entries.range(first..last).filter(|entry| !entry.is_unusual()).count();
        self.unusual = self.unusual + usual + 1 - (last - first);
        self.entries[first] = entry;
        if last - first > 1 {
            self.entries.drain(first + 1..last);
            if self.next > first {
                self.next = (first + 1).max(self.next.saturating_sub(last - first - 1));
            }
        }
    }

    /// What is left of a retransmission of which a part leaves again takes its place in the queue.
    #[cold]
    fn queue(&mut self, sent: Sent) {
        let at = self.later.partition_point(|before| sent.is_after(before));
        self.later.insert(at, sent);
    }

    /// Makes an entry begin at `position`, if any covers it; returns the index of the first entry from there on.
    fn split(&mut self, position: u64) -> usize {
        let at = self.index_of(position);
        let Some(&entry) = self.entries.get(at) else { return at };
        if self.start_of(at) >= position {
            return at;
        }
        if entry.again && entry.fate == Fate::InFlight {
            let whole = self.sent(at);
            self.queue(Sent { range: Range::new(whole.range.start, position), ..whole });
            self.queue(Sent { range: Range::new(position, entry.end), ..whole });
        }
        self.entries.insert(at, Entry { end: position, ..entry });
        self.unusual += usize::from(entry.is_unusual());
        if self.next > at {
            self.next += 1;
        }
        at + 1
    }

    /// The first entry that ends behind `position`.
    fn index_of(&self, position: u64) -> usize {
        #[cfg(test)]
        work::search(self.entries.len());
        self.entries.partition_point(|entry| entry.end <= position)
    }

    fn start_of(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(self.edge, |before| self.entries[before].end)
    }

    fn sent(&self, index: usize) -> Sent {
        let entry = &self.entries[index];
        let range = Range::new(self.start_of(index), entry.end);
        Sent { range, at: entry.at, serial: entry.serial, again: entry.again }
    }

    /// Whether nothing is out that was sent more than once or is held lost.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.unusual == 0 && self.later.is_empty()
    }

    /// Everything below `una` is acknowledged, and the log is plain: returns the last first transmission that is acknowledged
    /// whole or in part.
    #[inline]
    pub(crate) fn acknowledge_plain(&mut self, una: u64) -> Option<Sent> {
        let mut last = None;
        while let Some(&Entry { end, .. }) = self.entries.front() {
            if end > una {
                // Who acknowledges a part of a segment has that segment.
                if una > self.edge {
                    last = self.front();
                }
                break;
            }
            last = self.front();
            self.entries.pop_front();
            self.edge = end;
        }
        self.next = 0;
        self.edge = una;
        last
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn forget_below(&mut self, una: u64) {
        while let Some(first) = self.entries.front().filter(|first| first.end <= una) {
            self.unusual -= usize::from(first.is_unusual());
            self.next = self.next.saturating_sub(1);
            self.entries.pop_front();
        }
        self.edge = self.edge.max(una);
        while self.later.front().is_some_and(|sent| sent.range.end <= una || self.unusual == 0) {
            self.later.pop_front();
        }
    }

    /// When the segment at the left edge left, if it left but once.
    #[inline]
    pub(crate) fn front_sent_once(&self) -> Option<Time> {
        self.entries.front().filter(|first| !first.again).map(|first| first.at)
    }

    /// The oldest segment that is not acknowledged, as it left last. Where it began makes no difference.
    #[inline]
    pub(crate) fn front(&self) -> Option<Sent> {
        let &Entry { end, at, serial, again, .. } = self.entries.front()?;
        Some(Sent { range: Range::new(end, end), at, serial, again })
    }

    /// How many segments of `resent`, the ranges that left more than once, are not reported, and when the first of them left
    /// last.
    pub(crate) fn resends(&self, resent: &RangeSet, sacked: &RangeSet) -> (u32, Option<Time>) {
        let entries = resent.iter_down().flat_map(|range| self.within(range));
        let again = entries.filter(|sent| sent.again && sacked.covered_within(sent.range) < sent.range.len());
        again.fold((0, None), |(count, first), sent| {
            (count + 1, Some(first.map_or(sent.at, |first: Time| first.min(sent.at))))
        })
    }

    /// Where the last segment begins.
    pub(crate) fn last_start(&self) -> u64 {
        self.entries.len().checked_sub(1).map_or(self.edge, |last| self.start_of(last))
    }

    /// Nothing that is out is known any more.
    pub(crate) fn forget_all(&mut self) {
        for entry in &mut self.entries {
            (entry.fate, entry.again) = (Fate::Forgotten, true);
        }
        self.unusual = self.entries.len();
        self.next = self.entries.len();
        self.later.clear();
    }

    /// What of `range` is made of whole segments, as far as they are known. The FIN behind `data_end` counts for nothing: nobody
    /// reports it.
    pub(crate) fn whole(&self, range: Range, data_end: u64) -> Range {
        let first = self.segment_at(range.start).filter(|first| first.start < range.start);
        let last = self.segment_at(range.end - 1).filter(|last| last.end.min(data_end) > range.end);
        let start = first.map_or(range.start, |first| first.end);
        let end = last.map_or(range.end, |last| last.start);
        Range::new(start, end.max(start))
    }

    fn segment_at(&self, position: u64) -> Option<Range> {
        let at = self.index_of(position);
        let known = self.entries.get(at).is_some_and(|entry| entry.fate != Fate::Forgotten);
        known.then(|| self.sent(at).range).filter(|range| range.start <= position)
    }

    /// The segments that have something in `range`, as they left last.
    fn within(&self, range: Range) -> impl Iterator<Item = Sent> {
        let first = self.index_of(range.start);
        let known = |&at: &usize| self.entries[at].fate != Fate::Forgotten;
        (first..self.entries.len())
            .take_while(move |&at| self.start_of(at) < range.end)
            .filter(known)
            .map(|at| self.sent(at))
    }

    /// The newest transmission of anything in `range`. Each segment is looked at once, as it arrives once.
    pub(crate) fn newest_of(&self, range: Range) -> Option<Sent> {
        self.within(range).reduce(|a, b| {
            #[cfg(test)]
            work::add(1);
            if b.is_after(&a) { b } else { a }
        })
    }

    /// The oldest transmission of which something has neither been reported nor left again since.
    pub(crate) fn oldest(&mut self, sacked: &RangeSet) -> Option<Sent> {
        let open = |sent: &Sent| sacked.covered_within(sent.range) < sent.range.len();
        let first = loop {
            let Some(entry) = self.entries.get(self.next) else { break None };
            if !entry.is_unusual() {
                let sent = self.sent(self.next);
                if open(&sent) {
                    break Some(sent);
                }
            }
            self.next += 1;
        };
        let later = loop {
            let Some(sent) = self.later.front().copied() else { break None };
            let at = self.index_of(sent.range.start);
            let latest = self.entries.get(at).filter(|entry| entry.again && entry.fate == Fate::InFlight);
            let latest = latest.filter(|entry| (entry.end, entry.serial) == (sent.range.end, sent.serial));
            if latest.is_some() && open(&sent) {
                break Some(sent);
            }
            self.later.pop_front();
        };
        match (first, later) {
            (Some(first), Some(later)) if first.is_after(&later) => Some(later),
            (first, later) => first.or(later),
        }
    }

    /// `oldest`, which [`oldest`](Self::oldest) has returned, is held lost.
    pub(crate) fn hold_lost(&mut self, oldest: Sent) {
        if oldest.again {
            self.later.pop_front();
        }
        let at = self.index_of(oldest.range.start);
        if let Some(entry) = self.entries.get_mut(at) {
            self.unusual += usize::from(!entry.is_unusual());
            entry.fate = Fate::Lost;
        }
    }

    /// Nothing is held lost any more: what was is as old as it is, and may be found lost once more.
    pub(crate) fn restore_lost(&mut self) {
        let mut again = Vec::new();
        for at in 0..self.entries.len() {
            let entry = &mut self.entries[at];
            if entry.fate != Fate::Lost {
                continue;
            }
            entry.fate = Fate::InFlight;
            if entry.again {
                again.push(self.sent(at));
            } else {
                self.unusual -= 1;
                self.next = self.next.min(at);
            }
        }
        again.extend(self.later.drain(..));
        again.sort_unstable_by_key(Sent::order);
        self.later = again.into();
    }
}

impl Entry {
    #[inline]
    fn is_unusual(&self) -> bool {
        self.again || self.fate != Fate::InFlight
    }
}
