//! The result of a transmission: when a packet leaves.

/// What has left, and when the next packet may begin to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transmitted {
    /// The last bit has left.
    pub(crate) departure: u64,
    /// The transmitter is free from here on.
    pub(crate) free: u64,
}
