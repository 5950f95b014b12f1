//! Packets that become one, because the peer has reported the data of all of them.
//!
//! Linux moves the data of a reported packet into the packet before it, if that is reported too, and frees the empty one
//! (`tcp_shift_skb_data()`). So a run of reported packets takes the memory of one head.

use std::collections::BTreeMap;

/// The runs of reported packets in a queue. A run of a single packet is none.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// By its beginning: where a run ends, and how many packets fewer it is than those that were sent.
    runs: BTreeMap<u64, (u64, u64)>,
    fewer: u64,
}

impl Joined {
    /// How many packets fewer the queue has.
    pub(super) const fn fewer(&self) -> u64 {
        self.fewer
    }

    /// The peer reports `start` to `end`. `within` counts the packets that lie in a range and do not begin at its start.
    pub(super) fn report(&mut self, start: u64, end: u64, within: impl Fn(u64, u64) -> u64) {
        let (mut first, mut last) = (start, end);
        // Runs do not overlap, so they end in the order in which they begin.
        while let Some((&begin, &(until, fewer))) = self.runs.range(..=last).next_back() {
            if until < first {
                break;
            }
            (first, last) = (first.min(begin), last.max(until));
            self.runs.remove(&begin);
            self.fewer -= fewer;
        }
        let fewer = within(first, last);
        if fewer > 0 {
            self.runs.insert(first, (last, fewer));
            self.fewer += fewer;
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn forget(&mut self, una: u64) {
        while let Some(run) = self.runs.first_entry() {
            if *run.key() >= una {
                break;
            }
            self.fewer -= run.remove().1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;

    /// Packets of 1000 bytes, of which those begin behind the start of a range and end in it.
    fn within(start: u64, end: u64) -> u64 {
        (end / PACKET).saturating_sub(start / PACKET + 1)
    }

    #[test]
    fn reported_packets_that_follow_each_other_are_one() {
        let mut joined = Joined::default();
        let mut report = |start: u64, end: u64| {
            joined.report(start * PACKET, end * PACKET, within);
            joined.fewer()
        };
        assert_eq!(report(3, 4), 0, "a single one");
        assert_eq!(report(3, 5), 1);
        assert_eq!(report(3, 5), 1, "the same again");
        assert_eq!(report(7, 9), 2, "a run of its own");
        assert_eq!(report(3, 9), 5, "what fills the gap joins both");
        joined.forget(3 * PACKET);
        assert_eq!(joined.fewer(), 5);
        joined.forget(9 * PACKET);
        assert_eq!((joined.fewer(), joined.runs.len()), (0, 0));
    }

    #[test]
    fn any_order_of_reports_gives_the_packets_that_a_plain_list_gives() {
        let mut random = 1_u64;
        let mut below = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % most
        };
        for turn in 0..200 {
            let (mut joined, mut reported) = (Joined::default(), [false; 60]);
            let mut una = 0;
            for _ in 0..40 {
                let start = una + 1 + below(50);
                let end = (start + 1 + below(6)).min(60);
                if start >= end {
                    continue;
                }
                reported[start as usize..end as usize].fill(true);
                // A block is the whole run that the peer has.
                let first = (0..start).rev().find(|&at| !reported[at as usize]).map_or(0, |at| at + 1);
                let last = (end..60).find(|&at| !reported[at as usize]).unwrap_or(60);
                joined.report(first * PACKET, last * PACKET, within);
                if below(5) == 0 {
                    una = (una + 1..60).find(|&at| !reported[at as usize]).unwrap_or(60);
                    reported[..una as usize].fill(false);
                    joined.forget(una * PACKET);
                }
                let fewer = reported.windows(2).filter(|pair| pair[0] && pair[1]).count() as u64;
                assert_eq!(joined.fewer(), fewer, "turn {turn}");
                if una >= 59 {
                    break;
                }
            }
        }
    }
}
