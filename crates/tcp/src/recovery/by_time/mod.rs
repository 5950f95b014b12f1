//! What the times of transmissions show: losses ([`super::rack`]), tail loss probes, spurious recoveries, and RTTs.
//!
//! One log holds the transmissions. It exists if losses are detected by time, or if delivery rates are measured.

mod detection;
mod queries;
mod repeated;
mod run;

pub(crate) use detection::Occasion;
pub(crate) use run::Whole;

use super::departures::{Concluded, Departures, Purpose};
use super::flight::Parts;
use super::prr::{Prr, Start};
use super::rack::{DUPLICATES, Rack};
use super::spurious::frto::{Frto, LaterAck};
use super::spurious::late_original::{OnLateOriginal, on_late_original};
use super::spurious::undo::{Shown, Undo};
use super::tail_probe::{Answer, Probe};
use super::{Joins, LossRecovery, Phase};
use crate::config::PrrRule;
use crate::ranges::{Range, RangeSet};
use crate::record::reason::Reason;
use crate::time::{Span, Time};
use crate::wire::options::timestamp;

/// The facts of a timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeout {
    /// The first unacknowledged segment.
    pub(crate) first: Range,
    /// SND.MAX.
    pub(crate) max: u64,
    /// The peer may have discarded what it had reported.
    pub(crate) has_reneged: bool,
    /// It begins a recovery: none was under way, and it repeats no timeout.
    pub(crate) begins: bool,
    /// There was no recovery of any kind.
    pub(crate) from_open: bool,
    /// The configured threshold of duplicate ACKs.
    pub(crate) dup_acks: u8,
    pub(crate) mss: u64,
    /// Whether segments count as lost without the time for reordering (Linux, `tcp_timeout_mark_lost()`; not RFC 8985,
    /// section 6.3).
    pub(crate) ignores_reordering: bool,
    /// The peer's ACK of our SYN-ACK is all that was delivered. It gives RACK no RTT in Linux, which sends a SYN-ACK before it has a
    /// connection (`tcp_synack_rtt_meas()`).
    pub(crate) is_untimed: bool,
    /// Whether it may be spurious.
    pub(crate) frto: Frto,
}

/// What an ACK in the ordinary state shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calm {
    /// When the first segment that it acknowledges was sent, if it was sent once.
    pub(crate) first: Option<Time>,
    /// The RTT of the last one.
    pub(crate) rtt: Option<Span>,
    /// Bytes that it acknowledges of a segment that goes on behind.
    pub(crate) part: u64,
}

impl LossRecovery {
    /// Transmissions are logged, and losses are detected by time. That requires SACK, see [`begin_counting`](Self::begin_counting).
    pub(crate) fn begin_by_time(&mut self) {
        self.log.begin(Purpose::ByTime);
    }

    /// No data will be sent any more: frees the memory of the log.
    pub(crate) fn release_memory(&mut self) {
        self.log.release_memory();
    }

    /// Delivery rates are measured: transmissions are logged, and losses are kept until they are counted.
    pub(crate) fn begin_rates(&mut self) {
        self.log.begin(Purpose::Rates);
        if let Some(rack) = self.rack_for_change() {
            rack.repairs.change().found = Some(Vec::new());
        }
    }

    /// The RTT of the handshake: the first sample of the minimum (RFC 8985, section 6.2, step 1).
    pub(crate) fn note_first_round_trip(&mut self, now: Time, rtt: Span) {
        let Some(departures) = self.log.change() else { return };
        match &mut departures.rack {
            Some(rack) => rack.learn_rtt(&mut departures.least, now, rtt),
            None => departures.least.learn(now, rtt),
        }
    }

    /// An RTT that no segment gives, such as that of an echoed timestamp, for the minimum.
    pub(crate) fn learn_least(&mut self, now: Time, rtt: Span) {
        if let Some(departures) = self.log.change() {
            departures.least.learn(now, rtt);
        }
    }

