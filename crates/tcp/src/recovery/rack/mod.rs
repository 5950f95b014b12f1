//! RACK: a segment is lost if a segment that was sent sufficiently later has been delivered (RFC 8985, section 6).
//!
//! Duplicate ACKs are not counted. Reordering within the *reordering window* causes no retransmission. A lost
//! retransmission is detected like any other lost segment.

mod counts;
mod reordering;
mod repairs;

use super::counted::Counted;
use super::flight::{Flight, LeastRtt, Sent, ShortSegments};
use super::prr::Prr;
use super::spurious::frto::Frto;
use super::spurious::undo::Undo;
use super::tail_probe::Probe;
use crate::ranges::{Range, RangeSet};
use crate::time::{Span, Time};
use repairs::Kept;

/// How many segments that a D-SACK names are looked at.
pub(super) const DUPLICATES: usize = 16;

/// What was marked lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    /// Any segment.
    pub(super) any: bool,
    /// A retransmission.
    pub(super) again: bool,
}

/// The state of RACK.
#[derive(Debug)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment that was delivered.
    newest: Option<Sent>,
    /// RACK.rtt: the RTT of that segment.
    rtt: Span,
    /// RACK.fack: the end of the highest delivered data.
    fack: u64,
    /// What only losses, retransmissions and reordering need.
    pub(super) repairs: Kept,
    /// When more data will be marked lost, unless it is delivered before (the reordering timer).
    pub(super) deadline: Time,
    /// Bytes that the present ACK reports as delivered for the first time.
    pub(super) delivered: u64,
    /// When the newest of these bytes were sent.
    delivered_newest: Time,
    /// Something was delivered since losses were last looked for (Linux, `rack.advanced`).
    pub(super) advanced: bool,
    pub(super) probe: Probe,
    /// When the retransmission timer expires. The timer may expire for a probe before.
    pub(super) timeout: Time,
    /// Whether the latest timeout may be spurious.
    pub(super) frto: Frto,
    /// An undo has left segments that are not looked at again before a timeout.
    passes_over: bool,
    /// Whether data was reported, lost or sent again when an ACK was last examined (Linux, TCP_CA_Disorder).
    pub(super) disordered: bool,
    /// Whether the present ACK has ended a recovery.
    pub(super) ended: bool,
    /// Without SACK: what duplicate ACKs report.
    pub(super) counted: Option<Counted>,
    /// Whether only new data is sent until the next ACK.
    pub(super) holds_repairs: bool,
    /// The pacing timer has expired since the last ACK, which permits to retransmit (Linux, `tcp_tsq_write()`).
    pub(super) turn_has_come: bool,
    /// New data was looked for since the last ACK.
    pub(super) has_looked_for_new: bool,
    /// Whether a timer has acted in a recovery since the last ACK.
    pub(super) by_timer: bool,
    /// Outstanding short segments, if cwnd counts packets.
    pub(super) short: ShortSegments,
}

impl Rack {
    /// The initial state. `counted`: without SACK, nothing that duplicate ACKs report.
    pub(super) const fn new(counted: Option<Counted>) -> Self {
        Self {
            newest: None,
            rtt: Span::ZERO,
            fack: 0,
            repairs: Kept::new(),
            deadline: Time::NEVER,
            delivered: 0,
            delivered_newest: Time::NEVER,
            advanced: false,
            probe: Probe::NONE,
            timeout: Time::ZERO,
            frto: Frto::Off,
            passes_over: false,
            disordered: false,
            ended: false,
            counted,
            holds_repairs: false,
            turn_has_come: false,
            has_looked_for_new: false,
            by_timer: false,
            short: ShortSegments::None,
        }
    }

    /// The handshake has given RACK.rtt.
    pub(super) fn begin(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// RACK.rtt.
    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }

    /// Whether no loss, retransmission, probe or reordering has left a trace.
    pub(super) fn has_no_losses(&self) -> bool {
        self.repairs.are_none() && self.short.is_empty() && self.probe.is_over()
    }

