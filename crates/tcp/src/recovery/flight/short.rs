//! Short segments of a sender whose cwnd counts packets (Linux, `tcp_packets_in_flight()`).
//!
//! All amounts of such a sender are in bytes, too, but each segment counts as a full one. What a short segment lacks is its
//! *padding*. The log of transmissions does not know it, because nearly all segments are full.

use crate::ranges::Range;
use std::collections::VecDeque;

/// Where a segment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Network,
    /// Marked lost, and not retransmitted since.
    Lost,
    /// The peer has reported it.
    Delivered,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    range: Range,
    padding: u32,
    place: Place,
}

/// The outstanding segments with less data than a full one. Most often it is the last one alone: a FIN, or the end of a response.
#[derive(Debug)]
pub(crate) enum ShortSegments {
    None,
    One(Short),
    Several(Box<Several>),
}

/// Short segments in the order of their positions.
#[derive(Debug, Default)]
pub(crate) struct Several {
    segments: VecDeque<Short>,
    /// The padding of those in each place.
    padding: [u64; 3],
}

impl ShortSegments {
    /// The padding of those in a place that `counts`.
    fn padding(&self, counts: impl Fn(Place) -> bool) -> u64 {
        match self {
            Self::None => 0,
            Self::One(short) => {
                if counts(short.place) {
                    u64::from(short.padding)
                } else {
                    0
                }
            }
            Self::Several(several) => {
                let places = [Place::Network, Place::Lost, Place::Delivered];
                places
                    .into_iter()
                    .filter(|&place| counts(place))
                    .map(|place| several.padding[place as usize])
                    .sum()
            }
        }
    }

    /// The padding of all that are outstanding (`packets_out`).
    pub(crate) fn outstanding(&self) -> u64 {
        self.padding(|_| true)
    }

    /// The padding of those in the network.
    pub(crate) fn in_network(&self) -> u64 {
        self.padding(|place| place == Place::Network)
    }

    /// The padding of those that are marked lost, and were not sent again since.
    pub(crate) fn lost(&self) -> u64 {
        self.padding(|place| place == Place::Lost)
    }

    /// The padding of those that the peer has reported (`sacked_out`).
    pub(crate) fn reported(&self) -> u64 {
        self.padding(|place| place == Place::Delivered)
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }

    /// A segment of new data is sent: it begins at the end of all earlier data. Full segments are not kept.
    pub(crate) fn add(&mut self, range: Range, padding: u64) {
        if padding == 0 {
            return;
        }
        if self.is_empty() {
            *self = Self::One(Short { range, padding: padding as u32, place: Place::Network });
        } else {
            self.change(|several| several.insert(several.segments.len(), range, padding));
        }
    }

    /// `range` is retransmitted in one segment that lacks `padding` bytes. It replaces the segments that it covers.
    pub(crate) fn add_again(&mut self, range: Range, padding: u64) {
        self.change(|several| several.add_again(range, padding));
    }

    /// `rest` is what remains of a segment when the data before it is retransmitted. It is where the segment was: lost, or in the
    /// network.
    pub(crate) fn cut_off(&mut self, rest: Range, padding: u64, is_lost: bool) {
        self.add_again(rest, padding);
        if is_lost {
            self.lose(rest);
        }
    }

    /// The padding of the segments that end in `range` and were not reported yet.
    pub(crate) fn unreported_in(&self, range: Range) -> u64 {
        let unreported = |short: &&Short| short.place != Place::Delivered;
        match self {
            Self::None => 0,
            Self::One(short) => Some(short)
                .filter(|short| short.range.end > range.start && short.range.end <= range.end)
                .filter(unreported)
                .map_or(0, |short| u64::from(short.padding)),
            Self::Several(several) => {
                let (first, end) = several.within(range);
                let segments = several.segments.range(first..end).filter(unreported);
                segments.map(|short| u64::from(short.padding)).sum()
            }
        }
    }

    /// `range` was delivered. Returns the padding of the segments that were not reported before.
    pub(crate) fn deliver(&mut self, range: Range) -> u64 {
        let newly = self.unreported_in(range);
        self.place(range, Place::Delivered, |_| true);
        newly
    }

