//! The stack as packetdrill's two threads share it. The first thread runs the script and advances the virtual clock; the
//! second runs calls
//! that may block. The clock does not advance while the second thread runs, so results do not depend on the scheduler.

use crate::socket_options::BlockingMode;
use crate::stack::{SentPacket, Stack};
use netspurt_tcp::time::{Span, Time};
use nix::errno::Errno;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Real time for which the first thread waits for a call on the second thread to start. There is no notification of such calls.
const START_TIMEOUT: Duration = Duration::from_millis(2);
/// Real time for which the first thread waits for the second one to wait again or to return.
const RUN_TIMEOUT: Duration = Duration::from_millis(100);
/// `gettimeofday` at time zero of the stack: any time long after 1970.
const EPOCH_SECONDS: u64 = 1_500_000_000;

/// How long a call waits at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitLimit {
    /// Not at all.
    None,
    /// For this time.
    For(Span),
    /// Without limit.
    Unlimited,
}

impl WaitLimit {
    /// The limit of a call on a socket.
    pub(crate) fn of(mode: BlockingMode) -> Self {
        match mode {
            BlockingMode::Blocking => Self::Unlimited,
            BlockingMode::Nonblocking => Self::None,
        }
    }

    /// The timeout of poll and epoll: milliseconds; negative for no limit.
    pub(crate) fn milliseconds(timeout: i32) -> Self {
        match u64::try_from(timeout) {
            Ok(0) => Self::None,
            Ok(ms) => Self::For(Span::from_ms(ms)),
            Err(_) => Self::Unlimited,
        }
    }
}

/// What the second thread does.
#[derive(Debug)]
enum SecondThread {
    /// It is in no call, as far as is known.
    Idle,
    /// It is in a call that waits until this time. The call last checked its condition after `seen` events.
    Waiting { until: Time, seen: u64 },
    /// A call has returned, and packetdrill has not read the clock since.
    Returned,
}

impl SecondThread {
    /// Whether the clock must not advance: the call has not checked its condition since the last of `events`, or has returned.
    fn is_running(&self, events: u64) -> bool {
        match *self {
            Self::Idle => false,
            Self::Waiting { seen, .. } => seen < events,
            Self::Returned => true,
        }
    }
}

#[derive(Debug)]
struct Shared {
    stack: Stack,
    second: SecondThread,
    /// Number of packets received and timers run, for which a call may wait.
    events: u64,
}

/// The stack with the state of its two threads.
#[derive(Debug)]
pub(crate) struct SharedStack {
    shared: Mutex<Shared>,
    changed: Condvar,
    /// The thread that advances the clock.
    first: ThreadId,
}

impl SharedStack {
    /// The calling thread is the one that advances the clock.
    pub(crate) fn new(stack: Stack) -> Self {
        Self {
            shared: Mutex::new(Shared { stack, second: SecondThread::Idle, events: 0 }),
            changed: Condvar::new(),
            first: thread::current().id(),
        }
    }

