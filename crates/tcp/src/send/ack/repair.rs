//! Duplicate ACKs, partial ACKs and NAKs: when recovery begins, continues and ends.

use crate::config::{LossMeans, Recovery};
use crate::congestion::Signal;
use crate::context::Context;
use crate::ranges::Range;
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::recovery::{DupAck, OnDupAck, OnNewAck, Phase, Resend, nak};
use crate::send::Sender;
use crate::time::Time;
use crate::wire::options::Layout;

impl Sender {
    /// The effects of an ACK of new data on recovery and congestion control. Returns whether the retransmission timer
    /// restarts (RFC 6298, section 5.3; RFC 6582, section 3.2, step 3: in recovery only at the first partial ACK).
    #[inline]
    pub(in crate::send) fn advance_recovery(
        &mut self,
        cx: &mut Context,
        now: Time,
        bytes: u32,
        flight: u64,
    ) -> bool {
        let verdict = self.loss.on_new_ack(cx.config.recovery, self.space.una);
        match verdict {
            OnNewAck::Ordinary => {
                if let Some(loss) = self.loss.known() {
                    loss.dup_acks = 0;
                }
                self.open_window_unless_marked(cx, now, bytes, flight);
                self.note_window(cx, now);
                true
            }
            OnNewAck::Exit => {
                let after_timeout = self.loss.phase == Phase::Loss;
                self.loss.trouble().leave();
                if let Some(rack) = &mut self.rack {
                    rack.recovered();
                }
                if after_timeout {
                    self.open_window_unless_marked(cx, now, bytes, flight);
                    self.note_window(cx, now);
                } else if cx.config.loss_means == LossMeans::Congestion {
                    self.signal(cx, now, Signal::ExitRecovery, self.space.max - self.space.una);
                }
                cx.note(now, Event::Phase(self.phase()));
                true
            }
            OnNewAck::Partial => {
                let first = !core::mem::replace(&mut self.loss.trouble().partial_seen, true);
                self.signal(cx, now, Signal::PartialAck { bytes }, flight);
                if self.recovers_by_sack(cx) && (self.loss.scoreboard.is_some() || self.rack.is_some()) {
                    return true;
                }
                // RFC 6582, section 3.2, step 3: deflate by what was acknowledged, add back a segment if it was one.
                let mss = u32::from(cx.agreed.payload);
                let back = if bytes >= mss { mss } else { 0 };
                let loss = self.loss.trouble();
                loss.inflation = loss.inflation.saturating_sub(bytes).saturating_add(back);
                self.resend_first(cx, Reason::PartialAck);
                first
            }
        }
    }

    /// A duplicate acknowledgment.
    pub(in crate::send) fn take_dup_ack(&mut self, cx: &mut Context, now: Time) {
        cx.counters().dup_acks_received += 1;
        self.loss.trouble().dup_acks += 1;
        self.measure_dup_ack(cx);
        let una = self.space.una;
        let fact = DupAck {
            n: self.loss.dup_acks,
            threshold: u32::from(cx.config.dup_ack_threshold),
            una,
            by_time: self.rack.is_some(),
            first_is_lost: self.loss.scoreboard.as_ref().is_some_and(|board| board.is_lost(una)),
            peer_sends_naks: self.peer_sends_naks(cx),
        };
        let verdict = self.loss.on_dup_ack(cx.config.recovery, cx.config.dup_acks_beside_naks, fact);
        match verdict {
            OnDupAck::Nothing => {
                let n = fact.n;
                self.signal(cx, now, Signal::DupAck { n }, self.space.max - una);
            }
            OnDupAck::Inflate => {
                if !(self.recovers_by_sack(cx) && self.loss.scoreboard.is_some()) {
                    let loss = self.loss.trouble();
                    loss.inflation = loss.inflation.saturating_add(u32::from(cx.agreed.payload));
                }
            }
            OnDupAck::Enter(phase) => self.enter_recovery(cx, now, phase, fact.threshold),
        }
    }

