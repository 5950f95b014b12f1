//! What the ACKs of a sender show. An ACK is noted when it passes here, and processed when it has reached the sender.

use crate::diagnosis::sender::SenderView;
use crate::diagnosis::sender::data::{HELD_NS, PAUSE_NS};
use crate::diagnosis::sender::incidents::HeldOne;
use crate::diagnosis::vantage::behind::Ack;

/// Maximum window scale (RFC 7323, section 2.3).
const MOST_SCALE: u8 = 14;
/// Round trips differ by this part of the least one, even without a queue.
const VARIES: u64 = 64;
/// Maximum number of ACKs on their way to the sender; above that, the oldest count at once.
const MOST_ACKS: usize = 1 << 12;

impl SenderView {
    /// An ACK reports that the path has marked data: a queue stands where it was marked, and cwnd becomes smaller.
    pub(in crate::diagnosis) fn note_mark(&mut self, at: u64, packet: u64) {
        self.totals.first_loss.get_or_insert(at);
        let slice = self.meter.at(at, packet);
        slice.marks = slice.marks.saturating_add(1);
    }

    /// An ACK passes here; it counts when it has reached the sender and the answer could be here.
    pub(in crate::diagnosis) fn note_ack(
        &mut self,
        at: u64,
        packet: u64,
        (ack, stamp): (i64, u32),
        window: u32,
        bare: bool,
    ) {
        self.note_held(at, ack);
        self.asked.note_ack(at, ack, bare);
        // With SACK, its sender knows what arrived beyond a hole.
        if !self.sacks {
            let front = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
            self.departures.note_filled((front, ack), self.totals.segment);
            // This ACK fills a hole. A part of what it covers had arrived when the ones before it left, and so before a train began.
            if ack > front && self.repeats() {
                self.trains.interrupt();
            }
        }
        self.incidents.note_ack(at, packet, ack, self.ahead);
        self.note_heard(at);
        self.note_late(at, ack);
        let arrives = at + self.behind_now();
        if bare {
            self.bursts.note_ack(at, ack, ack + i64::from(window));
        } else {
            self.bursts.interrupt();
        }
        let at = self.acks.back().map_or(arrives, |last| last.at.max(arrives));
        let ack = Ack { at, packet, ack, stamp, delivered: 0, ahead: None, window, bare, train: 0 };
        if self.acks.len() == MOST_ACKS
            && let Some(oldest) = self.acks.pop_front()
        {
            self.take_ack(&oldest);
        }
        self.acks.push_back(ack);
    }

    /// Whether the last ACK was a duplicate.
    fn repeats(&self) -> bool {
        let mut latest = self.acks.iter().rev();
        match (latest.next(), latest.next()) {
            (Some(last), before) => last.bare && last.ack == before.map_or(self.una, |before| before.ack),
            (None, _) => self.duplicates > 0,
        }
    }

    /// The receiver has reported data by SACK.
    pub(in crate::diagnosis) fn note_sack(&mut self) {
        self.sacks = true;
    }

    /// An ACK passes here. If it acknowledges two segments that were sent long before, the path held them or the ACK: two segments
    /// are acknowledged at once. Two such ACKs of a segment each, one soon after the other, show the same.
    fn note_held(&mut self, at: u64, ack: i64) {
        let segment = i64::from(self.totals.segment.max(1));
        let front = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        // What a repair fills is acknowledged late. Where nothing was captured for long, no repair has caused the ACK.
        let repairing = self.repair.is_some() || self.duplicates > 0;
        let quiet = self.is_quiet(self.heard_at, at);
        if repairing && !quiet && self.held_one.is_none() || ack < front + segment {
            return;
        }
        let sent = self.meter.sent_about(ack.min(front + 2 * segment) - 1).unwrap_or(self.sent_at);
        // An earlier ACK that was late makes the round trip seem long.
        if let Some(one) = self.held_one.take_if(|one| at <= one.together)
            && sent + one.least < one.silence.until
        {
            self.incidents.note_silence(one.silence);
            return;
        }
        let round = self.ahead_now + self.behind_now();
        let least = HELD_NS.max(2 * round);
        let Some(silence) = self.incidents.held(sent, at, least) else { return };
        if ack >= front + 2 * segment {
            self.incidents.note_silence(silence);
        } else {
            self.held_one = Some(HeldOne { silence, least, together: at + round / 4 });
        }
    }

