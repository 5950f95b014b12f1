//! A shaper: packets wait until a token bucket has tokens for them (Linux, tc-tbf).
//!
//! They wait in the queue of the link. A second bucket, small and fast, can limit the rate at which a full bucket is
//! emptied. If the queue chooses the next packet, one packet at a time waits for its tokens.

use crate::network::token_bucket::bucket::{Bucket, Tokens};

/// The configuration of a shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShaperSpec {
    /// The sustained rate and the burst.
    pub bucket: Bucket,
    /// The peak rate, and the burst at this rate: at least one packet.
    pub peak: Option<Bucket>,
}

/// The state of a shaper: when packets may leave.
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

    /// Whether a packet of this many bytes can ever leave.
    pub(crate) fn lets_through(&self, size: u32) -> bool {
        self.buckets().all(|bucket| bucket.holds(size))
    }

    /// The first time from `start` on at which this many bytes may leave.
    pub(crate) fn ready(&self, start: u64, size: u32) -> u64 {
        self.buckets().map(|bucket| bucket.ready(start, size)).fold(start, u64::max)
    }

    /// They leave at `start`, which is not before their permitted time and not before the previous packet.
    pub(crate) fn take(&mut self, start: u64, size: u32) {
        for bucket in core::iter::once(&mut self.bucket).chain(&mut self.peak) {
            bucket.fill(start);
            let taken = bucket.take(size);
            debug_assert!(taken, "a packet leaves when there are tokens for it");
        }
    }
}
