//! Applies loss detection by time ([`crate::recovery::rack`]), its probes, and the undo of spurious recoveries.

use crate::config::{LossMeans, Recovery};
use crate::congestion::Signal;
use crate::context::Context;
use crate::record::event::{Event, Timer};
use crate::record::reason::Reason;
use crate::recovery::prr::{Progress, Prr, Start};
use crate::recovery::tail_probe::Answer;
use crate::recovery::undo::Undo;
use crate::recovery::{Phase, Resend};
use crate::send::{Sender, in_ticks};
use crate::time::{Span, Time};
use crate::wire::options::{echo_age, timestamp};
use crate::wire::segment::Segment;

impl Sender {
    /// Both ends have negotiated SACK, which loss detection by time requires.
    pub(crate) fn begin_rack(&mut self, cx: &Context) {
        if cx.config.recovery == Recovery::Rack && cx.agreed.sack {
            self.rack = Some(Box::default());
        }
    }

    /// The SYN was acknowledged after `rtt`: the first sample of the minimum RTT (RFC 8985, section 6.2, step 1).
    pub(crate) fn note_first_round_trip(&mut self, now: Time, rtt: Span) {
        if let Some(rack) = &mut self.rack {
            rack.learn_rtt(now, rtt);
        }
    }

    /// The reports of an ACK are processed: detects losses, and computes what may be sent. `twice`: the ACK reported a
    /// duplicate.
    #[cold]
    pub(crate) fn judge_by_time(
        &mut self,
        cx: &mut Context,
        now: Time,
        una_before: u64,
        segment: &Segment,
        twice: bool,
    ) {
        let advanced = self.space.una > una_before;
        if let Some(stamps) = segment.options.timestamps
            && cx.agreed.timestamps
            && advanced
        {
            self.undo_by_echo(cx, now, stamps.echo);
        }
        let found = self.detect_losses(cx, now);
        let Some(rack) = &mut self.rack else { return };
        rack.note_order();
        let delivered = core::mem::take(&mut rack.delivered);
        let is_duplicate = delivered == 0 && !advanced && segment.seq_len() == 0;
        let answer = rack.probe.answered(self.space.una, twice, is_duplicate);
        self.proceed_in_proportion(cx, delivered, advanced && !found);
        if answer == Answer::RepairedLoss {
            self.reduce_once(cx, now);
        }
    }

    /// Detects further losses if the reordering timer has expired.
    pub(crate) fn reordering_ran_out(&mut self, cx: &mut Context, now: Time) {
        if self.reordering_deadline() > now {
            return;
        }
        cx.note(now, Event::Fired { timer: Timer::Reordering });
        self.detect_losses(cx, now);
        self.proceed_in_proportion(cx, 0, false);
    }

    /// Marks lost segments; begins a recovery if there is none. Returns whether any segment was marked.
    fn detect_losses(&mut self, cx: &mut Context, now: Time) -> bool {
        let srtt = self.srtt(cx);
        let Self { rack: Some(rack), loss, space, .. } = self else { return false };
        let first = loss.scoreboard.as_ref().is_some_and(|board| board.is_lost(space.una));
        let window = rack.window(first || loss.phase != Phase::Open, srtt);
        let found = rack.detect(now, window, loss.reported());
        rack.deadline = rack.deadline.map(|due| now + in_ticks(cx, due - now));
        let unrepaired = rack.take_unrepaired(loss.reported());
        if (found || unrepaired) && self.loss.phase == Phase::Open {
            self.recover_by_time(cx, now);
        }
        found
    }

