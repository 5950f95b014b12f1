//! The sender has data and the windows have space: `slow-start`, `congestion-window`, `send-buffer`,
//! `application-window`, and windows that a paced sender fills.

use super::buffer::cap::is_at_cap;
use super::even_rate::is_written_evenly;
use super::window::window_full;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::sender::meter::Slice;
use netspurt_budget::Limit;

/// A flight that is larger by this factor after a round trip grows.
const GROWTH: f64 = 1.2;
/// So many round trips of constant flight show a fixed limit (T-RAT, Zhang et al. 2002).
const FLAT_ROUNDS: u64 = 4;

/// One of so many segments or more is short where a sender has more data.
const FEW_SHORT: u32 = 24;

/// A flight of fewer segments is constant by chance.
pub(super) const MUCH: u32 = 12;

/// In so many round trips on each side a window that opens grows.
pub(super) const CAPPED_ROUNDS: u64 = 8;

/// Away from the sender, a flight is known up to this share of it: ACKs wait in queues, and their timestamps have a unit.
const KNOWN: u32 = 16;

/// A buffer that is refilled in large pieces is full once in so many round trips.
const FALL_ROUNDS: u64 = 2;

/// After a loss it takes more of them, because some windows stay where they are for a while.
const LONG_FLAT_ROUNDS: u64 = 12;

/// What limits a sender that seems to send whenever an ACK arrives. An application that writes at an even rate seems to do so by chance.
pub(super) fn in_between(facts: &Facts, index: usize) -> Limit {
    let limit = on_acks(facts, index);
    let by_sender = matches!(
        limit,
        Limit::SlowStart | Limit::CongestionWindow | Limit::SendBuffer | Limit::ApplicationWindow
    );
    if by_sender && is_written_evenly(facts, index) { Limit::Application } else { limit }
}

/// What limits a sender that sends whenever an ACK arrives.
fn on_acks(facts: &Facts, index: usize) -> Limit {
    if fills_window(facts, index) && is_flat(facts, index, FLAT_ROUNDS, 1) {
        return window_full(facts, index);
    }
    if facts.lost_before(index) {
        // A receive window needs no cap: it shows itself.
        if is_at_cap(facts, index) && !caps_at_window(facts, index) {
            return buffer_or_writer(facts, index);
        }
        // A window grows after a loss; a buffer does not.
        return if is_fixed_after_loss(facts, index) {
            capped_by(facts, index)
        } else {
            Limit::CongestionWindow
        };
    }
    if has_filled_window(facts, index) {
        return window_full(facts, index);
    }
    let varies = is_growing(facts, index) || !stays(facts, index);
    if varies && !is_capped(facts, index) && !was_as_large(facts, index) {
        return Limit::SlowStart;
    }
    if (varies || !facts.path.beside_sender) && caps_at_window(facts, index) {
        return window_full(facts, index);
    }
    if let Some(limit) = written_at_own_rate(facts, index) {
        return limit;
    }
    if has_credits(facts, index) { Limit::ApplicationWindow } else { buffer_or_writer(facts, index) }
}

/// A full buffer holds more than a segment, and the sender's segments are full. A short one shows that everything written was sent.
/// Beside the sender, the times show it better.
fn buffer_or_writer(facts: &Facts, index: usize) -> Limit {
    let (first, last) = facts.around(index, FLAT_ROUNDS);
    let sent_all = !facts.path.beside_sender && !has_more(&facts.slices[first..=last]);
    if sent_all { Limit::Application } else { Limit::SendBuffer }
}

/// Whether the flight does not change for long, or falls and is as large as before again and again, without a loss meanwhile.
///
/// In so many round trips, a window that opens after a loss grows by more than a segment. And as long as it is what limits the sender,
/// each ACK lets new data go: the flight falls where a buffer is refilled in large pieces.
fn is_fixed_after_loss(facts: &Facts, index: usize) -> bool {
    if is_flat(facts, index, LONG_FLAT_ROUNDS, 1) {
        return true;
    }
    let (first, last) = facts.around(index, LONG_FLAT_ROUNDS);
    let near = &facts.slices[first..=last];
    near.iter().all(|slice| slice.resent == 0 && slice.lost == 0)
        && has_more(near)
        && facts.flight[index] >= MUCH * facts.totals.segment
        && falls(facts, index)
        && comes_back(facts, index, LONG_FLAT_ROUNDS, 1)
}

