//! Damage that the link does not notice: the packet arrives, and the receiving host's checksum finds it out.

use crate::random::{Chance, Stream};

/// Damages packets at random.
#[derive(Clone, Debug)]
pub struct Corrupt {
    chance: Chance,
    stream: Stream,
}

impl Corrupt {
    /// With this probability for each packet, drawing from `stream`.
    pub fn new(probability: f64, stream: Stream) -> Self {
        Self { chance: Chance::new(probability), stream }
    }

    /// Whether the next packet is damaged.
    pub fn damages(&mut self) -> bool {
        self.chance.happens(&mut self.stream)
    }
}
