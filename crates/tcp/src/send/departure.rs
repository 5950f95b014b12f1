//! A segment is sent: updates SND.NXT, starts timers, and records the transmission.

use crate::config::{CwndCounts, Recovery};
use crate::congestion::Signal;
use crate::congestion::delivery_rate::Leaving;
use crate::context::Context;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::event::{Event, Phase};
use crate::record::reason::Reason;
use crate::send::space::Plan;
use crate::send::{PROBE, Sender};
use crate::time::{Coarse, Time};
use crate::wire::segment::Flags;

impl Sender {
    /// The segment of `plan` is sent with a header of `header_len` bytes.
    #[inline]
    pub(crate) fn departs(&mut self, cx: &mut Context, now: Time, plan: &Plan, header_len: u8) {
        if let Some(extras) = &mut self.extras
            && let Some(interface) = &mut extras.interface
        {
            interface.take(now, u64::from(header_len) + u64::from(plan.len));
        }
        let occupied = plan.len + u32::from(plan.flags.any(Flags::SYN | Flags::FIN));
        if occupied > 0 {
            self.occupy(cx, now, plan, occupied);
        }
        self.count(cx, now, plan);
    }

    /// Sequence numbers are sent: updates SND.NXT, times the segment, arms the timer.
    #[inline]
    fn occupy(&mut self, cx: &mut Context, now: Time, plan: &Plan, seq_len: u32) {
        let end = plan.start + u64::from(seq_len);
        let again = plan.start < self.space.max;
        if self.space.max == 0 {
            self.space.first_sent = Coarse::at(now);
        }
        if plan.reason == Reason::WindowProbe {
            self.unusual.set(PROBE, false);
            if !self.timers.has_released() {
                self.space.max = self.space.max.max(end);
                self.space.last_sent = now;
                return;
            }
            self.push_around_cut(cx, plan.start, end);
        }
        self.note_departure(cx, now, plan, end);
        self.pace(cx, now, plan);
        if plan.start > 0 && self.cwnd_counts_packets(cx) {
            let range = Range::new(plan.start, end);
            self.recovery.note_short(range, u64::from(cx.agreed.payload), again);
        }
        if again {
            self.note_resent(cx, now, plan, end);
        } else {
            self.note_first_transmission(now, plan.start, end);
            match plan.reason {
                Reason::TailProbeData => self.recovery.end_fresh_probe(end),
                Reason::MtuProbe => self.note_mtu_probe(cx, now, plan, end),
                _ => {}
            }
            // If a SYN carries data, the ACK of the SYN alone gives the RTT.
            self.recovery.time_segment(now, if plan.flags.has(Flags::SYN) { 1 } else { end });
        }
        // What recovery resends ahead of SND.NXT, after a timeout, leaves it where it is.
        let in_turn =
            matches!(plan.reason, Reason::Timeout | Reason::GoBackN) || !plan.reason.is_retransmission();
        if in_turn || plan.start <= self.space.nxt {
            self.space.nxt = self.space.nxt.max(end);
        }
        if plan.flags.has(Flags::SYN) {
            // A retransmitted SYN-ACK does not change SND.NXT of data that was sent before the end of the handshake.
            self.space.nxt = self.space.nxt.max(if cx.is_open_early() { self.space.max } else { 0 });
        }
        self.move_max(cx, now, self.space.max.max(end));
        self.space.last_sent = now;
        if plan.flags.has(Flags::FIN) && cx.state() == State::CloseWait {
            cx.enter(now, State::LastAck);
        }
    }

    /// The same for new data after all sent data, which [`Self::log_anew`] has logged if there is a log of transmissions.
    #[inline(always)]
    pub(crate) fn occupy_anew(&mut self, cx: &mut Context, now: Time, end: u64) {
        self.recovery.time_unlogged(now, end);
        self.space.nxt = end;
        self.move_max(cx, now, end);
        self.space.last_sent = now;
    }

    /// The same behind an ACK in the ordinary state that has restarted the timer. The tail loss probe is not armed.
    #[inline(always)]
    pub(crate) fn occupy_behind_ack(&mut self, now: Time, end: u64) {
        self.space.last_sent = now;
        self.recovery.time_unlogged(now, end);
        (self.space.nxt, self.space.max) = (end, end);
    }

    /// Logs the transmission of new data up to `end`, if nothing is lost.
    #[inline(always)]
    pub(crate) fn log_anew(&mut self, now: Time, end: u64) {
        self.recovery.log_calmly(now, self.space.max, end);
    }

    /// Whether transmissions are logged.
    #[inline]
    pub(crate) fn is_logging(&self) -> bool {
        self.recovery.is_logging()
    }

