//! Independent bit errors: a packet of n bits is lost with probability 1 − (1 − BER)^n.

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::{Chance, Stream};

/// Bit errors at a constant rate.
#[derive(Clone, Debug)]
pub struct BitError {
    /// ln(1 − BER).
    log_right: f64,
    /// The chances of the packet sizes met last: traffic knows few sizes.
    known: [(u32, Chance); 4],
    oldest: u8,
}

impl BitError {
    /// Errors with probability `rate` for each bit.
    pub fn new(rate: f64) -> Self {
        Self { log_right: libm::log1p(-rate), known: [(0, Chance::default()); 4], oldest: 0 }
    }

    fn chance(&mut self, size: u32) -> Chance {
        if let Some(&(_, chance)) = self.known.iter().find(|(known, _)| *known == size) {
            return chance;
        }
        let chance = Chance::new(-libm::expm1(f64::from(size) * 8.0 * self.log_right));
        self.known[usize::from(self.oldest)] = (size, chance);
        self.oldest = (self.oldest + 1) % 4;
        chance
    }
}

impl LossProcess for BitError {
    fn loses(&mut self, _packet: &Packet, size: u32, stream: &mut Stream) -> bool {
        self.chance(size).happens(stream)
    }

    fn cause(&self) -> Cause {
        Cause::BitError
    }
}
