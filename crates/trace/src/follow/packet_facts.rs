//! What the analysis of a segment needs of its packet.

use crate::stamp::Stamp;

/// The facts about the packet of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketFacts {
    /// IPv4's identification; 0 if the packet has none.
    pub(super) identification: u16,
    /// Its number in the capture, from 1.
    pub(super) number: u64,
    /// Its time.
    pub(super) at: Stamp,
}