/// Whether an ACK came when much less than usual was outstanding, within a round trip or two.
fn falls(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, FALL_ROUNDS);
    let most = facts.flight[first..=last].iter().copied().max().unwrap_or(0);
    let falls = |slice: &Slice| slice.acks > 0 && u64::from(slice.flight) * 4 < u64::from(most) * 3;
    facts.slices[first..=last].iter().any(falls)
}

/// What permits a flight that does not change: a buffer, or the receive window if the flight may be as large as it.
fn capped_by(facts: &Facts, index: usize) -> Limit {
    let window = !facts.path.beside_sender && caps_at_window(facts, index);
    if window { window_full(facts, index) } else { buffer_or_writer(facts, index) }
}

/// Whether the sender has more data than a fixed limit permits, though some ACKs did not make it send: it paces, or its buffer is
/// refilled in large pieces. All its segments are full and follow ACKs.
pub(super) fn refills(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, CAPPED_ROUNDS);
    let more = |slice: &Slice| slice.short == 0 && slice.unprompted == 0;
    facts.slices[first..=last].iter().all(more) && is_capped(facts, index)
}

/// Whether the flight reached the receive window within the last round trip: a sender that paces fills it later than ACKs
/// arrive.
pub(super) fn fills_window(facts: &Facts, index: usize) -> bool {
    facts.flight[index].saturating_add(facts.totals.segment) > facts.slices[index].window
}

/// Whether the flight has filled a window as large as this one before, away from the sender, and nothing was lost since: cwnd permits
/// that much from then on, and so does the send buffer. A path that holds packets makes the flight seem smaller there.
pub(super) fn has_filled_window(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, CAPPED_ROUNDS);
    !facts.path.beside_sender
        && !facts.lost_before(index)
        && facts.filled.get(index).is_some_and(|&filled| facts.slices[index].window <= filled)
        && has_more(&facts.slices[first..=last])
}

/// The largest window that was filled up to each slice; 0 after a short segment, which shows an application that has written less.
pub(super) fn filled_windows(facts: &Facts) -> Vec<u32> {
    let fills = |(slice, &flight): (&Slice, &u32)| {
        let full = flight.saturating_add(facts.totals.segment) > slice.window;
        (slice.short == 0).then_some(if full { slice.window } else { 0 })
    };
    let each = facts.slices.iter().zip(&facts.flight).map(fills);
    each.scan(Some(0), |most, filled| {
        *most = most.zip(filled).map(|(most, filled)| filled.max(most));
        Some(most.unwrap_or(0))
    })
    .collect()
}

/// Where a sender paces: the latest slice in which the receive window was full, within a few round trips, if it soon is full again.
pub(super) fn paced_into_window(facts: &Facts, index: usize) -> Option<usize> {
    let (before, after) = facts.around(index, 1);
    if facts.slices[before..=after].iter().all(|slice| slice.paced == 0) {
        return None;
    }
    let full = |&index: &usize| {
        let slice = &facts.slices[index];
        let flight = slice.flight.max(slice.outstanding);
        slice.window > 0 && flight.saturating_add(facts.totals.segment) > slice.window
    };
    let (first, last) = facts.around(index, FLAT_ROUNDS);
    let again = (index..=last).any(|index| full(&index));
    (first..=index).rev().find(full).filter(|_| again)
}

fn is_growing(facts: &Facts, index: usize) -> bool {
    let round = facts.path.base;
    let here = f64::from(facts.flight[index]);
    let until = facts.slices[index].until;
    let later = f64::from(facts.flight[facts.index_at(until + round)]);
    let earlier = f64::from(facts.flight[facts.index_at(until.saturating_sub(round))]);
    later > here * GROWTH || here > earlier * GROWTH && earlier > 0.0
}

/// Whether the flight was as large as here more than two round trips ago, and never empty since: a window that opens was smaller
/// then. A sender that paces by a model of the path lets its flight fall and rise again.
fn was_as_large(facts: &Facts, index: usize) -> bool {
    let (first, _) = facts.around(index, LONG_FLAT_ROUNDS);
    let (recent, _) = facts.around(index, FALL_ROUNDS);
    let here = facts.flight[index];
    here >= MUCH * facts.totals.segment
        && (first..index).all(|at| facts.flight[at] > 0)
        && (first..recent).any(|at| facts.flight[at] >= here)
}

/// Whether the flight changed by at most this many segments for `rounds` round trips before and after this slice.
fn is_flat(facts: &Facts, index: usize, rounds: u64, segments: u32) -> bool {
    is_constant(facts, facts.around(index, rounds), rounds, segments)
}

