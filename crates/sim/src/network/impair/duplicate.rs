//! Duplication: some packets arrive twice, the second right behind the first. The copy takes no time on the link.

use crate::random::{Chance, Stream};

/// Doubles packets at random.
#[derive(Clone, Debug)]
pub struct Duplicate {
    chance: Chance,
    stream: Stream,
}

impl Duplicate {
    /// With this probability for each packet, drawing from `stream`.
    pub fn new(probability: f64, stream: Stream) -> Self {
        Self { chance: Chance::new(probability), stream }
    }

    /// Whether the next packet is doubled.
    pub fn doubles(&mut self) -> bool {
        self.chance.happens(&mut self.stream)
    }
}
