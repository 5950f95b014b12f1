//! Delivery rate samples: counts sent, delivered and lost data, and passes each ACK to congestion control.

use crate::congestion::delivery_rate::{Repairing, Taken, Transmission};
use crate::context::Context;
use crate::ranges::Range;
use crate::recovery::{Parts, Phase, Sent};
use crate::send::Sender;
use crate::time::{Span, Time};

impl Sender {
    /// Bytes in the network, without those that duplicate ACKs report as delivered.
    pub(in crate::send) fn in_flight(&self, cx: &Context) -> u64 {
        self.in_network(cx).saturating_sub(u64::from(self.recovery.inflation()))
    }

    /// Counts data that loss detection by time has marked lost.
    pub(in crate::send) fn note_lost(&mut self, cx: &Context, now: Time) {
        let found = self.recovery.take_found();
        if !found.is_empty() {
            self.lose(cx, now, &found);
        }
    }

    /// These ranges are lost: counts them, and passes each segment to congestion control.
    pub(in crate::send) fn lose(&mut self, cx: &Context, now: Time, ranges: &[Range]) {
        let view = self.view(cx, now, self.space.max - self.space.una);
        let Self { extras, recovery, congestion, .. } = self;
        let Some(paced) = extras.as_mut().and_then(|extras| extras.paced.as_deref_mut()) else { return };
        for &range in ranges {
            let segments = recovery.transmissions(range).map(transmission);
            let padding = recovery.padding_unreported(range);
            paced.rate.lose((range, padding), segments, |segment| congestion.lost(segment, &view));
        }
    }

    /// Processes an acknowledgment up to `ack`, with parts of segments at its ends.
    pub(crate) fn measure_ack(&mut self, cx: &Context, now: Time, ack: i64, parts: Parts) {
        if self.paced().is_none() {
            return;
        }
        // Data that a timer has marked lost counts as lost, even if this ACK reports it as delivered.
        self.note_lost(cx, now);
        let (in_flight, anew) = (self.in_flight(cx), self.takes_acks_as_linux(cx));
        if let Some(paced) = self.paced_mut() {
            paced.rate.open(in_flight, anew);
        }
        if ack > self.space.una as i64 {
            self.measure_parts(cx, now, Range::new(self.space.una.max(1), ack as u64), parts);
        }
    }

    /// Data in `range` that was not known to be delivered was delivered.
    pub(crate) fn measure(&mut self, cx: &Context, now: Time, range: Range) {
        self.measure_parts(cx, now, range, Parts::default());
    }

    /// The same with parts of segments at the ends: Linux counts a segment when all of it is acknowledged
    /// (`tcp_clean_rtx_queue()`).
    fn measure_parts(&mut self, cx: &Context, now: Time, range: Range, parts: Parts) {
        let mss = u64::from(cx.agreed.payload);
        let Self { extras, recovery, .. } = self;
        let Some(paced) = extras.as_mut().and_then(|extras| extras.paced.as_deref_mut()) else { return };
        if range.start >= range.end {
            return;
        }
        let mut rtt = None;
        for piece in recovery.reported().missing_in(range) {
            let segments = recovery.transmissions(piece).filter(|sent| parts.has_all_of(sent.range, range));
            let segments = segments.map(transmission);
            let delivered = piece.len() + recovery.padding_unreported(piece);
            rtt = paced.rate.deliver(now, delivered, mss, segments).or(rtt);
        }
        if cx.agreed.sack {
            paced.rate.recount(|bytes| parts.in_whole_segments(bytes));
        }
        if let Some(rtt) = rtt {
            recovery.note_round_trip(now, rtt);
        }
    }

    /// The RTT of the present ACK is another one than that of its segments.
    pub(in crate::send) fn replace_rate_rtt(&mut self, rtt: Option<Span>) {
        if let Some(paced) = self.paced_mut() {
            paced.rate.replace_rtt(rtt);
        }
    }

    /// A duplicate ACK of a peer without SACK. Where these count as reports, they count here as there: after a timeout only
    /// those that follow new data (`tcp_process_loss()`).
    pub(crate) fn measure_dup_ack(&mut self, cx: &Context) {
        let (sack, mss) = (cx.agreed.sack, u64::from(cx.agreed.payload));
        if sack || self.paced().is_none() {
            return;
        }
        let most = if self.recovery.counts_dup_acks() {
            let holes = self.recovery.known_lost().max(mss);
            (self.space.max - self.space.una + self.recovery.padding_outstanding()).saturating_sub(holes)
        } else {
            u64::MAX
        };
        let ignored = self.recovery.ignores_dup_acks(self.space.una, self.space.max);
        if let Some(paced) = self.paced_mut()
            && !ignored
        {
            paced.rate.deliver_unnamed(mss, most);
        }
    }

    /// Where duplicate ACKs count as reports, what recovery knows of them counts here, too (`sacked_out`). A timeout ends them.
    pub(in crate::send) fn follow_count(&mut self, at_timeout: bool) {
        if !self.recovery.counts_dup_acks() {
            return;
        }
        let counted = if at_timeout { 0 } else { self.recovery.counted() };
        if let Some(paced) = self.paced_mut() {
            paced.rate.set_unnamed(counted);
        }
    }

    /// An acknowledgment is processed: passes its rate sample to congestion control.
    pub(crate) fn conclude_sample(&mut self, cx: &mut Context, now: Time) {
        if self.paced().is_none() {
            return;
        }
        self.note_lost(cx, now);
        self.follow_count(false);
        let (una, in_flight, mss) = (self.space.una, self.in_flight(cx), u64::from(cx.agreed.payload));
        let selective = cx.agreed.sack;
        let repairing = match self.recovery.phase() {
            Phase::Open => Repairing::Nothing,
            Phase::Fast => Repairing::Loss,
            Phase::Loss => Repairing::Timeout,
        };
        let Self { extras, recovery, .. } = self;
        let Some(paced) = extras.as_mut().and_then(|extras| extras.paced.as_deref_mut()) else { return };
        let (segments, serials) = recovery.serials();
        paced.rate.forget(segments, serials);
        let (next_departure, min_rtt) = (paced.pacer.next(), recovery.least_rtt());
        let taken = Taken { now, in_flight, next_departure, repairing, selective, mss, min_rtt };
        let sample = paced.rate.conclude(taken);
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

    /// An old ACK with reports gives no sample (`old_ack` in `tcp_ack()`).
    pub(crate) fn pass_over_sample(&mut self, cx: &mut Context, now: Time) {
        self.note_lost(cx, now);
        if let Some(paced) = self.paced_mut() {
            paced.rate.pass_over();
        }
    }

    /// The application is about to write. If less than a segment waits and the window has room, the application has limited
    /// the sender (Linux, `tcp_rate_check_app_limited()`).
    #[cold]
    pub(crate) fn note_write(&mut self, cx: &Context) {
        let (mss, in_flight) = (u64::from(cx.agreed.payload), self.in_flight(cx));
        let repaired = self.recovery.lost() == 0;
        let idle = self.unsent() < mss && in_flight < u64::from(self.cwnd()) && repaired;
        if let Some(paced) = self.paced_mut()
            && idle
        {
            paced.rate.limit(in_flight);
        }
    }
}

/// A transmission of the log, for the rate sample.
fn transmission(sent: Sent) -> Transmission {
    Transmission { range: sent.range, serial: sent.serial, again: sent.again }
}
