//! Lost segments are repaired: `fast-recovery`, `timeout`, `tail-loss`.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::phase::Phase;
use netspurt_budget::Limit;

/// The kind of repair.
pub(super) const fn repairing(_facts: &Facts, phase: Phase, _index: usize) -> Limit {
    match phase {
        Phase::Timeout => Limit::Timeout,
        Phase::TailLoss => Limit::TailLoss,
        _ => Limit::FastRecovery,
    }
}
