//! The messages that the threads of a run exchange after each round, and how they wait for each other.
//!
//! No thread gets further ahead of another than [`SLACK`] rounds: before it begins round n, all have finished round n − `SLACK`.
//! So a thread that needs longer for one round than the other need not be waited for, if it needs less time for the next one.

use crate::world::Messages;
use netspurt_tcp::time::Time;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// The number of rounds that a packet needs from one part to another at least: the length of a round is the least delay between
/// two parts, divided by this number.
pub(super) const SLACK: u64 = 2;

/// The number of rounds whose messages are stored. Those of one round are received before the thread that wrote them is so many
/// rounds further.
const SIDES: u64 = 2 * SLACK;

/// How often a thread that waits checks for the others before it yields its processor, if each thread has a processor.
const LOOKS: u32 = 2_000;

/// How often it yields its processor before it sleeps. To wake a thread takes longer than most waits. But if another program
/// or thread has the processor that the others need, a thread that does not sleep keeps it from them.
const YIELDS: u32 = 200;

/// The state that the threads of a run share.
#[derive(Debug)]
pub(super) struct Exchange {
    /// See [`LOOKS`].
    looks: u32,
    /// See [`YIELDS`].
    yields: u32,
    posts: Vec<Post>,
    /// A thread has panicked and will never finish its round.
    broken: AtomicBool,
    /// The number of threads that sleep, and what wakes them.
    sleeping: AtomicU32,
    asleep: Mutex<()>,
    woken: Condvar,
}

/// What one thread tells the others, in cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Post {
    /// The number of rounds that it has finished.
    finished: AtomicU64,
    sides: [Side; SIDES as usize],
}

/// What it tells after a round.
#[derive(Debug)]
struct Side {
    /// Messages by receiver.
    messages: Vec<Mutex<Messages>>,
    /// The next event that the thread knows.
    next_due: AtomicU64,
    /// Whether the run is to be stopped.
    stop: AtomicBool,
}

/// A thread has panicked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken;

/// The place of the messages of a round.
const fn side(round: u64) -> usize {
    (round % SIDES) as usize
}

impl Exchange {
    pub(super) fn new(threads: usize) -> Self {
        let side = || Side {
            messages: (0..threads).map(|_| Mutex::default()).collect(),
            next_due: AtomicU64::new(u64::MAX),
            stop: AtomicBool::new(false),
        };
        let post = || Post { finished: AtomicU64::new(0), sides: core::array::from_fn(|_| side()) };
        let enough = thread::available_parallelism().is_ok_and(|processors| processors.get() >= threads);
        Self {
            looks: if enough { LOOKS } else { 0 },
            yields: if enough { YIELDS } else { 1 },
            posts: (0..threads).map(|_| post()).collect(),
            broken: AtomicBool::new(false),
            sleeping: AtomicU32::new(0),
            asleep: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// Thread `me` has finished a round. Publishes its messages by receiver, the next event in its own part or caused by these
    /// messages, and whether the run is to be stopped. Afterwards `all` holds the empty lists of an earlier round, to be used
    /// again.
    pub(super) fn post(&self, round: u64, me: usize, all: &mut [Messages], (next_due, stop): (Time, bool)) {
        let post = &self.posts[me];
        let side = &post.sides[side(round)];
        for (place, messages) in side.messages.iter().zip(all) {
            std::mem::swap(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), messages);
        }
        side.next_due.store(next_due.as_ps(), Ordering::Relaxed);
        side.stop.store(stop, Ordering::Relaxed);
        // In one order with the count of those that sleep: either that thread sees this round, or this thread sees that it sleeps.
        post.finished.store(round + 1, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) > 0 && self.is_over(round) {
            self.wake();
        }
    }

    /// Waits until all threads have finished a round. Then this thread sees what they have published.
    pub(super) fn wait(&self, round: u64) -> Result<(), Broken> {
        let mut looks = 0;
        while !self.is_over(round) {
            if self.broken.load(Ordering::Relaxed) {
                return Err(Broken);
            }
            looks += 1;
            if looks < self.looks {
                std::hint::spin_loop();
            } else if looks < self.looks + self.yields {
                thread::yield_now();
            } else {
                self.sleep(round);
            }
        }
        Ok(())
    }

    /// Whether all threads have finished a round.
    fn is_over(&self, round: u64) -> bool {
        self.posts.iter().all(|post| post.finished.load(Ordering::SeqCst) > round)
    }

    /// Sleeps until all threads have finished a round.
    #[cold]
    fn sleep(&self, round: u64) {
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        // Checked with the lock held, which a thread takes before it wakes others: so no call is missed.
        let waits = |(): &mut ()| !self.is_over(round) && !self.broken.load(Ordering::SeqCst);
        drop(self.woken.wait_while(asleep, waits));
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the threads that sleep, after the end of a round or a panic was written.
    #[cold]
    fn wake(&self) {
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
    }

    /// The next event of the whole world after a round that is over, but for what later rounds cause; `None` if the run was
    /// stopped.
    pub(super) fn next_due(&self, round: u64) -> Option<Time> {
        let sides = || self.posts.iter().map(|post| &post.sides[side(round)]);
        let next = sides().map(|side| side.next_due.load(Ordering::Relaxed)).min();
        let stop = sides().any(|side| side.stop.load(Ordering::Relaxed));
        (!stop).then(|| Time::from_ps(next.unwrap_or(u64::MAX)))
    }

    /// Calls `each` with the messages of a round for thread `me`, in the order of their senders.
    pub(super) fn receive(&self, round: u64, me: usize, mut each: impl FnMut(&mut Messages)) {
        for post in &self.posts {
            let place = &post.sides[side(round)].messages[me];
            each(&mut place.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Releases the other threads if this thread panics.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Exchange::guard`].
pub(super) struct Guard<'a>(&'a Exchange);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
        }
    }
}
