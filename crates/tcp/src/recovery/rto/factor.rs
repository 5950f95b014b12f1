//! The factors of an estimator: decimal fractions, exact.

/// A factor in millionths: exact for every decimal of six places, and for 15/16, 31/32 and 63/64, which thousandths are
/// not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Factor(u32);

/// Millionths in one.
const ONE: u64 = 1_000_000;

impl Factor {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(ONE as u32);

    /// `num / den`, rounded to the nearest millionth and capped at about 4295. A `den` of 0 counts as 1.
    pub const fn ratio(num: u32, den: u32) -> Self {
        let den = if den == 0 { 1 } else { den as u64 };
        let millionths = (num as u64 * ONE + den / 2) / den;
        Self(if millionths > u32::MAX as u64 { u32::MAX } else { millionths as u32 })
    }

    /// The factor nearest to a decimal; a negative number counts as 0.
    pub fn from_f64(value: f64) -> Self {
        // The cast saturates, and NaN becomes 0.
        Self((value * ONE as f64).round() as u32)
    }

    /// For output.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / ONE as f64
    }

    /// This factor if it is at most one, else one.
    #[inline]
    pub(super) const fn at_most_one(self) -> Self {
        if self.0 > ONE as u32 { Self::ONE } else { self }
    }

    /// One minus this factor, which is at most one.
    #[inline]
    pub(super) const fn rest(self) -> Self {
        Self(ONE as u32 - self.0)
    }

    /// `value` times this factor, rounded down and capped at `u64::MAX`.
    #[inline]
    pub(super) const fn times(self, value: u64) -> u64 {
        let (whole, rest, factor) = (value / ONE, value % ONE, self.0 as u64);
        whole.saturating_mul(factor).saturating_add(rest * factor / ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factors_of_the_documents_are_exact() {
        for (num, den, exact) in
            [(15, 16, 0.9375), (3, 4, 0.75), (7, 8, 0.875), (63, 64, 0.984375), (2, 1, 2.0)]
        {
            let factor = Factor::ratio(num, den);
            assert_eq!((factor, factor.as_f64().to_bits()), (Factor::from_f64(exact), f64::to_bits(exact)));
            assert_eq!(factor.times(u64::from(den) * 1_000_003), u64::from(num) * 1_000_003);
        }
    }

    #[test]
    fn products_are_rounded_down_and_capped() {
        assert_eq!(Factor::ratio(1, 3).times(10), 3);
        assert_eq!(Factor::ratio(15, 16).times(17), 15);
        assert_eq!(Factor::from_f64(f64::MAX).times(u64::MAX), u64::MAX);
        assert_eq!(Factor::from_f64(f64::NAN), Factor::ZERO);
        assert_eq!(Factor::from_f64(-1.0), Factor::ZERO);
    }
}
