//! Links that others have mostly, as the times between segments show behind them.
//!
//! While a link transmits without a pause, and packets of full size, the segments of one connection come at multiples of the time that the
//! link needs for one: others have sent the packets between them. After a pause of the link, a segment comes at any time. A sender that
//! waits for ACKs repeats the times of the round trip before, so a pause of its own comes once in a round trip.

use crate::diagnosis::median::median;
use crate::diagnosis::path::busy::BUSIER;
use crate::diagnosis::sender::meter::{Since, Slice};

/// A time is a multiple of another one if it differs by less than this share of it, and if it is so many of them at most.
const SAME: u64 = 50;
const MOST: u64 = 128;
/// So many multiples in a row show something, if they last for longer than this share of a round trip.
const LEAST: u32 = 6;
const LASTS: (u64, u64) = (5, 4);
/// Round trips on each side over which the packets of others are counted.
const ROUNDS: u64 = 4;
/// Without pauses, so many times in four are multiples, and so many of them show that.
const MOSTLY: u32 = 3;
const SURE: u32 = 12;
const EVEN: u32 = 32;
/// So many equal round trips show that it is always the same.
const FEW: usize = 4;

/// The times between segments of full size.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::diagnosis) struct Spacing {
    /// The most bytes in a segment.
    longest: u32,
    /// The sum of times between two such segments that are multiples of the least one, in nanoseconds, and how many of the least one.
    sum: (u64, u64),
    /// When the last segment came, if it was one of full size.
    latest: Option<u64>,
    /// The time before the last segment.
    apart: u64,
    longer: Longer,
    /// Times of less than two of the least one: all, and those that are the least one.
    shorter: (u32, u32),
}

/// Longer times than the least one: all, multiples of it, and those that differ from the multiple before by two or more.
#[derive(Clone, Copy, Debug, Default)]
struct Longer {
    all: u32,
    multiples: u32,
    varied: u32,
    latest: u64,
}

impl Spacing {
    /// A segment of `len` bytes comes. Returns what the link has done since the last one.
    pub(in crate::diagnosis) fn note(&mut self, at: u64, len: u32) -> Since {
        if len > self.longest {
            *self = Self { longest: len, ..Self::default() };
        }
        let full = len == self.longest;
        let Some(latest) = core::mem::replace(&mut self.latest, full.then_some(at)).filter(|_| full) else {
            return Since::Unknown;
        };
        let apart = at.saturating_sub(latest);
        let least = self.least();
        if least == 0 || apart + least / SAME < least {
            (self.sum, self.longer, self.shorter) = ((apart, 1), Longer::default(), (0, 0));
            return Since::Unknown;
        }
        let times = (apart + least / 2) / least;
        let off = |time: u64| apart.abs_diff(time) * SAME > least;
        let between = off(times * least);
        let multiple = times <= MOST && !between;
        // Tokens come at one rate, whatever the link needs.
        let even = !off(core::mem::replace(&mut self.apart, apart));
        let paused = between && !even;
        if multiple {
            self.sum = (self.sum.0 + apart, self.sum.1 + times);
        }
        if apart < 2 * least - least / SAME {
            self.shorter = (self.shorter.0 + 1, self.shorter.1 + u32::from(multiple));
        }
        if times > 1 {
            self.longer.note(multiple.then_some(times));
        }
        match multiple {
            true => Since::Others(times as u16 - 1),
            false if paused => Since::Pause(apart - least.min(apart)),
            false => Since::Unknown,
        }
    }

    /// The least time between segments, as a mean: that of many is more exact than one of them.
    fn least(&self) -> u64 {
        self.sum.0 / self.sum.1.max(1)
    }

    /// Whether segments that follow each other come at even times: behind their queue, nothing delays single ones.
    pub(in crate::diagnosis) const fn is_even(&self) -> bool {
        let (all, even) = self.shorter;
        even >= EVEN && even * 10 >= all * 9
    }

    /// The time in nanoseconds that a link which others use needs for a segment; `None` if the segments have passed no such link, as far
    /// as that shows. An even sender, or a window of one size, repeats the same times.
    pub(in crate::diagnosis) fn shared_link(&self) -> Option<u64> {
        let Longer { all, multiples, varied, .. } = self.longer;
        let shared = multiples >= SURE && multiples * 4 >= all * MOSTLY && varied * 4 >= multiples;
        shared.then(|| self.least())
    }
}

