//! A ring buffer for a part of a stream, addressed by stream position.

/// The initial capacity.
const LEAST: usize = 1 << 12;
/// An empty ring keeps at most this capacity.
const KEPT: usize = 1 << 16;

/// A part of a stream: from the released position to the last byte stored. Its capacity doubles as needed. The caller
/// limits it, by the TCP window or the send buffer.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// The capacity is a power of two, or zero. Byte `n` of the stream is at `n` modulo the capacity.
    bytes: Vec<u8>,
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
        if self.start >= self.end {
            self.end = self.start;
            if self.bytes.len() > KEPT {
                self.bytes = Vec::new();
            }
        }
    }

    /// Memory in use, in bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.bytes.len()
    }

    fn index(&self, at: u64) -> usize {
        (at & (self.bytes.len() as u64 - 1)) as usize
    }

    fn make_room(&mut self, end: u64) {
        let needed = (end.max(self.end) - self.start) as usize;
        if needed > self.bytes.len() {
            let mut larger = vec![0; needed.next_power_of_two().max(LEAST)];
            let held = (self.end - self.start) as usize;
            if let Some((first, second)) = self.get(self.start, held) {
                let mask = larger.len() as u64 - 1;
                for (at, part) in [(self.start, first), (self.start + first.len() as u64, second)] {
                    let from = (at & mask) as usize;
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
    fn an_empty_ring_frees_most_of_its_memory() {
        let mut ring = Ring::default();
        ring.put(0, &bytes(0, 1 << 20));
        assert_eq!(ring.memory(), 1 << 20);
        ring.release(1 << 20);
        assert_eq!(ring.memory(), 0);
    }
}
