//! Which numbers have arrived: counts losses, duplicates and reordering in bounded memory.

use std::collections::VecDeque;

/// Words of 64 numbers that are kept below the highest number.
const WORDS: usize = 1024;

/// What the number of a datagram says about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// The highest number so far.
    InOrder,
    /// A number below one that has arrived: reordered (RFC 4737, section 3).
    Reordered,
    /// A number that arrived before.
    Duplicate,
}

/// The numbers that have arrived. The last 65 000 numbers are kept; an older one counts as a duplicate.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Numbers {
    /// One bit for each number from 64 × `first` on.
    words: VecDeque<u64>,
    first: u64,
    /// One more than the highest number.
    next: u64,
}

impl Numbers {
    pub(super) fn note(&mut self, number: u64) -> Arrival {
        let word = number / 64;
        if word < self.first {
            return Arrival::Duplicate;
        }
        let beyond = word.saturating_sub(self.first + WORDS as u64 - 1);
        self.words.drain(..self.words.len().min(usize::try_from(beyond).unwrap_or(usize::MAX)));
        self.first += beyond;
        let at = (word - self.first) as usize;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (number % 64);
        if self.words[at] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.words[at] |= bit;
        if number >= self.next {
            self.next = number + 1;
            return Arrival::InOrder;
        }
        Arrival::Reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn it_agrees_with_a_set_over_random_arrivals() {
        for seed in 0..50 {
            let mut stream = Stream::new(seed, "numbers");
            let (mut numbers, mut seen) = (Numbers::default(), BTreeSet::new());
            let mut base = 0;
            for _ in 0..2000 {
                base += stream.below(40);
                let number = base + stream.below(1000);
                let expected = match seen.last() {
                    _ if seen.contains(&number) => Arrival::Duplicate,
                    Some(&highest) if number < highest => Arrival::Reordered,
                    _ => Arrival::InOrder,
                };
                assert_eq!(numbers.note(number), expected, "seed {seed}, number {number}");
                seen.insert(number);
                assert!(numbers.words.len() <= WORDS);
            }
        }
    }

    #[test]
    fn a_number_from_long_ago_is_a_duplicate() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.note(1_000_000), Arrival::InOrder);
        assert_eq!(numbers.note(999_000), Arrival::Reordered);
        assert_eq!(numbers.note(3), Arrival::Duplicate);
        assert_eq!(numbers.note(u64::MAX - 1), Arrival::InOrder);
    }
}
