//! The wall clock of the network: picoseconds since the start of the emulation, on the monotonic clock.

use netspurt_tcp::time::{Span, Time};
use netspurt_trace::Stamp;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

/// Position of the CPU steal time in the first line of `/proc/stat`, after the word `cpu`.
const STOLEN: usize = 8;

/// The start of the emulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    began_ns: u64,
    /// The calendar time at the start.
    calendar_ns: u64,
}

impl Clock {
    /// Starts the clock.
    pub(super) fn new() -> Self {
        Self { began_ns: read(ClockId::CLOCK_MONOTONIC), calendar_ns: read(ClockId::CLOCK_REALTIME) }
    }

    /// The present time.
    pub(super) fn now(self) -> Time {
        Time::ZERO + Span::from_ns(read(ClockId::CLOCK_MONOTONIC) - self.began_ns)
    }

    /// The calendar time of a network time; later changes of the calendar clock have no effect.
    pub(super) fn calendar(self, at: Time) -> Stamp {
        Stamp(self.calendar_ns.saturating_add(at.as_ps() / 1000))
    }
}

/// CPU steal time of this machine since its start, in seconds; `None` if the system does not report it.
pub(super) fn stolen_s() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: f64 = stat.lines().next()?.split_whitespace().nth(STOLEN)?.parse().ok()?;
    let second = sysconf(SysconfVar::CLK_TCK).ok().flatten()?;
    Some(ticks / second as f64)
}

/// These clocks exist on every Linux; if one could not be read, it would return zero.
fn read(clock: ClockId) -> u64 {
    clock_gettime(clock)
        .map_or(0, |time| time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_nsec().unsigned_abs())
}
