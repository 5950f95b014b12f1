//! The rules, one file for each family of limits. Each is a pure function of the facts and the place in time.

mod application;
mod black_hole;
mod buffer;
mod even_rate;
mod growth;
mod masked;
mod outage;
mod policer;
mod queue;
mod repair;
mod restart;
mod shaper;
mod token_queue;
mod whole;
mod window;
mod writer;

pub(super) use masked::masked;
pub(super) use whole::conclude_whole;

use self::buffer::silence;
use super::facts::Facts;
use super::moment::Moment;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// The limit of a sender at a moment.
///
/// The order of the rules is the order of what would help: on a full path no change of TCP brings more.
pub(super) fn judge(facts: &Facts, moment: &Moment) -> Limit {
    let Moment { phase, index, .. } = *moment;
    match phase {
        Phase::Opening => return Limit::Handshake,
        Phase::Closing => return Limit::Teardown,
        _ if black_hole::is_in_black_hole(facts, moment.at) => return Limit::PathMtu,
        Phase::Empty => return application::nothing_outstanding(facts, moment),
        Phase::Unanswered => {
            let full = queue::full_path(facts, moment);
            return full.unwrap_or_else(|| application::nothing_outstanding(facts, moment));
        }
        // Data that follows a lost probe passes: the path may be full.
        _ if facts.incidents.probes.is_missing(moment.at) => {
            return queue::full_path(facts, moment).unwrap_or(Limit::PathMtu);
        }
        _ => {}
    }
    if let Some(limit) = outage::no_answer(facts, moment) {
        return limit;
    }
    if let Some(limit) = policer::follows(facts, moment) {
        return limit;
    }
    let growing = restart::growing_again(facts, index).filter(|_| phase == Phase::Sending);
    if let Some(limit) = growing.filter(|_| !queue::is_queued(facts, index)) {
        return limit;
    }
    if let Some(limit) = writer::at_intervals(facts, moment) {
        return limit;
    }
    if let Some(limit) = queue::full_path(facts, moment) {
        return limit;
    }
    let late = facts.incidents.late_at(moment.at);
    let in_between = || silence::refilling(facts, index).unwrap_or_else(|| growth::in_between(facts, index));
    match phase {
        Phase::FastRecovery | Phase::Timeout | Phase::TailLoss => repair::repairing(facts, moment),
        // A reader that is slow delays ACKs until the window has room again.
        _ if late.is_some() && !window::is_smaller(facts, index) => {
            if late == Some(true) {
                queue::filled(facts, index)
            } else {
                Limit::AckPath
            }
        }
        Phase::WindowFull => window::window_full(facts, index),
        // What a window releases, a sender that paces sends between ACKs.
        Phase::RestHeld if growth::fills_window(facts, index) => window::window_full(facts, index),
        // A pace is as fast as the full window lets data pass.
        Phase::Drained | Phase::RestHeld | Phase::RestKept
            if let Some(full) = growth::paced_into_window(facts, index) =>
        {
            window::window_full(facts, full)
        }
        // Away from the sender, ACKs do not show what released a segment.
        Phase::Drained | Phase::RestHeld | Phase::RestKept | Phase::ShortHeld
            if !facts.path.beside_sender
                && let Some(limit) = silence::refilling(facts, index) =>
        {
            limit
        }
        Phase::ShortHeld => Limit::NagleDelayedAck,
        Phase::RestKept if growth::refills(facts, index) || growth::has_filled_window(facts, index) => {
            in_between()
        }
        Phase::RestKept => application::rest_held(facts, index),
        Phase::Drained | Phase::RestHeld => match application::sent_all(facts, index) {
            Some(Limit::Application) if phase == Phase::RestHeld => application::rest_held(facts, index),
            Some(limit) => limit,
            None => in_between(),
        },
        Phase::Delivering => Limit::RoundTrip,
        Phase::Opening | Phase::Closing | Phase::Empty | Phase::Unanswered | Phase::Sending => {
            growing.unwrap_or_else(in_between)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::path::trains::Trains;
    use crate::diagnosis::sender::incidents::Incidents;
    use crate::diagnosis::sender::meter::Slice;
    use crate::diagnosis::sender::totals::Totals;

    /// What a rest that may be held is, in slices of 10 ms on a path of 40 ms, with two segments each, some of which follow
    /// no ACK.
    fn rest_held(parts: (u64, u64), window: u32, short: u16) -> Limit {
        let slice = |n: u64| Slice {
            until: n * 10_000_000,
            flight: 10_000,
            window,
            segments: 2,
            unprompted: u16::from(n.is_multiple_of(2)),
            short,
            ..Slice::default()
        };
        let totals = Totals { segment: 1000, ..Totals::default() };
        let none = Trains::default();
        let slices = (1..=40).map(slice).collect();
        let facts = Facts::new(slices, parts, totals, [&none, &none], Default::default());
        let moment =
            Moment { phase: Phase::RestHeld, from: 0, until: 400_000_000, at: 205_000_000, index: 20 };
        judge(&facts, &moment)
    }

    #[test]
    fn a_rest_behind_a_full_window_waits_for_the_window_and_others_for_an_ack_or_the_application() {
        let (at_sender, at_receiver) = ((0, 40_000_000), (40_000_000, 0));
        assert_eq!(rest_held(at_sender, 10_500, 0), Limit::ReceiveWindow);
        assert_eq!(rest_held(at_sender, 60_000, 0), Limit::Application);
        assert_eq!(rest_held(at_receiver, 60_000, 1), Limit::NagleDelayedAck);
    }

    #[test]
    fn what_was_sent_long_ago_and_has_no_answer_waits_for_a_full_path_or_the_application_has_no_more() {
        let none = Trains::default();
        let slices = (1..=40).map(|n| Slice { until: n * 10_000_000, ..Slice::default() }).collect();
        let mut facts =
            Facts::new(slices, (0, 40_000_000), Totals::default(), [&none, &none], Default::default());
        let limit = |facts: &Facts| {
            let (phase, at) = (Phase::Unanswered, 205_000_000);
            judge(facts, &Moment { phase, from: 0, until: 400_000_000, at, index: 20 })
        };
        assert_eq!(limit(&facts), Limit::Application);
        facts.path.now.iter_mut().for_each(|now| (now.full, now.many) = (true, true));
        facts.filled_by = vec![Limit::Bottleneck; 10];
        assert_eq!(limit(&facts), Limit::Bottleneck);
    }

    #[test]
    fn while_a_probe_of_the_path_mtu_is_missing_it_is_the_limit() {
        let mut incidents = Incidents::default();
        for n in 0..5 {
            let len = if n == 3 { 1400 } else { 1000 };
            incidents.probes.note_sent(n * 50_000_000, (n as i64 * 1400, len), 1460);
        }
        incidents.probes.note_resent((4200, 1000));
        incidents.probes.note_ack(250_000_000, 5600);
        let none = Trains::default();
        let slices = (1..=40).map(|n| Slice { until: n * 10_000_000, ..Slice::default() }).collect();
        let facts = Facts::new(slices, (0, 40_000_000), Totals::default(), [&none, &none], incidents);
        let limit = |at: u64| {
            let phase = Phase::FastRecovery;
            judge(&facts, &Moment { phase, from: 0, until: 400_000_000, at, index: facts.index_at(at) })
        };
        assert_eq!([100, 200, 300].map(|ms| limit(ms * 1_000_000) == Limit::PathMtu), [false, true, false]);
    }

    #[test]
    fn in_a_black_hole_long_packets_are_missing_whatever_the_sender_does() {
        let none = Trains::default();
        let slices = (1..=40).map(|n| Slice { until: n * 10_000_000, ..Slice::default() }).collect();
        let mut facts =
            Facts::new(slices, (0, 40_000_000), Totals::default(), [&none, &none], Default::default());
        facts.black_holes = vec![(100_000_000, 200_000_000)];
        let limit = |phase, at: u64| {
            judge(&facts, &Moment { phase, from: 0, until: 400_000_000, at, index: facts.index_at(at) })
        };
        for phase in [Phase::Sending, Phase::FastRecovery, Phase::TailLoss, Phase::Empty] {
            assert_eq!(limit(phase, 150_000_000), Limit::PathMtu);
            assert_ne!(limit(phase, 250_000_000), Limit::PathMtu);
        }
        assert_eq!(limit(Phase::Closing, 150_000_000), Limit::Teardown);
    }
}
