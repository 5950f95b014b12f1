//! The search for the path MTU by probes (RFC 4821, section 7; RFC 8899; Linux, `tcp_mtu_probe()`).

use crate::opening::negotiate::HEADERS;
use crate::ranges::Range;
use crate::time::{Span, Time};

/// The minimum MTU that a router may report (RFC 1191, section 3).
pub(in crate::send) const LEAST_MTU: u32 = 68;
/// The search ends when the distance of the bounds is below this (Linux, `tcp_probe_threshold`).
const THRESHOLD: u32 = 8;
/// After this time the search starts again, because the path MTU may have increased (RFC 4821, section 7.7; Linux,
/// `tcp_probe_interval`).
const INTERVAL: Span = Span::from_secs(600);

/// The state of the search. Lengths are of packets, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Search {
    /// The largest length that the path has delivered.
    pub(in crate::send) low: u32,
    /// The largest length that it may deliver.
    pub(in crate::send) high: u32,
    /// The start of the search.
    pub(in crate::send) since: Time,
    /// The outstanding probe and its length.
    pub(in crate::send) probe: Option<(Range, u32)>,
}

impl Search {
    /// The next length to probe: halfway between the bounds. After some time `widest` raises the upper bound again.
    pub(in crate::send) fn next(&self, now: Time, widest: u32) -> Option<(u32, u32)> {
        let middle = |high: u32| {
            let apart = high.saturating_sub(self.low);
            (apart >= THRESHOLD).then(|| (self.low + apart / 2, high))
        };
        middle(self.high).or_else(|| middle(if now - self.since >= INTERVAL { widest } else { 0 }))
    }

    /// Repeated timeouts: reduces the packet length, by half each time (Linux, `tcp_mtu_probing()`).
    pub(in crate::send) fn retreat(&mut self, base: u32) {
        let half = self.low.saturating_sub(HEADERS) / 2 + HEADERS;
        self.low = half.min(base).max(LEAST_MTU);
        self.probe = None;
    }
}
