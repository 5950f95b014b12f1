//! Packets that have crossed the border between two parts of a network.

use crate::network::packet::{Packet, Stage};

/// Packets on their way through border channels into one other part of the network, in the order in which they passed each of
/// them.
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    passages: Vec<Crossing>,
    /// The packets themselves, apart from what is needed first.
    packets: Vec<Packet>,
    /// When the first of them arrives.
    first: u64,
}

/// How a packet passed a border channel.
#[derive(Clone, Copy, Debug)]
pub(in crate::network) struct Crossing {
    /// When it arrives at the far end.
    pub(in crate::network) arrival: u64,
    pub(in crate::network) stage: Stage,
    pub(in crate::network) channel: u32,
}

impl Default for Crossings {
    fn default() -> Self {
        Self { passages: Vec::new(), packets: Vec::new(), first: u64::MAX }
    }
}

impl Crossings {
    /// When the first packet arrives; [`u64::MAX`] if there is none.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    #[inline]
    pub(in crate::network) fn push(&mut self, crossing: Crossing, packet: Packet) {
        self.first = self.first.min(crossing.arrival);
        self.passages.push(crossing);
        self.packets.push(packet);
    }

    /// All of them; the list is empty then.
    pub(in crate::network) fn take(&mut self) -> impl Iterator<Item = (Crossing, Packet)> {
        self.first = u64::MAX;
        self.passages.drain(..).zip(self.packets.drain(..))
    }
}
