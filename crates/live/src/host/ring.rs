//! A ring buffer for a part of a stream, addressed by stream position, and the spare memory of empty ones.

/// The initial capacity.
const LEAST: usize = 1 << 12;
/// Spare memory beyond this is freed: as much as one batch of packets may need at once.
const MOST_SPARE: usize = 8 << 20;
/// A larger buffer is freed when it is empty.
const LARGEST_SPARE: usize = 1 << 18;

/// A part of a stream: from the released position to the last byte stored. Its capacity doubles as needed. The caller
/// limits it, by the TCP window or the send buffer.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// The capacity is a power of two, or zero. Byte `n` of the stream is at `n - origin` modulo the capacity.
    bytes: Vec<u8>,
    /// Where the ring was empty last, so that little data always uses the same memory.
    origin: u64,
    start: u64,
    /// Position after the last byte stored.
    end: u64,
}

impl Ring {
    /// Stores bytes at a position. Bytes before the released position are ignored.
    pub(super) fn put(&mut self, at: u64, data: &[u8]) {
        let before = self.start.saturating_sub(at).min(data.len() as u64);
        let (at, data) = (at + before, &data[before as usize..]);
        if data.is_empty() {
            return;
        }
        self.make_room(at + data.len() as u64);
        let from = self.index(at);
        let first = data.len().min(self.bytes.len() - from);
        self.bytes[from..from + first].copy_from_slice(&data[..first]);
        self.bytes[..data.len() - first].copy_from_slice(&data[first..]);
    }

    /// The `len` bytes from a position on, in at most two parts; `None` if not all are stored.
    pub(super) fn get(&self, at: u64, len: usize) -> Option<(&[u8], &[u8])> {
        if len == 0 {
            return Some((&[], &[]));
        }
        if at < self.start || at.checked_add(len as u64)? > self.end {
            return None;
        }
        let from = self.index(at);
        let first = len.min(self.bytes.len() - from);
        Some((&self.bytes[from..from + first], &self.bytes[..len - first]))
    }

    /// Releases the bytes before a position.
    pub(super) fn release(&mut self, upto: u64) {
        self.start = self.start.max(upto);
        self.end = self.end.max(self.start);
    }

    /// Takes spare memory, if there is some and this ring has none.
    pub(super) fn borrow_from(&mut self, spares: &mut Spares) {
        if self.bytes.is_empty() {
            self.bytes = spares.take();
        }
    }

    /// Makes room for so many further bytes at once, which saves growing for each segment of a large packet; not beyond
    /// `most` bytes.
    pub(super) fn expect(&mut self, len: usize, most: usize) {
        let end = self.end;
        if self.fits(end + len as u64, most) {
            self.make_room(end + len as u64);
            self.end = end;
        }
    }

    /// Whether it can store bytes up to a position without growing beyond `most` bytes.
    pub(super) fn fits(&self, end: u64, most: usize) -> bool {
        end.saturating_sub(self.start) <= most as u64
    }

    /// Gives its memory away, if it stores nothing.
    pub(super) fn return_to(&mut self, spares: &mut Spares) {
        if self.start == self.end && !self.bytes.is_empty() {
            spares.put(core::mem::take(&mut self.bytes));
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len()
    }

    fn index(&self, at: u64) -> usize {
        ((at - self.origin) & (self.bytes.len() as u64 - 1)) as usize
    }

    fn make_room(&mut self, end: u64) {
        if self.start == self.end {
            self.origin = self.start;
        }
        let needed = (end.max(self.end) - self.start) as usize;
        if needed > self.bytes.len() {
            let mut larger = vec![0; needed.next_power_of_two().max(LEAST)];
            let held = (self.end - self.start) as usize;
            if let Some((first, second)) = self.get(self.start, held) {
                let mask = larger.len() as u64 - 1;
                for (at, part) in [(self.start, first), (self.start + first.len() as u64, second)] {
                    let from = ((at - self.origin) & mask) as usize;
                    let whole = part.len().min(larger.len() - from);
                    larger[from..from + whole].copy_from_slice(&part[..whole]);
                    larger[..part.len() - whole].copy_from_slice(&part[whole..]);
                }
            }
            self.bytes = larger;
        }
        self.end = self.end.max(end);
    }
}

/// Memory that empty rings have returned. The next ring gets what was used last, since that is still in the processor's
/// cache: many connections that are read at once share a few hundred kilobytes.
#[derive(Debug, Default)]
pub(super) struct Spares {
    last: Vec<Vec<u8>>,
    /// Their size in all.
    octets: usize,
}

impl Spares {
    fn take(&mut self) -> Vec<u8> {
        let bytes = self.last.pop().unwrap_or_default();
        self.octets -= bytes.len();
        bytes
    }

