//! Drop-tail: a packet that arrives at a full queue is dropped.

use super::{Admission, Backlog};

/// A limit in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DropTailPackets {
    /// The maximum number of waiting packets.
    pub limit: u32,
}

impl Admission for DropTailPackets {
    #[inline]
    fn admits(&mut self, backlog: Backlog, _size: u32) -> bool {
        backlog.packets < self.limit
    }
}

/// A limit in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DropTailBytes {
    /// The maximum number of waiting bytes.
    pub limit: u64,
}

impl Admission for DropTailBytes {
    #[inline]
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool {
        backlog.bytes + u64::from(size) <= self.limit
    }
}
