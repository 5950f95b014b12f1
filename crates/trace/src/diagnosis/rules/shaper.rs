//! A token bucket delays what exceeds its rate: `shaper`.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;

/// The rate of the link exceeds that of the bucket by this factor at least.
const FASTER: f64 = 1.3;
/// The initial flight leaves at once, and packets of others do not come between its segments: it passes at the rate of the link also where
/// others have less than half of that at an even rate.
const FASTER_AT_ONCE: f64 = 2.0;
/// So many trains pass at the rate of the link before the bucket is empty.
const LEAST_TRAINS: usize = 1;
/// So many trains in succession at the rate of the bucket end the burst.
const SLOW_TRAINS: usize = 6;
/// A train that exceeds the rate of the bucket by less has that rate.
const NEAR: f64 = 1.15;

/// So many trains whose rate differs from that of the full path by less than this factor did not have it by chance.
const BEFORE: u32 = 2;
const SAME: f64 = 1.03;

/// The shortest trains show no rate where one segment in so many, or more, comes together with others.
const JOINED: u64 = 2;

/// Whether a path that is full at `rate`, in bytes per second, has passed a burst at a higher rate before.
///
/// A link has the same rate for the first segment as for the last one. A bucket of tokens lets a burst pass at the rate of the
/// link, and then only what its rate permits. Where segments come together, the first trains, which are the shortest, have the highest
/// rates by that alone.
pub(super) fn after_burst(facts: &Facts, index: usize, rate: f64) -> bool {
    after(facts, index, rate, FASTER)
}

/// The same if packets that others send at an even rate are no reason for it.
pub(super) fn after_tokens(facts: &Facts, index: usize, rate: f64) -> bool {
    after(facts, index, rate, FASTER_AT_ONCE)
}

/// The same if the initial flight must have been faster by the factor `at_once`.
fn after(facts: &Facts, index: usize, rate: f64, at_once: f64) -> bool {
    if facts.path.joined * JOINED > u64::from(facts.totals.segment) {
        return false;
    }
    let (mut fast, mut slow, mut same) = (0, 0, 0);
    for &(at, train) in facts.first_trains.iter().take_while(|train| train.0 < index) {
        let train = f64::from(train) * 1e3;
        // A train that contains a pause shows nothing.
        if train < rate / NEAR {
            continue;
        }
        slow = if train < rate * NEAR { slow + 1 } else { 0 };
        same += u32::from(rate / SAME < train && train < rate * SAME);
        let faster = if at < facts.at_once { at_once } else { FASTER };
        if train > rate * faster && fast == 0 && same >= BEFORE {
            // A bucket is full at first: the path had this rate before it was empty.
            return false;
        }
        fast += usize::from(train > rate * faster);
        if slow >= SLOW_TRAINS && fast < LEAST_TRAINS {
            // What comes later at a higher rate was released by something else.
            return false;
        }
        if slow >= SLOW_TRAINS {
            break;
        }
    }
    fast >= LEAST_TRAINS
}

/// Of the slices in which a path is full, two of three have the median delay, but for this part of it.
const OF_DELAY: u64 = 50;
const LEAST_SLICES: usize = 16;
/// For so many round trips a faster link has passed more.
const FASTER_ROUNDS: u64 = 2;

