//! What the segments of a sender show: new data, retransmissions, a FIN.

use crate::diagnosis::sender::departures::After;
use crate::diagnosis::sender::incidents::{LONG_NS, Others};
use crate::diagnosis::sender::phase::Phase;
use crate::diagnosis::sender::{MOST_INITIAL, PROMPT_NS, Repair, SenderView, WAKES_LATE_NS, WAKES_NS};
use crate::diagnosis::vantage::IN_HOST_NS;
use crate::diagnosis::vantage::bursts::Explained;
use crate::follow::Cause;

/// No retransmission timer is shorter than this, nearly (RFC 6298 has 1 s, Linux 200 ms).
pub(super) const PAUSE_NS: u64 = 150_000_000;
/// The first retransmission timers of usual senders expire before this: those of Linux, and those of RFC 6298.
const SHORT_TIMER_NS: u64 = 500_000_000;
const LONG_TIMER_NS: u64 = 1_700_000_000;
/// A path whose delay varies holds packets for less than this: no timer of a usual sender expires sooner.
pub(super) const HELD_NS: u64 = 200_000_000;
/// The flight in segments that is assumed for trains of arrivals, where the flight is not known.
const ARRIVALS: u64 = 6;

impl SenderView {
    /// New data `start..end` with `len` bytes of payload.
    pub(in crate::diagnosis) fn note_data(&mut self, at: u64, packet: u64, start: i64, end: i64, len: u32) {
        let largest = self.totals.segment.max(1);
        let short = len < self.full(len) && len > 0;
        let had_more = !short && self.had_more();
        self.arrive_before_segment(at, short);
        self.advance(at);
        if !self.started {
            (self.una, self.next, self.started) = (start, start, true);
        }
        if self.data_end == i64::MIN {
            self.first = start;
        }
        self.data_end = self.data_end.max(end);
        if end <= self.next {
            return;
        }
        self.note_heard(at);
        let outstanding = self.una < self.next;
        let since = |then: u64| at.saturating_sub(then);
        let prompt = self.prompt();
        let quiet_since = self.sent_at.max(self.acked_at);
        // The round trip to the sender takes longer than before. In a longer pause, something was lost before this point.
        let flows = !outstanding && had_more && since(quiet_since) <= PAUSE_NS.max(self.round());
        self.clocked = outstanding || flows;
        let explained = self.note_burst(at, packet, start, short) || flows;
        let prompted = explained || since(self.acked_at) <= prompt || since(self.sent_at) <= prompt;
        if !explained
            && self.behind.least() > IN_HOST_NS
            && !outstanding
            && since(quiet_since) > PAUSE_NS.max(self.round())
        {
            let pause = (quiet_since, at);
            if self.totals.segments == 0 {
                self.incidents.note_first_pause(pause, len, self.permitted());
            } else {
                let held = self.departures.apart().is_some_and(|ns| ns < since(quiet_since) / 2);
                self.incidents.note_pause(pause, len, largest, (held, self.short));
            }
        } else {
            self.incidents.note_data(at, len, self.round() / 4 * 3);
        }
        let paced = self.note_pace(at, short);
        self.settle_before_data(at, (prompted, explained), short);
        self.totals.segments += 1;
        self.totals.segment = self.totals.segment.max(len.min(self.most));
        let after = match since(self.acked_at) {
            soon if self.is_beside_sender() && soon <= WAKES_NS => After::Ack,
            late if self.is_in_host() && late > WAKES_LATE_NS => After::Nothing,
            _ => After::Unknown,
        };
        self.departures.note_sent(at, end, len, after);
        self.incidents.probes.note_sent(at, (start, len), self.mss);
        self.incidents.note_length(len);
        self.next = end;
        self.several |= self.next - self.una > i64::from(self.totals.segment);
        self.permit();
        let flight = u32::try_from(self.next - self.una).unwrap_or(u32::MAX);
        let segment = u64::from(self.totals.segment);
        let flight_most = self.flight_most(segment);
        let rate = self.arrivals.note(at, u64::from(len), flight_most, segment);
        self.look_for_bottleneck();
        let others = self.spacing.note(at, len);
        let slice = self.meter.at(at, packet);
        slice.note_link(others);
        slice.arrivals = slice.arrivals.max(rate.map_or(0, |rate| (rate / 1e3) as u32 + 1));
        slice.sent = slice.sent.saturating_add(len);
        slice.segments = slice.segments.saturating_add(1);
        slice.unprompted = slice.unprompted.saturating_add(u16::from(!prompted));
        slice.paced = slice.paced.saturating_add(u16::from(paced));
        slice.short = slice.short.saturating_add(u16::from(short));
        slice.flight = slice.flight.max(flight);
        slice.end = end;
        self.meter.set_outstanding(flight);
        self.sent_at = at;
        self.unanswered = None;
        self.short = !len.is_multiple_of(self.full(0));
    }

