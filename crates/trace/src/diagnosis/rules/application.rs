//! The sender has nothing to send: `application`, `pacing`.

use super::repair::SILENT_ROUNDS;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::moment::Moment;
use crate::diagnosis::sender::incidents::{LONG_NS, Pause};
use netspurt_budget::Limit;

/// A path stops so often at most, and for longer than its delay varies.
const FEW_STOPS: usize = 4;
const LEAST_STOP_NS: u64 = 200_000_000;

/// Nothing is outstanding, and the connection stays open: the sender has nothing to send.
///
/// Away from the sender, data that was lost before this point is not captured. The segments after the pause show a timeout.
pub(super) fn nothing_outstanding(facts: &Facts, moment: &Moment) -> Limit {
    let at = facts.began(moment.index).max(moment.from);
    match facts.incidents.pause_at(at) {
        Some(pause) if pause.len == pause.before && pause.ends_with_timer() => {
            if pause.until - pause.from > LONG_NS { Limit::Outage } else { Limit::TailLoss }
        }
        Some(pause) if is_stop(facts, pause) => Limit::Outage,
        Some(pause) if pause.held || is_held(facts, pause) => {
            if pause.until - pause.from > SILENT_ROUNDS * facts.path.base {
                Limit::Outage
            } else {
                Limit::Spurious
            }
        }
        _ => Limit::Application,
    }
}

/// Whether the path stopped a flow: its sender had more data before and after the pause. A writer of blocks that are
/// multiples of full segments makes many such pauses.
fn is_stop(facts: &Facts, pause: &Pause) -> bool {
    let lasts = pause.until - pause.from;
    facts.incidents.pauses.len() <= FEW_STOPS
        && pause.divides_a_flow()
        && lasts > LEAST_STOP_NS.max(SILENT_ROUNDS * facts.path.base)
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
    // Away from the sender, queues between hide which ACK caused a segment. A sender with more data sends full segments;
    // what an
    // application writes ends with a short one.
    if !facts.path.beside_sender && short == 0 {
        return None;
    }
    let rounds = (facts.slices[last].until - facts.began(first)) as f64 / facts.path.base.max(1) as f64;
    let often = f64::from(unprompted) >= 4.0 * rounds;
    if !often || short * 2 > segments {
        return Some(Limit::Application);
    }
    (facts.lost_before(index) && unprompted * 2 > segments).then_some(Limit::Pacing)
}

/// The rest of what was written may wait for an ACK. If one releases it, a short segment follows. If none does, the application
/// writes more before the ACK comes, and the rest leaves with that.
///
/// Beside the sender, an ACK that releases a short segment shows itself. Elsewhere, it shows only that short segments follow.
pub(super) fn rest_held(facts: &Facts, index: usize) -> Limit {
    let (first, last) = facts.around(index, 1);
    let released =
        !facts.path.beside_sender && facts.slices[first..=last].iter().any(|slice| slice.short > 0);
    if released { Limit::NagleDelayedAck } else { Limit::Application }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// Slices of a quarter of a round trip with two segments each half of which have one that seems to follow no ACK.
    fn facts(parts: (u64, u64), short: u16) -> Facts {
        let slice = |n: u64| Slice {
            until: n * 10_000_000,
            segments: 2,
            unprompted: u16::from(n.is_multiple_of(2)),
            short: if n == 10 { short } else { 0 },
            sent: 2000,
            ..Slice::default()
        };
        let none = Trains::default();
        let slices = (1..=20).map(slice).collect();
        Facts::new(slices, parts, Totals::default(), [&none, &none], Default::default())
    }

    #[test]
    fn full_segments_without_an_ack_show_an_application_only_beside_the_sender() {
        let (at_sender, at_receiver) = ((0, 40_000_000), (40_000_000, 0));
        assert_eq!(sent_all(&facts(at_sender, 0), 10), Some(Limit::Application));
        assert_eq!(sent_all(&facts(at_receiver, 0), 10), None);
        assert_eq!(sent_all(&facts(at_receiver, 1), 10), Some(Limit::Application));
    }

    #[test]
    fn a_rest_that_leaves_as_a_short_segment_was_held_and_one_that_is_filled_was_not() {
        let (at_sender, at_receiver) = ((0, 40_000_000), (40_000_000, 0));
        assert_eq!(rest_held(&facts(at_receiver, 1), 10), Limit::NagleDelayedAck);
        assert_eq!(rest_held(&facts(at_receiver, 0), 10), Limit::Application);
        assert_eq!(rest_held(&facts(at_sender, 1), 10), Limit::Application, "no ACK has released it");
    }

    #[test]
    fn a_pause_between_full_segments_is_a_path_that_stops_and_many_are_a_writer() {
        let of = |pauses: u64, rest| {
            let mut facts = facts((40_000_000, 0), 0);
            let mut incidents = crate::diagnosis::sender::incidents::Incidents::default();
            for n in 0..pauses {
                let from = n * 1_000_000_000;
                incidents.note_pause((from, from + 300_000_000), 1000, 1000, (false, rest));
                incidents.note_data(from + 300_000_001, 1000, 10);
                incidents.note_data(from + 340_000_000, 1000, 10);
            }
            facts.incidents = incidents;
            let phase = crate::diagnosis::sender::phase::Phase::Empty;
            nothing_outstanding(
                &facts,
                &Moment { phase, from: 0, until: 300_000_000, at: 5_000_000, index: 0 },
            )
        };
        assert_eq!([of(1, false), of(1, true)], [Limit::Outage, Limit::Application]);
        assert_eq!(of(9, false), Limit::Application);
    }

    #[test]
    fn a_path_that_holds_packets_for_two_round_trips_carries_nothing() {
        let of = |until: u64| {
            let mut facts = facts((40_000_000, 0), 0);
            let mut incidents = crate::diagnosis::sender::incidents::Incidents::default();
            incidents.note_pause((0, until), 1000, 1000, (true, false));
            incidents.note_data(until + 1, 1000, 10);
            facts.incidents = incidents;
            let moment = Moment {
                phase: crate::diagnosis::sender::phase::Phase::Empty,
                from: 0,
                until,
                at: 5_000_000,
                index: 0,
            };
            nothing_outstanding(&facts, &moment)
        };
        assert_eq!([of(70_000_000), of(90_000_000)], [Limit::Spurious, Limit::Outage]);
    }
}
