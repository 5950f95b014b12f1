//! SACK blocks: their reports, and the conclusions about reordering and loss.

use crate::context::Context;
use crate::ranges::Range;
use crate::recovery::spurious::undo::Shown;
use crate::recovery::{Parts, Phase};
use crate::send::Sender;
use crate::time::{Span, Time};
use crate::wire::options::{SackBlock, timestamp};
use crate::wire::segment::Segment;

/// The number of disjoint reports that are kept in addition to those of full segments and ends of application data.
const SPARE_REPORTS: usize = 64;

/// The result of processing SACK blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Reports {
    /// They reported new data.
    pub(super) reports_new: bool,
    /// They reported a duplicate, which ends here.
    pub(super) again: Option<u64>,
    /// The same if it may be one of a tail loss probe.
    pub(super) answers_probe: Option<u64>,
    /// When the first segment that they newly report was sent, if RTT samples are taken as in Linux. Segments that were sent
    /// more than once do not count.
    pub(super) first_sent: Option<Time>,
    /// The same of the last one.
    pub(super) last_sent: Option<Time>,
    /// A duplicate that they reported has undone a fast recovery, whose data is not all acknowledged.
    pub(super) undoes: bool,
}

impl Sender {
    /// Processes the peer's SACK blocks. Returns whether they reported anything new. Blocks of data that is acknowledged or
    /// was never sent are ignored here: they are D-SACKs (RFC 2883) or invalid.
    #[inline]
    pub(super) fn take_reports(&mut self, cx: &mut Context, now: Time, segment: &Segment) -> Reports {
        if segment.options.sack.is_empty() || !cx.agreed.sack {
            return Reports::default();
        }
        let as_linux = self.takes_acks_as_linux(cx);
        let reported_again =
            if self.recovery.is_by_time() { self.duplicate_report(segment, as_linux) } else { None };
        let of_segment = reported_again.filter(|&(_, len)| len <= u64::from(cx.agreed.payload));
        let reported_again = reported_again.filter(|&(_, len)| self.counts_duplicate(cx, len));
        let reported_again = reported_again.map(|(again, _)| again);
        let again = reported_again.map(|again| again.end);
        // In Linux a D-SACK of a probe answers it even if it is not believed (`tcp_dsack_seen()`).
        let answers_probe =
            if cx.config.counts_as_linux() { of_segment.map(|(again, _)| again.end) } else { again };
        let ack = self.space.position(segment.ack).max(self.space.una as i64);
        let mut undoes = false;
        if let Some(again) = reported_again {
            let recovers = self.recovery.phase() == Phase::Fast && ack < self.recovery.recover() as i64;
            let by_original = recovers && as_linux && self.note_order_before_undo(cx, ack as u64, segment);
            let shown = if by_original { Shown::Echo } else { Shown::Duplicates };
            self.note_duplicate_report(cx, now, again, (ack > self.space.una as i64, shown, segment));
            undoes = recovers && self.recovery.phase() == Phase::Open;
        }
        let (max, mss) = (self.space.max as i64, u32::from(cx.agreed.payload));
        let mut reports = Reports { again, answers_probe, undoes, ..Reports::default() };
        // The blocks of the ACK before count while something is reported (`tcp_sacktag_write_queue()`).
        let passes_over = as_linux && self.recovery.sacked() > 0;
        // In ascending order (`tcp_sacktag_write_queue()`): that the peer names a later block first does not show that segments
        // overtook each other.
        for block in segment.options.sack.sorted_from(segment.ack).as_slice() {
            let (left, right) = (self.space.position(block.left), self.space.position(block.right));
            if ack < left && left < right && right <= max {
                if self.extras.is_some() {
                    self.join_reported((left as u64, right as u64));
                }
                let range = self.in_whole_segments(Range::new(left as u64, right as u64));
                match if passes_over { self.recovery.not_passed_over(range) } else { None } {
                    None => self.take_report(cx, now, range, segment, &mut reports),
                    Some(parts) => {
                        parts
                            .into_iter()
                            .for_each(|part| self.take_report(cx, now, part, segment, &mut reports));
                    }
                }
            }
        }
        if as_linux {
            let places =
                |block: &SackBlock| (self.space.position(block.left), self.space.position(block.right));
            let blocks = segment.options.sack.sorted_from(segment.ack);
            let valid = blocks
                .as_slice()
                .iter()
                .map(places)
                .filter(|&(left, right)| ack < left && left < right && right <= max);
            self.recovery.remember_blocks(valid.map(|(left, right)| Range::new(left as u64, right as u64)));
        }
        if reports.reports_new {
            let threshold = u32::from(cx.config.dup_ack_threshold);
            self.recovery.update_scoreboard(threshold, mss, self.space.data_end());
        }
        reports
    }

