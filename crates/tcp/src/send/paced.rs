//! Pacing and the measure of deliveries, carried out: [`crate::congestion::pacing`] says when a segment may leave,
//! [`crate::congestion::delivery_rate`] what came of it, and congestion control what follows.

use crate::congestion::Signal;
use crate::congestion::delivery_rate::{DeliveryRate, Leaving, Repairing, Taken};
use crate::congestion::pacing::{self, Pacer};
use crate::connection::Connection;
use crate::connection::rare::Rare;
use crate::ranges::Range;
use crate::record::reason::{Hold, Reason};
use crate::recovery::Phase;
use crate::send::space::{Decision, Plan};
use crate::time::{Span, Time};

/// What is kept for it; made when the connection opens, where the configuration needs it.
#[derive(Debug)]
pub(crate) struct Paced {
    pub(crate) pacer: Pacer,
    pub(crate) rate: DeliveryRate,
}

impl Connection {
    /// Both ends are known: departures are paced and deliveries measured from now on, if somebody asks for either.
    pub(crate) fn begin_pacing(&mut self) {
        if self.config.pacing || self.config.congestion.needs_rates() {
            let (pacer, rate) = (Pacer::new(), DeliveryRate::default());
            self.rare().paced = Some(Box::new(Paced { pacer, rate }));
            if let Some(rack) = &mut self.rack {
                rack.found = Some(Vec::new());
            }
        }
    }

    #[inline]
    pub(crate) fn paced(&self) -> Option<&Paced> {
        self.rare.as_ref()?.paced.as_deref()
    }

    #[inline]
    fn paced_mut(&mut self) -> Option<&mut Paced> {
        self.rare.as_mut()?.paced.as_deref_mut()
    }

    /// The opening segments have shown a round trip.
    pub(crate) fn begin_rates(&mut self, now: Time) {
        let srtt = self.srtt();
        if let Some(paced) = self.paced_mut() {
            paced.rate.begin(now, srtt);
            self.refresh_pace();
        }
    }

    /// What was decided, or that it is not its turn yet.
    #[inline]
    pub(crate) fn in_its_turn(&self, now: Time, decision: Decision) -> Decision {
        let Some(rare) = &self.rare else { return decision };
        match decision {
            Decision::Send(plan) | Decision::Short(plan) | Decision::Last(plan, _) => {
                self.not_its_turn(rare, now, &plan).map_or(decision, Decision::Hold)
            }
            Decision::Hold(_) => decision,
        }
    }

    /// What other than windows and policies holds it back: the pacer, or the interface.
    fn not_its_turn(&self, rare: &Rare, now: Time, plan: &Plan) -> Option<Hold> {
        if rare.paced.as_ref().is_some_and(|paced| paced.pacer.next() > now) && waits_its_turn(plan) {
            return Some(Hold::Pacing);
        }
        rare.interface.as_ref().and_then(|interface| self.waits_for_interface(interface, now, plan))
    }

    /// Something is held back until a known time, and by nothing else.
    pub(crate) fn wait_for_turn(&mut self, why: Hold) {
        self.hold = why;
        let rare = self.rare();
        let turn = match why {
            Hold::Autocork => rare.interface.as_ref().map(|interface| interface.free()),
            _ => rare.paced.as_ref().map(|paced| paced.pacer.next()),
        };
        if let Some(turn) = turn {
            rare.turn = turn;
        }
    }

    /// Sequence numbers leave, for the first time or again.
    pub(crate) fn note_departure(&mut self, now: Time, plan: &Plan, end: u64) {
        if self.paced().is_none() || plan.start == 0 {
            return;
        }
        let (outstanding, in_flight) = (self.snd.max - self.snd.una, self.in_flight());
        self.note_lost(now);
        let range = Range::new(plan.start, end);
        // Who does not notice losses by time holds lost what goes again.
        if self.rack.is_none() && plan.reason.is_retransmission() {
            self.lose(now, &[range]);
        }
        let Some(paced) = self.paced_mut() else { return };
        paced.rate.leaves(Leaving { now, range, outstanding, in_flight });
        let resumes = outstanding == 0 && paced.rate.is_app_limited();
        if plan.len > 0 {
            paced.pacer.sent(now, plan.len);
        }
        self.rare().turn = Time::NEVER;
        if resumes {
            self.signal(now, Signal::Resumed, 0);
            self.refresh_pace();
        }
    }

    /// Bytes in the network, less what duplicate ACKs say has left it.
    fn in_flight(&self) -> u64 {
        self.in_network().saturating_sub(u64::from(self.loss.inflation))
    }

    /// What detection by time has found lost is counted.
    fn note_lost(&mut self, now: Time) {
        if let Some(found) = self.rack.as_mut().and_then(|rack| rack.found.as_mut())
            && !found.is_empty()
        {
            let found = core::mem::take(found);
            self.lose(now, &found);
        }
    }