    /// An ACK is late if it covers segments that were sent at times that differ by more than half a round trip.
    fn note_late(&mut self, at: u64, ack: i64) {
        let segment = i64::from(self.totals.segment.max(1));
        let before = self.acks.back().map_or(self.una, |last| last.ack.max(self.una));
        if self.repair.is_some() || self.duplicates > 0 || ack <= before {
            return;
        }
        self.totals.regular.note(ack - before, segment);
        if ack - before < 3 * segment || !self.is_beside_sender() {
            return;
        }
        let since = self.acks.back().map_or(self.acked_at, |last| last.at);
        let full = fills_the_path((self.next - ack, ack - before), at.saturating_sub(since), self.round());
        // Those of the first two segments were owed a round trip after the second one.
        let owed = self.meter.sent_about(before + 2 * segment - 1).unwrap_or(self.sent_at) + self.round();
        if ack - before > 3 * segment && at > owed + self.round() / 2 {
            self.incidents.note_late(if full { since } else { owed }, at, full);
            return;
        }
        let (Some(first), last) = (self.meter.sent_at(before + segment), self.meter.sent_at(ack - 1)) else {
            return;
        };
        let apart = last.unwrap_or(at).min(at).saturating_sub(first);
        if apart > self.round() / 2 {
            self.incidents.note_late(if full { since } else { at - apart }, at, full);
        }
    }

    /// The ACK that was captured last has reported `bytes` as delivered.
    pub(in crate::diagnosis) fn note_delivered(&mut self, at: u64, bytes: u32) {
        let flight = (self.next - self.una).max(0) as u64;
        let rate = self.trains.note(at, u64::from(bytes), flight, u64::from(self.totals.segment));
        let (delivered, train) = match self.acks.back_mut() {
            Some(ack) => (&mut ack.delivered, &mut ack.train),
            None => {
                let slice = self.meter.at(at, 0);
                (&mut slice.delivered, &mut slice.train)
            }
        };
        *delivered = delivered.saturating_add(bytes);
        *train = (*train).max(rate.map_or(0, |rate| (rate / 1e3) as u32 + 1));
    }

    /// The retransmission of the data at `start` was not needed. The ACK that proves it is `packet`; `by_copy` if it says that
    /// the data arrived twice.
    pub(in crate::diagnosis) fn note_needless(
        &mut self,
        packet: u64,
        (start, len): (i64, u32),
        by_copy: bool,
    ) {
        self.departures.note_needless(start, len);
        self.incidents.note_needless(packet, start, by_copy);
    }

    /// The data at `start` was sent again together with what is missing before it, although it had arrived.
    pub(in crate::diagnosis) fn note_arrived(&mut self, (start, len): (i64, u32)) {
        self.departures.note_needless(start, len);
    }

    /// Processes the ACKs that have arrived until `now`.
    pub(super) fn arrive(&mut self, now: u64) {
        self.take_while(now, |_| true);
    }

    /// Processes the ACKs that had arrived when a segment left that is captured at `now`.
    ///
    /// Away from the sender, an ACK may wait in a queue. A segment echoes the timestamp of the latest ACK that had arrived (RFC 7323,
    /// section 4.3), so newer ones had not. Before a long pause, they may have been lost.
    pub(super) fn arrive_before_segment(&mut self, now: u64, short: bool) {
        let quiet_since = self.acks.back().map_or(self.acked_at, |last| last.at).max(self.sent_at);
        if self.echo == 0 || self.is_beside_sender() || now.saturating_sub(quiet_since) > PAUSE_NS {
            // The round trip to the sender is known from earlier ones, and varies a little. A short segment may have waited for that ACK.
            let early = if short { self.behind.least() / VARIES } else { 0 };
            return self.arrive(now + early);
        }
        let echo = self.echo;
        self.take_while(now, |ack| ack.stamp == 0 || ack.stamp.wrapping_sub(echo) as i32 <= 0);
    }

