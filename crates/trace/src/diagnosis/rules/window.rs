//! The receive window has no space: `receive-window`, `slow-receiver`.

use crate::diagnosis::facts::Facts;
use netspurt_budget::Limit;

/// A window that was larger before, and shrinks as data arrives, is small because its reader has not read.
pub(super) fn window_full(facts: &Facts, index: usize) -> Limit {
    let (now, most) = (facts.slices[index].window, facts.window[index]);
    let near = &facts.slices[index.saturating_sub(8)..=index];
    let shrinks: u32 = near.iter().map(|slice| u32::from(slice.shrinks)).sum();
    let acks: u32 = near.iter().map(|slice| u32::from(slice.acks)).sum();
    let smaller = is_smaller(facts, index);
    let much = u64::from(now) * 2 < u64::from(most);
    if much || smaller && shrinks * 6 >= acks { Limit::SlowReceiver } else { Limit::ReceiveWindow }
}

/// Round trips over which ACKs are counted.
const ACK_ROUNDS: u64 = 4;
/// A receiver that reads at once acknowledges fewer segments together.
const STRETCHED: u64 = 3;
/// The delay of an ACK may exceed the mean time between ACKs by so much.
const LATER: f64 = 1.25;

/// Whether the delays are those of a reader, and not of a queue: much data waits to be read, and the receiver acknowledges several
/// segments together when some of it has been read. So an ACK is late by up to the time between two of them.
pub(super) fn delays_acks(facts: &Facts, index: usize) -> bool {
    if !is_smaller(facts, index) {
        return false;
    }
    let (first, last) = facts.around(index, ACK_ROUNDS / 2);
    let near = &facts.slices[first..=last];
    let acks: u64 = near.iter().map(|slice| u64::from(slice.acks)).sum();
    let delivered: u64 = near.iter().map(|slice| u64::from(slice.delivered)).sum();
    let apart = (facts.slices[last].until - facts.slices[first].until) as f64 / acks.max(1) as f64;
    delivered >= STRETCHED * u64::from(facts.totals.segment) * acks
        && facts.path.now[index].queueing as f64 <= apart * LATER
}

/// Whether the window is clearly smaller than it was.
pub(super) fn is_smaller(facts: &Facts, index: usize) -> bool {
    let (now, most) = (facts.slices.get(index).map_or(0, |slice| slice.window), facts.window.get(index));
    most.is_some_and(|&most| u64::from(now) * 20 < u64::from(most) * 17)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// Whether a reader delays ACKs of so many bytes each 10 ms, on a path of 40 ms with this queueing delay, after the window was
    /// 50 kB and is now this.
    fn delays(bytes: u32, queueing_ms: u64, window: u32) -> bool {
        let slice = |n: u64| Slice {
            until: n * 10_000_000,
            acks: 1,
            delivered: bytes,
            window: if n < 5 { 50_000 } else { window },
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        let slices = (1..=60).map(slice).collect();
        let mut facts = Facts::new(slices, (0, 40_000_000), totals, [&none, &none], Default::default());
        facts.path.now[30].queueing = queueing_ms * 1_000_000;
        delays_acks(&facts, 30)
    }

    #[test]
    fn a_reader_delays_acks_that_come_when_it_has_read_several_segments() {
        assert!(delays(6000, 9, 20_000));
        assert!(!delays(6000, 30, 20_000), "a queue is longer than a reader waits");
        assert!(!delays(2000, 9, 20_000), "each second segment is acknowledged as it arrives");
        assert!(!delays(6000, 9, 50_000), "all data is read");
    }
}
