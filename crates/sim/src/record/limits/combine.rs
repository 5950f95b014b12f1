//! The timeline of one direction, from the sender's log and from the state of its path.

use super::acks::late;
use super::direction::{Direction, Limited};
use super::queues::Full;
use super::sender::{Change, Held, SenderLog};
use super::trouble::{Drop, Troubles};
use crate::network::loss::Cause;
use netspurt_budget::{Limit, Timeline};
use netspurt_tcp::time::{Span, Time};

/// If a direction has less than this share of a full link, other traffic counts as the cause. The share is measured over
/// this many round trips: within one, shares vary by chance.
const HALF: f64 = 0.5;
const SHARE_ROUNDS: u64 = 10;

/// A path that carries nothing for less than the least retransmission timer of Linux, in picoseconds, varies its delay.
const LEAST_SILENCE: u64 = Span::from_ms(200).as_ps();

/// Limits, each with the time at which it begins.
type Instants = Vec<(u64, Limit)>;
/// Periods: begin and end.
type Periods = Vec<(u64, u64)>;

pub(super) fn combine(direction: Direction, log: SenderLog, full: &Full, troubles: &Troubles) -> Limited {
    let round = log.rtt_least.unwrap_or(Span::ZERO);
    let (mut instants, unanswered) = sender_timeline(&log, round);
    for &(from, until, limit) in &log.waits {
        // A SYN that is lost makes the handshake longer, and a FIN the end; no data waits for them.
        let waits = |limit| !matches!(limit, Limit::Handshake | Limit::Teardown);
        overlay(&mut instants, from.as_ps(), until.as_ps(), limit, waits);
    }
    name_needless_repairs(&mut instants, direction, &log, troubles);
    for (from, until, held) in silences(&log, round.as_ps(), (direction, troubles)) {
        overlay(&mut instants, from, until, Limit::Outage, |limit| {
            waits_for_what_is_held(limit) || held && limit.is_repair()
        });
    }
    for (from, until) in late(&log, round.as_ps()) {
        overlay(&mut instants, from, until, Limit::AckPath, waits_for_acks);
    }
    for &(from, until) in &log.policed {
        overlay(&mut instants, from, until, Limit::Policer, follows_a_loss);
    }
    full_path(&mut instants, direction, full, round.as_ps());
    paced_at_capacity(&mut instants, direction, full, round.as_ps());
    paced_in_full_window(&mut instants, &log.changes);
    for (from, until) in unanswered {
        overlay(&mut instants, from, until, Limit::Application, |limit| limit == Limit::RoundTrip);
    }
    for (from, until, others_pass) in black_holes(&log, troubles.drops_of(direction)) {
        overlay(&mut instants, from, until, Limit::PathMtu, |limit| {
            waits_for_the_path(limit) && !(others_pass && is_full(limit))
        });
    }
    for (from, until) in troubles.downs_of(direction, full) {
        // For the sender it lasts until a segment arrives again.
        let index = log.acks.partition_point(|ack| ack.0 < until);
        let until = log.acks.get(index).map_or(until, |ack| ack.0);
        overlay(&mut instants, from, until, Limit::Outage, waits_for_the_path);
    }
    let opened = log.opened;
    // If data is never acknowledged, the sender waits until it gives up, or until the run ends.
    let over = if log.outstanding { log.active_at } else { log.acknowledged_at }.as_ps();
    let mut timeline = Timeline::default();
    for (index, &(_, limit)) in instants.iter().enumerate() {
        let end = instants.get(index + 1).map_or(over, |next| next.0).min(over);
        timeline.extend(Time::from_ps(end.saturating_sub(opened.as_ps())), limit);
    }
    Limited {
        direction,
        opened,
        bytes: log.acknowledged,
        outstanding: log.outstanding,
        rtt_least_s: log.measures.rtt_least().unwrap_or(round).as_secs_f64(),
        retransmitted: u64::from(log.retransmitted),
        retransmitted_before: 0,
        measures: log.measures,
        timeline: timeline.without_shorter_than(round.scale(1, 4)),
        exchanges: Vec::new(),
    }
}

