//! Packets: plain values of two cache lines in a slab. No bytes, no reference counts.

use netspurt_tcp::segment::Segment;

/// Octets of the IPv4 header in front of every segment.
pub const IP_HEADER: u32 = 20;

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// What it carries.
    pub segment: Segment,
    /// Who receives it: a number that means something to the driver of the network.
    pub endpoint: u32,
    /// Octets, IP header included, without a link's own framing.
    pub size: u32,
    /// Which occupant of the endpoint's place is meant.
    pub generation: u16,
    /// Damaged on the way: the receiving host's checksum finds it.
    pub corrupted: bool,
}

/// What a host writes on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// Who receives it: a number that means something to the driver of the network.
    pub endpoint: u32,
    /// Which occupant of the endpoint's place is meant.
    pub generation: u16,
    /// Where its route begins in the network's list of hops.
    pub route: u32,
    /// Octets, IP header included.
    pub size: u32,
}

/// All packets on their way; a place is a `u32`.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Slab {
    /// A place for a packet, with the content of an earlier one.
    #[inline]
    pub(crate) fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.grow())
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        self.packets.push(Packet::default());
        (self.packets.len() - 1) as u32
    }

    pub(crate) fn insert(&mut self, packet: Packet) -> u32 {
        let slot = self.reserve();
        *self.get_mut(slot) = packet;
        slot
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> &Packet {
        &self.packets[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Packet {
        &mut self.packets[slot as usize]
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Packets under way.
    pub(crate) fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_two_cache_lines() {
        assert!(size_of::<Packet>() <= 128, "{}", size_of::<Packet>());
    }

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let a = slab.insert(Packet { size: 1, ..Packet::default() });
        let b = slab.insert(Packet { size: 2, ..Packet::default() });
        slab.remove(a);
        assert_eq!(slab.insert(Packet { size: 3, ..Packet::default() }), a);
        assert_eq!((slab.get(a).size, slab.get(b).size, slab.len()), (3, 2, 2));
    }
}
