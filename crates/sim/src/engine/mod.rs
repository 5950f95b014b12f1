//! The event queue: a four-way min-heap of `(time, source)`.
//!
//! A *source* is anything that has events: one direction of a link, a timer of an endpoint, a timer of an application, the
//! starter of flows. Each has a fixed number, and one valid entry at a time. Events at the same time are processed in the
//! order of their sources' numbers, never in the order of insertion. So the result of a run does not depend on when, or how
//! often, an entry was made, and computing several hops at once changes nothing.
//!
//! An entry that is no longer valid stays in the queue. Its source recognises it because its time is not the expected one.
//! A timer that is moved to a later time keeps its entry, and makes a new one when the old one is due.
//!
//! Near events are kept in a `wheel`, far ones in a `heap`; the earlier of their first entries is next. Where an entry is
//! kept does not change the order.

mod heap;
mod wheel;

use heap::Heap;
use wheel::Wheel;

/// An event queue. Times are picoseconds.
#[derive(Debug)]
pub struct EventQueue {
    near: Wheel,
    /// `time << 64 | source`: one comparison orders both.
    far: Heap,
    /// Time of the first entry in `far`; [`u64::MAX`] if there is none.
    far_from: u64,
}

const fn key(time: u64, source: u32) -> u128 {
    (time as u128) << 64 | source as u128
}

const fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

impl Default for EventQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl EventQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self { near: Wheel::new(), far: Heap::default(), far_from: u64::MAX }
    }

    /// Number of entries, including invalid ones; for tests, since it counts them.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of entries that have been popped.
    pub const fn popped(&self) -> u64 {
        self.near.taken()
    }

    /// Enters an event of `source` at `time`; [`u64::MAX`] is never.
    #[inline]
    pub fn push(&mut self, time: u64, source: u32) {
        if !self.near.push_alone(time, source) {
            self.push_slowly(time, source);
        }
    }

    /// [`EventQueue::push`] for an entry that shares its bucket of the wheel with others.
    #[cold]
    fn push_slowly(&mut self, time: u64, source: u32) {
        if !self.near.push_among_others(time, source) {
            self.far.push(key(time, source));
            self.far_from = self.far_from.min(time);
        }
        if self.near.is_due_for_review() {
            for (time, source) in self.near.review() {
                self.push(time, source);
            }
        }
    }

    /// The time of the earliest entry.
    pub fn first(&self) -> Option<u64> {
        let near = self.near.peek().map(|(time, _)| time);
        let far = Some(self.far_from).filter(|&time| time != u64::MAX);
        near.into_iter().chain(far).min()
    }

    /// Removes and returns the earliest entry, if it is due at or before `until`.
    #[inline]
    pub fn pop_until(&mut self, until: u64) -> Option<(u64, u32)> {
        let mut end = self.far_from;
        loop {
            let entry = self.near.pop(end, until);
            if entry.is_some() {
                return entry;
            }
            end = self.end_of_first(until)?;
        }
    }

    /// The time after the first entry of all, which is moved to the wheel if it is in the heap; `None` if none is due until
    /// then.
    #[cold]
    fn end_of_first(&mut self, until: u64) -> Option<u64> {
        let near = self.near.peek().map(|(time, source)| key(time, source));
        let far = self.far.first().filter(|&far| near.is_none_or(|near| far < near));
        let time = time_of(far.or(near)?);
        let end = time.checked_add(1).filter(|_| time <= until)?;
        if far.is_some() {
            let first = self.far.pop()?;
            self.near.advance(time);
            self.near.push_among_others(time, first as u32);
            self.far_from = self.far.first().map_or(u64::MAX, time_of);
        }
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random entries from a small generator: source `i` is due within `spread` of `now`.
    fn random(state: &mut u64, now: u64, spread: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        now + (*state >> 20) % spread
    }

    #[test]
    fn entries_come_in_order_of_time_then_source_however_far_they_are_apart() {
        for spread in [1, 50, 1 << 20, 1 << 32, 1 << 40] {
            let (mut queue, mut state, mut expected) = (EventQueue::new(), 1, Vec::new());
            for source in 0..5000 {
                let entry = (random(&mut state, 0, spread), source ^ 0x155);
                expected.push(entry);
                queue.push(entry.0, entry.1);
            }
            expected.sort_unstable();
            let popped: Vec<_> = std::iter::from_fn(|| queue.pop_until(u64::MAX)).collect();
            assert!(popped == expected, "spread {spread}");
        }
    }

    #[test]
    fn a_queue_in_motion_agrees_with_a_sorted_set() {
        for (spread, sources) in [(10, 3), (1 << 12, 100), (1 << 30, 2000), (1 << 36, 300), (1 << 45, 50)] {
            let (mut queue, mut state) = (EventQueue::new(), spread);
            let mut expected = std::collections::BTreeSet::new();
            for source in 0..sources {
                let time = random(&mut state, 0, spread);
                queue.push(time, source);
                expected.insert((time, source));
            }
            for round in 0..30_000u64 {
                let popped = queue.pop_until(u64::MAX).unwrap();
                assert_eq!(Some(popped), expected.pop_first(), "round {round}, spread {spread}");
                // Sometimes the traffic changes its pace, and some entries are for a time in the past.
                let pace = if round / 8000 % 2 == 0 { spread } else { spread.isqrt().max(1) };
                let time = random(&mut state, popped.0.saturating_sub(pace / 64), pace);
                queue.push(time, popped.1);
                expected.insert((time, popped.1));
                assert_eq!(queue.len(), sources as usize);
            }
        }
    }

    #[test]
    fn what_is_due_later_stays() {
        let mut queue = EventQueue::default();
        queue.push(10, 1);
        assert_eq!(queue.pop_until(9), None);
        assert_eq!(queue.pop_until(10), Some((10, 1)));
        assert!(queue.is_empty());
        assert_eq!(queue.pop_until(u64::MAX), None);
        queue.push(1 << 60, 2);
        assert_eq!(queue.pop_until(1 << 59), None);
        assert_eq!(queue.pop_until(1 << 60), Some((1 << 60, 2)));
        assert!(queue.is_empty());
    }
}
