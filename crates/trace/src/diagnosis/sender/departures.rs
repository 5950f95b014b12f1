//! What left the sender, packet by packet, and which of it did not arrive.

use crate::diagnosis::path::bucket::Step;
use crate::diagnosis::sender::meter::Slice;
use std::collections::VecDeque;

/// Maximum number of steps; above that, neighbours are joined.
const MOST: usize = 1 << 13;
/// Shorter pauses end no block.
pub(in crate::diagnosis) const LEAST_PAUSE_NS: u64 = 1_000_000;
/// Maximum number of retransmissions that are remembered until they are acknowledged.
const MOST_RESENT: usize = 1 << 12;

/// Whether an ACK may have caused what was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) enum After {
    /// Beside the sender: an ACK came just before it.
    Ack,
    /// The capture does not show that.
    Unknown,
    /// In the host of the sender: no ACK came so shortly before it that it may have woken the application.
    Nothing,
}

/// What left within a short time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Departure {
    /// In nanoseconds since the begin of the connection.
    at: u64,
    /// Position of its first byte, and after the last byte of everything sent so far.
    start: i64,
    end: i64,
    /// Bytes that arrived.
    passed: u32,
    /// Packets that did not.
    dropped: u16,
    /// The sender's clock, from its timestamp; 0 without one.
    stamp: u32,
    after: After,
}

/// New data that was sent without a pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) struct Block {
    /// When its first and its last segment were captured, in nanoseconds since the begin of the connection.
    pub(in crate::diagnosis) at: u64,
    pub(in crate::diagnosis) until: u64,
    /// Position of its first byte.
    pub(in crate::diagnosis) start: i64,
    pub(in crate::diagnosis) segments: u32,
    pub(in crate::diagnosis) after: After,
}

/// The units of the clocks that senders use for timestamps, in nanoseconds (RFC 7323, section 5.4, permits 1 ms to 1 s).
/// Coarser
/// ones do not show when a packet left.
const TICKS: [u64; 3] = [1_000_000, 4_000_000, 10_000_000];

/// The departures of one direction.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Departures {
    all: Vec<Departure>,
    /// What was sent without a pause of `LEAST_PAUSE_NS`, up to `MOST` of it.
    blocks: Vec<Block>,
    /// How long a step lasts at least, in nanoseconds.
    length: u64,
    /// The timestamp of the segment that is being processed; 0 without one.
    stamp: u32,
    /// Retransmissions that are not acknowledged: position, and when.
    resent: VecDeque<(i64, u64)>,
    /// The most bytes of new data in a segment, and the least time in nanoseconds in which such a segment followed another one; 0
    /// if none did.
    longest: u32,
    fastest: u64,
}

impl Departures {
    /// The least time in which a segment of full size followed another one, in nanoseconds.
    pub(in crate::diagnosis) fn fastest(&self) -> Option<u64> {
        (self.fastest > 0).then_some(self.fastest)
    }

    /// A segment with so many bytes of new data follows the last one.
    fn note_gap(&mut self, at: u64, len: u32) {
        let Some(gap) = self.blocks.last().map(|last| at.saturating_sub(last.until).max(1)) else { return };
        if len > self.longest {
            (self.longest, self.fastest) = (len, 0);
        } else if len == self.longest {
            self.fastest = if self.fastest == 0 { gap } else { self.fastest.min(gap) };
        }
    }

    /// The segments that follow have this timestamp.
    pub(in crate::diagnosis) fn set_stamp(&mut self, stamp: u32) {
        self.stamp = stamp;
    }

    /// How long it was by the clock of the sender between the last segment and the one that is being processed, in
    /// nanoseconds; `None` if that clock is not known.
    pub(in crate::diagnosis) fn apart(&self) -> Option<u64> {
        let last = self.all.last()?.stamp;
        let ticks = self.stamp.wrapping_sub(last);
        (last != 0 && self.stamp != 0).then_some(())?;
        Some(u64::from(ticks) * tick(&self.all)?)
    }

