//! Prefetching, for a driver of many connections.

use crate::connection::Connection;
use std::hint::black_box;

impl Connection {
    /// Loads one field of each cache line of the connection. The loads overlap; a driver that needs the connection soon, and has
    /// something else to do until then, waits for memory once instead of several times.
    #[inline]
    pub fn fetch(&self) {
        let Self { snd, cx, rcv } = self;
        let send = u64::from(snd.cwnd()) ^ snd.space().written();
        let receive = rcv.nxt() ^ rcv.readable() ^ u64::from(rcv.is_finished());
        black_box(send ^ cx.stats.segments_received ^ receive);
        black_box(std::ptr::from_ref(self.config()));
    }
}