/// Sets the limit during the periods in which the path was full.
fn full_path(instants: &mut Vec<(u64, Limit)>, direction: Direction, full: &Full, round: u64) {
    let step = (round / 4).max(1);
    for (from, until, channel) in full.of(direction, round) {
        let mut begin = (from, None);
        let mut at = from;
        while at < until {
            let next = (at + step).min(until);
            let limit = Some(filled_by(direction, full, channel, (next, round)));
            if begin.1 != limit {
                set(instants, begin, at);
                begin = (at, limit);
            }
            at = next;
        }
        set(instants, begin, until);
    }
}

/// What fills a full link at `at`.
fn filled_by(direction: Direction, full: &Full, channel: u32, (at, round): (u64, u64)) -> Limit {
    let share = full.share(channel, direction, at.saturating_sub(SHARE_ROUNDS * round), at);
    if share < HALF {
        Limit::CrossTraffic
    } else if full.is_shaped(channel, at.saturating_sub(round), at) {
        Limit::Shaper
    } else {
        Limit::Bottleneck
    }
}

/// A sender whose congestion window is nearly full would gain nothing without pacing.
fn paced_in_full_window(instants: &mut [(u64, Limit)], changes: &[Change]) {
    for instant in instants.iter_mut().filter(|instant| instant.1 == Limit::Pacing) {
        let behind = changes.partition_point(|change| change.at.as_ps() <= instant.0);
        if behind.checked_sub(1).is_some_and(|last| changes[last].held == Held::Paced) {
            instant.1 = Limit::CongestionWindow;
        }
    }
}

/// A sender that paces at the capacity of a link keeps it busy without a queue: without pacing it would gain nothing. Nor would one that
/// paces at the rate of a policer: what it sent sooner would be dropped.
fn paced_at_capacity(instants: &mut [(u64, Limit)], direction: Direction, full: &Full, round: u64) {
    let channels = full.channels_of(direction);
    let policed = SHARE_ROUNDS * round;
    for instant in instants.iter_mut().filter(|instant| instant.1 == Limit::Pacing && instant.0 >= round) {
        let at = instant.0;
        if let Some(&channel) = channels.iter().find(|&&channel| full.is_busy(channel, at - round, at)) {
            instant.1 = filled_by(direction, full, channel, (at, round));
        } else if channels.iter().any(|&channel| full.is_policed(channel, at.saturating_sub(policed), at)) {
            instant.1 = Limit::Policer;
        }
    }
}

/// The periods in which packets that were too long for a link were missing: from the first drop until more was acknowledged, and whether
/// data that its sender sent later passed meanwhile.
///
/// Then one packet was longer than the others, as a probe of the path MTU is. While the others keep the path full, nothing would arrive
/// sooner if the long one passed.
fn black_holes(log: &SenderLog, drops: &[Drop]) -> Vec<(u64, u64, bool)> {
    let mut holes: Vec<(u64, u64, bool)> = Vec::new();
    for drop in drops.iter().filter(|drop| drop.cause == Cause::TooBig) {
        if holes.last().is_some_and(|hole| drop.at < hole.1) {
            continue;
        }
        let index = log.acks.partition_point(|ack| ack.1 <= drop.range.0);
        let until = log.acks.get(index).map_or(u64::MAX, |ack| ack.0);
        holes.push((drop.at, until, drop.passed.is_some_and(|at| at < until)));
    }
    holes
}

/// The limit during repairs of data that was not lost: `reordering` if they began with duplicate ACKs, `ack-path` if ACKs
/// were lost, otherwise `spurious`.
fn name_needless_repairs(
    instants: &mut [(u64, Limit)],
    direction: Direction,
    log: &SenderLog,
    troubles: &Troubles,
) {
    let repairs = |limit| matches!(limit, Limit::FastRecovery | Limit::Timeout | Limit::TailLoss);
    let mut index = 0;
    let mut checked = 0;
    while index < instants.len() {
        let first = index;
        while instants.get(index).is_some_and(|instant| repairs(instant.1)) {
            index += 1;
        }
        if first == index {
            index += 1;
            continue;
        }
        let (from, until) = (instants[first].0, instants.get(index).map_or(u64::MAX, |next| next.0));
        let acknowledged = |at: u64| {
            let ack = log.acks.partition_point(|ack| ack.0 < at);
            ack.checked_sub(1).map_or(0, |last| log.acks[last].1)
        };
        let sent = log.changes.partition_point(|change| change.at.as_ps() <= until);
        let written = log.changes[sent - 1].written;
        if !troubles.lost(direction, (acknowledged(from), written), until) {
            let acks = troubles.drops_of(direction.reverse());
            let ack_lost = acks.iter().any(|drop| drop.at >= checked && drop.at <= until);
            for instant in &mut instants[first..index] {
                instant.1 = match instant.1 {
                    Limit::FastRecovery => Limit::Reordering,
                    _ if ack_lost => Limit::AckPath,
                    _ => Limit::Spurious,
                };
            }
        }
        checked = from;
    }
}

