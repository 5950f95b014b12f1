//! The event queue: a four-way min-heap of `(time, source)`.
//!
//! A *source* is anything that can be due: one direction of a link, an endpoint's timer, an application's timer, the
//! starter of flows. Each has a fixed number and asks to be woken at one instant at a time. Events at the same instant
//! are served in the order of their sources' numbers, never in the order of insertion: so the outcome of a run does not
//! depend on when, or how often, an entry was made, and computing several hops at once changes nothing.
//!
//! An entry that is no longer wanted stays where it is; its source recognises it as stale because the time is not the
//! one it is waiting for. A timer that moves later leaves its entry alone as well, and asks again when it comes up.

/// An event queue. Times are picoseconds.
#[derive(Debug, Default)]
pub struct EventQueue {
    /// `time << 64 | source`: one comparison orders both.
    heap: Vec<u128>,
    /// The root was taken and not yet replaced: the next push goes there and saves half the work.
    hole: bool,
}

const fn key(time: u64, source: u32) -> u128 {
    (time as u128) << 64 | source as u128
}

impl EventQueue {
    /// An empty queue with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { heap: Vec::with_capacity(capacity), hole: false }
    }

    /// Entries waiting, stale ones included.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.hole)
    }

    /// Whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes `source` at `time`.
    #[inline]
    pub fn push(&mut self, time: u64, source: u32) {
        let key = key(time, source);
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.heap.push(key);
            self.sift_up(key);
        }
    }

    /// The earliest entry, if it is due at or before `until`; it leaves the queue.
    #[inline]
    pub fn pop_until(&mut self, until: u64) -> Option<(u64, u32)> {
        if self.hole {
            self.close_hole();
        }
        let first = *self.heap.first()?;
        let time = (first >> 64) as u64;
        if time > until {
            return None;
        }
        self.hole = true;
        Some((time, first as u32))
    }

    /// Fills the root with the last entry.
    fn close_hole(&mut self) {
        self.hole = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    fn sift_up(&mut self, key: u128) {
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Places `key`, starting at the root, whose content is forgotten.
    fn sift_down(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let first = 4 * at + 1;
            let (child, least) = match heap.get(first..) {
                Some([a, b, c, d, ..]) => {
                    let (left, l) = if b < a { (1, *b) } else { (0, *a) };
                    let (right, r) = if d < c { (3, *d) } else { (2, *c) };
                    if r < l { (first + right, r) } else { (first + left, l) }
                }
                Some(rest) if !rest.is_empty() => {
                    let (mut child, mut least) = (0, rest[0]);
                    for (i, &other) in rest.iter().enumerate().skip(1) {
                        if other < least {
                            (child, least) = (i, other);
                        }
                    }
                    (first + child, least)
                }
                _ => break,
            };
            if key <= least {
                break;
            }
            heap[at] = least;
            at = child;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_of_time_then_source_however_they_went_in() {
        let mut queue = EventQueue::with_capacity(8);
        let mut state = 1u64;
        let mut expected = Vec::new();
        for i in 0..1000u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let entry = ((state >> 40) % 50, (state >> 20) as u32 % 1000 + i);
            expected.push(entry);
            queue.push(entry.0, entry.1);
        }
        expected.sort_unstable();
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop_until(u64::MAX)).collect();
        assert_eq!(popped, expected);
    }

    #[test]
    fn a_push_right_after_a_pop_takes_the_place_of_what_was_popped() {
        let mut queue = EventQueue::default();
        for source in 0..20 {
            queue.push(u64::from(source), source);
        }
        for round in 0..100u64 {
            let (time, source) = queue.pop_until(u64::MAX).unwrap();
            assert_eq!(time, round);
            queue.push(time + 20, source);
            assert_eq!(queue.len(), 20);
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
    }
}
