//! Random numbers: one seed, and for each component its own stream, named by its place in the scenario.
//!
//! So if one component draws more numbers, or is added, the others draw the same numbers as before (common random numbers).
//! A stream is PCG (128-bit MCG, 64-bit output), seeded by SipHash-2-4-128 of the name under the scenario's seed. Both are
//! fixed algorithms, the same on every machine. Floating-point functions come from `libm`, compiled from the same source
//! everywhere.

pub mod distribution;
mod mean;

use core::hash::Hasher as _;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng as _;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of the component `name`, such as `link/satellite/earth->space/loss`.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut hasher = SipHasher24::new_with_keys(seed, 0x6e65_7473_7075_7274);
        hasher.write(name.as_bytes());
        Self(Pcg64Mcg::new(hasher.finish128().as_u128()))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0 … `bound` − 1; 0 if `bound` is 0. The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.unit())
    }
}

/// A probability, stored for comparison with 64 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chance(u64);

impl Chance {
    /// The probability, limited to 0 … 1.
    pub fn new(probability: f64) -> Self {
        Self((probability * 18_446_744_073_709_551_616.0) as u64)
    }

    /// Whether the event happens this time. Draws once, whatever the probability.
    #[inline]
    pub fn happens(self, stream: &mut Stream) -> bool {
        let bits = stream.bits();
        bits < self.0 || self.0 == u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| Stream::new(seed, name).bits();
        assert_eq!(draw(1, "link/a/loss"), draw(1, "link/a/loss"));
        assert_ne!(draw(1, "link/a/loss"), draw(2, "link/a/loss"));
        assert_ne!(draw(1, "link/a/loss"), draw(1, "link/b/loss"));
    }

    #[test]
    fn the_numbers_are_these_on_every_machine() {
        let mut stream = Stream::new(1, "link/satellite/earth->space/loss");
        let drawn = [stream.bits(), stream.bits(), stream.bits()];
        // Computed by an independent implementation of both algorithms.
        assert_eq!(
            drawn,
            [17_763_980_447_794_415_453, 12_371_751_421_776_483_599, 2_350_140_890_055_932_367]
        );
    }

    #[test]
    fn chances_of_zero_and_one_are_certain() {
        let mut stream = Stream::new(7, "x");
        assert!((0..1000).all(|_| Chance::new(1.0).happens(&mut stream)));
        assert!((0..1000).all(|_| !Chance::new(0.0).happens(&mut stream)));
    }

    #[test]
    fn moments_are_right() {
        let mut stream = Stream::new(3, "x");
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(10.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 10.0).abs() < 0.1, "{mean}");
        let hits = (0..n).filter(|_| Chance::new(0.3).happens(&mut stream)).count();
        assert!((hits as f64 / f64::from(n) - 0.3).abs() < 0.005);
        assert!((0..1000).all(|_| stream.below(7) < 7));
    }
}
