//! The token bucket: r·t + b octets leave in any stretch of length t, and never more.
//!
//! Tokens are counted in bits times picoseconds per second, so that nothing is ever rounded: a bucket of rate r gains r of
//! them in a picosecond, and an octet takes 8 · 10^12.

/// What an octet takes.
const PER_BYTE: u128 = 8 * 1_000_000_000_000;

/// How fast a bucket fills, and how much it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Bits per second, above zero.
    pub rate: u64,
    /// Octets.
    pub burst: u64,
}

/// A bucket with what is in it. It begins full.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    rate: u128,
    most: u128,
    level: u128,
    /// As of this time.
    at: u64,
}

impl Tokens {
    pub(crate) fn new(bucket: Bucket) -> Self {
        let most = u128::from(bucket.burst) * PER_BYTE;
        Self { rate: u128::from(bucket.rate), most, level: most, at: 0 }
    }

    /// One that is never refilled by itself.
    pub(crate) fn of(burst: u64) -> Self {
        Self::new(Bucket { rate: 0, burst })
    }

    /// As many tokens as there would be at `now` without a bound. The past is not known any more.
    fn unbounded(&self, now: u64) -> u128 {
        self.level + self.rate * u128::from(now.saturating_sub(self.at))
    }

    /// The first time from `now` on at which there are tokens for so many octets, which must fit into the bucket.
    pub(crate) fn ready(&self, now: u64, size: u32) -> u64 {
        let (now, needed) = (now.max(self.at), u128::from(size) * PER_BYTE);
        let missing = needed.saturating_sub(self.unbounded(now));
        let wait = u64::try_from(missing.div_ceil(self.rate.max(1))).unwrap_or(u64::MAX);
        now.saturating_add(wait)
    }

    /// Whether a packet of so many octets can ever get its tokens.
    pub(crate) const fn holds(&self, size: u32) -> bool {
        size as u128 * PER_BYTE <= self.most
    }

    /// Fills the bucket as of `now`; what does not fit is returned.
    pub(crate) fn fill(&mut self, now: u64) -> u128 {
        let level = self.unbounded(now);
        self.at = self.at.max(now);
        self.pour(level)
    }

    /// Puts in these instead of what there is; what does not fit is returned.
    fn pour(&mut self, level: u128) -> u128 {
        self.level = level.min(self.most);
        level - self.level
    }

    /// Puts in more tokens.
    pub(crate) fn add(&mut self, tokens: u128) {
        let _ = self.pour(self.level + tokens);
    }

    /// Takes tokens for so many octets, if there are enough. Before, it is to be [filled](Self::fill).
    pub(crate) fn take(&mut self, size: u32) -> bool {
        let Some(left) = self.level.checked_sub(u128::from(size) * PER_BYTE) else { return false };
        self.level = left;
        true
    }

    /// Whether there are tokens for so many octets.
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
        // An octet a microsecond.
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
