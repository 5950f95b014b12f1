//! The timers of the sender expire: retransmission, window probe, tail loss probe (RFC 9293, section 3.10.8).

use crate::config::{Reduces, WindowProbe};
use crate::congestion::Signal;
use crate::context::Context;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::event::{Event, Timer};
use crate::record::reason::{Hold, Reason};
use crate::recovery::spurious::frto::Frto;
use crate::recovery::{Phase, Timeout, tail_probe};
use crate::send::{PROBE, Sender};
use crate::time::{Span, Time};

/// What the connection has to do about an expired timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expired {
    Nothing,
    /// TIME-WAIT is over.
    TimeWait,
    /// There were too many retransmissions without an answer.
    Retries,
    /// A probe without data is to ask for the peer's window.
    ProbesWindow,
}

impl Sender {
    /// Handles the main timer, if its deadline has passed.
    pub(crate) fn main_timer_ran_out(&mut self, cx: &mut Context, now: Time) -> Expired {
        let (due, timer) = self.timers.main();
        if due > now {
            return Expired::Nothing;
        }
        let waits_for_more = matches!(self.holding(), Hold::Cork | Hold::EndOfData | Hold::Own);
        let timer = if timer == Timer::Persist && waits_for_more { Timer::Ceiling } else { timer };
        if timer == Timer::Retransmit && self.recovery.awaits_reordering() && self.takes_acks_as_linux(cx) {
            // Linux has one timer: that of reordering has taken the place of this one (`tcp_rack_mark_lost()`), and sets it again.
            self.timers.restart(now, cx.config.timer_grain);
            return Expired::Nothing;
        }
        cx.note(now, Event::Fired { timer });
        match timer {
            Timer::Ceiling => self.ceiling_reached(),
            Timer::Persist => return self.persist_ran_out(cx, now),
            Timer::TimeWait => return Expired::TimeWait,
            Timer::TailProbe => self.tail_probe_ran_out(cx, now),
            _ => return self.retransmit_ran_out(cx, now),
        }
        Expired::Nothing
    }

    /// A segment that pacing or the interface held back may leave from now on.
    pub(crate) fn turn_has_come(&mut self, now: Time) {
        if let Some(extras) = &mut self.extras
            && extras.turn <= now
        {
            extras.turn = Time::NEVER;
            if self.recovery.phase() != Phase::Open {
                self.recovery.permit_repairs_by_pacing();
            }
        }
    }

    /// Whether the timer of window probes is running.
    #[inline]
    pub(crate) fn is_persisting(&self) -> bool {
        self.timers.is_persisting()
    }

