//! Where the threads of a run meet after each window.

use crate::world::Told;
use netspurt_tcp::time::Time;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How often a thread looks whether the others have come before it lets somebody else have its processor, if each thread has one
/// of its own.
const LOOKS: u32 = 2_000;

/// What the threads of a run have in common. What is written after one window is read before the end of the next one, so there
/// are two of each: nobody writes where another one still reads.
#[derive(Debug)]
pub(super) struct Meeting {
    threads: u32,
    /// See [`LOOKS`].
    looks: u32,
    arrived: AtomicU32,
    /// How often all have met.
    round: AtomicU32,
    /// A thread has panicked and will never come.
    broken: AtomicBool,
    sides: [Side; 2],
}

/// What is written after every other window.
#[derive(Debug)]
struct Side {
    /// What each thread tells each other one, by the listener and then by the teller.
    told: Vec<Vec<Mutex<Told>>>,
    /// When something is due next, as far as each thread knows.
    next_due: Vec<AtomicU64>,
    /// Whether the run is to be stopped.
    stop: AtomicBool,
}

/// A thread has panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken;

impl Meeting {
    pub(super) fn new(threads: usize) -> Self {
        let side = || Side {
            told: (0..threads).map(|_| (0..threads).map(|_| Mutex::default()).collect()).collect(),
            next_due: (0..threads).map(|_| AtomicU64::new(u64::MAX)).collect(),
            stop: AtomicBool::new(false),
        };
        let enough = thread::available_parallelism().is_ok_and(|processors| processors.get() >= threads);
        Self {
            threads: threads as u32,
            looks: if enough { LOOKS } else { 0 },
            arrived: AtomicU32::new(0),
            round: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            sides: [side(), side()],
        }
    }

    /// Leaves what thread `me` has to tell, and when something is due next as far as it knows: the times at which what it tells
    /// matters are among that.
    pub(super) fn tell(&self, side: usize, me: usize, all: &mut [Told], next_due: Time) {
        let side = &self.sides[side];
        for (listener, told) in side.told.iter().zip(all) {
            let mut place = listener[me].lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *place, told);
        }
        side.next_due[me].store(next_due.as_ps(), Ordering::Relaxed);
    }

    /// The run is to be stopped here.
    pub(super) fn stop(&self, side: usize) {
        self.sides[side].stop.store(true, Ordering::Relaxed);
    }

    /// Waits until all threads have come. What they have written before is to be seen behind.
    pub(super) fn wait(&self) -> Result<(), Broken> {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return Ok(());
        }
        let mut looks = 0;
        while self.round.load(Ordering::Acquire) == round {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            looks += 1;
            if looks < self.looks {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// When something is due next in the whole world; `None` if the run was stopped.
    pub(super) fn next_due(&self, side: usize) -> Option<Time> {
        let side = &self.sides[side];
        let next = side.next_due.iter().map(|next| next.load(Ordering::Relaxed)).min();
        (!side.stop.load(Ordering::Relaxed)).then(|| Time::from_ps(next.unwrap_or(u64::MAX)))
    }

    /// What each thread has told `me`, in the order of the threads.
    pub(super) fn hear(&self, side: usize, me: usize, mut each: impl FnMut(&mut Told)) {
        for told in &self.sides[side].told[me] {
            each(&mut told.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Tells the others, if this thread panics, that it will not come.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Meeting::guard`].
pub(super) struct Guard<'a>(&'a Meeting);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
