//! ACKs that make the sender send nothing: a program that waits until its send buffer has room for a large piece (`send-buffer`).
//!
//! A sender with more data sends on each ACK as long as cwnd and the receive window permit it. Linux wakes a program that waits for
//! room when a third of the buffer is free (`sk_stream_write_space`), so the flight falls by that much, and then a burst follows. In between,
//! cwnd may be what limits the burst, and it may grow: the largest flight says nothing then.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::rules::even_rate::is_written_evenly;
use crate::diagnosis::rules::growth::{CAPPED_ROUNDS, MUCH, has_credits, has_more};
use crate::diagnosis::rules::window::is_smaller;
use crate::diagnosis::sender::meter::Slice;
use netspurt_budget::Limit;

/// A part of the flight that is acknowledged in such a silence. A third of the buffer with all memory is less of the flight, which
/// may be larger than that.
const FALLS: u64 = 5;
/// In so many round trips before, nothing made cwnd smaller, and in so many later, the burst is sent.
const ROUNDS: u64 = 2;
/// After the burst, the flight is at least three quarters of the one before: a smaller cwnd would make a sender silent, too.
const COMES_BACK: (u32, u32) = (3, 4);

/// The times in which ACKs made the sender send nothing, as its program had not yet filled its buffer again.
pub(in crate::diagnosis::rules) fn silences(facts: &Facts) -> Vec<(u64, u64)> {
    let sending: Vec<usize> = (0..facts.slices.len()).filter(|&index| sends(facts, index)).collect();
    let pairs = sending.windows(2).map(|pair| (pair[0], pair[1]));
    let silent = pairs.filter(|&(last, burst)| is_silence(facts, last, burst));
    silent.map(|(last, burst)| (facts.began(last), facts.began(burst))).collect()
}

/// Whether this is a time of them.
pub(in crate::diagnosis::rules) fn is_silent(facts: &Facts, index: usize) -> bool {
    let at = facts.slices[index].until;
    let next = facts.silences.partition_point(|silence| silence.1 < at);
    facts.silences.get(next).is_some_and(|silence| silence.0 < at)
}

/// What makes the sender wait in this slice, if its program fills a buffer again: the buffer, or a window of its own protocol.
pub(in crate::diagnosis::rules) fn refilling(facts: &Facts, index: usize) -> Option<Limit> {
    is_silent(facts, index).then(|| {
        if is_written_evenly(facts, index) {
            Limit::Application
        } else if has_credits(facts, index) {
            Limit::ApplicationWindow
        } else {
            Limit::SendBuffer
        }
    })
}

fn sends(facts: &Facts, index: usize) -> bool {
    let slice = &facts.slices[index];
    slice.resent > 0 || u64::from(slice.sent) * 4 > u64::from(slice.delivered)
}

/// Whether the buffer was empty between these slices: the sender sends in both, and in none between, though ACKs come.
fn is_silence(facts: &Facts, last: usize, burst: usize) -> bool {
    let (between, first) = (&facts.slices[last + 1..burst], &facts.slices[burst]);
    let (flight, segment) = (facts.slices[last].flight, facts.totals.segment);
    // SACK frees room in cwnd, and none in the buffer.
    let delivered: u64 = between.iter().map(|slice| u64::from(slice.delivered)).sum();
    let left = |slice: &Slice| slice.flight.max(slice.outstanding).saturating_sub(slice.delivered);
    let left = between.iter().map(left).min().unwrap_or(flight);
    let falls = delivered.max(u64::from(flight.saturating_sub(left)));
    if left == 0 || flight < MUCH * segment || falls * FALLS < u64::from(flight) {
        return false;
    }
    let by_itself = first.unprompted > 0 || first.paced * 2 > first.segments;
    if by_itself || !facts.path.beside_sender && !is_of_sender(facts, last, burst) {
        return false;
    }
    let has_room = between.iter().all(|slice| slice.window > flight + segment) && !is_smaller(facts, burst);
    // A repair or marks make cwnd smaller.
    let (before, _) = facts.around(last, ROUNDS);
    let reduced = facts.slices[before..=burst].iter().any(|slice| slice.resent > 0 || slice.marks > 0);
    let (_, later) = facts.around(burst, ROUNDS);
    let after = &facts.slices[burst..=later];
    let most = after.iter().map(|slice| slice.flight).max().unwrap_or(0);
    let sent: u64 = after.iter().map(|slice| u64::from(slice.sent)).sum();
    let (more, of) = COMES_BACK;
    has_room && !reduced && most * of >= flight * more && sent * 2 >= falls
}

