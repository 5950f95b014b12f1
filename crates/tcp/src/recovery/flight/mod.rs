//! The log of transmissions: when each outstanding segment was last sent, and whether that was a retransmission (RFC 8985,
//! section 5.2). It serves Karn's rule, loss detection by time, the undo of a recovery, bursts, MTU probes and delivery rate
//! samples.
//!
//! What a rate sample needs of a transmission, its user keeps under the number of the transmission. So an entry stays small
//! for connections that measure no rates.
//!
//! A ring holds one entry for each segment, in order of positions. First transmissions are in order of time, too, so an
//! index that only moves forward finds the oldest one. A separate queue holds retransmissions in order of time. Entries
//! that were reported or retransmitted since are skipped when they are reached. An ACK in order costs O(1), a SACK report
//! O(log n), for any number of segments in flight.
//!
//! A retransmission that covers parts of entries, after a partial ACK or with another MSS, splits them. The covered part
//! becomes one entry. So the log never has more entries than the sender has sent segments: SACK reports add none.

#[cfg(test)]
pub(super) mod flight_tests;
mod in_packets;
#[cfg(test)]
pub(super) mod journal;
mod least_rtt;
mod parts;
mod short;
mod timed;

pub(crate) use least_rtt::LeastRtt;
pub(crate) use parts::Parts;
pub(crate) use short::ShortSegments;
pub(crate) use timed::Timed;

#[cfg(test)]
use crate::ranges::work;
use crate::ranges::{Range, RangeSet};
use crate::time::Time;
use std::collections::VecDeque;

/// How many transmissions are looked at to find the latest one before another.
const NEAR: usize = 64;

/// One transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) range: Range,
    pub(crate) at: Time,
    /// Its number in the order of all transmissions.
    pub(crate) serial: u32,
    /// Whether it is a retransmission.
    pub(crate) again: bool,
}

impl Sent {
    /// Whether it was sent after the other. RFC 8985, section 6.2 (`RACK_sent_after`), orders transmissions of the same
    /// time by their
    /// ends, because a sender transmits in that order. This is wrong for a retransmission that follows new data at the same
    /// instant, so the number of the transmission decides.
    pub(crate) fn is_after(&self, other: &Self) -> bool {
        self.order() > other.order()
    }

    /// Orders transmissions. Parts of one have the same number.
    pub(crate) fn order(&self) -> (Time, u32, u64) {
        (self.at, self.serial, self.range.end)
    }
}

/// The state of the latest transmission of a segment, without SACK reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    InFlight,
    /// Marked lost, and not retransmitted since.
    Lost,
    /// Its times are no longer known.
    Forgotten,
}

/// An unacknowledged segment.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its end; it begins at the end of the previous entry.
    end: u64,
    /// When it was last sent.
    at: Time,
    /// The number of that transmission.
    serial: u32,
    again: bool,
    fate: Fate,
}

/// Transmissions of segments that an ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// The newest of all.
    pub(crate) newest: Option<Sent>,
    /// The newest of those that the ACK can answer.
    pub(crate) answered: Option<Sent>,
    /// The last of them in the order of positions.
    pub(crate) last: Option<Sent>,
}

/// All unacknowledged segments.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    entries: VecDeque<Entry>,
    /// The start of the first entry, and the end of the last one if there is any.
    edge: u64,
    last_end: u64,
    /// First transmissions before this index were reported, retransmitted or marked lost.
    next: usize,
    /// Retransmissions in order of time; outdated ones are skipped when they are reached.
    later: VecDeque<Sent>,
    /// Number of entries that were retransmitted, marked lost or forgotten. The log is *plain* if it is zero.
    unusual: usize,
    /// Number of transmissions so far.
    departures: u32,
    /// The start of the first entry's segment, if a part of the segment is acknowledged; then it counts as unusual. Else 0.
    cut_from: u64,
}

impl Flight {
    /// Nothing is outstanding, and nothing was sent.
    pub(crate) const fn new() -> Self {
        Self {
            entries: VecDeque::new(),
            edge: 0,
            last_end: 0,
            next: 0,
            later: VecDeque::new(),
            unusual: 0,
            departures: 0,
            cut_from: 0,
        }
    }

