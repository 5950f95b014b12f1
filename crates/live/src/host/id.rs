//! The name of a connection of a host.

/// Identifies a connection during the lifetime of the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    pub(super) slot: usize,
    pub(super) serial: u64,
}
