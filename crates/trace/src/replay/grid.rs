//! Many estimators over the same delays, on several cores.

use super::cycle::{Lanes, Rules, Tally};
use super::timer::{Timer, Visitor, alike, with_timers};
use super::trip::Trip;
use netspurt_tcp::rto::{Kind, RtoEstimator};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of timers replayed together: each delay is loaded once, and the processor overlaps their computations.
const LANES: usize = 4;

/// The input of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    /// The delays.
    pub trips: &'a [Trip],
    /// The estimators.
    pub kinds: &'a [Kind],
    /// The rules for each of them.
    pub rules: Rules,
    /// Number of blocks of about equal length, each with its own counters. An estimator keeps its state from block to
    /// block. At least 1.
    pub blocks: usize,
    /// Number of threads, at least 1.
    pub threads: usize,
}

/// Replays all estimators. Returns for each the tallies of its blocks, in order. Results do not depend on the number of
/// threads.
///
/// `go_on` is called in the calling thread, at the start and after each part. If it returns false, there is no result.
pub fn grid(work: Grid<'_>, mut go_on: impl FnMut() -> bool) -> Option<Vec<Vec<Tally>>> {
    let chunks = chunks(work.kinds);
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Vec<Mutex<Vec<Vec<Tally>>>> = chunks.iter().map(|_| Mutex::default()).collect();
    let one = || -> bool {
        let Some((chunk, result)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|at| Some((chunks.get(at)?, results.get(at)?)))
        else {
            return false;
        };
        *result.lock().unwrap_or_else(PoisonError::into_inner) =
            with_timers(chunk, Replay { work, stop: &stop });
        !stop.load(Ordering::Relaxed)
    };
    thread::scope(|scope| {
        for _ in 1..work.threads {
            scope.spawn(|| while one() {});
        }
        loop {
            if !go_on() {
                stop.store(true, Ordering::Relaxed);
            }
            if !one() {
                break;
            }
        }
    });
    (!stop.load(Ordering::Relaxed)).then(|| {
        results.into_iter().flat_map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
    })
}

/// Groups of kinds with the same type, at most as many as there are lanes.
fn chunks(kinds: &[Kind]) -> Vec<&[Kind]> {
    kinds.chunk_by(|one, other| alike(*one, *other)).flat_map(|run| run.chunks(LANES)).collect()
}

struct Replay<'a> {
    work: Grid<'a>,
    stop: &'a AtomicBool,
}

impl Visitor for Replay<'_> {
    type Out = Vec<Vec<Tally>>;

    fn visit<E: RtoEstimator>(self, timers: Vec<Timer<E>>) -> Self::Out {
        match <[Timer<E>; LANES]>::try_from(timers) {
            Ok(timers) => self.side_by_side(timers),
            Err(few) => few.into_iter().flat_map(|timer| self.side_by_side([timer])).collect(),
        }
    }
}

impl Replay<'_> {
    fn side_by_side<E: RtoEstimator, const N: usize>(&self, timers: [Timer<E>; N]) -> Vec<Vec<Tally>> {
        let mut lanes = Lanes::new(timers, self.work.rules);
        let mut tallies = vec![Vec::with_capacity(self.work.blocks); N];
        for piece in pieces(self.work.trips, self.work.blocks) {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            for (tallies, tally) in tallies.iter_mut().zip(lanes.replay(piece, &mut ())) {
                tallies.push(tally);
            }
        }
        tallies
    }
}

/// Splits delays into `count` parts, whose lengths differ by at most one.
fn pieces(trips: &[Trip], count: usize) -> impl Iterator<Item = &[Trip]> {
    let count = count.max(1);
    let edge = move |n: usize| (trips.len() as u128 * n as u128 / count as u128) as usize;
    (0..count).map(move |n| &trips[edge(n)..edge(n + 1)])
}
