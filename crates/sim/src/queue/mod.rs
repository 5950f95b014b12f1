//! Queue disciplines: what may wait for a link. One file each.
//!
//! A [`Discipline`] decides when a packet *arrives*, knowing what is waiting; that is all a FIFO link needs, because
//! the departure of every packet it lets in follows by arithmetic. Those that change the order (resends first, fair
//! queueing), or decide when a packet *departs* (CoDel), cannot be computed ahead: a channel with such a queue keeps its
//! packets itself, has a departure event of its own in the event queue, and is not computed together with the channel
//! before it (see [`crate::route`]). A packet that comes to it may be told to wait: a third answer beside "it arrives
//! then" and "it is dropped". Beyond that point nothing is different.

mod drop_tail;
mod resend_first;

pub(crate) use resend_first::{Kept, ResendFirst};

pub use drop_tail::{DropTailBytes, DropTailPackets};

use crate::spec::{QueueSpec, Room};

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
    /// Who may wait under `spec`, in whatever order they leave.
    pub const fn new(spec: QueueSpec) -> Self {
        match spec {
            QueueSpec::Unlimited | QueueSpec::ResendFirst(Room::Unlimited) => Self::Unlimited,
            QueueSpec::Packets(limit) | QueueSpec::ResendFirst(Room::Packets(limit)) => {
                Self::DropTailPackets(DropTailPackets { limit })
            }
            QueueSpec::Bytes(limit) | QueueSpec::ResendFirst(Room::Bytes(limit)) => {
                Self::DropTailBytes(DropTailBytes { limit })
            }
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
