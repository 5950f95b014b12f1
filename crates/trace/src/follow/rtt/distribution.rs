//! Median and percentiles of round-trip times in bounded memory.

use netspurt_tcp::time::Span;

/// The width of a bucket is 1/128 of its octave, so the error of a quantile is at most 0.4 %.
const FINE_BITS: u32 = 7;

/// A histogram of round-trip times with buckets of increasing width.
///
/// Minimum, maximum and mean are exact. At most about 4,000 buckets are used, and a few dozen for a path that changes
/// little.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Distribution {
    count: u64,
    sum_ns: u128,
    least_ns: u64,
    largest_ns: u64,
    /// Bucket and count, sorted by bucket.
    buckets: Vec<(u16, u32)>,
    /// Where the last sample was counted. The next one often belongs there, too.
    last: usize,
}

impl Distribution {
    #[inline]
    pub(in crate::follow) fn add(&mut self, rtt: Span) {
        let ns = rtt.as_ps() / 1000;
        self.least_ns = if self.count == 0 { ns } else { self.least_ns.min(ns) };
        self.largest_ns = self.largest_ns.max(ns);
        self.count += 1;
        self.sum_ns += u128::from(ns);
        let bucket = bucket(ns);
        if self.buckets.get(self.last).is_none_or(|last| last.0 != bucket) {
            self.last = self.place_of(bucket);
        }
        let count = &mut self.buckets[self.last].1;
        *count = count.saturating_add(1);
    }

    /// Where `bucket` is; it is added if it is missing.
    fn place_of(&mut self, bucket: u16) -> usize {
        let found = self.buckets.binary_search_by_key(&bucket, |&(bucket, _)| bucket);
        found.unwrap_or_else(|at| {
            self.buckets.insert(at, (bucket, 0));
            at
        })
    }

    /// Number of samples.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The minimum; `None` without samples, like all that follow.
    pub fn least(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_ns(self.least_ns))
    }

    /// The maximum.
    pub fn largest(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_ns(self.largest_ns))
    }

    /// The mean.
    pub fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_ns((self.sum_ns / u128::from(self.count)) as u64))
    }

    /// The quantile for a fraction from 0 to 1: the middle of its bucket, within 0.4 %.
    pub fn quantile(&self, fraction: f64) -> Option<Span> {
        let rank = ((self.count as f64 * fraction).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let &(bucket, _) = self.buckets.iter().find(|(_, count)| {
            seen += u64::from(*count);
            seen >= rank
        })?;
        Some(Span::from_ns(middle(bucket).clamp(self.least_ns, self.largest_ns)))
    }
}

/// Exact below 2^7 ns; above that, the octave and the seven bits after the leading one.
const fn bucket(ns: u64) -> u16 {
    let octave = ns.checked_ilog2();
    match octave {
        Some(octave) if octave >= FINE_BITS => {
            let shift = octave - FINE_BITS;
            (((shift + 1) << FINE_BITS) as u64 + ((ns >> shift) & ((1 << FINE_BITS) - 1))) as u16
        }
        _ => ns as u16,
    }
}

const fn middle(bucket: u16) -> u64 {
    let (octave, fine) = ((bucket >> FINE_BITS) as u32, (bucket & ((1 << FINE_BITS) - 1)) as u64);
    match octave {
        0 => fine,
        _ => {
            let shift = octave - 1;
            let low = (fine | 1 << FINE_BITS) << shift;
            low + (1_u64 << shift) / 2
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bucket_is_close_to_its_values() {
        for ns in (0..63).flat_map(|bit| [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (2 << bit) - 1]) {
            let off = middle(bucket(ns)).abs_diff(ns);
            assert!(
                off as f64 <= ns as f64 / 255.0,
                "{ns} is put into a bucket round {}",
                middle(bucket(ns))
            );
        }
        assert!((1..1 << 20_u64).all(|ns| bucket(ns - 1) <= bucket(ns)));
        assert!(bucket(u64::MAX) < 1 << 13);
    }

    #[test]
    fn quantiles_of_a_thousand_different_times() {
        let mut all = Distribution::default();
        assert_eq!((all.quantile(0.5), all.least(), all.mean()), (None, None, None));
        for n in (1..=1000).rev() {
            all.add(Span::from_us(10 * n));
        }
        assert_eq!(all.least(), Some(Span::from_us(10)));
        assert_eq!(all.largest(), Some(Span::from_ms(10)));
        assert_eq!(all.mean(), Some(Span::from_us(5005)));
        for (fraction, expected) in [(0.0, 10.0), (0.5, 5000.0), (0.95, 9500.0), (1.0, 10_000.0)] {
            let us = all.quantile(fraction).unwrap().as_secs_f64() * 1e6;
            assert!((us / expected - 1.0).abs() < 0.004, "{fraction}: {us}");
        }
    }
}