    fn put(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= LARGEST_SPARE && self.octets + bytes.len() <= MOST_SPARE {
            self.octets += bytes.len();
            self.last.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_sim::random::Stream;

    fn bytes(at: u64, len: usize) -> Vec<u8> {
        (at..at + len as u64).map(|n| (n * 31 % 251) as u8).collect()
    }

    fn held(ring: &Ring, at: u64, len: usize) -> Vec<u8> {
        let (first, second) = ring.get(at, len).expect("held");
        [first, second].concat()
    }

    #[test]
    fn stored_bytes_are_returned_until_they_are_released() {
        for seed in 0..20 {
            let mut random = Stream::new(seed, "ring");
            let (mut ring, mut start, mut end) = (Ring::default(), 0_u64, 0_u64);
            for _ in 0..400 {
                let len = random.below(6000) as usize;
                ring.put(end, &bytes(end, len));
                end += len as u64;
                let read = random.below(end - start + 1);
                assert_eq!(held(&ring, start, read as usize), bytes(start, read as usize), "seed {seed}");
                start += read;
                ring.release(start);
            }
        }
    }

    #[test]
    fn bytes_beyond_a_gap_are_kept_until_the_gap_is_filled() {
        let mut ring = Ring::default();
        ring.put(10_000, &bytes(10_000, 500));
        ring.put(0, &bytes(0, 10_000));
        assert_eq!(held(&ring, 0, 10_500), bytes(0, 10_500));
        assert_eq!(ring.get(0, 10_501), None);
    }

    #[test]
    fn released_bytes_are_neither_returned_nor_stored_again() {
        let mut ring = Ring::default();
        ring.put(0, &bytes(0, 100));
        ring.release(60);
        ring.put(40, &[9; 30]);
        assert_eq!(ring.get(59, 1), None);
        assert_eq!(held(&ring, 60, 10), [9; 10]);
        assert_eq!(held(&ring, 70, 30), bytes(70, 30));
    }

    #[test]
    fn an_empty_ring_returns_its_memory_and_the_next_one_borrows_it() {
        let (mut spares, mut first, mut second) = (Spares::default(), Ring::default(), Ring::default());
        first.put(0, &bytes(0, 50_000));
        first.return_to(&mut spares);
        assert_eq!(first.memory(), 1 << 16, "it stores something");
        first.release(50_000);
        first.return_to(&mut spares);
        second.borrow_from(&mut spares);
        assert_eq!((first.memory(), second.memory()), (0, 1 << 16));
        second.put(7, &bytes(7, 60_000));
        first.put(50_000, &bytes(50_000, 100));
        assert_eq!(held(&second, 7, 60_000), bytes(7, 60_000));
        assert_eq!(held(&first, 50_000, 100), bytes(50_000, 100));
    }

    #[test]
    fn spare_memory_is_bounded() {
        let mut spares = Spares::default();
        let mut rings: Vec<Ring> = (0..100).map(|_| Ring::default()).collect();
        for (ring, len) in rings.iter_mut().zip([1 << 20, 100, 1 << 18, 1 << 17].into_iter().cycle()) {
            ring.put(0, &bytes(0, len));
            ring.release(len as u64);
            ring.return_to(&mut spares);
            assert_eq!(ring.memory(), 0);
            assert_eq!(spares.octets, spares.last.iter().map(Vec::len).sum::<usize>());
            assert!(spares.octets <= MOST_SPARE);
        }
    }
}
