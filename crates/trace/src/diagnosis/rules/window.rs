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

/// Whether the window is clearly smaller than it was.
pub(super) fn is_smaller(facts: &Facts, index: usize) -> bool {
    let (now, most) = (facts.slices.get(index).map_or(0, |slice| slice.window), facts.window.get(index));
    most.is_some_and(|&most| u64::from(now) * 20 < u64::from(most) * 17)
}