    /// Processes the first ACKs for which this holds, of those that have arrived until `now`.
    fn take_while(&mut self, now: u64, holds: impl Fn(&Ack) -> bool) {
        while let Some(&ack) = self.acks.front()
            && ack.at <= now
            && holds(&ack)
        {
            self.acks.pop_front();
            self.advance(ack.at);
            self.take_ack(&ack);
        }
    }

    fn take_ack(&mut self, ack: &Ack) {
        let at = self.clock.max(ack.at);
        if !self.started {
            (self.una, self.next, self.started) = (ack.ack, ack.ack, true);
        }
        let flight = u32::try_from(self.next - self.una).unwrap_or(0);
        let window = self.scaled(ack.window);
        let before = core::mem::replace(&mut self.window, window);
        let fresh = (ack.ack - self.una).max(0);
        let shrinks = window < before && fresh > 0;
        let prompt = self.delayed_acks.is_at_once(fresh, i64::from(self.totals.segment.max(1)));
        let slice = self.meter.at(at, ack.packet);
        slice.delivered = slice.delivered.saturating_add(ack.delivered);
        // The ACK that ends a gap has waited for what was missing.
        if let Some(ns) = ack.ahead.filter(|_| prompt && self.duplicates == 0) {
            slice.note_ahead(ns);
        }
        slice.train = slice.train.max(ack.train);
        slice.window = window;
        slice.shrinks = slice.shrinks.saturating_add(u16::from(shrinks));
        slice.acks = slice.acks.saturating_add(1);
        slice.answers = slice.answers.saturating_add(u16::from(!ack.bare));
        slice.flight = slice.flight.max(flight);
        self.acked_at = at;
        self.bare = ack.bare;
        if fresh > 0 {
            self.unanswered.get_or_insert((at, self.next - self.una));
            if self.data_end == i64::MIN {
                self.unseen = (self.unseen.0 + fresh as u64, fresh);
            } else {
                self.totals.bytes += (ack.ack.min(self.data_end) - self.una).max(0) as u64;
            }
            self.totals.last_ack = at;
            self.una = ack.ack;
            self.incidents.probes.note_ack(at, ack.ack);
            self.departures.forget(ack.ack);
            self.next = self.next.max(ack.ack);
            self.duplicates = 0;
            if self.repair.is_some_and(|repair| repair.until <= self.una) {
                self.repair = None;
            }
        } else if ack.bare && self.next > self.una {
            self.duplicates += 1;
        }
        self.meter.set_outstanding(u32::try_from(self.next - self.una).unwrap_or(0));
    }

    /// The window of an ACK in bytes.
    ///
    /// If the handshake was not captured, the scale is not known. What is in flight was permitted by the window before this one, so the
    /// scale is at least what that needs.
    fn scaled(&mut self, field: u32) -> u32 {
        if self.scale_known || field == 0 {
            return field;
        }
        self.permit();
        field.saturating_mul(1 << self.scale)
    }

    /// Lets the window permit what is in flight, if its scale is not known.
    pub(super) fn permit(&mut self) {
        let beyond = self.next - self.una - self.slack() - i64::from(self.totals.segment);
        while !self.scale_known
            && self.window > 0
            && self.scale < MOST_SCALE
            && beyond > i64::from(self.window)
        {
            self.window = self.window.saturating_mul(2);
            self.scale += 1;
        }
    }
}

