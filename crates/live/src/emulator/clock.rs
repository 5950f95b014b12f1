//! The wall clock as the network sees it: picoseconds since the emulation began, on the clock that never steps.

use netspurt_tcp::time::{Span, Time};
use netspurt_trace::Stamp;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

/// Where in the first line of `/proc/stat` the ticks stand that others took: behind the word `cpu`.
const STOLEN: usize = 8;

/// When the emulation began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    began_ns: u64,
    /// What the calendar said then.
    calendar_ns: u64,
}

impl Clock {
    /// It begins now.
    pub(super) fn new() -> Self {
        Self { began_ns: read(ClockId::CLOCK_MONOTONIC), calendar_ns: read(ClockId::CLOCK_REALTIME) }
    }

    /// The time it is.
    pub(super) fn now(self) -> Time {
        Time::ZERO + Span::from_ns(read(ClockId::CLOCK_MONOTONIC) - self.began_ns)
    }

    /// A time on the calendar, as if that had not been set since the emulation began.
    pub(super) fn calendar(self, at: Time) -> Stamp {
        Stamp(self.calendar_ns.saturating_add(at.as_ps() / 1000))
    }
}

/// For how many seconds since this machine's start whoever emulates it took its processors away; `None` where the
/// system does not say.
pub(super) fn stolen_s() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: f64 = stat.lines().next()?.split_whitespace().nth(STOLEN)?.parse().ok()?;
    let second = sysconf(SysconfVar::CLK_TCK).ok().flatten()?;
    Some(ticks / second as f64)
}

/// These clocks exist on every Linux; one that could not be read would stand.
fn read(clock: ClockId) -> u64 {
    clock_gettime(clock)
        .map_or(0, |time| time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_nsec().unsigned_abs())
}