    /// `range` is marked lost.
    pub(crate) fn lose(&mut self, range: Range) {
        self.place(range, Place::Lost, |before| before == Place::Network);
    }

    /// The peer may have discarded what it has reported: all are lost.
    pub(crate) fn lose_all(&mut self) {
        self.place(ALL, Place::Lost, |_| true);
    }

    /// Nothing is lost after all.
    pub(crate) fn find_all(&mut self) {
        self.place(ALL, Place::Network, |before| before == Place::Lost);
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn forget_below(&mut self, una: u64) {
        match self {
            Self::None => {}
            Self::One(short) => {
                if short.range.end <= una {
                    *self = Self::None;
                }
            }
            Self::Several(_) => self.change(|several| several.forget_below(una)),
        }
    }

    /// Moves the segments that end in `range` from places that `from` permits.
    fn place(&mut self, range: Range, to: Place, from: impl Fn(Place) -> bool) {
        match self {
            Self::None => {}
            Self::One(short) => {
                if short.range.end > range.start && short.range.end <= range.end && from(short.place) {
                    short.place = to;
                }
            }
            Self::Several(several) => several.place(range, to, from),
        }
    }

    /// Changes several, which may be one or none before and after.
    fn change(&mut self, change: impl FnOnce(&mut Several)) {
        let mut several = match core::mem::replace(self, Self::None) {
            Self::None => Box::default(),
            Self::One(short) => Box::new(Several::of(short)),
            Self::Several(several) => several,
        };
        change(&mut several);
        if !several.segments.is_empty() {
            *self = Self::Several(several);
        }
    }
}

/// All positions.
const ALL: Range = Range { start: 0, end: u64::MAX };

impl Several {
    fn of(short: Short) -> Self {
        let mut several = Self::default();
        several.padding[short.place as usize] = u64::from(short.padding);
        several.segments.push_back(short);
        several
    }

    fn add_again(&mut self, range: Range, padding: u64) {
        let (first, end) = self.within(range);
        for _ in first..end {
            self.remove(first);
        }
        self.insert(first, range, padding);
    }

    fn forget_below(&mut self, una: u64) {
        while self.segments.front().is_some_and(|first| first.range.end <= una) {
            self.remove(0);
        }
    }

    /// The indices of the segments that end in `range`: from the first to the second.
    fn within(&self, range: Range) -> (usize, usize) {
        let up_to = |position| self.segments.partition_point(|short| short.range.end <= position);
        (up_to(range.start), up_to(range.end))
    }

    /// Full segments are not kept.
    fn insert(&mut self, at: usize, range: Range, padding: u64) {
        if padding == 0 {
            return;
        }
        self.segments.insert(at, Short { range, padding: padding as u32, place: Place::Network });
        self.padding[Place::Network as usize] += padding;
    }

    fn remove(&mut self, at: usize) {
        let Some(short) = self.segments.remove(at) else { return };
        self.padding[short.place as usize] -= u64::from(short.padding);
    }

