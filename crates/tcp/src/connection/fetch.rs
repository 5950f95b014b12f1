//! Prefetching, for a driver of many connections.

use crate::connection::Connection;
use std::hint::black_box;

impl Connection {
    /// Loads one field of each cache line of the connection. The loads overlap; a driver that needs the connection soon, and has
    /// something else to do until then, waits for memory once instead of several times.
    #[inline]
    pub fn fetch(&self) {
        let Self { snd, cx, rcv } = self;
        let receive = rcv.nxt() ^ rcv.readable() ^ u64::from(rcv.is_finished());
        black_box(snd.fetch() ^ cx.stats.segments_received ^ receive);
    }

    /// The same for what a connection stores elsewhere: its losses, its out-of-order data, and what it counts of both. Only once
    /// [`Self::fetch`] has loaded the connection these loads overlap, too.
    #[inline]
    pub fn fetch_losses(&self) {
        let Self { snd, cx, rcv } = self;
        if snd.has_losses() {
            black_box(snd.fetch_losses() ^ cx.fetch_counters());
        }
        if !rcv.is_in_order() {
            black_box(rcv.fetch_held() ^ cx.fetch_counters());
        }
    }
}

/// Whether fields at these offsets of an allocation of `size` bytes lie on all its cache lines, wherever it begins.
#[cfg(test)]
pub(crate) fn reach_every_line(size: usize, offsets: &[usize]) -> bool {
    let line = |base: usize, offset: usize| (base + offset) / 64;
    // The alignment of an allocation.
    (0..64).step_by(16).all(|base| {
        (0..=line(base, size - 1)).all(|each| offsets.iter().any(|&offset| line(base, offset) == each))
    })
}