    /// The peer reports `range`, which consists of whole segments.
    fn take_report(
        &mut self,
        cx: &mut Context,
        now: Time,
        range: Range,
        segment: &Segment,
        reports: &mut Reports,
    ) {
        if range.is_empty() || !self.has_room_for(cx, range) {
            return;
        }
        self.measure(cx, now, range);
        if self.takes_acks_as_linux(cx)
            && let Some((first, last)) = self.recovery.sent_once_and_unreported(range)
        {
            reports.first_sent.get_or_insert(first);
            reports.last_sent = Some(last);
        }
        if self.recovery.is_by_time() {
            let fin = self.fin_beside_data(cx, range);
            self.note_delivery(cx, now, range, segment);
            self.recovery.count_whole_segments(Parts::default().with_fin(fin));
        }
        reports.reports_new |= self.recovery.report(range);
    }

    /// 1 if `range`, which is delivered now, ends with a FIN that has left in a full segment. Linux counts packets, so it adds nothing.
    #[inline]
    pub(super) fn fin_beside_data(&self, cx: &Context, range: Range) -> u64 {
        let fin = self.space.data_end();
        let is_beside = range.end > fin
            && cx.config.counts_as_linux()
            && self.has_fin_in_full_segment(cx)
            && self.recovery.sacked_within(Range::new(fin, fin + 1)) == 0;
        u64::from(is_beside)
    }

    /// Whether the FIN has left with a full segment of data.
    #[inline]
    pub(in crate::send) fn has_fin_in_full_segment(&self, cx: &Context) -> bool {
        self.space.fin_sent()
            && self.recovery.last_start() + u64::from(cx.agreed.payload) == self.space.data_end()
    }

    /// The end of what was sent, without a FIN that is no packet of its own. Linux counts packets where it counts duplicate ACKs.
    #[inline]
    pub(super) fn end_of_packets(&self, cx: &Context) -> u64 {
        self.space.max - u64::from(self.has_fin_in_full_segment(cx))
    }

    /// Whether a reported range is kept.
    #[inline]
    fn has_room_for(&self, cx: &Context, range: Range) -> bool {
        // The division is left to those that have many.
        self.recovery.reported().len() < SPARE_REPORTS
            || self.recovery.has_room_for(range, self.most_reports(cx))
    }

    /// The maximum number of disjoint reports. Ranges at a receiver begin and end at segment boundaries (RFC 2018, section 4),
    /// and at least one segment between two ranges is missing. So there are at most half as many ranges as outstanding
    /// segments: full segments, and one for each end of application data. The constant covers segments that are short for
    /// other reasons. Further reports, as from a peer that reports slivers, are ignored: SACK is advisory (section 8).
    #[cold]
    fn most_reports(&self, cx: &Context) -> usize {
        let size = u64::from(cx.agreed.payload.min(cx.config.base_mss).max(1));
        let full = (self.space.max - self.space.una) / size;
        usize::try_from(full).unwrap_or(usize::MAX).saturating_add(self.space.marks.len() + SPARE_REPORTS)
    }

    /// Whether a D-SACK is believed. Linux ignores one if more duplicates were reported than segments were retransmitted. A
    /// duplicate counts as delivered, because it has left the network (`tcp_dsack_seen()`). `len` may be more than was sent.
    #[cold]
    fn counts_duplicate(&mut self, cx: &mut Context, len: u64) -> bool {
        if !cx.config.counts_as_linux() {
            return true;
        }
        if len > u64::from(self.space.max_wnd) {
            return false;
        }
        let mss = u64::from(cx.agreed.payload);
        let segments = len.div_ceil(mss.max(1));
        let retransmitted = u64::from(cx.counters().retransmitted);
        let believed = self.recovery.count_duplicates(segments, mss, retransmitted);
        if believed && let Some(paced) = self.paced_mut() {
            paced.rate.deliver_again(segments * mss);
        }
        believed
    }

    /// The first block if it is a D-SACK: below what the segment acknowledges, or within the second (RFC 2883,
    /// section 4), and its length, also of what was never sent.
    #[cold]
    fn duplicate_report(&self, segment: &Segment, as_linux: bool) -> Option<(Range, u64)> {
        let [first, rest @ ..] = segment.options.sack.as_slice() else { return None };
        let (left, right) = (self.space.position(first.left), self.space.position(first.right));
        let within = |block: &SackBlock| {
            self.space.position(block.left) <= left && right <= self.space.position(block.right)
        };
        // Linux takes any block that begins below for one (`tcp_check_dsack()`).
        let ack = self.space.position(segment.ack);
        let is_below = if as_linux { left < ack } else { right <= ack };
        let duplicate = left < right && (is_below || rest.first().is_some_and(within));
        duplicate.then(|| (Range::new(left.max(0) as u64, right.max(0) as u64), (right - left) as u64))
    }

