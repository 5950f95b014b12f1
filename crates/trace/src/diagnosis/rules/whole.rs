//! What rules conclude about the whole connection before they judge a moment of it.

use super::black_hole::black_holes;
use super::buffer::cap::cap_after_losses;
use super::buffer::silence::silences;
use super::even_rate::written_evenly;
use super::growth::filled_windows;
use super::policer::policed;
use super::queue::filled_by;
use super::restart::restarts;
use super::writer::writes_at_intervals;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::path::replay::HEADERS;
use crate::diagnosis::sender::departures::{Departures, LEAST_PAUSE_NS};
use crate::diagnosis::sender::phase::Phases;

/// A pause ends a block. It lasts at least one round trip divided by `PAUSES`, and at least `LEAST_PAUSE_NS`.
const PAUSES: u64 = 20;
/// Departures whose times are known to this part of a round trip can be replayed.
const EXACT: u64 = 16;

/// Adds what the slices, the phases and the departures show together; the departures by the sender's own clock if `by_sender`.
///
/// None of the nine conclusions depends on another. What the replay shows comes first: they use it.
pub(in crate::diagnosis) fn conclude_whole(
    mut facts: Facts,
    phases: &Phases,
    departures: &Departures,
    by_sender: bool,
) -> Facts {
    replay(&mut facts, departures);
    facts.filled_by = filled_by(&facts);
    facts.black_holes = black_holes(&facts);
    facts.policed = policed(&facts, phases, &departures.steps(by_sender));
    let blocks = departures.blocks((facts.path.base / PAUSES).max(LEAST_PAUSE_NS));
    facts.at_intervals =
        writes_at_intervals(&blocks, facts.totals.segment, (facts.path.base, facts.path.beside_sender));
    facts.at_even_rate = written_evenly(&facts, departures);
    facts.restarts = restarts(&facts, phases);
    facts.filled = filled_windows(&facts);
    facts.silences = silences(&facts);
    facts.cap = cap_after_losses(&facts);
    facts
}

/// Replays what left beside the sender through the link of the path.
fn replay(facts: &mut Facts, departures: &Departures) {
    let Facts { path, totals, slices, .. } = facts;
    if !path.beside_sender || totals.behind_bottleneck {
        return;
    }
    if let Some(departed) = departures.departed(totals.segment, HEADERS, path.base / EXACT) {
        path.replay(slices, totals.segment, &departed);
    }
}
