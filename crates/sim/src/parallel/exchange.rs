//! The barrier at the end of each window, and the messages that the threads of a run exchange there.

use crate::world::Messages;
use netspurt_tcp::time::Time;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// How often a thread at the barrier checks for the others before it yields its processor, if each thread has a processor.
const LOOKS: u32 = 2_000;

/// How often it yields its processor before it sleeps. To wake a thread takes longer than most waits. But if another program
/// or thread has the processor that the others need, a thread that does not sleep keeps it from them.
const YIELDS: u32 = 200;

/// The state that the threads of a run share. What is written after a window is read before the end of the next one. So
/// there are two sides, used in turn: no thread writes where another one still reads.
#[derive(Debug)]
pub(super) struct Exchange {
    threads: u32,
    /// See [`LOOKS`].
    looks: u32,
    /// See [`YIELDS`].
    yields: u32,
    arrived: AtomicU32,
    /// Number of times that all threads have passed the barrier.
    round: AtomicU32,
    /// A thread has panicked and will never arrive.
    broken: AtomicBool,
    /// The number of threads that sleep at the barrier, and what wakes them.
    sleeping: Mutex<u32>,
    woken: Condvar,
    sides: [Side; 2],
}

/// The data written after every other window.
#[derive(Debug)]
struct Side {
    /// Messages by receiver, then by sender.
    messages: Vec<Vec<Mutex<Messages>>>,
    /// The next event that each thread knows.
    next_due: Vec<AtomicU64>,
    /// Whether the run is to be stopped.
    stop: AtomicBool,
}

/// A thread has panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken;

impl Exchange {
    pub(super) fn new(threads: usize) -> Self {
        let side = || Side {
            messages: (0..threads).map(|_| (0..threads).map(|_| Mutex::default()).collect()).collect(),
            next_due: (0..threads).map(|_| AtomicU64::new(u64::MAX)).collect(),
            stop: AtomicBool::new(false),
        };
        let enough = thread::available_parallelism().is_ok_and(|processors| processors.get() >= threads);
        Self {
            threads: threads as u32,
            looks: if enough { LOOKS } else { 0 },
            yields: if enough { YIELDS } else { 1 },
            arrived: AtomicU32::new(0),
            round: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            sleeping: Mutex::new(0),
            woken: Condvar::new(),
            sides: [side(), side()],
        }
    }

    /// Publishes the messages of thread `me`, by receiver, and the next event in its own part or caused by its messages.
    /// Afterwards `all` holds the empty message lists of an earlier window, to be used again.
    pub(super) fn post(&self, side: usize, me: usize, all: &mut [Messages], next_due: Time) {
        let side = &self.sides[side];
        for (receiver, messages) in side.messages.iter().zip(all) {
            let mut place = receiver[me].lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *place, messages);
        }
        side.next_due[me].store(next_due.as_ps(), Ordering::Relaxed);
    }

    /// Stops the run after this window.
    pub(super) fn stop(&self, side: usize) {
        self.sides[side].stop.store(true, Ordering::Relaxed);
    }

    /// Waits until all threads have arrived. After the barrier a thread sees what the others wrote before it.
    pub(super) fn wait(&self) -> Result<(), Broken> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            self.wake();
            return Ok(());
        }
        let mut looks = 0;
        while !self.is_over(round) {
            looks += 1;
            if looks < self.looks {
                std::hint::spin_loop();
            } else if looks < self.looks + self.yields {
                thread::yield_now();
            } else {
                self.sleep(round);
            }
        }
        if self.round.load(Ordering::Acquire) == round { Err(Broken) } else { Ok(()) }
    }

    /// Whether no thread need wait any longer in this round.
    fn is_over(&self, round: u32) -> bool {
        self.round.load(Ordering::Acquire) != round || self.broken.load(Ordering::Relaxed)
    }

    /// Sleeps until this round is over.
    #[cold]
    fn sleep(&self, round: u32) {
        let mut sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        *sleeping += 1;
        // Checked with the lock held, which a thread takes before it wakes others: so no call is missed.
        let waits = |_: &mut u32| !self.is_over(round);
        let mut sleeping = self.woken.wait_while(sleeping, waits).unwrap_or_else(PoisonError::into_inner);
        *sleeping -= 1;
    }

    /// Wakes the threads that sleep, after the end of a round or a panic was written.
    fn wake(&self) {
        if *self.sleeping.lock().unwrap_or_else(PoisonError::into_inner) > 0 {
            self.woken.notify_all();
        }
    }

    /// The next event of the whole world; `None` if the run was stopped.
    pub(super) fn next_due(&self, side: usize) -> Option<Time> {
        let side = &self.sides[side];
        let next = side.next_due.iter().map(|next| next.load(Ordering::Relaxed)).min();
        (!side.stop.load(Ordering::Relaxed)).then(|| Time::from_ps(next.unwrap_or(u64::MAX)))
    }

    /// Calls `each` with the messages for thread `me`, in the order of their senders.
    pub(super) fn receive(&self, side: usize, me: usize, mut each: impl FnMut(&mut Messages)) {
        for messages in &self.sides[side].messages[me] {
            each(&mut messages.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Releases the other threads from the barrier if this thread panics.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Exchange::guard`].
pub(super) struct Guard<'a>(&'a Exchange);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
            self.0.wake();
        }
    }
}
