//! Questions about the log of transmissions.

use crate::ranges::Range;
use crate::record::info::Segments;
use crate::recovery::Joins;
use crate::recovery::departures::{Departures, Log};
use crate::recovery::flight::{Flight, Parts, Sent};
use crate::recovery::rack::Rack;
use crate::recovery::spurious::frto::Frto;
use crate::recovery::{LossRecovery, Phase};
use crate::time::{Span, Time};

impl LossRecovery {
    #[inline]
    pub(in crate::recovery) fn rack(&self) -> Option<&Rack> {
        self.log.read()?.rack.as_ref()
    }

    /// For a change that has no effect as long as nothing was logged.
    #[inline]
    pub(in crate::recovery) fn rack_mut(&mut self) -> Option<&mut Rack> {
        self.log.used_mut()?.rack.as_mut()
    }

    /// For a change that must not be missed.
    #[inline]
    pub(in crate::recovery) fn rack_for_change(&mut self) -> Option<&mut Rack> {
        self.log.change()?.rack.as_mut()
    }

    /// Whether losses are detected by time.
    #[inline]
    pub(crate) fn is_by_time(&self) -> bool {
        self.log.is_by_time()
    }

    /// Whether transmissions are logged.
    #[inline]
    pub(crate) fn is_logging(&self) -> bool {
        !matches!(self.log, Log::Off(_))
    }

    /// Whether the state is ordinary: an ACK of the next data changes nothing but the latest delivery.
    #[inline(always)]
    pub(crate) fn is_calm(&self) -> bool {
        self.loss.is_quiet()
            && match self.log.used() {
                None => true,
                Some(Departures { flight, rack, .. }) => {
                    flight.is_plain() && rack.as_ref().is_none_or(|rack| rack.is_calm())
                }
            }
    }

    /// When the first unacknowledged segment was sent, if it was sent only once and losses are detected by time. Otherwise one
    /// segment is timed at a time.
    #[inline]
    pub(crate) fn first_sent_once(&self) -> Option<Time> {
        let departures = self.log.read()?;
        departures.rack.as_ref()?;
        departures.flight.front_sent_once()
    }

    /// When the first and the last segment within `range` left that no report has named, of those that were sent once.
    pub(crate) fn sent_once_and_unreported(&self, range: Range) -> Option<(Time, Time)> {
        let departures = self.log.read()?;
        let segments =
            self.loss.reported().missing_in(range).flat_map(|gap| departures.flight.all_within(gap));
        let mut times = segments.filter(|sent| !sent.again).map(|sent| sent.at);
        let first = times.next()?;
        Some((first, times.last().unwrap_or(first)))
    }

    /// The first unacknowledged segment, which begins at `una`; up to `end` at most, if the log knows its end.
    pub(crate) fn first_segment(&self, una: u64, end: u64) -> Range {
        let first = self.log.read().and_then(|departures| departures.flight.front());
        Range::new(una, first.map_or(end, |first| first.range.end.clamp(una, end)))
    }

    /// Whether the first unacknowledged segment was last sent after `time`.
    pub(crate) fn is_first_sent_after(&self, time: Time) -> bool {
        self.first_sent().is_some_and(|first| first > time)
    }

    /// Whether any of `range` was sent more than once.
    pub(crate) fn has_resent(&self, range: Range) -> bool {
        self.rack().is_some_and(|rack| !rack.has_not_resent(range))
    }

    /// When more segments will be marked lost.
    #[inline]
    pub(crate) fn reordering_deadline(&self) -> Time {
        self.rack().map_or(Time::NEVER, |rack| rack.deadline)
    }

    /// Whether the reordering timer runs, or is due: a driver may be late.
    #[inline]
    pub(crate) fn awaits_reordering(&self) -> bool {
        self.rack().is_some_and(|rack| !rack.deadline.is_never())
    }

    /// When the first unacknowledged segment was last sent.
    pub(crate) fn first_sent(&self) -> Option<Time> {
        self.log.read().and_then(|departures| departures.flight.front()).map(|first| first.at)
    }

    /// The RTT of the most recently sent segment that was delivered, if losses are detected by time.
    #[inline]
    pub(crate) fn latest_rtt(&self) -> Option<Span> {
        self.rack()?.latest_rtt()
    }

    /// The minimum RTT, if transmissions are logged.
    #[inline]
    pub(crate) fn least_rtt(&self) -> Option<Span> {
        self.log.least()
    }

    /// The latest transmissions of the segments that overlap `range`.
    pub(crate) fn transmissions(&self, range: Range) -> impl Iterator<Item = Sent> {
        self.log.read().into_iter().flat_map(move |departures| departures.flight.all_within(range))
    }

    /// The number that the next transmission will have in the log.
    pub(crate) fn next_serial(&self) -> u32 {
        self.log.read().map_or(0, |departures| departures.flight.upcoming())
    }

    /// Number of outstanding segments in the log, and the numbers of their latest transmissions.
    pub(crate) fn serials(&self) -> (usize, impl Iterator<Item = u32>) {
        let flight = self.log.read().map(|departures| &departures.flight);
        (flight.map_or(0, Flight::len), flight.into_iter().flat_map(Flight::serials))
    }