    /// New data up to `end` was sent.
    pub(in crate::diagnosis) fn note_sent(&mut self, at: u64, end: i64, len: u32, after: After) {
        let start = end - i64::from(len);
        self.push(at, (start, end), len, after);
        self.note_gap(at, len);
        let has_room = self.blocks.len() < MOST;
        match self.blocks.last_mut() {
            Some(last) if at - last.until <= LEAST_PAUSE_NS => {
                (last.until, last.segments) = (at, last.segments + 1);
            }
            _ if has_room => self.blocks.push(Block { at, until: at, start, segments: 1, after }),
            _ => {}
        }
    }

    /// The data from `start` on was retransmitted: its last transmission did not arrive. `seen` if that was captured.
    pub(in crate::diagnosis) fn note_resent(&mut self, at: u64, (start, len): (i64, u32), seen: bool) {
        let before = self.resent.iter().rposition(|resent| resent.0 == start);
        let index = match before.and_then(|index| self.resent.remove(index)) {
            Some((_, then)) => self.index_of(start, then),
            None if seen => self.first_after(start),
            // It was dropped before this point, after the data before it was sent for the first time.
            None => self.first_that_ends(start),
        };
        if let Some(departure) = self.all.get_mut(index) {
            departure.dropped = departure.dropped.saturating_add(1);
            if seen || before.is_some() {
                departure.passed = departure.passed.saturating_sub(len);
            }
        }
        if self.resent.len() == MOST_RESENT {
            self.resent.pop_front();
        }
        self.resent.push_back((start, at));
        let end = self.all.last().map_or(start, |last| last.end);
        self.push(at, (start, end), len, After::Unknown);
    }

    /// The retransmission of the data at `start` was not needed.
    pub(in crate::diagnosis) fn note_needless(&mut self, start: i64, len: u32) {
        let index = self.first_after(start);
        if let Some(departure) = self.all.get_mut(index).filter(|departure| departure.dropped > 0) {
            departure.dropped -= 1;
            departure.passed = departure.passed.saturating_add(len);
        }
    }

    /// An ACK of everything below `ack` fills the hole at `front`, which was sent again.
    ///
    /// A receiver acknowledges at once when a hole is filled (RFC 5681, section 4.2). So what was sent again after that, and is covered
    /// by the same ACK, had arrived before: a sender that goes back sends it again without need.
    pub(in crate::diagnosis) fn note_filled(&mut self, (front, ack): (i64, i64), len: u32) {
        let Some(filler) = self.resent.iter().rposition(|resent| resent.0 == front) else { return };
        for index in (filler + 1..self.resent.len()).rev() {
            let (start, _) = self.resent[index];
            if front < start && start < ack {
                self.resent.remove(index);
                self.note_needless(start, len);
            }
        }
    }

    /// Everything below `una` is acknowledged.
    pub(in crate::diagnosis) fn forget(&mut self, una: i64) {
        while self.resent.front().is_some_and(|resent| resent.0 < una) {
            self.resent.pop_front();
        }
    }

    /// The first step that ends after `start`.
    fn first_after(&self, start: i64) -> usize {
        self.all.partition_point(|departure| departure.end <= start)
    }

    /// The first step after which the data before `start`, or what came of it, was sent. What was sent again later ends there too.
    fn first_that_ends(&self, start: i64) -> usize {
        let last = self.first_after(start).saturating_sub(1);
        let end = self.all.get(last).map_or(start, |departure| departure.end);
        self.all.partition_point(|departure| departure.end < end)
    }

    /// The step in which the data at `start` was sent at `then`.
    fn index_of(&self, start: i64, then: u64) -> usize {
        let first = self.all.partition_point(|departure| departure.at + self.length.max(1) <= then);
        let at_once = self.all[first..].iter().take_while(|departure| departure.at <= then);
        at_once
            .into_iter()
            .position(|departure| departure.start == start)
            .map_or(first, |place| first + place)
    }

    fn push(&mut self, at: u64, (start, end): (i64, i64), len: u32, after: After) {
        match self.all.last_mut() {
            Some(last) if at < last.at + self.length => {
                (last.end, last.passed) = (end, last.passed.saturating_add(len));
            }
            _ => {
                self.all.push(Departure { at, start, end, passed: len, dropped: 0, stamp: self.stamp, after })
            }
        }
        if self.all.len() > MOST {
            self.join_neighbours();
        }
    }

