//! The reaction to losses and marks: a long-term bound on the data in flight, which probing finds, and short-term
//! bounds until the next probe (draft-ietf-ccwg-bbr, "Updating the Model Upon Packet Loss").
//!
//! The draft calls them `inflight_longterm`, `inflight_shortterm` and `bw_shortterm`; Linux calls them `inflight_hi`,
//! `inflight_lo` and `bw_lo`.

use super::state::State;
use crate::congestion::delivery_rate::{LostSegment, RateSample};

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;

/// The bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// The last known bytes in flight without excessive loss.
    pub(super) inflight_hi: u64,
    /// Bounds on bytes in flight and on bytes per second until the next probe.
    pub(super) inflight_lo: u64,
    pub(super) rate_lo: u64,
}

impl Bounds {
    pub(super) const NONE: Self = Self { inflight_hi: INFINITE, inflight_lo: INFINITE, rate_lo: INFINITE };

    /// `ResetShortTermModel()`.
    pub(super) fn reset_short_term(&mut self) {
        (self.inflight_lo, self.rate_lo) = (INFINITE, INFINITE);
    }
}

/// The losses of one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LossRound {
    /// Whether there was a loss or a mark.
    pub(super) lossy: bool,
    pub(super) marked: bool,
    /// The number of separate lost ranges of the stream.
    pub(super) holes: u32,
}

/// The latest deliveries and losses. Rounds here start with a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Latest {
    /// The maxima of this round: bytes per second, and bytes per RTT.
    pub(super) rate: u64,
    pub(super) inflight: u64,
    /// The present round, and the round that the current ACK has ended, if any.
    pub(super) round: LossRound,
    pub(super) closed: Option<LossRound>,
    pub(super) end: u64,
    /// The end of the last lost range.
    pub(super) hole_end: u64,
}

impl Latest {
    /// `UpdateLatestDeliverySignals()`.
    pub(super) fn see(&mut self, sample: &RateSample) {
        self.closed = None;
        let Some(interval) = sample.interval else { return };
        self.rate = self.rate.max(interval.rate());
        self.inflight = self.inflight.max(interval.delivered);
        if interval.prior_delivered >= self.end {
            self.end = sample.delivered;
            self.closed = Some(core::mem::take(&mut self.round));
        }
    }

    /// `AdvanceLatestDeliverySignals()`.
    pub(super) fn advance(&mut self, sample: &RateSample) {
        if let (Some(_), Some(interval)) = (self.closed, sample.interval) {
            (self.rate, self.inflight) = (interval.rate(), interval.delivered);
        }
    }

    /// `ResetCongestionSignals()`.
    pub(super) fn reset(&mut self) {
        self.round = LossRound::default();
        (self.rate, self.inflight) = (0, 0);
    }

    pub(super) fn note_hole(&mut self, segment: &LostSegment) {
        if self.round.holes == 0 || segment.start != self.hole_end {
            self.round.holes += 1;
        }
        self.hole_end = segment.end;
    }
}

/// The values to restore after a spurious recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Saved {
    /// The state that losses ended.
    pub(super) state: Option<State>,
    pub(super) bounds: Option<Bounds>,
}

/// `LossThresh`: the tolerated loss rate of a probe is one in this number: 2 %.
pub(super) const LOSS_BOUND: u64 = 50;

/// `InflightAtLoss()`: the bytes in flight when the loss rate reached the threshold, for the segment that exceeded it.
pub(super) const fn inflight_at_loss(segment: &LostSegment) -> u64 {
    let size = segment.end - segment.start;
    let before = segment.tx_in_flight.saturating_sub(size);
    let lost_before = segment.lost.saturating_sub(size);
    // (bound × before − lost) ÷ (1 − bound), with a bound of 1/50.
    before + before.saturating_sub(LOSS_BOUND * lost_before) / (LOSS_BOUND - 1)
}
