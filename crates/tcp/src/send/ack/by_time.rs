//! Applies loss detection by time ([`crate::recovery::rack`]), its probes, and the undo of spurious recoveries.

use super::reports::Reports;
use crate::config::{LossMeans, PrrRule};
use crate::congestion::Signal;
use crate::context::Context;
use crate::record::event::{Event, Timer};
use crate::record::reason::Reason;
use crate::recovery::prr::Progress;
use crate::recovery::spurious::frto::LaterAck;
use crate::recovery::spurious::late_original::OnLateOriginal;
use crate::recovery::spurious::undo::Shown;
use crate::recovery::tail_probe::Answer;
use crate::recovery::{Concluded, Occasion, Phase};
use crate::send::{Sender, in_ticks};
use crate::time::{Span, Time};
use crate::wire::options::echo_age;
use crate::wire::segment::Segment;

impl Sender {
    /// The reports of an ACK are processed: detects losses, and computes what may be sent. `updates_window`: Linux takes the
    /// window from it, so it is no duplicate (`FLAG_WIN_UPDATE` in `FLAG_NOT_DUP`).
    #[cold]
    pub(super) fn judge_by_time(
        &mut self,
        cx: &mut Context,
        now: Time,
        segment: &Segment,
        (una_before, flight_before): (u64, u64),
        (marked, is_troubled, updates_window, completes): (bool, bool, bool, bool),
        Reports { reports_new, again, answers_probe, undoes: undone, last_sent, .. }: Reports,
    ) {
        let advanced = self.space.una > una_before;
        self.recovery.permit_repairs();
        let is_bare = !advanced && segment.seq_len() == 0 && !updates_window;
        // An old ACK may reveal losses. It opens no window, answers no probe and reports no mark (`old_ack` in `tcp_ack()`).
        let is_old = self.space.is_old_ack(segment.ack) && self.takes_acks_as_linux(cx);
        let echo = segment.options.timestamps.filter(|_| cx.agreed.timestamps).map(|stamps| stamps.echo);
        if marked && self.takes_acks_as_linux(cx) && !is_old {
            self.congestion.set_prior_ssthresh(0);
        }
        if !advanced && self.takes_acks_as_linux(cx) && self.recovery.is_at_its_end(self.space.una) {
            self.end_recovery(cx, now, echo);
        }
        if advanced && self.takes_acks_as_linux(cx) && self.recovery.has_first_reported() {
            self.expect_reneging(cx, now);
        } else {
            let before = self.recovery.phase();
            let undone_now = advanced && self.undo_by_ack(cx, now, echo, una_before);
            if advanced && completes {
                self.probe_after_undo(cx, now, before);
            }
            // A partial ACK that undoes a recovery does nothing else (`tcp_try_undo_partial()`). D-SACKs that undo one leave its state
            // until the mark was looked at, which reduces nothing in a recovery (`tcp_enter_cwr()`).
            let undoes = undone || before == Phase::Fast && self.recovery.phase() == Phase::Open;
            // An echo that undoes a timeout leaves F-RTO as it is (`tcp_process_loss()`).
            if !(undone_now && self.takes_acks_as_linux(cx)) {
                self.probe_after_timeout(advanced, reports_new || is_bare && again.is_none());
            }
            // A mark reduces the window that an undo has restored (`tcp_try_to_open()`).
            if self.takes_acks_as_linux(cx) && !is_old && !undoes {
                self.judge_echo(cx, now, una_before, flight_before, marked);
            }
        }
        self.recovery.widen_reordering_window(now);
        let is_usual = (advanced || segment.payload.len > 0) && !reports_new && again.is_none() && !marked;
        let looks =
            !self.takes_acks_as_linux(cx) || !is_usual || is_troubled || self.recovery.awaits_trouble();
        let found = looks && !self.recovery.holds_repairs() && self.detect(cx, now, advanced);
        self.recovery.note_disorder(looks);
        let answers = if is_old { 0 } else { self.space.una };
        let Some(Concluded { delivered, answer }) =
            self.recovery.conclude(answers, answers_probe, is_bare && !reports_new)
        else {
            return;
        };
        if is_old {
            return;
        }
        self.proceed_in_proportion(cx, delivered, advanced && !found);
        if answer == Answer::RepairedLoss {
            self.reduce_once(cx, now);
        }
        if let Some(sent) = last_sent {
            // `ca_rtt_us` in `tcp_clean_rtx_queue()`; RACK's RTT is that of what the ACK acknowledges, if it acknowledges anything.
            self.congestion.measure(now, Some(now - sent));
        }
        if self.takes_acks_as_linux(cx) && (advanced || self.space.is_outstanding()) {
            self.grow_at_the_end(cx, now, delivered, advanced, reports_new);
        }
    }

