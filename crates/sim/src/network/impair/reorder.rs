//! Reordering: some packets are held back, and those behind may overtake them.

use crate::random::{Chance, Stream};
use crate::spec::ReorderSpec;

/// Holds packets back at random.
#[derive(Clone, Debug)]
pub struct Reorder {
    chance: Chance,
    extra: u64,
    stream: Stream,
}

impl Reorder {
    /// As `spec` says, drawing from `stream`.
    pub fn new(spec: ReorderSpec, stream: Stream) -> Self {
        Self { chance: Chance::new(spec.probability), extra: spec.extra_delay.as_ps(), stream }
    }

    /// How many picoseconds the next packet is held.
    pub fn holds(&mut self) -> u64 {
        if self.chance.happens(&mut self.stream) { self.extra } else { 0 }
    }
}
