//! The decision what to send now, or why nothing is sent. It is pure and returns the reason.

mod closing;
pub(super) mod held_tail;
pub(crate) mod in_repair;
pub(crate) mod ordinary;
pub(super) mod pacing;
pub(super) mod tso;
mod window;

use crate::config::Recovery;
use crate::context::Context;
use crate::opening::state::State;
use crate::ranges::Range;
use crate::record::reason::{Hold, Reason};
use crate::recovery::{Joins, Phase, Resend};
use crate::send::space::{Decision, Plan};
use crate::send::transmit::{Situation, Transmit, Verdict, judge};
use crate::send::{PROBE, RECORDS, Sender};
use crate::time::Time;
use crate::wire::segment::Flags;

impl Sender {
    /// Decides what to send now, or why nothing is sent. `in_order` means that the receiver has no out-of-order data.
    #[inline]
    pub(crate) fn decide(&self, cx: &Context, now: Time, in_order: bool) -> Decision {
        let decision = if cx.state().may_send() {
            self.decide_data(cx, now, in_order)
        } else {
            self.decide_unopened(cx, now, in_order)
        };
        let decision = if self.unusual.has(RECORDS) { self.cut_at_record(decision) } else { decision };
        self.apply_pacing(cx, now, decision)
    }

    /// The sequence position of a segment without data, SYN and FIN. It must lie in the peer's window; otherwise the
    /// peer replies with an ACK, and the exchange never ends. It is the position after all sent data, even if a timeout
    /// has set SND.NXT back, but not after data beyond the window such as a probe byte or a FIN. A keep-alive probe is
    /// one position lower (RFC 9293, section 3.8.4), so that the peer replies.
    #[inline]
    pub(crate) fn ack_position(&self, cx: &Context, reason: Reason) -> u64 {
        if matches!(reason, Reason::KeepAlive | Reason::WindowProbe) {
            // The second is a probe without a byte.
            return if reason == Reason::KeepAlive { self.space.max - 1 } else { self.space.una - 1 };
        }
        let edge = self.space.una + u64::from(self.space.wnd);
        if self.space.max <= edge { self.space.max } else { self.position_behind_window(cx, edge) }
    }

    /// [`Self::ack_position`] if more was sent than the window permits now. In Linux a window that can only be announced in steps
    /// may lie that much lower (`tcp_acceptable_seq()`).
    #[cold]
    fn position_behind_window(&self, cx: &Context, edge: u64) -> u64 {
        let (_, ours) = cx.agreed.shifts();
        let is_step = cx.config.counts_as_linux() && self.space.max - edge < (1 << ours);
        // A closed window begins behind the SYN, too.
        if is_step { self.space.max } else { edge.max(1) }
    }

    /// Decides before the connection is open: a SYN, or nothing.
    fn decide_unopened(&self, cx: &Context, now: Time, in_order: bool) -> Decision {
        let reason = match cx.state() {
            State::SynSent => Reason::Open,
            State::SynReceived => Reason::Accept,
            _ => return Decision::Hold(Hold::NotOpen),
        };
        if self.space.nxt == 0 {
            Decision::Send(Plan { start: 0, len: self.syn_room(cx), flags: Flags::SYN, reason })
        } else if cx.is_open_early() {
            self.decide_data(cx, now, in_order)
        } else {
            Decision::Hold(Hold::NotOpen)
        }
    }

    #[inline]
    fn decide_data(&self, cx: &Context, now: Time, in_order: bool) -> Decision {
        if !self.recovery.is_quiet() || self.unusual.has(PROBE) {
            return self.decide_repair(cx);
        }
        if in_order && let Some(decision) = self.decide_mtu_probe(cx, now) {
            return decision;
        }
        self.decide_next(cx)
    }

