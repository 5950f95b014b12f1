//! What a limit hides: another one that held at the same time.

use super::window::window_full;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// The limit that would have counted if `limit` had not been there; `None` if none is visible.
///
/// A full receive window shows behind a full path and during repairs. So does a repair, or a short segment that waits, on a
/// path that is full. cwnd is hidden too, always, so it is not named.
pub(in crate::diagnosis) fn masked(facts: &Facts, moment: &Moment, limit: Limit) -> Option<Limit> {
    let Moment { phase, index, .. } = *moment;
    let hidden = match phase {
        Phase::WindowFull => window_full(facts, index),
        Phase::FastRecovery | Phase::Timeout | Phase::TailLoss => {
            let slice = facts.slices.get(index)?;
            let full = slice.flight > 0 && slice.flight.saturating_add(facts.totals.segment) > slice.window;
            match phase {
                _ if full => window_full(facts, index),
                Phase::FastRecovery => Limit::FastRecovery,
                Phase::Timeout => Limit::Timeout,
                _ => Limit::TailLoss,
            }
        }
        Phase::ShortHeld | Phase::RestKept => Limit::NagleDelayedAck,
        _ => return None,
    };
    let same = hidden == limit || repairs(hidden) && (repairs(limit) || is_dead(limit));
    (!same).then_some(hidden)
}

/// Whether the sender repairs, perhaps what a policer has dropped.
const fn repairs(limit: Limit) -> bool {
    limit.is_repair() || matches!(limit, Limit::Policer)
}

/// Whether nothing passes, which is why the sender repairs.
const fn is_dead(limit: Limit) -> bool {
    matches!(limit, Limit::Outage | Limit::PathMtu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    fn facts(flight: u32) -> Facts {
        let slice =
            |n: u64| Slice { until: n * 10_000_000, flight, window: 20_000, acks: 1, ..Slice::default() };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        Facts::new((1..=20).map(slice).collect(), (0, 40_000_000), totals, [&none, &none], Default::default())
    }

    fn moment(phase: Phase) -> Moment {
        Moment { phase, from: 0, until: 200_000_000, at: 105_000_000, index: 10 }
    }

    #[test]
    fn a_window_that_is_full_is_hidden_by_repairs_and_by_a_full_path() {
        let full = facts(20_000);
        let during = |phase, limit| masked(&full, &moment(phase), limit);
        assert_eq!(during(Phase::WindowFull, Limit::Bottleneck), Some(Limit::ReceiveWindow));
        assert_eq!(during(Phase::FastRecovery, Limit::FastRecovery), Some(Limit::ReceiveWindow));
        assert_eq!(during(Phase::WindowFull, Limit::ReceiveWindow), None);
    }

    #[test]
    fn a_repair_is_hidden_by_a_full_path_but_not_by_its_own_cause() {
        let facts = facts(5_000);
        let during = |phase, limit| masked(&facts, &moment(phase), limit);
        assert_eq!(during(Phase::Timeout, Limit::Bottleneck), Some(Limit::Timeout));
        assert_eq!(during(Phase::Timeout, Limit::Outage), None);
        assert_eq!(during(Phase::FastRecovery, Limit::Reordering), None);
        assert_eq!(during(Phase::Sending, Limit::Bottleneck), None);
    }
}
