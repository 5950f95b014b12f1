//! Packets that have crossed the border between two parts of a network.

use crate::network::packet::{Packet, Stage};

/// Packets in flight through border channels into one other part of the network. Packets of the same channel are in order.
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    passages: Vec<Crossing>,
    /// The packets, separate from the data that is needed first.
    packets: Vec<Packet>,
    /// None of them arrives before this time.
    first: u64,
}

/// Where a packet is when it crosses the border.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::network) enum Crossing {
    /// It has passed its border channel, the last hop of `stage`, and arrives at the far end at this time.
    Passed { arrival: u64, stage: Stage },
    /// It enters its border channel, the next hop of `stage`, at this time. The other part simulates that channel.
    Enters { at: u64, stage: Stage },
}

impl Default for Crossings {
    fn default() -> Self {
        Self { passages: Vec::new(), packets: Vec::new(), first: u64::MAX }
    }
}

impl Crossings {
    /// No packet arrives before this time; [`u64::MAX`] if there is none.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// Adds a packet that arrives at the far end of its border channel no earlier than at `earliest`.
    #[inline]
    pub(in crate::network) fn push(&mut self, crossing: Crossing, earliest: u64, packet: &Packet) {
        self.first = self.first.min(earliest);
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