    /// Decides about retransmissions and window probes.
    fn decide_repair(&self, cx: &Context) -> Decision {
        if let Some(Resend { start, len, reason }) = self.recovery.resend() {
            // A FIN takes no room in its segment.
            let ends = start + u64::from(len) == self.space.data_end() + 1 && cx.config.counts_as_linux();
            let most = u32::from(cx.agreed.payload) + u32::from(ends);
            let first = Range::new(start, start + u64::from(len.min(most)));
            let first = self.within_window(cx, first);
            let plan = self.resend(first, reason);
            // New data of a probe may be a short segment, which delays the next one (`tcp_minshall_update()`).
            let is_short = reason == Reason::TailProbeData && self.remembers_short(cx, &plan);
            return if is_short { Decision::Short(plan) } else { Decision::Send(plan) };
        }
        if self.unusual.has(PROBE) {
            let mut plan = self.space.plan(self.space.nxt, self.probe_len(cx), Reason::WindowProbe, false);
            if self.timers.has_released() {
                plan.flags = plan.flags | Flags::PSH;
            }
            return Decision::Send(plan);
        }
        if self.recovery.phase() != Phase::Open && self.recovery.is_by_time() {
            return self.decide_by_time(cx);
        }
        if self.recovery.phase() == Phase::Fast
            && let Some(decision) = self.decide_by_scoreboard(cx)
        {
            return decision;
        }
        self.decide_next(cx)
    }

    /// The length of a window probe: one byte into a closed window (RFC 9293, section 3.8.6.1), or all that a silly
    /// window permits (section 3.8.6.2.1, rule 4).
    #[cold]
    fn probe_len(&self, cx: &Context) -> u32 {
        let (permitted, _) = self.allowed(cx, self.space.nxt);
        let waiting = self.space.data_end().saturating_sub(self.space.nxt);
        permitted.min(waiting).clamp(1, u64::from(cx.agreed.payload)) as u32
    }

    /// NextSeg() of RFC 6675, section 4, while pipe permits a segment; `None` without a scoreboard.
    fn decide_by_scoreboard(&self, cx: &Context) -> Option<Decision> {
        let board = self.recovery.scoreboard()?;
        if cx.config.recovery != Recovery::Sack {
            return None;
        }
        let (una, max, mss) = (self.space.una, self.space.max, u32::from(cx.agreed.payload));
        if board.pipe(una, max) + u64::from(mss) > u64::from(self.congestion.cwnd()) {
            return Some(Decision::Hold(Hold::CongestionWindow));
        }
        if let Some(hole) = board.next_hole(una, mss, true) {
            return Some(Decision::Send(self.space.again(hole, Reason::SackHole)));
        }
        let fresh = self.decide_next(cx);
        if matches!(fresh, Decision::Send(_) | Decision::Short(_)) {
            return Some(fresh);
        }
        if let Some(hole) = board.next_hole(una, mss, false) {
            return Some(Decision::Send(self.space.again(hole, Reason::SackHole)));
        }
        let rescue = board.rescue(una, self.recovery.recover(), max, mss);
        Some(rescue.map_or(fresh, |range| Decision::Send(self.space.again(range, Reason::SackRescue))))
    }

    /// Decides about the segment at SND.NXT: new data, or a retransmission after a timeout.
    pub(crate) fn decide_next(&self, cx: &Context) -> Decision {
        self.decide_next_by(cx, &cx.config.transmit)
    }

    /// The same with a policy for short segments, unless the connection has one of its own.
    fn decide_next_by(&self, cx: &Context, policy: &Transmit) -> Decision {
        let snd = &self.space;
        let (start, stop) = self.next_range();
        let available = stop.saturating_sub(start);
        let fin_waits = self.is_closing() && start <= snd.data_end();
        if available == 0 {
            let ends = fin_waits && start == snd.data_end();
            return if ends { self.decide_fin(cx, start) } else { Decision::Hold(Hold::NoData) };
        }
        if self.unusual.has(RECORDS)
            && let Some(decision) = self.decide_record_tail(cx, start, stop)
        {
            return decision;
        }
        let (allowed, limit) = self.allowed(cx, start);
        let situation = Situation {
            available,
            allowed,
            mss: cx.burst_payload(),
            unacknowledged: snd.nxt - snd.una,
            // The window never exceeds our own cap, so waiting for more would never end.
            max_window: snd.max_wnd.min(cx.config.send_window.unwrap_or(u32::MAX)),
            short_unacknowledged: self.short_unacknowledged(),
            before: self.before(cx),
            end: self.end_of_data(cx, start, fin_waits),
            cutting: cx.config.cutting,
        };
        let own = self.extras.as_ref().and_then(|rare| rare.policy.as_deref());
        let verdict = match own {
            None => judge(policy, &situation),
            Some(own) => judge(own, &situation),
        };
        match verdict {
            Verdict::Send(len) => {
                let plan = snd.plan(start, len, self.reason_for_next(cx, start), self.is_closing());
                if plan.flags.has(Flags::FIN) && self.fin_waits_for_window(cx) {
                    return Decision::Hold(Hold::ReceiveWindow);
                }
                if self.remembers_short(cx, &plan) { Decision::Short(plan) } else { Decision::Send(plan) }
            }
            Verdict::Hold(Hold::SillyWindow) => Decision::Hold(limit),
            Verdict::Hold(why) => Decision::Hold(why),
        }
    }

