//! The network interface as a connection knows it.

use crate::congestion::pacing;
use crate::time::Time;

/// The interface as the connection knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interface {
    /// Its rate in bits per second; 0 if infinite.
    pub(super) rate: u64,
    /// When it has transmitted all segments.
    pub(super) free: Time,
}

impl Interface {
    /// A segment with `len` bytes of header and data is passed to it.
    pub(crate) fn take(&mut self, now: Time, len: u64) {
        if self.rate > 0 {
            self.free = self.free.max(now) + pacing::duration(8 * len, self.rate);
        }
    }

    /// When it has transmitted all segments.
    pub(crate) fn free(&self) -> Time {
        self.free
    }
}