/// Whether the flight changed by at most this many segments between these slices, for `rounds` round trips or more.
fn is_constant(facts: &Facts, (first, last): (usize, usize), rounds: u64, segments: u32) -> bool {
    let flights = &facts.flight[first..=last];
    let (least, most) = flights.iter().fold((u32::MAX, 0), |(l, m), &f| (l.min(f), m.max(f)));
    let long = facts.slices[last].until - facts.began(first) >= facts.path.base * rounds;
    long && most - least <= segments * facts.totals.segment
}

/// Whether the flight is constant around this slice, or before or after it: a window that opens does not stay for so long. Behind
/// a queue, round trips are longer than that of the empty path.
fn stays(facts: &Facts, index: usize) -> bool {
    let round = facts.path.base.max(1);
    let rounds = FLAT_ROUNDS * ((facts.path.now[index].rtt + round / 2) / round).max(1);
    let (first, last) = facts.around(index, rounds + 1);
    let sides = [(first, index), (index, last)];
    let much = facts.flight[index] >= MUCH * facts.totals.segment;
    let segments = 3.max(unknown(facts, index));
    is_flat(facts, index, FLAT_ROUNDS, segments)
        || much && sides.into_iter().any(|side| is_constant(facts, side, rounds, segments))
}

/// Whether the largest flight of the round trips before this slice is that of the ones after it: a buffer that is refilled in
/// large pieces is not always full. A window that opens would have grown.
fn is_capped(facts: &Facts, index: usize) -> bool {
    comes_back(facts, index, CAPPED_ROUNDS, 1.max(unknown(facts, index)))
}

/// Whether the largest flights of so many round trips before and after this slice differ by no more than so many segments.
fn comes_back(facts: &Facts, index: usize, rounds: u64, segments: u32) -> bool {
    let (first, last) = facts.around(index, rounds);
    let most = |first: usize, last: usize| facts.flight[first..=last].iter().copied().max().unwrap_or(0);
    let (before, after) = (most(first, index), most(index, last));
    let least = facts.path.base * rounds / 2;
    let middle = facts.slices[index].until;
    let long = middle - facts.began(first) >= least && facts.slices[last].until - middle >= least;
    // A writer of equal blocks at intervals has nothing outstanding between them.
    let always = facts.flight[first..=last].iter().all(|&flight| flight > 0);
    // Away from the sender, a pause may be one in which its application had nothing to send.
    let always = always && (facts.path.beside_sender || has_more(&facts.slices[first..=last]));
    long && always && before.abs_diff(after) <= segments * facts.totals.segment
}

/// The segments by which the flight may be wrong, where all its segments are full: else an application may have written less.
fn unknown(facts: &Facts, index: usize) -> u32 {
    if facts.path.beside_sender { 0 } else { facts.flight[index] / KNOWN / facts.totals.segment.max(1) }
}

/// Whether hardly any of these segments is short: their sender has more data.
pub(super) fn has_more(slices: &[Slice]) -> bool {
    let sum = |count: fn(&Slice) -> u16| slices.iter().map(|slice| u32::from(count(slice))).sum::<u32>();
    sum(|slice| slice.short) * FEW_SHORT <= sum(|slice| slice.segments)
}

/// Whether the receive window is what the flight is capped at, as far as the flight is known.
fn caps_at_window(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, CAPPED_ROUNDS);
    let most = facts.flight[first..=last].iter().copied().max().unwrap_or(0);
    most + 2.max(unknown(facts, index)) * facts.totals.segment > facts.slices[index].window
}

/// A writer that waits for room in a buffer sends on ACKs. One with its own rate sends between them, and on one only by chance,
/// or because a short rest waited for it.
fn written_at_own_rate(facts: &Facts, index: usize) -> Option<Limit> {
    if !facts.path.beside_sender {
        return None;
    }
    let (first, last) = facts.around(index, FLAT_ROUNDS);
    let (mut segments, mut unprompted) = (0, 0);
    for slice in &facts.slices[first..=last] {
        segments += u32::from(slice.segments);
        unprompted += u32::from(slice.unprompted);
    }
    let own = unprompted * 4 > segments;
    own.then_some(Limit::Application)
}

