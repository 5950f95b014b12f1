//! Reads bytes in order from a file, a pipe or a decompressor, through one buffer of fixed size.

use std::io::{self, Read};

/// Bytes per read. The buffer fits into a second-level cache.
const BLOCK: usize = 128 << 10;

/// More than the largest captured packet ([`super::packet::MOST_OCTETS`]) with its header.
pub(super) const LONGEST: usize = 264 << 10;

/// A window over the input: `peek` returns the next bytes, `skip` moves past them.
pub(super) struct Input {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Start of the unread bytes in the buffer.
    start: usize,
    end: usize,
    /// Number of bytes skipped so far.
    offset: u64,
    /// Set at the end of the input, with the error if there was one.
    ended: Option<Option<io::Error>>,
}

impl Input {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, buffer: vec![0; LONGEST + BLOCK], start: 0, end: 0, offset: 0, ended: None }
    }

    /// Number of bytes skipped so far.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `len` bytes, at most [`LONGEST`]; fewer at the end of the input.
    #[inline]
    pub(super) fn peek(&mut self, len: usize) -> &[u8] {
        if self.end - self.start < len {
            self.fill(len);
        }
        &self.buffer[self.start..self.end.min(self.start + len)]
    }

    /// The next `len` bytes; `None` if there are fewer.
    #[inline]
    pub(super) fn whole(&mut self, len: usize) -> Option<&[u8]> {
        let there = self.peek(len);
        (there.len() == len).then_some(there)
    }

    /// Skips `len` bytes. Returns how many of them were missing.
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

    /// The error that ended the input, if there was one.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.ended.as_mut().and_then(Option::take)
    }

    /// Reads until the buffer holds `len` bytes or the input ends. Returns whether the buffer holds any.
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

    /// Returns one byte per read, then an error.
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
    fn available_bytes_are_returned_before_the_error() {
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