/// The periods of more than two round trips, `round`, in which nothing arrived at either end although the path had a packet all
/// the time, until something arrives at the sender.
///
/// No timer expires sooner than `LEAST_SILENCE`: on a path whose delay varies, two of its least round trips may be shorter.
///
/// A path may hold packets as long as it carries nothing, and deliver them later. Whatever the sender waits for, it would not
/// have come sooner by any change of TCP. A timer that expires meanwhile is needless, but nor would anything have arrived sooner
/// without it. Each period has whether the packet that ends it is known to have left before it began: then a repair of something else is no
/// sooner there either, because it is behind that packet.
fn silences(
    log: &SenderLog,
    round: u64,
    (direction, troubles): (Direction, &Troubles),
) -> Vec<(u64, u64, bool)> {
    let acks = log.acks.iter().map(|ack| (ack.0, true));
    let reached = log.reached.iter().map(|reached| (reached.0, false));
    let mut events: Vec<(u64, bool)> = acks.chain(reached).collect();
    events.sort_unstable();
    let long = events.windows(2).filter(|pair| pair[1].0 - pair[0].0 > LEAST_SILENCE.max(2 * round));
    let held = long.filter_map(|pair| {
        let ((from, _), (until, at_sender)) = (pair[0], pair[1]);
        let (arrivals, departures) =
            if at_sender { (&log.acks, &log.arrived) } else { (&log.reached, &log.departed) };
        let index = arrivals.partition_point(|arrival| arrival.0 < until);
        let before = index.checked_sub(1).map_or(0, |last| arrivals[last].1);
        let now = arrivals[index].1;
        // What ends the silence had left before it began: an ACK of everything that had arrived, or the first missing byte.
        let left = departures.partition_point(|left| left.1 < if at_sender { now } else { before + 1 });
        let left = departures.get(left).filter(|left| now > before && left.0 <= from)?;
        let lost = if at_sender {
            let acks = troubles.drops_of(direction.reverse());
            acks.iter().any(|drop| left.0 <= drop.at && drop.at <= until)
        } else {
            troubles.lost(direction, (before, before + 1), until)
        };
        let index = log.acks.partition_point(|ack| ack.0 < until);
        Some((from, log.acks.get(index).map_or(until, |ack| ack.0), !lost))
    });
    held.collect()
}

/// Whether the sender waits for what a path holds, and nothing was lost.
const fn waits_for_what_is_held(limit: Limit) -> bool {
    waits_for_acks(limit) || matches!(limit, Limit::RoundTrip | Limit::Spurious)
}

/// Whether this limit would change if ACKs were on time.
const fn waits_for_acks(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::CongestionWindow
            | Limit::SlowStart
            | Limit::IdleRestart
            | Limit::ReceiveWindow
            | Limit::SendBuffer
    )
}

/// Whether this limit follows from a loss.
const fn follows_a_loss(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::CongestionWindow
            | Limit::Pacing
            | Limit::SlowStart
            | Limit::FastRecovery
            | Limit::Timeout
            | Limit::TailLoss
            | Limit::AckPath
    )
}

/// Sets the limit of a full path from its begin until `until`.
fn set(instants: &mut Vec<(u64, Limit)>, (from, limit): (u64, Option<Limit>), until: u64) {
    if let Some(limit) = limit {
        overlay(instants, from, until, limit, waits_for_the_path);
    }
}

/// Whether packets fill the path.
const fn is_full(limit: Limit) -> bool {
    matches!(limit, Limit::Bottleneck | Limit::CrossTraffic | Limit::Shaper)
}

