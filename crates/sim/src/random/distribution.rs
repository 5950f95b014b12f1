//! Distributions of sizes, pauses and counts, drawn by inverting the distribution function.
//!
//! Each draw takes the same number of random values, whatever its result: two for the log-normal, none for a constant, one
//! for all others. The functions come from `libm`, so a stream gives the same values on every machine; the square root is the
//! same everywhere (IEEE 754). Values have the unit of the caller: bytes, picoseconds, or pieces.

use crate::random::Stream;
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// A family of distributions, without bounds.
#[derive(Clone, PartialEq, Debug)]
pub enum Family {
    /// Always the same.
    Constant(f64),
    /// Uniform between two values.
    Uniform {
        /// Minimum.
        from: f64,
        /// Maximum.
        to: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: f64,
    },
    /// Pareto type I: a power law from its minimum on.
    Pareto {
        /// The minimum.
        least: f64,
        /// The exponent of the tail; the mean is finite above 1.
        shape: f64,
    },
    /// Pareto type II: a power law that begins at zero (Lomax 1954).
    Lomax {
        /// Median.
        median: f64,
        /// The exponent of the tail; the mean is finite above 1.
        shape: f64,
    },
    /// Log-normal.
    LogNormal {
        /// Median.
        median: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// Weibull: a stretched exponential (Weibull 1951).
    Weibull {
        /// Scale: 63 % of the values are smaller.
        scale: f64,
        /// Below 1 the tail is heavier than exponential.
        shape: f64,
    },
    /// A table of measured quantiles.
    Quantiles(Arc<Quantiles>),
}

/// A distribution with bounds: a value outside is replaced by the nearer bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Distribution {
    /// The family.
    pub family: Family,
    /// The lower bound.
    pub min: f64,
    /// The upper bound.
    pub max: f64,
}

impl From<Family> for Distribution {
    fn from(family: Family) -> Self {
        Self { family, min: 0.0, max: f64::INFINITY }
    }
}

impl Distribution {
    /// Always `value`.
    pub fn constant(value: f64) -> Self {
        Family::Constant(value).into()
    }

    /// The same with an upper bound.
    #[must_use]
    pub fn at_most(mut self, max: f64) -> Self {
        self.max = max;
        self
    }

    /// The next value.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.family.draw(stream).max(self.min).min(self.max)
    }

    /// The next length in bytes: an integer, at least 1.
    pub fn draw_bytes(&self, stream: &mut Stream) -> u64 {
        (self.draw(stream).round() as u64).max(1)
    }

    /// The next count.
    pub fn draw_count(&self, stream: &mut Stream) -> u32 {
        self.draw(stream).round() as u32
    }

    /// The next duration; the values are picoseconds.
    pub fn draw_span(&self, stream: &mut Stream) -> Span {
        Span::from_ps(self.draw(stream).round() as u64)
    }
}

impl Family {
    fn draw(&self, stream: &mut Stream) -> f64 {
        // `tail` is minus the logarithm of a number in (0, 1]: exponential with mean 1.
        let tail = |stream: &mut Stream| -libm::log1p(-stream.unit());
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { from, to } => from + (to - from) * stream.unit(),
            Self::Exponential { mean } => mean * tail(stream),
            Self::Pareto { least, shape } => least * libm::exp(tail(stream) / shape),
            Self::Lomax { median, shape } => {
                let scale = median / libm::expm1(core::f64::consts::LN_2 / shape);
                scale * libm::expm1(tail(stream) / shape)
            }
            Self::LogNormal { median, sigma } => median * libm::exp(sigma * normal(stream)),
            Self::Weibull { scale, shape } => scale * libm::pow(tail(stream), 1.0 / shape),
            Self::Quantiles(table) => table.at(stream.unit()),
        }
    }
}

/// A standard normal number (Box and Muller 1958; the second of the pair is not kept).
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * libm::log1p(-stream.unit())).sqrt();
    radius * libm::cos(core::f64::consts::TAU * stream.unit())
}

/// A table of quantiles. Between two of them the logarithm of the value is linear in the probability. Next to a quantile of
/// zero, which has no logarithm, the value itself is linear.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantiles {
    probabilities: Box<[f64]>,
    values: Box<[f64]>,
}

