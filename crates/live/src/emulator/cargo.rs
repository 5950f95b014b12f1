//! The bytes of packets under way, beside the places that the network has for them.

use super::manifest;
use crate::tun::{Checksum, Shape, complete_checksum};
use netspurt_sim::random::Stream;

/// Octets under way at most; beyond that nothing is let in. A queue without limit would take all memory there is.
const MOST: usize = 512 << 20;

/// A packet's bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Parcel {
    pub(super) bytes: Vec<u8>,
    /// What its sender has left undone. Who looks at the bytes completes it; another kernel does not need it.
    pub(super) checksum: Checksum,
    /// Whether the damage that the network speaks of has been done to the bytes.
    damaged: bool,
}

impl Parcel {
    /// With all that its sender has to do done.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// With nothing left undone.
    pub(super) fn complete(&mut self) {
        let checksum = std::mem::take(&mut self.checksum);
        complete_checksum(&mut self.bytes, &Shape { checksum, cut: None });
    }

    /// Makes one bit wrong, once, for the receiver's checksum to find.
    pub(super) fn damage(&mut self, stream: &mut Stream) {
        if !std::mem::replace(&mut self.damaged, true) {
            self.complete();
            manifest::damage(&mut self.bytes, stream);
        }
    }
}

/// All bytes under way. A place is used again, with the room that it has.
#[derive(Debug, Default)]
pub(super) struct Cargo {
    places: Vec<Parcel>,
    /// Octets that there is room for in all of them.
    room: usize,
}

impl Cargo {
    /// The packet at a place.
    pub(super) fn at(&mut self, place: u32) -> &mut Parcel {
        self.make(place);
        &mut self.places[place as usize]
    }

    /// Puts a packet at a place; false if too much is under way.
    #[must_use]
    pub(super) fn load(&mut self, place: u32, bytes: &[u8], checksum: Checksum) -> bool {
        self.make(place);
        let parcel = &mut self.places[place as usize];
        if self.room > MOST && parcel.bytes.capacity() < bytes.len() {
            return false;
        }
        self.room -= parcel.bytes.capacity();
        parcel.bytes.clear();
        parcel.bytes.extend_from_slice(bytes);
        (parcel.checksum, parcel.damaged) = (checksum, false);
        self.room += parcel.bytes.capacity();
        true
    }

    /// Puts the same packet at another place.
    pub(super) fn copy(&mut self, from: u32, to: u32) {
        let twin = self.places[from as usize].clone();
        self.put(to, twin);
    }

    /// Puts a packet in the place of another.
    pub(super) fn put(&mut self, place: u32, parcel: Parcel) {
        self.make(place);
        let there = &mut self.places[place as usize];
        self.room += parcel.bytes.capacity();
        self.room -= there.bytes.capacity();
        *there = parcel;
    }

    /// How many places there ever were.
    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    fn make(&mut self, place: u32) {
        if self.places.len() <= place as usize {
            self.places.resize_with(place as usize + 1, Parcel::default);
        }
    }
}
