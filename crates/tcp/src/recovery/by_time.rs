//! Loss detection by time, carried out: [`crate::recovery::rack`], its probes, and the way back from a mistake.

use crate::ack::process::timestamp;
use crate::config::{LossMeans, Recovery};
use crate::congestion::Signal;
use crate::connection::Connection;
use crate::ranges::{Range, RangeSet};
use crate::record::event::{Event, Timer};
use crate::record::reason::{Hold, Reason};
use crate::recovery::prr::{Progress, Prr};
use crate::recovery::rack::Rack;
use crate::recovery::tail_probe::{self, Answer};
use crate::recovery::undo::Undo;
use crate::recovery::{Phase, Resend};
use crate::send::space::Decision;
use crate::time::{Span, Time};
use crate::wire::segment::Segment;

impl Connection {
    /// Both ends agree on SACK, without which time tells nothing.
    pub(crate) fn begin_rack(&mut self) {
        if self.config.recovery == Recovery::Rack && self.agreed.sack {
            self.rack = Some(Box::default());
        }
    }

    /// The SYN came back after `rtt`: the first of the shortest round trips (RFC 8985, section 6.2, step 1).
    pub(crate) fn note_first_round_trip(&mut self, now: Time, rtt: Span) {
        if let Some(rack) = &mut self.rack {
            rack.learn_rtt(now, rtt);
        }
    }

    /// Who keeps a time for each segment takes a report of a part of one for none (Linux, `tcp_match_skb_to_sack()`).
    #[inline]
    pub(crate) fn in_whole_segments(&self, reported: Range) -> Range {
        self.rack.as_ref().map_or(reported, |rack| rack.journal.whole(reported, self.snd.data_end()))
    }

    /// The reports of the peer.
    pub(crate) fn sacked(&self) -> &RangeSet {
        const NONE: &RangeSet = &RangeSet::new();
        self.loss.scoreboard.as_ref().map_or(NONE, |board| &board.sacked)
    }

    /// `range`, or what of it was not known before, has arrived.
    #[cold]
    pub(crate) fn note_delivery(&mut self, now: Time, range: Range, segment: &Segment) {
        let Some(mut rack) = self.rack.take() else { return };
        // Our clock counts milliseconds: an echo of an earlier one is no answer to what left later. What is reported beyond a
        // gap has no echo of its own (RFC 7323, section 4.3): there RFC 8985's rule would take every resend that arrives,
        // a tail loss probe above all, for the original; Linux goes by the round trip alone, and so do we.
        let acknowledged = range.end as i64 <= self.snd.position(segment.ack);
        let stamps = segment.options.timestamps.filter(|_| self.agreed.timestamps && acknowledged);
        let echo = stamps.map(|stamps| stamps.echo);
        let is_echoed = |sent: Time| echo.is_none_or(|echo| (echo.wrapping_sub(timestamp(sent)) as i32) >= 0);
        let originals = self.sacked().missing_in(range).any(|piece| !rack.was_resent(piece));
        for piece in self.sacked().missing_in(range) {
            rack.deliver(now, piece, is_echoed);
        }
        self.rack = Some(rack);
        // RFC 5682, section 3.1, step 3: after a timeout, what was sent but once arrives: there was no loss.
        if originals && self.loss.phase == Phase::Loss && range.start == self.snd.una {
            self.undo(now);
        }
    }

    /// A D-SACK (RFC 2883): what was sent again had arrived before.
    #[cold]
    pub(crate) fn note_duplicate_report(&mut self, now: Time) {
        let (una, max) = (self.snd.una, self.snd.max);
        let Some(rack) = &mut self.rack else { return };
        // One that a probe has brought about says nothing of the order.
        if rack.probe.is_over() {
            rack.widen(una, max);
        }
        if rack.undo.as_mut().is_some_and(Undo::reported_twice) {
            self.undo(now);
        }
    }

