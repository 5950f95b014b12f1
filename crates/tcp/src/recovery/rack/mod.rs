//! RACK: a segment is lost if a segment that was sent sufficiently later has been delivered (RFC 8985, section 6).
//!
//! Duplicate ACKs are not counted. Reordering within the *reordering window* causes no retransmission. A lost
//! retransmission is detected like any other lost segment.

mod reordering;

use super::counted::Counted;
use super::flight::{Flight, LeastRtt, Sent, ShortSegments};
use super::prr::Prr;
use super::spurious::frto::Frto;
use super::spurious::undo::Undo;
use super::tail_probe::Probe;
use crate::ranges::{Range, RangeSet};
use crate::record::info::Segments;
use crate::time::{Span, Time};
use reordering::Reordering;

/// How many segments that a D-SACK names are looked at.
const DUPLICATES: usize = 16;

/// The state of RACK.
#[derive(Debug, Default)]
pub(crate) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq: the most recently sent segment that was delivered.
    newest: Option<Sent>,
    /// RACK.rtt: the RTT of that segment.
    rtt: Span,
    /// RACK.fack: the end of the highest delivered data.
    fack: u64,
    pub(super) reordering: Reordering,
    /// Data that is marked lost and has not been retransmitted since.
    pub(super) lost: RangeSet,
    /// Data marked lost since the last query, if anyone queries it.
    pub(super) found: Option<Vec<Range>>,
    /// Data that was sent more than once.
    resent: RangeSet,
    /// When more data will be marked lost, unless it is delivered before (the reordering timer).
    pub(super) deadline: Option<Time>,
    /// Bytes that the present ACK reports as delivered for the first time.
    pub(super) delivered: u64,
    /// When the newest of these bytes were sent.
    pub(super) delivered_newest: Option<Time>,
    /// Something was delivered since losses were last looked for (Linux, `rack.advanced`).
    pub(super) advanced: bool,
    pub(super) probe: Probe,
    /// When the retransmission timer expires. The timer may expire for a probe before.
    pub(super) timeout: Time,
    pub(super) prr: Option<Prr>,
    pub(super) undo: Option<Undo>,
    /// Whether the latest timeout may be spurious.
    pub(super) frto: Frto,
    /// An undo has left segments that are not looked at again before a timeout.
    passes_over: bool,
    /// Segments that D-SACKs have reported so far.
    pub(super) duplicates: u64,
    /// Whether the present ACK has ended a recovery.
    pub(super) ended: bool,
    /// Without SACK: what duplicate ACKs report.
    pub(super) counted: Option<Counted>,
    /// Whether only new data is sent until the next ACK.
    pub(super) holds_repairs: bool,
    /// The pacing timer has expired since the last ACK, which permits to retransmit (Linux, `tcp_tsq_write()`).
    pub(super) turn_has_come: bool,
    /// Whether a timer has acted in a recovery since the last ACK.
    pub(super) by_timer: bool,
    /// Outstanding short segments, if cwnd counts packets.
    pub(super) short: Option<Box<ShortSegments>>,
}

impl Rack {
    /// Whether the state is ordinary: an ACK of the next data changes nothing but the latest delivery.
    #[inline(always)]
    pub(super) fn is_calm(&self) -> bool {
        self.probe.is_over()
            && self.deadline.is_none()
            && self.resent.is_empty()
            && !self.reordering.awaits_delivery()
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
        range: Range,
        is_echoed: impl Fn(Time) -> bool,
    ) {
        self.delivered += range.len();
        if let Some(short) = &mut self.short {
            self.delivered += short.deliver(range);
        }
        self.lost.remove(range);
        if range.end > self.fack {
            self.fack = range.end;
        } else if let Some(late) = self.resent.missing_in(range).next() {
            // Retransmissions beside it do not matter.
            self.reordering.note_late(late.start);
        }
        // An ACK may answer the first transmission of a segment, not the retransmission. Such a segment shows nothing (step 2).
        let shortest = least.get();
        let too_soon = |sent: &Sent| shortest.is_some_and(|least| now - sent.at < least);
        let answers = |sent: &Sent| !sent.again || (!too_soon(sent) && is_echoed(sent.at));
        let delivered = flight.delivered(range, answers);
        self.delivered_newest = self.delivered_newest.max(delivered.newest.map(|sent| sent.at));
        let (Some(sent), Some(last)) = (delivered.answered, delivered.last) else { return };
        // Without SACK, losses are not detected by time.
        self.advanced = self.counted.is_none();
        self.learn_rtt(least, now, now - sent.at);
        self.rtt = now - last.at;
        if self.newest.is_none_or(|newest| sent.is_after(&newest)) {
            // The start of the segment is not used.
            self.newest = Some(Sent { range: Range::new(sent.range.end, sent.range.end), ..sent });
        }
    }

