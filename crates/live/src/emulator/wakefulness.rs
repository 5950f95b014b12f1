//! How the loop comes back from sleep in time.
//!
//! A sleep ends late: by what the timer and the processor need to wake up, and, on a busy machine, by how long others
//! keep the processor. Against the first, the loop sleeps less than it could and looks at the clock for the rest;
//! against the second, it asks for priority over ordinary programs.

use netspurt_tcp::time::Span;
use nix::errno::Errno;
use nix::sys::prctl;

/// The loop looks at the clock for at least so long before something is due.
const LEAST: Span = Span::from_us(20);
/// And for no longer than this, however late sleeps end: the programs want the processor as well.
const MOST: Span = Span::from_us(250);
/// A sleep that ends sooner than expected counts for one part in so many.
const MEMORY: u64 = 64;

/// How late sleeps end lately.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wakefulness {
    margin: Span,
}

impl Wakefulness {
    pub(super) const fn new() -> Self {
        Self { margin: Span::from_us(100) }
    }

    /// So long before something is due a sleep is to end.
    pub(super) const fn margin(self) -> Span {
        self.margin
    }

    /// A sleep has ended so much later than it should.
    pub(super) fn overslept(&mut self, by: Span) {
        let wanted = (by.as_ps() + by.as_ps() / 4).clamp(LEAST.as_ps(), MOST.as_ps());
        let margin = self.margin.as_ps();
        let next = if wanted > margin { wanted } else { margin - (margin - wanted) / MEMORY };
        self.margin = Span::from_ps(next);
    }
}

/// Asks that this thread's sleeps end when they should, and that ordinary programs do not keep it from going on.
///
/// Where the second is not granted, or there is but one processor, which programs need too, the loop is one among them.
pub(super) fn be_prompt() -> Result<(), Errno> {
    // Without this, sleeps of ordinary threads end up to 50 µs later.
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

/// The thread is one among others again.
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
    fn the_margin_follows_late_sleeps_at_once_and_forgets_them_slowly() {
        let mut wakefulness = Wakefulness::new();
        wakefulness.overslept(Span::from_us(160));
        assert_eq!(wakefulness.margin(), Span::from_us(200));
        wakefulness.overslept(Span::from_ms(5));
        assert_eq!(wakefulness.margin(), MOST, "the margin is at its maximum");
        wakefulness.overslept(Span::ZERO);
        assert!(wakefulness.margin() > Span::from_us(246));
        (0..1000).for_each(|_| wakefulness.overslept(Span::ZERO));
        assert!(wakefulness.margin() < Span::from_us(21) && wakefulness.margin() >= LEAST);
    }
}
