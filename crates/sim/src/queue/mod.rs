//! Queue disciplines: what may wait for a link. One file each.
//!
//! A discipline here decides when a packet *arrives*, knowing what is waiting; that is all a FIFO link needs, because
//! the departure of every packet it lets in follows by arithmetic. Those that decide when a packet *departs* (CoDel), or
//! that change the order (fair queueing), cannot be computed ahead: a channel with such a discipline keeps its
//! packets itself, has a departure event of its own in the event queue, and takes no part in fusing (see
//! [`crate::route`]). Nothing else changes for them: [`crate::network`] asks a channel what became of a packet, and "it
//! waits" will be a third answer beside "it arrives then" and "it is dropped".

mod drop_tail;

pub use drop_tail::{DropTailBytes, DropTailPackets};

use crate::spec::QueueSpec;

/// What is waiting, the packet being transmitted not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Octets.
    pub bytes: u64,
}

/// A discipline that decides on arrival. It is asked only when the link is busy.
pub trait Admission {
    /// Whether a packet of `size` octets may join `backlog`.
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool;
}

/// The built-in disciplines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Everything waits.
    Unlimited,
    /// Drop-tail, counted in packets.
    DropTailPackets(DropTailPackets),
    /// Drop-tail, counted in octets.
    DropTailBytes(DropTailBytes),
}

impl Discipline {
    /// The discipline that `spec` asks for.
    pub const fn new(spec: QueueSpec) -> Self {
        match spec {
            QueueSpec::Unlimited => Self::Unlimited,
            QueueSpec::Packets(limit) => Self::DropTailPackets(DropTailPackets { limit }),
            QueueSpec::Bytes(limit) => Self::DropTailBytes(DropTailBytes { limit }),
        }
    }
}

impl Admission for Discipline {
    #[inline]
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::DropTailPackets(queue) => queue.admits(backlog, size),
            Self::DropTailBytes(queue) => queue.admits(backlog, size),
        }
    }
}
