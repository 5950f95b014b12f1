//! A token bucket that delays packets drops those that its queue does not hold: a shaper, and no policer.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::median::median;
use crate::diagnosis::path::bucket::Step;

/// Packets wait for tokens if their delay is longer by this factor than the link explains.
const LONGER: u64 = 2;

/// Whether packets wait around losses for longer than a link with the rate `link`, in bytes per nanosecond, needs for what this sender
/// has sent.
///
/// Behind a policer, only the link delays them. Away from the sender, delays are not known well enough for that.
pub(super) fn delays(facts: &Facts, steps: &[Step], link: f64) -> bool {
    if !facts.path.beside_sender {
        return false;
    }
    let levels = backlog(steps, link);
    let now = &facts.path.now;
    let (mut explained, mut seen) = (Vec::new(), Vec::new());
    for index in facts.losses() {
        // The latest sample is of a segment that left a round trip before.
        let (from, until) = (facts.began(index).saturating_sub(now[index].rtt), facts.slices[index].until);
        let sent = &levels[levels.partition_point(|level| level.0 < from)..];
        let most = sent.iter().take_while(|level| level.0 <= until).map(|level| level.1);
        explained.push((most.fold(0.0, f64::max) / link) as u64);
        seen.push(now[index].queueing);
    }
    median(seen.into_iter()) > LONGER * (median(explained.into_iter()) + facts.path.threshold)
}

/// The bytes that a link with this rate has not sent yet after each step, and when.
fn backlog(steps: &[Step], link: f64) -> Vec<(u64, f64)> {
    let (mut at, mut level) = (0, 0.0_f64);
    let after = |step: &Step| {
        at += step.lasted;
        level = (level - link * step.lasted as f64).max(0.0) + step.passed as f64;
        (at, level)
    };
    steps.iter().map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    const MS: u64 = 1_000_000;

    /// Three segments of 1000 bytes each 10 ms on a link of 1 MB/s and a round trip of 20 ms, of which the last is lost and the others
    /// are delayed by so many milliseconds.
    fn delayed(by: u64, parts: (u64, u64)) -> bool {
        let steps: Vec<Step> = (0..300)
            .map(|n| Step {
                lasted: if n % 3 == 0 { 10 * MS } else { 0 },
                passed: if n % 3 == 2 { 0 } else { 1000 },
                dropped: u32::from(n % 3 == 2),
            })
            .collect();
        let slice = |n: u64| Slice {
            until: n * 10 * MS,
            lost: 1,
            acks: 2,
            ahead: ((20 + if n < 4 { 0 } else { by }) * MS + 1) as u32,
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        let slices = (1..=100).map(slice).collect();
        delays(&Facts::new(slices, parts, totals, [&none, &none], Default::default()), &steps, 1e-3)
    }

    #[test]
    fn a_delay_that_the_link_does_not_explain_is_that_of_tokens() {
        let at_sender = (0, 20 * MS);
        assert!(delayed(15, at_sender));
        assert!(!delayed(3, at_sender), "two segments wait for each other");
        assert!(!delayed(15, (20 * MS, 0)), "delays are not known");
    }
}
