//! The packets in flight to a junction, by time of arrival.
//!
//! Time is divided into slices of 2^shift picoseconds. Each of the next 4096 slices has a list of its packets, in order. A
//! bitmap shows which lists are not empty; a *page* is the 64 slices of one of its words. Packets that arrive later are in
//! a heap. The calendar measures how well the length of the slices fits, and changes it when needed.

use crate::network::packet::{NONE, Slab, Stage};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of pages that have lists, including the present one.
const PAGES: u64 = 64;
/// Slices of a page: the bits of a word.
const SLICES: u64 = 64;
const LISTS: usize = (PAGES * SLICES) as usize;
/// Number of packets taken between two reviews of the slice length.
const REVIEW: u64 = 1 << 12;
/// The shift at first: about four microseconds.
const SHIFT: u32 = 22;

/// A packet that passes a junction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passer {
    pub(super) arrival: u64,
    pub(super) slot: u32,
    pub(super) stage: Stage,
}

impl Passer {
    pub(super) const NONE: Self = Self { arrival: 0, slot: NONE, stage: Stage { size: 0, onward: 0 } };
}

/// How well the slice length fits, since the last review.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    /// Packets taken.
    taken: u64,
    /// Packets that were too far in the future.
    refused: u64,
    /// Packets passed while searching for a position.
    passed: u64,
}

/// See the module. Of two packets that arrive at the same time, the one with the lower number of its channel is first.
#[derive(Debug)]
pub(super) struct Calendar {
    /// The first packet of each list; invalid where the bit in the bitmap is 0.
    first: Box<[u32; LISTS]>,
    words: [u64; PAGES as usize],
    /// The number of the present page, counted from time 0. No packet arrives before it.
    page: u64,
    /// The last page from which packets are taken now.
    last_page: u64,
    shift: u32,
    /// Packets of later pages: arrival and place.
    far: BinaryHeap<Reverse<(u64, u32)>>,
    fit: Fit,
}

impl Calendar {
    pub(super) fn new() -> Self {
        Self {
            first: Box::new([NONE; LISTS]),
            words: [0; PAGES as usize],
            page: 0,
            last_page: 0,
            shift: SHIFT,
            far: BinaryHeap::new(),
            fit: Fit::default(),
        }
    }

    /// Adds a packet. `channel_of` returns the channel of a hop.
    #[inline(always)]
    pub(super) fn insert(&mut self, packets: &mut Slab, new: Passer, channel_of: impl Fn(u32) -> u32) {
        let Passer { arrival, slot, stage } = new;
        packets.set_flight(slot, arrival, stage);
        let slice = arrival >> self.shift;
        let page = slice / SLICES;
        let (word, bit) = (&mut self.words[(page % PAGES) as usize], 1 << (slice % SLICES));
        if page.wrapping_sub(self.page) < PAGES && *word & bit == 0 {
            *word |= bit;
            self.first[slice as usize % LISTS] = slot;
        } else {
            self.insert_among_others(packets, slot, &channel_of);
        }
    }

    /// Adds a packet to a list that is not empty, or to those that arrive much later.
    #[inline(never)]
    fn insert_among_others(&mut self, packets: &mut Slab, slot: u32, channel_of: &dyn Fn(u32) -> u32) {
        let (arrival, stage) = packets.flight(slot);
        let slice = arrival >> self.shift;
        if slice / SLICES - self.page >= PAGES {
            self.fit.refused += 1;
            return self.far.push(Reverse((arrival, slot)));
        }
        let first = &mut self.first[slice as usize % LISTS];
        let is_after = |other: u32| {
            let (time, before) = packets.flight(other);
            time < arrival || time == arrival && channel_of(before.hop()) < channel_of(stage.hop())
        };
        let (mut before, mut next) = (NONE, *first);
        while next != NONE && is_after(next) {
            self.fit.passed += 1;
            (before, next) = (next, packets.next(next));
        }
        packets.link(slot, next);
        if before == NONE {
            *first = slot;
        } else {
            packets.link(before, slot);
        }
    }

    /// Prepares to take packets from `now` on, which is the arrival of the first one.
    pub(super) fn advance(&mut self, packets: &mut Slab, now: u64, channel_of: impl Fn(u32) -> u32) {
        if self.fit.taken >= REVIEW {
            self.review(packets, &channel_of);
        }
        self.page = (now >> self.shift) / SLICES;
        self.last_page = self.page + PAGES - 1;
        while let Some(&Reverse((arrival, slot))) = self.far.peek()
            && (arrival >> self.shift) / SLICES <= self.last_page
        {
            self.far.pop();
            let (_, stage) = packets.flight(slot);
            self.insert(packets, Passer { arrival, slot, stage }, &channel_of);
        }
    }