    /// A recovery that has continued the reduction for a mark ends where that does, which may be SND.UNA already. In Linux the next
    /// ACK ends it, whatever it acknowledges, and another recovery may begin at once (`tcp_fastretrans_alert()`).
    /// An old echo undoes it then, too (`tcp_try_undo_recovery()`).
    #[cold]
    fn end_recovery(&mut self, cx: &mut Context, now: Time, echo: Option<u32>) {
        self.recovery.leave();
        if cx.config.loss_means == LossMeans::Congestion {
            self.signal(cx, now, Signal::ExitRecovery, self.space.max - self.space.una);
        }
        cx.note(now, Event::Phase(self.phase()));
        if echo.is_some_and(|echo| self.recovery.answers_original(u64::MAX, echo)) {
            self.undo(cx, now, Shown::Echo);
        }
    }

    /// Opens cwnd by what the present ACK was the first to acknowledge or to report, after all its other effects: not if it begins
    /// a recovery, but if it ends or undoes one. Linux: `tcp_cong_control()` follows `tcp_fastretrans_alert()`.
    fn grow_at_the_end(
        &mut self,
        cx: &mut Context,
        now: Time,
        delivered: u64,
        advanced: bool,
        reports_new: bool,
    ) {
        // A D-SACK alone is no progress (`FLAG_FORWARD_PROGRESS`).
        let progress = advanced || reports_new && self.grows_by_reports(cx);
        let may_grow = self.recovery.phase() != Phase::Fast && !self.recovery.is_reducing() && progress;
        if may_grow && delivered > 0 {
            let flight = self.space.max - self.space.una;
            if self.reduces_gradually(cx) {
                // A mark that reduces nothing, as after a timeout, prevents nothing (`tcp_cong_control()`).
                self.open_window_apart(cx, now, delivered as u32, flight);
            } else {
                self.open_window_unless_marked(cx, now, delivered as u32, flight);
            }
            self.note_window(cx, now);
        } else if delivered > 0 {
            self.congestion.measure(now, self.latest_rtt());
        }
    }

    /// F-RTO after an ACK that `advances` SND.UNA, or `shows_gap` below other data.
    fn probe_after_timeout(&mut self, advances: bool, shows_gap: bool) {
        let (max, wnd_end) = (self.space.max, self.space.una + u64::from(self.space.wnd));
        // A FIN is new, too.
        let fin = u64::from(self.is_closing() && !self.space.fin_sent());
        let may_send_new = (self.space.data_end() + fin).min(wnd_end) > max;
        self.recovery.proceed_after_timeout(max, |sent_new| LaterAck {
            advances,
            shows_gap,
            sent_new,
            may_send_new,
        });
    }

    /// Whether a report without new acknowledged data increases cwnd: Linux does so outside fast recovery, also after a
    /// timeout, once reordering has exceeded the threshold of duplicate ACKs (`tcp_may_raise_cwnd()`).
    fn grows_by_reports(&self, cx: &Context) -> bool {
        let (_, extent) = self.recovery.reordering();
        let most = u64::from(cx.config.dup_ack_threshold) * u64::from(cx.agreed.payload);
        extent > most && cx.config.counts_as_linux()
    }

    /// Detects further losses if the reordering timer has expired.
    pub(crate) fn reordering_ran_out(&mut self, cx: &mut Context, now: Time) {
        if self.recovery.reordering_deadline() > now {
            return;
        }
        cx.note(now, Event::Fired { timer: Timer::Reordering });
        self.recovery.permit_repairs();
        let begins = self.recovery.phase() != Phase::Fast;
        self.detect_losses(cx, now, Occasion::ReorderingTimer);
        self.recovery.note_timer(true);
        // Linux counts one segment as delivered (`tcp_rack_reo_timeout()`).
        let counts_one = begins && cx.config.prr_rule == PrrRule::Linux;
        let delivered = if counts_one { u64::from(cx.agreed.payload) } else { 0 };
        self.proceed_in_proportion(cx, delivered, false);
        if self.takes_acks_as_linux(cx) {
            // The retransmission of the first segment restarts the timer once more.
            self.recovery.stop_reordering_timer();
            self.count_timeout_from_first(cx, now);
        }
    }

    /// Marks lost segments after an ACK, by time or by the count of duplicate ACKs. Returns whether any segment was marked.
    fn detect(&mut self, cx: &mut Context, now: Time, advanced: bool) -> bool {
        if !self.recovery.counts_dup_acks() {
            // An ACK that delivers nothing does not even look at the time (`tcp_rack_mark_lost()`).
            let looks =
                !cx.config.counts_as_linux() || self.recovery.has_advanced() || self.recovery.has_ended();
            return looks && self.detect_losses(cx, now, Occasion::Ack);
        }
        let mss = u64::from(cx.agreed.payload);
        let first = self.recovery.first_segment(self.space.una, (self.space.una + mss).min(self.space.max));
        let threshold = cx.config.dup_ack_threshold;
        let (found, begins) = self.recovery.detect_by_count(first, threshold, mss, advanced);
        if begins {
            self.recover_by_time(cx, now);
        }
        found
    }