    /// RACK.rtt after an ACK of `range`. RFC 8985, section 6.2, step 2, does not say which segment of the ACK is processed last.
    /// In Linux it is the last one that is acknowledged and was not reported before (`tcp_clean_rtx_queue()` follows
    /// `tcp_sacktag_write_queue()`).
    pub(super) fn prefer_acknowledged(
        &mut self,
        (flight, least): (&Flight, LeastRtt),
        now: Time,
        range: Range,
        sacked: &RangeSet,
        is_echoed: impl Fn(Time) -> bool,
    ) {
        let too_soon = |rtt: Span| least.get().is_some_and(|least| rtt < least);
        let answers = |sent: &Sent| !sent.again || (!too_soon(now - sent.at) && is_echoed(sent.at));
        let segments = sacked.missing_in(range).flat_map(|piece| flight.within(piece));
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
        self.lost.remove_below(una);
        self.resent.remove_below(una);
        if let Some(short) = &mut self.short {
            short.forget_below(una);
            if short.is_empty() {
                self.short = None;
            }
        }
    }

    /// A D-SACK of `range`. If it names a segment that was sent again and reported before, the original came late
    /// (`tcp_sacktag_one()`).
    pub(super) fn note_late_duplicate(&mut self, flight: &Flight, range: Range, sacked: &RangeSet) {
        let is_reported = |sent: &Sent| sacked.covered_within(sent.range) == sent.range.len();
        // A D-SACK names one segment, or a few that a receiver has merged.
        let mut segments = flight.all_within(range).take(DUPLICATES);
        if let Some(late) = segments.find(|sent| sent.again && is_reported(sent)) {
            self.reordering.note_late(late.range.start);
        }
    }

    /// Whether all of `range` was sent more than once.
    pub(super) fn was_resent(&self, range: Range) -> bool {
        self.resent.covered_within(range) == range.len()
    }

    /// Whether nothing of `range` was sent more than once.
    pub(super) fn has_not_resent(&self, range: Range) -> bool {
        self.resent.covered_within(range) == 0
    }

    /// `range` is retransmitted.
    pub(super) fn resend(&mut self, range: Range) {
        self.lost.remove(range);
        self.resent.insert(range);
    }

    /// The present ACK is processed completely: computes the distance of the reordering that it shows.
    pub(super) fn note_order(&mut self) {
        self.reordering.note_order(self.fack);
    }

    /// A recovery has ended.
    pub(super) fn recovered(&mut self) {
        self.prr = None;
        self.forget_counted();
        self.ended = true;
        self.reordering.recovered();
    }

    /// Whether the present ACK has ended a recovery, and data that was marked lost in the meantime remains. Such data was sent
    /// after the recovery had begun, so it is a loss of the next window.
    pub(super) fn take_unrepaired(&mut self, sacked: &RangeSet) -> bool {
        let is_missing = |range| sacked.missing_in(range).next().is_some();
        core::mem::take(&mut self.ended) && (!self.lost.is_empty() || self.resent.iter_down().any(is_missing))
    }

