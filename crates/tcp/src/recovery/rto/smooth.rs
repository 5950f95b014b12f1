//! The exponentially weighted mean of RFC 793 and RFC 889.

use super::Factor;
use crate::time::Span;
use core::num::NonZeroU64;

/// The largest RTT sample: 10,000 s.
const LONGEST: u64 = 10_000_000_000_000_000;

/// A mean in picoseconds; the rounding error of a step is below one picosecond. An RTT of 0 counts as 1 ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mean(Option<NonZeroU64>);

impl Mean {
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
}