    /// The part of `range` that consists of whole segments, if losses are detected by time (see [`Flight::whole`]).
    #[inline]
    pub(crate) fn in_whole_segments(&self, range: Range, data_end: u64) -> Range {
        match self.log.read() {
            Some(departures) if departures.rack.is_some() => departures.flight.whole(range, data_end),
            _ => range,
        }
    }

    /// The start of the last segment.
    pub(crate) fn last_start(&self) -> u64 {
        self.log.read().map_or(0, |departures| departures.flight.last_start())
    }

    /// What is retransmitted first of the lost data, in one segment of at most `mss` bytes: a segment as it was sent, and those
    /// behind it that fit as well. The latter need not be lost, as long as they are not reported (`tcp_retrans_try_collapse()`).
    /// A FIN takes no room, but none joins a full segment.
    pub(crate) fn first_lost(&self, mss: u16, joins: Option<Joins>) -> Option<Range> {
        let departures = self.log.read()?;
        let flight = &departures.flight;
        let mut hole = departures.rack.as_ref()?.first_lost(mss)?;
        if let Some(Joins { window_end, .. }) = joins
            && window_end < hole.end
        {
            // None joins beyond the window.
            let first = flight.segment_at(hole.start).map_or(hole.end, |first| first.end);
            hole.end = hole.end.min(first.max(window_end));
        }
        let lost = flight.fitting(hole);
        let Some(Joins { data_end, max, window_end }) = joins.filter(|_| lost.end == hole.end) else {
            return Some(lost);
        };
        let room_ends = lost.start + u64::from(mss);
        let ends = |limit: u64| if data_end <= room_ends { limit } else { limit.min(room_ends) };
        if lost.end < room_ends {
            let reported = self.loss.reported().at_or_after(lost.end).map_or(u64::MAX, |next| next.start);
            return Some(
                flight.fitting(Range::new(lost.start, ends(max.min(reported).min(window_end)).max(lost.end))),
            );
        }
        // Its own FIN leaves with it.
        let whole =
            flight.segment_at(lost.start).filter(|whole| whole.start == lost.start && whole.end == ends(max));
        Some(whole.unwrap_or(lost))
    }

    /// The whole segments at the start of `range`, at least one; a part of it if it does not fit.
    pub(crate) fn fitting(&self, range: Range) -> Range {
        self.log.read().map_or(range, |departures| departures.flight.fitting(range))
    }

    /// The segment in the log that holds the byte at `position`.
    pub(crate) fn segment_at(&self, position: u64) -> Option<Range> {
        self.log.read()?.flight.segment_at(position)
    }

    /// Whether a segment in the log ends at `position`.
    pub(crate) fn ends_segment(&self, position: u64) -> bool {
        self.transmissions(Range::new(position.saturating_sub(1), position))
            .any(|sent| sent.range.end == position)
    }

    /// Bytes that are marked lost and were not retransmitted since.
    pub(crate) fn lost(&self) -> u64 {
        self.rack().map_or(0, |rack| rack.repairs.lost.covered())
    }

    /// Whether exactly `range` is marked lost.
    pub(crate) fn is_lost_alone(&self, range: Range) -> bool {
        self.rack().is_some_and(|rack| {
            rack.repairs.lost.covered() == range.len() && rack.repairs.lost.first() == Some(range)
        })
    }

    /// Bytes that were retransmitted and are not acknowledged.
    pub(crate) fn resent(&self) -> u64 {
        self.rack().map_or(0, |rack| rack.resent(self.loss.reported()))
    }

    /// Whether a retransmission of data above `ack` is in the network.
    #[cold]
    pub(crate) fn has_resends_above(&self, ack: u64) -> bool {
        let Some(Departures { flight, rack: Some(rack), .. }) = self.log.read() else { return false };
        rack.has_resends_above(ack, flight, self.loss.reported())
    }

    /// The outstanding segments, if losses are detected by time.
    pub(crate) fn segments(&self) -> Option<Segments> {
        let Departures { flight, rack: Some(rack), .. } = self.log.read()? else { return None };
        Some(rack.segments(flight, self.loss.reported()))
    }

    /// Bytes that only tail loss probes have sent again, neither acknowledged, reported nor lost.
    pub(crate) fn probed(&self) -> u64 {
        self.rack().map_or(0, |rack| rack.probed(self.loss.reported()))
    }

    /// Number of ACKs that have shown reordering, and its largest distance in bytes.
    pub(crate) fn reordering(&self) -> (u32, u64) {
        self.rack().map_or((0, 0), |rack| rack.repairs.reordering.extent())
    }

    /// Bytes in the network with so much `padding`, if losses are detected by time.
    pub(crate) fn pipe(&self, una: u64, max: u64, padding: u64) -> Option<u64> {
        self.rack().map(|rack| rack.pipe(una, max, self.loss.sacked(), padding))
    }

