//! The timeline of a direction, from what its sender knows and from how full its path was.

use super::direction::{Direction, Limited};
use super::queues::Full;
use super::sender::{Change, Held, SenderLog};
use netspurt_budget::{Limit, Timeline};
use netspurt_tcp::time::{Span, Time};

/// The share of a full link below which others count as its users.
const HALF: f64 = 0.5;

pub(super) fn combine(direction: Direction, log: SenderLog, full: &Full) -> Limited {
    let round = log.rtt_least.unwrap_or(Span::ZERO);
    let mut instants = sender_timeline(&log, round);
    for &(from, until, limit) in &log.waits {
        overlay(&mut instants, from.as_ps(), until.as_ps(), limit, |_| true);
    }
    let step = (round.as_ps() / 4).max(1);
    for (from, until, channel) in full.of(direction, round.as_ps()) {
        let mut begin = (from, None);
        let mut at = from;
        while at < until {
            let next = (at + step).min(until);
            let share = full.share(channel, direction, next.saturating_sub(round.as_ps()), next);
            let limit = Some(if share < HALF { Limit::CrossTraffic } else { Limit::Bottleneck });
            if begin.1 != limit {
                set(&mut instants, begin, at);
                begin = (at, limit);
            }
            at = next;
        }
        set(&mut instants, begin, until);
    }
    let opened = log.opened;
    let mut timeline = Timeline::default();
    for (index, &(_, limit)) in instants.iter().enumerate() {
        let end = instants.get(index + 1).map_or(log.acknowledged_at.as_ps(), |next| next.0);
        let end = end.min(log.acknowledged_at.as_ps());
        timeline.extend(Time::from_ps(end.saturating_sub(opened.as_ps())), limit);
    }
    Limited {
        direction,
        opened,
        bytes: log.acknowledged,
        rtt_least_s: round.as_secs_f64(),
        timeline: timeline.without_shorter_than(round.scale(1, 4)),
    }
}

/// Sets the limit of a full path from its begin until `until`.
fn set(instants: &mut Vec<(u64, Limit)>, (from, limit): (u64, Option<Limit>), until: u64) {
    if let Some(limit) = limit {
        overlay(instants, from, until, limit, waits_for_the_path);
    }
}

/// Whether a full path is what counts while the sender is limited so: not before it is open, and not while it has nothing
/// outstanding.
const fn waits_for_the_path(limit: Limit) -> bool {
    !matches!(limit, Limit::Handshake | Limit::Application | Limit::Teardown)
}

/// The limits as the sender knows them, each with its begin.
fn sender_timeline(log: &SenderLog, round: Span) -> Vec<(u64, Limit)> {
    let changes = &log.changes;
    let mut instants = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        let limit = match change.held {
            Held::By(limit) => limit,
            Held::AllSent => {
                let next = changes[index + 1..]
                    .iter()
                    .find(|next| next.held != Held::AllSent || next.written > change.written);
                // On its way for a round trip; an ACK that comes later was delayed and held nobody.
                let arrives = change.at + round;
                let writes_before = |next: &Change| next.written > change.written && next.at < arrives;
                if next.is_some_and(writes_before) {
                    Limit::Application
                } else {
                    instants.push((change.at.as_ps(), Limit::RoundTrip));
                    if next.is_none_or(|next| next.at > arrives) {
                        instants.push((arrives.as_ps(), Limit::Application));
                    }
                    continue;
                }
            }
        };
        instants.push((change.at.as_ps(), limit));
    }
    instants
}

/// Sets `limit` from `from` to `until`, wherever the limit before is one that `replaces`.
fn overlay(
    instants: &mut Vec<(u64, Limit)>,
    from: u64,
    until: u64,
    limit: Limit,
    replaces: impl Fn(Limit) -> bool,
) {
    let cut = |instants: &mut Vec<(u64, Limit)>, at: u64| {
        let index = instants.partition_point(|instant| instant.0 < at);
        if index > 0 && instants.get(index).is_none_or(|instant| instant.0 != at) {
            let before = instants[index - 1].1;
            instants.insert(index, (at, before));
        }
        index
    };
    if from >= until {
        return;
    }
    let first = cut(instants, from);
    let last = cut(instants, until);
    for instant in &mut instants[first..last] {
        if replaces(instant.1) {
            instant.1 = limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_replaces_only_what_it_may() {
        let mut instants = vec![(0, Limit::Handshake), (10, Limit::SlowStart), (50, Limit::Application)];
        overlay(&mut instants, 5, 60, Limit::Bottleneck, waits_for_the_path);
        assert_eq!(
            instants,
            [
                (0, Limit::Handshake),
                (5, Limit::Handshake),
                (10, Limit::Bottleneck),
                (50, Limit::Application),
                (60, Limit::Application),
            ]
        );
    }
}