    /// All that an ACK says has been taken in: what is lost by now, and what may leave. `twice` says that it reported a
    /// duplicate.
    #[cold]
    pub(crate) fn judge_by_time(&mut self, now: Time, una_before: u64, segment: &Segment, twice: bool) {
        let advanced = self.snd.una > una_before;
        if let Some(stamps) = segment.options.timestamps
            && self.agreed.timestamps
            && advanced
        {
            self.undo_by_echo(now, stamps.echo);
        }
        let found = self.detect_losses(now);
        let Some(rack) = &mut self.rack else { return };
        rack.note_order();
        let delivered = core::mem::take(&mut rack.delivered);
        let is_duplicate = delivered == 0 && !advanced && segment.seq_len() == 0;
        let answer = rack.probe.answered(self.snd.una, twice, is_duplicate);
        self.proceed_in_proportion(delivered, advanced && !found);
        if answer == Answer::RepairedLoss {
            self.reduce_once(now);
        }
    }

    /// The reordering timer ran out.
    pub(crate) fn reordering_ran_out(&mut self, now: Time) {
        self.note(now, Event::Fired { timer: Timer::Reordering });
        self.detect_losses(now);
        self.proceed_in_proportion(0, false);
    }

    /// Holds lost what is; begins a recovery if there is none. Returns whether anything was.
    fn detect_losses(&mut self, now: Time) -> bool {
        let Some(mut rack) = self.rack.take() else { return false };
        let first = self.loss.scoreboard.as_ref().is_some_and(|board| board.is_lost(self.snd.una));
        let window = rack.window(first || self.loss.phase != Phase::Open, self.srtt());
        let found = rack.detect(now, window, self.sacked());
        rack.deadline = rack.deadline.map(|due| now + self.in_ticks(due - now));
        let unrepaired = rack.take_unrepaired(self.sacked());
        self.rack = Some(rack);
        if (found || unrepaired) && self.loss.phase == Phase::Open {
            self.recover_by_time(now);
        }
        found
    }

    /// How long a timer of recovery's runs that should run for `wait`.
    fn in_ticks(&self, wait: Span) -> Span {
        let tick = self.config.reordering_tick.as_ps();
        if tick == 0 { wait } else { Span::from_ps((wait.as_ps().div_ceil(tick) + 2) * tick) }
    }

    /// A loss is noticed.
    fn recover_by_time(&mut self, now: Time) {
        if self.forgives_loss(now, Reason::RackLoss) {
            return;
        }
        self.rare().counters.fast_retransmits += 1;
        let (una, max) = (self.snd.una, self.snd.max);
        if self.config.loss_means == LossMeans::Congestion {
            self.signal(now, Signal::EnterRecovery, max - una);
        }
        let loss = self.loss.trouble();
        (loss.phase, loss.recover) = (Phase::Fast, max);
        (loss.partial_seen, loss.inflation) = (false, 0);
        let reduces = self.config.prr
            && self.config.loss_means == LossMeans::Congestion
            && !self.congestion.rules_recoveries();
        if let Some(rack) = &mut self.rack {
            rack.prr = reduces.then(|| Prr::new(max - una));
        }
        self.prepare_undo();
        self.resend_first_lost(Reason::RackLoss);
        self.restart_retransmit(now);
        self.note(now, Event::Phase(self.phase()));
    }

    /// What begins now may turn out a mistake.
    fn prepare_undo(&mut self) {
        let Some(rack) = &self.rack else { return };
        let (unreported, first) = rack.journal.resends(self.sacked());
        let undo = Undo::new(self.snd.una, unreported, first.map(timestamp));
        if let Some(rack) = &mut self.rack {
            rack.undo = Some(undo);
        }
    }

    /// The first of what is lost leaves at once, whatever the windows say: the fast retransmit.
    fn resend_first_lost(&mut self, reason: Reason) {
        let first = self.rack.as_ref().and_then(|rack| rack.first_lost(self.agreed.payload));
        self.loss.trouble().resend = first.and_then(|first| Resend::new(first, reason));
    }

