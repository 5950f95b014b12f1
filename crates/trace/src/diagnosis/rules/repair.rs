//! Segments are retransmitted: `fast-recovery`, `timeout`, `tail-loss`; or without need: `reordering`, `spurious`, `ack-path`.

use super::outage::only_acks_are_lost;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// A path from which nothing comes for so many round trips carries nothing.
pub(super) const SILENT_ROUNDS: u64 = 2;

/// The kind of repair, and whether it was needed.
///
/// Not needed is one of which at least half of the retransmissions are proved spurious (RFC 2883, RFC 3522), or whose first
/// retransmission was acknowledged sooner than a round trip after it left.
pub(super) fn repairing(facts: &Facts, moment: &Moment) -> Limit {
    let needless =
        facts.incidents.episode_in(moment.from, moment.until).filter(|episode| episode.is_needless());
    match (moment.phase, needless) {
        (Phase::FastRecovery, Some(_)) => Limit::Reordering,
        (Phase::FastRecovery, None) => Limit::FastRecovery,
        (_, Some(episode)) if episode.acks_lost => Limit::AckPath,
        // What the path held came later: without the retransmissions it would not have come sooner.
        (_, Some(episode)) if episode.is_silent(moment.at, SILENT_ROUNDS * facts.path.base) => Limit::Outage,
        (_, Some(_)) => Limit::Spurious,
        (Phase::Timeout, None) => Limit::Timeout,
        // Nothing shows which copy was acknowledged; what else was lost on this connection decides.
        (_, None) if only_acks_are_lost(facts) => Limit::AckPath,
        (_, None) => Limit::TailLoss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::incidents::{Incidents, NONE_PASSED};
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    #[test]
    fn where_only_acks_were_lost_a_timer_that_proves_nothing_waited_for_one() {
        let of = |acks_lost| {
            let mut incidents = Incidents::default();
            if acks_lost {
                incidents.note_resent(10, (0, 1000), 5000, false, NONE_PASSED);
                incidents.note_resent(30, (0, 1000), 5000, false, NONE_PASSED);
                incidents.note_ack(34, 1, 5000, 4);
            }
            incidents.note_resent(100, (5000, 1000), 6000, false, NONE_PASSED);
            let slices = (1..=20).map(|n| Slice { until: n * 10, ..Slice::default() }).collect();
            let none = Trains::default();
            let facts = Facts::new(slices, (0, 4), Totals::default(), [&none, &none], incidents);
            let moment = Moment { phase: Phase::TailLoss, from: 80, until: 120, at: 95, index: 9 };
            repairing(&facts, &moment)
        };
        assert_eq!([of(false), of(true)], [Limit::TailLoss, Limit::AckPath]);
    }

    #[test]
    fn what_a_path_held_without_carrying_anything_was_not_delayed_by_its_sender() {
        // A timer expires at 60, and the ACK at 80 is for the original. A round trip takes 20.
        let of = |at, heard| {
            let mut incidents = Incidents::default();
            incidents.note_ack(heard, 1, 1000, 20);
            incidents.note_resent(60, (1000, 1000), 9000, false, NONE_PASSED);
            incidents.note_ack(80, 2, 2000, 20);
            incidents.note_needless(2, 1000, false);
            let slices = (1..=20).map(|n| Slice { until: n * 10, ..Slice::default() }).collect();
            let none = Trains::default();
            let facts = Facts::new(slices, (0, 20), Totals::default(), [&none, &none], incidents);
            repairing(&facts, &Moment { phase: Phase::Timeout, from: 10, until: 120, at, index: 5 })
        };
        assert_eq!([of(50, 10), of(90, 10), of(50, 45)], [Limit::Outage, Limit::Spurious, Limit::Spurious]);
    }
}
