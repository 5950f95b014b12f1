//! What losses and marks say of the path: a bound above for what is in flight, found while probing; and bounds for the time
//! until the next probe (draft-ietf-ccwg-bbr, "Updating the Model Upon Packet Loss").
//!
//! The draft calls them `inflight_longterm`, `inflight_shortterm` and `bw_shortterm`; Linux, and whoever talks of them,
//! `inflight_hi`, `inflight_lo` and `bw_lo`.

use super::{Bbr3, State};
use crate::congestion::View;
use crate::congestion::delivery_rate::{LostSegment, RateSample};

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;
/// `LossThresh`: of what was in flight, one in so many may get lost while it probes: 2 %.
const LOSS_BOUND: u64 = 50;

/// `Beta`: no more is taken back at once than CUBIC would.
pub(super) const fn beta(value: u64) -> u64 {
    value / 10 * 7 + value % 10 * 7 / 10
}

/// How much at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    /// Bytes in flight that the path was last seen to take without too much loss.
    pub(super) inflight_hi: u64,
    /// Bytes in flight, and bytes per second, until the next probe.
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

/// What one round trip has lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LossRound {
    /// Something, or something was marked.
    pub(super) lossy: bool,
    pub(super) marked: bool,
    /// Pieces of the stream, with something between each two that was not lost.
    pub(super) holes: u32,
}

/// What was delivered and lost of late. Rounds here begin with a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Latest {
    /// The most of this round: bytes per second, and bytes in a round trip.
    pub(super) rate: u64,
    pub(super) inflight: u64,
    /// This round; and the one that the acknowledgment being taken in has ended, if it has.
    round: LossRound,
    pub(super) closed: Option<LossRound>,
    end: u64,
    /// Where the last hole ends.
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

/// What a recovery may have spoilt without need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Saved {
    /// The state that losses have ended.
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

    /// The peer reports marks, once for each window of data. They are congestion; the draft leaves open how much of it, so
    /// they count as one loss too many.
    pub(super) fn note_mark(&mut self, view: &View) {
        self.note_loss();
        self.latest.round.marked = true;
        if self.probing.is_sampled {
            self.overshoot(u64::from(view.flight), false, view);
        }
    }

    /// `AdaptLowerBoundsFromCongestion()`: after a lossy round trip, down towards what has still arrived.
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

    /// `IsInflightTooHigh()`: more got lost than may of what was in flight. Who hears of one loss in a round trip cannot
    /// tell how many there were.
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

    /// `HandleSpuriousLossDetection()`: nothing was lost.
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

/// `InflightAtLoss()`: how much was in flight when losses reached the bound, for a segment with which they have passed it.
pub(super) const fn inflight_at_loss(segment: &LostSegment) -> u64 {
    let size = segment.end - segment.start;
    let before = segment.tx_in_flight.saturating_sub(size);
    let lost_before = segment.lost.saturating_sub(size);
    // (bound × before − lost) ÷ (1 − bound), with a bound of 1/50.
    before + before.saturating_sub(LOSS_BOUND * lost_before) / (LOSS_BOUND - 1)
}