    /// Removes the next packet, if it arrives before `end`. Packets that arrive more than 63 pages after the last
    /// [`advance`](Self::advance) stay, whatever `end` is.
    #[inline(always)]
    pub(super) fn take(&mut self, packets: &Slab, end: u64) -> Option<Passer> {
        loop {
            let word = &mut self.words[(self.page % PAGES) as usize];
            if *word == 0 {
                if self.page == self.last_page || (self.page + 1) * SLICES > (end - 1) >> self.shift {
                    return None;
                }
                self.page += 1;
                continue;
            }
            let slice = self.page * SLICES + u64::from(word.trailing_zeros());
            let first = &mut self.first[slice as usize % LISTS];
            let slot = *first;
            let (arrival, stage, next) = packets.place_of(slot);
            if arrival >= end {
                return None;
            }
            if next == NONE {
                *word &= *word - 1;
            } else {
                *first = next;
            }
            self.fit.taken += 1;
            return Some(Passer { arrival, slot, stage });
        }
    }

    /// The first packet: its arrival and its hop.
    pub(super) fn first(&self, packets: &Slab) -> Option<(u64, u32)> {
        let page = (self.page..self.page + PAGES).find(|page| self.words[(page % PAGES) as usize] != 0);
        let near = page.map(|page| {
            let bit = self.words[(page % PAGES) as usize].trailing_zeros();
            self.first[(page * SLICES + u64::from(bit)) as usize % LISTS]
        });
        // The page may have advanced since a packet was too far in the future.
        let far = self.far.peek().map(|first| first.0.1);
        let firsts = near.into_iter().chain(far).map(|slot| packets.flight(slot));
        firsts.map(|(arrival, stage)| (arrival, stage.hop())).min()
    }

    /// Halves the slices if lists are long, and doubles them if many packets arrive too far in the future.
    #[cold]
    fn review(&mut self, packets: &mut Slab, channel_of: &dyn Fn(u32) -> u32) {
        let Fit { taken, refused, passed } = std::mem::take(&mut self.fit);
        let shift = match self.shift {
            shift if passed > taken && shift > 0 => shift - 1,
            shift if refused > taken / 8 && shift < 50 => shift + 1,
            _ => return,
        };
        let mut all = Vec::new();
        for (page, word) in self.words.iter_mut().enumerate() {
            while *word != 0 {
                let list = self.first[page * SLICES as usize + word.trailing_zeros() as usize];
                all.extend(packets.following(list).map(|slot| {
                    let (arrival, stage) = packets.flight(slot);
                    Passer { arrival, slot, stage }
                }));
                *word &= *word - 1;
            }
        }
        self.page = ((self.page * SLICES) << self.shift >> shift) / SLICES;
        self.shift = shift;
        for packet in all {
            self.insert(packets, packet, channel_of);
        }
        self.fit = Fit::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small random number.
    fn below(state: &mut u64, end: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 20) % end
    }

    #[test]
    fn packets_are_taken_in_order_of_arrival_then_channel_however_far_they_are_apart() {
        let cases = [(20, 300), (1000, 300), (1 << 24, 300), (1 << 34, 300), (1 << 44, 300)];
        for (spread, pending) in cases.into_iter().chain([(1 << 34, 3), (1 << 36, 2), (1 << 40, 5)]) {
            let (mut calendar, mut packets, mut state) = (Calendar::new(), Slab::new(), spread);
            let mut expected = std::collections::BTreeSet::new();
            let (mut now, mut number) = (0, 0);
            while number < 30_000 || !expected.is_empty() {
                while number < 30_000 && expected.len() < pending {
                    // The hop of a packet stands for its channel. No two of one channel arrive at the same time.
                    let (arrival, channel) = (now + below(&mut state, spread), below(&mut state, 50) as u32);
                    if expected.insert((arrival, channel)) {
                        let stage = Stage { size: 1500, onward: channel + 1 };
                        let slot = packets.reserve();
                        calendar.insert(&mut packets, Passer { arrival, slot, stage }, |hop| hop);
                        number += 1;
                    }
                }
                let first = *expected.first().unwrap();
                assert_eq!(calendar.first(&packets).unwrap().0, first.0, "spread {spread}");
                let end = first.0 + 1 + below(&mut state, spread / 2 + 1);
                calendar.advance(&mut packets, first.0, |hop| hop);
                while let Some(packet) = calendar.take(&packets, end) {
                    assert_eq!(Some((packet.arrival, packet.stage.hop())), expected.pop_first());
                    packets.remove(packet.slot);
                }
                let all = end.min(first.0 + (((PAGES - 1) * SLICES) << calendar.shift));
                assert!(expected.first().is_none_or(|next| next.0 >= all), "spread {spread}: one is left");
                now = all;
            }
            assert_eq!((calendar.first(&packets), packets.len()), (None, 0));
        }
    }
}
