//! Gamma-distributed numbers.

use netspurt_sim::random::Stream;

/// A gamma distribution with mean 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gamma {
    shape: f64,
}

impl Gamma {
    /// The distribution with this coefficient of variation, which is not negative; 0 always gives 1.
    pub(super) fn with_cov(cov: f64) -> Self {
        Self { shape: 1.0 / (cov * cov) }
    }

    /// Draws once (G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000).
    pub(super) fn draw(self, stream: &mut Stream) -> f64 {
        if self.shape > 1e12 {
            return 1.0;
        }
        // For a shape below 1 the method draws from the next larger shape (section 6).
        let (shape, boost) = if self.shape < 1.0 {
            (self.shape + 1.0, libm::pow(1.0 - stream.unit(), 1.0 / self.shape))
        } else {
            (self.shape, 1.0)
        };
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = normal(stream);
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && libm::log(1.0 - stream.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v * boost / self.shape;
            }
        }
    }
}

/// A standard normal number (Box and Muller).
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - stream.unit())).sqrt();
    radius * libm::cos(core::f64::consts::TAU * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_one_and_the_variation_as_requested() {
        for cov in [0.0, 0.1, 0.5, 1.0, 1.5] {
            let (gamma, mut stream) = (Gamma::with_cov(cov), Stream::new(1, "gamma"));
            let drawn: Vec<f64> = (0..200_000).map(|_| gamma.draw(&mut stream)).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
            assert!((mean - 1.0).abs() < 0.012, "{cov}: mean {mean}");
            assert!((variance.sqrt() - cov).abs() < 0.03 * cov + 1e-9, "{cov}: {}", variance.sqrt());
            assert!(drawn.iter().all(|x| *x > 0.0));
        }
    }
}
