//! The sender's application writes blocks at intervals of its own: `application`.

use super::window::is_smaller;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::sender::departures::{After, Block};
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// So many intervals in succession are compared, and so many of them may differ.
const INTERVALS: usize = 10;
const OTHERS: usize = 2;
/// Intervals of one writer differ by less than this share.
const SAME: f64 = 0.03;
/// Intervals that differ from those of ACKs by less than this share may be theirs.
const NEAR: f64 = 0.06;
/// Between blocks that are farther apart nothing is outstanding for most of the time. Away from the sender, ACKs may release those
/// that are a round trip apart, with the queues on it.
const MOST_ROUNDS: u64 = 4;
/// Smaller blocks, in segments, also come in pairs as ACKs release them.
const LEAST_SEGMENTS: i64 = 4;

/// When blocks of the same length came at the same intervals, which are not those of ACKs. A round trip takes `round` nanoseconds.
///
/// What a window or a buffer releases comes when ACKs do: a round trip after earlier blocks, or after them and the time that a block
/// takes. A writer with a clock of its own does not know the round trip. In the host of the sender, what an ACK releases also comes at once.
pub(super) fn writes_at_intervals(
    blocks: &[Block],
    segment: u32,
    (round, beside_sender): (u64, bool),
) -> Vec<(u64, u64)> {
    let longest = if beside_sender { MOST_ROUNDS * round } else { round };
    let mut periods: Vec<(u64, u64)> = Vec::new();
    for near in blocks.windows(INTERVALS + 1) {
        let Some(interval) = one_interval(near, segment) else { continue };
        let count = |after: After| near.iter().filter(|block| block.after == after).count();
        let (woken, alone) =
            (count(After::Ack) * 2 > near.len(), count(After::Nothing) + OTHERS >= near.len());
        if woken || interval >= longest || !alone && is_of_acks(near, interval, round) {
            continue;
        }
        let (from, until) = (near[0].at, near[INTERVALS].at + interval);
        match periods.last_mut() {
            Some(last) if last.1 >= from => last.1 = until,
            _ => periods.push((from, until)),
        }
    }
    periods
}

/// The interval at which these blocks come, if it is one, and if all have the same length but for a segment.
fn one_interval(blocks: &[Block], segment: u32) -> Option<u64> {
    let pairs = || blocks.windows(2);
    let interval = median(pairs().map(|pair| pair[1].at - pair[0].at));
    let length = median(pairs().map(|pair| (pair[1].start - pair[0].start).max(0) as u64)) as i64;
    let segment = i64::from(segment.max(1));
    let is_same = |pair: &&[Block]| {
        let apart = (pair[1].at - pair[0].at).abs_diff(interval);
        let longer = pair[1].start - pair[0].start - length;
        apart as f64 <= interval as f64 * SAME && longer.abs() <= segment
    };
    let same = pairs().filter(is_same).count();
    (same + OTHERS >= INTERVALS && length >= LEAST_SEGMENTS * segment).then_some(interval)
}

/// Whether blocks come a round trip after others, or later by the time that a block takes.
fn is_of_acks(blocks: &[Block], interval: u64, round: u64) -> bool {
    let lasts = median(blocks.iter().map(|block| block.until - block.at));
    [round, round + lasts].into_iter().any(|time| {
        let past = time % interval;
        past.min(interval - past) as f64 <= interval as f64 * NEAR
    })
}

/// A sender whose application writes at intervals has nothing to send between them.
pub(super) fn at_intervals(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let waits = matches!(
        moment.phase,
        Phase::Sending | Phase::Drained | Phase::RestHeld | Phase::RestKept | Phase::ShortHeld
    );
    let index = facts.at_intervals.partition_point(|period| period.1 < moment.at);
    let within = facts.at_intervals.get(index).is_some_and(|period| period.0 <= moment.at);
    // A reader at an even rate makes data come at intervals too.
    (waits && within && !is_smaller(facts, moment.index)).then_some(Limit::Application)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of ten segments that last for 4 ms each, at these intervals in ms, on a path of 100 ms.
    fn periods(intervals: impl Fn(u64) -> u64, after: After) -> Vec<(u64, u64)> {
        periods_at(false, intervals, after)
    }

    fn periods_at(beside_sender: bool, intervals: impl Fn(u64) -> u64, after: After) -> Vec<(u64, u64)> {
        let mut at = 0;
        let block = |n: u64| {
            at += intervals(n) * 1_000_000;
            Block { at, until: at + 4_000_000, start: n as i64 * 10_000, segments: 10, after }
        };
        let blocks: Vec<Block> = (0..20).map(block).collect();
        writes_at_intervals(&blocks, 1000, (100_000_000, beside_sender))
    }

    #[test]
    fn blocks_at_even_intervals_that_no_ack_explains_are_written_so() {
        assert_eq!(periods(|_| 30, After::Unknown), [(30_000_000, 630_000_000)]);
        assert_eq!(periods(|_| 30, After::Ack), [], "each follows an ACK");
        assert_eq!(periods(|n| 30 + n % 3 * 2, After::Unknown), [], "they vary");
    }

    #[test]
    fn beside_the_sender_blocks_may_be_farther_apart_than_a_round_trip() {
        assert_eq!(periods_at(true, |_| 170, After::Unknown), [(170_000_000, 3_570_000_000)]);
        assert_eq!(periods_at(false, |_| 170, After::Unknown), []);
    }

    #[test]
    fn blocks_a_round_trip_after_others_are_released_by_acks() {
        assert_eq!(periods(|_| 50, After::Unknown), []);
        assert_eq!(periods(|_| 52, After::Unknown), [], "with the time that a block takes");
        assert_eq!(periods_at(true, |_| 50, After::Unknown), []);
        let alone = periods_at(true, |_| 50, After::Nothing);
        assert_eq!(alone, [(50_000_000, 1_050_000_000)], "no ACK came before them");
    }
}