    /// In a recovery, what has been delivered makes room in proportion, where that is configured. A timer that has found
    /// something lost has no ACK to make room for it, but the first segment.
    fn proceed_in_proportion(&mut self, delivered: u64, is_safe: bool) {
        if self.loss.phase != Phase::Fast {
            return;
        }
        let (pipe, ssthresh) = (self.in_network(), u64::from(self.congestion.ssthresh()));
        let mss = u64::from(self.agreed.payload);
        if let Some(prr) = self.rack.as_mut().and_then(|rack| rack.prr.as_mut()) {
            prr.on_ack(Progress { delivered, pipe, ssthresh, mss, is_safe });
        }
    }

    /// A loss that is repaired already: congestion control hears of it, and nothing else has to be done.
    fn reduce_once(&mut self, now: Time) {
        if self.loss.phase == Phase::Open && self.config.loss_means == LossMeans::Congestion {
            let flight = self.snd.max - self.snd.una;
            self.signal(now, Signal::EnterRecovery, flight);
            self.signal(now, Signal::ExitRecovery, flight);
        }
    }

    /// What recovery by time sends next: what is lost, then new data.
    pub(crate) fn decide_by_time(&self, rack: &Rack) -> Decision {
        let Some(first) = rack.first_lost(self.agreed.payload) else { return self.decide_next() };
        let (pipe, mss) = (self.in_network(), u64::from(self.agreed.payload));
        if pipe > 0 && pipe + mss > u64::from(self.recovery_window()) {
            return Decision::Hold(Hold::CongestionWindow);
        }
        let reason = match self.loss.phase {
            Phase::Loss if first.start == self.snd.una => Reason::Timeout,
            Phase::Loss => Reason::GoBackN,
            Phase::Open | Phase::Fast => Reason::RackLoss,
        };
        Decision::Send(self.snd.again(first, reason))
    }

    /// cwnd, or what takes its place while a recovery lasts.
    pub(crate) fn recovery_window(&self) -> u32 {
        let prr = self.rack.as_ref().and_then(|rack| rack.prr.as_ref());
        match prr {
            Some(prr) if self.loss.phase == Phase::Fast => u32::try_from(prr.window()).unwrap_or(u32::MAX),
            _ => self.inflated_cwnd(),
        }
    }

    /// The retransmission timer ran out: the first segment leaves at once, whatever the windows say.
    pub(crate) fn time_out_by_time(&mut self, now: Time, may_be_reneged: bool) {
        let Some(mut rack) = self.rack.take() else { return };
        let (una, max) = (self.snd.una, self.snd.max);
        if may_be_reneged {
            rack.forget(Range::new(una, max));
        } else {
            let first = Range::new(una, (una + u64::from(self.agreed.payload)).min(max));
            let window = rack.window(true, self.srtt());
            rack.time_out(now, first, window, self.sacked());
        }
        if self.unanswered == 1 {
            rack.undo = None;
        }
        self.rack = Some(rack);
        // What the peer has dropped it will not report as having come twice.
        if self.unanswered == 1 && !may_be_reneged {
            self.prepare_undo();
        }
        self.resend_first_lost(Reason::Timeout);
    }

    /// What was sent before leaves again. A SYN has its own timer and nothing else.
    pub(crate) fn note_resent_by_time(&mut self, now: Time, sent: Range) {
        if let Some(rack) = self.rack.as_mut().filter(|_| sent.start > 0) {
            rack.resend(sent, now);
            if let Some(prr) = &mut rack.prr {
                prr.sent(sent.len());
            }
            if let Some(undo) = &mut rack.undo {
                undo.resent(timestamp(now));
            }
        }
    }

    fn undo_by_echo(&mut self, now: Time, echo: u32) {
        let una = self.snd.una;
        let undo = self.rack.as_ref().and_then(|rack| rack.undo);
        if undo.is_some_and(|undo| undo.answers_original(una, echo)) {
            self.undo(now);
        }
    }