    /// These are lost: counted, and congestion control hears of each segment.
    fn lose(&mut self, now: Time, ranges: &[Range]) {
        let view = self.view(now, self.snd.max - self.snd.una);
        let Some(paced) = self.rare.as_mut().and_then(|rare| rare.paced.as_deref_mut()) else { return };
        for &range in ranges {
            paced.rate.lose(range, |segment| self.congestion.lost(segment, &view));
        }
    }

    /// An acknowledgment up to `ack` comes.
    pub(crate) fn measure_ack(&mut self, now: Time, ack: i64) {
        if self.paced().is_none() {
            return;
        }
        let in_flight = self.in_flight();
        if let Some(paced) = self.paced_mut() {
            paced.rate.open(in_flight);
        }
        if ack > self.snd.una as i64 {
            self.measure(now, Range::new(self.snd.una.max(1), ack as u64));
        }
    }

    /// What of `range` was not known to have arrived, has.
    pub(crate) fn measure(&mut self, now: Time, range: Range) {
        let Some(mut paced) = self.rare.as_mut().and_then(|rare| rare.paced.take()) else { return };
        if range.start < range.end {
            for piece in self.sacked().missing_in(range) {
                paced.rate.deliver(now, piece);
            }
        }
        self.rare().paced = Some(paced);
    }

    /// A duplicate ACK of a peer that does not say what has arrived.
    pub(crate) fn measure_dup_ack(&mut self) {
        let (sack, mss) = (self.agreed.sack, u64::from(self.agreed.payload));
        if let Some(paced) = self.paced_mut()
            && !sack
        {
            paced.rate.deliver_unnamed(mss);
        }
    }

    /// All that an acknowledgment says has been taken in: congestion control hears what it tells of the path.
    pub(crate) fn conclude_sample(&mut self, now: Time) {
        if self.paced().is_none() {
            return;
        }
        self.note_lost(now);
        let (una, in_flight, mss) = (self.snd.una, self.in_flight(), u64::from(self.agreed.payload));
        let selective = self.agreed.sack;
        let repairing = match self.loss.phase {
            Phase::Open => Repairing::Nothing,
            Phase::Fast => Repairing::Loss,
            Phase::Loss => Repairing::Timeout,
        };
        let Some(paced) = self.paced_mut() else { return };
        paced.rate.forget_below(una);
        let next_departure = paced.pacer.next();
        let sample = paced.rate.conclude(Taken { now, in_flight, next_departure, repairing, selective, mss });
        let view = self.view(now, self.snd.max - una);
        self.congestion.delivered(&sample, &view);
        if self.congestion.is_sparing()
            && let Some(paced) = self.paced_mut()
        {
            paced.rate.limit(in_flight);
        }
        self.refresh_pace();
        self.note_window(now);
    }

    /// The rate that holds from now on.
    fn refresh_pace(&mut self) {
        if !self.config.pacing {
            return;
        }
        let rate = self.congestion.pacing_rate().unwrap_or_else(|| {
            let outstanding = self.snd.max - self.snd.una;
            pacing::by_window(self.cwnd(), self.ssthresh(), outstanding, self.srtt())
        });
        if let Some(paced) = self.paced_mut() {
            paced.pacer.set_rate(rate);
        }
    }

    /// The application is about to write: if what waits is less than a segment though the window has room, the
    /// application was what limited the sender (Linux, `tcp_rate_check_app_limited()`).
    #[cold]
    pub(crate) fn note_write(&mut self) {
        let (mss, in_flight) = (u64::from(self.agreed.payload), self.in_flight());
        let repaired = self.rack.as_ref().is_none_or(|rack| rack.lost.covered() == 0);
        let idle = self.unsent() < mss && in_flight < u64::from(self.cwnd()) && repaired;
        if let Some(paced) = self.paced_mut()
            && idle
        {
            paced.rate.limit(in_flight);
        }
    }

    /// The round trip that the acknowledgment being taken in shows, where deliveries are measured; else the last one known, where
    /// losses are noticed by time.
    pub(crate) fn latest_rtt(&self) -> Option<Span> {
        match self.paced() {
            Some(paced) => paced.rate.rtt(),
            None => self.rack.as_ref().and_then(|rack| rack.latest_rtt()),
        }
    }
}

/// What pacing holds back: all data but what asks whether anything still comes through.
fn waits_its_turn(plan: &Plan) -> bool {
    let asks = matches!(
        plan.reason,
        Reason::Timeout | Reason::TailProbe | Reason::TailProbeData | Reason::WindowProbe
    );
    plan.len > 0 && !asks
}
