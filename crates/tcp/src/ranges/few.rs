//! A short list of ranges in order. One or two are stored in place: most recoveries have no more, and need no allocation for
//! them. More of them are in a deque, which stays.

use crate::ranges::Range;
use core::fmt;
use std::collections::VecDeque;

/// Number of ranges that are stored in place.
const IN_PLACE: usize = 2;

/// The list.
pub(super) enum Few {
    InPlace { len: u8, all: [Range; IN_PLACE] },
    Deque(VecDeque<Range>),
}

impl Few {
    pub(super) const fn new() -> Self {
        Self::InPlace { len: 0, all: [Range::new(0, 0); IN_PLACE] }
    }

    /// All ranges, in order, in two pieces.
    #[inline]
    fn as_slices(&self) -> (&[Range], &[Range]) {
        match self {
            Self::InPlace { len, all } => (&all[..usize::from(*len)], &[]),
            Self::Deque(all) => all.as_slices(),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::InPlace { len, .. } => usize::from(*len),
            Self::Deque(all) => all.len(),
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Range> {
        let (head, tail) = self.as_slices();
        head.get(index).or_else(|| tail.get(index - head.len())).copied()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Range> {
        self.as_slices().0.first().copied()
    }

    #[inline]
    pub(super) fn last(&self) -> Option<Range> {
        let (head, tail) = self.as_slices();
        tail.last().or(head.last()).copied()
    }

    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Range> {
        let (head, tail) = self.as_slices();
        head.iter().chain(tail).copied()
    }

    /// The ranges from this index on.
    #[inline]
    pub(super) fn iter_from(&self, index: usize) -> impl Iterator<Item = Range> {
        let (head, tail) = self.as_slices();
        let in_tail = index.saturating_sub(head.len()).min(tail.len());
        head[index.min(head.len())..].iter().chain(&tail[in_tail..]).copied()
    }

    /// The index of the first range of which `is_below` is false. It is true of those before, and of none behind.
    #[inline]
    pub(super) fn partition_point(&self, is_below: impl Fn(&Range) -> bool) -> usize {
        match self {
            Self::InPlace { len, all } => {
                all[..usize::from(*len)].iter().take_while(|&r| is_below(r)).count()
            }
            Self::Deque(all) => all.partition_point(is_below),
        }
    }

    #[inline]
    pub(super) fn first_mut(&mut self) -> Option<&mut Range> {
        match self {
            Self::InPlace { len, all } => all[..usize::from(*len)].first_mut(),
            Self::Deque(all) => all.front_mut(),
        }
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Range> {
        match self {
            Self::InPlace { len, all } => all[..usize::from(*len)].last_mut(),
            Self::Deque(all) => all.back_mut(),
        }
    }

    /// Replaces the ranges from index `from` up to, not including, `to` by `new`.
    #[inline]
    pub(super) fn replace(&mut self, from: usize, to: usize, new: Range) {
        if from == to {
            return self.insert(from, new);
        }
        match self {
            Self::InPlace { all, .. } => all[from] = new,
            Self::Deque(all) => all[from] = new,
        }
        self.remove(from + 1, to);
    }

    pub(super) fn insert(&mut self, index: usize, new: Range) {
        match self {
            Self::InPlace { len, all } if usize::from(*len) < IN_PLACE => {
                all.copy_within(index..usize::from(*len), index + 1);
                all[index] = new;
                *len += 1;
            }
            Self::InPlace { all, .. } => {
                let mut more = VecDeque::from_iter(*all);
                more.insert(index, new);
                *self = Self::Deque(more);
            }
            Self::Deque(all) => all.insert(index, new),
        }
    }

    /// Removes the ranges from index `from` up to, not including, `to`.
    #[inline]
    pub(super) fn remove(&mut self, from: usize, to: usize) {
        match self {
            Self::InPlace { len, all } => {
                all.copy_within(to..usize::from(*len), from);
                *len -= (to - from) as u8;
            }
            Self::Deque(all) => drop(all.drain(from..to)),
        }
    }
}

impl Default for Few {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the ranges are stored is not shown: two equal lists look alike.
impl fmt::Debug for Few {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_agrees_with_a_plain_one() {
        let mut state = 3_u64;
        let mut draw = move |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for most in [1, 2, 3, 9] {
            let (mut few, mut plain) = (Few::new(), Vec::new());
            for step in 0..2000 {
                let new = Range::new(step, step + 1);
                let from = draw(plain.len() + 1);
                let to = from + draw(plain.len() - from + 1);
                if plain.len() < most {
                    few.replace(from, to, new);
                    plain.splice(from..to, [new]);
                } else {
                    few.remove(from, to);
                    plain.drain(from..to);
                }
                assert_eq!(
                    (few.len(), few.first(), few.last()),
                    (plain.len(), plain.first().copied(), plain.last().copied())
                );
                assert_eq!(few.first_mut().copied(), few.first());
                assert_eq!(few.last_mut().copied(), few.last());
                assert_eq!(few.iter().collect::<Vec<_>>(), plain);
                assert!(few.iter().rev().eq(plain.iter().rev().copied()));
                assert_eq!(few.iter_from(from).collect::<Vec<_>>(), plain.get(from..).unwrap_or_default());
                assert_eq!(few.get(from), plain.get(from).copied());
                assert_eq!(format!("{few:?}"), format!("{plain:?}"));
            }
            assert_eq!(matches!(few, Few::InPlace { .. }), most <= IN_PLACE);
        }
    }

    #[test]
    fn a_point_divides_a_list_stored_either_way() {
        let mut few = Few::new();
        for n in 0..5 {
            few.insert(n, Range::new(n as u64 * 10, n as u64 * 10 + 5));
            assert_eq!(few.partition_point(|r| r.end <= 15), (n + 1).min(2));
        }
    }
}