    /// Marks segments lost that were sent before the most recently sent delivered segment, and longer ago than RACK.rtt plus
    /// the reordering window (step 5). Returns whether any segment was marked. Sets the time at which all others are due.
    pub(super) fn detect(&mut self, flight: &mut Flight, now: Time, window: Span, sacked: &RangeSet) -> bool {
        self.deadline = None;
        self.advanced = false;
        let mut found = false;
        let Some(newest) = self.newest else { return false };
        while let Some(sent) = flight.oldest(sacked) {
            if !newest.is_after(&sent) {
                break;
            }
            let wait = self.rtt + window;
            if sent.at + wait > now {
                // One timer for all that wait: the largest of their times.
                let last = flight.latest_before(&newest, sacked).map_or(sent.at, |last| last.at);
                self.deadline = Some(last.max(sent.at) + wait);
                break;
            }
            self.lose(sent.range, sacked);
            flight.hold_lost(sent);
            found = true;
        }
        found
    }

    /// A timeout: the first segment is lost, and all segments that were sent long enough ago (section 6.3).
    pub(super) fn time_out(
        &mut self,
        flight: &mut Flight,
        now: Time,
        first: Range,
        window: Span,
        sacked: &RangeSet,
    ) {
        self.deadline = None;
        self.probe = Probe::default();
        self.prr = None;
        self.holds_repairs = false;
        if core::mem::take(&mut self.passes_over) {
            flight.restore_lost();
        }
        while let Some(sent) = flight.oldest(sacked)
            && sent.at + self.rtt + window <= now
        {
            self.lose(sent.range, sacked);
            flight.hold_lost(sent);
        }
        self.lose(first, sacked);
    }

    /// A timeout without SACK: all outstanding data is lost (`tcp_timeout_mark_lost()`). `begins`: no recovery was under way;
    /// `threshold` is the configured one.
    pub(super) fn lose_all_outstanding(&mut self, all: Range, begins: bool, threshold: u8, mss: u64) {
        if begins && let Some(counted) = &mut self.counted {
            counted.doubt_threshold(threshold, mss);
        }
        self.deadline = None;
        self.prr = None;
        self.forget_counted();
        self.lose(all, &RangeSet::new());
    }

    /// Duplicate ACKs have reported nothing that is still outstanding.
    pub(super) fn forget_counted(&mut self) {
        self.counted = self.counted.map(Counted::forget);
    }

    /// Bytes that duplicate ACKs report.
    pub(super) fn counted(&self) -> u64 {
        self.counted.map_or(0, Counted::bytes)
    }

    /// The peer may have discarded data that it had reported: all outstanding data is lost (RFC 2018, section 8).
    pub(super) fn forget(&mut self, flight: &mut Flight, all: Range) {
        flight.forget_all();
        self.lost.clear();
        self.lost.insert(all);
        if let Some(short) = &mut self.short {
            short.lose_all();
        }
    }

    /// The loss detection was spurious. Segments that are really lost will be detected again. With `after_timeout_only`, those
    /// that were marked lost are not looked at again before a timeout.
    pub(super) fn hold_nothing_lost(&mut self, flight: &mut Flight, after_timeout_only: bool) {
        self.lost.clear();
        if let Some(short) = &mut self.short {
            short.find_all();
        }
        self.forget_counted();
        self.ended = false;
        if after_timeout_only {
            self.passes_over = true;
        } else {
            flight.restore_lost();
        }
    }

    /// Marks the unreported parts of `range` lost.
    pub(super) fn lose(&mut self, range: Range, sacked: &RangeSet) {
        for piece in sacked.missing_in(range) {
            if let Some(found) = &mut self.found {
                found.extend(self.lost.missing_in(piece));
            }
            self.lost.insert(piece);
            if let Some(short) = &mut self.short {
                short.lose(piece);
            }
        }
    }

    /// Losses that were not counted yet are not a sign of congestion.
    pub(super) fn forgive(&mut self) {
        if let Some(found) = &mut self.found {
            found.clear();
        }
    }

    /// Whether a retransmission is in the network (`retrans_out`).
    pub(super) fn has_resends(&self, flight: &Flight, sacked: &RangeSet) -> bool {
        flight.has_resends(&self.resent, sacked)
    }

