//! Delivery rate samples: counts sent, delivered and lost data, and passes each ACK to congestion control.

use crate::congestion::delivery_rate::{Repairing, Taken};
use crate::context::Context;
use crate::ranges::Range;
use crate::recovery::Phase;
use crate::send::Sender;
use crate::time::Time;

impl Sender {
    /// Bytes in the network, without those that duplicate ACKs report as delivered.
    pub(in crate::send) fn in_flight(&self, cx: &Context) -> u64 {
        self.in_network(cx).saturating_sub(u64::from(self.loss.inflation))
    }

    /// Counts data that loss detection by time has marked lost.
    pub(in crate::send) fn note_lost(&mut self, cx: &Context, now: Time) {
        if let Some(found) = self.rack.as_mut().and_then(|rack| rack.found.as_mut())
            && !found.is_empty()
        {
            let found = core::mem::take(found);
            self.lose(cx, now, &found);
        }
    }

    /// These ranges are lost: counts them, and passes each segment to congestion control.
    pub(in crate::send) fn lose(&mut self, cx: &Context, now: Time, ranges: &[Range]) {
        let view = self.view(cx, now, self.space.max - self.space.una);
        let Some(paced) = self.extras.as_mut().and_then(|rare| rare.paced.as_deref_mut()) else { return };
        for &range in ranges {
            paced.rate.lose(range, |segment| self.congestion.lost(segment, &view));
        }
    }

    /// Processes an acknowledgment up to `ack`.
    pub(crate) fn measure_ack(&mut self, cx: &Context, now: Time, ack: i64) {
        if self.paced().is_none() {
            return;
        }
        let in_flight = self.in_flight(cx);
        if let Some(paced) = self.paced_mut() {
            paced.rate.open(in_flight);
        }
        if ack > self.space.una as i64 {
            self.measure(now, Range::new(self.space.una.max(1), ack as u64));
        }
    }

    /// Data in `range` that was not known to be delivered was delivered.
    pub(crate) fn measure(&mut self, now: Time, range: Range) {
        let Self { extras, loss, .. } = self;
        let Some(paced) = extras.as_mut().and_then(|extras| extras.paced.as_deref_mut()) else { return };
        if range.start < range.end {
            for piece in loss.reported().missing_in(range) {
                paced.rate.deliver(now, piece);
            }
        }
    }

    /// A duplicate ACK of a peer without SACK.
    pub(crate) fn measure_dup_ack(&mut self, cx: &Context) {
        let (sack, mss) = (cx.agreed.sack, u64::from(cx.agreed.payload));
        if let Some(paced) = self.paced_mut()
            && !sack
        {
            paced.rate.deliver_unnamed(mss);
        }
    }

    /// An acknowledgment is processed: passes its rate sample to congestion control.
    pub(crate) fn conclude_sample(&mut self, cx: &mut Context, now: Time) {
        if self.paced().is_none() {
            return;
        }
        self.note_lost(cx, now);
        let (una, in_flight, mss) = (self.space.una, self.in_flight(cx), u64::from(cx.agreed.payload));
        let selective = cx.agreed.sack;
        let repairing = match self.loss.phase {
            Phase::Open => Repairing::Nothing,
            Phase::Fast => Repairing::Loss,
            Phase::Loss => Repairing::Timeout,
        };
        let Some(paced) = self.paced_mut() else { return };
        paced.rate.forget_below(una);
        let next_departure = paced.pacer.next();
        let sample = paced.rate.conclude(Taken { now, in_flight, next_departure, repairing, selective, mss });
        let view = self.view(cx, now, self.space.max - una);
        self.congestion.delivered(&sample, &view);
        if self.congestion.is_sparing()
            && let Some(paced) = self.paced_mut()
        {
            paced.rate.limit(in_flight);
        }
        self.refresh_pace(cx);
        self.note_window(cx, now);
    }

    /// The application is about to write. If less than a segment waits and the window has room, the application has limited
    /// the sender (Linux, `tcp_rate_check_app_limited()`).
    #[cold]
    pub(crate) fn note_write(&mut self, cx: &Context) {
        let (mss, in_flight) = (u64::from(cx.agreed.payload), self.in_flight(cx));
        let repaired = self.rack.as_ref().is_none_or(|rack| rack.lost.covered() == 0);
        let idle = self.unsent() < mss && in_flight < u64::from(self.cwnd()) && repaired;
        if let Some(paced) = self.paced_mut()
            && idle
        {
            paced.rate.limit(in_flight);
        }
    }
}
