//! A wheel of buckets: for what is near.
//!
//! Time is cut into slices of 2^shift picoseconds, and each of the next [`BUCKETS`] slices has a bucket, which holds
//! its entries in order: the first one itself, further ones in a list. A bitmap tells which buckets are not empty. So
//! an entry is put in and taken out in a few dozen instructions, however many there are, as long as a slice is about
//! as long as the time between two events; the wheel watches that, and cuts time anew when it has to.

/// Slices ahead that have a bucket: 64 words of 64 bits.
const BUCKETS: usize = 4096;
/// No further entry.
const NONE: u32 = u32::MAX;
/// Pushes between two looks at how well the slices fit.
const REVIEW: u32 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    source: u32,
    /// The next one in the same bucket.
    next: u32,
}

/// How well the slices fit, since the last look.
#[derive(Clone, Copy, Debug, Default)]
struct Fit {
    pushes: u32,
    /// Entries that were too far ahead.
    refused: u32,
    /// Entries passed while looking for a place.
    passed: u32,
}

/// The wheel.
#[derive(Debug)]
pub(super) struct Wheel {
    /// The first entry of each bucket; meaningless where the bitmap has no bit.
    first: Box<[Entry; BUCKETS]>,
    words: [u64; 64],
    /// One bit for each word that is not zero.
    summary: u64,
    /// All other entries, and unused places.
    others: Vec<Entry>,
    unused: u32,
    shift: u32,
    /// The slice of the last entry that was taken.
    cursor: u64,
    fit: Fit,
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            first: Box::new([Entry { time: 0, source: 0, next: NONE }; BUCKETS]),
            words: [0; 64],
            summary: 0,
            others: Vec::new(),
            unused: NONE,
            // About a microsecond.
            shift: 20,
            cursor: 0,
            fit: Fit::default(),
        }
    }

    /// How many entries there are: they are counted.
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

    /// Takes an entry in, unless it is too far ahead.
    #[inline]
    pub(super) fn push(&mut self, time: u64, source: u32) -> bool {
        self.fit.pushes += 1;
        // An entry for the past belongs in front of all others.
        let slice = (time >> self.shift).max(self.cursor);
        if slice - self.cursor >= BUCKETS as u64 {
            self.fit.refused += 1;
            return false;
        }
        let bucket = slice as usize % BUCKETS;
        let (word, bit) = (bucket / 64, 1 << (bucket % 64));
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.summary |= 1 << word;
            self.first[bucket] = Entry { time, source, next: NONE };
        } else {
            self.insert(bucket, time, source);
        }
        true
    }

    /// Puts an entry in its place in a bucket that is not empty.
    fn insert(&mut self, bucket: usize, time: u64, source: u32) {
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

    /// Keeps an entry that is not the first of its bucket.
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

    /// The first bucket that is not empty.
    #[inline]
    fn first_bucket(&self) -> Option<usize> {
        let from = self.cursor as usize % BUCKETS;
        let here = self.words[from / 64] & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(from / 64 * 64 + here.trailing_zeros() as usize);
        }
        if self.summary == 0 {
            return None;
        }
        // Words behind this one; else round the corner, and in the end back to the lower bits of this one.
        let behind = self.summary & (u64::MAX << (from / 64) << 1);
        let word = if behind != 0 { behind } else { self.summary }.trailing_zeros() as usize % 64;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// The bucket, time and source of the first entry.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, u64, u32)> {
        let bucket = self.first_bucket()?;
        let entry = &self.first[bucket % BUCKETS];
        Some((bucket, entry.time, entry.source))
    }

    /// Takes the first entry out, which is in this bucket.
    #[inline]
    pub(super) fn take(&mut self, bucket: usize) {
        let bucket = bucket % BUCKETS;
        let entry = &mut self.first[bucket];
        self.cursor = self.cursor.max(entry.time >> self.shift);
        if let Some(next) = self.others.get_mut(entry.next as usize) {
            let place = entry.next;
            *entry = *next;
            next.next = self.unused;
            self.unused = place;
        } else {
            let word = &mut self.words[bucket / 64];
            *word &= !(1 << (bucket % 64));
            if *word == 0 {
                self.summary &= !(1 << (bucket / 64));
            }
        }
    }

    /// Nothing before `time` will be pushed any more.
    pub(super) fn advance(&mut self, time: u64) {
        self.cursor = self.cursor.max(time >> self.shift);
    }

    /// Whether it is time for [`Wheel::review`].
    #[inline]
    pub(super) const fn is_due_for_review(&self) -> bool {
        self.fit.pushes >= REVIEW
    }

    /// Looks whether the slices are too long, so that buckets are crowded, or too short, so that much is too far ahead.
    /// If so, cuts time anew and returns all entries, to be pushed again.
    #[cold]
    pub(super) fn review(&mut self) -> Vec<(u64, u32)> {
        let Fit { refused, passed, .. } = self.fit;
        let shift = if passed > REVIEW && self.shift > 0 {
            self.shift - 1
        } else if refused > REVIEW / 8 && passed < REVIEW / 4 && self.shift < 50 {
            self.shift + 1
        } else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let cursor = self.cursor;
        while let Some((bucket, time, source)) = self.first() {
            all.push((time, source));
            self.take(bucket);
            self.cursor = cursor;
        }
        self.cursor = (cursor << self.shift) >> shift;
        self.shift = shift;
        all
    }

    /// Begins to count for the next review.
    pub(super) fn watch_anew(&mut self) {
        self.fit = Fit::default();
    }
}