    fn is_first_thread(&self) -> bool {
        thread::current().id() == self.first
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a call that never waits.
    pub(crate) fn with<T>(&self, call: impl FnOnce(&mut Stack) -> T) -> T {
        let mut shared = self.lock();
        let result = call(&mut shared.stack);
        self.mark_returned(&mut shared);
        result
    }

    /// Runs a call, and repeats it while it returns EAGAIN and the limit is not reached.
    pub(crate) fn call<T>(
        &self,
        limit: WaitLimit,
        mut attempt: impl FnMut(&mut Stack) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut shared = self.lock();
        let until = match limit {
            WaitLimit::None => Time::ZERO,
            WaitLimit::For(span) => shared.stack.now + span,
            WaitLimit::Unlimited => Time::NEVER,
        };
        loop {
            match attempt(&mut shared.stack) {
                Err(Errno::EAGAIN) if shared.stack.now < until => {}
                result => {
                    self.mark_returned(&mut shared);
                    return result;
                }
            }
            if self.is_first_thread() {
                // The script itself waits, so no packet can arrive: only timers can change the result.
                let next = shared.stack.next_deadline().min(until);
                if next.is_never() {
                    return Err(Errno::EAGAIN);
                }
                shared = self.advance(shared, next);
            } else {
                shared.second = SecondThread::Waiting { until, seen: shared.events };
                self.changed.notify_all();
                shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// A call returns. On the second thread it is complete when packetdrill has read the clock.
    fn mark_returned(&self, shared: &mut Shared) {
        if !self.is_first_thread() {
            shared.second = SecondThread::Returned;
            self.changed.notify_all();
        }
    }

    /// Lets a waiting call check its condition after an event, and return if it is met.
    fn notify<'a>(&'a self, mut shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        shared.events += 1;
        self.changed.notify_all();
        let running = |shared: &mut Shared| shared.second.is_running(shared.events);
        let result = self.changed.wait_timeout_while(shared, RUN_TIMEOUT, running);
        let mut shared = result.unwrap_or_else(PoisonError::into_inner).0;
        if matches!(shared.second, SecondThread::Returned) {
            shared.second = SecondThread::Idle;
        }
        shared
    }

    /// Gives the second thread time to start a call.
    fn wait_for_second<'a>(&'a self, shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        let idle = |shared: &mut Shared| matches!(shared.second, SecondThread::Idle);
        let result = self.changed.wait_timeout_while(shared, START_TIMEOUT, idle);
        let shared = result.unwrap_or_else(PoisonError::into_inner).0;
        if matches!(shared.second, SecondThread::Returned) { self.notify(shared) } else { shared }
    }

    /// When the next timer expires, or a waiting call reaches its limit.
    fn next_deadline(shared: &Shared) -> Time {
        let limit = match shared.second {
            SecondThread::Waiting { until, .. } => until,
            SecondThread::Idle | SecondThread::Returned => Time::NEVER,
        };
        shared.stack.next_deadline().min(limit)
    }

    /// Advances the clock to `to` and runs the timers that expire until then.
    fn advance<'a>(&'a self, mut shared: MutexGuard<'a, Shared>, to: Time) -> MutexGuard<'a, Shared> {
        loop {
            let next = Self::next_deadline(&shared);
            if next > to {
                shared.stack.now = shared.stack.now.max(to);
                return shared;
            }
            shared.stack.now = shared.stack.now.max(next);
            shared.stack.run_timers();
            shared = self.notify(shared);
        }
    }

    /// `usleep(3)`.
    pub(crate) fn sleep(&self, time: Span) {
        let shared = self.wait_for_second(self.lock());
        let to = shared.stack.now + time;
        drop(self.advance(shared, to));
    }

    /// `gettimeofday(2)` in microseconds. Each call advances the clock by 1 µs, because packetdrill polls it in loops, on
    /// the second
    /// thread too. The clock does not advance when the second thread reads the time at which its call returned.
    pub(crate) fn read_clock(&self) -> u64 {
        let mut shared = self.lock();
        if matches!(shared.second, SecondThread::Returned) && !self.is_first_thread() {
            shared.second = SecondThread::Idle;
            self.changed.notify_all();
        } else {
            let to = shared.stack.now + Span::from_us(1);
            shared = self.advance(shared, to);
        }
        wall_clock(shared.stack.now)
    }

    /// Passes a packet to the stack.
    pub(crate) fn receive(&self, packet: &[u8]) {
        let mut shared = self.lock();
        shared.stack.receive(packet);
        drop(self.notify(shared));
    }

    /// The next packet that the stack sends, and when. `None` if no timer can make it send one.
    pub(crate) fn next_packet(&self) -> Option<(Vec<u8>, u64)> {
        let mut shared = self.lock();
        if shared.stack.sent.is_empty() {
            shared = self.wait_for_second(shared);
        }
        loop {
            let now = shared.stack.now;
            if let Some(SentPacket { at, bytes }) = shared.stack.sent.pop_front_if(|packet| packet.at <= now)
            {
                return Some((bytes, wall_clock(at)));
            }
            let departure = shared.stack.sent.front().map_or(Time::NEVER, |packet| packet.at);
            let next = Self::next_deadline(&shared).min(departure);
            if next.is_never() {
                return None;
            }
            shared = self.advance(shared, next);
        }
    }
}

/// A time as `gettimeofday` returns it, in microseconds.
pub(crate) fn wall_clock(at: Time) -> u64 {
    EPOCH_SECONDS * 1_000_000 + at.as_ps() / 1_000_000
}
