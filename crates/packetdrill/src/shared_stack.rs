//! Who waits for whom. packetdrill runs a script on one thread and calls that may block on a second one; the first drives the
//! clock. So that a verdict does not depend on the scheduler, the clock stands still while the second thread has something to do.

use crate::stack::{Left, Stack};
use netspurt_tcp::time::{Span, Time};
use nix::errno::Errno;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Real time that a call on the second thread gets to begin: nothing tells us that it is on its way.
const BEGIN: Duration = Duration::from_millis(2);
/// Real time after which a second thread that does not report back is given up.
const REPORT: Duration = Duration::from_millis(100);
/// What packetdrill's clock shows at the stack's origin: any time long after 1970.
const EPOCH_SECONDS: u64 = 1_500_000_000;

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// For so long.
    For(Span),
    /// For ever.
    Endless,
}

impl Patience {
    /// Of a call that blocks, or does not.
    pub(crate) fn blocking(blocks: bool) -> Self {
        if blocks { Self::Endless } else { Self::None }
    }

    /// A timeout of poll and epoll: milliseconds, negative for ever.
    pub(crate) fn milliseconds(timeout: i32) -> Self {
        match u64::try_from(timeout) {
            Ok(0) => Self::None,
            Ok(ms) => Self::For(Span::from_ms(ms)),
            Err(_) => Self::Endless,
        }
    }
}

/// The call that waits on the second thread.
#[derive(Debug)]
struct Waiter {
    until: Time,
    /// The count of happenings that it has looked at.
    seen: u64,
}

#[derive(Debug)]
struct Shared {
    stack: Stack,
    waiter: Option<Waiter>,
    /// How often something has happened that a waiter might wait for.
    happened: u64,
    /// A call on the second thread has returned, and has not asked for the time yet.
    reporting: bool,
}

/// The stack with its two threads.
#[derive(Debug)]
pub(crate) struct Machine {
    shared: Mutex<Shared>,
    changed: Condvar,
    /// The thread that drives the clock.
    driver: ThreadId,
}

impl Machine {
    /// The thread that calls this drives the clock.
    pub(crate) fn new(stack: Stack) -> Self {
        Self {
            shared: Mutex::new(Shared { stack, waiter: None, happened: 0, reporting: false }),
            changed: Condvar::new(),
            driver: thread::current().id(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that never waits.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&mut Stack) -> T) -> T {
        let mut shared = self.lock();
        let result = call(&mut shared.stack);
        self.report_later(&mut shared);
        result
    }

    /// A call that is tried again while it says EAGAIN and patience lasts.
    pub(crate) fn call<T>(
        &self,
        patience: Patience,
        mut attempt: impl FnMut(&mut Stack) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut shared = self.lock();
        let until = match patience {
            Patience::None => Time::ZERO,
            Patience::For(span) => shared.stack.now + span,
            Patience::Endless => Time::NEVER,
        };
        loop {
            match attempt(&mut shared.stack) {
                Err(Errno::EAGAIN) if shared.stack.now < until => {}
                result => {
                    shared.waiter = None;
                    self.report_later(&mut shared);
                    return result;
                }
            }
            if thread::current().id() == self.driver {
                // Nothing will arrive while the script itself waits: only time can help.
                let next = shared.stack.next_deadline().min(until);
                if next.is_never() {
                    return Err(Errno::EAGAIN);
                }
                shared = self.advance(shared, next);
            } else {
                shared.waiter = Some(Waiter { until, seen: shared.happened });
                self.changed.notify_all();
                shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// What a call on the second thread has to say is said when it has asked for the time.
    fn report_later(&self, shared: &mut Shared) {
        if thread::current().id() != self.driver {
            shared.reporting = true;
            self.changed.notify_all();
        }
    }

    /// Something has happened: a waiter looks whether it is what it waits for, and reports if it is.
    fn rouse<'a>(&'a self, mut shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        shared.happened += 1;
        let happened = shared.happened;
        self.changed.notify_all();
        let busy = |shared: &mut Shared| {
            shared.reporting || shared.waiter.as_ref().is_some_and(|waiter| waiter.seen < happened)
        };
        let result = self.changed.wait_timeout_while(shared, REPORT, busy);
        let mut shared = result.unwrap_or_else(PoisonError::into_inner).0;
        shared.reporting = false;
        shared
    }

    /// A call may be on its way on the second thread: lets it begin.
    fn let_begin<'a>(&'a self, shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        let nobody = |shared: &mut Shared| shared.waiter.is_none() && !shared.reporting;
        let result = self.changed.wait_timeout_while(shared, BEGIN, nobody);
        let shared = result.unwrap_or_else(PoisonError::into_inner).0;
        if shared.reporting { self.rouse(shared) } else { shared }
    }

    /// The next instant at which something happens by itself.
    fn next(shared: &Shared) -> Time {
        let waiter = shared.waiter.as_ref().map_or(Time::NEVER, |waiter| waiter.until);
        shared.stack.next_deadline().min(waiter)
    }

    /// Moves the clock to `to`, and carries out what is due on the way.
    fn advance<'a>(&'a self, mut shared: MutexGuard<'a, Shared>, to: Time) -> MutexGuard<'a, Shared> {
        loop {
            let next = Self::next(&shared);
            if next > to {
                shared.stack.now = shared.stack.now.max(to);
                return shared;
            }
            shared.stack.now = shared.stack.now.max(next);
            shared.stack.serve_deadlines();
            shared = self.rouse(shared);
        }
    }

    /// `usleep(3)`.
    pub(crate) fn sleep(&self, time: Span) {
        let shared = self.let_begin(self.lock());
        let to = shared.stack.now + time;
        drop(self.advance(shared, to));
    }

    /// `gettimeofday(2)`: microseconds. Looking moves the clock: packetdrill waits in a loop, on the second thread too until its
    /// call is due. Only the look with which that thread reports a call's end does not.
    pub(crate) fn time(&self) -> u64 {
        let mut shared = self.lock();
        if shared.reporting && thread::current().id() != self.driver {
            shared.reporting = false;
            self.changed.notify_all();
        } else {
            let to = shared.stack.now + Span::from_us(1);
            shared = self.advance(shared, to);
        }
        shown(shared.stack.now)
    }

    /// A packet arrives.
    pub(crate) fn arrive(&self, packet: &[u8]) {
        let mut shared = self.lock();
        shared.stack.arrive(packet);
        drop(self.rouse(shared));
    }

    /// The next packet that leaves, and when; `None` if none ever will.
    pub(crate) fn leave(&self) -> Option<(Vec<u8>, u64)> {
        let mut shared = self.lock();
        if shared.stack.left.is_empty() {
            shared = self.let_begin(shared);
        }
        loop {
            if let Some(Left { at, bytes }) = shared.stack.left.pop_front() {
                return Some((bytes, shown(at)));
            }
            let next = Self::next(&shared);
            if next.is_never() {
                return None;
            }
            shared = self.advance(shared, next);
        }
    }
}

/// An instant as packetdrill's clock shows it: microseconds.
fn shown(at: Time) -> u64 {
    EPOCH_SECONDS * 1_000_000 + at.as_ps() / 1_000_000
}