/// Whether a full path takes precedence over this limit of the sender: not during the handshake, and not while it has
/// nothing outstanding.
const fn waits_for_the_path(limit: Limit) -> bool {
    !matches!(limit, Limit::Handshake | Limit::Application | Limit::Teardown)
}

/// The limits that the sender knows, each with its begin, and the periods in which everything was sent for longer than a
/// round trip. Such a period counts as `round-trip` at first. Where the path is full, its queue delays the data. Elsewhere
/// the ACK was delayed, which did not hold up the sender.
fn sender_timeline(log: &SenderLog, round: Span) -> (Instants, Periods) {
    let changes = &log.changes;
    let mut instants = Vec::with_capacity(changes.len());
    let mut unanswered = Periods::new();
    for (index, change) in changes.iter().enumerate() {
        let limit = match change.held {
            Held::By(limit) => limit,
            Held::Paced => Limit::Pacing,
            Held::Short => {
                // An ACK of everything would have released it.
                let filled = changes.get(index + 1).is_some_and(|next| {
                    next.written > change.written
                        && (next.acknowledged == change.acknowledged || next.acknowledged < change.sent)
                });
                if filled { Limit::Application } else { Limit::NagleDelayedAck }
            }
            Held::AllSent => {
                let next = changes[index + 1..]
                    .iter()
                    .find(|next| next.held != Held::AllSent || next.written > change.written);
                let arrives = change.at + round;
                let writes_before = |next: &Change| next.written > change.written && next.at < arrives;
                if next.is_some_and(writes_before) {
                    Limit::Application
                } else {
                    instants.push((change.at.as_ps(), Limit::RoundTrip));
                    let until = next.map_or(u64::MAX, |next| next.at.as_ps());
                    if until > arrives.as_ps() {
                        unanswered.push((arrives.as_ps(), until));
                    }
                    continue;
                }
            }
        };
        instants.push((change.at.as_ps(), limit));
    }
    (instants, unanswered)
}

