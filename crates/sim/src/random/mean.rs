//! Means of distributions with their bounds.

use crate::random::distribution::{Distribution, Family};

/// Steps of a numerical integral: the means of all families are within a thousandth of their closed forms.
const STEPS: u32 = 200_000;

/// The limit beyond which a normal number is neglected.
const FAR: f64 = 12.0;

impl Distribution {
    /// The mean of the drawn values; infinite for a power law without an upper bound whose exponent is 1 or less.
    pub fn mean(&self) -> f64 {
        let cut = |value: f64| value.max(self.min).min(self.max);
        match &self.family {
            Family::Constant(value) => cut(*value),
            Family::Pareto { shape, .. } | Family::Lomax { shape, .. }
                if *shape <= 1.0 && self.max.is_infinite() =>
            {
                f64::INFINITY
            }
            Family::LogNormal { median, sigma } => {
                let density = |z: f64| libm::exp(-z * z / 2.0) / libm::sqrt(core::f64::consts::TAU);
                sum(-FAR, FAR + 2.0 * sigma, |z| cut(median * libm::exp(sigma * z)) * density(z))
            }
            Family::Quantiles(table) => sum(0.0, 1.0, |share| cut(table.at(share))),
            Family::Uniform { from, to } => sum(0.0, 1.0, |share| cut(from + (to - from) * share)),
            // The others are functions of an exponential number.
            Family::Exponential { mean } => tail(1.0, |t| cut(mean * t)),
            Family::Pareto { least, shape } => tail(*shape, |t| cut(least * libm::exp(t / shape))),
            Family::Lomax { median, shape } => {
                let scale = median / libm::expm1(core::f64::consts::LN_2 / shape);
                tail(*shape, |t| cut(scale * libm::expm1(t / shape)))
            }
            Family::Weibull { scale, shape } => tail(1.0, |t| cut(scale * libm::pow(t, 1.0 / shape))),
        }
    }
}

/// The mean of a function of an exponential number that grows no faster than a power law of this exponent.
fn tail(shape: f64, value: impl Fn(f64) -> f64) -> f64 {
    // The remainder decreases as exp(-t · (1 - 1 / shape)); with a bound as exp(-t).
    let falls = if shape > 1.0 { (1.0 - 1.0 / shape).max(0.02) } else { 1.0 };
    sum(0.0, 40.0 / falls, |t| value(t) * libm::exp(-t))
}

/// A numerical integral.
fn sum(from: f64, to: f64, value: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(STEPS);
    (0..STEPS).map(|i| value(from + (f64::from(i) + 0.5) * step)).sum::<f64>() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::distribution::Quantiles;

    fn near(distribution: &Distribution, mean: f64) {
        let found = distribution.mean();
        assert!((found / mean - 1.0).abs() < 1e-3, "{distribution:?}: {found} instead of {mean}");
    }

    #[test]
    fn means_are_those_of_the_closed_forms() {
        near(&Distribution::constant(7.0), 7.0);
        near(&Family::Uniform { from: 2.0, to: 6.0 }.into(), 4.0);
        near(&Family::Exponential { mean: 3.0 }.into(), 3.0);
        near(&Family::Pareto { least: 2.0, shape: 1.5 }.into(), 6.0);
        near(&Family::Pareto { least: 2.0, shape: 3.0 }.into(), 3.0);
        near(&Family::LogNormal { median: 5.0, sigma: 1.0 }.into(), 5.0 * libm::exp(0.5));
        near(&Family::Weibull { scale: 2.0, shape: 2.0 }.into(), libm::sqrt(core::f64::consts::PI));
        // Lomax: the mean is the scale over the exponent less 1.
        near(&Family::Lomax { median: libm::pow(2.0, 0.5) - 1.0, shape: 2.0 }.into(), 1.0);
        let table = Quantiles::new(&[0.0, 0.5, 1.0], &[1.0, 2.0, 8.0]).unwrap();
        let mean = table.mean();
        near(&Family::Quantiles(table.into()).into(), mean);
    }

    #[test]
    fn bounds_count() {
        // The smaller of an exponential number and a bound has the mean 1 - exp(-bound).
        near(&Distribution::from(Family::Exponential { mean: 1.0 }).at_most(2.0), 1.0 - libm::exp(-2.0));
        // A power law with exponent 1 from 1 to b has the mean 1 + ln b.
        let cut = Distribution::from(Family::Pareto { least: 1.0, shape: 1.0 }).at_most(100.0);
        near(&cut, 1.0 + libm::log(100.0));
        assert!(Distribution::from(Family::Pareto { least: 1.0, shape: 1.0 }).mean().is_infinite());
    }
}