    #[cold]
    fn join_neighbours(&mut self) {
        let span = self.all.last().map_or(0, |last| last.at);
        self.length = (self.length * 2).max(span / MOST as u64 * 2).max(1000);
        let mut joined: Vec<Departure> = Vec::with_capacity(MOST);
        for next in self.all.drain(..) {
            match joined.last_mut() {
                Some(last) if next.at < last.at + self.length => {
                    last.end = next.end;
                    last.passed = last.passed.saturating_add(next.passed);
                    last.dropped = last.dropped.saturating_add(next.dropped);
                }
                _ => joined.push(next),
            }
        }
        self.all = joined;
    }

    /// Blocks of new data with pauses between them: of more than `least` nanoseconds, and of four times the usual time from segment
    /// to segment. None if there are too many.
    pub(in crate::diagnosis) fn blocks(&self, least: u64) -> Vec<Block> {
        self.blocks_after(least.max(4 * self.usual_gap()))
    }

    /// Blocks of new data with pauses of more than `pause` nanoseconds between them. None if there are too many.
    pub(in crate::diagnosis) fn blocks_after(&self, pause: u64) -> Vec<Block> {
        if self.blocks.len() == MOST {
            return Vec::new();
        }
        let mut blocks: Vec<Block> = Vec::new();
        for next in &self.blocks {
            match blocks.last_mut() {
                Some(last) if next.at - last.until <= pause => {
                    (last.until, last.segments) = (next.until, last.segments + next.segments);
                }
                _ => blocks.push(*next),
            }
        }
        blocks
    }

    /// The median of the times from segment to segment of new data; within a block they count as equal.
    fn usual_gap(&self) -> u64 {
        let within = self.blocks.iter().filter(|block| block.segments > 1);
        let within = within
            .map(|block| ((block.until - block.at) / u64::from(block.segments - 1), block.segments - 1));
        let between = self.blocks.windows(2).map(|pair| (pair[1].at - pair[0].until, 1));
        let mut gaps: Vec<(u64, u32)> = within.chain(between).collect();
        gaps.sort_unstable();
        let half = gaps.iter().map(|gap| u64::from(gap.1)).sum::<u64>() / 2;
        let mut count = 0;
        let middle = gaps.iter().find(|gap| {
            count += u64::from(gap.1);
            count > half
        });
        middle.map_or(0, |gap| gap.0)
    }

    /// Lowers the round trips to the sender to what its clock permits: the least one, and by how much more time segments took on their
    /// way here than the fastest one. What exceeds that is the delay of ACKs or of the sender itself: no data has waited for so long.
    pub(in crate::diagnosis) fn leave_out_ack_delays(&self, slices: &mut [Slice], least: u64) {
        let stamped = || self.all.iter().filter(|departure| departure.stamp != 0);
        let (Some(tick), Some(first)) = (tick(&self.all), self.all.first()) else { return };
        let way = |departure: &Departure| {
            let ticks = departure.stamp.wrapping_sub(first.stamp).cast_signed();
            departure.at as i64 - i64::from(ticks) * tick as i64
        };
        let Some(fastest) = stamped().map(way).min() else { return };
        // Both clocks have units, and a segment needs more time for the link than the packets of the handshake.
        let unknown = 2 * tick + self.fastest;
        let mut latest = stamped().peekable();
        for slice in slices {
            let mut longest = None;
            while let Some(departure) = latest.next_if(|departure| departure.at < slice.until) {
                longest = longest.max(Some(way(departure).abs_diff(fastest)));
            }
            if let Some(longer) = longest {
                slice.permit_behind(least + longer + unknown);
            }
        }
    }

    /// When what arrived left, and its bytes with so many for the headers of each segment of `segment` bytes; `None` if the times are not
    /// known to within `exact` nanoseconds.
    pub(in crate::diagnosis) fn departed(
        &self,
        segment: u32,
        headers: u32,
        exact: u64,
    ) -> Option<Vec<(u64, u32)>> {
        let bytes = |departure: &Departure| {
            departure.passed.saturating_add(departure.passed.div_ceil(segment.max(1)) * headers)
        };
        let passed = self.all.iter().filter(|departure| departure.passed > 0);
        (self.length <= exact).then(|| passed.map(|departure| (departure.at, bytes(departure))).collect())
    }

