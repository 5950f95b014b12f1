//! 32-bit sequence numbers that wrap (RFC 9293, section 3.4).

use core::fmt;

/// A sequence number modulo 2^32.
///
/// Sequence numbers have no order, so the type is not `Ord`. They have a distance, and they lie in a given window or
/// not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// This number plus `n`, modulo 2^32.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// This number minus `n`, modulo 2^32.
    #[must_use]
    pub const fn minus(self, n: u32) -> Self {
        Self(self.0.wrapping_sub(n))
    }

    /// Signed distance from `base`: positive if `self` is ahead by less than 2^31.
    pub const fn distance_from(self, base: Self) -> i32 {
        self.0.wrapping_sub(base.0) as i32
    }

    /// Whether this number is one of the `len` numbers from `start` on.
    pub const fn lies_within(self, start: Self, len: u32) -> bool {
        self.0.wrapping_sub(start.0) < len
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_wrap_at_two_to_the_32() {
        assert_eq!(Seq(5).distance_from(Seq(u32::MAX)), 6);
        assert_eq!(Seq(u32::MAX).distance_from(Seq(5)), -6);
    }

    #[test]
    fn a_window_may_span_the_wrap() {
        let start = Seq(u32::MAX - 1);
        assert!(Seq(1).lies_within(start, 4));
        assert!(!Seq(2).lies_within(start, 4));
        assert!(!start.lies_within(start, 0));
    }
}
