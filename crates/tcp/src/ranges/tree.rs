//! Many disjoint ranges in order: a balanced tree that knows how much each of its branches covers.
//!
//! An AVL tree, built from one operation, which joins two trees with a node between them (Blelloch, Ferizovic and Sun,
//! "Just join
//! for parallel ordered sets", SPAA 2016, section 4). Its depth is O(log n) whatever comes in whatever order: a peer that
//! chooses
//! what it reports cannot make it degenerate, as it could if chance, which repeats itself here, were to keep it balanced.

use super::range::Range;
#[cfg(any(test, fuzzing))]
use super::work;

/// No node.
const NIL: u32 = u32::MAX;

/// The branches of a node: what lies before it, and what lies behind it.
const BEFORE: usize = 0;
const BEHIND: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Node {
    range: Range,
    /// What the ranges of this branch cover.
    covered: u64,
    height: u8,
    branch: [u32; 2],
}

/// The tree.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
}

impl Tree {
    /// Of disjoint ranges in order.
    pub(super) fn of(ranges: impl Iterator<Item = Range>) -> Self {
        let mut tree = Self { nodes: Vec::new(), free: Vec::new(), root: NIL };
        for range in ranges {
            let node = tree.node(range);
            tree.root = tree.join_at(tree.root, node, NIL);
        }
        tree
    }

    /// How many ranges.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// What all of them cover.
    pub(super) fn covered(&self) -> u64 {
        self.weight(self.root)
    }

