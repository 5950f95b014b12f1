//! The state PROBE_RTT: the queue drains, so that the least RTT shows.

use super::{Bbr3, State};
use crate::congestion::View;
use crate::congestion::delivery_rate::RateSample;
use crate::congestion::model_based::path_model::Lull;
use crate::time::Time;

impl Bbr3 {
    /// `CheckProbeRTT()`.
    pub(super) fn check_lull(&mut self, sample: &RateSample, view: &View) {
        if self.state != State::ProbeRtt && self.round_trip.expired && !self.resumed {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.round_trip.lull = Lull::default();
            self.stop_feedback();
        }
        let is_low = sample.in_flight <= self.lull_volume(view.mss);
        if self.state == State::ProbeRtt
            && self.round_trip.lull.see(view.now, is_low, &mut self.rounds, sample.delivered)
        {
            self.end_lull(view.now);
        }
        if sample.newly_delivered > 0 {
            self.resumed = false;
        }
    }

    /// `ExitProbeRTT()`.
    pub(super) fn end_lull(&mut self, now: Time) {
        self.round_trip.recent_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bounds.reset_short_term();
        if self.full_reached {
            self.start_cruise(now);
        } else {
            self.state = State::Startup;
        }
    }
}
