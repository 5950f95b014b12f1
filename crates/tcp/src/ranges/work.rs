//! Elements looked at or moved: tests and fuzzers count them, instead of seconds, to see that what is kept costs O(log n).

use core::cell::Cell;

thread_local!(static DONE: Cell<u64> = const { Cell::new(0) });

pub(crate) fn add(elements: usize) {
    DONE.with(|done| done.set(done.get() + elements as u64));
}

/// A search among so many.
pub(crate) fn search(among: usize) {
    add(among.checked_ilog2().unwrap_or(0) as usize + 1);
}

/// What was counted since this was last asked.
pub fn take() -> u64 {
    DONE.with(Cell::take)
}
