//! Retransmissions have no answer: `outage`, `ack-path`.

use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use netspurt_budget::Limit;

/// So many retransmissions in a row are not lost by chance where hardly any ACK is missing, nor are their ACKs.
const MANY: u32 = 3;

/// A silence of two round trips or more in which several retransmissions had no answer.
///
/// If the answer acknowledges all data, and more than was retransmitted, it had arrived and its ACKs were lost: by chance where
/// others are missing too, and because nothing passed where all others came. If segments of other connections between the same hosts
/// passed after each of the retransmissions, the path was not dead: it lost the segments one by one. If duplicate ACKs had come before, only the first segment
/// was missing, and chance has lost its retransmission too. If everything was retransmitted, the answer shows
/// nothing, as none does, and what else was lost on this connection decides.
pub(super) fn no_answer(facts: &Facts, moment: &Moment) -> Option<Limit> {
    let at = facts.began(moment.index).max(moment.from);
    let silence = facts.incidents.silence_at(at)?;
    if silence.until.saturating_sub(silence.from) < 2 * facts.path.base {
        return None;
    }
    if silence.all_had_arrived && silence.behind_hole {
        return (silence.resent >= MANY).then_some(Limit::Outage);
    }
    if silence.all_had_arrived {
        let nothing_passed = silence.resent >= MANY && facts.totals.regular.is_sure();
        return Some(if nothing_passed { Limit::Outage } else { Limit::AckPath });
    }
    if silence.others_passed() {
        return None;
    }
    Some(if silence.is_ambiguous() && only_acks_are_lost(facts) { Limit::AckPath } else { Limit::Outage })
}

/// Whether some ACKs of this connection were lost, and none of its data, as far as that shows.
pub(super) fn only_acks_are_lost(facts: &Facts) -> bool {
    facts.incidents.lost_acks() && !facts.incidents.lost_data() && !facts.totals.regular.is_sure()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::incidents::{Incidents, NONE_PASSED, Others};
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::phase::Phase;
    use crate::diagnosis::sender::totals::Totals;

    const MS: u64 = 1_000_000;

    /// What a silence is from 1 s on, in which `0..1000` is sent again three times, when everything below `next` was sent;
    /// `before` sets what happened earlier.
    fn silence(next: i64, acks: u32, before: impl Fn(&mut Incidents)) -> Option<Limit> {
        let mut incidents = Incidents::default();
        before(&mut incidents);
        incidents.note_ack(1000 * MS, 1, 0, 40 * MS);
        for at in [1200, 1600, 2400] {
            incidents.note_resent(at * MS, (0, 1000), next, false, NONE_PASSED);
        }
        incidents.note_ack(2440 * MS, 2, next, 40 * MS);
        let mut totals = Totals { segment: 1000, bytes: 90_000, ..Totals::default() };
        (0..acks).for_each(|_| totals.regular.note(2000, 1000));
        let slices = (1..=100).map(|n| Slice { until: n * 40 * MS, ..Slice::default() }).collect();
        let none = Trains::default();
        let facts = Facts::new(slices, (0, 40 * MS), totals, [&none, &none], incidents);
        let index = facts.index_at(2000 * MS);
        let at = 2010 * MS;
        no_answer(&facts, &Moment { phase: Phase::TailLoss, from: 1000 * MS, until: 2440 * MS, at, index })
    }

    /// An ACK of everything, when only a part was sent again.
    fn acks_lost(incidents: &mut Incidents) {
        incidents.note_resent(100 * MS, (0, 1000), 5000, false, NONE_PASSED);
        incidents.note_resent(300 * MS, (0, 1000), 5000, false, NONE_PASSED);
        incidents.note_ack(340 * MS, 1, 5000, 40 * MS);
    }

    #[test]
    fn an_answer_for_all_shows_lost_acks_unless_all_others_came() {
        assert_eq!(silence(5000, 0, |_| {}), Some(Limit::AckPath));
        assert_eq!(silence(5000, 200, |_| {}), Some(Limit::Outage));
    }

    #[test]
    fn a_path_that_others_pass_meanwhile_is_not_dead() {
        // Segments of others that left at these times have arrived when a timer sends the second and the third time.
        let of = |passed: [u64; 2]| {
            let mut incidents = Incidents::default();
            incidents.note_ack(1000 * MS, 1, 0, 40 * MS);
            for (at, passed) in [(1200, 0), (1600, passed[0]), (2400, passed[1])] {
                let others = Others { acknowledged: (passed + 40) * MS, round: 40 * MS };
                incidents.note_resent(at * MS, (0, 1000), 1000, false, others);
            }
            incidents.note_ack(2440 * MS, 2, 1000, 40 * MS);
            let slices = (1..=100).map(|n| Slice { until: n * 40 * MS, ..Slice::default() }).collect();
            let none = Trains::default();
            let facts = Facts::new(slices, (0, 40 * MS), Totals::default(), [&none, &none], incidents);
            let (at, index) = (2010 * MS, facts.index_at(2000 * MS));
            let moment = Moment { phase: Phase::TailLoss, from: 1000 * MS, until: 2440 * MS, at, index };
            no_answer(&facts, &moment)
        };
        assert_eq!(of([1500, 2300]), None);
        assert_eq!(of([1150, 1150]), Some(Limit::Outage), "they passed before");
        assert_eq!(of([1150, 2300]), Some(Limit::Outage), "it was dead for a while");
    }

    #[test]
    fn a_hole_that_is_lost_again_is_no_outage_and_no_lost_ack() {
        // Duplicate ACKs came, a retransmission was lost, and the second one filled the hole.
        let mut incidents = Incidents::default();
        incidents.note_ack(1000 * MS, 1, 0, 40 * MS);
        for at in [2000, 4000] {
            incidents.note_resent(at * MS, (0, 1000), 5000, false, NONE_PASSED);
            incidents.note_hole();
        }
        incidents.note_ack(4040 * MS, 2, 5000, 40 * MS);
        let slices = (1..=150).map(|n| Slice { until: n * 40 * MS, ..Slice::default() }).collect();
        let none = Trains::default();
        let totals = Totals { segment: 1000, bytes: 90_000, ..Totals::default() };
        let facts = Facts::new(slices, (0, 40 * MS), totals, [&none, &none], incidents);
        let (at, index) = (3010 * MS, facts.index_at(3000 * MS));
        let moment = Moment { phase: Phase::Timeout, from: 1000 * MS, until: 4040 * MS, at, index };
        assert_eq!(no_answer(&facts, &moment), None);
        assert!(!only_acks_are_lost(&facts));
    }

    #[test]
    fn where_everything_was_sent_again_what_else_was_lost_decides() {
        assert_eq!(silence(1000, 0, |_| {}), Some(Limit::Outage));
        assert_eq!(silence(1000, 0, acks_lost), Some(Limit::AckPath));
        let data_too = |incidents: &mut Incidents| {
            acks_lost(incidents);
            incidents.note_resent(500 * MS, (6000, 1000), 9000, true, NONE_PASSED);
        };
        assert_eq!(silence(1000, 0, data_too), Some(Limit::Outage));
    }
}
