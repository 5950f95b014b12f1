//! The order in which stored packets leave a queue.

use crate::network::loss::Cause;
use crate::network::packet::Packet;
use netspurt_tcp::segment::Ecn;
use std::collections::VecDeque;

/// The source, destination and class of a packet, for queues that distinguish hosts or classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Origin {
    /// The source node.
    pub(crate) from: u32,
    /// The destination node.
    pub(crate) to: u32,
    /// Its differentiated services codepoint (RFC 2474).
    pub(crate) dscp: u8,
}

/// A waiting packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) slot: u32,
    /// Position in the network's list of hops: this channel's.
    pub(crate) position: u32,
    /// Bytes, framing included.
    pub(crate) size: u32,
    /// When it arrived.
    pub(crate) since: u64,
    /// Its ECN field. A mark that the queue sets is copied to the packet when it leaves.
    pub(crate) ecn: Ecn,
    /// Its source, destination and class, if the order [classifies](Order::classifies).
    pub(crate) origin: Origin,
}

/// A packet that leaves the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaving {
    /// It is transmitted now.
    Sent(Kept),
    /// It is dropped.
    Dropped(Kept, Cause),
}

/// The fate of a packet that arrives at an empty queue and a free transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// It is transmitted now.
    Sent(Kept),
    /// It is dropped.
    Dropped(Cause),
    /// It waits until the queue permits it to leave.
    Waits,
}

/// Packets that leave a queue, in order.
pub(crate) type Outbox = VecDeque<Leaving>;

/// Adds the packet that is sent, if there is one.
#[inline]
pub(super) fn send(out: &mut Outbox, sent: Option<Kept>) {
    if let Some(kept) = sent {
        out.push_back(Leaving::Sent(kept));
    }
}

/// The order in which packets leave, and which packets are dropped.
pub(super) trait Order: core::fmt::Debug + Send + Sync {
    /// Adds an accepted packet. Other packets may be dropped to make room.
    fn push(&mut self, kept: Kept, packet: &Packet, out: &mut Outbox);

    /// The transmitter is free at `now`: returns dropped packets, then the packet that is sent, if there is one.
    fn pop(&mut self, now: u64, out: &mut Outbox);

    /// No packet leaves before this time, however long the transmitter has been free.
    fn opens(&self) -> u64 {
        0
    }

    /// Makes packets leave whenever the transmitter is free, because a medium or a test decides.
    fn open(&mut self) {}

    /// The drop causes, in addition to those of a [`crate::network::queue::Discipline`].
    fn causes(&self) -> &'static [Cause] {
        &[]
    }

    /// Whether it needs the source, destination and class of packets.
    fn classifies(&self) -> bool {
        false
    }
}
