//! What losses and marks change: the bounds on what is in flight.

use super::bounds::{Bounds, INFINITE, LOSS_BOUND, LossRound, Saved};
use super::{Bbr3, State};
use crate::congestion::View;

/// `Beta`: the multiplicative decrease, as in CUBIC.
pub(super) const fn beta(value: u64) -> u64 {
    value / 10 * 7 + value % 10 * 7 / 10
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
