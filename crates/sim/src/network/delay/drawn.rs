//! A delay of its own for each packet, correlated with that of the packet before.
//!
//! Every shape is computed from a normal process of the first order (an AR(1)), whose autocorrelation falls as ρ^k. A
//! normal delay is that process itself. For the other shapes its probability is the argument of their quantile function
//! (a Gaussian copula). There the configured correlation is that of ranks; the normal one is ρ = 2 sin(π r / 6).

use crate::random::Stream;
use crate::random::distribution::{Quantiles, normal};
use netspurt_tcp::time::Span;
use std::sync::Arc;

/// What delays are drawn from.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// Their distribution.
    pub shape: Shape,
    /// How much of a packet's delay comes from that of the packet before, from 0 to below 1.
    pub correlation: f64,
}

/// The distribution of delays.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Normal; what lies below zero counts as zero.
    Normal {
        /// Mean.
        mean: Span,
        /// Standard deviation.
        sd: Span,
    },
    /// Anything between, alike.
    Uniform {
        /// The least.
        min: Span,
        /// The greatest.
        max: Span,
    },
    /// Pareto's first: a power law from its least value on.
    Pareto {
        /// The least.
        min: Span,
        /// The exponent of the tail.
        shape: f64,
        /// The greatest; what lies beyond counts as it.
        max: Span,
    },
    /// A table of measured quantiles, in picoseconds.
    Quantiles(Arc<Quantiles>),
}

impl Drawn {
    pub(super) fn typical(&self) -> Span {
        match &self.shape {
            Shape::Normal { mean, .. } => *mean,
            Shape::Uniform { min, max } => Span::from_ps(min.as_ps().midpoint(max.as_ps())),
            shape => Span::from_ps(shape.quantile(0.5) as u64),
        }
    }
}

impl Shape {
    /// The value in picoseconds that a share `u` of all lies below.
    fn quantile(&self, u: f64) -> f64 {
        let ps = |span: &Span| span.as_ps() as f64;
        match self {
            // Its values come from the process itself.
            Self::Normal { mean, .. } => ps(mean),
            Self::Uniform { min, max } => ps(min) + u * (ps(max) - ps(min)),
            Self::Pareto { min, shape, max } => (ps(min) * libm::exp(-libm::log1p(-u) / shape)).min(ps(max)),
            Self::Quantiles(table) => table.at(u),
        }
    }
}

/// The process at work.
#[derive(Clone, Debug)]
pub(super) struct Running {
    shape: Shape,
    /// Of the normal process, and what is left for the new part.
    rho: f64,
    rest: f64,
    last: Option<f64>,
}

impl Running {
    pub(super) fn new(spec: &Drawn) -> Self {
        let rho = match spec.shape {
            Shape::Normal { .. } => spec.correlation,
            _ => 2.0 * libm::sin(core::f64::consts::PI * spec.correlation / 6.0),
        };
        Self { shape: spec.shape.clone(), rho, rest: libm::sqrt(1.0 - rho * rho), last: None }
    }

    pub(super) fn next(&mut self, stream: &mut Stream) -> u64 {
        let fresh = normal(stream);
        let z = self.last.map_or(fresh, |last| self.rho * last + self.rest * fresh);
        self.last = Some(z);
        let ps = match &self.shape {
            Shape::Normal { mean, sd } => mean.as_ps() as f64 + sd.as_ps() as f64 * z,
            shape => shape.quantile(0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2)),
        };
        // Below zero it is zero.
        ps as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e9;

    /// Mean and standard deviation in milliseconds, and the autocorrelation at lags 1 and 2.
    fn moments(shape: Shape, correlation: f64) -> [f64; 4] {
        let mut process = Running::new(&Drawn { shape, correlation });
        let mut stream = Stream::new(8, "delay");
        let values: Vec<f64> = (0..200_000).map(|_| process.next(&mut stream) as f64 / MS).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let lag = |k: usize| {
            let pairs = values.iter().zip(&values[k..]);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n
        };
        let variance = lag(0);
        [mean, libm::sqrt(variance), lag(1) / variance, lag(2) / variance]
    }

    #[track_caller]
    fn assert_moments(got: [f64; 4], wanted: [f64; 4]) {
        for ((got, wanted), bound) in got.into_iter().zip(wanted).zip([0.02, 0.02, 0.02, 0.02]) {
            assert!((got - wanted).abs() < bound * wanted.abs().max(1.0), "{got} instead of {wanted}");
        }
    }

    const fn ms(n: u64) -> Span {
        Span::from_ms(n)
    }

    #[test]
    fn normal_delays_have_their_moments_and_their_correlation() {
        let shape = || Shape::Normal { mean: ms(50), sd: ms(5) };
        assert_moments(moments(shape(), 0.0), [50.0, 5.0, 0.0, 0.0]);
        assert_moments(moments(shape(), 0.8), [50.0, 5.0, 0.8, 0.64]);
    }

    #[test]
    fn uniform_delays_have_their_moments_and_their_correlation() {
        let shape = || Shape::Uniform { min: ms(10), max: ms(30) };
        assert_moments(moments(shape(), 0.0), [20.0, 20.0 / libm::sqrt(12.0), 0.0, 0.0]);
        // At lag 2 the copula's correlation is ρ², the uniforms' 6/π · asin(ρ² / 2).
        let rho = 2.0 * libm::sin(core::f64::consts::PI * 0.5 / 6.0);
        let second = 6.0 / core::f64::consts::PI * libm::asin(rho * rho / 2.0);
        assert_moments(moments(shape(), 0.5), [20.0, 20.0 / libm::sqrt(12.0), 0.5, second]);
    }

    #[test]
    fn pareto_delays_have_their_moments_and_quantiles_their_table() {
        let shape = Shape::Pareto { min: ms(10), shape: 5.0, max: Span::from_secs(1000) };
        // Mean a/(a−1), variance a/((a−1)²(a−2)), in units of the least.
        let [mean, sd, first, _] = moments(shape, 0.0);
        let (right, deviation) = (10.0 * 5.0 / 4.0, 10.0 * libm::sqrt(5.0 / (16.0 * 3.0)));
        assert!(
            (mean - right).abs() < 0.03 && (sd - deviation).abs() < 0.15 && first.abs() < 0.02,
            "{mean} {sd}"
        );
        let table = Quantiles::new(&[0.0, 0.5, 1.0], &[10.0 * MS, 20.0 * MS, 40.0 * MS]).unwrap();
        let mut process = Running::new(&Drawn { shape: Shape::Quantiles(table.into()), correlation: 0.3 });
        let mut stream = Stream::new(8, "delay");
        let n = 100_000;
        let below = (0..n).filter(|_| (process.next(&mut stream) as f64) < 20.0 * MS).count();
        assert!((below as f64 / f64::from(n) - 0.5).abs() < 0.01, "{below}");
    }

    #[test]
    fn a_normal_delay_is_never_negative() {
        let mut process =
            Running::new(&Drawn { shape: Shape::Normal { mean: ms(1), sd: ms(5) }, correlation: 0.0 });
        let mut stream = Stream::new(8, "delay");
        let none = (0..1000).filter(|_| process.next(&mut stream) == 0).count();
        // P(z < −0.2) = 0.42.
        assert!((370..470).contains(&none), "{none}");
    }
}
