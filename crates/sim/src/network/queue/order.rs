//! In which order the packets leave that a queue keeps.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use netspurt_tcp::segment::Ecn;
use std::collections::VecDeque;

/// Whose packet it is: what a queue that tells hosts or classes apart wants to know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Origin {
    /// The node that sent it.
    pub(crate) from: u32,
    /// The node that it is for.
    pub(crate) to: u32,
    /// Its differentiated services codepoint (RFC 2474).
    pub(crate) dscp: u8,
}

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) slot: u32,
    /// Position in the network's list of hops: this channel's.
    pub(crate) position: u32,
    /// Bytes, framing included.
    pub(crate) size: u32,
    /// When it came.
    pub(crate) since: u64,
    /// Its ECN field: a mark made here goes onto the packet when it leaves.
    pub(crate) ecn: Ecn,
    /// Whose it is, where the order [classifies](Order::classifies).
    pub(crate) origin: Origin,
}

/// A packet that waits no longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaving {
    /// It is transmitted now.
    Sent(Kept),
    /// It is dropped.
    Dropped(Kept, Cause),
}

/// What becomes of a packet that finds nobody waiting and the transmitter free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// It is transmitted now.
    Sent(Kept),
    /// It is dropped.
    Dropped(Cause),
    /// It waits until the queue lets it leave.
    Waits,
}

/// What leaves a queue, in this order.
pub(crate) type Outbox = VecDeque<Leaving>;

/// In which order packets leave, and which of them do not leave at all.
pub(super) trait Order: core::fmt::Debug + Send + Sync {
    /// A packet comes that may wait. Others may have to make room.
    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox);

    /// The transmitter is free at `now`: the packets that are dropped, then the one that is sent, if there is one.
    fn pop(&mut self, now: u64, out: &mut Outbox);

    /// No packet leaves before this time, however long the transmitter has been free.
    fn opens(&self) -> u64 {
        0
    }

    /// Packets leave whenever the transmitter is free: a medium decides, or tests do.
    fn open(&mut self) {}

    /// Under which names it drops, beside what a [`crate::network::queue::Discipline`] keeps out.
    fn causes(&self) -> &'static [Cause] {
        &[]
    }

    /// Whether it has to know whose each packet is.
    fn classifies(&self) -> bool {
        false
    }
}