    /// Whether a D-SACK of `again` lies within a second block that reaches to the end of what was sent.
    fn is_within_report_of_last(&self, again: Range, segment: &Segment) -> bool {
        let [_, second, ..] = segment.options.sack.as_slice() else { return false };
        let (left, right) = (self.space.position(second.left), self.space.position(second.right));
        let is_within = left <= again.start as i64 && again.end as i64 <= right;
        // One that begins at SND.UNA is invalid (`tcp_is_sackblock_valid()`).
        is_within && left > self.space.una as i64 && right == self.space.max as i64
    }

    /// A sender with a time for each segment ignores a report of a part of a segment (Linux, `tcp_match_skb_to_sack()`).
    #[inline]
    pub(crate) fn in_whole_segments(&self, reported: Range) -> Range {
        self.recovery.in_whole_segments(reported, self.space.data_end())
    }

    /// `range` was delivered; a part of it may have been known before.
    #[cold]
    pub(crate) fn note_delivery(&mut self, cx: &mut Context, now: Time, range: Range, segment: &Segment) {
        // Our clock counts milliseconds: an echo of an earlier millisecond cannot answer a later transmission. Data that is
        // reported above a gap has no echo of its own (RFC 7323, section 4.3). RFC 8985's rule would take every
        // retransmission that arrives there, such as a tail loss probe, for the original. Linux uses the RTT alone, and so
        // do we.
        let acknowledged = range.end as i64 <= self.space.position(segment.ack);
        let stamps = segment.options.timestamps.filter(|_| cx.agreed.timestamps && acknowledged);
        let echo = stamps.map(|stamps| stamps.echo);
        if self.recovery.note_delivery(now, range, |sent| may_answer(echo, sent)) {
            // Without SACK, what the echo shows counts first, and ends nothing (`tcp_process_loss()`).
            let by_echo = echo.is_some_and(|echo| self.recovery.answers_original(range.end, echo));
            if !(by_echo && cx.config.counts_as_linux() && self.recovery.counts_dup_acks()) {
                let una = if acknowledged { range.end } else { self.space.una };
                self.undo_at(cx, now, una, Shown::Delivery);
            }
        }
    }

    /// RACK.rtt after an ACK of `range` that also carries new reports; the minimum RTT was `least` before it.
    #[cold]
    pub(super) fn prefer_acknowledged(
        &mut self,
        cx: &Context,
        now: Time,
        (range, least): (Range, Option<Span>),
        segment: &Segment,
    ) {
        let stamps = segment.options.timestamps.filter(|_| cx.agreed.timestamps);
        let echo = stamps.map(|stamps| stamps.echo);
        self.recovery.prefer_acknowledged(now, (range, least), |sent| may_answer(echo, sent));
    }

    /// An ACK up to `ack` of a part of what was outstanding at the start of a recovery has a D-SACK, which may undo that. If it answers
    /// an original, it shows reordering before (`tcp_try_undo_partial()`, `tcp_try_undo_dsack()`). Returns whether it also undoes the
    /// recovery before: no other retransmission is in the network.
    fn note_order_before_undo(&mut self, cx: &Context, ack: u64, segment: &Segment) -> bool {
        let stamps = segment.options.timestamps.filter(|_| cx.agreed.timestamps);
        let una = self.space.una;
        let is_late =
            ack > una && stamps.is_some_and(|stamps| self.recovery.answers_original(ack, stamps.echo));
        if is_late {
            self.recovery.note_late_original(una);
        }
        is_late && !self.recovery.has_resends_above(ack)
    }

    /// A D-SACK (RFC 2883): retransmitted data had already been delivered.
    #[cold]
    fn note_duplicate_report(
        &mut self,
        cx: &mut Context,
        now: Time,
        again: Range,
        (advances, shown, segment): (bool, Shown, &Segment),
    ) {
        let (una, max, as_linux) = (self.space.una, self.space.max, cx.config.counts_as_linux());
        let ends = segment.options.sack.as_slice().iter().map(|block| self.space.position(block.right));
        let highest = ends.filter(|&end| end <= max as i64).max().map_or(0, |end| end.max(0) as u64);
        let to_end = as_linux && self.is_within_report_of_last(again, segment);
        let is_spurious = self.recovery.note_duplicate_report((una, max, highest), (again, to_end), as_linux);
        // After a timeout, only an ACK of new data undoes it (`tcp_process_loss()`).
        let waits = as_linux && self.recovery.phase() == Phase::Loss && !advances;
        if is_spurious && !waits {
            self.undo(cx, now, shown);
        }
    }
}

/// Whether an ACK with this echo can answer a transmission at `sent`.
fn may_answer(echo: Option<u32>, sent: Time) -> bool {
    echo.is_none_or(|echo| (echo.wrapping_sub(timestamp(sent)) as i32) >= 0)
}