    /// The flight that is assumed for trains of arrivals. Where one segment at a time is outstanding, each comes a round trip after the one
    /// before, and in no train with it.
    fn flight_most(&self, segment: u64) -> u64 {
        let one = !self.several || self.window > 0 && u64::from(self.window) < 2 * segment;
        if one { segment } else { ARRIVALS * segment }
    }

    /// The length of a full segment, with one of `len` bytes: the longest one so far.
    ///
    /// A sender that has never had two of them outstanding may write so little that it has filled none. Then they are as long as
    /// both ends permit.
    fn full(&self, len: u32) -> u32 {
        let longest = self.totals.segment.max(1);
        let permitted = self.permitted();
        let unfilled = !self.several && permitted < u32::MAX && longest.max(len) < permitted / 2;
        if unfilled { permitted } else { longest }
    }

    /// Whether the sender had more data after the last segment, if a full one follows. What an application writes ends with a short
    /// segment, unless all that it writes is short: so the longest one must be nearly as long as the receiver permits.
    ///
    /// Away from such a sender, a segment was on its way here after everything else seemed to be acknowledged. An ACK with data may
    /// have caused the application to write, and not only TCP to send.
    fn had_more(&self) -> bool {
        let bare = self.acks.back().map_or(self.bare, |last| last.bare);
        !self.is_beside_sender() && bare && !self.short && self.totals.segment >= self.mss / 2
    }

    /// New data is sent at `at`. Returns whether it comes at the pace of its sender.
    fn note_pace(&mut self, at: u64, short: bool) -> bool {
        if !self.is_beside_sender() || short || self.una >= self.next || self.repair.is_some() {
            self.pace.interrupt();
            return false;
        }
        let woken = at.saturating_sub(self.acked_at) <= WAKES_NS;
        let round = self.behind.least() + self.ahead_now.max(self.ahead);
        self.pace.note(at.saturating_sub(self.sent_at), woken, round) && !woken
    }

    /// A segment that comes after a pause, full or not. Returns whether an ACK explains when it comes, where no timestamps
    /// show that.
    fn note_burst(&mut self, at: u64, packet: u64, start: i64, short: bool) -> bool {
        if self.stamped || self.is_beside_sender() {
            return false;
        }
        let pause = at.saturating_sub(self.captured_at);
        self.captured_at = at;
        if short {
            self.bursts.interrupt();
        }
        if short || pause <= PROMPT_NS.max(self.round() / 4) {
            return false;
        }
        // A full window opens when the receiver reads, and not with the first ACK.
        let most = self.window.saturating_sub(2 * self.totals.segment);
        let window_full = self.tentative.iter().any(|(_, phase)| *phase == Phase::WindowFull);
        let found = self.bursts.begin(at, start, (self.behind.least(), self.ahead), most);
        let round_trip = match found.filter(|_| !window_full) {
            Some(Explained::RoundTrip(ns)) => Some(ns),
            Some(Explained::LaterPart) => None,
            None => {
                let end = start + i64::from(self.totals.segment);
                self.bursts.longer(at, (start, end), most).map(|ns| self.behind.least() + ns)
            }
        };
        if let Some(ns) = round_trip {
            self.totals.by_bursts = true;
            self.meter.at(at, packet).note_behind(ns);
        }
        found.is_some() && !window_full
    }