    /// Whether the state is ordinary: an ACK of the next data changes nothing but the latest delivery. All fields are named, so
    /// that a new one is not forgotten here.
    #[inline(always)]
    pub(super) fn is_calm(&self) -> bool {
        #[rustfmt::skip]
        let Self {
            probe, deadline, repairs, disordered,
            // Each ACK changes them, an ordinary one too.
            newest: _, rtt: _, fack: _, delivered: _, delivered_newest: _, advanced: _,
            // Outside a recovery, they have no effect on an ACK of the next data.
            frto: _, passes_over: _, ended: _, counted: _, short: _,
            holds_repairs: _, turn_has_come: _, has_looked_for_new: _, by_timer: _,
            // No decision on an ACK depends on them.
            timeout: _,
        } = self;
        probe.is_over() && deadline.is_never() && !disordered && repairs.are_calm()
    }

    /// Whether an ACK of everything below `una` shows delivery in order: no data above it was reported, and no data that it
    /// acknowledges was sent before a segment that has been delivered already.
    #[inline(always)]
    pub(super) fn is_in_order(&self, first: Option<Sent>, una: u64) -> bool {
        let Some(newest) = &self.newest else { return una > self.fack };
        // Nearly always the times differ.
        let comes_next = |first: Sent| newest.at < first.at || !newest.is_after(&first);
        una > self.fack && first.is_some_and(comes_next)
    }

    /// The same, and the first outstanding segment is acknowledged as a whole: the ACK of a part of it is not ordinary.
    #[inline(always)]
    pub(super) fn shows_order(&self, first: Option<Sent>, una: u64) -> bool {
        self.is_in_order(first, una) && first.is_none_or(|first| first.range.end <= una)
    }

    /// An ACK of everything below `una` in the ordinary state: [`deliver`](Self::deliver) and
    /// [`acknowledge`](Self::acknowledge) in one step.
    #[inline(always)]
    pub(super) fn take_calmly(&mut self, flight: &mut Flight, least: &mut LeastRtt, now: Time, una: u64) {
        if let Some(last) = flight.acknowledge_plain(una) {
            self.newest = Some(last);
            self.learn_rtt(least, now, now - last.at);
        }
        self.fack = self.fack.max(una);
    }

    /// An ACK of everything below `una` in a run: `last` was delivered last.
    #[inline(always)]
    pub(super) fn deliver_in_run(&mut self, last: Sent, una: u64) {
        (self.newest, self.fack) = (Some(last), una);
    }

    /// The present ACK is the first to report `range` as delivered (section 6.2, steps 1 to 3). `is_echoed` says whether the
    /// ACK can answer a transmission at a given time (RFC 7323 timestamps).
    pub(super) fn deliver(
        &mut self,
        flight: &Flight,
        least: &mut LeastRtt,
        now: Time,
        (range, measures): (Range, bool),
        is_echoed: impl Fn(Time) -> bool,
    ) {
        self.delivered += range.len();
        self.delivered += self.short.deliver(range);
        if let Some(repairs) = self.repairs.known() {
            repairs.lost.remove(range);
        }
        if range.end > self.fack {
            self.fack = range.end;
        } else {
            // A part of a segment shows nothing before the rest of it is acknowledged.
            let ends = flight.within(range).map(|sent| sent.range.end);
            if let Some(end) = ends.take_while(|&end| end <= range.end).last() {
                self.repairs.note_late(Range::new(range.start, end));
            }
        }
        // An ACK may answer the first transmission of a segment, not the retransmission. Such a segment shows nothing (step 2).
        let shortest = least.get();
        let too_soon = |sent: &Sent| shortest.is_some_and(|least| now - sent.at < least);
        let whole = |sent: &Sent| sent.range.end <= range.end;
        let answers = |sent: &Sent| whole(sent) && (!sent.again || (!too_soon(sent) && is_echoed(sent.at)));
        let delivered = flight.delivered(range, answers);
        if let Some(newest) = delivered.newest
            && (self.delivered_newest.is_never() || newest.at > self.delivered_newest)
        {
            self.delivered_newest = newest.at;
        }
        let (Some(sent), Some(last)) = (delivered.answered, delivered.last) else { return };
        // Without SACK, losses are not detected by time.
        self.advanced = self.counted.is_none();
        // What was sent again gives no RTT (Karn).
        if measures && !sent.again {
            least.learn(now, now - sent.at);
        }
        self.rtt = now - last.at;
        if self.newest.is_none_or(|newest| sent.is_after(&newest)) {
            // The start of the segment is not used.
            self.newest = Some(Sent { range: Range::new(sent.range.end, sent.range.end), ..sent });
        }
    }