    /// Karn's rule: after a retransmission, the ACK of the timed segment is ambiguous. Linux takes no sample of it either, but
    /// its estimator's round trip goes on (`rtt_seq`).
    pub(in crate::send) fn stop_timing(&mut self, cx: &Context) {
        if !self.takes_acks_as_linux(cx) || self.space.una == 0 {
            self.recovery.forget_timed();
        }
    }

    /// Forgets the transmission times of outstanding data: its ACK gives no RTT sample, and its timer starts at the query.
    pub(crate) fn forget_timing(&mut self) {
        self.space.first_sent = Coarse::default();
        self.recovery.forget_timed();
    }

    /// Data is outstanding: a timer must run for its acknowledgment.
    #[inline(always)]
    fn move_max(&mut self, cx: &mut Context, now: Time, max: u64) {
        let first = !self.space.is_outstanding();
        self.space.max = max;
        if !self.timers.retransmit_is_armed() {
            if self.timers.has_released() && cx.config.counts_as_linux() {
                // The timer of window probes starts no tail loss probe for what it sends (`tcp_write_wakeup()`), and does not look
                // at the use of cwnd.
                self.restart_unprobed(cx, now);
                self.run = 0;
            } else {
                self.restart_retransmit(cx, now);
            }
            self.note_retransmit_timer(cx, now);
        } else {
            self.probe_before_timeout(cx, now);
        }
        if first {
            self.start_user_timeout(cx, now);
            self.congestion.begins_to_send(now, now - self.space.last_sent);
        }
    }

    /// A retransmission.
    #[cold]
    fn note_resent(&mut self, cx: &mut Context, now: Time, plan: &Plan, end: u64) {
        // Retransmitted data does not count as sent at this opportunity: it was not new.
        self.run = 0;
        let sent = Range::new(plan.start, end);
        self.stop_timing(cx);
        let by_scoreboard = cx.config.recovery == Recovery::Sack;
        self.recovery.note_resent(sent, plan.reason, by_scoreboard, u32::from(cx.agreed.payload));
        self.forget_mtu_probe();
        // A SYN has its own timer and no other state.
        if sent.start > 0 {
            self.recovery.log_again(now, sent);
        }
        // `tcp_xmit_retransmit_queue()`: the timer runs for the first segment.
        let is_queued = plan.reason == Reason::RackLoss
            || self.takes_acks_as_linux(cx) && plan.reason != Reason::TailProbe && sent.start > 0;
        if is_queued && sent.start == self.space.una {
            self.restart_retransmit(cx, now);
        }
        cx.counters().retransmitted += 1;
    }

    /// Records a first transmission, except of a SYN.
    #[inline]
    pub(crate) fn note_first_transmission(&mut self, now: Time, start: u64, end: u64) {
        if start > 0 {
            self.recovery.note_first_transmission(now, start, end);
        }
    }

    #[inline]
    fn count(&mut self, cx: &mut Context, now: Time, plan: &Plan) {
        cx.stats.segments_sent += 1;
        if cx.is_recording() {
            cx.note(now, Event::Sent { offset: plan.start.max(1) - 1, len: plan.len, reason: plan.reason });
            if plan.reason == Reason::Timeout {
                cx.note(now, Event::Phase(Phase::TimeoutRecovery));
            }
        }
    }

    /// Whether cwnd counts packets. Only the log of loss detection by time knows them.
    #[inline]
    pub(in crate::send) fn cwnd_counts_packets(&self, cx: &Context) -> bool {
        cx.config.cwnd_counts == CwndCounts::Packets && self.recovery.is_by_time()
    }

    /// Sequence numbers are sent, for the first time or again.
    pub(crate) fn note_departure(&mut self, cx: &mut Context, now: Time, plan: &Plan, end: u64) {
        if self.paced().is_none() || plan.start == 0 {
            return;
        }
        let (outstanding, in_flight) = (self.space.max - self.space.una, self.in_flight(cx));
        self.note_lost(cx, now);
        let range = Range::new(plan.start, end);
        // Without loss detection by time, retransmitted data counts as lost.
        if !self.recovery.is_by_time() && plan.reason.is_retransmission() {
            self.lose(cx, now, &[range]);
        }
        let serial = self.recovery.next_serial();
        let padding = if self.cwnd_counts_packets(cx) { padding(cx, range) } else { 0 };
        let Some(paced) = self.paced_mut() else { return };
        let len = range.len() + padding;
        paced.rate.leaves(Leaving { now, serial, len, outstanding, in_flight });
        let resumes = outstanding == 0 && paced.rate.is_app_limited();
        self.extras().turn = Time::NEVER;
        if resumes {
            self.signal(cx, now, Signal::Resumed, 0);
            self.refresh_pace(cx);
        }
    }
}

/// How many bytes a segment lacks to a full one.
fn padding(cx: &Context, range: Range) -> u64 {
    u64::from(cx.agreed.payload).saturating_sub(range.len())
}
