//! The state of bandwidth probing.

use crate::time::{Span, Time};

/// The state of the present probe and the result of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Probing {
    pub(super) feedback: Feedback,
    /// New losses belong to faster transmissions and were not processed yet.
    pub(super) is_sampled: bool,
    /// The last probe exceeded the loss threshold; the probe ended at the level of the one before it.
    pub(super) too_high: bool,
    pub(super) cautious: bool,
    /// The start of the cycle, the wait before the next probe, and the rounds since the last probe.
    pub(super) began: Time,
    pub(super) wait: Span,
    pub(super) rounds_since: u64,
    /// The bytes acknowledged per increase of the upper bound by one segment, the bytes since the last increase, and
    /// the rounds of the increase.
    pub(super) per_segment: u64,
    pub(super) acked: u64,
    pub(super) doublings: u32,
}

/// The part of the cycle to which the arriving ACKs belong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Feedback {
    /// Of no probe.
    #[default]
    None,
    /// Of what left before the probe.
    Refilling,
    Starting,
    /// Of the probe,
    Probe,
    /// though it is over.
    Stopping,
}
