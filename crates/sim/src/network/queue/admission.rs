//! The decision of a queue on an arriving packet, and its input.

use crate::network::loss::Cause;
use crate::spec::Room;

/// Waiting packets, without the packet that is being transmitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A discipline that decides on arrival. It is called only when the link is busy.
pub trait Admission {
    /// Whether a packet of `size` bytes may join `backlog`.
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool;
}

impl Room {
    /// Whether the backlog exceeds the limit.
    pub(crate) const fn is_exceeded_by(self, backlog: Backlog) -> bool {
        match self {
            Self::Unlimited => false,
            Self::Packets(limit) => backlog.packets > limit,
            Self::Bytes(limit) => backlog.bytes > limit,
        }
    }
}

/// The verdict of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnArrival {
    /// Nothing.
    Pass,
    /// The packet is marked.
    Mark,
    /// It is dropped.
    Drop(Cause),
}
