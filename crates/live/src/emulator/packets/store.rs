//! The bytes of packets in the network, indexed by the network's slots.

use crate::emulator::packets::fields;
use crate::tun::{Checksum, Shape, complete_checksum};
use netspurt_sim::random::Stream;

/// Maximum of bytes in the network; further packets are refused. Otherwise a queue without limit could use up all
/// memory.
const MOST: usize = 512 << 20;

/// A packet's bytes.
#[derive(Clone, Debug, Default)]
pub(in crate::emulator) struct RealPacket {
    pub(in crate::emulator) bytes: Vec<u8>,
    /// The state of the checksum. The emulator completes it before it reads the bytes; another kernel does not need
    /// that.
    pub(in crate::emulator) checksum: Checksum,
    /// Whether the damage of the simulated network was applied to the bytes.
    damaged: bool,
}

impl RealPacket {
    /// A packet whose checksum is complete.
    pub(in crate::emulator) fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// Completes the checksum.
    pub(in crate::emulator) fn complete(&mut self) {
        let checksum = std::mem::take(&mut self.checksum);
        complete_checksum(&mut self.bytes, &Shape { checksum, cut: None });
    }

    /// Inverts one bit, once, so that the receiver's checksum is wrong.
    pub(in crate::emulator) fn damage(&mut self, stream: &mut Stream) {
        if !std::mem::replace(&mut self.damaged, true) {
            self.complete();
            fields::damage(&mut self.bytes, stream);
        }
    }
}

/// The bytes of all packets. Slots and their buffers are reused.
#[derive(Debug, Default)]
pub(in crate::emulator) struct PacketStore {
    places: Vec<RealPacket>,
    /// Capacity of all buffers in bytes.
    room: usize,
}

impl PacketStore {
    /// The packet in a slot.
    pub(in crate::emulator) fn at(&mut self, place: u32) -> &mut RealPacket {
        self.make(place);
        &mut self.places[place as usize]
    }

    /// Stores a packet in a slot; false if the limit is reached.
    #[must_use]
    pub(in crate::emulator) fn load(&mut self, place: u32, bytes: &[u8], checksum: Checksum) -> bool {
        self.make(place);
        let content = &mut self.places[place as usize];
        if self.room > MOST && content.bytes.capacity() < bytes.len() {
            return false;
        }
        self.room -= content.bytes.capacity();
        content.bytes.clear();
        content.bytes.extend_from_slice(bytes);
        (content.checksum, content.damaged) = (checksum, false);
        self.room += content.bytes.capacity();
        true
    }

    /// Copies a packet to another slot.
    pub(in crate::emulator) fn copy(&mut self, from: u32, to: u32) {
        let twin = self.places[from as usize].clone();
        self.put(to, twin);
    }

    /// Replaces the packet in a slot.
    pub(in crate::emulator) fn put(&mut self, place: u32, content: RealPacket) {
        self.make(place);
        let there = &mut self.places[place as usize];
        self.room += content.bytes.capacity();
        self.room -= there.bytes.capacity();
        *there = content;
    }

    /// Number of slots ever used.
    #[cfg(test)]
    pub(in crate::emulator) fn places(&self) -> usize {
        self.places.len()
    }

    fn make(&mut self, place: u32) {
        if self.places.len() <= place as usize {
            self.places.resize_with(place as usize + 1, RealPacket::default);
        }
    }
}