    /// Whether the peer is known to send NAKs. The option of the document is not negotiated. Until a NAK arrives, the peer may
    /// not support them (RFC 1106, section 5).
    fn peer_sends_naks(&self, cx: &Context) -> bool {
        let agreed = cx.agreed.nak && matches!(cx.config.layout, Layout::Shared { .. });
        agreed || self.extras.as_ref().is_some_and(|extras| extras.naks_received)
    }

    /// A loss is detected without a timeout (RFC 5681, section 3.2; RFC 6675, section 5, step 4).
    fn enter_recovery(&mut self, cx: &mut Context, now: Time, phase: Phase, threshold: u32) {
        if self.forgives_loss(cx, now, Reason::FastRetransmit) {
            return;
        }
        cx.counters().fast_retransmits += 1;
        let mss = u32::from(cx.agreed.payload);
        // RFC 5681, equation 4: data sent by limited transmit does not count. It is what went beyond cwnd.
        let limited = if cx.config.limited_transmit { threshold.saturating_sub(1).min(2) * mss } else { 0 };
        let flight = self.space.max - self.space.una;
        let beyond = flight.saturating_sub(u64::from(self.congestion.cwnd())).min(u64::from(limited));
        let flight = (flight - beyond).max(u64::from(mss));
        // Noise is what a NAK reports; who still counts duplicate ACKs beside NAKs takes them for what they always meant
        // (RFC 1106, section 4.3).
        if cx.config.loss_means == LossMeans::Congestion || cx.config.recovery == Recovery::Nak {
            self.signal(cx, now, Signal::EnterRecovery, flight);
        }
        let loss = self.loss.trouble();
        loss.phase = phase;
        loss.recover = self.space.max;
        loss.partial_seen = false;
        loss.inflation = 0;
        match &mut loss.scoreboard {
            Some(board) if cx.config.recovery == Recovery::Sack => board.begin(self.space.una),
            _ if phase == Phase::Fast => loss.inflation = threshold * mss,
            _ => {}
        }
        self.resend_first(cx, Reason::FastRetransmit);
        self.timers.stop_retransmit();
        cx.note(now, Event::Phase(self.phase()));
    }

    /// The first unacknowledged segment is sent next. It gives no RTT sample, and neither does a segment that is being timed
    /// (Karn's rule).
    fn resend_first(&mut self, cx: &Context, reason: Reason) {
        let una = self.space.una;
        let end = (una + u64::from(cx.agreed.payload)).min(self.space.max);
        // A report of the first byte itself cannot be true.
        let reported = self.loss.scoreboard.as_ref().and_then(|board| board.sacked.first());
        let end = reported.filter(|range| range.start > una).map_or(end, |range| range.start.min(end));
        self.loss.trouble().resend = Resend::new(Range::new(una, end), reason);
        self.space.timed_end = 0;
    }

    /// A NAK reports missing segments (RFC 1106, section 2). They are retransmitted at once. The timer continues, and the RTT
    /// sample in progress is discarded.
    #[cold]
    pub(in crate::send) fn take_nak(&mut self, cx: &mut Context, now: Time, nak: crate::wire::options::Nak) {
        cx.counters().naks_received += 1;
        self.extras().naks_received = true;
        let Ok(first) = u64::try_from(self.space.position(nak.first)) else { return };
        let (una, max) = (self.space.una, self.space.max);
        cx.note(now, Event::NakReceived { offset: first.max(1) - 1, count: nak.count });
        if cx.config.recovery != Recovery::Nak {
            return;
        }
        let Some(range) = nak::answer(first, nak.count, u32::from(cx.agreed.payload), una, max) else {
            return;
        };
        self.loss.trouble().resend = Resend::new(range, Reason::NakResend);
        self.space.timed_end = 0;
        if cx.config.loss_means == LossMeans::Congestion && range.start >= self.loss.recover {
            self.loss.trouble().recover = max;
            self.signal(cx, now, Signal::EnterRecovery, max - una);
        }
    }
}
