//! The sender has nothing to send: `application`, `pacing`.

use super::Moment;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::incidents::{LONG_NS, Pause};
use netspurt_budget::Limit;

/// Nothing is outstanding, and the connection stays open: the sender has nothing to send.
///
/// Away from the sender, what was lost before this point was not seen. Its timer shows in what comes after the pause.
pub(super) fn nothing_outstanding(facts: &Facts, moment: &Moment) -> Limit {
    let at = facts.began(moment.index).max(moment.from);
    match facts.incidents.pause_at(at) {
        Some(pause) if pause.makes_shorter() => Limit::PathMtu,
        Some(pause) if pause.len == pause.before && pause.ends_with_timer() => {
            if pause.until - pause.from > LONG_NS { Limit::Outage } else { Limit::TailLoss }
        }
        Some(pause) if is_held(facts, pause) => {
            if pause.until - pause.from > LONG_NS {
                Limit::Outage
            } else {
                Limit::Spurious
            }
        }
        _ => Limit::Application,
    }
}

/// Whether packets waited in the network during a pause: copies of them follow soon, so that a timer has expired meanwhile.
fn is_held(facts: &Facts, pause: &Pause) -> bool {
    let soon = pause.until + 3 * facts.path.base;
    let copies = facts.incidents.episode_in(pause.until, soon);
    copies.is_some_and(|copies| copies.early || copies.acks_lost || copies.needless * 2 >= copies.resent)
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
    // Where the round trip to the sender is known without the queues on it only, ACKs explain less than they cause. A sender
    // with more data sends full segments; what an application writes ends with a short one.
    if !facts.path.shows_queue && short == 0 {
        return None;
    }
    let rounds = (facts.slices[last].until - facts.began(first)) as f64 / facts.path.base.max(1) as f64;
    let often = f64::from(unprompted) >= 4.0 * rounds;
    if !often || short * 2 > segments {
        return Some(Limit::Application);
    }
    (facts.lost_before(index) && unprompted * 2 > segments).then_some(Limit::Pacing)
}