    /// The segment at `start` is sent again. Where no timestamps show the round trip to its sender, the time since ACKs asked for it does.
    fn note_repair(&mut self, at: u64, packet: u64, start: i64, cause: Cause) {
        let repairing = self.repair.is_some();
        // A sender that knows from SACK what is missing does not wait for an ACK that asks for it.
        let asked = if self.stamped || self.is_beside_sender() || repairing && self.sacks {
            None
        } else {
            self.asked.take(at, start, repairing)
        };
        // No timer expires so soon. Behind a long queue, a segment that duplicate ACKs ask for seems to have waited for one.
        let by_ack = |ns: u64| cause == Cause::Fast || ns <= PAUSE_NS;
        let Some(round_trip) = asked.filter(|&ns| ns >= self.behind.least() && by_ack(ns)) else {
            return self.bursts.interrupt();
        };
        self.bursts.restart(round_trip);
        self.totals.by_bursts = true;
        self.meter.at(at, packet).note_behind(round_trip);
    }

    /// A segment of either side is captured. If nothing was for long while data was outstanding, the timer of the sender has
    /// expired meanwhile, and what it sent then did not come here.
    pub(super) fn note_heard(&mut self, at: u64) {
        let since = core::mem::replace(&mut self.heard_at, at);
        if self.is_quiet(since, at) {
            self.quiet = (since, at);
        }
        let acknowledged = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        let outstanding = self.started && acknowledged < self.next;
        if outstanding && self.round() > 0 && !self.is_beside_sender() {
            // Senders with timestamps have timers of 200 ms, others of 1 s. Both double.
            let expected = if self.stamped { LONG_NS } else { LONG_NS / 3 * 7 };
            self.incidents.note_unheard(since, at, expected);
        }
    }

    /// Whether nothing was captured between these two times for longer than a path that carries packets explains.
    pub(super) fn is_quiet(&self, since: u64, at: u64) -> bool {
        at.saturating_sub(since) > HELD_NS + 2 * self.round()
    }

    /// The segments that follow have this timestamp, and this one of the other end; 0 if they have none.
    pub(in crate::diagnosis) fn set_stamps(&mut self, (stamp, echo): (u32, u32)) {
        self.echo = echo;
        self.departures.set_stamp(stamp);
        self.stamped |= stamp != 0;
    }

    /// A FIN was sent.
    pub(in crate::diagnosis) fn note_fin(&mut self, at: u64) {
        self.arrive(at);
        self.advance(at);
        self.closing = true;
    }

    /// The data `start..` was retransmitted.
    pub(in crate::diagnosis) fn note_resent(
        &mut self,
        at: u64,
        packet: u64,
        (start, len): (i64, u32),
        (cause, seen): (Cause, bool),
    ) {
        self.arrive(at);
        self.advance(at);
        self.note_heard(at);
        self.totals.resent += 1;
        // No data waits for a FIN.
        if self.closing && self.una >= self.next {
            return;
        }
        self.note_repair(at, packet, start, cause);
        self.meter.note_lost(start);
        self.departures.note_resent(at, (start, len), seen);
        let fast = matches!(cause, Cause::Fast | Cause::Nak);
        let others = Others { acknowledged: self.others, round: self.round() };
        self.incidents.note_resent(at, (start, len), self.next, fast, others);
        self.incidents.probes.note_resent((start, len));
        if self.duplicates > 0 {
            self.incidents.note_hole();
        }
        self.totals.first_loss.get_or_insert(at);
        self.incidents.note_length(len);
        self.note_pause_before_repair(at, (start, len));
        let others = self.spacing.note(at, len);
        let slice = self.meter.at(at, packet);
        slice.note_link(others);
        slice.resent = slice.resent.saturating_add(1);
        self.note_phase_of_repair(at, cause);
    }

