//! The network interface below, as far as a connection knows it.

use crate::congestion::pacing;
use crate::time::Time;

/// The interface as the connection knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interface {
    /// Bits per second at which what has left is gone; 0 for at once.
    pub(super) rate: u64,
    /// When it is done with what has left.
    pub(super) free: Time,
}

impl Interface {
    /// A segment with `len` bytes of header and data is handed over.
    pub(crate) fn take(&mut self, now: Time, len: u64) {
        if self.rate > 0 {
            self.free = self.free.max(now) + pacing::duration(8 * len, self.rate);
        }
    }

    /// When it is done with what has left.
    pub(crate) fn free(&self) -> Time {
        self.free
    }
}