    /// RACK.rtt after an ACK of `range`. RFC 8985, section 6.2, step 2, does not say which segment of the ACK is processed last.
    /// In Linux it is the last one that is acknowledged and was not reported before (`tcp_clean_rtx_queue()` follows
    /// `tcp_sacktag_write_queue()`). `least` is the minimum RTT before the ACK: its own samples count only afterwards
    /// (`tcp_ack_update_rtt()`).
    pub(super) fn prefer_acknowledged(
        &mut self,
        (flight, least): (&Flight, Option<Span>),
        now: Time,
        range: Range,
        sacked: &RangeSet,
        is_echoed: impl Fn(Time) -> bool,
    ) {
        let too_soon = |rtt: Span| least.is_some_and(|least| rtt < least);
        let answers = |sent: &Sent| !sent.again || (!too_soon(now - sent.at) && is_echoed(sent.at));
        let segments = sacked.missing_in(range).flat_map(|piece| flight.within(piece));
        let segments = segments.filter(|sent| sent.range.end <= range.end);
        if let Some(last) = segments.filter(answers).last() {
            self.rtt = now - last.at;
        }
    }

    /// RACK.rtt is `rtt`, which is also a sample of the minimum.
    #[inline]
    pub(super) fn learn_rtt(&mut self, least: &mut LeastRtt, now: Time, rtt: Span) {
        self.rtt = rtt;
        least.learn(now, rtt);
    }