    /// The recovery, or the timeout, was a mistake: all is as it was before (RFC 4015, section 3; RFC 5682).
    fn undo(&mut self, now: Time) {
        let Some(rack) = &mut self.rack else { return };
        if !self.config.undo || rack.undo.take().is_none() {
            return;
        }
        rack.hold_nothing_lost();
        rack.prr = None;
        if self.loss.phase != Phase::Open {
            self.loss.trouble().leave();
        }
        self.rare().counters.undone += 1;
        self.signal(now, Signal::Undo, self.snd.max - self.snd.una);
        self.note(now, Event::Undone);
        self.note(now, Event::Phase(self.phase()));
    }

    /// (Re)starts the timer that waits for an ACK: the one of the tail loss probe where there may be one, else that of
    /// retransmissions.
    #[inline]
    pub(crate) fn restart_retransmit(&mut self, now: Time) {
        self.timers.restart(now, self.config.timer_grain);
        if let Some(rack) = &mut self.rack {
            rack.timeout = self.timers.main().0;
            self.probe_before_timeout(now);
        }
    }

    /// Section 7.2 of RFC 8985: when a probe is to leave, unless the retransmission timer runs out before.
    pub(crate) fn probe_before_timeout(&mut self, now: Time) {
        let Some(rack) = &self.rack else { return };
        let undisturbed = self.loss.phase == Phase::Open && self.loss.sacked() == 0 && rack.probe.is_over();
        if self.config.tail_loss_probe && undisturbed && self.snd.una > 0 {
            let outstanding = self.snd.max - self.snd.una;
            let lone = outstanding <= u64::from(self.agreed.payload);
            self.timers.probe(now + tail_probe::timeout(self.srtt(), lone), rack.timeout);
        }
    }

    /// Nothing came back for two round trips: new data if there is any, else the last segment, asks whether all is well
    /// (section 7.3).
    pub(crate) fn tail_probe_ran_out(&mut self, now: Time) {
        let Some(rack) = &self.rack else { return };
        let may_probe = self.loss.phase == Phase::Open && rack.probe.is_over() && self.loss.sacked() == 0;
        self.timers.restart(now, self.config.timer_grain);
        if !may_probe || !self.snd.is_outstanding() {
            return;
        }
        let (mss, max) = (u64::from(self.agreed.payload), self.snd.max);
        let edge = (self.snd.una + u64::from(self.snd.wnd)).min(self.snd.data_end());
        let fresh = Range::new(max, edge.min(max + mss));
        let (range, reason) = if fresh.is_empty() || self.snd.fin_sent() {
            // A FIN behind the data takes no room among them.
            let last = rack.journal.last_start().max(max.min(self.snd.data_end()).saturating_sub(mss));
            (Range::new(self.snd.una.max(last), max), Reason::TailProbe)
        } else {
            (fresh, Reason::TailProbeData)
        };
        self.loss.trouble().resend = Resend::new(range, reason);
        let (end, again) = (range.end, reason == Reason::TailProbe);
        if let Some(rack) = &mut self.rack {
            rack.probe.sent(end, again);
            // One that finds out that it repaired nothing is not what undoes a recovery.
            rack.undo = None;
        }
    }

    /// When more will be held lost.
    #[inline]
    pub(crate) fn reordering_deadline(&self) -> Time {
        self.rack.as_ref().and_then(|rack| rack.deadline).unwrap_or(Time::NEVER)
    }

    /// What first leaves is written down, but for a SYN.
    #[inline]
    pub(crate) fn note_first_transmission(&mut self, now: Time, start: u64, end: u64) {
        let fast = self.loss.phase == Phase::Fast;
        if let Some(rack) = self.rack.as_mut().filter(|_| start > 0) {
            rack.journal.add(start, end, now);
            if fast && let Some(prr) = &mut rack.prr {
                prr.sent(end - start);
            }
        }
    }
}