/// Sets `limit` from `from` to `until` where `replaces` accepts the present limit.
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

    /// A millisecond in picoseconds.
    const MS: u64 = Span::from_ms(1).as_ps();
    const CLIENT: Direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };

    #[test]
    fn a_sender_that_paces_at_the_capacity_of_a_link_is_limited_by_the_link() {
        let direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };
        let limits = |busy: u64| {
            let mut queues = super::super::queues::Queues::default();
            for n in 0..20 {
                queues.transmits(3, direction, 100, n * 10, n * 10 + busy);
            }
            let mut instants = vec![(60, Limit::Pacing), (100, Limit::CongestionWindow)];
            paced_at_capacity(&mut instants, direction, &queues.finish(), 40);
            instants[0].1
        };
        assert_eq!(limits(10), Limit::Bottleneck);
        assert_eq!(limits(8), Limit::Pacing);
    }

    #[test]
    fn a_sender_that_paces_at_the_rate_of_a_policer_is_limited_by_the_policer() {
        let direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };
        // 100 bytes in 10 ms are 80 kbit/s.
        let limits = |rate: u64| {
            let mut queues = super::super::queues::Queues::default();
            queues.set_policed(3, rate);
            for n in 0..60 {
                queues.transmits(3, direction, 100, n * 10 * MS, (n * 10 + 1) * MS);
            }
            let mut instants = vec![(500 * MS, Limit::Pacing), (600 * MS, Limit::CongestionWindow)];
            paced_at_capacity(&mut instants, direction, &queues.finish(), 40 * MS);
            instants[0].1
        };
        assert_eq!(limits(82_000), Limit::Policer);
        assert_eq!(limits(100_000), Limit::Pacing);
    }

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

    #[test]
    fn a_long_packet_behind_which_others_pass_closes_no_path_that_is_full() {
        let direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };
        let of = |passes: bool| {
            let mut log = log_of(&[(0, Held::By(Limit::SlowStart), 9000, 0)]);
            log.acks = vec![(100, 1000), (400, 3000)];
            let mut troubles = Troubles::default();
            let mut segment = netspurt_tcp::segment::Segment::default();
            (segment.payload.offset, segment.payload.len) = (1000, 1500);
            troubles.dropped(200, 3, direction, (&segment, Cause::TooBig));
            (segment.payload.offset, segment.payload.len) = (2500, 500);
            troubles.passed(210, if passes { 3 } else { 2 }, direction, &segment);
            black_holes(&log, troubles.drops_of(direction))
        };
        assert_eq!(of(false), [(200, 400, false)], "another link passes it");
        assert_eq!(of(true), [(200, 400, true)]);
    }

    #[test]
    fn a_sender_that_paces_in_a_full_congestion_window_is_limited_by_the_window() {
        let changes = [
            (0, Held::Paced, 9000, 0),
            (100, Held::By(Limit::Pacing), 9000, 1000),
            (200, Held::Paced, 9000, 2000),
        ];
        let log = log_of(&changes);
        let mut instants = vec![
            (0, Limit::Pacing),
            (50, Limit::Bottleneck),
            (70, Limit::Pacing),
            (100, Limit::Pacing),
            (200, Limit::Pacing),
        ];
        paced_in_full_window(&mut instants, &log.changes);
        let limits: Vec<Limit> = instants.iter().map(|instant| instant.1).collect();
        let (window, pacing) = (Limit::CongestionWindow, Limit::Pacing);
        assert_eq!(limits, [window, Limit::Bottleneck, window, pacing, window]);
    }

    /// A sender with these changes: time, reason, bytes written, bytes acknowledged.
    fn log_of(changes: &[(u64, Held, u64, u64)]) -> SenderLog {
        let mut log = SenderLog::new(Time::ZERO);
        let change = |&(at, held, written, acknowledged)| Change {
            at: Time::from_ps(at),
            held,
            written,
            acknowledged,
            sent: written,
        };
        log.changes.extend(changes.iter().map(change));
        log
    }

    #[test]
    fn a_short_segment_that_more_data_fills_waits_for_the_application_and_one_that_an_ack_releases_does_not()
    {
        let log = log_of(&[
            (0, Held::Short, 500, 0),
            (10, Held::Short, 1000, 0),
            (20, Held::AllSent, 1000, 400),
            (90, Held::By(Limit::Teardown), 1000, 1000),
        ]);
        let limits = sender_timeline(&log, Span::from_ps(100)).0;
        let expected = [
            (0, Limit::Application),
            (10, Limit::NagleDelayedAck),
            (20, Limit::RoundTrip),
            (90, Limit::Teardown),
        ];
        assert_eq!(limits, expected);
    }

    #[test]
    fn a_syn_that_is_lost_belongs_to_the_handshake() {
        let direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };
        let mut log =
            log_of(&[(0, Held::By(Limit::Handshake), 0, 0), (1000, Held::By(Limit::SlowStart), 9000, 0)]);
        log.waits.push((Time::ZERO, Time::from_ps(900), Limit::TailLoss));
        log.acknowledged_at = Time::from_ps(3000);
        let full = super::super::queues::Queues::default().finish();
        let timeline = combine(direction, log, &full, &Troubles::default()).timeline;
        let limits: Vec<Limit> = timeline.intervals().iter().map(|interval| interval.limit).collect();
        assert_eq!(limits, [Limit::Handshake, Limit::SlowStart]);
    }

    #[test]
    fn a_path_that_holds_everything_carries_nothing_for_two_round_trips_or_more() {
        let mut log = log_of(&[(0, Held::By(Limit::SlowStart), 9000, 0)]);
        let at = |events: &[(u64, u64)]| events.iter().map(|&(ms, end)| (ms * MS, end)).collect();
        log.acks = at(&[(100, 1000), (300, 2000), (620, 4000), (700, 5000)]);
        log.departed = at(&[(0, 1000), (200, 3000), (320, 4000), (600, 5000)]);
        log.reached = at(&[(50, 1000), (250, 2000), (350, 3000), (600, 4000), (650, 5000)]);
        log.arrived.clone_from(&log.reached);
        let none = Troubles::default();
        let silences = |log: &SenderLog, troubles: &Troubles| silences(log, 100 * MS, (CLIENT, troubles));
        assert_eq!(silences(&log, &none), [(350 * MS, 620 * MS, true)]);
        // What arrives then was sent only then.
        log.departed[2].0 = 500 * MS;
        assert_eq!(silences(&log, &none), []);
    }

    #[test]
    fn a_repair_behind_a_packet_that_the_path_holds_waits_for_the_path() {
        // The path holds the byte at 2000 from 350 to 600 ms. The one at 3000 is lost before that.
        let of = |lost: u64| {
            let mut log = log_of(&[
                (0, Held::By(Limit::CongestionWindow), 9000, 0),
                (400 * MS, Held::By(Limit::TailLoss), 9000, 2000),
            ]);
            let at = |events: &[(u64, u64)]| events.iter().map(|&(ms, end)| (ms * MS, end)).collect();
            log.acks = at(&[(100, 1000), (345, 2000), (700, 3000)]);
            log.departed = at(&[(0, 1000), (200, 2000), (320, 5000)]);
            log.reached = at(&[(50, 1000), (250, 2000), (600, 3000)]);
            log.rtt_least = Some(Span::from_ms(100));
            (log.acknowledged, log.acknowledged_at) = (3000, Time::from_ps(700 * MS));
            let mut troubles = Troubles::default();
            let mut segment = netspurt_tcp::segment::Segment::default();
            (segment.payload.offset, segment.payload.len) = (lost, 1000);
            troubles.dropped(330 * MS, 3, CLIENT, (&segment, Cause::Queue));
            let full = super::super::queues::Queues::default().finish();
            let timeline = combine(CLIENT, log, &full, &troubles).timeline;
            timeline.intervals().last().map(|interval| interval.limit)
        };
        assert_eq!(of(3000), Some(Limit::Outage));
        assert_eq!(of(2000), Some(Limit::TailLoss), "what arrives was sent again");
    }

    #[test]
    fn an_ack_that_the_receiver_delays_is_held_by_no_path() {
        let of = |left, lost: Option<u64>| {
            let mut log = log_of(&[(0, Held::By(Limit::ReceiveWindow), 9000, 0)]);
            (log.departed, log.acks) = (vec![(0, 1000)], vec![(600 * MS, 1000)]);
            (log.reached, log.arrived) = (vec![(50 * MS, 1000)], vec![(left * MS, 1000)]);
            let mut troubles = Troubles::default();
            let ack = netspurt_tcp::segment::Segment::default();
            if let Some(at) = lost {
                troubles.dropped(at * MS, 3, CLIENT.reverse(), (&ack, Cause::Queue));
            }
            silences(&log, 100 * MS, (CLIENT, &troubles))
        };
        assert_eq!(of(50, None), [(50 * MS, 600 * MS, true)]);
        assert_eq!(of(550, None), []);
        assert_eq!(of(50, Some(60)), [(50 * MS, 600 * MS, false)], "a later ACK may have arrived");
    }

    #[test]
    fn a_repair_of_what_was_not_lost_is_named_after_what_looked_like_a_loss() {
        let direction = Direction { flow: 0, connection: 0, end: crate::record::end::End::Client };
        let log = log_of(&[(0, Held::By(Limit::SlowStart), 9000, 0)]);
        let repairs = [
            (0, Limit::SlowStart),
            (10, Limit::FastRecovery),
            (30, Limit::CongestionWindow),
            (50, Limit::Timeout),
            (90, Limit::CongestionWindow),
        ];
        let named = |troubles: &Troubles| {
            let mut instants = repairs;
            name_needless_repairs(&mut instants, direction, &log, troubles);
            [instants[1].1, instants[3].1]
        };
        let mut troubles = Troubles::default();
        assert_eq!(named(&troubles), [Limit::Reordering, Limit::Spurious]);
        let mut segment = netspurt_tcp::segment::Segment::default();
        troubles.dropped(40, 1, direction.reverse(), (&segment, Cause::PacketError));
        assert_eq!(named(&troubles), [Limit::Reordering, Limit::AckPath]);
        (segment.payload.offset, segment.payload.len) = (1000, 500);
        troubles.dropped(5, 0, direction, (&segment, Cause::Queue));
        assert_eq!(named(&troubles), [Limit::FastRecovery, Limit::Timeout]);
    }
}
