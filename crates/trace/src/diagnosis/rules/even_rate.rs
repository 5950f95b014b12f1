//! The sender's application writes at an even rate, as a capture away from the sender shows: `application`.
//!
//! The rest of a write that fills no segment waits for the next write. So the blocks of such a sender differ by a segment, or come an
//! interval later, and yet the bytes up to each of them lie on a straight line. What ACKs release repeats the blocks of a round trip
//! before.

use super::window::is_smaller;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;
use crate::diagnosis::sender::departures::{Block, Departures, LEAST_PAUSE_NS};

/// So many blocks are compared with those of a round trip before.
const COMPARED: usize = 24;
/// Comparisons begin so many blocks apart.
const APART: usize = 5;
/// Of so many blocks one may come at another time than a multiple of the interval after the one before.
const ONE_OFF: usize = 10;
/// How far such a multiple may be missed, as a share of the interval.
const SAME: f64 = 0.03;
/// The usual time between blocks is the interval, or so many of them at most.
const MOST_PARTS: u64 = 3;
/// A shorter interval, as a part of a round trip, has too many multiples near it.
const LEAST_PART: u64 = 40;
/// The bytes up to each block differ from those of an even rate by this share of a segment at most: a rest is shorter than one.
const REST: f64 = 1.2;
/// So many blocks are unlike most, or the rate shows nothing.
const UNLIKE: usize = 3;
/// ACKs release this share of them, or more, as they did a round trip before.
const REPEATED: f64 = 0.85;
/// Segments on a link that needs nearly the whole time for them come evenly by themselves.
const FREE: f64 = 1.5;
/// Segments that follow each other in this time, as a multiple of the least one, come without a pause.
const WITHOUT_PAUSE: (u64, u64) = (13, 10);
/// A pause lasts at least a round trip divided by this.
const PAUSES: u64 = 20;
/// The unit of timestamps, by which a round trip may be wrong.
const TICK_NS: u64 = 1_000_000;

/// When the blocks of this sender show an application that writes at an even rate.
///
/// A slow link spreads a block. So blocks are also those between pauses that are longer than it takes for a segment.
pub(super) fn written_evenly(facts: &Facts, departures: &Departures) -> Vec<(u64, u64)> {
    let Some(fastest) = departures.fastest().filter(|_| !facts.path.beside_sender) else { return Vec::new() };
    let least = (facts.path.base / PAUSES).max(LEAST_PAUSE_NS);
    let (more, of) = WITHOUT_PAUSE;
    let pauses = [least, least.max(fastest * more / of)];
    let writer = Writer { segment: facts.totals.segment.max(1), fastest, round: facts.path.base };
    let has_losses = |from, until| {
        let near = facts.index_at(from)..=facts.index_at(until);
        facts.slices[near].iter().any(|slice| slice.resent > 0 || slice.lost > 0)
    };
    let mut periods: Vec<(u64, u64)> = Vec::new();
    for pause in pauses {
        let blocks = departures.blocks_after(pause);
        for first in (0..blocks.len()).step_by(APART) {
            let period = writer.period(&blocks[first..]);
            periods.extend(period.filter(|&(from, until)| !has_losses(from, until)));
        }
    }
    periods.sort_unstable();
    joined(periods)
}

/// Whether the application writes at an even rate in this slice, as far as the receiver reads what it writes.
pub(super) fn is_written_evenly(facts: &Facts, index: usize) -> bool {
    let at = facts.slices[index].until;
    let period = facts.at_even_rate.partition_point(|period| period.1 < at);
    facts.at_even_rate.get(period).is_some_and(|period| period.0 <= at) && !is_smaller(facts, index)
}

/// These periods in order, without overlaps.
fn joined(periods: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for next in periods {
        match all.last_mut() {
            Some(last) if last.1 >= next.0 => last.1 = last.1.max(next.1),
            _ => all.push(next),
        }
    }
    all
}

/// What is known of the sender and its path.
struct Writer {
    /// The bytes of a segment.
    segment: u32,
    /// The least time between two segments, and the least round trip, in nanoseconds.
    fastest: u64,
    round: u64,
}

/// From one block to the next: how many intervals, and how many bytes.
type Step = (u64, i64);

impl Writer {
    /// The time of the first of these blocks, if an application writes them at an even rate.
    fn period(&self, blocks: &[Block]) -> Option<(u64, u64)> {
        let near = blocks.get(..=COMPARED)?;
        let usual = median(near.windows(2).map(|pair| pair[1].at - pair[0].at));
        let lasts = median(near.iter().map(|block| block.until - block.at));
        let intervals = (1..=MOST_PARTS).map(|parts| usual / parts);
        let mut usable = intervals.filter(|&interval| interval > 0 && interval * LEAST_PART >= self.round);
        usable.find_map(|interval| self.period_at(blocks, interval, lasts))
    }

