//! Precise wake-ups of the loop.
//!
//! A sleep ends late because of timer and processor wake-up time, and on a busy machine because other threads run.
//! Against the first, the loop sleeps shorter and polls the clock for the rest; against the second, it requests a
//! higher priority.

use netspurt_tcp::time::{Span, Time};
use nix::errno::Errno;
use nix::sys::prctl;

/// Minimum time of polling before a deadline.
const LEAST: Span = Span::from_us(20);
/// Maximum time of polling, however late sleeps end, because programs need the processor too.
const MOST: Span = Span::from_us(250);
/// After so long without a sleep, the loop sleeps up to the deadline. The kernel stops a thread of higher priority for 50 ms
/// if it leaves others less than a twentieth of a second (`sched_rt_runtime_us`, and the fair server since Linux 6.12).
const MOST_AWAKE: Span = Span::from_ms(1);
/// A shorter wait is no sleep.
const LEAST_SLEEP: Span = Span::from_us(20);
/// Weight of a sleep that ends earlier than expected: one part of this number.
const MEMORY: u64 = 64;

/// A running estimate of how late sleeps end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wakefulness {
    margin: Span,
    /// The end of the last sleep.
    slept: Time,
}

impl Wakefulness {
    pub(super) const fn new() -> Self {
        Self { margin: Span::from_us(100), slept: Time::ZERO }
    }

    /// How long before a deadline a sleep that begins now should end.
    pub(super) fn margin(self, now: Time) -> Span {
        if now.since(self.slept) > MOST_AWAKE { Span::ZERO } else { self.margin }
    }

    /// Records a wait from `from` to `until`.
    pub(super) fn waited(&mut self, from: Time, until: Time) {
        if until.since(from) >= LEAST_SLEEP {
            self.slept = until;
        }
    }

    /// Records how late a sleep has ended.
    pub(super) fn overslept(&mut self, by: Span) {
        let wanted = (by.as_ps() + by.as_ps() / 4).clamp(LEAST.as_ps(), MOST.as_ps());
        let margin = self.margin.as_ps();
        let next = if wanted > margin { wanted } else { margin - (margin - wanted) / MEMORY };
        self.margin = Span::from_ps(next);
    }
}

/// Requests precise sleeps and a higher priority for this thread.
///
/// Without permission for the priority, or with a single processor, which programs need too, the priority stays as it
/// is.
pub(super) fn be_prompt() -> Result<(), Errno> {
    // Otherwise the sleeps of ordinary threads end up to 50 µs late.
    prctl::set_timerslack(1)?;
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() > 1) {
        let parameters = libc::sched_param { sched_priority: 1 };
        // SAFETY: the parameters live through the call, which only reads them.
        #[expect(unsafe_code, reason = "no library offers a safe function for this call")]
        let _ = unsafe {
            libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters)
        };
    }
    Ok(())
}

/// Restores the ordinary priority.
pub(super) fn be_ordinary() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: as above.
    #[expect(unsafe_code, reason = "no library offers a safe function for this call")]
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_is_awake_for_long_sleeps_up_to_the_deadline() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let mut wakefulness = Wakefulness::new();
        assert_eq!(wakefulness.margin(at(1000)), Span::from_us(100));
        assert_eq!(wakefulness.margin(at(1001)), Span::ZERO);
        wakefulness.waited(at(1001), at(1005));
        assert_eq!(wakefulness.margin(at(1006)), Span::ZERO, "too short to be a sleep");
        wakefulness.waited(at(1006), at(1106));
        assert_eq!(wakefulness.margin(at(1107)), Span::from_us(100));
    }

    #[test]
    fn the_margin_follows_late_sleeps_at_once_and_forgets_them_slowly() {
        let mut wakefulness = Wakefulness::new();
        wakefulness.overslept(Span::from_us(160));
        assert_eq!(wakefulness.margin(Time::ZERO), Span::from_us(200));
        wakefulness.overslept(Span::from_ms(5));
        assert_eq!(wakefulness.margin(Time::ZERO), MOST, "the margin is at its maximum");
        wakefulness.overslept(Span::ZERO);
        assert!(wakefulness.margin(Time::ZERO) > Span::from_us(246));
        (0..1000).for_each(|_| wakefulness.overslept(Span::ZERO));
        assert!(
            wakefulness.margin(Time::ZERO) < Span::from_us(21) && wakefulness.margin(Time::ZERO) >= LEAST
        );
    }
}