    /// Whether new data is a short segment that may delay the next one, also if Nagle's rule did not apply to it.
    fn remembers_short(&self, cx: &Context, plan: &Plan) -> bool {
        let has_policy = self.extras.as_ref().is_some_and(|rare| rare.policy.is_some());
        // What the timer of window probes sends of corked data does not count (`tcp_write_wakeup()`).
        let by_linux = cx.config.counts_as_linux()
            && (cx.config.transmit != Transmit::Cork || plan.reason == Reason::TailProbeData);
        let remembers = cx.config.transmit == Transmit::Minshall || has_policy || by_linux;
        remembers
            && plan.len < cx.burst_payload()
            // No other segment follows the last one.
            && !self.is_closing()
            && plan.start == self.space.max
            && plan.reason != Reason::SynDataAgain
    }

    /// Whether the last segment waits because its FIN lies behind the peer's window (`tcp_snd_wnd_test()`). Linux asks for the first
    /// segment of a packet only; what leaves at once is one.
    #[cold]
    fn fin_waits_for_window(&self, cx: &Context) -> bool {
        (self.run == 0 || self.is_paced()) && self.is_behind_window(cx, self.space.data_end())
    }

    /// Decides about a FIN without data. In Linux it waits for the peer's window, and for cwnd, like any other segment
    /// (`tcp_snd_wnd_test()`, `tcp_cwnd_test()`).
    fn decide_fin(&self, cx: &Context, start: u64) -> Decision {
        if self.is_behind_window(cx, start) {
            return Decision::Hold(Hold::ReceiveWindow);
        }
        if self.takes_acks_as_linux(cx) && self.allowed(cx, start).0 == 0 {
            return Decision::Hold(Hold::CongestionWindow);
        }
        Decision::Send(self.space.plan(start, 0, self.reason_at(start, Reason::Fin), true))
    }

    /// The reason for the segment at SND.NXT.
    #[inline]
    pub(crate) fn reason_for_next(&self, cx: &Context, start: u64) -> Reason {
        let fresh = if self.is_rejected_syn_data(cx, start) {
            Reason::SynDataAgain
        } else if self.recovery.dup_acks() > 0 && self.recovery.phase() == Phase::Open && self.at_cwnd() {
            Reason::LimitedTransmit
        } else {
            Reason::NewData
        };
        self.reason_at(start, fresh)
    }

    /// The start of the next segment, and its largest end. After a timeout it skips data that SACK has reported as
    /// received.
    fn next_range(&self) -> (u64, u64) {
        let (nxt, end) = (self.space.nxt, self.space.data_end());
        if nxt < self.space.max
            && let Some(board) = self.recovery.scoreboard()
            && let Some(reported) = board.reported().at_or_after(nxt)
        {
            if reported.start <= nxt {
                let behind =
                    board.reported().at_or_after(reported.end).map_or(end, |next| next.start.min(end));
                return (reported.end, behind);
            }
            return (nxt, reported.start.min(end));
        }
        (nxt, end)
    }

    /// The reason for data at `start`: `fresh` if it was never sent. Recovery from a timeout may end, or be replaced by
    /// a fast retransmit (Tahoe, Reno), before SND.NXT has caught up. A byte that was only sent as a window probe
    /// counts as new.
    #[inline]
    fn reason_at(&self, start: u64, fresh: Reason) -> Reason {
        let probed = self.recovery.phase() == Phase::Open && start + 1 == self.space.max;
        if start >= self.space.max || probed {
            fresh
        } else if start == self.space.una && self.recovery.phase() == Phase::Loss {
            Reason::Timeout
        } else {
            Reason::GoBackN
        }
    }