/// Whether the other side sends data about once a round trip or more, as a protocol with its own windows does.
pub(super) fn has_credits(facts: &Facts, index: usize) -> bool {
    let (first, last) = facts.around(index, FLAT_ROUNDS);
    let answers: u32 = facts.slices[first..=last].iter().map(|slice| u32::from(slice.answers)).sum();
    let rounds = (facts.slices[last].until - facts.began(first)) / facts.path.base.max(1);
    u64::from(answers) * 2 >= rounds.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::totals::Totals;

    /// Slices of 10 ms on a path of 40 ms with these flights in segments, one after the other again and again, seen at the
    /// sender.
    fn facts(flights: &[u32], change: impl Fn(u64, &mut Slice)) -> Facts {
        facts_at((0, 40_000_000), flights, change)
    }

    fn facts_at(parts: (u64, u64), flights: &[u32], change: impl Fn(u64, &mut Slice)) -> Facts {
        let slice = |n: u64| {
            let flight = flights[n as usize % flights.len()] * 1000;
            let mut slice = Slice {
                until: (n + 1) * 10_000_000,
                flight,
                window: 900_000,
                segments: 4,
                ..Slice::default()
            };
            change(n, &mut slice);
            slice
        };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        Facts::new((0..120).map(slice).collect(), parts, totals, [&none, &none], Default::default())
    }

    #[test]
    fn a_flight_that_varies_below_one_limit_shows_a_buffer_and_one_that_grows_an_open_window() {
        // A buffer of 22 segments that is refilled with 11 at a time: some round trips have 11 only.
        let refilled = facts(&[11, 11, 11, 11, 11, 11, 22, 22, 22, 22], |_, _| {});
        assert_eq!(in_between(&refilled, 60), Limit::SendBuffer);
        let grows = facts(&[11], |n, slice| slice.flight = 1000 * (n as u32 + 1));
        assert_eq!(in_between(&grows, 60), Limit::SlowStart);
    }

    #[test]
    fn a_flight_that_falls_and_rises_to_an_earlier_size_is_not_slow_start() {
        let of = |least: u32| {
            let falls = facts(&[100], |n, slice| {
                if n < 50 {
                    slice.flight = 2500 * (n as u32 + 1);
                } else if (50..70).contains(&n) {
                    slice.flight = 1000 * (least + 5 * (n as u32).saturating_sub(60));
                }
            });
            [30, 64].map(|index| in_between(&falls, index))
        };
        assert_eq!(of(50), [Limit::SlowStart, Limit::SendBuffer]);
        assert_eq!(of(0), [Limit::SlowStart; 2], "a pause, behind which cwnd opens again");
    }

    const REFILLED: [u32; 10] = [11, 11, 11, 11, 11, 11, 22, 22, 22, 22];
    const AT_RECEIVER: (u64, u64) = (40_000_000, 0);

    #[test]
    fn a_flight_that_has_grown_and_then_stays_is_limited_from_the_begin_of_that() {
        let grown = |before, after| {
            let step = facts(&[11], |n, slice| slice.flight = if n < 8 { before } else { after });
            [in_between(&step, 6), in_between(&step, 13)]
        };
        assert_eq!(grown(30_000, 50_000), [Limit::SlowStart, Limit::SendBuffer]);
        assert_eq!(grown(5000, 9000), [Limit::SlowStart; 2], "few segments stay by chance");
    }

    #[test]
    fn away_from_the_sender_a_limit_that_does_not_change_shows_where_segments_are_full() {
        let of = |change: fn(u64, &mut Slice)| in_between(&facts_at(AT_RECEIVER, &REFILLED, change), 60);
        assert_eq!(of(|_, _| {}), Limit::SendBuffer);
        assert_eq!(of(|n, slice| slice.short = u16::from(n.is_multiple_of(4))), Limit::Application);
        assert_eq!(of(|_, slice| slice.window = 23_000), Limit::ReceiveWindow);
    }

    #[test]
    fn away_from_the_sender_a_window_that_was_filled_once_limits_also_while_less_seems_to_be_in_flight() {
        let of = |parts, first_loss, change: fn(u64, &mut Slice)| {
            let mut facts = facts_at(parts, &[5], |n, slice| {
                slice.window = 20_000;
                slice.flight = if n == 20 { 20_000 } else { 5000 };
                change(n, slice);
            });
            facts.totals.first_loss = first_loss;
            facts.filled = filled_windows(&facts);
            [10, 60].map(|index| in_between(&facts, index) == Limit::ReceiveWindow)
        };
        let never = [false; 2];
        assert_eq!(of(AT_RECEIVER, None, |_, _| {}), [false, true]);
        assert_eq!(of((0, 40_000_000), None, |_, _| {}), never, "there the flight is exact");
        assert_eq!(of(AT_RECEIVER, None, |n, slice| slice.short = u16::from(n == 3)), never);
        assert_eq!(of(AT_RECEIVER, None, |n, slice| slice.window += n as u32 * 1000), never, "it grows");
        assert_eq!(of(AT_RECEIVER, Some(0), |_, _| {}), never, "a loss may have made cwnd smaller");
    }

    #[test]
    fn away_from_the_sender_a_flight_that_varies_little_is_limited_by_a_buffer() {
        let varies = |n: u64, slice: &mut Slice| slice.flight = 1000 * (100 + n as u32 / 5);
        assert_eq!(in_between(&facts_at(AT_RECEIVER, &[100], varies), 60), Limit::SendBuffer);
        assert_eq!(in_between(&facts(&[100], varies), 60), Limit::SlowStart, "there it is exact");
    }

    #[test]
    fn a_flight_that_may_be_as_large_as_the_window_is_limited_by_it_away_from_the_sender() {
        let at = |parts: (u64, u64), window: u32, lost: bool| {
            let mut facts = facts_at(parts, &[100], |_, slice| slice.window = window);
            facts.totals.first_loss = lost.then_some(0);
            in_between(&facts, 60)
        };
        for lost in [false, true] {
            assert_eq!(at(AT_RECEIVER, 105_000, lost), Limit::ReceiveWindow);
            assert_eq!(at(AT_RECEIVER, 110_000, lost), Limit::SendBuffer);
            assert_eq!(at((0, 40_000_000), 105_000, lost), Limit::SendBuffer, "there it is exact");
        }
    }

    #[test]
    fn after_a_loss_a_flight_that_falls_and_comes_back_again_and_again_is_limited_by_a_buffer() {
        let of = |flights: &[u32], change: fn(u64, &mut Slice)| {
            let mut facts = facts(flights, |n, slice| {
                slice.acks = 1;
                change(n, slice);
            });
            facts.totals.first_loss = Some(0);
            in_between(&facts, 60)
        };
        const LARGE: [u32; 10] = [20, 20, 20, 20, 20, 20, 40, 40, 40, 40];
        assert_eq!(of(&LARGE, |_, _| {}), Limit::SendBuffer);
        let window = Limit::CongestionWindow;
        assert_eq!(
            of(&LARGE, |n, slice| slice.resent = u16::from(n == 30)),
            window,
            "it has lost a part of it"
        );
        assert_eq!(of(&LARGE, |n, slice| slice.flight += 1000 * n as u32 / 20), window, "it grows");
        assert_eq!(
            of(&[37, 37, 37, 37, 37, 37, 40, 40, 40, 40], |_, _| {}),
            window,
            "no ACK finds less outstanding"
        );
        assert_eq!(
            of(&REFILLED.map(|flight| flight / 2), |_, _| {}),
            window,
            "few segments come back by chance"
        );
        assert_eq!(of(&LARGE, |_, slice| slice.short = 1), window, "an application that ends its blocks");
    }

    #[test]
    fn after_a_loss_a_flight_at_the_cap_is_limited_by_a_buffer() {
        let of = |cap: u32, window| {
            let flights: Vec<u32> = (10..30).collect();
            let mut facts = facts(&flights, |_, slice| slice.window = window);
            facts.totals.first_loss = Some(0);
            facts.cap = Some(cap);
            in_between(&facts, 79)
        };
        assert_eq!(of(29_000, 900_000), Limit::SendBuffer);
        assert_eq!(of(31_000, 900_000), Limit::CongestionWindow, "it grows up to the cap");
        assert_eq!(of(29_000, 30_500), Limit::CongestionWindow, "the receive window permits no more");
    }

    #[test]
    fn a_window_that_is_full_before_and_after_a_pace_is_what_the_pace_follows() {
        // Full once in 80 ms, on a path of 40 ms.
        let of = |until: u64, paced: u16| {
            let facts = facts(&[4, 8, 12, 16, 20, 20, 20, 20], |n, slice| {
                slice.window = if n < until { 20_500 } else { 60_000 };
                slice.paced = paced;
            });
            paced_into_window(&facts, 50)
        };
        assert_eq!(of(120, 1), Some(47));
        assert_eq!(of(50, 1), None, "it is not full again");
        assert_eq!(of(0, 1), None);
        assert_eq!(of(120, 0), None, "an application that writes less often");
    }

    #[test]
    fn a_sender_with_more_data_fills_its_buffer_with_full_segments_on_acks() {
        let of = |change: fn(u64, &mut Slice)| refills(&facts_at(AT_RECEIVER, &REFILLED, change), 60);
        assert!(of(|_, _| {}));
        assert!(!of(|_, slice| slice.unprompted = 1), "a writer at its own rate");
        assert!(!of(|_, slice| slice.short = 1), "an application that ends its blocks");
    }
}
