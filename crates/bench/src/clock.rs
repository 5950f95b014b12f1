//! The clocks of this process and of the machine.

use nix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Now, by the machine's monotonic clock.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// CPU time of this thread, in the kernel too.
pub(crate) fn cpu_of_thread() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
