//! Numbers in the byte order of the machine that has written the file.

/// A byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::capture) enum Order {
    Big,
    Little,
}

impl Order {
    /// The 16-bit number at `at`. The caller guarantees that `bytes` contains it.
    #[inline]
    pub(in crate::capture) fn short(self, bytes: &[u8], at: usize) -> u16 {
        let octets = [bytes[at], bytes[at + 1]];
        match self {
            Self::Big => u16::from_be_bytes(octets),
            Self::Little => u16::from_le_bytes(octets),
        }
    }

    /// The 32-bit number at `at`. The caller guarantees that `bytes` contains it.
    #[inline]
    pub(in crate::capture) fn long(self, bytes: &[u8], at: usize) -> u32 {
        let octets = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Self::Big => u32::from_be_bytes(octets),
            Self::Little => u32::from_le_bytes(octets),
        }
    }
}