    /// Why a segment that is marked lost is sent again in fast recovery.
    pub(in crate::send) fn repair_reason(&self) -> Reason {
        match (self.recovery.counts_dup_acks(), self.recovery.phase()) {
            (false, _) => Reason::RackLoss,
            (true, Phase::Fast) => Reason::PartialAck,
            (true, Phase::Open | Phase::Loss) => Reason::FastRetransmit,
        }
    }

    /// Marks lost segments; begins a recovery if there is none. Returns whether any segment was marked.
    fn detect_losses(&mut self, cx: &mut Context, now: Time, occasion: Occasion) -> bool {
        let srtt = self.srtt(cx);
        let enough = u64::from(cx.config.dup_ack_threshold) * u64::from(cx.agreed.payload);
        let enough = (enough, cx.config.counts_as_linux());
        let (found, begins) =
            self.recovery.detect((now, occasion), self.space.una, srtt, enough, |wait| in_ticks(cx, wait));
        if begins {
            self.recover_by_time(cx, now);
        }
        found
    }

    /// A loss is detected.
    fn recover_by_time(&mut self, cx: &mut Context, now: Time) {
        let reason = self.repair_reason();
        if self.forgives_loss(cx, now, reason) {
            return;
        }
        cx.counters().fast_retransmits += 1;
        let (una, max, cwnd) = (self.space.una, self.space.max, self.congestion.cwnd());
        // A mark in the same round trip has reduced the window already (`tcp_enter_recovery()`).
        let reduced = self.recovery.is_reducing();
        if cx.config.loss_means == LossMeans::Congestion && !reduced {
            self.signal(cx, now, Signal::EnterRecovery, max - una);
        }
        let rule = self.gradual_rule(cx).filter(|_| cx.config.loss_means == LossMeans::Congestion);
        self.recovery.recover_by_time(una, max, rule.map(|rule| (rule, cwnd)));
        // Behind a mark the window of PRR must permit it: it has sent something since (`tcp_cwnd_reduction()`).
        let must_fit = reduced && rule == Some(PrrRule::Linux);
        if !must_fit && !self.recovery.resends_all_lost() {
            self.recovery.send_first_lost(cx.agreed.payload, self.joins(cx), reason);
        }
        // Linux restarts the timer only for a retransmission of the first segment (`tcp_xmit_retransmit_queue()`).
        let first = self.recovery.first_lost(cx.agreed.payload, None);
        if !self.takes_acks_as_linux(cx) || first.is_none_or(|lost| lost.start <= una) {
            self.restart_retransmit(cx, now);
        }
        cx.note(now, Event::Phase(self.phase()));
    }

    /// The rule by which the window falls, if it does so gradually.
    fn gradual_rule(&self, cx: &Context) -> Option<PrrRule> {
        (cx.config.prr && !self.congestion.controls_recovery_cwnd()).then_some(cx.config.prr_rule)
    }

    /// Whether a congestion mark reduces the window gradually. Without the share of marks DCTCP and Prague behave like Reno.
    pub(super) fn reduces_gradually(&self, cx: &Context) -> bool {
        let at_once = cx.config.congestion.reduces_in_proportion()
            && cx.ecn_state().is_some_and(|memory| memory.knows_share());
        self.takes_acks_as_linux(cx) && !at_once
    }

    /// A congestion mark has reduced the window, which was `cwnd` before. Linux reduces it gradually, like that of a recovery
    /// (`tcp_enter_cwr()`). DCTCP and Prague reduce at once here.
    pub(super) fn reduce_gradually(&mut self, cx: &Context, cwnd: u32) {
        if self.reduces_gradually(cx) {
            let rule = self.gradual_rule(cx);
            self.recovery.begin_reduction(self.space.max, rule.map(|rule| (rule, cwnd)));
        }
    }

    /// Applies PRR in a recovery, if it is configured. If a timer has detected the loss, there is no ACK that permits
    /// segments; only the first one is sent.
    fn proceed_in_proportion(&mut self, cx: &Context, delivered: u64, is_safe: bool) {
        if self.recovery.phase() != Phase::Fast && !self.recovery.is_reducing() {
            return;
        }
        let (pipe, ssthresh) = (self.in_network(cx), u64::from(self.congestion.ssthresh()));
        let mss = u64::from(cx.agreed.payload);
        self.recovery.proceed(Progress { delivered, pipe, ssthresh, mss, is_safe });
    }

