//! The reaction to losses and marks: a long-term bound on the data in flight, which probing finds, and short-term
//! bounds until the next probe (draft-ietf-ccwg-bbr, "Updating the Model Upon Packet Loss").
//!
//! The draft calls them `inflight_longterm`, `inflight_shortterm` and `bw_shortterm`; Linux calls them `inflight_hi`,
//! `inflight_lo` and `bw_lo`.

use super::{Bbr3, State};
use crate::congestion::View;
use crate::congestion::delivery_rate::{LostSegment, RateSample};

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;
/// `LossThresh`: the tolerated loss rate of a probe is one in this number: 2 %.
const LOSS_BOUND: u64 = 50;

/// `Beta`: the multiplicative decrease, as in CUBIC.
pub(super) const fn beta(value: u64) -> u64 {
    value / 10 * 7 + value % 10 * 7 / 10
}

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
    round: LossRound,
    pub(super) closed: Option<LossRound>,
    end: u64,
    /// The end of the last lost range.
    hole_end: u64,
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
    bounds: Option<Bounds>,
}

impl Bbr3 {
    /// `NoteLoss()`: the first loss of a round begins one.
    pub(super) fn note_loss(&mut self) {
        if !self.latest.round.lossy {
            self.latest.end = self.delivered;
            self.save();
        }
        self.latest.round.lossy = true;
    }

    /// The peer reports marks, once per window of data. The draft does not define their weight, so they count as a loss
    /// rate above the threshold.
    pub(super) fn note_mark(&mut self, view: &View) {
        self.note_loss();
        self.latest.round.marked = true;
        if self.probing.is_sampled {
            self.overshoot(u64::from(view.flight), false, view);
        }
    }

    /// `AdaptLowerBoundsFromCongestion()`: after a lossy round, reduces the bounds towards the delivered amounts.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.state.accelerates() || self.latest.closed.is_none_or(|round| !round.lossy) {
            return;
        }
        let Bounds { rate_lo, inflight_lo, .. } = self.bounds;
        let rate = if rate_lo == INFINITE { self.most_bandwidth() } else { rate_lo };
        let inflight = if inflight_lo == INFINITE { u64::from(self.cwnd) } else { inflight_lo };
        self.bounds.rate_lo = self.latest.rate.max(beta(rate));
        self.bounds.inflight_lo = self.latest.inflight.max(beta(inflight));
    }

    /// `IsInflightTooHigh()`: whether the loss rate exceeds the threshold. A sender that learns of only one loss per
    /// RTT cannot compute it.
    pub(super) fn is_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost > tx_in_flight / LOSS_BOUND || (lost > 0 && !self.selective)
    }

    /// `HandleInflightTooHigh()`, once in each probe.
    pub(super) fn overshoot(&mut self, tx_in_flight: u64, app_limited: bool, view: &View) {
        self.probing.too_high = true;
        self.probing.is_sampled = false;
        if !app_limited {
            self.bounds.inflight_hi = tx_in_flight.max(beta(self.target()));
        }
        if self.state == State::Up {
            self.saved.state = Some(State::Up);
            self.start_down(view.now);
        }
    }

    /// `SaveStateUponLoss()`.
    pub(super) fn save(&mut self) {
        self.save_cwnd();
        self.saved = Saved { state: None, bounds: Some(self.bounds) };
    }

    /// `HandleSpuriousLossDetection()`: the loss detection was spurious.
    pub(super) fn come_back(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.latest.round = LossRound::default();
        self.look_for_plateau(0);
        let saved = core::mem::take(&mut self.saved);
        if let Some(bounds) = saved.bounds {
            self.bounds = Bounds {
                inflight_hi: self.bounds.inflight_hi.max(bounds.inflight_hi),
                inflight_lo: self.bounds.inflight_lo.max(bounds.inflight_lo),
                rate_lo: self.bounds.rate_lo.max(bounds.rate_lo),
            };
        }
        match saved.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }
}

/// `InflightAtLoss()`: the bytes in flight when the loss rate reached the threshold, for the segment that exceeded it.
pub(super) const fn inflight_at_loss(segment: &LostSegment) -> u64 {
    let size = segment.end - segment.start;
    let before = segment.tx_in_flight.saturating_sub(size);
    let lost_before = segment.lost.saturating_sub(size);
    // (bound × before − lost) ÷ (1 − bound), with a bound of 1/50.
    before + before.saturating_sub(LOSS_BOUND * lost_before) / (LOSS_BOUND - 1)
}
