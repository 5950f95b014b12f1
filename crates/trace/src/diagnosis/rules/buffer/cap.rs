//! The largest flight of a connection, if it is the same again and again between losses: a buffer permits no more (`send-buffer`).

use crate::diagnosis::facts::Facts;
use std::collections::BTreeMap;

/// Of the time after the first loss, the flight is the largest one, on a path that is not full, for this share, and for what a window of
/// so many segments would have by chance; it is larger for this share at most.
const USUAL: f64 = 0.35;
const BY_CHANCE: f64 = 1.5;
const LARGER: f64 = 0.12;

/// The flight in bytes at which the sender mostly is after losses, if it is hardly ever larger.
///
/// A window that opens after losses has each size for about the same time, and the largest one differs from loss to loss. A buffer
/// always permits the same.
pub(in crate::diagnosis::rules) fn cap_after_losses(facts: &Facts) -> Option<u32> {
    facts.totals.first_loss?;
    let segment = facts.totals.segment.max(1);
    let (mut times, mut all) = (BTreeMap::<u32, u64>::new(), 0);
    let after_loss = |&(index, &flight): &(usize, &u32)| flight > 0 && facts.lost_before(index);
    for (index, &flight) in facts.flight.iter().enumerate().filter(after_loss) {
        let lasted = facts.slices[index].until - facts.began(index);
        all += lasted;
        if !facts.path.now[index].is_full() {
            *times.entry((flight + segment / 2) / segment).or_default() += lasted;
        }
    }
    let (&cap, &time) = times.iter().max_by_key(|(_, time)| **time)?;
    let larger: u64 = times.range(cap + 2..).map(|(_, time)| time).sum();
    let share = |time: u64| time as f64 / all.max(1) as f64;
    let least = USUAL + BY_CHANCE / f64::from(cap.max(1));
    (share(time) >= least && share(larger) <= LARGER).then_some(cap * segment)
}

/// Whether the flight of this slice is the largest one, but for less than a segment.
pub(in crate::diagnosis::rules) fn is_at_cap(facts: &Facts, index: usize) -> bool {
    let segment = facts.totals.segment;
    facts.cap.is_some_and(|cap| facts.flight[index].abs_diff(cap) < segment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// The cap in segments of flights that repeat, in slices of a round trip each; the first is lost.
    fn cap_of(flights: &[u32], full: bool) -> Option<u32> {
        let slice = |n: u64| Slice {
            until: (n + 1) * 40_000_000,
            flight: flights[n as usize % flights.len()] * 1000,
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, first_loss: Some(0), ..Totals::default() };
        let none = Trains::default();
        let slices = (0..120).map(slice).collect();
        let mut facts = Facts::new(slices, (0, 1_000_000), totals, [&none, &none], Default::default());
        facts.path.now.iter_mut().for_each(|now| now.full = full);
        cap_after_losses(&facts).map(|cap| cap / 1000)
    }

    #[test]
    fn a_flight_that_is_mostly_the_largest_one_between_losses_is_capped() {
        let again = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20];
        assert_eq!(cap_of(&again, false), Some(20));
        assert_eq!(cap_of(&again, true), None, "the path is full");
        assert_eq!(cap_of(&again[..12], false), None, "a window that grows until a loss");
        let more = [&again[..], &[24, 28, 32]].concat();
        assert_eq!(cap_of(&more, false), None, "a larger one is permitted");
        assert_eq!(cap_of(&[2, 3], false), None, "few segments stay by chance");
    }
}
