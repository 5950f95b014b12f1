//! The rules, one file for each family of limits. Each is a pure function of the facts and the place in time.

mod application;
mod growth;
mod queue;
mod repair;
mod window;

use super::facts::Facts;
use super::phase::Phase;
use netspurt_budget::Limit;

/// The limit of a sender in `phase` during slice `index`.
///
/// The order of the rules is the order of what would help: on a full path no change of TCP brings more.
pub(super) fn judge(facts: &Facts, phase: Phase, index: usize) -> Limit {
    match phase {
        Phase::Opening => return Limit::Handshake,
        Phase::Closing => return Limit::Teardown,
        Phase::Empty => return application::nothing_outstanding(),
        _ => {}
    }
    if let Some(limit) = queue::full_path(facts, phase, index) {
        return limit;
    }
    match phase {
        Phase::FastRecovery | Phase::Timeout | Phase::TailLoss => repair::repairing(facts, phase, index),
        Phase::WindowFull => window::window_full(facts, index),
        Phase::ShortHeld => Limit::NagleDelayedAck,
        Phase::Drained => match application::sent_all(facts, index) {
            Some(limit) => limit,
            None => growth::in_between(facts, index),
        },
        Phase::Delivering => Limit::RoundTrip,
        Phase::Opening | Phase::Closing | Phase::Empty | Phase::Sending => growth::in_between(facts, index),
    }
}
