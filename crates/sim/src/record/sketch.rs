//! A summary of times in bounded memory: exact for few values, a histogram of known error for many.
//!
//! Up to [`EXACT`] values are stored as they are. Beyond that they are counted in buckets whose width is at most 1/128 of
//! their values (a logarithmic histogram, as in HdrHistogram). A quantile then lies within 0.4 % of a value that occurred.
//! Count, mean, minimum and maximum stay exact. Merging two sketches loses nothing: values that both store exactly stay
//! exact, however many they are.

use netspurt_tcp::time::Span;

/// Number of values that are stored exactly.
pub const EXACT: usize = 4096;

/// Bits of a value that select its bucket, after the highest one.
const BITS: u32 = 7;

/// A summary of times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sketch {
    /// All values, while there is no histogram.
    exact: Vec<u64>,
    /// Number of values in each bucket; empty while there are few.
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Sketch {
    /// Adds one value.
    pub fn add(&mut self, span: Span) {
        let ps = span.as_ps();
        self.note(1, u128::from(ps), ps, ps);
        if !self.buckets.is_empty() {
            return self.count_in(ps, 1);
        }
        self.exact.push(ps);
        if self.exact.len() > EXACT {
            self.round();
        }
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.note(other.count, other.sum, other.min, other.max);
        if self.buckets.is_empty() && other.buckets.is_empty() {
            return self.exact.extend(&other.exact);
        }
        self.round();
        other.exact.iter().for_each(|&ps| self.count_in(ps, 1));
        for (bucket, &count) in other.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.count_in(middle(bucket), count);
        }
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether quantiles are exact.
    pub const fn is_exact(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Mean in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 * 1e-12)
    }

    /// Minimum in seconds.
    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| Span::from_ps(self.min).as_secs_f64())
    }

    /// Maximum in seconds.
    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| Span::from_ps(self.max).as_secs_f64())
    }

    /// Quantiles in seconds, interpolated linearly between neighbours (the default of numpy and R).
    pub fn quantiles_s<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        let last = self.count.checked_sub(1)? as f64;
        let mut sorted = self.exact.clone();
        sorted.sort_unstable();
        Some(shares.map(|share| {
            let place = share.clamp(0.0, 1.0) * last;
            let below = place.floor();
            let [low, high] = [below, place.ceil()].map(|rank| self.ranked(&sorted, rank as u64) as f64);
            (low + (high - low) * (place - below)) * 1e-12
        }))
    }

    /// The value of this rank, counted from 0.
    fn ranked(&self, sorted: &[u64], rank: u64) -> u64 {
        if self.buckets.is_empty() {
            return sorted[rank as usize];
        }
        let mut before = 0;
        let bucket = self.buckets.iter().position(|count| {
            before += count;
            before > rank
        });
        bucket.map_or(self.max, middle).clamp(self.min, self.max)
    }

    fn note(&mut self, count: u64, sum: u128, min: u64, max: u64) {
        self.min = if self.count == 0 { min } else { self.min.min(min) };
        self.max = self.max.max(max);
        self.count += count;
        self.sum += sum;
    }

    /// Moves the stored values into a histogram.
    fn round(&mut self) {
        let exact = core::mem::take(&mut self.exact);
        exact.iter().for_each(|&ps| self.count_in(ps, 1));
    }

    fn count_in(&mut self, ps: u64, count: u64) {
        let bucket = bucket(ps);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += count;
    }
}

/// The bucket of a value: the position of its highest bit and the seven bits after it.
fn bucket(ps: u64) -> usize {
    let Some(octave) = ps.checked_ilog2().and_then(|log| log.checked_sub(BITS)) else {
        return ps as usize;
    };
    ((octave as usize) << BITS) + (ps >> octave) as usize
}

/// The value in the middle of a bucket.
const fn middle(bucket: usize) -> u64 {
    let octave = (bucket >> BITS).saturating_sub(1);
    let low = ((bucket - (octave << BITS)) as u64) << octave;
    low + (1 << octave) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn of(values: impl IntoIterator<Item = u64>) -> Sketch {
        let mut sketch = Sketch::default();
        values.into_iter().for_each(|ps| sketch.add(Span::from_ps(ps)));
        sketch
    }

    #[test]
    fn few_values_are_summed_up_exactly() {
        let sketch = of([3_000_000_000_000, 1_000_000_000_000, 2_000_000_000_000, 10_000_000_000_000]);
        assert_eq!((sketch.count(), sketch.mean_s()), (4, Some(4.0)));
        assert_eq!(sketch.quantiles_s([0.0, 0.5, 1.0]), Some([1.0, 2.5, 10.0]));
        assert_eq!((sketch.min_s(), sketch.max_s()), (Some(1.0), Some(10.0)));
        assert_eq!(Sketch::default().quantiles_s([0.5]), None);
    }

    #[test]
    fn a_bucket_holds_values_within_a_hundredth_of_each_other() {
        let mut stream = Stream::new(5, "sketch");
        for _ in 0..100_000 {
            let ps = stream.bits() >> (stream.below(64));
            let middle = middle(bucket(ps));
            assert!(middle.abs_diff(ps) <= ps / 256 + 1, "{ps} stands for {middle}");
        }
        assert!(bucket(u64::MAX) < 8192);
    }

    #[test]
    fn many_values_cost_no_more_and_are_known_within_their_error() {
        let mut stream = Stream::new(6, "sketch");
        let mut values: Vec<u64> = (0..50_000).map(|_| (stream.exponential(5e11)) as u64).collect();
        let sketch = of(values.iter().copied());
        values.sort_unstable();
        assert!(!sketch.is_exact() && sketch.buckets.len() < 8192 && sketch.exact.is_empty());
        for (share, place) in [(0.1, 4_999), (0.5, 24_999), (0.95, 47_499)] {
            let [got] = sketch.quantiles_s([share]).unwrap();
            let expected = values[place] as f64 * 1e-12;
            assert!((got / expected - 1.0).abs() < 0.005, "{share}: {got}, not {expected}");
        }
        let mean = values.iter().sum::<u64>() as f64 / 50_000.0 * 1e-12;
        assert!((sketch.mean_s().unwrap() / mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn merging_is_adding() {
        let (few, many) = (of(1..500), of((1..20_000).map(|n| n * 1000)));
        let mut both = few.clone();
        both.merge(&many);
        let whole = of((1..500).chain((1..20_000).map(|n| n * 1000)));
        assert_eq!(
            (both.count(), both.mean_s(), both.max_s()),
            (whole.count(), whole.mean_s(), whole.max_s())
        );
        let error = both.quantiles_s([0.5]).unwrap()[0] / whole.quantiles_s([0.5]).unwrap()[0] - 1.0;
        assert!(error.abs() < 0.004, "{error}");
        let mut exact = of(1..4000);
        exact.merge(&of(4000..8000));
        assert!(exact.is_exact());
        assert_eq!(exact.quantiles_s([0.5]).map(|[median]| (median * 1e12).round()), Some(4000.0));
    }
}
