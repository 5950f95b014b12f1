//! Ends of application data: the ends of writes, at which segments carry PSH.
//!
//! Most connections have at most one unacknowledged end, so the first one is stored without an allocation.

use std::collections::VecDeque;

/// The positions after each end of application data, in order.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The lowest; 0 if there is none.
    first: u64,
    /// The others.
    #[expect(clippy::box_collection, reason = "few connections need it, and all would carry its 32 bytes")]
    later: Option<Box<VecDeque<u64>>>,
}

impl Marks {
    /// Adds a mark above all others.
    pub(crate) fn push(&mut self, mark: u64) {
        if self.first == 0 {
            self.first = mark;
        } else {
            self.later.get_or_insert_default().push_back(mark);
        }
    }

    /// Adds a mark between others, if there is none at this position.
    pub(crate) fn insert(&mut self, mark: u64) {
        if self.first == 0 || self.first > mark {
            let next = core::mem::replace(&mut self.first, mark);
            if next != 0 {
                self.later.get_or_insert_default().push_front(next);
            }
        } else if self.first < mark {
            let later = self.later.get_or_insert_default();
            let at = later.partition_point(|&one| one < mark);
            if later.get(at) != Some(&mark) {
                later.insert(at, mark);
            }
        }
    }

    /// Removes the highest mark.
    pub(crate) fn remove_last(&mut self) {
        if self.later.as_mut().and_then(|later| later.pop_back()).is_none() {
            self.first = 0;
        }
    }

    /// The number of marks.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first != 0) + self.later.as_ref().map_or(0, |later| later.len())
    }

    /// Moves the marks after `start` and not after `cut` to `end`, or to the mark that follows, if that is nearer.
    pub(crate) fn move_to_end(&mut self, start: u64, cut: u64, end: u64) {
        let to = |mark: &mut u64, next: u64| {
            if *mark > start && *mark <= cut {
                *mark = end.min(next);
            }
        };
        let mut next = u64::MAX;
        for mark in self.later.iter_mut().flat_map(|later| later.iter_mut()).rev() {
            to(mark, next);
            next = *mark;
        }
        to(&mut self.first, next);
    }

    /// Removes the marks up to and including `position`.
    #[inline]
    pub(crate) fn forget(&mut self, position: u64) {
        while self.first != 0 && self.first <= position {
            self.first = self.later.as_mut().and_then(|later| later.pop_front()).unwrap_or(0);
        }
    }

    /// Whether a mark lies after `start` and not after `end`.
    #[inline]
    pub(crate) fn lies_in(&self, start: u64, end: u64) -> bool {
        if self.first == 0 || self.first > end {
            return false;
        }
        if self.first > start {
            return true;
        }
        self.later.as_ref().is_some_and(|later| {
            later.get(later.partition_point(|&mark| mark <= start)).is_some_and(|&mark| mark <= end)
        })
    }

    /// Whether the last mark is at `position`.
    pub(crate) fn ends_at(&self, position: u64) -> bool {
        let last = self.later.as_ref().and_then(|later| later.back().copied()).unwrap_or(self.first);
        last == position && position != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_mark_can_be_removed() {
        let mut marks = Marks::default();
        [101, 151].into_iter().for_each(|mark| marks.push(mark));
        marks.remove_last();
        assert!(marks.ends_at(101) && marks.len() == 1);
        marks.remove_last();
        assert_eq!(marks.len(), 0);
    }

    #[test]
    fn a_mark_can_be_added_between_others_once() {
        let mut marks = Marks::default();
        [101, 301, 51, 201, 201, 51, 301].into_iter().for_each(|mark| marks.insert(mark));
        assert!(marks.len() == 4 && marks.ends_at(301));
        for mark in [51, 101, 201, 301] {
            assert!(marks.lies_in(mark - 1, mark) && !marks.lies_in(mark, mark + 49));
        }
    }

    #[test]
    fn marks_before_a_cut_move_to_the_end_of_the_segment() {
        let mut marks = Marks::default();
        [101, 151, 301].into_iter().for_each(|mark| marks.push(mark));
        marks.move_to_end(100, 150, 200);
        assert!(!marks.lies_in(1, 150) && marks.lies_in(150, 151), "another mark is nearer than the end");
        marks.move_to_end(100, 160, 200);
        assert!(!marks.lies_in(1, 199) && marks.lies_in(199, 200) && marks.ends_at(301));
        marks.forget(200);
        assert_eq!(marks.len(), 1);
    }

    #[test]
    fn a_segment_is_marked_if_a_write_ended_in_it() {
        let mut marks = Marks::default();
        [101, 151, 301].into_iter().for_each(|mark| marks.push(mark));
        assert!(marks.lies_in(1, 101) && !marks.lies_in(1, 100));
        assert!(marks.ends_at(301) && !marks.ends_at(151) && !Marks::default().ends_at(0));
        assert!(marks.lies_in(101, 151) && !marks.lies_in(151, 300) && marks.lies_in(151, 400));
        marks.forget(151);
        assert!(!marks.lies_in(1, 300) && marks.lies_in(1, 301));
        marks.forget(301);
        assert!(!marks.lies_in(0, u64::MAX));
    }
}
