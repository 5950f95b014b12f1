//! cwnd grows again after a pause: `idle-restart` (RFC 5681, section 4.1).

use crate::diagnosis::facts::Facts;
use crate::diagnosis::sender::phase::{Phase, Phases};
use netspurt_budget::Limit;

/// A pause that may have reset cwnd lasts for a retransmission timeout: a round trip, and no less than this.
const LEAST_PAUSE_NS: u64 = 200_000_000;
/// A first flight below this share of an earlier one is that of a smaller window.
const SMALLER: f64 = 0.7;

/// When the flight grew again after a pause: from the end of the pause until it was as large as before, or until a loss.
pub(super) fn restarts(facts: &Facts, phases: &Phases) -> Vec<(u64, u64)> {
    let round = facts.path.base;
    let pauses = phases.iter().filter(|(from, stretch)| {
        matches!(stretch.phase, Phase::Empty | Phase::Unanswered)
            && stretch.until - from > LEAST_PAUSE_NS.max(round)
    });
    let mut restarts = Vec::new();
    for (from, stretch) in pauses {
        if facts.slices.is_empty() || from == 0 {
            continue;
        }
        let before = facts.index_at(from);
        let most = f64::from(facts.flight[..=before].iter().copied().max().unwrap_or(0));
        let begin = facts.index_at(stretch.until);
        let first = facts.index_at(stretch.until + round * 3 / 4);
        if f64::from(facts.flight[first]) >= most * SMALLER {
            continue;
        }
        let grown = |&index: &usize| {
            f64::from(facts.flight[index]) >= most * 0.95
                || facts.slices[index].resent > 0
                || facts.flight[index] == 0 && index > first
        };
        let end = (begin + 1..facts.slices.len()).find(grown);
        let end = end.map_or(u64::MAX, |index| facts.began(index));
        restarts.push((stretch.until, end));
    }
    restarts
}

/// Whether the flight grows again after a pause.
pub(super) fn growing_again(facts: &Facts, index: usize) -> Option<Limit> {
    let at = facts.slices.get(index)?.until;
    let restart = facts.restarts.iter().rev().find(|restart| restart.0 < at)?;
    (at <= restart.1).then_some(Limit::IdleRestart)
}