impl Longer {
    /// A longer time: so many times the least one, if it is a multiple of it.
    fn note(&mut self, times: Option<u64>) {
        self.all += 1;
        if let Some(times) = times {
            self.multiples += 1;
            self.varied += u32::from(times.abs_diff(self.latest) > 1);
            self.latest = times;
        }
    }
}

/// For each slice: whether its link has transmitted all the time, for longer than a round trip, and mostly packets of others. The link
/// needs `serial` nanoseconds for a segment.
///
/// Packets of others change the round trip by multiples of that. If it is always the same, it is a multiple by chance, and segments that
/// ACKs release come at multiples without anybody else.
pub(super) fn of_others(slices: &[Slice], round: u64, serial: u64) -> Vec<bool> {
    let mut of_others = vec![false; slices.len()];
    let mut note = |(first, last): (usize, usize), count: u32| {
        let lasts = slices[last].until - slices[first].until;
        let long = count >= LEAST && lasts > round * LASTS.0 / LASTS.1;
        if long && !is_one_trip(&slices[first..=last], serial) {
            mostly_others(&slices[first..=last], round, &mut of_others[first..=last]);
        }
    };
    let (mut run, mut count) = ((0, 0), 0);
    for (index, slice) in slices.iter().enumerate() {
        if slice.apart > 0 {
            note(run, count);
            (run, count) = ((index, index), 0);
        }
        if slice.together > 0 {
            (run.1, count) = (index, count + u32::from(slice.together));
        }
    }
    if !slices.is_empty() {
        note(run, count);
    }
    of_others
}

/// For each slice: whether the link had pauses for more of the round trip before its end than a full one has.
pub(super) fn had_pauses(slices: &[Slice], round: u64) -> Vec<bool> {
    let pauses: Vec<(u64, u64)> = slices
        .iter()
        .filter(|slice| slice.paused > 0)
        .map(|slice| (slice.until.saturating_sub(u64::from(slice.paused)), slice.until))
        .collect();
    let had = |slice: &Slice| {
        let (from, until) = (slice.until.saturating_sub(round), slice.until);
        let first = pauses.partition_point(|pause| pause.1 <= from);
        let near = pauses[first..].iter().take_while(|pause| pause.1 < until + 2 * round);
        let within: u64 = near.map(|pause| pause.1.min(until).saturating_sub(pause.0.max(from))).sum();
        within as f64 > round as f64 * (1.0 - BUSIER)
    };
    slices.iter().map(had).collect()
}

/// Whether most round trips to the sender are the same.
fn is_one_trip(slices: &[Slice], serial: u64) -> bool {
    let trips = || slices.iter().map(|slice| u64::from(slice.behind)).filter(|&trip| trip > 0);
    let middle = median(trips());
    let same = trips().filter(|trip| trip.abs_diff(middle) * 2 < serial).count();
    same >= FEW && same * 2 > trips().count()
}

