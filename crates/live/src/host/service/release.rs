//! Returns the memory of closed connections to the system.
//!
//! glibc keeps freed memory for later allocations. After thousands of downloads it would keep all of it, scattered
//! between the few allocations that remain.

use netspurt_tcp::time::{Span, Time};

/// The number of connections after whose end memory is returned.
const ENOUGH: usize = 64;
/// Least time between two returns, because each visits all free memory.
const PERIOD: Span = Span::from_secs(1);

/// When memory is returned.
#[derive(Debug)]
pub(in crate::host) struct Release {
    /// Connections whose buffers were freed since the last return.
    ended: usize,
    /// The time of the next return, if enough connections have ended by then.
    next: Time,
}

impl Default for Release {
    fn default() -> Self {
        Self { ended: 0, next: Time::ZERO }
    }
}

impl Release {
    /// The buffers of a connection were freed.
    pub(in crate::host) const fn note(&mut self) {
        self.ended += 1;
    }

    /// When [`pass`](Self::pass) must be called.
    pub(in crate::host) const fn deadline(&self) -> Time {
        if self.ended < ENOUGH { Time::NEVER } else { self.next }
    }

    /// Returns memory if it is time, after `free` has freed what the host keeps for later.
    pub(in crate::host) fn pass(&mut self, now: Time, free: impl FnOnce()) {
        if self.deadline() <= now {
            free();
            (self.ended, self.next) = (0, now + PERIOD);
            trim();
        }
    }
}

/// Returns free memory of the allocator to the system.
#[cfg(target_env = "gnu")]
fn trim() {
    #[expect(unsafe_code, reason = "no library offers a safe function for this call")]
    // SAFETY: the function takes no pointer and may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators return it themselves.
#[cfg(not(target_env = "gnu"))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_returned_after_many_connections_and_at_most_once_in_a_period() {
        let mut release = Release::default();
        for _ in 1..ENOUGH {
            release.note();
        }
        assert!(release.deadline().is_never());
        release.note();
        let now = Time::ZERO + Span::from_secs(5);
        let mut freed = 0;
        release.pass(now, || freed += 1);
        release.pass(now, || freed += 1);
        assert_eq!(freed, 1);
        assert!(release.deadline().is_never());
        for _ in 0..ENOUGH {
            release.note();
        }
        assert_eq!(release.deadline(), now + PERIOD);
    }
}