    /// A loss that is already repaired: congestion control gets a signal, and nothing is retransmitted. If D-SACKs undo the recovery
    /// before, they restore its ssthresh, but the present cwnd (`tcp_process_tlp_ack()` leaves `prior_ssthresh`).
    fn reduce_once(&mut self, cx: &mut Context, now: Time) {
        if self.recovery.phase() == Phase::Open && cx.config.loss_means == LossMeans::Congestion {
            let flight = self.space.max - self.space.una;
            let prior = self.congestion.set_prior_ssthresh(0);
            self.signal(cx, now, Signal::EnterRecovery, flight);
            self.signal(cx, now, Signal::ExitRecovery, flight);
            self.congestion.set_prior_ssthresh(prior);
        }
    }

    /// The first outstanding segment was reported before, so the peer may have discarded what it has reported. Linux gives it half
    /// an RTT, and 10 ms at least, to acknowledge the rest, and repairs nothing until then (`tcp_check_sack_reneging()`).
    #[cold]
    fn expect_reneging(&mut self, cx: &Context, now: Time) {
        const LEAST: Span = Span::from_ms(10);
        let half = self.srtt(cx).map_or(LEAST, |srtt| Span::from_ps(srtt.as_ps() / 2));
        self.recovery.hold_repairs();
        self.timers.expect_reneging(now + half.max(LEAST));
    }

    /// An ACK of new data that echoes a timestamp older than the retransmission shows that the original was delivered. The
    /// timestamp must be one that our segments can have carried: as with RTT samples, an invented one proves nothing.
    ///
    /// In Linux any ACK of new data shows it if nothing has been retransmitted yet: pacing may hold it back
    /// (`tcp_packet_delayed()`).
    ///
    /// During fast recovery it shows reordering, too. Returns whether it undoes the recovery.
    fn undo_by_ack(&mut self, cx: &mut Context, now: Time, echo: Option<u32>, una_before: u64) -> bool {
        let una = self.space.una;
        let is_echoed = echo.is_some_and(|echo| {
            self.recovery.answers_original(una, echo) && echo_age(now, echo, self.space.first_sent).is_some()
        });
        if is_echoed || self.takes_acks_as_linux(cx) && self.recovery.has_resent_nothing(una) {
            // An ACK of all data shows no order (`tcp_try_undo_recovery()`).
            let is_partial = !cx.config.counts_as_linux() || self.space.una < self.recovery.recover();
            if self.recovery.phase() == Phase::Fast
                && is_partial
                && self.recovery.note_late_original(una_before) == OnLateOriginal::SendOnlyNew
            {
                self.recovery.hold_repairs();
                return false;
            }
            self.undo(cx, now, Shown::Echo)
        } else if self.takes_acks_as_linux(cx)
            && self.recovery.phase() == Phase::Loss
            && self.recovery.has_all_twice()
        {
            self.undo(cx, now, Shown::Duplicates)
        } else {
            false
        }
    }

    /// An ACK of new data may have undone a recovery, in which its timer waited for no tail loss probe. Linux sets the timer
    /// afterwards (`tcp_set_xmit_timer()`), if a whole segment is acknowledged (FLAG_SET_XMIT_TIMER).
    fn probe_after_undo(&mut self, cx: &Context, now: Time, before: Phase) {
        let undone = before != Phase::Open && self.recovery.phase() == Phase::Open;
        if undone && self.takes_acks_as_linux(cx) && self.timers.main().1 == Timer::Retransmit {
            self.arm_tail_probe(cx, now);
        }
    }

    /// The recovery or the timeout was spurious: restores the state before it (RFC 4015, section 3; RFC 5682). Returns whether
    /// there was one.
    pub(in crate::send) fn undo(&mut self, cx: &mut Context, now: Time, shown: Shown) -> bool {
        self.undo_at(cx, now, self.space.una, shown)
    }

    /// The same while the present ACK, up to `una`, is processed.
    pub(super) fn undo_at(&mut self, cx: &mut Context, now: Time, una: u64, shown: Shown) -> bool {
        let (as_linux, before) = (cx.config.counts_as_linux(), self.recovery.phase());
        let window = self.recovery.window_at_undo().filter(|_| as_linux);
        if !cx.config.undo || !self.recovery.undo(as_linux, una, shown) {
            return false;
        }
        if as_linux && before == Phase::Loss {
            // The timeout no longer counts (`tcp_try_undo_loss()`).
            self.timers.unanswered = 0;
        }
        cx.counters().undone += 1;
        if let Some(window) = window {
            // If nothing may be restored, cwnd is what it is now (`tcp_undo_cwnd_reduction()`).
            self.keep_cwnd(cx, window);
        }
        self.signal(cx, now, Signal::Undo, self.space.max - self.space.una);
        cx.note(now, Event::Undone);
        cx.note(now, Event::Phase(self.phase()));
        true
    }
}
