//! How long what a policer dropped makes a sender slower.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::sender::phase::Phases;

/// From each loss until the flight is as large as before it, once the loss is repaired.
///
/// A flight that meets the policer again sooner than after the time that it needed was limited by it all the time.
pub(super) fn until_back(facts: &Facts, phases: &Phases) -> Vec<(u64, u64)> {
    let repairs: Vec<(u64, u64)> = phases
        .iter()
        .filter(|(_, stretch)| stretch.phase.is_repair())
        .map(|(from, stretch)| (from, stretch.until))
        .collect();
    // The repair in which a slice lies. One that begins with the last ACK of a repair still has the flight of the repair.
    let repair_of = |from: u64, until: u64| {
        let index = repairs.partition_point(|repair| repair.1 < from);
        repairs.get(index).filter(|repair| repair.0 < until).map(|repair| (index, repair.0))
    };
    // New data that is lost during a repair is sent again in the next one.
    let repairs_it = |from: u64, until: u64| {
        let index = match repair_of(from, until) {
            Some((index, began)) => index + usize::from(began <= from),
            None => repairs.partition_point(|repair| repair.1 < from),
        };
        index.min(repairs.len().saturating_sub(1))
    };
    let mut periods: Vec<(u64, u64)> = Vec::new();
    // The flight before the losses that count now, and the index of the repair of the last of them.
    let mut before: Option<(u32, usize)> = None;
    for (index, slice) in facts.slices.iter().enumerate() {
        let began = facts.began(index);
        let repairing = repair_of(began, slice.until).is_some();
        if slice.lost > 0 {
            match (before, periods.last_mut()) {
                (Some(_), _) => {}
                (None, Some(last)) if began - last.1 <= last.1 - last.0 => last.1 = u64::MAX,
                (None, _) => periods.push((began, u64::MAX)),
            }
            let most = before.map_or(0, |before| before.0);
            let most = if repairing { most } else { most.max(slice.flight) };
            before = Some((most, repairs_it(began, slice.until)));
        } else if let (Some((most, repair)), Some(last)) = (before, periods.last_mut())
            && repairs.get(repair).is_some_and(|repair| repair.1 < began)
            && !repairing
            && slice.flight >= most
        {
            last.1 = slice.until;
            before = None;
        }
    }
    periods
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::phase::Phase;

    /// When a policer counts: slices of 10 ms with these flights, in which losses fall and which are repaired later.
    fn periods(flights: &[u32], lost: &[usize], repairs: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let slice = |(index, &flight): (usize, &u32)| Slice {
            until: (index as u64 + 1) * 10,
            flight,
            lost: u16::from(lost.contains(&index)),
            ..Slice::default()
        };
        let slices = flights.iter().enumerate().map(slice).collect();
        let none = Trains::default();
        let facts = Facts::new(slices, (0, 20), Default::default(), [&none, &none], Default::default());
        let mut phases = Phases::default();
        for &(from, until) in repairs {
            phases.push(from, Phase::Sending);
            phases.push(until, Phase::FastRecovery);
        }
        phases.push(flights.len() as u64 * 10, Phase::Sending);
        until_back(&facts, &phases)
    }

    #[test]
    fn the_drops_count_until_the_flight_is_as_large_as_before_them() {
        // Lost in the third slice, repaired in the fifth; what is in flight during the repair does not count.
        let flights = [4, 6, 8, 8, 9, 4, 5, 6, 8, 9];
        assert_eq!(periods(&flights, &[2], &[(40, 50)]), [(20, 90)]);
        assert_eq!(periods(&flights[..8], &[2], &[(40, 50)]), [(20, u64::MAX)]);
    }

    #[test]
    fn a_flight_that_meets_the_policer_again_soon_was_limited_all_the_time() {
        let flights = [8, 8, 4, 6, 8, 9, 9, 9, 4, 6, 9, 9];
        assert_eq!(periods(&flights, &[0, 6], &[(10, 20), (70, 80)]), [(0, 110)]);
        let later = [8, 8, 8, 9, 9, 9, 9, 9, 9, 6, 9, 9];
        assert_eq!(periods(&later, &[0, 7], &[(10, 19), (80, 89)]), [(0, 30), (70, 110)]);
    }

    #[test]
    fn the_flight_at_the_last_ack_of_a_repair_is_that_of_the_repair() {
        // The repair ends with the ACK with which the third slice begins.
        let flights = [8, 8, 9, 4, 5, 6, 7, 8];
        assert_eq!(periods(&flights, &[0], &[(10, 20)]), [(0, 80)]);
        assert_eq!(periods(&flights, &[0], &[(10, 19)]), [(0, 30)]);
    }

    #[test]
    fn a_loss_during_a_repair_counts_until_the_next_repair_is_over() {
        // Lost in the third slice, and again in the sixth, while the first loss is repaired.
        let flights = [4, 6, 8, 8, 9, 9, 8, 9, 4, 6, 9];
        assert_eq!(periods(&flights, &[2, 5], &[(40, 60), (79, 85)]), [(20, 110)]);
        assert_eq!(periods(&flights, &[2], &[(40, 60)]), [(20, 80)]);
    }
}
