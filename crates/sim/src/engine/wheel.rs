//! A wheel of buckets, for near events.
//!
//! Time is divided into slices of 2^shift picoseconds. Each of the next slices, about 4096, has a bucket with its entries
//! in order: the first in the bucket itself, the others in a list. A bitmap shows which buckets are not empty; a *page* is
//! the 64 slices of one of its words. Inserting and removing an entry takes a few dozen instructions, however many there
//! are, if a slice is about as long as the time between two events. The wheel measures this and changes the length of the
//! slices when needed.

use std::num::NonZero;

/// Number of pages that have buckets, including the present one.
const PAGES: u64 = 64;
/// Slices of a page: the bits of a word.
const SLICES: u64 = 64;
const BUCKETS: usize = (PAGES * SLICES) as usize;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// Number of entries removed between two reviews of the slice length.
const REVIEW: u64 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    source: u32,
    /// The next entry of the same bucket.
    next: u32,
}

/// How well the slice length fits, since the last review.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    /// Number of entries removed before that.
    since: u64,
    /// Entries that were too far in the future.
    refused: u64,
    /// Entries whose bucket was not empty.
    crowded: u64,
    /// Entries passed while searching for a position.
    passed: u64,
    /// Pages turned.
    turned: u64,
}

/// The wheel.
#[derive(Debug)]
pub(super) struct Wheel {
    /// The first entry of each bucket; invalid where the bit in the bitmap is 0.
    first: Box<[Entry; BUCKETS]>,
    words: [u64; PAGES as usize],
    /// One bit for each word of the bitmap that is not zero.
    summary: u64,
    /// The number of the present page, counted from time 0: that of the last entry removed.
    page: u64,
    shift: u32,
    /// The smallest shift that has not been found too short.
    floor: u32,
    unused: u32,
    /// All entries that are not the first of a bucket, and free slots.
    others: Vec<Entry>,
    /// Number of entries removed.
    taken: u64,
    fit: Fit,
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            first: Box::new([Entry { time: 0, source: 0, next: NONE }; BUCKETS]),
            words: [0; PAGES as usize],
            summary: 0,
            page: 0,
            // About a microsecond.
            shift: 20,
            floor: 0,
            unused: NONE,
            others: Vec::new(),
            taken: 0,
            fit: Fit::default(),
        }
    }

    /// Number of entries, by counting.
    pub(super) fn len(&self) -> usize {
        let first = self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let mut unused = 0;
        let mut at = self.unused;
        while at != NONE {
            unused += 1;
            at = self.others[at as usize].next;
        }
        first + self.others.len() - unused
    }

    /// Number of entries that have been removed.
    pub(super) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Inserts an entry if its bucket is empty. Returns whether it did.
    #[inline]
    pub(super) fn push_alone(&mut self, time: u64, source: u32) -> bool {
        let slice = time >> self.shift;
        let page = slice / SLICES;
        let word = &mut self.words[(page % PAGES) as usize];
        let bit = 1 << (slice % SLICES);
        // A page before the present one gives a very large distance here.
        if page.wrapping_sub(self.page) >= PAGES || *word & bit != 0 {
            return false;
        }
        if *word == 0 {
            self.summary |= 1 << (page % PAGES);
        }
        *word |= bit;
        self.first[slice as usize % BUCKETS] = Entry { time, source, next: NONE };
        true
    }

    /// Inserts an entry that [`Wheel::push_alone`] has refused, unless it is too far in the future. Returns whether it did.
    #[inline]
    pub(super) fn push_among_others(&mut self, time: u64, source: u32) -> bool {
        // An entry for the past comes before all others.
        let slice = (time >> self.shift).max(self.page * SLICES);
        if slice / SLICES - self.page >= PAGES {
            self.fit.refused += 1;
            return false;
        }
        let (bucket, word) = (slice as usize % BUCKETS, (slice / SLICES % PAGES) as usize);
        if self.words[word] & 1 << (slice % SLICES) == 0 {
            self.words[word] |= 1 << (slice % SLICES);
            self.summary |= 1 << word;
            self.first[bucket] = Entry { time, source, next: NONE };
        } else {
            self.insert(bucket, time, source);
        }
        true
    }

    /// Inserts an entry into a bucket that is not empty.
    #[inline]
    fn insert(&mut self, bucket: usize, time: u64, source: u32) {
        self.fit.crowded += 1;
        let is_before = |other: &Entry| (time, source) <= (other.time, other.source);
        let head = self.first[bucket];
        if is_before(&head) {
            let next = self.store(head);
            self.first[bucket] = Entry { time, source, next };
            return;
        }
        let (mut before, mut next) = (NONE, head.next);
        while let Some(other) = self.others.get(next as usize)
            && !is_before(other)
        {
            self.fit.passed += 1;
            (before, next) = (next, other.next);
        }
        let new = self.store(Entry { time, source, next });
        match self.others.get_mut(before as usize) {
            Some(before) => before.next = new,
            None => self.first[bucket].next = new,
        }
    }

    /// Stores an entry that is not the first of its bucket.
    fn store(&mut self, entry: Entry) -> u32 {
        let place = self.unused;
        if let Some(unused) = self.others.get_mut(place as usize) {
            self.unused = unused.next;
            *unused = entry;
            place
        } else {
            self.others.push(entry);
            (self.others.len() - 1) as u32
        }
    }

    /// Removes the first entry if it is due before `end`, and not after `until`.
    #[inline]
    pub(super) fn pop(&mut self, end: u64, until: u64) -> Option<(u64, u32)> {
        let (word, bits) = loop {
            let word = (self.page % PAGES) as usize;
            match NonZero::new(self.words[word]) {
                Some(bits) => break (word, bits),
                None if self.turn(end, until) => {}
                None => return None,
            }
        };
        let entry = &mut self.first[word * SLICES as usize + bits.trailing_zeros() as usize];
        let Entry { time, source, next } = *entry;
        if time >= end || time > until {
            return None;
        }
        self.taken += 1;
        if let Some(behind) = self.others.get_mut(next as usize) {
            *entry = *behind;
            behind.next = self.unused;
            self.unused = next;
        } else {
            let rest = bits.get() & (bits.get() - 1);
            self.words[word] = rest;
            if rest == 0 {
                self.summary &= !(1 << word);
            }
        }
        Some((time, source))
    }

    /// The present page is empty: turns to the next one that is not, if its first entry may be removed.
    #[cold]
    fn turn(&mut self, end: u64, until: u64) -> bool {
        let Some((ahead, entry)) = self.first() else { return false };
        let due = entry.time < end && entry.time <= until;
        if due {
            self.page += ahead;
            self.fit.turned += 1;
        }
        due
    }

    /// The first entry, and its distance in pages.
    fn first(&self) -> Option<(u64, Entry)> {
        let ahead = self.summary.rotate_right((self.page % PAGES) as u32).trailing_zeros();
        let word = ((self.page + u64::from(ahead)) % PAGES) as usize;
        let bit = self.words[word].trailing_zeros() as usize;
        (self.summary != 0).then(|| (u64::from(ahead), self.first[word * SLICES as usize + bit]))
    }

    /// The time and source of the first entry.
    pub(super) fn peek(&self) -> Option<(u64, u32)> {
        self.first().map(|(_, entry)| (entry.time, entry.source))
    }

    /// No entry before `time` is in the wheel, and none will be pushed.
    pub(super) fn advance(&mut self, time: u64) {
        self.page = self.page.max((time >> self.shift) / SLICES);
    }

    /// Whether it is time for [`Wheel::review`].
    pub(super) const fn is_due_for_review(&self) -> bool {
        self.taken - self.fit.since >= REVIEW
    }

    /// Reviews the slice length. Slices are too long if buckets are crowded, and too short if many entries are too far in
    /// the future. In either case changes the length and returns all entries, to be pushed again. Then starts to count for
    /// the next review.
    #[cold]
    pub(super) fn review(&mut self) -> Vec<(u64, u32)> {
        let taken = self.taken - self.fit.since;
        let Fit { refused, crowded, passed, turned, .. } =
            std::mem::replace(&mut self.fit, Fit { since: self.taken, ..Fit::default() });
        // Turning a page costs less than a second entry in a bucket, and both cost less than the heap. Changing the length
        // repeatedly would cost most.
        let roomy = refused < taken / 64 && self.shift > self.floor;
        let close = crowded > turned && crowded > taken / 16;
        let shift = if self.shift > 0 && (passed > taken || close && roomy) {
            self.shift - 1
        } else if refused > taken / 32 && passed < taken / 4 && self.shift < 50 {
            self.shift + 1
        } else {
            return Vec::new();
        };
        self.floor = if shift > self.shift { shift } else { self.floor.min(shift) };
        let (page, taken) = (self.page, self.taken);
        let all = std::iter::from_fn(|| self.pop(u64::MAX, u64::MAX)).collect();
        self.taken = taken;
        self.page = ((page * SLICES) << self.shift >> shift) / SLICES;
        self.shift = shift;
        all
    }
}
