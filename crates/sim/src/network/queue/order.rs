//! In which order the packets leave that a queue keeps.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use netspurt_tcp::segment::Ecn;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) slot: u32,
    /// Position in the network's list of hops: this channel's.
    pub(crate) position: u32,
    /// Octets, framing included.
    pub(crate) size: u32,
    /// When it came.
    pub(crate) since: u64,
    /// Its ECN field: a mark made here goes onto the packet when it leaves.
    pub(crate) ecn: Ecn,
}

/// A packet that waits no longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaving {
    /// It is transmitted now.
    Sent(Kept),
    /// It is dropped.
    Dropped(Kept, Cause),
}

/// What leaves a queue, in this order.
pub(crate) type Outbox = VecDeque<Leaving>;

/// In which order packets leave, and which of them do not leave at all.
pub(super) trait Order {
    /// A packet comes that may wait. Others may have to make room.
    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox);

    /// The transmitter is free at `now`: the packets that are dropped, then the one that is sent, if there is one.
    fn pop(&mut self, now: u64, out: &mut Outbox);
}
