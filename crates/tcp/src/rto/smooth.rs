//! What RFC 793 and RFC 889 share: an exponentially weighted mean.

use super::Factor;
use crate::time::Span;
use core::num::NonZeroU64;

/// Longest round trip that is taken in: 10,000 s.
const LONGEST: u64 = 10_000_000_000_000_000;

/// A mean in picoseconds; what a step rounds away is below one of them. A round trip of 0 counts as 1 ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Mean(Option<NonZeroU64>);

impl Mean {
    /// No sample yet.
    pub(super) const NONE: Self = Self(None);

    pub(super) fn get(self) -> Option<Span> {
        self.0.map(|mean| Span::from_ps(mean.get()))
    }

    /// The first sample is the mean; after it mean = w · mean + (1 − w) · sample, where w depends on whether the
    /// sample lies below the mean.
    #[inline]
    pub(super) fn update(&mut self, sample: Span, weight: impl FnOnce(Ordering) -> Factor) {
        let sample = sample.as_ps().clamp(1, LONGEST);
        let mean = match self.0 {
            None => sample,
            Some(mean) => {
                let mean = mean.get();
                // One product each, which rounds as the whole sum would.
                if sample < mean {
                    sample + weight(Ordering::Below).at_most_one().times(mean - sample)
                } else {
                    mean + weight(Ordering::NotBelow).at_most_one().rest().times(sample - mean)
                }
            }
        };
        self.0 = NonZeroU64::new(mean.max(1));
    }

    /// The mean times a factor, rounded down.
    #[inline]
    pub(super) fn times(self, factor: Factor) -> Option<Span> {
        self.0.map(|mean| Span::from_ps(factor.times(mean.get())))
    }
}

/// Where a sample lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ordering {
    /// Below the mean.
    Below,
    /// At the mean or above it.
    NotBelow,
}

/// The bounds of a timeout, and the timeout before the first sample. An upper bound of zero means none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    min: Span,
    max: Span,
    initial: Span,
}

impl Bounds {
    pub(super) const fn new(min: Span, max: Span, initial: Span) -> Self {
        let max = if max.as_ps() == 0 { Span::MAX } else { max };
        Self { min, max, initial }
    }

    pub(super) const fn between(self, min: Span, max: Span) -> Self {
        Self::new(min, max, self.initial)
    }

    /// `computed`, or the initial timeout, between the bounds; the upper one wins.
    #[inline]
    pub(super) fn apply(&self, computed: Option<Span>) -> Span {
        computed.unwrap_or(self.initial).max(self.min).min(self.max)
    }

    pub(super) const fn max(&self) -> Span {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_do_not_overflow() {
        let mut mean = Mean::default();
        for weight in [Factor::ZERO, Factor::ratio(999, 1000), Factor::ONE, Factor::ratio(u32::MAX, 1)] {
            mean.update(Span::MAX, |_| weight);
            mean.update(Span::ZERO, |_| weight);
        }
        mean.update(Span::MAX, |_| Factor::ZERO);
        assert_eq!(mean.get(), Some(Span::from_secs(10_000)));
        assert_eq!(mean.times(Factor::ratio(u32::MAX, 1)), Some(Span::MAX));
    }

    #[test]
    fn no_upper_bound_is_no_bound() {
        let bounds = Bounds::new(Span::ZERO, Span::ZERO, Span::from_secs(1));
        assert_eq!(bounds.apply(None), Span::from_secs(1));
        assert_eq!(bounds.apply(Some(Span::from_secs(5000))), Span::from_secs(5000));
        assert_eq!(bounds.max(), Span::MAX);
    }
}
