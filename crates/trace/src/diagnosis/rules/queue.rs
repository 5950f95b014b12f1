//! The path is full: `bottleneck`, `cross-traffic`.

use crate::diagnosis::facts::Facts;
use netspurt_budget::Limit;

/// A full path, if a queue stood for the last round trip.
///
/// If less than half of the capacity reaches this connection while the queue stands, the others have the rest.
pub(super) fn full_path(facts: &Facts, index: usize) -> Option<Limit> {
    let now = facts.path.now.get(index).filter(|now| now.full)?;
    let others = now.rate > 0.0 && now.rate < facts.path.capacity * 0.5;
    Some(if others { Limit::CrossTraffic } else { Limit::Bottleneck })
}
