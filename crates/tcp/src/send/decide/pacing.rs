//! Pacing: when a permitted segment is sent.

use crate::congestion::delivery_rate::DeliveryRate;
use crate::congestion::pacing::{self, Pacer};
use crate::context::Context;
use crate::record::reason::{Hold, Reason};
use crate::send::extras::Extras;
use crate::send::extras::Paced;
use crate::send::space::{Decision, Plan};
use crate::send::{PACED, Sender};
use crate::time::Time;
use crate::wire::segment::Flags;

impl Sender {
    /// Starts pacing and delivery rate measurement after the handshake, if either is required.
    pub(crate) fn begin_pacing(&mut self, cx: &Context) {
        if cx.config.pacing || cx.config.congestion.needs_rates() {
            let (pacer, rate) = (Pacer::new(), DeliveryRate::default());
            self.unusual.set(PACED, true);
            self.extras().paced = Some(Box::new(Paced { pacer, rate }));
            self.recovery.begin_rates();
        }
    }

    /// Sets the rate after the RTT sample of the handshake.
    pub(crate) fn begin_pace(&mut self, cx: &Context) {
        if self.paced().is_some() {
            let srtt = self.srtt(cx);
            self.congestion.begin_pace(srtt);
            self.refresh_pace(cx);
        }
    }

    /// The decision, or a hold if pacing or the interface delays the segment.
    #[inline]
    pub(crate) fn apply_pacing(&self, cx: &Context, now: Time, decision: Decision) -> Decision {
        let Some(extras) = &self.extras else { return decision };
        match decision {
            Decision::Send(plan) | Decision::Short(plan) | Decision::Last(plan, _) => {
                self.pacing_hold(cx, extras, now, &plan).map_or(decision, Decision::Hold)
            }
            Decision::Hold(_) => decision,
        }
    }

    /// Whether the sender paces or samples its delivery rate.
    #[inline(always)]
    pub(crate) fn is_paced(&self) -> bool {
        self.unusual.has(PACED)
    }

    /// Whether new data must wait for its turn. The rest of a burst does not.
    #[inline]
    pub(crate) fn waits_for_turn(&self, now: Time) -> bool {
        self.is_early(now) && !self.continues_paced_burst(now)
    }

    /// Whether pacing permits nothing yet.
    #[inline]
    fn is_early(&self, now: Time) -> bool {
        self.paced().is_some_and(|paced| paced.pacer.next() > now)
    }

    /// Whether new data belongs to a burst of which a part has just left.
    fn continues_paced_burst(&self, now: Time) -> bool {
        let end = self.paced().map_or(0, |paced| paced.pacer.burst_end());
        end > self.space.max && self.space.last_sent == now
    }

    /// The segment of `plan` leaves: the next one waits for the time that it takes, or that all of the burst takes which it begins.
    pub(crate) fn pace(&mut self, cx: &Context, now: Time, plan: &Plan) {
        let (is_new, end) = (plan.start == self.space.max, self.burst_end());
        let Some(paced) = self.paced_mut() else { return };
        if plan.len == 0 || plan.start == 0 || is_new && plan.start < paced.pacer.burst_end() {
            return;
        }
        let len = end.saturating_sub(plan.start);
        if cx.config.paced_bursts && is_new && len > u64::from(plan.len) {
            paced.pacer.begin_burst(now, end, (len, len.div_ceil(u64::from(plan.len))));
        } else {
            paced.pacer.sent(now, u64::from(plan.len), 1);
        }
    }

    /// When the timer of pacing or of the interface expires; [`Time::NEVER`] if it is not armed.
    pub(crate) fn turn(&self) -> Time {
        self.extras.as_ref().map_or(Time::NEVER, |extras| extras.turn)
    }

    /// Whether new data may resume a transmission, of which congestion control is informed.
    #[inline]
    pub(crate) fn may_resume(&self) -> bool {
        self.is_paced() && !self.space.is_outstanding()
    }

    /// Whether only new data is sent, and nothing is lost, for a sender that may be paced.
    #[inline]
    pub(crate) fn sends_measured(&self) -> bool {
        self.unusual.without(PACED).is_empty() && self.space.nxt == self.space.max && self.recovery.is_quiet()
    }

    /// The hold by the pacer or by the interface, if any.
    fn pacing_hold(&self, cx: &Context, extras: &Extras, now: Time, plan: &Plan) -> Option<Hold> {
        let continues = plan.start == self.space.max && self.continues_paced_burst(now);
        if self.is_early(now) && !continues && self.is_paced_segment(cx, plan) {
            return Some(Hold::Pacing);
        }
        extras.interface.as_ref().and_then(|interface| self.waits_for_interface(cx, interface, now, plan))
    }

    /// Arms the timer for a segment that only pacing or the interface delays.
    pub(crate) fn arm_pacing_timer(&mut self, why: Hold) {
        self.timers.hold = why;
        self.arm_turn(why);
    }

    /// Arms the timer of pacing or of the interface. In Linux pacing delays also what a cork holds back, since it is looked at first
    /// (`tcp_write_xmit()`).
    pub(crate) fn arm_turn(&mut self, why: Hold) {
        let extras = self.extras();
        let turn = match why {
            Hold::Autocork => extras.interface.as_ref().map(|interface| interface.free()),
            _ => extras.paced.as_ref().map(|paced| paced.pacer.next()),
        };
        if let Some(turn) = turn {
            extras.turn = turn;
        }
    }

    /// Updates the pacing rate.
    pub(in crate::send) fn refresh_pace(&mut self, cx: &Context) {
        if !cx.config.pacing {
            return;
        }
        let rate = self.congestion.pacing_rate().unwrap_or_else(|| {
            let outstanding = self.space.max - self.space.una;
            pacing::by_window(self.cwnd(), self.ssthresh(), outstanding, self.srtt(cx))
        });
        if let Some(paced) = self.paced_mut() {
            paced.pacer.set_rate(rate);
        }
    }

    /// Whether pacing applies to the segment: to all data except probes and what a timeout sends. In Linux also to a FIN without data
    /// (`tcp_pacing_check()`), and to the first segment if an ACK sets it free after a timeout (`tcp_xmit_retransmit_queue()`).
    fn is_paced_segment(&self, cx: &Context, plan: &Plan) -> bool {
        let is_at_once = match plan.reason {
            Reason::Timeout => self.recovery.resend().is_some() || !self.takes_acks_as_linux(cx),
            Reason::TailProbe | Reason::TailProbeData | Reason::WindowProbe => true,
            _ => false,
        };
        let is_fin = plan.flags.has(Flags::FIN) && cx.config.counts_as_linux();
        (plan.len > 0 || is_fin) && !is_at_once
    }
}