/// Finds the slices around which others have sent more packets than this connection.
fn mostly_others(slices: &[Slice], round: u64, found: &mut [bool]) {
    let (mut first, mut last, mut own, mut others) = (0, 0, 0, 0);
    for (index, found) in found.iter_mut().enumerate() {
        let until = slices[index].until;
        while slices.get(last).is_some_and(|slice| slice.until <= until + ROUNDS * round) {
            own += u64::from(slices[last].together);
            others += u64::from(slices[last].between);
            last += 1;
        }
        while slices[first].until + ROUNDS * round < until {
            own -= u64::from(slices[first].together);
            others -= u64::from(slices[first].between);
            first += 1;
        }
        *found = others > own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link of segments that come after these times in microseconds, again and again.
    fn link(apart: &[u64]) -> Option<u64> {
        let (mut spacing, mut at) = (Spacing::default(), 0);
        for n in 0..100 {
            at += apart[n % apart.len()] * 1000;
            spacing.note(at, 1000);
        }
        spacing.shared_link()
    }

    #[test]
    fn segments_at_uneven_multiples_of_one_time_have_passed_a_link_that_others_use() {
        assert_eq!(link(&[1000, 3000, 9000, 4000, 1000, 7000]), Some(1_000_000));
        assert_eq!(link(&[1000, 3001, 9000, 3999, 1000, 7000]), Some(1_000_000), "a clock has a unit");
        assert_eq!(link(&[1000, 3300, 9700, 4400, 1000, 7600]), None, "it has pauses");
        assert_eq!(link(&[1000, 1000, 1000, 40_000]), None, "a window of one size");
        assert_eq!(link(&[5000]), None, "an even sender");
    }

    #[test]
    fn a_link_had_a_pause_before_a_segment_that_comes_at_another_time_unless_tokens_make_it() {
        let since = |apart: [u64; 5]| {
            let (mut spacing, mut at) = (Spacing::default(), 0);
            spacing.note(at, 1000);
            apart.map(|us| {
                at += us * 1000;
                spacing.note(at, 1000)
            })
        };
        let [unknown, own, pause] = [Since::Unknown, Since::Others(0), Since::Pause(2_400_000)];
        assert_eq!(since([1000, 1000, 1000, 3400, 1000]), [unknown, own, own, pause, own]);
        assert_eq!(since([1000, 1000, 3400, 3400, 3400]), [unknown, own, pause, unknown, unknown]);
    }

    #[test]
    fn a_pause_of_the_link_counts_for_a_round_trip_if_it_is_not_short() {
        let during = |ms: u32| -> Vec<usize> {
            let paused = |n| if n == 20 { ms * 1_000_000 } else { 0 };
            let slice =
                |n: u32| Slice { until: u64::from(n) * 10_000_000, paused: paused(n), ..Slice::default() };
            let had = had_pauses(&(1..=40).map(slice).collect::<Vec<_>>(), 40_000_000);
            (0..40).filter(|&index| had[index]).collect()
        };
        assert_eq!(during(15), [18, 19, 20, 21, 22]);
        assert!(during(1).is_empty(), "a full path may have that");
    }

    #[test]
    fn segments_that_follow_each_other_come_at_even_times_unless_the_path_delays_single_ones() {
        let is_even = |later: fn(u64) -> u64| {
            let mut spacing = Spacing::default();
            for n in 0..200 {
                spacing.note(n * 1_000_000 + n / 20 * 30_000_000 + later(n) * 1000, 1000);
            }
            spacing.is_even()
        };
        assert!(is_even(|_| 0), "bursts of 20, with pauses between them");
        assert!(!is_even(|n| n * n * 7 % 5 * 150));
    }

    #[test]
    fn a_segment_that_is_shorter_shows_nothing_of_the_link() {
        let mut spacing = Spacing::default();
        let others: Vec<_> = [(0, 1000), (1, 1000), (4, 1000), (5, 300), (7, 1000), (9, 1000)]
            .map(|(ms, len)| spacing.note(ms * 1_000_000, len))
            .to_vec();
        let [unknown, two, one] = [Since::Unknown, Since::Others(2), Since::Others(1)];
        assert_eq!(others, [unknown, unknown, two, unknown, unknown, one]);
    }

    /// Whether others have the link of 40 slices of 10 ms, on a path of 40 ms and a link that needs 1 ms for a segment.
    fn found(change: impl Fn(u64, &mut Slice)) -> Vec<bool> {
        let slice = |n: u64| {
            let mut slice = Slice {
                until: n * 10_000_000,
                segments: 2,
                together: 2,
                between: 8,
                behind: 40_000_000 + n as u32 % 5 * 3_000_000,
                ..Slice::default()
            };
            change(n, &mut slice);
            slice
        };
        of_others(&(1..=40).map(slice).collect::<Vec<_>>(), 40_000_000, 1_000_000)
    }

    #[test]
    fn others_have_a_link_that_transmits_for_longer_than_a_round_trip_and_mostly_their_packets() {
        assert!(found(|_, _| {}).into_iter().all(|others| others));
        let none = |change: fn(u64, &mut Slice)| found(change).into_iter().all(|others| !others);
        assert!(none(|_, slice| slice.between = 1), "it transmits mostly ours");
        assert!(none(|n, slice| slice.apart = u16::from(n % 4 == 0)), "a pause in each round trip");
        assert!(none(|_, slice| slice.behind = 40_000_000), "no queue changes the round trip");
    }

    #[test]
    fn what_others_have_after_a_pause_is_counted_from_there() {
        let found = found(|n, slice| {
            slice.apart = u16::from(n == 20);
            slice.between = if n < 20 { 0 } else { 8 };
        });
        assert!(found[..19].iter().all(|others| !others) && found[19..].iter().all(|&others| others));
    }
}
