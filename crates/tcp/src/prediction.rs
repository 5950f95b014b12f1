//! The condition word of header prediction: bits that are set where the state of a connection leaves the ordinary.
//!
//! The context and the sender hold one each, and set only their own bits. While both are empty a segment may take the short
//! way ([`crate::connection`], `prediction.rs`).

/// Which conditions are unusual. Each owner defines its own bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prediction(u8);

impl Prediction {
    /// The bit with this number alone, from 0 to 7.
    pub(crate) const fn bit(number: u8) -> Self {
        Self(1 << number)
    }

    /// Both sets together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Nothing is unusual.
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of these is set.
    #[inline]
    pub(crate) const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    /// Sets these, or clears them.
    #[inline]
    pub(crate) const fn set(&mut self, bits: Self, on: bool) {
        if on {
            self.0 |= bits.0;
        } else {
            self.0 &= !bits.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_set_until_it_is_cleared_and_leaves_the_others_alone() {
        let (a, b) = (Prediction::bit(0), Prediction::bit(7));
        let mut word = Prediction::default();
        assert!(word.is_empty());
        word.set(a.and(b), true);
        word.set(a, false);
        assert!(!word.is_empty() && word.has(b) && !word.has(a));
    }
}