/// Away from the sender: whether it was the sender that stopped, and not the path, nor its program for want of data. If the path stops, what
/// comes then has waited for as long; and what a program has written ends with a short segment.
fn is_of_sender(facts: &Facts, last: usize, burst: usize) -> bool {
    let silence = facts.began(burst) - facts.slices[last].until;
    let waited = facts.slices[burst].behind == 0 || facts.path.now[burst].queueing * 2 > silence;
    let (first, later) = facts.around(last, CAPPED_ROUNDS);
    facts.path.shows_queue && !waited && has_more(&facts.slices[first..=later])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::moment::Moment;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::phase::Phase;
    use crate::diagnosis::sender::totals::Totals;

    const AT_SENDER: (u64, u64) = (0, 40_000_000);
    const AT_RECEIVER: (u64, u64) = (40_000_000, 0);
    /// A slice in a silence, and one of a burst.
    const SILENT: usize = 57;
    const BURST: usize = 60;

    /// Slices of 10 ms on a path of 40 ms. In each round trip, a burst fills a flight that grows by a segment, and then ACKs of
    /// 30 segments make the sender send nothing. A segment was lost long ago.
    fn facts(parts: (u64, u64), change: impl Fn(usize, &mut Slice)) -> Facts {
        let slice = |n: usize| {
            let (full, part) = (100_000 + n as u32 / 4 * 1000, n as u32 % 4);
            let mut slice = Slice {
                until: (n as u64 + 1) * 10_000_000,
                flight: full - part.saturating_sub(1) * 10_000,
                window: 900_000,
                segments: if part == 0 { 30 } else { 0 },
                sent: if part == 0 { 30_000 } else { 0 },
                delivered: if part == 0 { 0 } else { 10_000 },
                acks: 5,
                behind: if parts.0 > 0 { 40_000_001 } else { 0 },
                ..Slice::default()
            };
            change(n, &mut slice);
            slice
        };
        let totals = Totals { segment: 1000, first_loss: Some(0), ..Totals::default() };
        let none = Trains::default();
        let slices = (0..120).map(slice).collect();
        let mut facts = Facts::new(slices, parts, totals, [&none, &none], Default::default());
        facts.silences = silences(&facts);
        facts
    }

    fn limit(facts: &Facts, phase: Phase) -> Limit {
        let at = facts.slices[SILENT].until - 5_000_000;
        let moment = Moment { phase, from: 0, until: 1_200_000_000, at, index: SILENT };
        crate::diagnosis::rules::judge(facts, &moment)
    }

    #[test]
    fn acks_that_make_a_sender_send_nothing_before_a_burst_show_a_buffer_though_the_flight_grows() {
        let of = |change: fn(usize, &mut Slice)| {
            let facts = facts(AT_SENDER, change);
            (is_silent(&facts, SILENT), limit(&facts, Phase::Sending) == Limit::SendBuffer)
        };
        assert_eq!(of(|_, _| {}), (true, true));
        assert_eq!(of(|_, slice| slice.flight = slice.flight.max(90_000)), (true, true), "SACK");
        assert_eq!(of(|_, slice| slice.sent = slice.sent.max(5000)), (false, false), "it sends on each ACK");
        // A sender that paces in part seems to have nothing to send now and then.
        let paces = facts(AT_SENDER, |n, slice| slice.unprompted = if n % 4 == 3 { 10 } else { 0 });
        assert_eq!(limit(&paces, Phase::Drained), Limit::SendBuffer);
    }

    #[test]
    fn a_smaller_cwnd_a_full_window_and_a_program_with_a_clock_make_a_sender_silent_too() {
        let of = |change: fn(usize, &mut Slice)| is_silent(&facts(AT_SENDER, change), SILENT);
        assert!(of(|_, _| {}));
        let few = |_: usize, slice: &mut Slice| {
            slice.delivered = slice.delivered.min(1000);
            slice.flight = slice.flight.max(95_000);
        };
        assert!(!of(few), "a host that waits for a few more ACKs");
        assert!(!of(|_, slice| slice.window = 100_000));
        assert!(!of(|n, slice| slice.resent = u16::from(n == SILENT - 4)));
        assert!(!of(|n, slice| slice.marks = u16::from(n == SILENT - 8)));
        assert!(!of(|n, slice| slice.unprompted = u16::from(n == BURST)));
        assert!(!of(|n, slice| slice.paced = if n == BURST { 30 } else { 0 }));
        let smaller = |n: usize, slice: &mut Slice| {
            if n >= BURST {
                (slice.flight, slice.sent) = (40_000, 9000);
            }
        };
        assert!(!of(smaller));
    }

    #[test]
    fn the_other_side_sends_too_where_a_protocol_with_its_own_window_makes_it_silent() {
        let facts = facts(AT_SENDER, |_, slice| slice.answers = 1);
        assert_eq!(limit(&facts, Phase::Sending), Limit::ApplicationWindow);
    }

    #[test]
    fn away_from_the_sender_it_was_silent_if_what_came_then_had_not_waited() {
        let of = |change: fn(usize, &mut Slice), phase| {
            let mut facts = facts(AT_RECEIVER, change);
            facts.path.now.iter_mut().for_each(|now| (now.full, now.many) = (true, true));
            facts.filled_by = vec![Limit::Bottleneck; 30];
            limit(&facts, phase)
        };
        let plain = |_: usize, _: &mut Slice| {};
        for phase in [Phase::Sending, Phase::RestKept, Phase::RestHeld, Phase::ShortHeld, Phase::Drained] {
            assert_eq!(of(plain, phase), Limit::SendBuffer);
        }
        let waited = |n: usize, slice: &mut Slice| {
            if n == BURST {
                slice.behind = 70_000_001;
            }
        };
        assert_eq!(of(waited, Phase::Sending), Limit::Bottleneck, "the path stopped");
        assert_eq!(of(|_, slice| slice.behind = 0, Phase::Sending), Limit::Bottleneck, "it does not show");
        let short = |_: usize, slice: &mut Slice| slice.short = slice.segments / 8;
        assert_eq!(of(short, Phase::Sending), Limit::Bottleneck, "what a program has written");
    }
}
