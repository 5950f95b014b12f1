//! The token bucket: at most r·t + b bytes leave in any interval of length t.
//!
//! The unit of tokens is one bit times one picosecond per second, so no rounding occurs: a bucket of rate r gains r tokens
//! in a picosecond, and a byte takes 8 · 10^12.

/// The tokens of one byte.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// The rate and the size of a bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Bits per second, positive.
    pub rate: u64,
    /// Bytes.
    pub burst: u64,
}

/// A bucket with its tokens. It begins full.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    rate: u128,
    most: u128,
    level: u128,
    /// The time of its last update.
    at: u64,
}

impl Tokens {
    pub(crate) fn new(bucket: Bucket) -> Self {
        let most = u128::from(bucket.burst) * PER_BYTE;
        Self { rate: u128::from(bucket.rate), most, level: most, at: 0 }
    }

    /// A bucket that is never refilled by time.
    pub(crate) fn of(burst: u64) -> Self {
        Self::new(Bucket { rate: 0, burst })
    }

    /// The tokens at `now` without the bound of the size.
    fn unbounded(&self, now: u64) -> u128 {
        self.level + self.rate * u128::from(now.saturating_sub(self.at))
    }

    /// The first time from `now` on with tokens for this many bytes, which must fit into the bucket.
    pub(crate) fn ready(&self, now: u64, size: u32) -> u64 {
        let (now, needed) = (now.max(self.at), u128::from(size) * PER_BYTE);
        let missing = needed.saturating_sub(self.unbounded(now));
        let wait = u64::try_from(missing.div_ceil(self.rate.max(1))).unwrap_or(u64::MAX);
        now.saturating_add(wait)
    }

    /// Whether a packet of this many bytes can ever get its tokens.
    pub(crate) const fn holds(&self, size: u32) -> bool {
        size as u128 * PER_BYTE <= self.most
    }

    /// Fills the bucket up to `now`. Returns the excess tokens.
    pub(crate) fn fill(&mut self, now: u64) -> u128 {
        let level = self.unbounded(now);
        self.at = self.at.max(now);
        self.pour(level)
    }

    /// Replaces the tokens by these. Returns the excess tokens.
    fn pour(&mut self, level: u128) -> u128 {
        self.level = level.min(self.most);
        level - self.level
    }

    /// Adds tokens.
    pub(crate) fn add(&mut self, tokens: u128) {
        let _ = self.pour(self.level + tokens);
    }

    /// Takes tokens for this many bytes, if there are enough. [Fill](Self::fill) the bucket first.
    pub(crate) fn take(&mut self, size: u32) -> bool {
        let Some(left) = self.level.checked_sub(u128::from(size) * PER_BYTE) else { return false };
        self.level = left;
        true
    }

    /// Whether there are tokens for this many bytes.
    #[cfg(test)]
    const fn has(&self, size: u32) -> bool {
        self.level >= size as u128 * PER_BYTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn a_bucket_fills_at_its_rate_up_to_its_burst() {
        // A byte a microsecond.
        let mut tokens = Tokens::new(Bucket { rate: 8_000_000, burst: 1000 });
        assert!(tokens.take(1000) && !tokens.take(1));
        assert_eq!(
            [tokens.ready(0, 1), tokens.ready(0, 1000), tokens.ready(300 * US, 1000)],
            [1, 1000, 1000].map(|us| us * US)
        );
        tokens.fill(400 * US);
        assert!(tokens.take(400) && !tokens.has(1));
        assert_eq!(tokens.fill(2400 * US), 1000 * PER_BYTE, "more does not fit");
        assert!(tokens.take(1000) && !tokens.has(1));
        assert!(tokens.holds(1000) && !tokens.holds(1001));
    }

    #[test]
    fn a_time_is_never_too_early_by_a_fraction() {
        let mut tokens = Tokens::new(Bucket { rate: 7, burst: 1 });
        let mut now = 0;
        for _ in 0..100 {
            now = tokens.ready(now, 1);
            tokens.fill(now - u64::from(now > 0));
            assert!(now == 0 || !tokens.has(1), "a picosecond earlier it is not enough");
            tokens.fill(now);
            assert!(tokens.take(1));
        }
    }
}
