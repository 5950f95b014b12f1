//! Independent packet errors.

use super::{Cause, LossProcess};
use crate::network::packet::Packet;
use crate::random::{Chance, Stream};

/// Each packet is lost with the same probability.
#[derive(Clone, Debug)]
pub struct PacketError(Chance);

impl PacketError {
    /// Losses with probability `rate` for each packet.
    pub fn new(rate: f64) -> Self {
        Self(Chance::new(rate))
    }
}

impl LossProcess for PacketError {
    fn loses(&mut self, _packet: &Packet, _size: u32, stream: &mut Stream) -> bool {
        self.0.happens(stream)
    }

    fn cause(&self) -> Cause {
        Cause::PacketError
    }
}
