//! What RFC 793 and RFC 889 share: an exponentially weighted mean with weights in thousandths.

use crate::time::Span;
use core::num::NonZeroU64;

/// Longest round trip that is taken in, 10,000 s: so a mean with weights in thousandths fits into 64 bits.
const LONGEST: u64 = 10_000_000_000_000_000;

/// A mean in picoseconds; what a step rounds away is below one of them. A round trip of 0 counts as 1 ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Mean(Option<NonZeroU64>);

impl Mean {
    pub(super) fn get(self) -> Option<Span> {
        self.0.map(|mean| Span::from_ps(mean.get()))
    }

    /// The first sample is the mean; after it mean = w · mean + (1 − w) · sample, where w depends on whether the
    /// sample lies below the mean.
    #[inline]
    pub(super) fn update(&mut self, sample: Span, weight_milli: impl FnOnce(Ordering) -> u32) {
        let sample = sample.as_ps().clamp(1, LONGEST);
        let mean = match self.0 {
            None => sample,
            Some(mean) => {
                let mean = mean.get();
                let order = if sample < mean { Ordering::Below } else { Ordering::NotBelow };
                let weight = u64::from(weight_milli(order).min(1000));
                (mean * weight + sample * (1000 - weight)) / 1000
            }
        };
        self.0 = NonZeroU64::new(mean.max(1));
    }

    /// The mean times `milli` / 1000, rounded down.
    #[inline]
    pub(super) fn times_milli(self, milli: u32) -> Option<Span> {
        self.0.map(|mean| {
            let (whole, rest) = (mean.get() / 1000, mean.get() % 1000);
            let milli = u64::from(milli);
            Span::from_ps(whole.saturating_mul(milli).saturating_add(rest * milli / 1000))
        })
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
        for weight in [0, 999, 1000, u32::MAX] {
            mean.update(Span::MAX, |_| weight);
            mean.update(Span::ZERO, |_| weight);
        }
        mean.update(Span::MAX, |_| 0);
        assert_eq!(mean.get(), Some(Span::from_secs(10_000)));
        assert_eq!(mean.times_milli(u32::MAX), Some(Span::MAX));
    }
}
