//! Segments are retransmitted: `fast-recovery`, `timeout`, `tail-loss`; or without need: `reordering`, `spurious`, `ack-path`.

use super::Moment;
use crate::diagnosis::facts::Facts;
use crate::diagnosis::sender::phase::Phase;
use netspurt_budget::Limit;

/// The kind of repair, and whether it was needed.
///
/// Not needed is one of which at least half of the retransmissions are proved spurious (RFC 2883, RFC 3522), or whose first
/// retransmission was acknowledged sooner than a round trip after it left.
pub(super) fn repairing(facts: &Facts, moment: &Moment) -> Limit {
    let needless = facts
        .incidents
        .episode_in(moment.from, moment.until)
        .filter(|episode| episode.early || episode.needless * 2 >= episode.resent);
    match (moment.phase, needless) {
        (Phase::FastRecovery, Some(_)) => Limit::Reordering,
        (Phase::FastRecovery, None) => Limit::FastRecovery,
        (_, Some(episode)) if episode.acks_lost => Limit::AckPath,
        (_, Some(_)) => Limit::Spurious,
        (Phase::Timeout, None) => Limit::Timeout,
        (_, None) => Limit::TailLoss,
    }
}