/// Whether a path that delays a small flight by always the same time has passed it faster before: beside the sender, and without trains.
///
/// A flight of few segments has no trains. If it never changes, the queue of a link delays it by the same time from the first round trip on;
/// a bucket of tokens does so once it is empty. Delays of other traffic change.
pub(super) fn delays_small_flight_later(facts: &Facts) -> bool {
    let now = &facts.path.now;
    let full: Vec<usize> =
        (0..now.len()).filter(|&index| now[index].is_full() && facts.flight[index] > 0).collect();
    let usual = median(full.iter().map(|&index| now[index].queueing));
    let is_usual = |&&index: &&usize| now[index].queueing.abs_diff(usual) * OF_DELAY <= usual;
    let Some(&first) = full.iter().find(is_usual).filter(|_| facts.path.beside_sender) else { return false };
    let same = full.iter().filter(is_usual).count();
    let flight_at = |index: usize| u64::from(facts.flight[index]);
    let rate = median(full.iter().map(|&index| flight_at(index) * 1_000_000_000 / now[index].rtt.max(1)));
    let flight = median(full.iter().map(|&index| flight_at(index)));
    let faster = (0..first).filter(|&index| {
        now[index].rate > rate as f64 * FASTER
            && flight_at(index).abs_diff(flight) <= u64::from(facts.totals.segment)
    });
    let lasted: u64 = faster.map(|index| facts.slices[index].until - facts.began(index)).sum();
    full.len() >= LEAST_SLICES && same * 3 >= full.len() * 2 && lasted >= FASTER_ROUNDS * facts.path.base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::incidents::Incidents;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// Trains at these rates in kilobytes per second, one in 10 ms.
    fn facts(trains: &[u32]) -> Facts {
        let slice = |(n, &train): (u64, &u32)| Slice { until: n * 10_000_000, train, ..Slice::default() };
        let slices = (1..).zip(trains).map(slice).collect();
        let none = Trains::default();
        let parts = (0, 40_000_000);
        Facts::new(slices, parts, Totals::default(), [&none, &none], Incidents::default())
    }

    /// A flight of four segments on a path of 40 ms: 4 kB each 40 ms, and from the slice `full` on each 80 ms, with a queue of 40 ms that
    /// varies by so many milliseconds.
    fn is_delayed_later(full: u64, parts: (u64, u64), varies: u64) -> bool {
        is_delayed_later_than(4000, full, parts, varies)
    }

    /// The same with this flight before that.
    fn is_delayed_later_than(before: u32, full: u64, parts: (u64, u64), varies: u64) -> bool {
        let slice = |n: u64| Slice {
            until: n * 10_000_000,
            flight: if n < full { before } else { 4000 },
            delivered: if n < full { 1000 } else { 500 },
            ..Slice::default()
        };
        let none = Trains::default();
        let slices = (1..=200).map(slice).collect();
        let totals = Totals { segment: 1000, ..Totals::default() };
        let mut facts = Facts::new(slices, parts, totals, [&none, &none], Incidents::default());
        for (n, now) in (1..).zip(&mut facts.path.now) {
            let queueing = if n < full { 0 } else { 40_000_000 + n % 4 * varies * 1_000_000 };
            (now.full, now.queueing, now.rtt) = (n >= full, queueing, 40_000_000 + queueing);
        }
        delays_small_flight_later(&facts)
    }

    #[test]
    fn a_small_flight_that_was_faster_before_a_queue_of_one_length_shows_a_burst() {
        let at_sender = (0, 40_000_000);
        assert!(is_delayed_later(40, at_sender, 0));
        assert!(!is_delayed_later(8, at_sender, 0), "a window opens for as long");
        assert!(!is_delayed_later_than(9000, 40, at_sender, 0), "a larger flight has filled the path");
        assert!(!is_delayed_later(40, at_sender, 5), "others wait there too");
        assert!(!is_delayed_later(190, at_sender, 0), "too short a time");
        assert!(!is_delayed_later(40, (40_000_000, 0), 0), "away from the sender");
    }

    #[test]
    fn trains_that_were_faster_at_first_show_a_burst() {
        let shaped = facts(&[300, 1000, 1000, 0, 900, 500, 500, 490, 500, 500, 500, 500]);
        assert!(after_burst(&shaped, 11, 500e3));
        assert!(!after_burst(&shaped, 11, 1000e3));
        assert!(!after_burst(&facts(&[500; 12]), 11, 500e3));
    }

    #[test]
    fn a_path_that_had_its_rate_before_a_faster_train_has_passed_no_burst() {
        let after = |first: [u32; 3]| {
            let slow = [500; 8];
            after_burst(&facts(&[&first[..], &[1000], &slow].concat()), 12, 500e3)
        };
        assert!(!after([500, 300, 505]));
        assert!(after([500, 300, 560]), "once by chance");
        assert!(after([300, 300, 300]), "these contain pauses");
    }

    #[test]
    fn the_initial_flight_passes_faster_also_beside_packets_that_others_send_at_an_even_rate() {
        let after = |at_once, fast| {
            let slow = [500; 8];
            let facts = Facts { at_once, ..facts(&[&[fast][..], &slow].concat()) };
            [after_burst(&facts, 9, 500e3), after_tokens(&facts, 9, 500e3)]
        };
        assert_eq!(after(1, 900), [true, false]);
        assert_eq!(after(1, 1100), [true; 2], "others would have more than half");
        assert_eq!(after(0, 900), [true; 2], "this was sent later");
    }

    #[test]
    fn short_trains_of_what_comes_together_are_no_burst() {
        let mut shaped = facts(&[300, 1000, 1000, 0, 900, 500, 500, 490, 500, 500, 500, 500]);
        shaped.totals.segment = 1000;
        shaped.path.joined = 400;
        assert!(after_burst(&shaped, 11, 500e3));
        shaped.path.joined = 600;
        assert!(!after_burst(&shaped, 11, 500e3));
    }

    #[test]
    fn what_a_repair_releases_later_is_no_burst() {
        let released = facts(&[500, 500, 490, 500, 500, 500, 500, 2000, 2000, 500, 500, 500]);
        assert!(!after_burst(&released, 11, 500e3));
    }
}
