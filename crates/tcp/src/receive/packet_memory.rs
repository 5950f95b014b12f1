//! A receive buffer that counts the memory of packets, as Linux does: what part of it the window gets, and when the window
//! opens (`tcp_win_from_space()`, `tcp_measure_rcv_mss()`, `tcp_grow_window()`).

/// Bytes that a packet takes besides its data: headers, padding and structures of the kernel. Linux 6.18 on a TUN device: 2304
/// for 1448 bytes of data. Network cards differ.
const BESIDE_DATA: u32 = 856;
/// The part of the memory for the window before a full segment has shown what packets take, in 256ths
/// (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SHARE: u32 = 128;
/// A shorter segment does not show it (`TCP_MSS_DEFAULT`).
const LEAST_FULL: u32 = 536;
/// A shorter segment opens no window (`tcp_event_data_recv()`).
const LEAST_OPENING: u32 = 128;

/// The memory behind a receive window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PacketMemory {
    /// Its size (`sk_rcvbuf`), and the largest one (`tcp_rmem[2]`).
    size: u32,
    most: u32,
    /// The part for the window, in 256ths (`scaling_ratio`).
    share: u32,
    /// The longest segment (`rcv_mss`).
    longest: u32,
}

impl PacketMemory {
    /// Memory of which a window of `first` bytes gets its part; it may grow to `most`.
    pub(super) fn new(first: u32, most: u32) -> Self {
        let mut memory = Self { size: 0, most, share: FIRST_SHARE, longest: LEAST_FULL };
        memory.make_room(first);
        memory
    }

    /// The window that the present memory permits.
    pub(super) fn window(&self) -> u32 {
        self.part_of(self.size)
    }

    fn part_of(&self, memory: u32) -> u32 {
        (u64::from(memory) * u64::from(self.share) / 256) as u32
    }

    /// Grows for a window of this size, as far as it may.
    pub(super) fn make_room(&mut self, window: u32) {
        let needed = u64::from(window) * 256 / u64::from(self.share);
        self.size = self.size.max(needed.min(u64::from(self.most)) as u32);
    }

    /// Whether a segment of `len` bytes is longer than all before.
    #[inline]
    pub(super) fn is_longer(&self, len: u32) -> bool {
        len > self.longest
    }

    /// A segment of `len` bytes has arrived: the longest one shows what part of the memory is data.
    pub(super) fn measure(&mut self, len: u32) {
        if self.is_longer(len) {
            self.longest = len;
            self.share = (u64::from(len) * 256 / u64::from(len + BESIDE_DATA)).max(1) as u32;
        }
    }

    /// By how much a segment of `len` bytes in order opens a window of `offered` bytes, if there is room.
    pub(super) fn opens(&self, len: u32, offered: u32, mss: u32) -> u32 {
        if len < LEAST_OPENING {
            return 0;
        }
        let mut takes = self.part_of(len + BESIDE_DATA);
        if takes <= len {
            return 2 * mss.max(len);
        }
        // The more memory is free, the less a segment may waste of it (`__tcp_grow_window()`).
        let mut enough = self.part_of(self.most) / 2;
        takes /= 2;
        while offered <= enough {
            if takes <= len {
                return 2 * self.longest.max(len);
            }
            (takes, enough) = (takes / 2, enough / 2);
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> PacketMemory {
        PacketMemory::new(65_536, 32 << 20)
    }

    #[test]
    fn the_window_gets_half_of_the_memory_until_a_full_segment_shows_more() {
        let mut memory = memory();
        assert_eq!((memory.size, memory.window()), (131_072, 65_536));
        memory.measure(500);
        assert_eq!(memory.window(), 65_536, "it may not be a full one");
        memory.measure(1448);
        assert_eq!(memory.window(), 81_920);
        memory.measure(1000);
        assert_eq!(memory.window(), 81_920);
    }

    #[test]
    fn the_largest_window_is_its_part_of_the_largest_memory() {
        let mut memory = memory();
        memory.measure(1448);
        memory.make_room(u32::MAX);
        assert_eq!(memory.window(), (32 << 20) / 8 * 5);
        memory.make_room(1000);
        assert_eq!(memory.window(), (32 << 20) / 8 * 5, "it does not shrink");
    }

    #[test]
    fn a_full_segment_opens_the_window_by_two_and_a_tiny_one_does_not() {
        let mut memory = memory();
        memory.measure(1448);
        assert_eq!(memory.opens(1448, 65_535, 1448), 2896);
        assert_eq!(memory.opens(127, 65_535, 1448), 0);
    }

    #[test]
    fn a_short_segment_opens_a_small_window_only() {
        let mut memory = memory();
        memory.measure(1448);
        // A quarter of the memory of a packet with 200 bytes is less than 200 bytes.
        let quarter = memory.part_of(32 << 20) / 4;
        assert_eq!(memory.opens(200, quarter, 1448), 2896);
        assert_eq!(memory.opens(200, quarter + 1, 1448), 0);
    }
}