    /// Notes the pause before the data `start..` was retransmitted, if it was one.
    fn note_pause_before_repair(&mut self, at: u64, (start, len): (i64, u32)) {
        let acknowledged = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        let quiet = at.saturating_sub(self.sent_at.max(self.acked_at));
        if !self.is_beside_sender() && start <= acknowledged && quiet > PAUSE_NS.max(self.round()) {
            self.incidents.note_repair_pause((at - quiet, at), len, self.incidents.probes.usual());
        }
        if start + i64::from(len) <= acknowledged && quiet > PAUSE_NS.max(self.behind.least()) {
            // The first timer is one of 200 ms with timestamps, and mostly of 1 s without; without a sample of the RTT it may be
            // one of 3 s (RFC 6298, section 5.7).
            let begins = self.next - self.first <= MOST_INITIAL * i64::from(self.totals.segment.max(1));
            let timer = match (begins, self.stamped) {
                (true, _) => LONG_NS,
                (false, true) => SHORT_TIMER_NS,
                (false, false) => LONG_TIMER_NS,
            };
            self.incidents.note_acknowledged((at - quiet, at), timer + 2 * self.round());
        }
    }

    /// A retransmission with this cause begins a phase of the repair, or belongs to the one that lasts.
    fn note_phase_of_repair(&mut self, at: u64, cause: Cause) {
        let nothing_later_arrived = self.duplicates == 0;
        let phase = match cause {
            Cause::Timeout if nothing_later_arrived => Phase::TailLoss,
            Cause::Timeout => Phase::Timeout,
            Cause::TailProbe => Phase::TailLoss,
            Cause::Fast | Cause::Nak => Phase::FastRecovery,
            Cause::Unexplained => return,
        };
        let waited = matches!(phase, Phase::Timeout | Phase::TailLoss);
        match &mut self.repair {
            // A timer that expires during fast recovery ends it.
            Some(repair) if waited && repair.phase == Phase::FastRecovery => {
                self.settle_wait(at, phase);
                self.repair = Some(Repair { phase, until: self.next });
            }
            // The timer has expired again.
            Some(repair) if waited => {
                let phase = repair.phase;
                self.settle_wait(at, phase);
            }
            Some(_) => {}
            None => {
                if waited {
                    self.settle_wait(at, phase);
                }
                self.repair = Some(Repair { phase, until: self.next });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A sender captured at its receiver, with a round trip of 40 ms between them.
    fn far(mss: u32) -> SenderView {
        let mut view = SenderView::new(false);
        view.set_mss(mss);
        view.note_handshake(MS);
        view.note_behind(0, 40 * MS, 0);
        view
    }

    #[test]
    fn away_from_the_sender_a_first_segment_that_a_timer_sends_shorter_than_permitted_shows_a_black_hole() {
        // Nothing comes for 3 s, then segments of this length: the first one alone, or two at once.
        let shorter = |len: i64, together: bool| {
            let mut view = far(1000);
            view.set_own_mss(1000);
            view.most = 1000;
            let mut at = 3000 * MS;
            for n in 0..6 {
                view.note_data(at, n, n as i64 * len, (n as i64 + 1) * len, len as u32);
                view.note_ack(at + MS, n, ((n as i64 + 1) * len, 0), 60_000, true);
                at += if n == 0 && together { MS } else { 42 * MS };
            }
            view.incidents.pauses[0].makes_shorter()
        };
        assert!(shorter(700, false));
        assert!(!shorter(700, true) && !shorter(1000, false));
    }

    #[test]
    fn a_path_that_carried_nothing_for_long_does_not_hold_the_acks_that_follow() {
        // A segment that answers an ACK of 3 s before, with or without other segments in between.
        let behind = |others: bool| {
            let mut view = far(1000);
            view.note_data(100 * MS, 1, 0, 1000, 1000);
            view.note_ack(101 * MS, 2, (1000, 0), 60_000, true);
            (1..30)
                .filter(|_| others)
                .for_each(|n| view.note_ack((101 + 100 * n) * MS, 3, (1000, 0), 60_000, true));
            view.note_data(3101 * MS, 4, 1000, 2000, 1000);
            view.behind = Default::default();
            view.note_behind(3101 * MS, 3000 * MS, 4);
            view.behind.now
        };
        assert_eq!([behind(false), behind(true)], [0, 3000 * MS]);
    }

    #[test]
    fn even_gaps_of_full_segments_beside_the_sender_show_its_pace() {
        // On a path of 40 ms. A segment after each of these gaps in milliseconds.
        let paced = |gap: fn(u64) -> u64| {
            let mut view = SenderView::new(false);
            view.set_mss(1000);
            view.note_behind(0, 1000, 0);
            view.note_handshake(40 * MS);
            view.note_ack(0, 1, (0, 0), 60_000, true);
            let (mut at, mut end) = (MS, 0);
            for n in 0..10 {
                view.note_data(at, n, end, end + 1000, 1000);
                (at, end) = (at + gap(n) * MS, end + 1000);
            }
            view.meter.finish(at).iter().map(|slice| slice.paced).sum::<u16>()
        };
        assert_eq!(paced(|_| 3), 7, "all but the first ones");
        assert_eq!(paced(|n| 2 + n % 2 * 5), 0, "at uneven intervals");
    }

    #[test]
    fn away_from_the_sender_missing_data_that_comes_in_shorter_segments_after_a_pause_shows_a_black_hole() {
        let shorter = |len: u32| {
            let mut view = far(1000);
            view.note_ack(0, 1, (0, 0), 60_000, true);
            for n in [0, 1, 3, 4] {
                view.note_data(MS, 1, n * 1000, (n + 1) * 1000, 1000);
            }
            view.note_ack(2 * MS, 2, (2000, 0), 60_000, true);
            for n in 0..4 {
                let start = 2000 + n * i64::from(len);
                view.note_resent(900 * MS, 3, (start, len), (Cause::Timeout, false));
                view.note_ack(900 * MS, 4, (start + i64::from(len), 0), 60_000, true);
            }
            let pauses = &view.incidents.repair_pauses;
            assert!(pauses.len() == 1 && pauses[0].until == 900 * MS, "{pauses:?}");
            pauses[0].makes_shorter()
        };
        assert!(shorter(500));
        assert!(!shorter(1000));
    }

    #[test]
    fn alone_segments_far_below_the_mss_are_short_although_none_is_longer() {
        // A write of 100 bytes, an ACK of it 200 ms later, and the next write on that ACK.
        let held = |mss: u32, together: bool| {
            let mut view = far(mss);
            view.set_own_mss(mss);
            view.most = mss;
            let mut end = 0;
            for n in 0..8 {
                let at = n * 400 * MS;
                for _ in 0..if together { 2 } else { 1 } {
                    view.note_data(at, n, end, end + 100, 100);
                    end += 100;
                }
                view.note_ack(at + 200 * MS, n, (end, 0), 60_000, true);
                view.note_data(at + 240 * MS, n, end, end + 100, 100);
                end += 100;
                view.note_ack(at + 241 * MS, n, (end, 0), 60_000, false);
            }
            view.phases.iter().any(|(_, stretch)| stretch.phase == Phase::ShortHeld)
        };
        assert!(held(1460, false));
        assert!(!held(100, false), "they are full");
        assert!(!held(1460, true), "no policy for short segments holds them");
    }

    #[test]
    fn segments_of_which_one_at_a_time_is_outstanding_make_no_train() {
        // A segment each so many milliseconds, and its ACK, on a path of 40 ms.
        let rate = |interval: u64, window| {
            let mut view = far(1000);
            for n in 0..100 {
                let (at, start) = (n * interval * MS, n as i64 * 1000);
                view.note_data(at, n, start, start + 1000, 1000);
                view.note_ack(at, n, (start + 1000, 0), window, true);
            }
            view.arrivals.rate(0.5)
        };
        assert!(rate(20, 60_000).is_some());
        assert_eq!([rate(20, 1900), rate(40, 60_000)], [None; 2]);
    }

    #[test]
    fn an_ack_that_is_newer_than_the_echoed_one_had_not_arrived() {
        let mut view = far(1000);
        view.set_stamps((1, 100));
        view.note_data(0, 1, 0, 1000, 1000);
        view.note_data(0, 2, 1000, 2000, 1000);
        view.note_ack(MS, 3, (1000, 201), 60_000, true);
        view.note_ack(2 * MS, 4, (2000, 202), 60_000, true);
        view.set_stamps((60, 201));
        view.note_data(60 * MS, 5, 2000, 3000, 1000);
        assert_eq!(view.una, 1000);
        view.set_stamps((61, 202));
        view.note_data(61 * MS, 6, 3000, 4000, 1000);
        assert_eq!(view.una, 2000);
    }

    #[test]
    fn away_from_a_sender_without_timestamps_duplicate_acks_and_a_retransmission_show_the_round_trip() {
        // Three duplicate ACKs until 4 ms, and then the retransmission.
        let seen = |stamp, cause, at: u64| {
            let mut view = far(1000);
            view.set_stamps((stamp, 0));
            for n in 0..6 {
                view.note_data(0, 1, n * 1000, (n + 1) * 1000, 1000);
            }
            (1..=4).for_each(|n| view.note_ack(n * MS, 2, (1000, 0), 60_000, true));
            view.note_resent(at * MS, 3, (1000, 1000), (cause, true));
            let trips = view.meter.finish(300 * MS).into_iter().map(|slice| u64::from(slice.behind));
            trips.max().map(|most| most / MS).filter(|&most| most > 40)
        };
        assert_eq!(seen(0, Cause::Fast, 94), Some(90));
        assert_eq!(seen(0, Cause::Timeout, 94), Some(90), "no timer expires so soon");
        assert_eq!(seen(0, Cause::Timeout, 294), None);
        assert_eq!(seen(7, Cause::Fast, 94), None, "timestamps show it");
    }

    #[test]
    fn acks_before_a_long_pause_may_have_been_lost() {
        let mut view = far(1000);
        view.set_stamps((1, 100));
        view.note_data(0, 1, 0, 1000, 1000);
        view.note_ack(MS, 2, (1000, 201), 60_000, true);
        view.set_stamps((900, 100));
        view.note_data(900 * MS, 3, 1000, 2000, 1000);
        assert_eq!(view.una, 1000);
    }

    #[test]
    fn between_full_segments_away_from_the_sender_nothing_was_missing_but_time() {
        // Whether the sender seems to have had nothing to send before a full segment, if one of this length was the last before.
        let seems_empty = |last: u32, mss: u32| {
            let mut view = far(mss);
            let end = 1000 + i64::from(last);
            view.note_data(0, 1, 0, 1000, 1000);
            view.note_data(0, 2, 1000, end, last);
            view.note_ack(MS, 3, (end, 0), 60_000, true);
            view.note_data(80 * MS, 4, end, end + 1000, 1000);
            view.phases.iter().any(|(_, stretch)| stretch.phase == Phase::Empty)
        };
        assert!(!seems_empty(1000, 1000));
        assert!(seems_empty(500, 1000), "the application has written no more");
        assert!(seems_empty(1000, 4000), "all that it writes is short");
    }
}