    /// How many retransmitted segments are neither acknowledged nor reported, and when the first of them was sent.
    pub(super) fn resends(&self, flight: &Flight, sacked: &RangeSet) -> (u32, Option<Time>) {
        flight.resends(&self.resent, sacked)
    }

    /// The first segment of `mss` bytes, or what there is of it, that is held lost.
    pub(super) fn first_lost(&self, mss: u16) -> Option<Range> {
        let hole = self.lost.first()?;
        Some(Range::new(hole.start, hole.end.min(hole.start + u64::from(mss))))
    }

    /// Bytes in the network, without padding.
    pub(super) fn pipe(&self, una: u64, max: u64, sacked: u64) -> u64 {
        (max - una).saturating_sub(sacked + self.counted() + self.lost.covered())
    }
}

impl Rack {
    /// Bytes of retransmissions that are not known to have arrived or to be lost (`retrans_out`).
    pub(super) fn resent(&self, sacked: &RangeSet) -> u64 {
        let unreported = self.resent.iter_down().flat_map(|range| sacked.missing_in(range));
        unreported.map(|piece| piece.len() - self.lost.covered_within(piece)).sum()
    }

    /// All outstanding segments, by what is known of them.
    pub(super) fn segments(&self, flight: &Flight, sacked: &RangeSet) -> Segments {
        flight.all_within(Range::new(0, u64::MAX)).fold(Segments::default(), |mut all, sent| {
            all.unacknowledged += 1;
            if sacked.covered_within(sent.range) == sent.range.len() {
                all.sacked += 1;
            } else if self.lost.covered_within(sent.range) > 0 {
                all.lost += 1;
            } else if sent.again {
                all.resent += 1;
            }
            all
        })
    }

