//! What a queue is asked when a packet arrives, and what it knows then.

use crate::network::loss::Cause;
use crate::spec::Room;

/// What is waiting, the packet being transmitted not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A discipline that decides on arrival. It is asked only when the link is busy.
pub trait Admission {
    /// Whether a packet of `size` bytes may join `backlog`.
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool;
}

impl Room {
    /// Whether more waits than there is room for.
    pub(crate) const fn is_exceeded_by(self, backlog: Backlog) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Packets(limit) => backlog.packets > limit,
            Self::Bytes(limit) => backlog.bytes > limit,
        }
    }
}

/// What a rule says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnArrival {
    /// Nothing.
    Pass,
    /// The packet is marked.
    Mark,
    /// It is dropped.
    Drop(Cause),
}
