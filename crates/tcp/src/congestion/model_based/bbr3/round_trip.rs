//! The minimum RTT and its probing (draft-ietf-ccwg-bbr, "ProbeRTT").
//!
//! There are two minima. The one of ten seconds is the estimate; the one of five seconds determines the time of the
//! next probe.

use crate::congestion::delivery_rate::RateSample;
use crate::congestion::model_based::path_model::{Lull, MIN_RTT_HOLDS};
use crate::time::{Span, Time};

/// `ProbeRTTInterval`.
const INTERVAL: Span = Span::from_secs(5);

/// The state of the estimate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RoundTrip {
    /// The estimate, and its time.
    pub(super) least: Option<Span>,
    pub(super) at: Time,
    /// The minimum since the last probe, its time, and whether it has expired.
    pub(super) recent: Option<Span>,
    pub(super) recent_at: Time,
    pub(super) expired: bool,
    /// The probe.
    pub(super) lull: Lull,
}

impl RoundTrip {
    /// Before the first acknowledgment of data.
    pub(super) fn begin(&mut self, least: Option<Span>, now: Time) {
        (self.least, self.at) = (least, now);
        (self.recent, self.recent_at) = (least, now);
    }

    /// `UpdateMinRTT()`. The sample of a delayed ACK does not refresh it.
    pub(super) fn update(&mut self, sample: &RateSample, now: Time) {
        self.expired = now > self.recent_at + INTERVAL;
        if let Some(rtt) = sample.rtt
            && (self.recent.is_none_or(|recent| rtt < recent) || (self.expired && !sample.maybe_delayed))
        {
            (self.recent, self.recent_at) = (Some(rtt), now);
        }
        let is_less = self.recent.is_some_and(|recent| self.least.is_none_or(|least| recent < least));
        if is_less || now > self.at + MIN_RTT_HOLDS {
            (self.least, self.at) = (self.recent, self.recent_at);
        }
    }
}
