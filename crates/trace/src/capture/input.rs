//! Octets in order, from a file, a pipe or a decompressor, through one buffer of fixed size.

use std::io::{self, Read};

/// What is asked for at once. With what waits of the block before, it stays in a processor's second-level cache.
const BLOCK: usize = 128 << 10;

/// More than any packet of a capture ([`super::MOST_OCTETS`]) and what stands before it.
pub(super) const LONGEST: usize = 264 << 10;

/// A window that moves over the octets: look at what comes next, pass over what was seen.
pub(super) struct Input {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// What waits in the buffer.
    start: usize,
    end: usize,
    /// Octets passed over so far.
    offset: u64,
    /// The source has ended; with an error, if it did not end well.
    ended: Option<Option<io::Error>>,
}

impl Input {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, buffer: vec![0; LONGEST + BLOCK], start: 0, end: 0, offset: 0, ended: None }
    }

    /// How many octets have been passed over.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `len` octets, at most [`LONGEST`]; fewer if there are no more.
    #[inline]
    pub(super) fn peek(&mut self, len: usize) -> &[u8] {
        if self.end - self.start < len {
            self.fill(len);
        }
        &self.buffer[self.start..self.end.min(self.start + len)]
    }

    /// The same if all of them are there.
    #[inline]
    pub(super) fn whole(&mut self, len: usize) -> Option<&[u8]> {
        let there = self.peek(len);
        (there.len() == len).then_some(there)
    }

    /// Passes over `len` octets; returns how many were missing.
    #[inline]
    pub(super) fn skip(&mut self, len: u64) -> u64 {
        let mut left = len;
        loop {
            let step = left.min((self.end - self.start) as u64);
            self.start += step as usize;
            self.offset += step;
            left -= step;
            if left == 0 || (self.start == self.end && !self.fill(1)) {
                return left;
            }
        }
    }

    /// Why there is no more, if the source itself broke.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.ended.as_mut().and_then(Option::take)
    }

    /// Reads until `len` octets wait, as far as there are so many; whether any wait.
    #[cold]
    fn fill(&mut self, len: usize) -> bool {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < len.min(LONGEST) && self.ended.is_none() {
            let room = self.end..(self.end + BLOCK).min(self.buffer.len());
            match self.source.read(&mut self.buffer[room]) {
                Ok(0) => self.ended = Some(None),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.ended = Some(Some(error)),
            }
        }
        self.end > 0
    }
}

impl core::fmt::Debug for Input {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Input").field("offset", &self.offset).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one octet at a time, then breaks.
    struct Drops(u8);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0 {
                9 => Err(io::ErrorKind::UnexpectedEof.into()),
                n => {
                    (buffer[0], self.0) = (n, n + 1);
                    Ok(1)
                }
            }
        }
    }

    #[test]
    fn what_is_there_is_given_before_the_end_is_told() {
        let mut input = Input::new(Box::new(Drops(0)));
        assert_eq!(input.whole(4), Some(&[0, 1, 2, 3][..]));
        assert_eq!(input.skip(6), 0);
        assert_eq!(input.offset(), 6);
        assert_eq!(input.whole(4), None);
        assert_eq!(input.peek(4), [6, 7, 8]);
        assert_eq!(input.skip(5), 2);
        assert_eq!(input.offset(), 9);
        assert_eq!(input.failure().unwrap().kind(), io::ErrorKind::UnexpectedEof);
    }
}