    /// The RTT of the most recently sent segment that was delivered.
    #[inline]
    pub(super) fn latest_rtt(&self) -> Option<Span> {
        self.newest.map(|_| self.rtt)
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn acknowledge(&mut self, una: u64) {
        if let Some(repairs) = self.repairs.known() {
            repairs.lost.remove_below(una);
            repairs.resent.remove_below(una);
            repairs.probed.remove_below(una);
            repairs.spared.remove_below(una);
        }
        self.short.forget_below(una);
    }

    /// The present ACK reports `range`, and may have undone a recovery before.
    pub(super) fn report(&mut self, range: Range) {
        if let Some(repairs) = self.repairs.known().filter(|repairs| repairs.undone_now) {
            repairs.spared.remove(range);
        }
    }

    /// A D-SACK of `range`. If it names a segment that was sent again and reported before, the original came late
    /// (`tcp_sacktag_one()`). `highest`: the end of all that is reported, which the ACK of the same segment does not move yet.
    /// `known`: another block of that segment has reported it.
    pub(super) fn note_late_duplicate(
        &mut self,
        flight: &Flight,
        (range, known): (Range, bool),
        sacked: &RangeSet,
        highest: u64,
    ) {
        let is_reported = |sent: &Sent| known || sacked.covered_within(sent.range) == sent.range.len();
        // A D-SACK names one segment, or a few that a receiver has merged.
        let mut segments = flight.all_within(range).take(DUPLICATES);
        if let Some(late) = segments.find(|sent| sent.again && is_reported(sent)) {
            self.repairs.change().reordering.note_late_below(late.range.start, highest);
        }
    }

    /// `range` is retransmitted.
    pub(super) fn resend(&mut self, range: Range, is_probe: bool) {
        let is_first = self.has_not_resent(range) || self.repairs.probed.covered_within(range) > 0;
        let repairs = self.repairs.change();
        repairs.lost.remove(range);
        repairs.spared.remove(range);
        repairs.probed.remove(range);
        repairs.resent.insert(range);
        if is_probe && is_first {
            repairs.probed.insert(range);
        }
    }

    /// The present ACK is processed completely: computes the distance of the reordering that it shows.
    pub(super) fn note_order(&mut self) {
        self.note_order_up_to(None);
    }

    /// The same. Without SACK, a segment at `cut`, of which the ACK takes a part, is not delivered (`tcp_highest_sack_seq()`).
    pub(super) fn note_order_up_to(&mut self, cut: Option<u64>) {
        if let Some(repairs) = self.repairs.known() {
            repairs.reordering.note_order(cut.unwrap_or(self.fack));
            repairs.undone_now = false;
        }
    }

    /// A recovery has ended. The present ACK may still show that it was spurious.
    pub(super) fn recovered(&mut self) {
        self.ended = true;
        if let Some(repairs) = self.repairs.known() {
            repairs.outlives_undo = None;
            repairs.reordering.recovered();
        }
    }

    /// Whether the present ACK has ended a recovery, and data that was marked lost in the meantime remains. Such data was sent
    /// after the recovery had begun, so it is a loss of the next window.
    pub(super) fn take_unrepaired(&mut self, sacked: &RangeSet) -> bool {
        let is_missing = |range| sacked.missing_in(range).next().is_some();
        core::mem::take(&mut self.ended)
            && (!self.repairs.lost.is_empty() || self.repairs.resent.iter_down().any(is_missing))
    }

    /// Marks segments lost that were sent before the most recently sent delivered segment, and longer ago than RACK.rtt plus
    /// the reordering window (step 5). Returns what was marked. Sets the time at which all others are due.
    pub(super) fn detect(
        &mut self,
        flight: &mut Flight,
        now: Time,
        window: Span,
        sacked: &RangeSet,
    ) -> Found {
        self.deadline = Time::NEVER;
        self.advanced = false;
        let mut found = Found::default();
        let Some(newest) = self.newest else { return found };
        while let Some(sent) = flight.oldest(sacked) {
            if !newest.is_after(&sent) {
                break;
            }
            let wait = self.rtt + window;
            if sent.at + wait > now {
                // One timer for all that wait: the largest of their times.
                let last = flight.latest_before(&newest, sacked).map_or(sent.at, |last| last.at);
                self.deadline = last.max(sent.at) + wait;
                break;
            }
            found.any = true;
            found.again |= sent.again && !self.is_spared(sent.range);
            self.lose_unless_spared(sent.range, sacked);
            flight.hold_lost(sent);
        }
        found
    }

    /// A timeout: the first segment is lost, and all segments that were sent at least `wait` ago (section 6.3).
    pub(super) fn time_out(
        &mut self,
        flight: &mut Flight,
        now: Time,
        first: Range,
        wait: Span,
        sacked: &RangeSet,
    ) {
        self.deadline = Time::NEVER;
        self.probe = Probe::NONE;
        self.repairs.end_reduction();
        self.holds_repairs = false;
        if core::mem::take(&mut self.passes_over) {
            flight.restore_lost();
        }
        while let Some(sent) = flight.oldest(sacked)
            && sent.at + wait <= now
        {
            self.lose_unless_spared(sent.range, sacked);
            flight.hold_lost(sent);
        }
        self.lose(first, sacked);
    }

    /// A timeout without SACK: all outstanding data is lost (`tcp_timeout_mark_lost()`).
    pub(super) fn lose_all_outstanding(&mut self, all: Range) {
        self.deadline = Time::NEVER;
        self.repairs.end_reduction();
        self.forget_counted();
        self.lose(all, &RangeSet::new());
    }

    /// Duplicate ACKs have reported nothing that is still outstanding.
    pub(super) fn forget_counted(&mut self) {
        self.counted = self.counted.map(Counted::forget);
    }

    /// The peer may have discarded data that it had reported: all outstanding data is lost (RFC 2018, section 8).
    pub(super) fn forget(&mut self, flight: &mut Flight, all: Range) {
        flight.forget_all();
        let repairs = self.repairs.change();
        repairs.lost.clear();
        repairs.lost.insert(all);
        self.short.lose_all();
    }

    /// The loss detection was spurious. Segments that are really lost will be detected again. With `after_timeout_only`, those
    /// that were marked lost are not looked at again before a timeout.
    pub(super) fn hold_nothing_lost(
        &mut self,
        (flight, sacked): (&mut Flight, &RangeSet),
        as_linux: bool,
        after_timeout_only: bool,
    ) {
        if let Some(repairs) = self.repairs.known() {
            repairs.hold_nothing_lost(as_linux, sacked);
        }
        self.short.find_all();
        self.forget_counted();
        self.ended = false;
        if after_timeout_only {
            self.passes_over = true;
        } else {
            flight.restore_lost();
        }
    }

    /// Marks a segment lost. A retransmission that was in the network at an undo counts as there until it is found lost again
    /// (`tcp_mark_skb_lost()`: the undo has removed the mark, but not that it was sent again).
    fn lose_unless_spared(&mut self, range: Range, sacked: &RangeSet) {
        if self.is_spared(range) {
            self.repairs.change().spared.remove(range);
        } else {
            self.lose(range, sacked);
        }
    }

    /// Whether all of `range` is a retransmission that was in the network at an undo.
    pub(super) fn is_spared(&self, range: Range) -> bool {
        !range.is_empty() && self.repairs.spared.covered_within(range) == range.len()
    }

    /// Whether all of `range` was sent again because it was lost, and no undo has removed the mark.
    pub(super) fn is_marked_and_resent(&self, range: Range) -> bool {
        self.was_resent(range) && !self.is_spared(range)
    }

    /// Marks the unreported parts of `range` lost.
    pub(super) fn lose(&mut self, range: Range, sacked: &RangeSet) {
        for piece in sacked.missing_in(range) {
            self.repairs.change().lose(piece);
            self.short.lose(piece);
        }
    }

    /// When the newest of the bytes were sent that were delivered since the last call.
    pub(super) fn take_delivered_newest(&mut self) -> Option<Time> {
        let newest = core::mem::replace(&mut self.delivered_newest, Time::NEVER);
        (!newest.is_never()).then_some(newest)
    }

    /// The reduction of a window that is under way.
    #[inline]
    pub(super) fn prr_mut(&mut self) -> Option<&mut Prr> {
        self.repairs.known()?.prr.as_mut()
    }

    /// The same for what is sent now. `is_probe`: a tail loss probe sends data again.
    pub(super) fn prr_of_sent(&mut self, is_probe: bool) -> Option<&mut Prr> {
        self.prr_mut().filter(|prr| !is_probe || prr.counts_probes())
    }

    /// What the present recovery keeps for an undo.
    pub(super) fn undo_mut(&mut self) -> Option<&mut Undo> {
        self.repairs.known()?.undo.as_mut()
    }

    /// Nothing can be undone any more. Returns what could have been.
    pub(super) fn take_undo(&mut self) -> Option<Undo> {
        self.repairs.known()?.undo.take()
    }

    /// Losses that were not counted yet are not a sign of congestion.
    pub(super) fn forgive(&mut self) {
        if let Some(found) = self.repairs.known().and_then(|repairs| repairs.found.as_mut()) {
            found.clear();
        }
    }
}

#[cfg(test)]
mod tests;
