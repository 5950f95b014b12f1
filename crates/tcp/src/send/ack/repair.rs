//! Duplicate ACKs, partial ACKs and NAKs: when recovery begins, continues and ends.

use crate::config::{LossMeans, Recovery};
use crate::congestion::Signal;
use crate::context::Context;
use crate::ranges::Range;
use crate::record::event::Event;
use crate::record::reason::Reason;
use crate::recovery::{DupAck, OnDupAck, OnNewAck, Phase, nak};
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
        let verdict = self.recovery.on_new_ack(cx.config.recovery, self.space.una);
        match verdict {
            OnNewAck::Ordinary => {
                self.recovery.forget_dup_acks();
                if !self.takes_acks_as_linux(cx) {
                    self.open_window_unless_marked(cx, now, bytes, flight);
                    self.note_window(cx, now);
                }
                true
            }
            OnNewAck::Exit => {
                let after_timeout = self.recovery.phase() == Phase::Loss;
                let undone = self.recovery.undone_window().filter(|_| cx.config.counts_as_linux());
                self.recovery.leave();
                if let Some(window) = undone {
                    self.keep_cwnd(cx, window);
                }
                if after_timeout {
                    if !self.takes_acks_as_linux(cx) {
                        self.open_window_unless_marked(cx, now, bytes, flight);
                        self.note_window(cx, now);
                    }
                } else if cx.config.loss_means == LossMeans::Congestion {
                    self.signal(cx, now, Signal::ExitRecovery, self.space.max - self.space.una);
                }
                cx.note(now, Event::Phase(self.phase()));
                true
            }
            OnNewAck::Partial => {
                let first = self.recovery.note_partial_ack();
                self.signal(cx, now, Signal::PartialAck { bytes }, flight);
                let by_sack = self.recovers_by_sack(cx) && self.recovery.scoreboard().is_some();
                if by_sack || self.recovery.is_by_time() {
                    return true;
                }
                // RFC 6582, section 3.2, step 3: deflate by what was acknowledged, add back a segment if it was one.
                let mss = u32::from(cx.agreed.payload);
                let back = if bytes >= mss { mss } else { 0 };
                self.recovery.deflate(bytes, back);
                self.resend_first(cx, Reason::PartialAck);
                first
            }
        }
    }

    /// cwnd becomes the window of PRR, in whole segments: Linux has no other one in a recovery.
    pub(in crate::send) fn keep_cwnd(&mut self, cx: &Context, window: u64) {
        let mss = u64::from(cx.agreed.payload.max(1));
        let cwnd = u32::try_from(window.div_ceil(mss) * mss).unwrap_or(u32::MAX);
        self.congestion.set_windows(cwnd, self.congestion.ssthresh());
    }

    /// A duplicate acknowledgment.
    pub(in crate::send) fn take_dup_ack(&mut self, cx: &mut Context, now: Time) {
        cx.counters().dup_acks_received += 1;
        let n = self.recovery.note_dup_ack();
        self.measure_dup_ack(cx);
        let una = self.space.una;
        self.recovery.count_dup_ack(una, self.end_of_packets(cx), u64::from(cx.agreed.payload));
        let fact = DupAck {
            n,
            threshold: u32::from(cx.config.dup_ack_threshold),
            una,
            by_time: self.recovery.is_by_time(),
            first_is_lost: self.recovery.scoreboard().is_some_and(|board| board.is_lost(una)),
            peer_sends_naks: self.peer_sends_naks(cx),
        };
        let verdict = self.recovery.on_dup_ack(cx.config.recovery, cx.config.dup_acks_beside_naks, fact);
        match verdict {
            OnDupAck::Nothing => {
                if self.congestion.heeds_dup_acks() || cx.is_recording() {
                    self.signal(cx, now, Signal::DupAck { n }, self.space.max - una);
                }
            }
            OnDupAck::Inflate => {
                if !(self.recovers_by_sack(cx) && self.recovery.scoreboard().is_some()) {
                    self.recovery.inflate(u32::from(cx.agreed.payload));
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
        // A NAK reports a transmission error. A sender that counts duplicate ACKs beside NAKs still takes them as a sign of
        // congestion (RFC 1106, section 4.3).
        if cx.config.loss_means == LossMeans::Congestion || cx.config.recovery == Recovery::Nak {
            self.signal(cx, now, Signal::EnterRecovery, flight);
        }
        self.recovery.enter(phase, self.space.max);
        let by_scoreboard =
            cx.config.recovery == Recovery::Sack && self.recovery.begin_by_scoreboard(self.space.una);
        if !by_scoreboard && phase == Phase::Fast {
            self.recovery.inflate(threshold * mss);
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
        let reported = self.recovery.reported().first();
        let end = reported.filter(|range| range.start > una).map_or(end, |range| range.start.min(end));
        self.recovery.send_next(Range::new(una, end), reason);
        self.recovery.forget_timed();
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
        self.recovery.send_next(range, Reason::NakResend);
        self.recovery.forget_timed();
        if cx.config.loss_means == LossMeans::Congestion && range.start >= self.recovery.recover() {
            self.recovery.extend(max);
            self.signal(cx, now, Signal::EnterRecovery, max - una);
        }
    }
}