    /// Bytes of the outstanding tail loss probe, if it was a retransmission.
    pub(super) fn probed(&self, flight: &Flight) -> u64 {
        if self.probe.is_resend() { flight.last_len() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// RACK with its log.
    #[derive(Default)]
    struct Logged {
        rack: Rack,
        flight: Flight,
        least: LeastRtt,
    }

    impl core::ops::Deref for Logged {
        type Target = Rack;

        fn deref(&self) -> &Rack {
            &self.rack
        }
    }

    impl core::ops::DerefMut for Logged {
        fn deref_mut(&mut self) -> &mut Rack {
            &mut self.rack
        }
    }

    impl Logged {
        fn deliver(&mut self, now: Time, range: Range) {
            self.rack.deliver(&self.flight, &mut self.least, now, range, |_| true);
        }

        fn detect(&mut self, now: Time, window: Span, sacked: &RangeSet) -> bool {
            self.rack.detect(&mut self.flight, now, window, sacked)
        }

        fn resend(&mut self, range: Range, now: Time) {
            self.flight.add_again(range, now);
            self.rack.resend(range);
        }

        fn window(&self, loss_is_likely: bool, srtt: Option<Span>) -> Span {
            self.rack.reordering.window(self.least, loss_is_likely, srtt)
        }

        fn acknowledge(&mut self, una: u64) {
            self.flight.forget_below(una);
            self.rack.acknowledge(una);
        }
    }

    /// Ten segments of 100 bytes, a millisecond apart, on a path of 40 ms; the given ones are reported when due.
    fn after(arrived: &[u64]) -> (Logged, RangeSet) {
        let (mut rack, mut sacked) = (Logged::default(), RangeSet::default());
        for n in 0..10 {
            rack.flight.add(1 + 100 * n, 101 + 100 * n, at(n));
        }
        for &n in arrived {
            let range = Range::new(1 + 100 * n, 101 + 100 * n);
            rack.deliver(at(40 + n), range);
            sacked.insert(range);
        }
        (rack, sacked)
    }

    #[test]
    fn what_left_before_something_that_arrived_is_lost_after_the_reordering_window() {
        let (mut rack, sacked) = after(&[1]);
        let window = rack.window(false, Some(Span::from_ms(40)));
        assert_eq!(window, Span::from_ms(10));
        assert!(!rack.detect(at(41), window, &sacked));
        // It left at 0, what arrived took 40 ms.
        assert_eq!(rack.deadline, Some(at(50)));
        assert!(rack.detect(at(50), window, &sacked));
        assert_eq!((rack.lost.first(), rack.lost.covered()), (Some(Range::new(1, 101)), 100));
        assert_eq!(rack.pipe(1, 1001, 100), 800);
    }

    #[test]
    fn the_timer_waits_for_the_last_of_the_segments_that_may_be_lost() {
        // Sent at 0 to 9 ms, on a path of 40 ms. The sixth arrives: five may be lost, the last of which was sent at 4 ms.
        let (mut rack, sacked) = after(&[5]);
        assert!(!rack.detect(at(45), Span::from_ms(10), &sacked));
        assert_eq!(rack.deadline, Some(at(54)));
        // An ACK that arrives meanwhile marks those that are due.
        assert!(rack.detect(at(51), Span::from_ms(10), &sacked));
        assert_eq!((rack.lost.covered(), rack.deadline), (200, Some(at(54))));
        assert!(rack.detect(at(54), Span::from_ms(10), &sacked));
        assert_eq!((rack.lost.covered(), rack.deadline), (500, None));
    }

    #[test]
    fn without_any_reordering_likely_losses_are_not_waited_for() {
        let (mut rack, sacked) = after(&[1, 2, 3]);
        assert_eq!(rack.window(true, None), Span::ZERO);
        assert!(rack.detect(at(43), Span::ZERO, &sacked));
        assert_eq!(rack.lost.covered(), 100);
    }

    #[test]
    fn a_late_segment_that_was_not_retransmitted_shows_reordering() {
        let (rack, _) = after(&[1, 2, 0]);
        assert_eq!(rack.window(true, None), Span::from_ms(10));
    }

    #[test]
    fn a_probe_that_was_sent_before_counts_as_such_until_it_is_answered() {
        let (mut rack, _) = after(&[1, 2, 3]);
        assert_eq!(rack.rack.probed(&rack.flight), 0);
        rack.probe.sent(1001, true);
        assert_eq!(rack.rack.probed(&rack.flight), 100);
        rack.probe.answered(1001, Some(1001), false);
        assert_eq!(rack.rack.probed(&rack.flight), 0);
    }

    #[test]
    fn a_retransmission_that_is_lost_is_noticed_like_any_other() {
        let (mut rack, mut sacked) = after(&[1, 2, 3]);
        rack.detect(at(43), Span::ZERO, &sacked);
        rack.resend(Range::new(1, 101), at(44));
        assert_eq!(rack.lost.covered(), 0);
        rack.flight.add(1001, 1101, at(45));
        // What left before the newest arrival is lost, the retransmission with it.
        rack.deliver(at(85), Range::new(1001, 1101));
        sacked.insert(Range::new(1001, 1101));
        assert!(rack.detect(at(85), Span::ZERO, &sacked));
        assert_eq!(rack.lost.first(), Some(Range::new(1, 101)));
    }

    #[test]
    fn a_retransmission_that_follows_new_data_at_the_same_instant_left_after_it() {
        let (mut rack, mut sacked) = after(&[1, 2, 3]);
        rack.detect(at(43), Span::ZERO, &sacked);
        rack.flight.add(1001, 1101, at(44));
        rack.resend(Range::new(1, 101), at(44));
        // The new data arrives first. That does not show that the retransmission is lost, although its end is lower.
        let new = Range::new(1001, 1101);
        sacked.insert(Range::new(401, 1101));
        rack.deliver(at(84), new);
        assert!(!rack.detect(at(84), Span::ZERO, &sacked));
        assert_eq!(rack.lost.first(), None);
    }

    #[test]
    fn the_round_trip_of_an_ack_is_that_of_what_it_acknowledges() {
        let (mut rack, mut sacked) = after(&[]);
        rack.deliver(at(44), Range::new(1, 101));
        rack.deliver(at(44), Range::new(201, 501));
        sacked.insert(Range::new(201, 501));
        assert_eq!(rack.latest_rtt(), Some(Span::from_ms(40)), "of the newest");
        let log = (&rack.flight, rack.least);
        rack.rack.prefer_acknowledged(log, at(44), Range::new(1, 101), &sacked, |_| true);
        rack.acknowledge(101);
        assert_eq!(rack.latest_rtt(), Some(Span::from_ms(44)));
        assert!(!rack.detect(at(44), Span::ZERO, &sacked), "the second left a millisecond after the first");
        assert_eq!(rack.deadline, Some(at(45)));
    }

    #[test]
    fn an_ack_that_comes_too_soon_for_a_retransmission_is_one_of_the_original() {
        let (mut rack, sacked) = after(&[1, 2, 3]);
        rack.detect(at(43), Span::ZERO, &sacked);
        rack.resend(Range::new(1, 101), at(44));
        rack.deliver(at(46), Range::new(1, 101));
        assert_eq!(rack.newest.unwrap().at, at(3));
    }

    #[test]
    fn an_ack_of_a_retransmission_and_of_what_followed_it_shows_the_order_of_the_latter() {
        let (mut rack, mut sacked) = after(&[3]);
        rack.resend(Range::new(1, 101), at(44));
        // 2 was sent once, before 3, and is reported after it (`tcp_clean_rtx_queue()`).
        rack.deliver(at(84), Range::new(1, 201));
        sacked.insert(Range::new(1, 201));
        rack.rack.note_order();
        assert_eq!(rack.rack.reordering.extent(), (1, 300));
    }

    /// Work for each of `n` segments in flight at once, of which about one in fifty is lost: reported one by one, sent again,
    /// and of what was retransmitted one in fifty lost once more.
    fn work_for_each_of(n: u64) -> f64 {
        let (mut rack, mut sacked) = (Logged::default(), RangeSet::default());
        let segment = |k: u64| Range::new(1 + 100 * k, 101 + 100 * k);
        let mut dice = 1_u64;
        let mut unlucky = move || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33).is_multiple_of(50)
        };
        let mut path: std::collections::VecDeque<(Time, Range)> = std::collections::VecDeque::new();
        for k in 0..n {
            rack.flight.add(segment(k).start, segment(k).end, Time::ZERO + Span::from_us(k));
            if !unlucky() {
                path.push_back((Time::ZERO + Span::from_us(k), segment(k)));
            }
        }
        let (mut una, end) = (1, segment(n - 1).end);
        let _ = crate::ranges::work::take();
        // The last segments may be lost: then a timeout would find them, which is another matter.
        while let Some((sent, range)) = path.pop_front() {
            let now = sent + Span::from_secs(2);
            rack.deliver(now, range);
            sacked.insert(range);
            if sacked.first().is_some_and(|first| first.start <= una) {
                una = sacked.first().map_or(una, |first| first.end);
                rack.acknowledge(una);
                sacked.remove_below(una);
            }
            rack.detect(now, Span::ZERO, &sacked);
            while let Some(lost) = rack.first_lost(100) {
                rack.resend(lost, now);
                if !unlucky() {
                    path.push_back((now, lost));
                }
            }
        }
        assert!(end - una < 100 * n / 100, "all but the end is repaired: {una} of {end}");
        crate::ranges::work::take() as f64 / n as f64
    }

    #[test]
    fn a_million_segments_in_flight_cost_each_hardly_more_than_a_few_thousand_do() {
        // With 64 times as many holes, a search among them has six steps more, of eight before; a walk would have 64 times
        // as many.
        let [few, million] = [1 << 14, 1 << 20].map(work_for_each_of);
        println!("elements looked at or moved for each segment: {few:.1} of 2^14, {million:.1} of 2^20");
        assert!(million < 2.0 * few && million < 150.0, "{few} {million}");
    }
}
