//! The state of bandwidth probing.

use crate::time::{Span, Time};

/// The state of the present probe and the result of the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Probing {
    pub(super) feedback: Feedback,
    /// ACKs may show losses of what a probe sent faster, and none has ended the probe so far (`bw_probe_samples`).
    pub(super) is_sampled: bool,
    /// The last probe exceeded the loss threshold (`prev_probe_too_high`).
    pub(super) too_high: bool,
    /// The present probe ended at the upper bound, because the one before it exceeded the threshold (`stopped_risky_probe`).
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

/// The part of the cycle to which the arriving ACKs belong (`ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Feedback {
    /// They acknowledge data that was sent in no probe.
    #[default]
    None,
    /// The path is filled again before the probe. They acknowledge data from before that.
    Refilling,
    /// The probe has begun. They still acknowledge data from before it.
    Starting,
    /// They acknowledge data of the probe.
    Probe,
    /// They acknowledge data of the probe, which has ended.
    Stopping,
}