    /// An RTT of a segment that was sent once. Where losses are detected by time, these have learnt it already.
    pub(crate) fn note_round_trip(&mut self, now: Time, rtt: Span) {
        if let Some(departures) = self.log.used_mut().filter(|departures| departures.rack.is_none()) {
            departures.least.learn(now, rtt);
        }
    }

    /// The handshake is over: an end that has sent no data needs no log.
    pub(crate) fn release_handshake(&mut self) {
        self.log.release_unless_used();
    }

    /// `start` to `end` is sent for the first time.
    #[inline]
    pub(crate) fn note_first_transmission(&mut self, now: Time, start: u64, end: u64) {
        let Some(departures) = self.log.change() else { return };
        departures.flight.add(start, end, now);
        if (self.loss.phase == Phase::Fast || self.loss.reduces_until > 0)
            && let Some(prr) = departures.rack.as_mut().and_then(Rack::prr_mut)
        {
            prr.sent(end - start);
        }
    }

    /// The same if nothing is lost. A segment with an entry in the log is timed, too: see [`Self::time_unlogged`].
    #[inline(always)]
    pub(crate) fn log_calmly(&mut self, now: Time, start: u64, end: u64) {
        if let Some(departures) = self.log.change() {
            departures.flight.add(start, end, now);
            departures.timed.send(now, end);
        }
    }

    /// `range` is retransmitted: its entry in the log.
    pub(crate) fn log_again(&mut self, now: Time, range: Range) {
        let Some(departures) = self.log.change() else { return };
        departures.flight.add_again(range, now);
        let Some(rack) = &mut departures.rack else { return };
        // Outside a recovery, only a probe sends again, which Linux does not count (`tcp_send_loss_probe()`).
        let is_probe = self.loss.phase == Phase::Open && rack.probe.is_resend();
        rack.resend(range, is_probe);
        if let Some(prr) = rack.prr_of_sent(is_probe) {
            prr.sent(range.len());
        }
        if let Some(undo) = rack.undo_mut().filter(|_| !is_probe) {
            undo.resent(timestamp(now));
        }
    }

    /// Whether an ACK of everything below `una` in the ordinary state shows delivery in order, if losses are detected by time.
    #[inline]
    pub(crate) fn is_calm_up_to(&self, una: u64) -> bool {
        let Some(Departures { flight, rack: Some(rack), .. }) = self.log.read() else {
            return false;
        };
        rack.shows_order(flight.front(), una)
    }

    /// An ACK of everything below `una` in the ordinary state, if losses are detected by time. `None`, without any change, if the
    /// ACK does not show delivery in order.
    #[inline(always)]
    pub(crate) fn take_calmly(&mut self, now: Time, una: u64) -> Option<Calm> {
        let Departures { flight, least, rack: Some(rack), .. } = self.log.used_mut()? else { return None };
        let first = flight.front();
        if !rack.shows_order(first, una) {
            return None;
        }
        // The log is plain: nothing was sent twice.
        let first = first.map(|first| first.at);
        rack.take_calmly(flight, least, now, una);
        Some(Calm { first, rtt: rack.latest_rtt(), part: flight.part_of_first(una) })
    }