    /// Moves the segments in `range` from places that `from` permits.
    fn place(&mut self, range: Range, to: Place, from: impl Fn(Place) -> bool) {
        let (first, end) = self.within(range);
        for short in self.segments.range_mut(first..end).filter(|short| from(short.place)) {
            self.padding[short.place as usize] -= u64::from(short.padding);
            self.padding[to as usize] += u64::from(short.padding);
            short.place = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments of 100 bytes, where full ones have 1000, and a full one between the second and the third.
    fn three() -> ShortSegments {
        let mut shorts = ShortSegments::None;
        for start in [1, 101, 1201] {
            shorts.add(Range::new(start, start + 100), 900);
        }
        shorts
    }

    fn padding(shorts: &ShortSegments) -> (u64, u64) {
        (shorts.outstanding(), shorts.in_network())
    }

    #[test]
    fn a_lost_segment_leaves_the_network_and_its_retransmission_returns_to_it() {
        let mut shorts = three();
        shorts.lose(Range::new(101, 201));
        assert_eq!(padding(&shorts), (2700, 1800));
        shorts.lose(Range::new(101, 201));
        assert_eq!(padding(&shorts), (2700, 1800), "it is lost once");
        shorts.add_again(Range::new(101, 201), 900);
        assert_eq!(padding(&shorts), (2700, 2700));
    }

    #[test]
    fn a_segment_is_delivered_once_wherever_it_was() {
        let mut shorts = three();
        shorts.lose(Range::new(1201, 1301));
        assert_eq!(shorts.deliver(Range::new(101, 1301)), 1800);
        assert_eq!(shorts.deliver(Range::new(1, 1301)), 900);
        assert_eq!(padding(&shorts), (2700, 0));
        shorts.forget_below(1301);
        assert!(shorts.is_empty());
        assert_eq!(padding(&shorts), (0, 0));
    }

    #[test]
    fn a_retransmission_joins_short_segments() {
        let mut shorts = three();
        shorts.lose(Range::new(1, 201));
        shorts.add_again(Range::new(1, 201), 800);
        assert_eq!(padding(&shorts), (1700, 1700));
        shorts.add_again(Range::new(1, 1001), 0);
        assert_eq!(padding(&shorts), (900, 900), "a full one has no padding");
    }

    #[test]
    fn the_rest_of_a_cut_segment_is_a_segment_where_the_whole_one_was() {
        let mut shorts = ShortSegments::None;
        shorts.add_again(Range::new(1, 981), 20);
        shorts.cut_off(Range::new(981, 1001), 980, false);
        assert_eq!(padding(&shorts), (1000, 1000));
        shorts.forget_below(981);
        assert_eq!(padding(&shorts), (980, 980));
        shorts.add(Range::new(1001, 1901), 100);
        shorts.lose(Range::new(1001, 1901));
        shorts.add_again(Range::new(1001, 1501), 500);
        shorts.cut_off(Range::new(1501, 1901), 600, true);
        assert_eq!(padding(&shorts), (2080, 1480), "the rest waits for its retransmission");
    }

    #[test]
    fn one_short_segment_alone_is_kept_like_several() {
        let range = Range::new(1001, 1101);
        for again in [false, true] {
            let mut one = ShortSegments::None;
            let mut several = ShortSegments::None;
            one.add(range, 900);
            several.change(|all| all.insert(0, range, 900));
            assert!(matches!((&one, &several), (ShortSegments::One(_), ShortSegments::Several(_))));
            let both = |one: &ShortSegments, several: &ShortSegments| {
                assert_eq!(padding(one), padding(several));
                assert_eq!(one.reported(), several.reported());
                for other in
                    [Range::new(1, 1001), Range::new(1, 1101), Range::new(1050, 1101), Range::new(1101, 2001)]
                {
                    assert_eq!(one.unreported_in(other), several.unreported_in(other), "{other:?}");
                }
            };
            let change = |shorts: &mut ShortSegments, step| match step {
                0 => shorts.lose(Range::new(1, 1001)),
                1 => shorts.lose(range),
                2 => shorts.find_all(),
                3 => shorts.lose_all(),
                4 if again => shorts.add_again(range, 900),
                5 => assert_eq!(shorts.deliver(Range::new(1, 1101)), 900),
                6 => shorts.forget_below(1100),
                7 => shorts.forget_below(1101),
                _ => {}
            };
            for step in 0..8 {
                change(&mut one, step);
                change(&mut several, step);
                both(&one, &several);
            }
            assert!(one.is_empty() && several.is_empty());
        }
    }

    #[test]
    fn full_segments_are_not_kept() {
        let mut shorts = three();
        shorts.add(Range::new(1301, 2301), 0);
        shorts.forget_below(1301);
        assert!(shorts.is_empty());
    }

    #[test]
    fn an_undo_finds_what_was_lost_and_reneging_loses_what_was_reported() {
        let mut shorts = three();
        shorts.deliver(Range::new(1201, 1301));
        shorts.lose(Range::new(1, 201));
        shorts.find_all();
        assert_eq!(padding(&shorts), (2700, 1800));
        shorts.lose_all();
        assert_eq!(padding(&shorts), (2700, 0));
        assert_eq!(shorts.deliver(Range::new(1, 1301)), 2700);
    }
}
