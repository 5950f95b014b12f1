//! The two clocks: the calendar's, in which the kernel stamps what arrives, and one that never steps.

use netspurt_trace::Stamp;
use nix::time::{ClockId, clock_gettime};

/// A time on both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// On the calendar. It may step when the clock is set.
    pub wall: Stamp,
    /// Nanoseconds since some moment, the same for a whole run.
    pub steady: u64,
}

impl Moment {
    /// The time it is.
    pub(super) fn now() -> Self {
        Self { wall: Stamp(read(ClockId::CLOCK_REALTIME)), steady: read(ClockId::CLOCK_MONOTONIC) }
    }
}

/// Both clocks exist on every Linux; one that could not be read would stand at 0.
fn read(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |time| {
        let (seconds, nanoseconds) = (time.tv_sec().unsigned_abs(), time.tv_nsec().unsigned_abs());
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}
