//! 32-bit sequence numbers that wrap (RFC 9293, section 3.4).

use core::fmt;

/// A sequence number: a point on a circle of 2^32.
///
/// It has no order, so the type is not `Ord`. It has distances, and a question that can be answered: does it lie in
/// a given window?
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The number `n` places further round the circle.
    #[must_use]
    pub const fn plus(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }

    /// The number `n` places back.
    #[must_use]
    pub const fn minus(self, n: u32) -> Self {
        Self(self.0.wrapping_sub(n))
    }

    /// Signed distance from `base`: positive if `self` is ahead by less than half the circle.
    pub const fn distance_from(self, base: Self) -> i32 {
        self.0.wrapping_sub(base.0) as i32
    }

    /// Whether this number is one of the `len` numbers that begin at `start`.
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
    fn distance_wraps_round_the_circle() {
        assert_eq!(Seq(5).distance_from(Seq(u32::MAX)), 6);
        assert_eq!(Seq(u32::MAX).distance_from(Seq(5)), -6);
    }

    #[test]
    fn a_window_may_straddle_zero() {
        let start = Seq(u32::MAX - 1);
        assert!(Seq(1).lies_within(start, 4));
        assert!(!Seq(2).lies_within(start, 4));
        assert!(!start.lies_within(start, 0));
    }
}
