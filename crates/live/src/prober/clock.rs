//! The calendar clock, with which the kernel timestamps packets, and the monotonic clock.

use netspurt_trace::Stamp;
use nix::time::{ClockId, clock_gettime};

/// A time on both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// Calendar time. It jumps when the clock is set.
    pub wall: Stamp,
    /// Nanoseconds of the monotonic clock.
    pub steady: u64,
}

impl Moment {
    /// The present time.
    pub(super) fn now() -> Self {
        Self { wall: Stamp(read(ClockId::CLOCK_REALTIME)), steady: read(ClockId::CLOCK_MONOTONIC) }
    }
}

/// Both clocks exist on every Linux; if one could not be read, it would return zero.
fn read(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |time| {
        let (seconds, nanoseconds) = (time.tv_sec().unsigned_abs(), time.tv_nsec().unsigned_abs());
        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
    })
}
