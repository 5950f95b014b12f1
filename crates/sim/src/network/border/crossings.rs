//! Packets that have crossed the border between two parts of a network.

use crate::network::packet::{Packet, Stage};

/// Packets in flight through border channels into one other part of the network. Packets of the same channel are in order.
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    passages: Vec<Crossing>,
    /// The packets, separate from the data that is needed first.
    packets: Vec<Packet>,
    /// When the first of them arrives.
    first: u64,
}

/// The passage of a packet through a border channel.
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
    pub(in crate::network) fn push(&mut self, crossing: Crossing, packet: &Packet) {
        self.first = self.first.min(crossing.arrival);
        self.passages.push(crossing);
        self.packets.extend_from_slice(std::slice::from_ref(packet));
    }

    /// All packets in the list.
    pub(in crate::network) fn all(&self) -> impl Iterator<Item = (&Crossing, &Packet)> {
        self.passages.iter().zip(&self.packets)
    }

    /// Removes all packets from the list.
    pub(in crate::network) fn clear(&mut self) {
        self.first = u64::MAX;
        self.passages.clear();
        self.packets.clear();
    }
}
