//! The parts of a run before they are combined, and the target values.

use netspurt_tcp::time::Span;

/// The target values of a run. A lost cycle counts as a delay of zero, as in the table of RFC 889.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target {
    /// Mean delay one way.
    pub mean: Span,
    /// Coefficient of variation.
    pub cov: f64,
    /// Number of lost cycles.
    pub lost: usize,
}

/// The parts of a run, before they are combined.
pub(super) struct Draft {
    pub(super) octets: Vec<u32>,
    /// The delay by length alone, relative to its mean.
    pub(super) by_length: Vec<f64>,
    pub(super) noise: Vec<f64>,
    /// The contribution of glitches, in multiples of the mean delay, for a mean height of 1.
    pub(super) glitch: Vec<f64>,
    pub(super) lost: Vec<bool>,
    pub(super) mean_s: f64,
}