    /// New data is sent: it begins at the end of all earlier data.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64, at: Time) {
        if self.entries.is_empty() {
            (self.edge, self.next) = (start, 0);
        } else if self.end() < start {
            self.forget_up_to(start);
        }
        let serial = self.next_serial();
        self.entries.push_back(Entry { end, at, serial, again: false, fate: Fate::InFlight });
        self.last_end = end;
    }

    /// The number of the next transmission.
    #[inline]
    fn next_serial(&mut self) -> u32 {
        self.departures = self.departures.wrapping_add(1);
        self.departures
    }

    /// The number that the next transmission will have.
    pub(crate) fn upcoming(&self) -> u32 {
        self.departures.wrapping_add(1)
    }

    /// Number of outstanding segments.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The numbers of the latest transmissions of all outstanding segments, in order of positions.
    pub(crate) fn serials(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.serial)
    }

    /// The end of the last entry.
    #[inline]
    fn end(&self) -> u64 {
        let end = if self.entries.is_empty() { self.edge } else { self.last_end };
        debug_assert_eq!(end, self.entries.back().map_or(self.edge, |last| last.end));
        end
    }

    /// Adds a forgotten entry for data that was sent without a record, such as a window probe.
    #[cold]
    fn forget_up_to(&mut self, start: u64) {
        self.unusual += 1;
        self.last_end = start;
        self.entries.push_back(Entry {
            end: start,
            at: Time::ZERO,
            serial: 0,
            again: true,
            fate: Fate::Forgotten,
        });
    }

    /// `range` is retransmitted.
    pub(crate) fn add_again(&mut self, range: Range, at: Time) {
        if self.entries.is_empty() {
            (self.edge, self.last_end, self.next) = (range.start, range.start, 0);
        } else if self.end() < range.start {
            self.forget_up_to(range.start);
        }
        let serial = self.next_serial();
        if range.end <= self.edge {
            return;
        }
        let entry = Entry { end: range.end, at, serial, again: true, fate: Fate::InFlight };
        let range = Range::new(range.start.max(self.edge), range.end);
        if range.start == self.edge && self.cut_from > 0 {
            // The rest of a segment is one of its own from now on.
            (self.cut_from, self.unusual) = (0, self.unusual - 1);
        }
        self.later.push_back(Sent { range, at, serial, again: true });
        let first = self.split(range.start);
        let last = self.split(range.end);
        self.last_end = self.last_end.max(range.end);
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

    /// If a part of a retransmission is retransmitted, the rest keeps its place in the queue.
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

    /// The first entry that ends above `position`.
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

    /// Whether no outstanding segment was retransmitted or is marked lost.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.unusual == 0 && self.later.is_empty()
    }

    /// Everything below `una` is acknowledged, and the log is plain. Returns the last transmission that is acknowledged
    /// completely: a part shows no time (`tcp_clean_rtx_queue()`).
    #[inline(always)]
    pub(crate) fn acknowledge_plain(&mut self, una: u64) -> Option<Sent> {
        let mut last = None;
        while let Some(&first) = self.entries.front() {
            if first.end > una {
                if una > self.edge {
                    self.cut_first();
                }
                break;
            }
            self.entries.pop_front();
            self.edge = first.end;
            last = Some(first);
            if first.end == una {
                break;
            }
        }
        self.next = 0;
        self.edge = una;
        last.map(Entry::ending)
    }

    /// Whether the log is of the data from `una` to `max`, without a gap.
    pub(crate) fn spans(&self, una: u64, max: u64) -> bool {
        !self.entries.is_empty() && self.edge == una && self.last_end == max
    }

    /// Everything below `una` is acknowledged, and the log is plain. Returns when the first segment that is acknowledged was
    /// sent, and the transmission of the last one. `None`, without any change, if `una` is not the end of a segment.
    #[inline(always)]
    pub(crate) fn take_whole(&mut self, una: u64) -> Option<(Time, Sent)> {
        let first = *self.entries.front()?;
        if first.end != una {
            return self.take_several(una);
        }
        self.entries.pop_front();
        (self.next, self.edge) = (0, una);
        Some((first.at, first.ending()))
    }

    /// [`Self::take_whole`] of more than one segment.
    #[inline(never)]
    fn take_several(&mut self, una: u64) -> Option<(Time, Sent)> {
        let before = self.entries.iter().take_while(|entry| entry.end < una).count();
        let last = *self.entries.get(before).filter(|last| last.end == una)?;
        let first = self.entries.front()?.at;
        self.entries.drain(..=before);
        (self.next, self.edge) = (0, una);
        Some((first, last.ending()))
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn forget_below(&mut self, una: u64) {
        if self.cut_from > 0 && self.entries.front().is_none_or(|first| first.end <= una) {
            (self.cut_from, self.unusual) = (0, self.unusual - 1);
        }
        while let Some(first) = self.entries.front().filter(|first| first.end <= una) {
            self.unusual -= usize::from(first.is_unusual());
            self.next = self.next.saturating_sub(1);
            self.edge = first.end;
            self.entries.pop_front();
        }
        if una > self.edge {
            self.cut_first();
            self.edge = una;
        }
        while self.later.front().is_some_and(|sent| sent.range.end <= una || self.unusual == 0) {
            self.later.pop_front();
        }
    }

    /// The first unacknowledged position.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// When the first unacknowledged segment was sent, if it was sent only once.
    #[inline]
    pub(crate) fn front_sent_once(&self) -> Option<Time> {
        self.entries.front().filter(|first| !first.again).map(|first| first.at)
    }

    /// The latest transmission of the first unacknowledged segment. Its start is not used.
    #[inline]
    pub(crate) fn front(&self) -> Option<Sent> {
        self.entries.front().copied().map(Entry::ending)
    }

    /// How many segments of `resent` (the ranges that were sent more than once) are not reported, and when the first of them
    /// was last sent.
    pub(crate) fn resends(&self, resent: &RangeSet, sacked: &RangeSet) -> (u32, Option<Time>) {
        self.unreported_resends(resent, sacked).fold((0, None), |(count, first), sent| {
            (count + 1, Some(first.map_or(sent.at, |first: Time| first.min(sent.at))))
        })
    }

    /// These segments.
    pub(in crate::recovery) fn unreported_resends(
        &self,
        resent: &RangeSet,
        sacked: &RangeSet,
    ) -> impl Iterator<Item = Sent> {
        let entries = resent.iter_down().flat_map(|range| self.within(range));
        entries.filter(|sent| sent.again && sacked.covered_within(sent.range) < sent.range.len())
    }

    /// Whether a segment of `resent` (the ranges that were sent more than once) above `una` is in the network again: neither reported
    /// nor marked lost since.
    pub(crate) fn has_resends(&self, una: u64, resent: &RangeSet, sacked: &RangeSet) -> bool {
        let above = resent.iter_down().take_while(|range| range.end > una);
        let indices = above.flat_map(|range| self.indices_within(range));
        indices.map(|at| (&self.entries[at], self.sent(at).range)).any(|(entry, range)| {
            let is_in_flight = entry.again && entry.fate == Fate::InFlight;
            is_in_flight && range.end > una && sacked.covered_within(range) < range.len()
        })
    }

    /// The start of the last segment.
    pub(crate) fn last_start(&self) -> u64 {
        self.entries.len().checked_sub(1).map_or(self.edge, |last| self.start_of(last))
    }

    /// Frees the memory that outstanding segments do not need.
    pub(crate) fn release_memory(&mut self) {
        self.entries.shrink_to_fit();
        self.later.shrink_to_fit();
    }

    /// Forgets the times of all outstanding segments.
    pub(crate) fn forget_all(&mut self) {
        for entry in &mut self.entries {
            (entry.fate, entry.again) = (Fate::Forgotten, true);
        }
        self.unusual = self.entries.len();
        self.cut_from = 0;
        self.next = self.entries.len();
        self.later.clear();
    }

    /// The part of `range` that consists of whole segments, as far as they are known. The FIN at `data_end` does not count,
    /// because it is never reported.
    pub(crate) fn whole(&self, range: Range, data_end: u64) -> Range {
        let first = self.segment_at(range.start).filter(|first| first.start < range.start);
        let last = self.segment_at(range.end - 1).filter(|last| last.end.min(data_end) > range.end);
        let start = first.map_or(range.start, |first| first.end);
        let end = last.map_or(range.end, |last| last.start);
        Range::new(start, end.max(start))
    }

    /// The whole segments at the start of `range`, at least one. If the first one does not fit, the part of it that does.
    pub(crate) fn fitting(&self, range: Range) -> Range {
        let ends = self
            .entries
            .range(self.index_of(range.start)..)
            .take_while(|entry| entry.fate != Fate::Forgotten);
        let last = ends.map(|entry| entry.end).take_while(|&end| end <= range.end).last();
        Range::new(range.start, last.unwrap_or(range.end))
    }

    pub(crate) fn segment_at(&self, position: u64) -> Option<Range> {
        let at = self.index_of(position);
        let known = self.entries.get(at).is_some_and(|entry| entry.fate != Fate::Forgotten);
        known.then(|| self.sent(at).range).filter(|range| range.start <= position)
    }

    /// The latest transmissions of the segments that overlap `range`, also of those whose times are forgotten.
    pub(crate) fn all_within(&self, range: Range) -> impl Iterator<Item = Sent> {
        self.indices_within(range).map(|at| self.sent(at))
    }

    /// The latest transmissions of the segments that overlap `range`.
    pub(super) fn within(&self, range: Range) -> impl Iterator<Item = Sent> {
        let known = |&at: &usize| self.entries[at].fate != Fate::Forgotten;
        self.indices_within(range).filter(known).map(|at| self.sent(at))
    }

    /// Segments that lie in `range` as a whole and were sent again, among the first `most` in it.
    pub(crate) fn resent_within(&self, range: Range, most: usize) -> usize {
        let is_whole = |sent: &Sent| sent.range.start >= range.start && sent.range.end <= range.end;
        self.all_within(range).take(most).filter(|sent| sent.again && is_whole(sent)).count()
    }

    fn indices_within(&self, range: Range) -> impl Iterator<Item = usize> {
        let first = self.index_of(range.start);
        (first..self.entries.len()).take_while(move |&at| self.start_of(at) < range.end)
    }

    /// The transmissions of the segments in `range`, of which the present ACK can answer only some. Each segment is examined once,
    /// because it is delivered once.
    pub(crate) fn delivered(&self, range: Range, answers: impl Fn(&Sent) -> bool) -> Delivered {
        self.within(range).fold(Delivered::default(), |all, sent| {
            #[cfg(test)]
            work::add(1);
            let newest = all.newest.filter(|newest| newest.is_after(&sent)).or(Some(sent));
            if answers(&sent) {
                let answered = all.answered.filter(|newest| newest.is_after(&sent)).or(Some(sent));
                Delivered { newest, answered, last: Some(sent) }
            } else {
                Delivered { newest, ..all }
            }
        })
    }

    /// The oldest transmission that is not completely reported and was not sent again since.
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
            let Some(mut sent) = self.later.front().copied() else { break None };
            // A part of it may be acknowledged.
            sent.range = Range::new(sent.range.start.max(self.edge).min(sent.range.end), sent.range.end);
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

    /// The latest transmission before `newest` that is neither completely reported nor sent again since. It looks at the
    /// [`NEAR`] transmissions before `newest` only, so that the work has a bound.
    pub(crate) fn latest_before(&self, newest: &Sent, sacked: &RangeSet) -> Option<Sent> {
        let open = |sent: &Sent| sacked.covered_within(sent.range) < sent.range.len();
        // Nothing behind new data was sent before it.
        let end = if newest.again { self.entries.len() } else { self.index_of(newest.range.end) };
        let first = (self.next..end.min(self.entries.len()))
            .rev()
            .take(NEAR)
            .filter(|&at| !self.entries[at].is_unusual())
            .map(|at| self.sent(at))
            .find(|sent| newest.is_after(sent) && open(sent));
        let is_latest = |sent: &Sent| {
            let entry = self.entries.get(self.index_of(sent.range.start));
            entry.is_some_and(|entry| {
                entry.fate == Fate::InFlight && (entry.end, entry.serial) == (sent.range.end, sent.serial)
            })
        };
        let later = self.later.iter().rev().take(NEAR).copied();
        let later = later.filter(is_latest).find(|sent| newest.is_after(sent) && open(sent));
        match (first, later) {
            (Some(first), Some(later)) if later.is_after(&first) => Some(later),
            (first, later) => first.or(later),
        }
    }

    /// Marks `oldest` lost, which [`oldest`](Self::oldest) has returned.
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

    /// Removes all loss marks. The times stay, so a segment can be marked lost again.
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
    /// The transmission. Its start is that of no segment: callers use only its end.
    #[inline]
    fn ending(self) -> Sent {
        let Self { end, at, serial, again, .. } = self;
        Sent { range: Range::new(end, end), at, serial, again }
    }

    #[inline]
    fn is_unusual(&self) -> bool {
        self.again || self.fate != Fate::InFlight
    }
}
