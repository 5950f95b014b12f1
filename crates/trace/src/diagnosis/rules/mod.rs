//! The rules, one file for each family of limits. Each is a pure function of the facts and the place in time.

mod application;
mod growth;
mod masked;
mod outage;
mod policer;
mod queue;
mod repair;
mod restart;
mod shaper;
mod window;

pub(super) use masked::masked;
pub(super) use policer::policed;
pub(super) use queue::filled_by;
pub(super) use restart::restarts;

use super::facts::Facts;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// The judged piece: a slice or a part of it, and the stretch of its phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) phase: Phase,
    /// Begin and end of the stretch, in nanoseconds since the begin of the connection.
    pub(super) from: u64,
    pub(super) until: u64,
    /// The middle of the judged piece.
    pub(super) at: u64,
    /// The slice.
    pub(super) index: usize,
}

/// The limit of a sender at a moment.
///
/// The order of the rules is the order of what would help: on a full path no change of TCP brings more.
pub(super) fn judge(facts: &Facts, moment: &Moment) -> Limit {
    let Moment { phase, index, .. } = *moment;
    match phase {
        Phase::Opening => return Limit::Handshake,
        Phase::Closing => return Limit::Teardown,
        Phase::Empty => return application::nothing_outstanding(facts, moment),
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
    if let Some(limit) = queue::full_path(facts, phase, index) {
        return limit;
    }
    match phase {
        Phase::FastRecovery | Phase::Timeout | Phase::TailLoss => repair::repairing(facts, moment),
        // A reader that is slow delays ACKs until the window has room again.
        _ if facts.incidents.is_late(moment.at) && !window::is_smaller(facts, index) => Limit::AckPath,
        Phase::WindowFull => window::window_full(facts, index),
        // What a window releases, a sender that paces sends between ACKs.
        Phase::RestHeld if growth::fills_window(facts, index) => window::window_full(facts, index),
        Phase::ShortHeld | Phase::RestKept => Limit::NagleDelayedAck,
        Phase::Drained | Phase::RestHeld => match application::sent_all(facts, index) {
            Some(Limit::Application) if phase == Phase::RestHeld => Limit::NagleDelayedAck,
            Some(limit) => limit,
            None => growth::in_between(facts, index),
        },
        Phase::Delivering => Limit::RoundTrip,
        Phase::Opening | Phase::Closing | Phase::Empty | Phase::Sending => {
            growing.unwrap_or_else(|| growth::in_between(facts, index))
        }
    }
}