    /// Whether the timer of a tail loss probe may be set when new data up to `max` leaves, and when the retransmission timer
    /// expires. A probe sets none.
    #[inline]
    pub(crate) fn timeout_beside_probe(&self, max: u64) -> Option<(bool, Time)> {
        let rack = self.rack()?;
        Some((!rack.probe.ends_at(max) && self.permits_probe(rack), rack.timeout))
    }

    /// Whether the timer of a tail loss probe may be set: not without SACK, but also while a probe is outstanding
    /// (`tcp_schedule_loss_probe()`).
    #[inline]
    pub(super) fn permits_probe(&self, rack: &Rack) -> bool {
        rack.counted.is_none() && (self.is_undisturbed() || self.reduces_for_mark())
    }

    /// Whether a mark is reducing the window, outside a recovery (TCP_CA_CWR).
    pub(crate) fn reduces_for_mark(&self) -> bool {
        self.loss.phase == Phase::Open && self.loss.reduces_until > 0
    }

    /// The parts of segments at both ends of `range`, which an ACK acknowledges.
    pub(crate) fn parts_at(&self, range: Range) -> Parts {
        let parts = self.log.read().map_or(Parts::default(), |departures| departures.flight.parts_at(range));
        if parts == Parts::default() || self.loss.reported().is_empty() {
            return parts;
        }
        // Reports are of whole segments.
        let is_reported = |at| self.loss.reported().covered_within(Range::new(at, at + 1)) > 0;
        parts.without_reported(is_reported(range.start), is_reported(range.end))
    }

    /// If a tail loss probe is outstanding: when the first segment was last sent.
    pub(crate) fn first_sent_beside_probe(&self) -> Option<Time> {
        let Departures { flight, rack: Some(rack), .. } = self.log.read()? else { return None };
        flight.front().filter(|_| !rack.probe.is_over()).map(|first| first.at)
    }

    /// Whether a recovery proceeds because of a timer.
    pub(crate) fn is_by_timer(&self) -> bool {
        self.rack().is_some_and(|rack| rack.by_timer)
    }

    /// Whether there is no recovery, and no SACK report.
    #[inline]
    fn is_undisturbed(&self) -> bool {
        self.is_quiet() || self.loss.phase == Phase::Open && self.loss.sacked() == 0
    }

    /// Whether only new data is sent until the next ACK, to find out whether the timeout was spurious.
    pub(crate) fn sends_only_new(&self) -> bool {
        self.loss.phase == Phase::Loss
            && self.rack().is_some_and(|rack| rack.frto == Frto::Probing && !rack.turn_has_come)
    }

    /// Whether new data was looked for since the last ACK.
    pub(crate) fn has_looked_for_new(&self) -> bool {
        self.rack().is_some_and(|rack| rack.has_looked_for_new)
    }

    /// Whether lost data must wait because as much was sent again as counts as lost.
    pub(crate) fn resends_all_lost(&self) -> bool {
        self.rack().is_some_and(Rack::resends_all_lost)
    }

    /// Whether lost data must wait for the next ACK, because the last one showed that data was only late.
    pub(crate) fn holds_repairs(&self) -> bool {
        self.loss.phase == Phase::Fast && self.rack().is_some_and(|rack| rack.holds_repairs)
    }

    /// Whether an ACK up to `ack` with this echo answers a segment that was sent before its retransmission.
    pub(crate) fn answers_original(&self, ack: u64, echo: u32) -> bool {
        self.rack().and_then(|rack| rack.repairs.undo).is_some_and(|undo| undo.answers_original(ack, echo))
    }

    /// Whether the present recovery has retransmitted nothing yet, and an ACK up to `ack` acknowledges some of its data.
    pub(crate) fn has_resent_nothing(&self, ack: u64) -> bool {
        self.loss.phase == Phase::Fast
            && self.rack().and_then(|rack| rack.repairs.undo).is_some_and(|undo| undo.has_resent_nothing(ack))
    }

    /// Whether a fast recovery or a mark has reduced the window for data of which some above `una` is not acknowledged.
    pub(crate) fn has_reduced_above(&self, una: u64) -> bool {
        let of_recovery = self.loss.phase == Phase::Fast && self.loss.recover > una;
        of_recovery || self.reduces_for_mark() && self.loss.reduces_until > una
    }

    /// Whether all data of a fast recovery was acknowledged when it began, with SACK.
    pub(crate) fn is_at_its_end(&self, una: u64) -> bool {
        self.loss.phase == Phase::Fast && una >= self.loss.recover && !self.counts_dup_acks()
    }

    /// Whether D-SACKs have reported all that the present recovery has retransmitted.
    pub(crate) fn has_all_twice(&self) -> bool {
        self.rack().and_then(|rack| rack.repairs.undo).is_some_and(|undo| undo.has_all_twice())
    }

    /// Whether the peer has reported all of the first outstanding segment.
    pub(crate) fn has_first_reported(&self) -> bool {
        let Some(departures) = self.log.read() else { return false };
        let Some(reported) = self.loss.reported().first() else { return false };
        departures.flight.front().is_some_and(|first| {
            reported.start <= departures.flight.edge() && reported.end >= first.range.end
        })
    }
}
