//! The search for the path MTU by probes (RFC 4821, section 7; RFC 8899; Linux, `tcp_mtu_probe()`).

use crate::opening::negotiate::HEADERS;
use crate::ranges::Range;
use crate::time::{Span, Time};

/// No router asks for less (RFC 1191, section 3).
pub(in crate::send) const LEAST_MTU: u32 = 68;
/// Bounds that are nearer to each other are not worth a probe (Linux, `tcp_probe_threshold`).
const THRESHOLD: u32 = 8;
/// After so long it is asked whether the path has become wider (RFC 4821, section 7.7; Linux, `tcp_probe_interval`).
const INTERVAL: Span = Span::from_secs(600);

/// What probes know of the path. Lengths are of packets, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Search {
    /// What the path takes.
    pub(in crate::send) low: u32,
    /// What it may take.
    pub(in crate::send) high: u32,
    /// Since when these are sought.
    pub(in crate::send) since: Time,
    /// The probe that is under way, and how long it is.
    pub(in crate::send) probe: Option<(Range, u32)>,
}

impl Search {
    /// What is to be tried next: half way between the bounds, which `widest` widens again after some time.
    pub(in crate::send) fn next(&self, now: Time, widest: u32) -> Option<(u32, u32)> {
        let middle = |high: u32| {
            let apart = high.saturating_sub(self.low);
            (apart >= THRESHOLD).then(|| (self.low + apart / 2, high))
        };
        middle(self.high).or_else(|| middle(if now - self.since >= INTERVAL { widest } else { 0 }))
    }

    /// Packets get lost time and again: they are shorter from now on, half as long each time it goes on (Linux,
    /// `tcp_mtu_probing()`).
    pub(in crate::send) fn retreat(&mut self, base: u32) {
        let half = self.low.saturating_sub(HEADERS) / 2 + HEADERS;
        self.low = half.min(base).max(LEAST_MTU);
        self.probe = None;
    }
}