    /// The steps until the last drop: as they were captured, or by the clock of the sender if that is known. Behind a queue,
    /// packets arrive later than they left, and more evenly.
    pub(in crate::diagnosis) fn steps(&self, by_sender: bool) -> Vec<Step> {
        let count = self.all.iter().rposition(|departure| departure.dropped > 0).map_or(0, |last| last + 1);
        let all = &self.all[..count];
        let tick = if by_sender { tick(all) } else { None };
        let first = all.first().map_or(0, |first| first.stamp);
        let mut before = 0;
        let step = |departure: &Departure| {
            let at = match tick {
                Some(tick) => (u64::from(departure.stamp.wrapping_sub(first)) * tick).max(before),
                None => departure.at,
            };
            let lasted = at - core::mem::replace(&mut before, at);
            Step { lasted, passed: u64::from(departure.passed), dropped: u32::from(departure.dropped) }
        };
        all.iter().map(step).collect()
    }
}

/// The unit of the sender's clock in nanoseconds, if it has one of the usual ones.
fn tick(all: &[Departure]) -> Option<u64> {
    let (first, last) = (all.first()?, all.last()?);
    let ticks = u64::from(last.stamp.wrapping_sub(first.stamp));
    if first.stamp == 0 || ticks == 0 {
        return None;
    }
    let unit = (last.at - first.at) / ticks;
    TICKS.into_iter().find(|tick| unit * 4 > tick * 3 && unit * 4 < tick * 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(departures: &Departures, by_sender: bool) -> Vec<(u64, u64, u32)> {
        departures.steps(by_sender).iter().map(|step| (step.lasted, step.passed, step.dropped)).collect()
    }

    #[test]
    fn a_retransmission_that_is_lost_counts_when_it_was_sent() {
        let mut departures = Departures::default();
        departures.note_sent(10, 1000, 1000, After::Unknown);
        departures.note_sent(10, 2000, 1000, After::Unknown);
        departures.note_resent(50, (0, 1000), true);
        departures.note_sent(50, 3000, 1000, After::Unknown);
        departures.note_resent(90, (0, 1000), true);
        assert_eq!(seen(&departures, false), [(10, 0, 1), (0, 1000, 0), (40, 0, 1)]);
        departures.note_needless(0, 1000);
        assert_eq!(seen(&departures, false)[0], (10, 1000, 0));
    }

    #[test]
    fn only_what_arrived_occupies_the_link_with_its_headers() {
        let mut departures = Departures::default();
        departures.note_sent(10, 1000, 1000, After::Unknown);
        departures.note_sent(20, 2000, 1000, After::Unknown);
        departures.note_sent(30, 2100, 100, After::Unknown);
        departures.note_resent(50, (1000, 1000), true);
        assert_eq!(departures.departed(1000, 50, 5), Some(vec![(10, 1050), (30, 150), (50, 1050)]));
        departures.length = 8;
        assert_eq!(departures.departed(1000, 50, 5), None, "the times are not known so exactly");
    }

    #[test]
    fn what_acks_are_late_by_is_no_queue_of_the_data() {
        // The round trips in ms that a slice of 50 ms is taken to have, where segments take 10 ms, or so many more in the second half.
        let permitted = |longer: u64| {
            let mut departures = Departures::default();
            for n in 0..100 {
                let later = if n < 50 { 0 } else { longer };
                departures.set_stamp(1 + n * 10);
                let at = (u64::from(n) * 10 + 10 + later) * 1_000_000;
                departures.note_sent(at, i64::from(n + 1) * 1000, 1000, After::Unknown);
            }
            let slice = |n: u64| {
                let mut slice = Slice { until: n * 50_000_000, ..Slice::default() };
                slice.note_behind(140_000_000);
                slice
            };
            let mut slices: Vec<Slice> = (1..=20).map(slice).collect();
            departures.leave_out_ack_delays(&mut slices, 40_000_000);
            [5, 15].map(|n| slices[n].behind / 1_000_000)
        };
        assert_eq!(permitted(0), [52, 52], "two ticks and the time for a segment are not known");
        assert_eq!(permitted(60), [52, 112]);
        assert_eq!(permitted(200), [52, 140]);
    }

    #[test]
    fn data_lost_before_the_capture_point_was_sent_after_the_data_before_it() {
        let mut departures = Departures::default();
        departures.note_sent(10, 1000, 1000, After::Unknown);
        departures.note_sent(900, 3000, 1000, After::Unknown);
        departures.note_resent(950, (1000, 1000), false);
        assert_eq!(seen(&departures, false), [(10, 1000, 1)]);
    }

    #[test]
    fn a_retransmission_between_does_not_show_when_lost_data_was_sent() {
        let mut departures = Departures::default();
        departures.note_sent(10, 1000, 1000, After::Unknown);
        departures.note_sent(20, 2000, 1000, After::Unknown);
        departures.note_resent(500, (0, 1000), true);
        departures.note_sent(900, 4000, 1000, After::Unknown);
        departures.note_resent(950, (2000, 1000), false);
        assert_eq!(seen(&departures, false), [(10, 0, 1), (10, 1000, 1)]);
    }

    #[test]
    fn what_is_sent_again_behind_a_hole_had_arrived_if_one_ack_covers_both() {
        let mut departures = Departures::default();
        for n in 1..=4 {
            departures.note_sent(10, n * 1000, 1000, After::Unknown);
        }
        departures.note_resent(500, (0, 1000), true);
        departures.note_resent(510, (1000, 1000), true);
        departures.note_filled((0, 3000), 1000);
        let dropped = |departures: &Departures| -> u32 {
            departures.steps(false).iter().map(|step| step.dropped).sum()
        };
        assert_eq!(dropped(&departures), 1);
        // An ACK of each of them shows that each was missing.
        departures.note_resent(600, (3000, 1000), true);
        departures.note_filled((3000, 4000), 1000);
        assert_eq!(dropped(&departures), 2);
    }

    #[test]
    fn timestamps_show_when_segments_left() {
        let mut departures = Departures::default();
        for n in 0..100_u32 {
            // Two segments each 10 ms arrive at even gaps.
            departures.set_stamp(500 + n / 2 * 10);
            departures.note_sent(u64::from(n) * 5_000_000, i64::from(n + 1) * 1000, 1000, After::Unknown);
        }
        departures.note_resent(500_000_000, (98_000, 1000), true);
        let lasted: Vec<u64> = seen(&departures, true).iter().map(|step| step.0).collect();
        assert_eq!(lasted[..5], [0, 0, 10_000_000, 0, 10_000_000]);
        assert_eq!(seen(&departures, false)[1].0, 5_000_000);
    }

    #[test]
    fn what_was_held_left_soon_after_the_segment_before_it() {
        let mut departures = Departures::default();
        for n in 0..100_u32 {
            departures.set_stamp(500 + n * 10);
            departures.note_sent(u64::from(n) * 10_000_000, i64::from(n + 1) * 1000, 1000, After::Unknown);
        }
        departures.set_stamp(500 + 99 * 10 + 2);
        assert_eq!(departures.apart(), Some(2_000_000));
        departures.set_stamp(0);
        assert_eq!(departures.apart(), None, "without a timestamp");
    }

    #[test]
    fn blocks_of_a_long_transfer_show_as_those_of_a_short_one() {
        let mut departures = Departures::default();
        for n in 0..20_000_u32 {
            // Twenty segments each 20 ms, 100 us apart.
            let at = u64::from(n / 20) * 20_000_000 + u64::from(n % 20) * 100_000;
            departures.note_sent(at, i64::from(n + 1) * 1000, 1000, After::Unknown);
        }
        let blocks = departures.blocks(LEAST_PAUSE_NS);
        assert_eq!((blocks.len(), blocks[999].start, blocks[999].segments), (1000, 19_980_000, 20));
    }

    #[test]
    fn a_long_connection_needs_bounded_memory() {
        let mut departures = Departures::default();
        for n in 0..200_000_u32 {
            departures.note_sent(u64::from(n) * 1000, i64::from(n + 1) * 1000, 1000, After::Unknown);
        }
        departures.note_resent(200_000_000, (150_000_000, 1000), true);
        assert!(departures.all.len() <= MOST);
        let steps = departures.steps(false);
        assert!(steps.iter().map(|step| step.passed).sum::<u64>() >= 149_000_000);
        assert_eq!(steps.last().map(|step| step.dropped), Some(1));
    }
}