    /// The same, with this interval, and where a block usually lasts for so long.
    fn period_at(&self, blocks: &[Block], interval: u64, lasts: u64) -> Option<(u64, u64)> {
        let rounds = self.rounds(lasts);
        let near = blocks.get(..=(rounds.1 / interval) as usize + 1 + COMPARED)?;
        let [first, .., last] = near else { return None };
        let (time, bytes) = (last.at - first.at, last.start - first.start);
        let busy = bytes as f64 / f64::from(self.segment) * self.fastest as f64;
        if busy * FREE > time as f64 || !self.is_straight(near) {
            return None;
        }
        let steps = steps(near, interval)?;
        let released = self.is_released(&steps, time / steps.len() as u64, rounds);
        (!released).then_some((first.at, last.at + interval))
    }

    /// The least and the longest time after which ACKs of a block release the next one that it lasts as long as.
    fn rounds(&self, lasts: u64) -> (u64, u64) {
        let tick = TICK_NS.min(self.round / 2);
        (
            self.round / 100 * 97 - tick.min(self.round / 100 * 97),
            self.round / 4 * 5 + lasts + 2 * self.fastest + tick,
        )
    }

    /// Whether the bytes up to each block are those of an even rate, but for a rest.
    fn is_straight(&self, blocks: &[Block]) -> bool {
        let [first, .., last] = blocks else { return false };
        let rate = (last.start - first.start) as f64 / (last.at - first.at).max(1) as f64;
        let rest = |block: &Block| (block.start - first.start) as f64 - rate * (block.at - first.at) as f64;
        let (least, most) =
            blocks.iter().map(rest).fold((0.0_f64, 0.0_f64), |(l, m), rest| (l.min(rest), m.max(rest)));
        most - least <= REST * f64::from(self.segment)
    }

    /// Whether ACKs may release these blocks, which come `apart` nanoseconds apart: those that are unlike most came also a round trip
    /// before.
    fn is_released(&self, steps: &[Step], apart: u64, (least, most): (u64, u64)) -> bool {
        let same = |a: Step, b: Step| a.0 == b.0 && a.1.abs_diff(b.1) * 2 < u64::from(self.segment);
        let like = |step: Step| steps.iter().filter(|&&other| same(other, step)).count();
        let Some(usual) = steps.iter().copied().max_by_key(|&step| like(step)) else { return true };
        let lags = least.div_ceil(apart.max(1)).max(1)..=most / apart.max(1);
        let mut lags = lags.map(|lag| lag as usize).chain(core::iter::once(0));
        lags.any(|lag| {
            let unlike: Vec<usize> = (lag..steps.len()).filter(|&n| !same(steps[n], usual)).collect();
            let repeated = unlike.iter().filter(|&&n| lag > 0 && same(steps[n], steps[n - lag])).count();
            unlike.len() < UNLIKE || repeated as f64 > REPEATED * unlike.len() as f64
        })
    }
}

/// The steps between these blocks, if nearly all of them come at multiples of the interval.
fn steps(blocks: &[Block], interval: u64) -> Option<Vec<Step>> {
    let mut off = 0;
    let step = |pair: &[Block]| {
        let apart = pair[1].at - pair[0].at;
        let intervals = ((apart + interval / 2) / interval).max(1);
        off += usize::from(apart.abs_diff(intervals * interval) as f64 > interval as f64 * SAME);
        (intervals, pair[1].start - pair[0].start)
    };
    let steps: Vec<Step> = blocks.windows(2).map(step).collect();
    (off * ONE_OFF <= steps.len()).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::sender::departures::After;

    const MS: u64 = 1_000_000;

    /// Whether blocks are written evenly that come after so many ms and have so many segments of 1000 bytes, on a path of 100 ms
    /// and a link that needs 1 ms for a segment.
    fn evenly(step: impl Fn(u64) -> (u64, i64)) -> bool {
        let (mut at, mut start) = (0, 0);
        let block = |n: u64| {
            let (after, segments) = step(n);
            at += after * MS;
            let block = Block { at, until: at, start, segments: 1, after: After::Unknown };
            start += segments * 1000;
            block
        };
        let blocks: Vec<Block> = (0..80).map(block).collect();
        Writer { segment: 1000, fastest: MS, round: 100 * MS }.period(&blocks).is_some()
    }

    /// The segments that writes of so many bytes fill.
    fn filled(n: u64, bytes: u64) -> i64 {
        ((n + 1) * bytes / 1000 - n * bytes / 1000) as i64
    }

    #[test]
    fn writes_that_fill_now_more_segments_and_now_fewer_are_at_an_even_rate() {
        assert!(evenly(|n| (34, filled(n, 2618))));
        assert!(evenly(|n| (25, filled(n, 3382))), "four intervals are a round trip");
        assert!(!evenly(|_| (34, 3)), "equal blocks may be those that ACKs release");
        assert!(!evenly(|n| (34, 3 - i64::from(n % 3 == 0))), "each is that of a round trip before");
    }

    #[test]
    fn writes_of_less_than_a_segment_leave_when_they_fill_one() {
        // A write every 27 ms.
        let before = |n: u64| (n * 1000).div_ceil(618);
        assert!(evenly(|n| ((before(n + 1) - before(n)) * 27, 1)));
    }

    #[test]
    fn a_link_that_is_always_busy_and_a_window_that_grows_are_no_writer() {
        assert!(!evenly(|n| (3, filled(n, 2618))));
        assert!(!evenly(|n| (34, 3 + n as i64 / 4)));
    }
}
