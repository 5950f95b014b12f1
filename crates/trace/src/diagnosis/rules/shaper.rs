//! A token bucket delays what exceeds its rate: `shaper`.

use crate::diagnosis::facts::Facts;

/// The rate of the link exceeds that of the bucket by this factor at least.
const FASTER: f64 = 1.3;
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
    if facts.path.joined * JOINED > u64::from(facts.totals.segment) {
        return false;
    }
    let (mut fast, mut slow, mut same) = (0, 0, 0);
    for &(_, train) in facts.first_trains.iter().take_while(|train| train.0 < index) {
        let train = f64::from(train) * 1e3;
        // A train that contains a pause shows nothing.
        if train < rate / NEAR {
            continue;
        }
        slow = if train < rate * NEAR { slow + 1 } else { 0 };
        same += u32::from(rate / SAME < train && train < rate * SAME);
        if train > rate * FASTER && fast == 0 && same >= BEFORE {
            // A bucket is full at first: the path had this rate before it was empty.
            return false;
        }
        fast += usize::from(train > rate * FASTER);
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
