//! The condition word of header prediction. A set bit means that the connection is not in its common state.
//!
//! The context and the sender own one word each. While both words are empty, a segment may take the fast path
//! ([`crate::connection`], `connection/prediction/`).

/// The set of unusual conditions. Each owner defines its own bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Prediction(u8);

impl Prediction {
    /// Only the bit with this number, from 0 to 7.
    pub(crate) const fn bit(number: u8) -> Self {
        Self(1 << number)
    }

    /// The union of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without `bits`.
    pub(crate) const fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    /// Whether no condition is unusual.
    #[inline]
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of `bits` is set.
    #[inline]
    pub(crate) const fn has(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    /// Sets `bits`, or clears them.
    #[inline]
    pub(crate) const fn set(&mut self, bits: Self, on: bool) {
        if on {
            self.0 |= bits.0;
        } else {
            *self = self.without(bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_or_clearing_one_bit_does_not_change_the_others() {
        let (a, b) = (Prediction::bit(0), Prediction::bit(7));
        let mut word = Prediction::default();
        assert!(word.is_empty());
        word.set(a.and(b), true);
        word.set(a, false);
        assert!(!word.is_empty() && word.has(b) && !word.has(a));
    }
}