    /// `range` was delivered; a part of it may have been known before. `is_echoed` says whether the ACK can answer a
    /// transmission at a given time. Returns whether that shows a timeout to be spurious (RFC 5682, section 3.1, step 3 b):
    /// data that was sent once before it is delivered after it.
    pub(crate) fn note_delivery(
        &mut self,
        now: Time,
        range: Range,
        is_echoed: impl Fn(Time) -> bool,
    ) -> bool {
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return false };
        let Departures { flight, least, rack: Some(rack), .. } = departures else { return false };
        let reported = loss.reported();
        let before = Range::new(range.start, range.end.min(loss.recover));
        // Without SACK, an ACK of data that was sent again may have waited for that (`tcp_clean_rtx_queue()`).
        let was_sent_once = || {
            if rack.counted.is_some() {
                !before.is_empty() && rack.has_not_resent(range)
            } else {
                // A part of a segment shows nothing before the rest of it is delivered.
                let whole = if before.is_empty() { before } else { flight.whole(before, u64::MAX) };
                reported.missing_in(whole).any(|piece| !rack.was_resent(piece))
            }
        };
        let shows_original = loss.phase == Phase::Loss && rack.frto != Frto::Off && was_sent_once();
        // The ACK of a retransmission may have waited for it, so no other segment gives an RTT (`tcp_clean_rtx_queue()`).
        let measures = range.start > flight.edge() || rack.has_not_resent(range);
        for piece in reported.missing_in(range) {
            rack.deliver(flight, least, now, (piece, measures), &is_echoed);
        }
        shows_original
    }

    /// An ACK delivers whole segments: Linux counts one when all of it is acknowledged (`tcp_clean_rtx_queue()`).
    pub(crate) fn count_whole_segments(&mut self, parts: Parts) {
        if let Some(rack) = self.rack_mut() {
            rack.delivered = parts.in_whole_segments(rack.delivered);
        }
    }

    /// An ACK of `range` may complete a segment of which an earlier one had acknowledged a part. Linux takes that for
    /// reordering, because the segment begins below what was acknowledged before; not without SACK (`tcp_clean_rtx_queue()`).
    pub(crate) fn note_completion(&mut self, range: Range) {
        let Self { log, loss } = self;
        let Some(departures) = log.used_mut() else { return };
        let Departures { flight, rack: Some(rack), .. } = departures else { return };
        if rack.counted.is_none()
            && let Some(start) = flight.completes_first(range)
            && loss.reported().first().is_none_or(|reported| reported.start > range.start)
        {
            rack.repairs.change().reordering.note_late(start);
        }
    }

    /// An ACK of `range` carries new SACK reports, too. The minimum RTT was `least` before it. `is_echoed` as for
    /// [`note_delivery`](Self::note_delivery).
    pub(crate) fn prefer_acknowledged(
        &mut self,
        now: Time,
        (range, least): (Range, Option<Span>),
        is_echoed: impl Fn(Time) -> bool,
    ) {
        let Self { log, loss } = self;
        let Some(departures) = log.used_mut() else { return };
        let Departures { flight, rack: Some(rack), .. } = departures else { return };
        rack.prefer_acknowledged((flight, least), now, range, loss.reported(), is_echoed);
    }

    /// A D-SACK of so many segments, after `retransmitted` retransmissions. Returns whether it is plausible; then the segments
    /// count as delivered.
    pub(crate) fn count_duplicates(&mut self, segments: u64, mss: u64, retransmitted: u64) -> bool {
        let Some(rack) = self.rack_for_change() else { return true };
        let repairs = rack.repairs.change();
        repairs.duplicates += segments;
        let plausible = repairs.duplicates <= retransmitted;
        if plausible {
            rack.delivered += segments * mss;
        }
        plausible
    }

    /// A D-SACK of `again`. Returns whether it shows that the recovery was spurious. `as_linux`: it may show reordering, too.
    /// `highest`: the end of the blocks of the same segment. `to_end`: it lies within another block that reaches to the end of what
    /// was sent. Linux goes through it twice then, and finds it reported the second time, unless a block of the ACK before reached
    /// as far (`tcp_sacktag_write_queue()`).
    pub(crate) fn note_duplicate_report(
        &mut self,
        (una, max, highest): (u64, u64, u64),
        (again, to_end): (Range, bool),
        as_linux: bool,
    ) -> bool {
        let Self { log, loss } = self;
        let Some(departures) = log.used_mut() else { return false };
        let Departures { flight, rack: Some(rack), .. } = departures else { return false };
        let twice =
            to_end && (loss.reported().is_empty() || rack.repairs.blocks.iter().all(|block| block.end < max));
        // A D-SACK that a probe has caused gives no information about the order.
        if let Some(repairs) = rack.repairs.known() {
            if as_linux && !rack.probe.ends_at(again.end) {
                repairs.reordering.note_duplicate();
            } else if !as_linux && rack.probe.is_over() {
                repairs.reordering.widen(una, max);
            }
        }
        if as_linux {
            let highest = loss.reported().last().map_or(highest, |last| last.end.max(highest));
            rack.note_late_duplicate(flight, (again, twice), loss.reported(), highest);
        }
        // Of what is not acknowledged, each whole segment that was sent again counts (`tcp_match_skb_to_sack()`,
        // `tcp_sacktag_one()`), and nothing of a block that begins below (`tcp_is_sackblock_valid()`).
        let times = if !as_linux || again.end <= una {
            1
        } else if again.start < una {
            0
        } else {
            flight.resent_within(again, DUPLICATES) << u8::from(twice)
        };
        let Some(undo) = rack.undo_mut() else { return false };
        (0..times).any(|_| undo.reported_twice(again.end))
    }

    /// The original of a retransmitted segment at `start` arrived late, within a fast recovery.
    pub(crate) fn note_late_original(&mut self, start: u64) -> OnLateOriginal {
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return OnLateOriginal::Undo };
        let Departures { flight, rack: Some(rack), .. } = departures else {
            return OnLateOriginal::Undo;
        };
        rack.repairs.change().reordering.note_late(start);
        if rack.counted.is_some() {
            // It raises the number of duplicate ACKs that reveal a loss before the rest of them is judged.
            rack.note_order_up_to(flight.cut_from());
        }
        on_late_original(rack.has_resends(flight, loss.reported()))
    }

    /// Lost data waits for the next ACK. The retransmission timer replaces the reordering timer.
    pub(crate) fn hold_repairs(&mut self) {
        if let Some(rack) = self.rack_for_change() {
            (rack.holds_repairs, rack.deadline) = (true, Time::NEVER);
        }
    }

    /// A tail loss probe takes the place of the reordering timer: Linux has one timer for both, and while a mark reduces the window
    /// new data arms the probe, even if SACK has reported something (`tcp_schedule_loss_probe()`).
    #[cold]
    pub(crate) fn stop_reordering_timer(&mut self) {
        if let Some(rack) = self.rack_mut() {
            rack.deadline = Time::NEVER;
        }
    }

    /// Lost data may be retransmitted again.
    pub(crate) fn permit_repairs(&mut self) {
        if let Some(rack) = self.rack_mut() {
            (rack.holds_repairs, rack.turn_has_come, rack.has_looked_for_new) = (false, false, false);
        }
    }

    /// All new data that may leave after an ACK has left.
    pub(crate) fn note_look_for_new(&mut self) {
        if let Some(rack) = self.rack_mut() {
            rack.has_looked_for_new = true;
        }
    }

    /// The pacing timer expires: what waits for an ACK only because new data should be sent first may be retransmitted.
    #[cold]
    pub(crate) fn permit_repairs_by_pacing(&mut self) {
        if let Some(rack) = self.rack_for_change() {
            (rack.holds_repairs, rack.turn_has_come) = (false, true);
        }
    }

    /// The reports of an ACK are processed. `again`: the end of what its D-SACK reports. `is_duplicate`: it acknowledges and
    /// reports nothing new, and carries no data. A D-SACK of other data may be in it, which counts as delivered in Linux.
    pub(crate) fn conclude(&mut self, una: u64, again: Option<u64>, is_duplicate: bool) -> Option<Concluded> {
        let reduces = self.loss.phase == Phase::Fast || self.is_reducing();
        if !self.is_by_time() {
            return None;
        }
        let Some(rack) = self.rack_mut() else {
            return Some(Concluded { delivered: 0, answer: Answer::Nothing });
        };
        if !reduces {
            rack.repairs.end_reduction();
        }
        rack.note_order();
        let delivered = core::mem::take(&mut rack.delivered);
        let answer = rack.probe.answered(una, again, is_duplicate);
        Some(Concluded { delivered, answer })
    }

    /// Bytes that the present ACK is the first to report as delivered, if losses are detected by time.
    #[inline]
    pub(crate) fn delivered(&self) -> Option<u64> {
        self.rack().map(|rack| rack.delivered)
    }

    /// A recovery begins. `prr` is the rule by which its window is reduced, if any, and cwnd before that. A reduction that is
    /// under way goes on instead (`tcp_enter_recovery()`).
    pub(crate) fn recover_by_time(&mut self, una: u64, max: u64, prr: Option<(PrrRule, u32)>) {
        let goes_on = self.is_reducing();
        // The recovery ends where the reduction would have begun to (`high_seq`).
        let until = if goes_on { self.loss.reduces_until } else { max };
        self.enter(Phase::Fast, until);
        let sacked = self.loss.sacked();
        if let Some(rack) = self.rack_for_change().filter(|rack| !goes_on || rack.repairs.prr.is_none()) {
            rack.repairs.change().prr = prr.map(|(rule, cwnd)| {
                let start =
                    Start { outstanding: max - una, sacked, newly: rack.delivered, cwnd: u64::from(cwnd) };
                Prr::new(rule, start)
            });
        }
        let probe = self.rack().is_some_and(|rack| rack.probe.is_resend());
        self.prepare_undo(una, probe);
        // The recovery reduces cwnd for the loss that the probe may have repaired (`tcp_init_cwnd_reduction()`).
        if let Some(rack) = self.rack_for_change() {
            rack.probe = Probe::NONE;
        }
    }

    /// Saves the state for an undo, because the recovery may be spurious. `has_probed`: a tail loss probe was a retransmission.
    fn prepare_undo(&mut self, una: u64, has_probed: bool) {
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return };
        let Some(rack) = &mut departures.rack else { return };
        let (unreported, first) = rack.resends(&departures.flight, loss.reported());
        // A probe sets no time (`tcp_send_loss_probe()`).
        let first = first.filter(|_| unreported > 1 || !has_probed);
        // What counts as lost once more may cause no duplicate (`tcp_timeout_mark_lost()` before `tcp_init_undo()`).
        let unreported = rack.resends_in_network(&departures.flight, loss.reported());
        let repairs = rack.repairs.change();
        // A duplicate of it may still be in the network when the segment has arrived, or counts as lost (`tcp_init_undo()`).
        let all_are =
            |set: &RangeSet| repairs.probed.iter_down().all(|range| set.covered_within(range) == range.len());
        let beside = has_probed && (all_are(loss.reported()) || all_are(&repairs.lost));
        let unreported = unreported + u32::from(beside);
        // While retransmissions are in flight, the first one of all counts, also if it is acknowledged
        // (`tcp_retrans_stamp_cleanup()`).
        let earlier = repairs.undo.and_then(|undo| undo.stamp());
        let stamp = first.map(|first| earlier.unwrap_or(timestamp(first)));
        let stamp = repairs.outlives_undo.take().or(stamp);
        repairs.undo = Some(Undo::new(una, unreported, stamp));
    }

    /// The first lost segment is sent at once, regardless of windows: the fast retransmit.
    /// Those that `joins` describes may be sent with it.
    pub(crate) fn send_first_lost(&mut self, mss: u16, joins: Option<Joins>, reason: Reason) {
        match self.first_lost(mss, joins) {
            Some(first) => self.send_next(first, reason),
            None => self.cancel_next(),
        }
    }

    /// The recovery was spurious. Returns false if none can be undone. `as_linux`: what RACK has marked lost in a fast recovery
    /// is no longer in its list (`tcp_rack_detect_loss()`), and an undo does not put it back; a timeout finds it. What duplicate
    /// ACKs report above `una`, a partial ACK, still counts (`tcp_try_undo_partial()`). Without SACK, an ACK of all data that
    /// was outstanding restores the windows, but the recovery and its PRR go on (`tcp_try_undo_recovery()`), and so does that of a
    /// timeout unless F-RTO has shown it to be spurious (`tcp_try_undo_loss()`).
    ///
    /// D-SACKs that undo a fast recovery, and an ACK that ends it, leave what is lost, so another one may begin at once
    /// (`tcp_try_undo_dsack()`, `tcp_try_undo_recovery()`).
    pub(crate) fn undo(&mut self, as_linux: bool, una: u64, shown: Shown) -> bool {
        let Some(departures) = self.log.used_mut() else { return false };
        let Some(rack) = &mut departures.rack else { return false };
        // F-RTO ends the recovery of a timeout that an echo has undone before, too (`tcp_try_undo_loss()`).
        let ends = as_linux && shown == Shown::Delivery && self.loss.phase == Phase::Loss;
        let undo = rack.take_undo();
        if undo.is_none() && !ends {
            return false;
        }
        // Losses are looked for once more (`tcp_undo_cwnd_reduction()`).
        rack.advanced = rack.counted.is_none();
        let counted = rack.counted.filter(|_| self.loss.phase == Phase::Fast && una < self.loss.recover);
        let passes_over = as_linux && self.loss.phase != Phase::Loss;
        let keeps_lost = passes_over && (shown == Shown::Duplicates || rack.ended) && rack.counted.is_none();
        if keeps_lost {
            rack.ended = true;
        } else {
            rack.hold_nothing_lost((&mut departures.flight, self.loss.reported()), as_linux, passes_over);
        }
        let is_held = as_linux && rack.counted.is_some() && una == self.loss.recover;
        let stays =
            as_linux && rack.counted.is_some() && shown != Shown::Delivery && self.loss.phase == Phase::Loss;
        if let Some(repairs) = rack.repairs.known() {
            // Only an ACK of all that was outstanding forgets the time (`tcp_is_non_sack_preventing_reopen()`).
            repairs.outlives_undo = undo.and_then(|undo| undo.stamp()).filter(|_| stays && !is_held);
        }
        if stays || is_held && self.loss.phase != Phase::Open {
            return true;
        }
        rack.repairs.end_reduction();
        if self.loss.phase != Phase::Open {
            self.loss.trouble().leave();
        }
        if counted.is_some() {
            rack.counted = counted;
        }
        if counted.is_some() || ends && rack.counted.is_some() {
            // The recovery does not prevent another one.
            self.loss.trouble().recover = 0;
        }
        true
    }

    /// [`Self::set_timeout`] in the ordinary state.
    #[inline(always)]
    pub(crate) fn set_timeout_calmly(&mut self, at: Time) {
        if let Some(rack) = self.rack_mut() {
            rack.timeout = at;
        }
    }

    /// Whether a tail loss probe may be sent, in the ordinary state.
    #[inline(always)]
    pub(crate) fn probes_calmly(&self) -> bool {
        self.rack().is_some_and(|rack| rack.counted.is_none())
    }

    /// The retransmission timer expires at `at`. Returns whether a tail loss probe may be sent before.
    #[inline]
    pub(crate) fn set_timeout(&mut self, at: Time) -> bool {
        let Some(rack) = self.rack_for_change() else { return false };
        rack.timeout = at;
        self.rack().is_some_and(|rack| self.permits_probe(rack))
    }

    /// Whether a recovery proceeds because of a timer, not of an ACK.
    pub(crate) fn note_timer(&mut self, fired: bool) {
        let in_recovery = self.loss.phase != Phase::Open;
        if let Some(rack) = self.rack_mut() {
            rack.by_timer = fired && in_recovery;
        }
    }

    /// A tail loss probe is due: `range` is sent next. Its answer cannot undo a recovery. `as_linux`: a D-SACK of it counts like
    /// one of the last recovery (`tcp_check_dsack()`).
    pub(crate) fn send_probe(&mut self, range: Range, reason: Reason, as_linux: bool) {
        self.send_next(range, reason);
        if let Some(rack) = self.rack_for_change() {
            rack.probe.sent(range.end, reason == Reason::TailProbe);
            if !as_linux {
                rack.take_undo();
            }
        }
    }

    /// New data up to `end` has been sent as a tail loss probe. Options may have made it shorter than intended.
    pub(crate) fn end_fresh_probe(&mut self, end: u64) {
        self.cancel_next();
        if let Some(rack) = self.rack_for_change() {
            rack.probe.sent(end, false);
        }
    }

    /// A timeout: the first segment is lost, and all data that was sent long enough ago. Unless it begins
    /// a recovery, the state that can show the recovery to be spurious is kept.
    pub(crate) fn time_out(&mut self, now: Time, srtt: Option<Span>, timeout: Timeout) {
        let Timeout { first, max, has_reneged, begins, from_open, dup_acks, mss, .. } = timeout;
        let Timeout { ignores_reordering, is_untimed, frto, .. } = timeout;
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return };
        let Departures { flight, least, rack: Some(rack), .. } = departures else { return };
        let enough = u64::from(dup_acks) * mss;
        let has_probed = rack.probe.is_resend();
        // Without SACK, nothing counts as reported any more (`tcp_timeout_mark_lost()`).
        if from_open
            && loss.sacked() >= enough
            && let Some(repairs) = rack.repairs.known()
        {
            repairs.reordering.doubt_extent(enough);
        }
        if has_reneged {
            rack.forget(flight, Range::new(first.start, max));
        } else if rack.counted.is_some() {
            rack.lose_all_outstanding(Range::new(first.start, max));
        } else {
            let window = if ignores_reordering {
                Span::ZERO
            } else {
                rack.repairs.reordering.window(*least, true, srtt)
            };
            let rtt = if is_untimed { Span::ZERO } else { rack.rtt() };
            rack.time_out(flight, now, first, rtt + window, loss.reported());
        }
        if has_reneged {
            // The log no longer knows what was reported or retransmitted, so an ACK proves nothing.
            rack.frto = Frto::Off;
            rack.take_undo();
            return;
        }
        rack.frto = frto;
        rack.by_timer = true;
        if begins {
            self.prepare_undo(first.start, has_probed);
        }
    }

    /// An ACK in the recovery of a timeout did not show the timeout to be spurious. `max` is SND.MAX.
    pub(crate) fn proceed_after_timeout(&mut self, max: u64, ack: impl FnOnce(bool) -> LaterAck) {
        let Self { log, loss } = self;
        let Some(departures) = log.used_mut() else { return };
        if loss.phase != Phase::Loss {
            return;
        }
        if let Some(rack) = &mut departures.rack {
            rack.frto = rack.frto.after(ack(max > loss.recover));
        }
    }

    /// All of `range` is lost, for a reason that is no sign of congestion.
    pub(crate) fn lose_all(&mut self, now: Time, range: Range) {
        let Self { log, loss } = self;
        let Some(departures) = log.change() else { return };
        let Departures { flight, rack: Some(rack), .. } = departures else { return };
        rack.time_out(flight, now, range, rack.rtt(), loss.reported());
        rack.frto = Frto::Off;
        rack.take_undo();
        rack.forgive();
    }

    /// Losses that were not counted yet are no sign of congestion.
    pub(crate) fn forgive(&mut self) {
        if let Some(rack) = self.rack_mut() {
            rack.forgive();
        }
    }

    /// The ranges that were marked lost since the last call, if they are counted.
    pub(crate) fn take_found(&mut self) -> Vec<Range> {
        let found = self.rack_mut().and_then(|rack| rack.repairs.known()?.found.as_mut());
        found.map(core::mem::take).unwrap_or_default()
    }

    /// A recovery has ended with an ACK. `is_fast`: no timeout had begun it. Then no duplicate ACK counts any more; otherwise
    /// they count for this ACK.
    pub(super) fn end_by_time(&mut self, is_fast: bool) {
        if let Some(rack) = self.rack_mut() {
            if is_fast {
                rack.forget_counted();
            }
            rack.recovered();
        }
    }
}
