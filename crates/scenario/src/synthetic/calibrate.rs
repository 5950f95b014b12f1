//! Makes a run with a given mean, coefficient of variation and number of losses.

use super::draft::{Draft, Target};
use std::fmt;

/// Steps of a bisection: enough to reach the precision of a float.
const STEPS: u32 = 64;

/// The largest height of glitches, in mean delays.
const HIGHEST: f64 = 1e6;

/// A coefficient of variation that a run cannot have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unreachable {
    /// The losses alone, counted as delays of zero, give more.
    LossesGiveMore {
        /// The value that they give.
        least: f64,
    },
    /// Without glitches the value is too small.
    NoMore {
        /// The largest possible value.
        most: f64,
    },
    /// Every cycle is lost, so there is no delay.
    AllLost,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LossesGiveMore { least } => write!(
                f,
                "the coefficient of variation cannot be reached: the losses alone, as delays of zero, give {least:.3}"
            ),
            Self::NoMore { most } => write!(
                f,
                "the coefficient of variation cannot be reached: without higher glitches there is no more than {most:.3}"
            ),
            Self::AllLost => f.write_str("every cycle would be lost: there must be fewer losses than cycles"),
        }
    }
}

/// The delays relative to their mean without glitches: the part from length and noise, with its variation reduced to the
/// fraction `spread`, plus glitches of mean `height`.
pub(super) fn blend(draft: &Draft, spread: f64, height: f64) -> impl Iterator<Item = f64> {
    let body = draft.by_length.iter().zip(&draft.noise).map(|(by_length, noise)| by_length * noise);
    body.zip(&draft.glitch).map(move |(body, glitch)| 1.0 + spread * (body - 1.0) + height * glitch)
}

/// Combines the parts so that the run has the target values. The height of glitches is chosen for this. If the variation is
/// too large without them, they are left out and the other variation is reduced.
pub(super) fn mix(draft: &Draft, target: &Target) -> Result<Vec<f64>, Unreachable> {
    if draft.lost.iter().all(|&lost| lost) {
        return Err(Unreachable::AllLost);
    }
    let cov = |spread, height| moments(draft, blend(draft, spread, height)).1;
    let (spread, height) = if cov(1.0, 0.0) >= target.cov {
        let least = cov(0.0, 0.0);
        if least > target.cov {
            return Err(Unreachable::LossesGiveMore { least });
        }
        (bisect(0.0, 1.0, |spread| cov(spread, 0.0) > target.cov), 0.0)
    } else {
        let most = cov(1.0, HIGHEST);
        if most < target.cov {
            return Err(Unreachable::NoMore { most });
        }
        // Powers of two in ascending order, to find the smallest height that suffices.
        let mut high = 1.0 / 1024.0;
        while cov(1.0, high) < target.cov && high < HIGHEST {
            high *= 2.0;
        }
        (1.0, bisect(0.0, high, |height| cov(1.0, height) > target.cov))
    };
    let scale = target.mean.as_secs_f64() / moments(draft, blend(draft, spread, height)).0;
    Ok(blend(draft, spread, height).map(|delay| scale * delay).collect())
}

/// Mean and coefficient of variation, a lost cycle counted as zero.
fn moments(draft: &Draft, delays: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (delay, lost) in delays.zip(&draft.lost) {
        let delay = if *lost { 0.0 } else { delay };
        sum += delay;
        squares += delay * delay;
    }
    let count = draft.lost.len() as f64;
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0).sqrt() / mean)
}

/// The point at which `beyond` changes from false to true.
fn bisect(mut low: f64, mut high: f64, beyond: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if beyond(middle) { high = middle } else { low = middle }
    }
    low
}
