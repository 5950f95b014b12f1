//! A shaper: packets wait until a token bucket has tokens for them (Linux, tc-tbf).
//!
//! The queue that they wait in is the link's own. A second bucket, small and fast, can bound how fast a full bucket is
//! emptied. Of a queue that decides which packet leaves next, one packet at a time waits for its tokens.

use crate::network::token_bucket::bucket::{Bucket, Tokens};

/// What a shaper is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShaperSpec {
    /// The rate in the long run, and what may leave at once.
    pub bucket: Bucket,
    /// The highest rate, and what may leave at once even so: no less than a packet.
    pub peak: Option<Bucket>,
}

/// When packets may leave.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    bucket: Tokens,
    peak: Option<Tokens>,
}

impl Gate {
    pub(crate) fn new(spec: &ShaperSpec) -> Self {
        Self { bucket: Tokens::new(spec.bucket), peak: spec.peak.map(Tokens::new) }
    }

    fn buckets(&self) -> impl Iterator<Item = &Tokens> {
        core::iter::once(&self.bucket).chain(&self.peak)
    }

    /// Whether a packet of so many octets ever may leave.
    pub(crate) fn lets_through(&self, size: u32) -> bool {
        self.buckets().all(|bucket| bucket.holds(size))
    }

    /// The first time from `start` on at which so many octets may leave.
    pub(crate) fn ready(&self, start: u64, size: u32) -> u64 {
        self.buckets().map(|bucket| bucket.ready(start, size)).fold(start, u64::max)
    }

    /// They leave at `start`, no earlier than they may and than the packet before them.
    pub(crate) fn take(&mut self, start: u64, size: u32) {
        for bucket in core::iter::once(&mut self.bucket).chain(&mut self.peak) {
            bucket.fill(start);
            let taken = bucket.take(size);
            debug_assert!(taken, "a packet leaves when there are tokens for it");
        }
    }
}