    fn node(&mut self, range: Range) -> u32 {
        let node = Node { range, covered: range.len(), height: 1, branch: [NIL; 2] };
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn weight(&self, at: u32) -> u64 {
        if at == NIL { 0 } else { self.nodes[at as usize].covered }
    }

    fn height(&self, at: u32) -> u8 {
        if at == NIL { 0 } else { self.nodes[at as usize].height }
    }

    fn branch(&self, at: u32, side: usize) -> u32 {
        self.nodes[at as usize].branch[side]
    }

    /// Puts another branch below a node, and sums up what the node stands for then.
    fn set_branch(&mut self, at: u32, side: usize, branch: u32) {
        #[cfg(any(test, fuzzing))]
        work::add(1);
        self.nodes[at as usize].branch[side] = branch;
        let Node { range, branch: [before, behind], .. } = self.nodes[at as usize];
        let (covered, height) = (
            range.len() + self.weight(before) + self.weight(behind),
            self.height(before).max(self.height(behind)),
        );
        let node = &mut self.nodes[at as usize];
        (node.covered, node.height) = (covered, height + 1);
    }

    /// The branch on that side takes the place of the node, and the node that of its branch's inner one.
    fn rotate(&mut self, at: u32, side: usize) -> u32 {
        let up = self.branch(at, side);
        self.set_branch(at, side, self.branch(up, 1 - side));
        self.set_branch(up, 1 - side, at);
        up
    }

    /// One tree of two, all of the first lying before a node, and all of the second behind it.
    fn join_at(&mut self, before: u32, node: u32, behind: u32) -> u32 {
        let (first, second) = (self.height(before), self.height(behind));
        if first > second + 1 {
            return self.lean(before, node, behind, BEHIND);
        }
        if second > first + 1 {
            return self.lean(behind, node, before, BEFORE);
        }
        self.nodes[node as usize].branch[BEFORE] = before;
        self.set_branch(node, BEHIND, behind);
        node
    }

    /// The same where one is taller: the node and the shorter one go down its side.
    fn lean(&mut self, tall: u32, node: u32, short: u32, side: usize) -> u32 {
        let inner = self.branch(tall, side);
        let far = self.height(self.branch(tall, 1 - side));
        if self.height(inner) > self.height(short) + 1 {
            let joined = self.lean(inner, node, short, side);
            self.set_branch(tall, side, joined);
            return if self.height(joined) > far + 1 { self.rotate(tall, side) } else { tall };
        }
        self.nodes[node as usize].branch[1 - side] = inner;
        self.set_branch(node, side, short);
        if self.height(node) <= far + 1 {
            self.set_branch(tall, side, node);
            return tall;
        }
        let turned = self.rotate(node, 1 - side);
        self.set_branch(tall, side, turned);
        self.rotate(tall, side)
    }

    /// One tree of two, all of the first lying before all of the second.
    fn join(&mut self, before: u32, behind: u32) -> u32 {
        if before == NIL {
            return behind;
        }
        let (rest, last) = self.split_last(before);
        self.join_at(rest, last, behind)
    }

    /// A tree without its last node, and that node.
    fn split_last(&mut self, at: u32) -> (u32, u32) {
        let behind = self.branch(at, BEHIND);
        if behind == NIL {
            return (self.branch(at, BEFORE), at);
        }
        let (rest, last) = self.split_last(behind);
        (self.join_at(self.branch(at, BEFORE), at, rest), last)
    }

    /// Two trees of one: of the ranges that `is_before` says it of, which must be the first ones, and of the others.
    fn split(&mut self, at: u32, is_before: &impl Fn(Range) -> bool) -> (u32, u32) {
        if at == NIL {
            return (NIL, NIL);
        }
        let Node { range, branch: [left, right], .. } = self.nodes[at as usize];
        if is_before(range) {
            let (before, behind) = self.split(right, is_before);
            (self.join_at(left, at, before), behind)
        } else {
            let (before, behind) = self.split(left, is_before);
            (before, self.join_at(behind, at, right))
        }
    }

    /// The nodes of a branch are of no more use.
    fn discard(&mut self, branch: u32) {
        let mut open = vec![branch];
        while let Some(at) = open.pop() {
            if at != NIL {
                #[cfg(any(test, fuzzing))]
                work::add(1);
                open.extend(self.nodes[at as usize].branch);
                self.free.push(at);
            }
        }
    }

    fn lowest(&self, mut at: u32) -> Option<Range> {
        let mut lowest = None;
        while at != NIL {
            let node = &self.nodes[at as usize];
            (lowest, at) = (Some(node.range), node.branch[BEFORE]);
        }
        lowest
    }

    fn highest(&self, mut at: u32) -> Option<Range> {
        let mut highest = None;
        while at != NIL {
            let node = &self.nodes[at as usize];
            (highest, at) = (Some(node.range), node.branch[BEHIND]);
        }
        highest
    }

    pub(super) fn first(&self) -> Option<Range> {
        self.lowest(self.root)
    }

    pub(super) fn last(&self) -> Option<Range> {
        self.highest(self.root)
    }

    /// Puts a node where it belongs, touching nothing.
    fn place(&mut self, at: u32, node: u32) -> u32 {
        if at == NIL {
            return node;
        }
        let [before, behind] = self.nodes[at as usize].branch;
        if self.nodes[node as usize].range.start < self.nodes[at as usize].range.start {
            let before = self.place(before, node);
            self.join_at(before, at, behind)
        } else {
            let behind = self.place(behind, node);
            self.join_at(before, at, behind)
        }
    }

    /// `known`, one of the ranges, becomes `new`, which reaches no other.
    fn replace(&mut self, known: Range, new: Range) {
        let mut at = self.root;
        while at != NIL {
            #[cfg(any(test, fuzzing))]
            work::add(1);
            let node = &mut self.nodes[at as usize];
            node.covered = node.covered + new.len() - known.len();
            if node.range.start == known.start {
                node.range = new;
                return;
            }
            at = node.branch[if known.start < node.range.start { BEFORE } else { BEHIND }];
        }
    }

    /// Replaces all ranges that touch `new`, and `new`, by one; returns it, and how much they covered.
    pub(super) fn absorb(&mut self, new: Range) -> (Range, u64) {
        // Mostly it touches nothing, or one range.
        let (first, second) = self.two_from(new.start.saturating_sub(1));
        let Some(first) = first.filter(|first| first.start <= new.end) else {
            let node = self.node(new);
            self.root = self.place(self.root, node);
            return (new, 0);
        };
        if second.is_none_or(|second| second.start > new.end) {
            let merged = Range::new(first.start.min(new.start), first.end.max(new.end));
            if merged != first {
                self.replace(first, merged);
            }
            return (merged, first.len());
        }
        let (before, rest) = self.split(self.root, &|range| range.end < new.start);
        let (touching, behind) = self.split(rest, &|range| range.start <= new.end);
        let covered = self.weight(touching);
        let start = self.lowest(touching).map_or(new.start, |range| range.start.min(new.start));
        let end = self.highest(touching).map_or(new.end, |range| range.end.max(new.end));
        self.discard(touching);
        let node = self.node(Range::new(start, end));
        self.root = self.join_at(before, node, behind);
        (Range::new(start, end), covered)
    }

    /// Takes every position of `gone` out.
    pub(super) fn remove(&mut self, gone: Range) {
        let first = self.at_or_after(gone.start).filter(|first| first.start < gone.end);
        let Some(first) = first else { return };
        // Mostly it is a part of one range, at one of its ends.
        if first.end > gone.end && first.start >= gone.start {
            return self.replace(first, Range::new(gone.end, first.end));
        }
        let (before, rest) = self.split(self.root, &|range| range.end <= gone.start);
        let (hit, behind) = self.split(rest, &|range| range.start < gone.end);
        let (first, last) = (self.lowest(hit), self.highest(hit));
        self.discard(hit);
        self.root = before;
        let left = first.map(|first| Range::new(first.start, gone.start));
        let right = last.map(|last| Range::new(gone.end, last.end));
        for piece in [left, right].into_iter().flatten().filter(|piece| !piece.is_empty()) {
            let node = self.node(piece);
            self.root = self.join_at(self.root, node, NIL);
        }
        self.root = self.join(self.root, behind);
    }

    /// The first range that ends behind `position`.
    pub(super) fn at_or_after(&self, position: u64) -> Option<Range> {
        let (mut at, mut found) = (self.root, None);
        while at != NIL {
            #[cfg(any(test, fuzzing))]
            work::add(1);
            let node = &self.nodes[at as usize];
            if node.range.end > position {
                (found, at) = (Some(node.range), node.branch[BEFORE]);
            } else {
                at = node.branch[BEHIND];
            }
        }
        found
    }

    /// The first range that ends behind `position`, and the next one.
    fn two_from(&self, position: u64) -> (Option<Range>, Option<Range>) {
        let (mut at, mut found, mut above) = (self.root, NIL, None);
        while at != NIL {
            #[cfg(any(test, fuzzing))]
            work::add(1);
            let node = &self.nodes[at as usize];
            if node.range.end > position {
                above = if found == NIL { None } else { Some(self.nodes[found as usize].range) };
                (found, at) = (at, node.branch[BEFORE]);
            } else {
                at = node.branch[BEHIND];
            }
        }
        if found == NIL {
            return (None, None);
        }
        let Node { range, branch, .. } = self.nodes[found as usize];
        (Some(range), self.lowest(branch[BEHIND]).or(above))
    }

    /// The last range that begins before `position`.
    pub(super) fn before(&self, position: u64) -> Option<Range> {
        let (mut at, mut found) = (self.root, None);
        while at != NIL {
            #[cfg(any(test, fuzzing))]
            work::add(1);
            let node = &self.nodes[at as usize];
            if node.range.start < position {
                (found, at) = (Some(node.range), node.branch[BEHIND]);
            } else {
                at = node.branch[BEFORE];
            }
        }
        found
    }

    /// How many positions of `within` are covered.
    pub(super) fn covered_within(&self, within: Range) -> u64 {
        let Some(first) = self.at_or_after(within.start) else { return 0 };
        if first.end >= within.end || first.start >= within.end {
            return within.end.saturating_sub(first.start.max(within.start));
        }
        self.covered_below(within.end) - self.covered_below(within.start)
    }

    /// What is covered before `position`.
    fn covered_below(&self, position: u64) -> u64 {
        let (mut at, mut sum) = (self.root, 0);
        while at != NIL {
            #[cfg(any(test, fuzzing))]
            work::add(1);
            let node = &self.nodes[at as usize];
            if node.range.start < position {
                sum += self.weight(node.branch[BEFORE]) + node.range.end.min(position) - node.range.start;
                at = node.branch[BEHIND];
            } else {
                at = node.branch[BEFORE];
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_as_much_as_hosts_count_for_it() {
        assert_eq!(size_of::<Node>(), 40);
    }

    impl Tree {
        /// Whether each branch is balanced and sums up what lies in it; its height.
        fn check(&self, at: u32) -> u8 {
            if at == NIL {
                return 0;
            }
            let Node { range, covered, height, branch } = self.nodes[at as usize];
            let heights = branch.map(|branch| self.check(branch));
            assert!(heights[0].abs_diff(heights[1]) <= 1);
            assert_eq!(height, heights[0].max(heights[1]) + 1);
            assert_eq!(covered, range.len() + self.weight(branch[0]) + self.weight(branch[1]));
            height
        }
    }

    #[test]
    fn the_tree_stays_balanced_under_any_operations() {
        let orders: [fn(u64) -> u64; 4] =
            [|n| n, |n| 5000 - n, |n| n * 2011 % 5003, |n| (n ^ 0x555) * 7 % 9973];
        for order in orders {
            let mut tree = Tree::of(core::iter::empty());
            for n in 0..5000 {
                let start = 10 * order(n);
                tree.absorb(Range::new(start, start + 1 + n % 4));
                if n % 7 == 0 {
                    let gone = 10 * order(n / 2);
                    tree.remove(Range::new(gone, gone + 25));
                }
                if n % 250 == 0 {
                    tree.check(tree.root);
                }
            }
            assert!(tree.check(tree.root) <= 18, "{} ranges", tree.len());
            tree.remove(Range::new(0, 20_000));
            tree.check(tree.root);
            tree.absorb(Range::new(0, u64::MAX));
            assert_eq!((tree.len(), tree.covered()), (1, u64::MAX));
        }
    }
}