/// What is wrong with a table of quantiles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QuantileError {
    /// The numbers of probabilities and of values differ.
    Lengths(usize, usize),
    /// The first probability is not 0, or the last is not 1; these are the two.
    Span(f64, f64),
    /// The probability with this index is not larger than the one before.
    Probabilities(usize),
    /// The value with this index is smaller than the one before.
    Falls(usize),
    /// The value with this index is negative or not a number.
    Value(usize),
}

impl core::fmt::Display for QuantileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Lengths(p, v) => {
                write!(f, "{p} probabilities and {v} values: there must be as many of both, two at least")
            }
            Self::Span(from, to) => {
                write!(f, "the probabilities go from {from} to {to}: they must go from 0 to 1")
            }
            Self::Probabilities(at) => {
                write!(
                    f,
                    "the probability at position {} is not above the one before: they must rise",
                    at + 1
                )
            }
            Self::Falls(at) => {
                write!(f, "the value at position {} is below the one before: quantiles never fall", at + 1)
            }
            Self::Value(at) => write!(f, "the value at position {} must be a number, at least 0", at + 1),
        }
    }
}

impl core::error::Error for QuantileError {}

impl Quantiles {
    /// The table of these probabilities, from 0 to 1, and of the values of these quantiles.
    ///
    /// # Errors
    /// The first reason why they are not quantiles.
    pub fn new(probabilities: &[f64], values: &[f64]) -> Result<Self, QuantileError> {
        if probabilities.len() != values.len() || values.len() < 2 {
            return Err(QuantileError::Lengths(probabilities.len(), values.len()));
        }
        let rises = |pair: &[f64]| pair[0] < pair[1];
        if let Some(at) = probabilities.windows(2).position(|pair| !rises(pair)) {
            return Err(QuantileError::Probabilities(at + 1));
        }
        let (first, last) = (probabilities[0], probabilities[probabilities.len() - 1]);
        if first.abs() > 0.0 || (last - 1.0).abs() > 0.0 {
            return Err(QuantileError::Span(first, last));
        }
        if let Some(at) = values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
            return Err(QuantileError::Value(at));
        }
        if let Some(at) = values.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(QuantileError::Falls(at + 1));
        }
        Ok(Self { probabilities: probabilities.into(), values: values.into() })
    }

    /// The quantile of `probability`.
    pub fn at(&self, probability: f64) -> f64 {
        let above = self.probabilities.partition_point(|&p| p <= probability).clamp(1, self.values.len() - 1);
        let ([p0, p1], [v0, v1]) = self.segment(above);
        let share = ((probability - p0) / (p1 - p0)).clamp(0.0, 1.0);
        if v0 > 0.0 { v0 * libm::exp(share * libm::log(v1 / v0)) } else { v1 * share }
    }

    /// The mean of the drawn values, in closed form.
    pub fn mean(&self) -> f64 {
        (1..self.values.len())
            .map(|above| {
                let ([p0, p1], [v0, v1]) = self.segment(above);
                let mean = if v1 <= v0 {
                    v0
                } else if v0 > 0.0 {
                    (v1 - v0) / libm::log(v1 / v0)
                } else {
                    v1 / 2.0
                };
                (p1 - p0) * mean
            })
            .sum()
    }

    fn segment(&self, above: usize) -> ([f64; 2], [f64; 2]) {
        let both = |list: &[f64]| [list[above - 1], list[above]];
        (both(&self.probabilities), both(&self.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    /// Draws in ascending order.
    fn drawn(distribution: &Distribution) -> Vec<f64> {
        let mut stream = Stream::new(11, "test");
        let mut values: Vec<f64> = (0..DRAWS).map(|_| distribution.draw(&mut stream)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Compares draws with the distribution function `below` at nine places.
    fn agree(family: Family, below: impl Fn(f64) -> f64) {
        let values = drawn(&family.clone().into());
        for tenth in 1..10 {
            let value = values[DRAWS * tenth / 10];
            let (expected, got) = (tenth as f64 / 10.0, below(value));
            assert!((got - expected).abs() < 0.005, "{family:?}: {got} of {expected} lie below {value}");
        }
    }

    #[test]
    fn draws_follow_their_distribution_functions() {
        agree(Family::Uniform { from: 2.0, to: 6.0 }, |x| (x - 2.0) / 4.0);
        agree(Family::Exponential { mean: 3.0 }, |x| 1.0 - libm::exp(-x / 3.0));
        agree(Family::Pareto { least: 5.0, shape: 1.3 }, |x| 1.0 - libm::pow(5.0 / x, 1.3));
        let lambda = 1500.0 / (libm::pow(2.0, 1.0 / 1.2) - 1.0);
        agree(Family::Lomax { median: 1500.0, shape: 1.2 }, |x| 1.0 - libm::pow(1.0 + x / lambda, -1.2));
        agree(Family::Weibull { scale: 4.0, shape: 0.7 }, |x| 1.0 - libm::exp(-libm::pow(x / 4.0, 0.7)));
        agree(Family::LogNormal { median: 100.0, sigma: 2.0 }, |x| {
            0.5 * libm::erfc(-libm::log(x / 100.0) / (2.0 * core::f64::consts::SQRT_2))
        });
    }

    #[test]
    fn what_lies_outside_counts_as_the_bound() {
        let cut = Distribution {
            min: 100.0,
            ..Distribution::from(Family::Lomax { median: 1500.0, shape: 1.2 }).at_most(1e6)
        };
        let values = drawn(&cut);
        assert!(values[0] >= 100.0 && values[DRAWS - 1] <= 1e6, "{} {}", values[0], values[DRAWS - 1]);
        let lambda = 1500.0 / (libm::pow(2.0, 1.0 / 1.2) - 1.0);
        let beyond = libm::pow(1.0 + 1e6 / lambda, -1.2);
        let at_bound = values.iter().filter(|&&value| value >= 1e6).count() as f64 / DRAWS as f64;
        assert!((at_bound / beyond - 1.0).abs() < 0.25, "{at_bound} of {beyond}");
    }

    #[test]
    fn a_constant_takes_no_random_bits_and_a_size_is_never_zero() {
        let (mut stream, mut other) = (Stream::new(1, "x"), Stream::new(1, "x"));
        assert_eq!(Distribution::constant(0.2).draw_bytes(&mut stream), 1);
        assert_eq!(Distribution::constant(3.0).draw_count(&mut stream), 3);
        assert_eq!(stream.bits(), other.bits());
    }

    #[test]
    fn between_quantiles_the_logarithm_is_linear() {
        let table = Quantiles::new(&[0.0, 0.5, 1.0], &[10.0, 1000.0, 4000.0]).unwrap();
        for (p, value) in [(0.0, 10.0), (0.25, 100.0), (0.5, 1000.0), (0.75, 2000.0), (1.0, 4000.0)] {
            assert!((table.at(p) - value).abs() < 1e-9 * value, "{p}: {}", table.at(p));
        }
        let mean = 0.5 * 990.0 / libm::log(100.0) + 0.5 * 3000.0 / libm::log(4.0);
        assert!((table.mean() - mean).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_quantiles_is_refused() {
        let error = |p: &[f64], v: &[f64]| Quantiles::new(p, v).unwrap_err();
        assert_eq!(error(&[0.0, 1.0], &[1.0]), QuantileError::Lengths(2, 1));
        assert_eq!(error(&[0.0, 0.9], &[1.0, 2.0]), QuantileError::Span(0.0, 0.9));
        assert_eq!(error(&[0.1, 1.0], &[1.0, 2.0]), QuantileError::Span(0.1, 1.0));
        assert_eq!(error(&[0.0, 0.5, 0.5, 1.0], &[1.0; 4]), QuantileError::Probabilities(2));
        assert_eq!(error(&[0.0, f64::NAN, 1.0], &[1.0; 3]), QuantileError::Probabilities(1));
        assert_eq!(error(&[0.0, 0.5, 1.0], &[1.0, 3.0, 2.0]), QuantileError::Falls(2));
        assert_eq!(error(&[0.0, 1.0], &[-1.0, 2.0]), QuantileError::Value(0));
    }
}
