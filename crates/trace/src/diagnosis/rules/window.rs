//! The receive window has no space: `receive-window`, `slow-receiver`.

use crate::diagnosis::facts::Facts;
use netspurt_budget::Limit;

/// A window that was larger before is small because its reader has not read.
pub(super) fn window_full(facts: &Facts, index: usize) -> Limit {
    let (now, most) = (facts.slices[index].window, facts.window[index]);
    if u64::from(now) * 4 < u64::from(most) * 3 { Limit::SlowReceiver } else { Limit::ReceiveWindow }
}
