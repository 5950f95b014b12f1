//! A set of disjoint half-open ranges of stream positions, in order.
//!
//! A few are kept in a list (`few.rs`): what is added lies near its end (new data) or near its front (repairs), and both are cheap
//! there.
//! Many are kept in a tree, where everything costs O(log n), wherever it is.

mod few;
mod range;
mod tree;
#[cfg(any(test, fuzzing))]
pub mod work;

pub use range::Range;

use few::Few;
use tree::Tree;

/// So many ranges are kept in a list at most; of a tree with a quarter of them a list is made again.
const FEW: usize = 128;

/// The set.
#[derive(Debug, Default)]
pub struct RangeSet {
    ranges: Few,
    covered: u64,
    /// All ranges, once they are many: the list is empty then.
    many: Option<Box<Tree>>,
}

impl RangeSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { ranges: Few::new(), covered: 0, many: None }
    }

    /// Number of positions in the set.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Number of disjoint ranges.
    pub fn len(&self) -> usize {
        self.many.as_ref().map_or(self.ranges.len(), |tree| tree.len())
    }

    /// Whether no position is in the set.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.many.is_none()
    }

    /// The lowest range.
    pub fn first(&self) -> Option<Range> {
        self.many.as_ref().map_or_else(|| self.ranges.first(), |tree| tree.first())
    }

    /// The highest range.
    pub fn last(&self) -> Option<Range> {
        self.many.as_ref().map_or_else(|| self.ranges.last(), |tree| tree.last())
    }

    /// From the highest range down.
    pub fn iter_down(&self) -> impl Iterator<Item = Range> {
        let mut few = self.ranges.iter().rev();
        let mut above = u64::MAX;
        core::iter::from_fn(move || match &self.many {
            None => few.next(),
            Some(tree) => {
                let range = tree.before(above)?;
                above = range.start;
                Some(range)
            }
        })
    }

    /// Whether a position of `range`, or one beside it, is in the set.
    pub fn touches(&self, range: Range) -> bool {
        self.at_or_after(range.start.saturating_sub(1)).is_some_and(|known| known.start <= range.end)
    }

    /// Goes over to a tree when the ranges have become many, and back when they have become few.
    fn rearrange(&mut self) {
        match &self.many {
            None if self.ranges.len() > FEW => {
                self.many = Some(Box::new(Tree::of(self.ranges.iter())));
                self.ranges = Few::new();
            }
            Some(tree) if tree.len() < FEW / 4 => {
                let mut ranges = Few::new();
                for range in self.iter_down() {
                    ranges.insert(0, range);
                }
                (self.ranges, self.many) = (ranges, None);
            }
            _ => {}
        }
    }

    /// [`insert`](Self::insert) where there are many.
    #[cold]
    fn insert_among_many(&mut self, new: Range) -> (Range, u64) {
        let Some(tree) = &mut self.many else { return (new, 0) };
        let (merged, absorbed) = tree.absorb(new);
        self.covered = tree.covered();
        self.rearrange();
        (merged, merged.len() - absorbed)
    }

    /// [`remove`](Self::remove) where there are many.
    #[cold]
    fn remove_among_many(&mut self, gone: Range) {
        if let Some(tree) = &mut self.many {
            tree.remove(gone);
            self.covered = tree.covered();
            self.rearrange();
        }
    }

    /// Adds `new`; returns the whole range that it is part of now, and how many positions were not in the set before.
    pub fn insert(&mut self, new: Range) -> (Range, u64) {
        if self.many.is_some() {
            return self.insert_among_many(new);
        }
        // New data lies at the end.
        if let Some(last) = self.ranges.last_mut()
            && last.start <= new.start
            && new.start <= last.end
        {
            let added = new.end.saturating_sub(last.end);
            last.end += added;
            let merged = *last;
            self.covered += added;
            return (merged, added);
        }
        let from = self.ranges.partition_point(|r| r.end < new.start);
        #[cfg(any(test, fuzzing))]
        work::search(self.ranges.len());
        // What SACK reports, it reports several times.
        if let Some(known) = self.ranges.get(from).filter(|r| r.start <= new.start && new.end <= r.end) {
            return (known, 0);
        }
        let (mut merged, mut absorbed, mut to) = (new, 0, from);
        for r in self.ranges.iter_from(from).take_while(|r| r.start <= new.end) {
            merged.start = merged.start.min(r.start);
            merged.end = merged.end.max(r.end);
            absorbed += r.len();
            to += 1;
        }
        #[cfg(any(test, fuzzing))]
        work::add(to - from + from.min(self.ranges.len() - to));
        self.ranges.replace(from, to, merged);
        let added = merged.len() - absorbed;
        self.covered += added;
        if self.ranges.len() > FEW {
            self.rearrange();
        }
        (merged, added)
    }

    /// Forgets every position before `edge`.
    pub fn remove_below(&mut self, edge: u64) {
        if let Some(tree) = &self.many {
            if tree.first().is_none_or(|first| first.start >= edge) {
                return;
            }
            return self.remove_among_many(Range::new(0, edge));
        }
        while let Some(first) = self.ranges.first_mut() {
            if first.start >= edge {
                break;
            }
            if first.end > edge {
                self.covered -= edge - first.start;
                first.start = edge;
                break;
            }
            self.covered -= first.len();
            self.ranges.remove(0, 1);
        }
    }

    /// Forgets every position of `gone`.
    pub fn remove(&mut self, gone: Range) {
        if gone.is_empty() {
            return;
        }
        if self.many.is_some() {
            return self.remove_among_many(gone);
        }
        let from = self.ranges.partition_point(|r| r.end <= gone.start);
        let Some(first) = self.ranges.get(from).filter(|r| r.start < gone.end) else { return };
        let to = from + self.ranges.iter_from(from).take_while(|r| r.start < gone.end).count();
        #[cfg(any(test, fuzzing))]
        work::add(to - from + from.min(self.ranges.len() - to));
        let last = self.ranges.get(to - 1).unwrap_or(first);
        self.covered -= self.covered_within(gone);
        let before = Range::new(first.start, gone.start);
        let behind = Range::new(gone.end, last.end);
        self.ranges.remove(from, to);
        for left in [behind, before] {
            if !left.is_empty() {
                self.ranges.insert(from, left);
            }
        }
        if self.ranges.len() > FEW {
            self.rearrange();
        }
    }

    /// What of `within` is not in the set, in order.
    pub fn missing_in(&self, within: Range) -> impl Iterator<Item = Range> {
        let from = self.ranges.partition_point(|r| r.end <= within.start);
        #[cfg(any(test, fuzzing))]
        work::search(self.ranges.len());
        let mut few = self.ranges.iter_from(from);
        let mut behind = within.start;
        let next = move || match &self.many {
            None => few.next(),
            Some(tree) => {
                let range = tree.at_or_after(behind)?;
                behind = range.end;
                Some(range)
            }
        };
        let mut known = core::iter::from_fn(next).take_while(move |r| r.start < within.end);
        let mut start = within.start;
        let mut over = false;
        core::iter::from_fn(move || {
            while !over {
                #[cfg(any(test, fuzzing))]
                work::add(1);
                let next = known.next();
                over = next.is_none();
                let (end, behind) = next.map_or((within.end, within.end), |r| (r.start, r.end));
                let piece = Range::new(start, end);
                start = behind;
                if !piece.is_empty() {
                    return Some(piece);
                }
            }
            None
        })
    }

    /// Forgets every position.
    pub fn clear(&mut self) {
        self.ranges = Few::new();
        self.covered = 0;
        self.many = None;
    }

    /// The range that holds `position`, if one does; otherwise where the next one begins, if one follows.
    pub fn at_or_after(&self, position: u64) -> Option<Range> {
        if let Some(tree) = &self.many {
            return tree.at_or_after(position);
        }
        self.ranges.get(self.ranges.partition_point(|r| r.end <= position))
    }

    /// How many positions of `within` are in the set.
    pub fn covered_within(&self, within: Range) -> u64 {
        if let Some(tree) = &self.many {
            return tree.covered_within(within);
        }
        let from = self.ranges.partition_point(|r| r.end <= within.start);
        #[cfg(any(test, fuzzing))]
        work::search(self.ranges.len());
        self.ranges
            .iter_from(from)
            .take_while(|r| r.start < within.end)
            .inspect(|_| {
                #[cfg(any(test, fuzzing))]
                work::add(1);
            })
            .map(|r| r.end.min(within.end) - r.start.max(within.start))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::default();
        for &(start, end) in ranges {
            set.insert(Range::new(start, end));
        }
        set
    }

    #[test]
    fn touching_and_overlapping_ranges_become_one() {
        let mut s = set(&[(10, 20), (30, 40)]);
        assert_eq!(s.insert(Range::new(20, 30)), (Range::new(10, 40), 10));
        assert_eq!((s.len(), s.covered()), (1, 30));
        assert_eq!(s.insert(Range::new(5, 50)), (Range::new(5, 50), 15));
        assert_eq!(s.insert(Range::new(6, 7)), (Range::new(5, 50), 0));
    }

    #[test]
    fn removing_below_an_edge_trims_the_range_it_falls_into() {
        let mut s = set(&[(10, 20), (30, 40)]);
        s.remove_below(35);
        assert_eq!((s.first(), s.covered()), (Some(Range::new(35, 40)), 5));
    }

    #[test]
    fn coverage_is_counted_within_bounds() {
        let s = set(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(s.covered_within(Range::new(15, 55)), 5 + 10 + 5);
        assert_eq!(s.at_or_after(20), Some(Range::new(30, 40)));
        assert_eq!(s.at_or_after(35), Some(Range::new(30, 40)));
        assert_eq!(s.at_or_after(60), None);
    }

    #[test]
    fn many_ranges_agree_with_a_plain_list_of_them() {
        let mut state = 7_u64;
        let mut draw = move |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut s, mut plain, mut most) = (RangeSet::default(), vec![false; 20_000], 0);
        for step in 0..30_000_u64 {
            // Slivers, then ever more that fills gaps: from few to many, and back.
            let longest = if step % 10_000 < 7000 { 2 } else { 300 };
            let start = draw(19_000);
            let new = Range::new(start, start + 1 + draw(longest));
            let fresh = (new.start..new.end).filter(|&p| !plain[p as usize]).count() as u64;
            let touches = (new.start.saturating_sub(1)..=new.end).any(|p| plain[p as usize]);
            assert_eq!(s.touches(new), touches);
            let (merged, added) = s.insert(new);
            assert!(added == fresh && merged.start <= new.start && new.end <= merged.end);
            (new.start..new.end).for_each(|p| plain[p as usize] = true);
            if draw(6) == 0 {
                let start = draw(19_000);
                let gone = Range::new(start, start + 1 + draw(longest));
                s.remove(gone);
                (gone.start..gone.end).for_each(|p| plain[p as usize] = false);
            }
            if step % 10_000 == 9_999 {
                s.remove_below(15_000);
                (0..15_000).for_each(|p| plain[p] = false);
            }
            most = most.max(s.len());
            if step % 50 == 0 {
                let within = Range::new(draw(10_000), 10_000 + draw(10_000));
                let known = (within.start..within.end).filter(|&p| plain[p as usize]).count() as u64;
                assert_eq!(s.covered_within(within), known);
                let missing: u64 = s.missing_in(within).map(Range::len).sum();
                assert_eq!(missing, within.len() - known);
                let mut down: Vec<Range> = s.iter_down().collect();
                assert_eq!(
                    (down.len(), down.first().copied(), down.last().copied()),
                    (s.len(), s.last(), s.first())
                );
                down.reverse();
                assert!(down.windows(2).all(|pair| pair[0].end < pair[1].start));
                assert_eq!(s.at_or_after(within.start), down.iter().copied().find(|r| r.end > within.start));
                assert_eq!(s.covered(), down.iter().map(|r| r.len()).sum::<u64>());
            }
        }
        assert!(most > 2 * FEW && s.many.is_none(), "{most} {}", s.len());
    }

    #[test]
    fn a_thousand_random_inserts_agree_with_a_plain_bitmap() {
        let mut state = 1_u64;
        let mut draw = move |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut s, mut bitmap) = (RangeSet::default(), vec![false; 700]);
        for _ in 0..1000 {
            let start = draw(600);
            let end = start + 1 + draw(20);
            let fresh = (start..end).filter(|&p| !bitmap[p as usize]).count() as u64;
            assert_eq!(s.insert(Range::new(start, end)).1, fresh);
            (start..end).for_each(|p| bitmap[p as usize] = true);
            let gone = Range::new(draw(600), draw(620));
            if draw(4) == 0 {
                s.remove(gone);
                (gone.start..gone.end).for_each(|p| bitmap[p as usize] = false);
            }
            let missing: Vec<u64> = s.missing_in(gone).flat_map(|r| r.start..r.end).collect();
            assert_eq!(missing, (gone.start..gone.end).filter(|&p| !bitmap[p as usize]).collect::<Vec<_>>());
            if draw(50) == 0 {
                let edge = draw(300);
                s.remove_below(edge);
                (0..edge).for_each(|p| bitmap[p as usize] = false);
            }
            assert_eq!(s.covered(), bitmap.iter().filter(|&&b| b).count() as u64);
        }
    }
}