    /// A loss is detected.
    fn recover_by_time(&mut self, cx: &mut Context, now: Time) {
        if self.forgives_loss(cx, now, Reason::RackLoss) {
            return;
        }
        cx.counters().fast_retransmits += 1;
        let (una, max) = (self.space.una, self.space.max);
        if cx.config.loss_means == LossMeans::Congestion {
            self.signal(cx, now, Signal::EnterRecovery, max - una);
        }
        let loss = self.loss.trouble();
        (loss.phase, loss.recover) = (Phase::Fast, max);
        (loss.partial_seen, loss.inflation) = (false, 0);
        let reduces = cx.config.prr
            && cx.config.loss_means == LossMeans::Congestion
            && !self.congestion.controls_recovery_cwnd();
        if let Some(rack) = &mut self.rack {
            let start = Start { outstanding: max - una, sacked: self.loss.sacked(), newly: rack.delivered };
            rack.prr = reduces.then(|| Prr::new(cx.config.prr_rule, start));
        }
        self.prepare_undo();
        self.resend_first_lost(cx, Reason::RackLoss);
        self.restart_retransmit(cx, now);
        cx.note(now, Event::Phase(self.phase()));
    }

    /// Saves the state for an undo, because the recovery may be spurious.
    pub(in crate::send) fn prepare_undo(&mut self) {
        let Some(rack) = &self.rack else { return };
        let (unreported, first) = rack.resends(self.loss.reported());
        let undo = Undo::new(self.space.una, unreported, first.map(timestamp));
        if let Some(rack) = &mut self.rack {
            rack.undo = Some(undo);
        }
    }

    /// The first lost segment is sent at once, regardless of windows: the fast retransmit.
    pub(in crate::send) fn resend_first_lost(&mut self, cx: &Context, reason: Reason) {
        let first = self.rack.as_ref().and_then(|rack| rack.first_lost(cx.agreed.payload));
        self.loss.trouble().resend = first.and_then(|first| Resend::new(first, reason));
    }

    /// Applies PRR in a recovery, if it is configured. If a timer has detected the loss, there is no ACK that permits
    /// segments; only the first one is sent.
    fn proceed_in_proportion(&mut self, cx: &Context, delivered: u64, is_safe: bool) {
        if self.loss.phase != Phase::Fast {
            return;
        }
        let (pipe, ssthresh) = (self.in_network(cx), u64::from(self.congestion.ssthresh()));
        let mss = u64::from(cx.agreed.payload);
        if let Some(prr) = self.rack.as_mut().and_then(|rack| rack.prr.as_mut()) {
            prr.on_ack(Progress { delivered, pipe, ssthresh, mss, is_safe });
        }
    }

    /// A loss that is already repaired: congestion control is told, and nothing is retransmitted.
    fn reduce_once(&mut self, cx: &mut Context, now: Time) {
        if self.loss.phase == Phase::Open && cx.config.loss_means == LossMeans::Congestion {
            let flight = self.space.max - self.space.una;
            self.signal(cx, now, Signal::EnterRecovery, flight);
            self.signal(cx, now, Signal::ExitRecovery, flight);
        }
    }

    /// An ACK that echoes a timestamp older than the retransmission shows that the original was delivered. The timestamp must
    /// be one that our segments can have carried: as with RTT samples, an invented one proves nothing.
    fn undo_by_echo(&mut self, cx: &mut Context, now: Time, echo: u32) {
        let una = self.space.una;
        let undo = self.rack.as_ref().and_then(|rack| rack.undo);
        if undo.is_some_and(|undo| undo.answers_original(una, echo))
            && echo_age(now, echo, self.space.first_sent).is_some()
        {
            self.undo(cx, now);
        }
    }

    /// The recovery or the timeout was spurious: restores the state before it (RFC 4015, section 3; RFC 5682).
    pub(in crate::send) fn undo(&mut self, cx: &mut Context, now: Time) {
        let Some(rack) = &mut self.rack else { return };
        if !cx.config.undo || rack.undo.take().is_none() {
            return;
        }
        rack.hold_nothing_lost();
        rack.prr = None;
        if self.loss.phase != Phase::Open {
            self.loss.trouble().leave();
        }
        cx.counters().undone += 1;
        self.signal(cx, now, Signal::Undo, self.space.max - self.space.una);
        cx.note(now, Event::Undone);
        cx.note(now, Event::Phase(self.phase()));
    }

    /// When more segments will be marked lost.
    #[inline]
    pub(crate) fn reordering_deadline(&self) -> Time {
        self.rack.as_ref().and_then(|rack| rack.deadline).unwrap_or(Time::NEVER)
    }
}