    /// Whether the user timeout has expired.
    pub(crate) fn user_timeout_ran_out(&self, now: Time) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.user_timeout <= now)
    }

    /// No ACK arrived in time: all outstanding data is retransmitted, one segment first (RFC 5681,
    /// section 3.1; RFC 6298, sections 5.4 to 5.6).
    fn retransmit_ran_out(&mut self, cx: &mut Context, now: Time) -> Expired {
        self.timers.stop_retransmit();
        if !self.space.is_outstanding() {
            return Expired::Nothing;
        }
        let opening = matches!(cx.state(), State::SynSent | State::SynReceived);
        let finds_closed = !opening && self.space.wnd == 0 && self.takes_acks_as_linux(cx);
        let is_repeated = self.count_timeout(finds_closed);
        let linear = if cx.state() == State::SynSent { cx.config.syn_linear_timeouts } else { 0 };
        let retries = match cx.state() {
            State::SynSent => cx.config.syn_retries,
            State::SynReceived => cx.config.syn_ack_retries,
            _ => cx.config.retries,
        };
        let over = linear > 0 && self.syn_has_had_its_time(cx, now);
        if over || self.timers.unanswered > retries.saturating_add(linear) {
            return Expired::Retries;
        }
        cx.counters().timeouts += 1;
        if self.timers.unanswered > linear {
            self.back_off(cx);
        }
        self.stop_timing(cx);
        // Loss detection by time knows what is lost, so SND.NXT stays, except for a SYN.
        if !self.recovery.is_by_time() || opening {
            self.space.nxt = self.space.una;
        }
        if opening {
            return Expired::Nothing;
        }
        self.suspect_black_hole(cx, now);
        let flight = self.space.max - self.space.una;
        let before = self.recovery.phase();
        // Linux has reduced ssthresh already when the recovery began, unless all of its data is acknowledged
        // (`tcp_enter_loss()`).
        let reduces = self.recovery.has_reduced_above(self.space.una);
        let reduced = is_repeated || reduces && cx.config.reduces == Reduces::Cwnd;
        if before == Phase::Fast && !reduces && cx.config.reduces == Reduces::Cwnd {
            // The recovery is over, and the timeout reduces its window.
            let window = self.recovery_window();
            self.signal(cx, now, Signal::ExitRecovery, flight);
            self.congestion.set_windows(window, self.congestion.ssthresh());
        }
        self.signal(cx, now, Signal::Timeout { first: !reduced }, flight);
        let from_open = before == Phase::Open && !self.recovery.is_reducing();
        self.recovery.go_back(self.space.max);
        self.follow_count(true);
        let reported = self.recovery.reported().first().filter(|range| range.start <= self.space.una);
        let has_reneged = self.recovery.doubt_reports(self.space.una, is_repeated);
        if self.recovery.is_by_time() {
            let reneged = has_reneged.then(|| reported.map_or(self.space.una, |range| range.end));
            // `tcp_enter_loss()` begins anew after a timeout whose retransmission was acknowledged, too, and in a recovery whose data
            // is all acknowledged.
            let goes_on = if cx.config.reduces == Reduces::Cwnd { reduces } else { before == Phase::Fast };
            let begins = !goes_on && !is_repeated;
            let frto = if cx.config.undo {
                Frto::after_timeout(before != Phase::Open, is_repeated)
            } else {
                Frto::Off
            };
            self.time_out_by_time(cx, now, reneged, (begins, from_open, frto));
        }
        Expired::Nothing
    }

    /// The timer has expired. `finds_closed`: the peer has closed its window, so the retransmission is only a probe
    /// (`tcp_retransmit_timer()`). Returns whether there was a retransmission before that was more than that.
    fn count_timeout(&mut self, finds_closed: bool) -> bool {
        let is_repeated = self.retransmissions() > 0;
        if let Some(extras) = self.extras.as_mut().filter(|_| self.timers.unanswered == 0) {
            extras.into_closed = 0;
        }
        self.timers.unanswered = self.timers.unanswered.saturating_add(1);
        if finds_closed {
            let into_closed = &mut self.extras().into_closed;
            *into_closed = into_closed.saturating_add(1);
        }
        is_repeated
    }

    /// Consecutive retransmissions without an ACK, apart from those into a closed window (`icsk_retransmits`).
    pub(in crate::send) fn retransmissions(&self) -> u8 {
        let into_closed = self.extras.as_ref().map_or(0, |extras| extras.into_closed);
        self.timers.unanswered.saturating_sub(into_closed)
    }

    /// Whether the SYN has waited as long as its retransmissions would without the linear ones: few retries end by time,
    /// not by number (Linux, `retransmits_timed_out()`).
    fn syn_has_had_its_time(&self, cx: &Context, now: Time) -> bool {
        let first = self.rto.rto(&cx.config.rto);
        let doublings = (2_u64 << cx.config.syn_retries.min(32)) - 1;
        now - self.space.first_sent.instant() >= first.saturating_mul(doublings)
    }

    /// The peer's window is still closed: one byte probes it (RFC 9293, section 3.8.6.1). If the window permits a small segment,
    /// that is sent instead (the override timeout of section 3.8.6.2.1).
    fn persist_ran_out(&mut self, cx: &Context, now: Time) -> Expired {
        self.timers.stop_retransmit();
        let waits = self.space.nxt < self.space.data_end();
        if waits && cx.config.counts_as_linux() && !self.is_behind_window(cx, self.space.nxt) {
            // What the window permits is new data: nothing is probed again (`tcp_send_probe0()`).
            self.timers.release();
            self.unusual.set(PROBE, true);
            return Expired::Nothing;
        }
        self.count_timeout(false);
        if self.timers.unanswered > cx.config.retries {
            return Expired::Retries;
        }
        self.back_off(cx);
        let extras = self.extras();
        extras.backoff_of_probes = extras.backoff_of_probes.saturating_add(1);
        // In Linux a FIN waits for the window, too.
        let fin_waits = self.is_closing() && !self.space.fin_sent() && cx.config.counts_as_linux();
        let closed = self.space.una + u64::from(self.space.wnd) <= self.space.nxt;
        if (waits || fin_waits) && closed && cx.config.window_probe == WindowProbe::Empty {
            self.timers.persist(now, cx.config.timer_grain);
            return Expired::ProbesWindow;
        }
        self.unusual.set(PROBE, waits);
        self.timers.persist(now, cx.config.timer_grain);
        Expired::Nothing
    }

    /// The retransmission timer ran out, or the persist timer.
    fn back_off(&mut self, cx: &Context) {
        let kind = &cx.config.rto;
        if let Some(extras) = self.extras.as_mut().filter(|_| self.timers.backoff() == 0) {
            extras.backoff_of_probes = 0;
        }
        self.timers.back_off(self.rto.rto(kind), self.rto.max(kind));
    }

    /// How often window probes have doubled the timeout.
    pub(in crate::send) fn backoff_of_probes(&self) -> u8 {
        let counted = self.extras.as_ref().map_or(0, |extras| extras.backoff_of_probes);
        counted.min(self.timers.backoff())
    }

    /// The timeout is the estimator's again, without backoff.
    pub(crate) fn refresh_rto(&mut self, cx: &Context) {
        self.timers.reset_rto(self.rto.rto(&cx.config.rto));
    }

    /// (Re)starts the timer that waits for an ACK: the one of the tail loss probe where there may be one, else that of
    /// retransmissions.
    #[inline(always)]
    pub(crate) fn restart_retransmit(&mut self, cx: &Context, now: Time) {
        self.timers.restart(now, cx.config.timer_grain);
        if self.recovery.is_by_time() {
            self.arm_tail_probe(cx, now);
        }
    }

    /// [`Self::restart_retransmit`] after an ACK. Linux has one timer. If it has waited for reordering or for a tail loss probe, and
    /// waits for no probe now, the timeout counts from the first segment.
    #[inline]
    pub(crate) fn restart_by_ack(&mut self, cx: &Context, now: Time) {
        let waited = self.timers.main().1 == Timer::TailProbe || self.recovery.awaits_reordering();
        self.restart_retransmit(cx, now);
        if waited && self.takes_acks_as_linux(cx) {
            self.recovery.stop_reordering_timer();
            if self.timers.main().1 == Timer::Retransmit {
                self.count_timeout_from_first(cx, now);
            }
        }
    }

    /// The retransmission timer takes the place of another one: it counts from the last transmission of the first segment
    /// (`tcp_rearm_rto()`).
    #[cold]
    pub(crate) fn count_timeout_from_first(&mut self, cx: &Context, now: Time) {
        if let Some(sent) = self.recovery.first_sent() {
            self.timers.restart(now, cx.config.timer_grain);
            self.timers.shorten(now.max(sent + self.timers.rto()));
            self.recovery.set_timeout_calmly(self.timers.main().0);
        }
    }

    /// The retransmission timer has been restarted: a tail loss probe may come before it.
    #[inline(never)]
    pub(in crate::send) fn arm_tail_probe(&mut self, cx: &Context, now: Time) {
        let timeout = self.timers.main().0;
        if self.recovery.set_timeout(timeout) {
            self.arm_probe(cx, now, timeout);
        }
    }

    /// [`Self::restart_retransmit`] where losses are detected by time, in the ordinary state, without the tail loss probe.
    #[inline(always)]
    pub(crate) fn restart_unprobed(&mut self, cx: &Context, now: Time) {
        self.timers.restart(now, cx.config.timer_grain);
        self.recovery.set_timeout_calmly(self.timers.main().0);
    }

    /// Arms the tail loss probe after [`Self::restart_unprobed`], if losses are detected by time. `has_sent`: the ACK has set new
    /// data free, which has left.
    #[inline(always)]
    pub(crate) fn probe_calmly(&mut self, cx: &Context, now: Time, has_sent: bool) {
        if self.recovery.probes_calmly() {
            let timeout = self.timers.main().0;
            let timeout = if has_sent { self.timeout_behind_new_data(cx, now, timeout) } else { timeout };
            self.arm_probe(cx, now, timeout);
        }
    }

    /// A segment has been sent: the tail loss probe, if there may be one, waits anew.
    #[inline(always)]
    pub(crate) fn probe_before_timeout(&mut self, cx: &Context, now: Time) {
        let Some((may_probe, timeout)) = self.recovery.timeout_beside_probe(self.space.max) else { return };
        if !may_probe {
            self.end_wait_for_probe(cx, now);
        } else {
            if cx.config.tail_loss_probe && self.recovery.awaits_reordering() {
                self.recovery.stop_reordering_timer();
            }
            self.arm_probe(cx, now, self.timeout_behind_new_data(cx, now, timeout));
        }
    }

    /// New data has been sent, and there may be no tail loss probe any more: in Linux the retransmission timer takes the place of one
    /// that waits (`tcp_event_new_data_sent()`).
    #[cold]
    fn end_wait_for_probe(&mut self, cx: &Context, now: Time) {
        if self.timers.waits_for_probe() && self.takes_acks_as_linux(cx) {
            self.count_timeout_from_first(cx, now);
        }
    }

    /// New data has been sent while the retransmission timer was to run out at `timeout`: the time that a tail loss probe may not
    /// pass. Linux counts it from the last transmission of the first segment (`tcp_rto_delta_us()`).
    #[inline(always)]
    pub(crate) fn timeout_behind_new_data(&self, cx: &Context, now: Time, timeout: Time) -> Time {
        let as_linux = cx.config.counts_as_linux();
        let first_sent =
            if as_linux { self.recovery.first_sent() } else { self.recovery.first_sent_beside_probe() };
        first_sent.map_or(timeout, |sent| self.timeout_since(cx, now, sent))
    }

    /// The timeout of what was sent at `sent`, unless it has passed (Linux, `tcp_schedule_loss_probe()`).
    #[inline]
    fn timeout_since(&self, cx: &Context, now: Time, sent: Time) -> Time {
        let at = sent + self.timers.rto();
        if at > now { at } else { self.timeout_in_ticks(cx, now, sent) }
    }

    /// The same if the RTO counts in ticks.
    #[cold]
    fn timeout_in_ticks(&self, cx: &Context, now: Time, sent: Time) -> Time {
        let (tick, rto) = (cx.config.rto_tick.as_ps(), self.timers.rto().as_ps());
        let rto = if tick == 0 { rto } else { rto.div_ceil(tick).saturating_mul(tick) };
        let at = sent + Span::from_ps(rto);
        if at > now { at } else { Time::NEVER }
    }

    /// Section 7.2 of RFC 8985: when a probe is to leave, unless the retransmission timer runs out before, at `timeout`.
    #[inline(always)]
    fn arm_probe(&mut self, cx: &Context, now: Time, timeout: Time) {
        if cx.config.tail_loss_probe && self.space.una > 0 {
            // With the padding of short segments: two of them are not alone (`tcp_schedule_loss_probe()`).
            let outstanding = self.space.max - self.space.una + self.recovery.padding_outstanding();
            let lone = outstanding <= u64::from(cx.agreed.payload) || self.has_only_data_with_fin(cx);
            self.timers.probe(now + tail_probe::timeout(self.srtt(cx), lone), timeout);
        }
    }

    /// Whether only one segment is outstanding, and it has data and the FIN, which takes no room in it.
    #[inline]
    fn has_only_data_with_fin(&self, cx: &Context) -> bool {
        self.space.fin_sent() && cx.config.counts_as_linux() && self.recovery.last_start() <= self.space.una
    }

    /// No ACK arrived for two round trips: new data if there is any, otherwise the last segment, is sent as a probe
    /// (section 7.3).
    pub(crate) fn tail_probe_ran_out(&mut self, cx: &Context, now: Time) {
        let Some((may_probe, _)) = self.recovery.timeout_beside_probe(u64::MAX) else { return };
        self.timers.restart(now, cx.config.timer_grain);
        // A report changes nothing in Linux (`tcp_send_loss_probe()`), unless it has started the reordering timer in the place of
        // this one (`tcp_rack_mark_lost()`).
        let goes_on = self.takes_acks_as_linux(cx)
            && self.recovery.phase() == Phase::Open
            && !self.recovery.awaits_reordering();
        if !(may_probe || goes_on) || !self.space.is_outstanding() {
            return;
        }
        if self.recovery.first_sent_beside_probe().is_some() {
            // Only one probe at a time.
            return self.count_timeout_from_first(cx, now);
        }
        let (mss, max) = (u64::from(cx.agreed.payload), self.space.max);
        let fresh = self.fresh_behind(max, mss);
        // The window must permit the whole segment (Linux, `tcp_snd_wnd_test()`).
        let fits = fresh.end <= self.space.una + u64::from(self.space.wnd);
        let (range, reason) = if fresh.is_empty() || !fits || self.space.fin_sent() {
            // A FIN behind the data takes no room among them.
            let last = self.recovery.last_start().max(max.min(self.space.data_end()).saturating_sub(mss));
            let last = Range::new(self.space.una.max(last), max);
            if self.is_behind_window(cx, last.start) && last.start > self.space.una {
                // The peer has shrunk its window (`__tcp_retransmit_skb()`).
                return self.count_timeout_from_first(cx, now);
            }
            (last, Reason::TailProbe)
        } else {
            (fresh, Reason::TailProbeData)
        };
        self.recovery.send_probe(range, reason, cx.config.counts_as_linux());
    }

    /// What a probe behind `max` can carry that was never sent: data, and the FIN if the data ends with it.
    fn fresh_behind(&self, max: u64, mss: u64) -> Range {
        let data_end = self.space.data_end();
        let end = data_end.min(max + mss);
        let fin = u64::from(self.is_closing() && end == data_end);
        Range::new(max, (end + fin).max(max))
    }

    /// The retransmission timer ran out: the first segment leaves at once, whatever the windows say; in Linux as much of it as the
    /// peer's window permits, all of it if that is closed (`__tcp_retransmit_skb()`). `reneged`: where the reports end
    /// that the peer has not acknowledged. Linux has joined the segments of such a report, and no others (`tcp_shift_skb_data()`).
    /// `begins` and `from_open`: whether it begins a recovery, and whether it does so outside others and without a mark that was reducing
    /// the window.
    fn time_out_by_time(
        &mut self,
        cx: &mut Context,
        now: Time,
        reneged: Option<u64>,
        (begins, from_open, frto): (bool, bool, Frto),
    ) {
        let (una, max, has_reneged) = (self.space.una, self.space.max, reneged.is_some());
        let full = (una + u64::from(cx.agreed.payload)).min(max);
        let first = self.recovery.first_segment(una, full);
        let (dup_acks, mss) = (cx.config.dup_ack_threshold, u64::from(cx.agreed.payload));
        let ignores_reordering = cx.config.counts_as_linux();
        let is_untimed = ignores_reordering && cx.passive && una == 1 && self.recovery.sacked() == 0;
        #[rustfmt::skip]
        let timeout = Timeout {
            first, max, has_reneged, begins, from_open, dup_acks, mss, ignores_reordering, is_untimed, frto,
        };
        self.recovery.time_out(now, self.srtt(cx), timeout);
        self.recovery.send_first_lost(cx.agreed.payload, self.joins(cx), Reason::Timeout);
        if let Some(end) = reneged.filter(|&end| una < end && end < full && cx.config.counts_as_linux()) {
            self.recovery.send_next(Range::new(una, end), Reason::Timeout);
        } else if self.is_wider_than_window(cx, first) {
            let permitted = Range::new(una, una + u64::from(self.space.wnd));
            self.recovery.send_next(permitted, Reason::Timeout);
        }
        self.widen_by_recent(cx, now);
    }

    /// Whether the peer's window is open, and `first`, which begins at SND.UNA, does not fit into it.
    fn is_wider_than_window(&self, cx: &Context, first: Range) -> bool {
        let wnd = u64::from(self.space.wnd);
        cx.config.counts_as_linux() && (1..first.len()).contains(&wnd)
    }

    /// After a timeout, data that left too lately to count as lost is still in flight. Linux sets cwnd to one segment more than
    /// that (`tcp_enter_loss()`).
    fn widen_by_recent(&mut self, cx: &mut Context, now: Time) {
        let (in_flight, mss) = (self.in_network(cx), u64::from(cx.agreed.payload));
        if in_flight > 0 && cx.config.reduces == Reduces::Cwnd {
            let cwnd = u32::try_from((in_flight.div_ceil(mss) + 1) * mss).unwrap_or(u32::MAX);
            self.congestion.set_windows(cwnd, self.congestion.ssthresh());
            self.note_window(cx, now);
        }
    }

    /// Notes where the retransmission timer stands.
    #[inline]
    pub(crate) fn note_retransmit_timer(&mut self, cx: &mut Context, now: Time) {
        if cx.is_recording() {
            let (deadline, timer) = self.timers.main();
            if deadline.is_never() {
                return;
            }
            cx.note(now, Event::Armed { timer, deadline });
        }
    }
}