/// Whether a path is full on which ACKs come together: `fresh` bytes were acknowledged in `cycle` nanoseconds, and `left` bytes stay
/// outstanding.
///
/// What is sent now arrives after the round trip of the empty path, `round`. Until then, the path is busy if so much is left as it
/// carries in that time. If the sender waits for the ACK, the path has carried what was left before.
const fn fills_the_path((left, fresh): (i64, i64), cycle: u64, round: u64) -> bool {
    // What was not captured may be acknowledged.
    cycle > 0
        && left > 0
        && fresh > 0
        && left as u128 * cycle as u128 * 10 >= fresh as u128 * round as u128 * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_full_if_enough_is_left_for_the_round_trip() {
        // 24 kB each 12 ms, and a round trip of 14 ms.
        assert!(fills_the_path((28_000, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((12_000, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((0, 24_000), 12_000_000, 14_000_000));
        assert!(!fills_the_path((-1000, 24_000), 12_000_000, 14_000_000), "some was not captured");
    }

    #[test]
    fn an_ack_that_arrives_nearly_with_a_short_segment_has_released_it() {
        const MS: u64 = 1_000_000;
        // A segment leaves on an ACK that seems to arrive so much later than it, on a path of 40 ms captured at the receiver.
        let outstanding = |late: u64| {
            let mut view = SenderView::new(false);
            view.note_handshake(MS);
            view.note_behind(0, 40 * MS, 0);
            view.note_data(100 * MS, 1, 0, 1000, 1000);
            view.note_ack(300 * MS, 2, (1000, 0), 60_000, true);
            view.note_data(340 * MS - late, 3, 1000, 1500, 500);
            view.una == 0
        };
        assert_eq!([0, MS / 10, 5 * MS].map(outstanding), [false, false, true]);
    }

    #[test]
    fn two_acks_at_once_of_segments_that_left_long_before_show_a_path_that_held_them() {
        const MS: u64 = 1_000_000;
        // Segments of 1000 bytes on a path of 40 ms. The ACKs of two of them come 900 ms later than the others, so far apart.
        let held = |apart: u64, repair: Option<u64>| {
            let mut view = SenderView::new(false);
            view.note_behind(0, 1000, 0);
            view.note_ahead(0, 40 * MS);
            for n in 0..10 {
                view.note_data(10 * n * MS, n, n as i64 * 1000, n as i64 * 1000 + 1000, 1000);
            }
            for n in 0..10 {
                let late = [0, 900, 900 + apart][usize::from(n >= 8) + usize::from(n >= 9)];
                if n == 8
                    && let Some(heard_ms) = repair
                {
                    (view.duplicates, view.heard_at) = (3, heard_ms * MS);
                }
                view.note_ack((10 * n + 40 + late) * MS, 20 + n, (n as i64 * 1000 + 1000, 0), 60_000, true);
            }
            view.incidents.silence_at(500 * MS).is_some()
        };
        assert!(held(0, None));
        assert!(!held(100, None), "a receiver may have delayed one ACK");
        assert!(held(0, Some(110)), "nothing was captured that a repair could have been");
        assert!(!held(0, Some(980)), "a repair may have caused the ACKs");
    }

    #[test]
    fn what_had_arrived_beyond_a_hole_makes_no_train_faster() {
        const MS: u64 = 1_000_000;
        // Segments of 1000 bytes arrive, one each 2 ms, and each second one is acknowledged. Of each 18, the second one arrives after
        // the fourth, and the first is acknowledged when the third has come.
        let mut view = SenderView::new(false);
        view.note_behind(0, 1000, 0);
        view.note_data(0, 1, 0, 1000, 1000);
        for cycle in 0..20 {
            let (from, first) = (cycle * 12, cycle as i64 * 6);
            view.note_data(from * MS, 1, first * 1000 + 1000, (first + 14) * 1000, 1000);
            let late = [(6, 1, 1), (8, 1, 0), (9, 4, 3), (12, 6, 2)];
            let even = [(4, 2, 2), (8, 4, 2), (10, 5, 1), (12, 6, 1)];
            for (after, all, fresh) in if cycle % 3 == 0 { late } else { even } {
                let at = (from + after) * MS;
                view.note_ack(at, 2, ((first + all) * 1000, 0), 500_000, true);
                view.note_delivered(at, fresh * 1000);
            }
        }
        assert!(view.trains.rate(1.0).is_some_and(|rate| rate < 0.6e6), "{:?}", view.trains.rate(1.0));
    }
}