    /// Decides with RACK: lost data first, then new data.
    pub(crate) fn decide_by_time(&self, cx: &Context) -> Decision {
        let Some(first) = self.recovery.first_lost(cx.agreed.payload, self.joins(cx)) else {
            return self.decide_next(cx);
        };
        if self.recovery.holds_repairs() || self.recovery.resends_all_lost() {
            return self.decide_next(cx);
        }
        if self.recovery.sends_only_new() {
            // If no new data could be sent since the ACK, lost data is retransmitted (RFC 5682, section 3.1, step 2 b).
            // Linux then sends a short segment, too (`TCP_NAGLE_OFF` in `tcp_xmit_recovery()`), but not what is written later.
            let is_free = cx.config.counts_as_linux() && !self.recovery.has_looked_for_new();
            let policy = if is_free { Transmit::NoDelay } else { cx.config.transmit };
            let fresh = self.decide_next_by(cx, &policy);
            if !matches!(fresh, Decision::Hold(_)) || self.space.max > self.recovery.recover() {
                return fresh;
            }
        }
        if first.start > self.space.una && self.is_behind_window(cx, first.start) {
            return Decision::Hold(Hold::ReceiveWindow);
        }
        let (pipe, mss) = (self.in_network(cx), u64::from(cx.agreed.payload));
        if pipe > 0 && pipe + mss > u64::from(self.recovery_window()) {
            return Decision::Hold(Hold::CongestionWindow);
        }
        let reason = match self.recovery.phase() {
            Phase::Loss if first.start == self.space.una => Reason::Timeout,
            Phase::Loss => Reason::GoBackN,
            Phase::Open | Phase::Fast => self.repair_reason(),
        };
        Decision::Send(self.resend(self.within_window(cx, first), reason))
    }

    /// Whether new data, if any may leave, goes before what is lost: it shows whether the timeout was spurious.
    pub(crate) fn tries_new_data(&self) -> bool {
        self.recovery.sends_only_new() && self.space.max <= self.recovery.recover() && self.unsent() > 0
    }

    /// The plan that retransmits `range`. Where each segment is known, a FIN that left alone does not join one that left before.
    fn resend(&self, range: Range, reason: Reason) -> Plan {
        if reason == Reason::TailProbeData {
            // It is new: a FIN that follows leaves with it.
            let len = range.end.min(self.space.data_end()) - range.start;
            return self.space.plan(range.start, len as u32, reason, self.is_closing());
        }
        let mut plan = self.space.again(range, reason);
        if self.recovery.is_by_time() && range.end <= self.space.data_end() {
            plan.flags = Flags(plan.flags.0 & !Flags::FIN.0);
        }
        plan
    }

    /// The segments behind a lost one that are sent again with it if they fit in one segment, although they are not lost
    /// (Linux, `tcp_retrans_try_collapse()`).
    pub(in crate::send) fn joins(&self, cx: &Context) -> Option<Joins> {
        let window_end = self.space.una + u64::from(self.space.wnd);
        cx.config.counts_as_linux().then(|| Joins {
            data_end: self.space.data_end(),
            max: self.space.max,
            window_end,
        })
    }

    /// How much of a retransmission leaves if options leave room for `spare` bytes: in Linux whole segments, if one fits.
    pub(crate) fn part_that_fits(&self, cx: &Context, plan: &Plan, spare: u32) -> u32 {
        let is_again = plan.start > 0 && plan.start < self.space.max;
        if !is_again || !self.takes_acks_as_linux(cx) {
            return spare;
        }
        self.recovery.fitting(Range::new(plan.start, plan.start + u64::from(spare))).len() as u32
    }

    /// Whether what begins at `start` must wait for the peer's window, in Linux also a FIN (`tcp_snd_wnd_test()`) and a
    /// retransmission (`tcp_retransmit_skb()`).
    pub(crate) fn is_behind_window(&self, cx: &Context, start: u64) -> bool {
        cx.config.counts_as_linux() && start >= self.space.una + u64::from(self.space.wnd)
    }

    /// The part of a lost segment that lies in the peer's window, which may have shrunk (Linux, `tcp_retransmit_skb()`). The first
    /// outstanding segment is sent even if nothing of it does.
    #[inline]
    fn within_window(&self, cx: &Context, lost: Range) -> Range {
        let end = self.space.una + u64::from(self.space.wnd);
        if lost.end <= end || end <= lost.start || !cx.config.counts_as_linux() {
            return lost;
        }
        Range::new(lost.start, end)
    }
}
