//! Delays between bursts that are always the same: traffic of others does not make them.

use crate::diagnosis::median::median;
use crate::diagnosis::path::now::PathNow;
use crate::diagnosis::sender::meter::Slice;

/// So many samples before and after one are compared with it, and so many show something.
const NEAR: usize = 8;
const LEAST: usize = 6;
/// Two of three are the same: they differ from the median by less than this share of it, and of the time of a segment.
const SAME: (usize, usize) = (2, 3);
const OF_DELAY: u64 = 50;
const OF_SEGMENT: u64 = 4;

/// For each slice: whether the delays that bursts show near it are the same. The link needs `serial` nanoseconds for a segment.
///
/// Packets of others in a queue change its delay by the time of a segment and more. A path that holds ACKs for a fixed time, or for a fixed
/// number of them, delays each burst by the same time.
pub(super) fn steady(now: &[PathNow], slices: &[Slice], serial: u64) -> Vec<bool> {
    let sampled: Vec<usize> = (0..slices.len()).filter(|&index| slices[index].behind > 0).collect();
    let is_steady = |place: usize| {
        let near = &sampled[place.saturating_sub(NEAR)..(place + NEAR + 1).min(sampled.len())];
        let delays = || near.iter().map(|&index| now[index].queueing);
        let middle = median(delays());
        let most = (middle / OF_DELAY).min(serial / OF_SEGMENT);
        let same = delays().filter(|delay| delay.abs_diff(middle) <= most).count();
        near.len() >= LEAST && same * SAME.1 >= near.len() * SAME.0
    };
    let mut steady = vec![false; slices.len()];
    for (place, &index) in sampled.iter().enumerate() {
        let until = sampled.get(place + 1).copied().unwrap_or(slices.len());
        steady[index..until].fill(is_steady(place));
    }
    steady
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether delays of 20 ms are steady if each is longer by so many microseconds, on a link that needs 1 ms for a segment.
    fn is_steady(samples: u64, longer: fn(u64) -> u64) -> bool {
        let queueing = |n: u64| 20_000_000 + longer(n) * 1000;
        let now: Vec<PathNow> =
            (0..samples).map(|n| PathNow { queueing: queueing(n), ..PathNow::default() }).collect();
        let slices = vec![Slice { behind: 1, ..Slice::default() }; samples as usize];
        steady(&now, &slices, 1_000_000)[samples as usize / 2]
    }

    #[test]
    fn a_queue_of_others_changes_from_burst_to_burst_and_a_path_that_holds_acks_does_not() {
        assert!(is_steady(20, |_| 0));
        assert!(is_steady(20, |n| if n % 4 == 0 { 5000 } else { n % 3 * 100 }), "one of four differs");
        assert!(!is_steady(20, |n| n * 500), "a queue grows");
        assert!(!is_steady(20, |n| n * 7 % 5 * 1000), "segments of others wait or do not");
        assert!(!is_steady(4, |_| 0), "too few");
    }
}
