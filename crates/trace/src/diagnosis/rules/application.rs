//! The sender has nothing to send: `application`, `pacing`.

use crate::diagnosis::facts::Facts;
use netspurt_budget::Limit;

/// Nothing is outstanding, and the connection stays open: the sender has nothing to send.
pub(super) const fn nothing_outstanding() -> Limit {
    Limit::Application
}

/// Data is outstanding, the windows have space, and the next segment does not follow an ACK: `None` if that is pacing only in
/// part.
///
/// An application that writes at its own rate leaves pauses. A sender that paces sends at even gaps, many in a round trip.
pub(super) fn sent_all(facts: &Facts, index: usize) -> Option<Limit> {
    let (mut segments, mut unprompted, mut short) = (0, 0, 0);
    let (first, last) = (index.saturating_sub(4), (index + 4).min(facts.slices.len() - 1));
    for slice in &facts.slices[first..=last] {
        segments += u32::from(slice.segments);
        unprompted += u32::from(slice.unprompted);
        short += u32::from(slice.short);
    }
    let rounds = (facts.slices[last].until - facts.began(first)) as f64 / facts.path.base.max(1) as f64;
    let often = f64::from(unprompted) >= 4.0 * rounds;
    if !often || short * 2 > segments {
        return Some(Limit::Application);
    }
    (facts.lost_before(index) && unprompted * 2 > segments).then_some(Limit::Pacing)
}
