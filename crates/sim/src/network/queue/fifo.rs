//! First in, first out, for stored packets.

use super::order::{Kept, Order, Outbox, send};
use crate::network::packet::Packet;
use crate::network::queue::ring::Ring;

/// Packets in order of arrival.
#[derive(Debug)]
pub(super) struct Fifo {
    packets: Ring<Kept>,
    bytes: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { packets: Ring::new(), bytes: 0 }
    }
}

impl Fifo {
    /// Waiting bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Waiting packets.
    pub(super) const fn len(&self) -> u32 {
        self.packets.len()
    }

    /// The first packet.
    pub(super) fn first(&self) -> Option<Kept> {
        self.packets.front()
    }

    pub(super) fn put(&mut self, packet: Kept) {
        self.packets.push_back(packet);
        self.bytes += u64::from(packet.size);
    }

    pub(super) fn take(&mut self) -> Option<Kept> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }
}

impl Order for Fifo {
    fn push(&mut self, kept: Kept, _packet: &Packet, _out: &mut Outbox) {
        self.put(kept);
    }

    fn pop(&mut self, _now: u64, out: &mut Outbox) {
        send(out, self.take());
    }
}
