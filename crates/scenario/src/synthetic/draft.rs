//! What a run is mixed from, and what it must come to.

use netspurt_tcp::time::Span;

/// What a run must come to. A lost cycle counts as a delay of zero, as in the table of RFC 889.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target {
    /// Mean delay one way.
    pub mean: Span,
    /// Coefficient of variation.
    pub cov: f64,
    /// Lost cycles.
    pub lost: usize,
}

/// The ingredients of a run, before they are mixed.
pub(super) struct Draft {
    pub(super) octets: Vec<u32>,
    /// The delay by length alone, relative to its mean.
    pub(super) by_length: Vec<f64>,
    pub(super) noise: Vec<f64>,
    /// What glitches add, in multiples of the mean delay, for a mean height of 1.
    pub(super) glitch: Vec<f64>,
    pub(super) lost: Vec<bool>,
    pub(super) mean_s: f64,
}
