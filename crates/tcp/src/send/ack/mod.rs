//! Fifth step of RFC 9293, section 3.10.7.4: the effects of an acknowledgment on the sender.

mod by_time;
mod in_repair;
mod marks;
mod measured;
mod repair;
mod reports;
mod samples;

use crate::config::OldSegments;
use crate::context::Context;
use crate::ranges::Range;
use crate::record::event::Event;
use crate::recovery::Parts;
use crate::send::Sender;
use crate::send::space::SendSpace;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;

impl Sender {
    /// Whether an ACK has its effects in the order of Linux, and counts there as in Linux: losses are detected by time
    /// (`tcp_ack()`).
    #[inline]
    pub(in crate::send) fn takes_acks_as_linux(&self, cx: &Context) -> bool {
        cx.config.counts_as_linux() && self.recovery.is_by_time()
    }

    /// Processes the ACK of an acceptable segment. `marked`: it reports a congestion mark.
    #[inline]
    pub(crate) fn take_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment, marked: bool) {
        if self.learns_nothing(cx, segment) {
            self.confirm_window(segment.seq, segment.ack);
            let SendSpace { una, max, .. } = self.space;
            return self.judge_echo(cx, now, una, max - una, marked);
        }
        self.take_any_ack(cx, now, segment, marked);
    }

    /// Whether the ACK of a segment with data acknowledges nothing new and says nothing else, but perhaps that packets were marked.
    /// This is so of nearly all segments at the receiver of a transfer.
    #[inline]
    fn learns_nothing(&self, cx: &Context, segment: &Segment) -> bool {
        segment.payload.len > 0
            && self.space.acknowledges_nothing_new(segment.ack)
            && self.predicts_measured_arrival()
            && !(self.is_paced() && self.space.is_outstanding())
            && !segment.flags.has(Flags::SYN)
            && self.space.wnd > 0
            // The ACK of a SYN-ACK may be the first to count for the largest window.
            && self.space.wnd <= self.space.max_wnd
            && cx.agreed.read_window(segment.window, &segment.options) == self.space.wnd
            && segment.options.sack.is_empty()
            && segment.options.nak.is_none()
    }

    /// The same for any ACK.
    fn take_any_ack(&mut self, cx: &mut Context, now: Time, segment: &Segment, marked: bool) {
        let ack = self.space.position(segment.ack);
        self.recovery.note_timer(false);
        let is_troubled = self.recovery.awaits_trouble();
        let (window_before, wl1_before, largest_before) =
            (self.space.wnd, self.space.wl1, self.space.max_wnd);
        let window = if segment.flags.has(Flags::SYN) {
            cx.agreed.read_syn_window(segment.window, &segment.options)
        } else {
            cx.agreed.read_window(segment.window, &segment.options)
        };
        let (una_before, least_before) = (self.space.una, self.recovery.least_rtt());
        let flight_before = self.space.max - una_before;
        let newly_acked = ack > una_before as i64 && self.recovery.is_by_time();
        let mut parts = Parts::default();
        if newly_acked && cx.config.counts_as_linux() {
            let acked = Range::new(una_before, ack as u64);
            parts = self.recovery.parts_at(acked).with_fin(self.fin_beside_data(cx, acked));
        }
        self.measure_ack(cx, now, ack, parts);
        if newly_acked {
            let acked = Range::new(una_before, ack as u64);
            if cx.config.counts_as_linux() {
                self.recovery.note_completion(acked);
            }
            self.note_delivery(cx, now, acked, segment);
            self.recovery.count_whole_segments(parts);
            self.recovery.acknowledge_counted(
                (acked, parts),
                self.end_of_packets(cx).max(ack as u64),
                u64::from(cx.agreed.payload),
            );
        }
        let reports = self.take_reports(cx, now, segment);
        let reports_new = reports.reports_new;
        if reports_new && ack > una_before as i64 {
            let acked = Range::new(una_before, ack as u64);
            self.prefer_acknowledged(cx, now, (acked, least_before), segment);
        }
        if ack > una_before as i64 {
            self.take_new_ack(cx, now, ack as u64, segment, (reports.first_sent, parts));
        } else if ack == una_before as i64
            && let Some(sent) = reports.first_sent
        {
            self.take_report_sample(cx, now, self.space.una, sent);
        }
        // SND.UNA =< SEG.ACK only: an older segment's window begins further left.
        let as_linux = cx.config.old_segments == OldSegments::Linux;
        let may_update = ack >= una_before as i64
            && (!as_linux || self.space.may_update_window(segment.seq, segment.ack, window));
        let current = may_update && self.space.update_window(segment.seq, segment.ack, window);
        let window = if may_update || ack < una_before as i64 { window } else { window_before };
        if current && window != window_before {
            self.window_changed(cx, now, window);
        }
        if largest_before < self.space.max_wnd && bounds_segments(cx, largest_before) {
            self.size_segments(cx);
        }
        if ack == una_before as i64 {
            self.take_repeated_ack(cx, now, segment, (reports_new, window == window_before, wl1_before));
        }
        self.recovery.end_reduction(self.space.una);
        if !self.takes_acks_as_linux(cx) {
            self.judge_echo(cx, now, una_before, flight_before, marked);
        }
        // An old ACK without reports shows nothing (`old_ack` in `tcp_ack()`).
        let shows = ack >= una_before as i64 || !segment.options.sack.is_empty();
        if shows && self.recovery.is_by_time() {
            let before = (una_before, flight_before);
            let kind = (marked, is_troubled, as_linux && may_update, parts.completes_any());
            self.judge_by_time(cx, now, segment, before, kind, reports);
        }
        self.judge_mtu_probe(cx);
        // Without outstanding data there is no sample (`no_queue` in `tcp_ack()`).
        if shows && flight_before > 0 {
            if ack < una_before as i64 && self.takes_acks_as_linux(cx) {
                self.pass_over_sample(cx, now);
            } else {
                self.conclude_sample(cx, now);
            }
        }
        if let Some(nak) = segment.options.nak {
            self.take_nak(cx, now, nak);
        }
    }

    /// An ACK acknowledges nothing new, and may be a duplicate. `reports_new`: it reports new data above a gap. `keeps_window`: it
    /// announces the present window.
    #[inline]
    fn take_repeated_ack(
        &mut self,
        cx: &mut Context,
        now: Time,
        segment: &Segment,
        (reports_new, keeps_window, wl1_before): (bool, bool, Seq),
    ) {
        self.unanswered_probe(cx);
        // RFC 5681, section 2: outstanding data, no text, no SYN or FIN, nothing new, the same window; with SACK,
        // RFC 6675, section 2: whatever reports something new.
        let bare = segment.seq_len() == 0 && keeps_window && !self.is_window_update(cx, segment, wl1_before);
        let duplicate = if self.recovers_by_sack(cx) {
            reports_new || (bare && self.recovery.sacked() == 0)
        } else {
            bare
        };
        if duplicate && self.space.is_outstanding() && !self.timers.is_persisting() {
            self.take_dup_ack(cx, now);
        } else if !self.space.is_outstanding() {
            self.recovery.forget_dup_acks();
            if cx.config.counts_as_linux() {
                // `tcp_ack_probe()`: any ACK shows that the peer is there.
                self.timers.restart_persist(now, cx.config.timer_grain);
            }
        }
    }

    /// Whether an ACK counts as a window update because it follows the segment that the window was taken from, or announces a
    /// closed window. Without SACK, Linux counts no such ACK as a duplicate, even if the window is the same (`FLAG_WIN_UPDATE` in
    /// `tcp_ack()`, `tcp_may_update_window()`).
    #[inline]
    fn is_window_update(&self, cx: &Context, segment: &Segment, wl1_before: Seq) -> bool {
        cx.config.old_segments == OldSegments::Linux
            && !cx.agreed.sack
            && segment.seq.distance_from(wl1_before) >= i32::from(segment.window > 0)
    }

    /// An ACK of new data. `reported`: when the first segment that it reports above a gap was sent, for its RTT sample. `parts`: the
    /// parts of segments that it acknowledges, if it counts as in Linux.
    #[inline]
    fn take_new_ack(
        &mut self,
        cx: &mut Context,
        now: Time,
        ack: u64,
        segment: &Segment,
        (reported, parts): (Option<Time>, Parts),
    ) {
        let una = self.space.una;
        let (acked, flight) = (ack - una, self.space.max - una);
        // Data that was reported earlier has been counted when the report arrived.
        let reports_new = self.reported_before(cx, Range::new(una, ack));
        // Linux counts a segment when all of it is acknowledged: for cwnd, the RTT and the timer (`tcp_clean_rtx_queue()`).
        let in_order = || parts.in_whole_segments(acked - reports_new);
        let opens = self.newly_reported(cx, una, ack).unwrap_or_else(in_order);
        let echo = segment.options.timestamps.map(|t| t.echo);
        if !parts.completes_any() {
            if let Some(sent) = reported {
                self.take_report_sample(cx, now, ack, sent);
            }
        } else if self.takes_acks_as_linux(cx) && self.gives_no_sample(Range::new(una, ack - parts.cut_off()))
        {
            self.take_ambiguous_sample(cx, now, ack, reported, echo);
        } else {
            self.take_sample(cx, now, ack, echo);
        }
        self.space.una = ack;
        self.space.nxt = self.space.nxt.max(ack);
        self.timers.unanswered = 0;
        if parts.cut_off() > 0 {
            self.note_rest(cx, ack, parts.cut_off());
        }
        self.recovery.advance(ack);
        self.forget_joined(ack);
        self.space.marks.forget(ack);
        cx.note(now, Event::Acknowledged { offset: ack.clamp(1, self.space.data_end()) - 1 });
        let restart = self.advance_recovery(cx, now, opens as u32, flight);
        self.recovery.settle(ack);
        self.cwnd_limited = false;
        if !self.space.is_outstanding() {
            if self.timers.is_persisting() {
                // A probe was taken: its backoff says nothing of the path.
                self.refresh_rto(cx);
            }
            self.timers.stop_retransmit();
            if self.recovery.awaits_reordering() {
                self.recovery.stop_reordering_timer();
            }
        } else if restart && parts.completes_any() {
            self.restart_by_ack(cx, now);
            self.note_retransmit_timer(cx, now);
        }
        if self.space.is_outstanding() {
            self.start_user_timeout(cx, now);
        } else {
            self.stop_user_timeout();
        }
    }

    /// Whether no segment of what an ACK acknowledges gives a sample in Linux: some of it was sent again, or its first segment was
    /// reported before, as the rest of one is (`tcp_clean_rtx_queue()`).
    fn gives_no_sample(&self, acked: Range) -> bool {
        let first = Range::new(acked.start, acked.start + 1);
        self.recovery.has_resent(acked) || self.recovery.sacked_within(first) > 0
    }

    /// An ACK up to `ack` acknowledges `part` bytes of a segment that goes on behind.
    #[cold]
    pub(in crate::send) fn note_rest(&mut self, cx: &Context, ack: u64, part: u64) {
        self.keep_push_of_rest(ack, part);
        if self.cwnd_counts_packets(cx) {
            self.recovery.note_cut_off();
        }
    }

    /// How many bytes of `range` were known to be delivered: by SACK. Without SACK, as in Linux, one segment for each duplicate
    /// ACK except one (`tcp_remove_reno_sacks()`).
    #[inline]
    fn reported_before(&self, cx: &Context, range: Range) -> u64 {
        if self.recovery.dup_acks() > 0 && !cx.agreed.sack && cx.config.counts_as_linux() {
            let mss = u64::from(cx.agreed.payload);
            return (u64::from(self.recovery.dup_acks()) * mss).min(range.len().saturating_sub(mss));
        }
        self.recovery.sacked_within(range)
    }

    /// The bytes that an ACK of new data reports as delivered, for the growth of the window. Linux also counts data that the
    /// same ACK reports above a gap (`tcp_cong_control()`, `acked_sacked`).
    #[inline]
    fn newly_reported(&self, cx: &Context, una: u64, ack: u64) -> Option<u64> {
        let known = self.recovery.sacked() > 0 || self.recovery.counts_dup_acks();
        if !cx.config.counts_as_linux() || ack <= una || !known {
            return None;
        }
        self.recovery.delivered()
    }

    /// The peer's window has changed.
    #[inline]
    fn window_changed(&mut self, cx: &mut Context, now: Time, window: u32) {
        cx.note(now, Event::PeerWindow { window });
        if self.timers.is_persisting() {
            self.timers.stop_retransmit();
            // The peer is there.
            self.timers.unanswered = 0;
            self.refresh_rto(cx);
            self.restart_if_idle(cx, now);
            if self.space.is_outstanding() {
                self.restart_retransmit(cx, now);
            }
        }
    }

    /// An ACK that acknowledges nothing new still answers a probe: the peer is reachable (RFC 9293, MUST-37). It also answers
    /// a FIN that did not fit into the window, and that the peer may refuse. Linux forgets no timeouts of outstanding data then
    /// (`icsk_retransmits` in `tcp_ack()`), and counts none into a closed window.
    #[inline]
    fn unanswered_probe(&mut self, cx: &Context) {
        if self.timers.is_persisting() || self.space.wnd == 0 && !self.takes_acks_as_linux(cx) {
            self.timers.unanswered = 0;
        }
    }
}

/// Whether the peer's largest window may have limited the segments so far.
#[inline]
fn bounds_segments(cx: &Context, largest: u32) -> bool {
    cx.config.half_window_segments && largest / 2 < u32::from(u16::MAX)
}
