//! From the views of both senders to the diagnosis of a connection.

use super::evidence::{Evidence, evidence};
use super::facts::Facts;
use super::moment::Moment;
use super::range::{Counts, Part};
use super::rules::{conclude_whole, judge, masked};
use super::sender::SenderView;
use super::sender::totals::Totals;
use super::transfers::Transfer;
use super::vantage::{IN_HOST_NS, Vantage};
use crate::conversation::Side;
use crate::diagnosis::sender::phase::{Phase, Phases};
use crate::follow::{ConnectionId, Endpoints};
use crate::stamp::Stamp;
use netspurt_budget::{Budget, Limit, Line, Timeline, agreement};
use netspurt_tcp::time::{Span, Time};

/// What limited one connection.
#[derive(Clone, PartialEq, Debug)]
pub struct ConnectionDiagnosis {
    /// Its number.
    pub id: ConnectionId,
    /// Its endpoints.
    pub who: Endpoints,
    /// Its first packet.
    pub first: Stamp,
    /// What the client sent, then what the server sent.
    pub directions: [DirectionDiagnosis; 2],
    /// Requests with their responses, if there are two or more.
    pub transfers: Vec<Transfer>,
}

impl ConnectionDiagnosis {
    /// The direction with more bytes. Where both have as many, as in a range in which nothing was acknowledged: one that has time in it, then
    /// the one with more bytes in all.
    pub fn main(&self) -> &DirectionDiagnosis {
        let [a, b] = &self.directions;
        let weight = |way: &DirectionDiagnosis| (way.bytes, way.duration() > Span::ZERO, way.bytes_in_all);
        if weight(b) > weight(a) { b } else { a }
    }
}

/// A limit that was hidden: it held too, but relaxing it alone would have brought nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Masked {
    /// The hidden limit.
    pub limit: Limit,
    /// The limit that counted.
    pub by: Limit,
    /// For how long.
    pub time: Span,
}

/// What limited one direction of a connection, or a part of its time if the diagnosis is of a [`super::Range`].
#[derive(Clone, PartialEq, Debug)]
pub struct DirectionDiagnosis {
    /// The sender of the data.
    pub side: Side,
    /// Payload bytes that were acknowledged; those that were sent, if no ACK was captured.
    pub bytes: u64,
    /// The same of the whole connection.
    pub bytes_in_all: u64,
    /// Where the capture was taken, seen from this sender.
    pub vantage: Vantage,
    /// Where the timeline begins, since the begin of the connection.
    pub began: Time,
    /// The limits in order of time.
    pub timeline: Timeline,
    /// The time of each limit.
    pub budget: Budget,
    /// One for each line of the budget.
    pub evidence: Vec<Evidence>,
    /// What held the sender too while another limit counted, longest first.
    pub masked: Vec<Masked>,
    /// What limited it most, in one sentence.
    pub sentence: String,
    /// Least round trip of the path, in the whole connection.
    pub rtt_least: Option<Span>,
    /// Highest rate that was delivered during a round trip of the whole connection, in bits per second.
    pub rate_most_bps: f64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Whether segments were captured above segmentation offload.
    pub offload: bool,
}

impl DirectionDiagnosis {
    /// From the first packet of the connection to the last ACK of this direction; of a range, what it has of that.
    pub fn duration(&self) -> Span {
        self.timeline.end().since(Time::ZERO)
    }

    /// The limit with the most time.
    pub fn limit(&self) -> Limit {
        self.budget.dominant().unwrap_or(Limit::Unknown)
    }

    /// The budget with its evidence.
    pub fn lines(&self) -> impl Iterator<Item = (&Line, &Evidence)> {
        self.budget.lines().iter().zip(&self.evidence)
    }
}

const ONLY_DATA: &str = "The capture holds no packet of the receiver: without its ACKs, it does not show what limited the sender.";
const ONLY_ACKS: &str =
    "The capture holds no packet of the sender, only ACKs: they do not show what limited it.";

const ONE_TIME: &str = "All packets have the same time of capture, so they do not show what took long.";

/// The least measured round trips of a direction in nanoseconds, to its sender and to its receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    pub(super) behind: Option<u64>,
    pub(super) ahead: Option<u64>,
    /// From here to the receiver, by the handshake.
    pub(super) handshake: Option<u64>,
    /// From here to the sender, by the handshake.
    pub(super) reply: Option<u64>,
}

/// Packets that are out of order by less come from several queues or interfaces, and hardly change the budget.
const LEAST_SET_BACK_NS: u64 = 100_000_000;

/// A packet of a connection that is earlier than another one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetBack {
    /// By how many nanoseconds.
    pub(super) by: u64,
    /// Its number.
    pub(super) packet: u64,
}

impl SetBack {
    /// Whether so much of a connection of `duration` nanoseconds has a wrong time that its budget would be wrong.
    pub(super) const fn spoils(self, duration: u64) -> bool {
        self.by >= LEAST_SET_BACK_NS && self.by >= duration / 20
    }

    fn sentence(self) -> String {
        let seconds = self.by as f64 / 1e9;
        format!(
            "The clock of the capturing host went back by {seconds:.2} s at packet {}, or packets are out of order, so the capture \
             does not show what took long.",
            self.packet
        )
    }
}

/// What the capture shows of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// Of which ends any packet was captured.
    pub(super) captured: [bool; 2],
    /// A clock that was set back so far that the times mean nothing.
    pub(super) set_back: Option<SetBack>,
}

/// Diagnoses the `part` of one direction that ended at `end`, in nanoseconds since the begin of the connection. Returns the limits of all of
/// it too.
pub(super) fn conclude(
    side: Side,
    mut view: SenderView,
    trips: RoundTrips,
    end: u64,
    shown: Shown,
    part: impl FnOnce(bool, bool) -> Part,
) -> (DirectionDiagnosis, Timeline) {
    let end = view.finish(end);
    let [data, acks] = [shown.captured[side as usize], shown.captured[1 - side as usize]];
    view.totals.bytes = Counts::of(&view, data, acks).bytes;
    let part = part(data, acks);
    let by_sender = !view.is_beside_sender();
    let (shared_link, even) = (view.spacing.shared_link(), view.spacing.is_even());
    let SenderView { phases, meter, totals, trains, arrivals, incidents, departures, .. } = view;
    let ahead = trips.ahead.or(trips.handshake);
    let parts = (trips.behind.unwrap_or(0), ahead.unwrap_or(0));
    let in_host = trips.reply.is_some_and(|ns| ns <= IN_HOST_NS);
    let totals = Totals { handshake: trips.handshake.unwrap_or(0), in_host, shared_link, even, ..totals };
    let mut slices = meter.finish(end);
    if by_sender {
        departures.leave_out_ack_delays(&mut slices, parts.0);
    }
    let facts = Facts::new(slices, parts, totals, [&trains, &arrivals], incidents);
    let facts = conclude_whole(facts, &phases, &departures, by_sender);
    let in_time = shown.set_back.is_none();
    let (timeline, hidden) = if data && acks && in_time {
        limits(&facts, &phases, end)
    } else {
        not_shown(&phases, end, data && in_time)
    };
    let least = Span::from_ns(facts.path.base / 4);
    let whole = timeline.without_shorter_than(least);
    let timeline = part.cut(&whole);
    let masked = sums(&part.cut(&hidden.without_shorter_than(least)), &timeline);
    let (before, counted) = part.count(Counts { bytes: facts.totals.bytes, resent: facts.totals.resent });
    let budget = Budget::of(&timeline);
    let vantage = Vantage::of(trips.behind, trips.handshake.or(ahead));
    let resent = (before.resent, counted.resent);
    let found = |line| evidence(&facts, (&timeline, part.began()), line, (vantage, resent));
    let evidence: Vec<Evidence> = budget.lines().iter().map(found).collect();
    let undecided = match (data, acks, shown.set_back) {
        _ if facts.totals.bytes == 0 => None,
        (true, false, _) => Some(ONLY_DATA.to_owned()),
        (false, true, _) => Some(ONLY_ACKS.to_owned()),
        (.., Some(set_back)) => Some(set_back.sentence()),
        _ => whole.intervals().is_empty().then(|| ONE_TIME.to_owned()),
    };
    let of_budget = || budget.sentence(evidence.first().map(|evidence| &evidence.measured));
    let sentence = undecided.unwrap_or_else(of_budget);
    let diagnosis = DirectionDiagnosis {
        side,
        bytes: counted.bytes,
        bytes_in_all: facts.totals.bytes,
        vantage,
        began: part.began(),
        timeline,
        budget,
        evidence,
        masked,
        sentence,
        rtt_least: (facts.path.base > 0).then(|| Span::from_ns(facts.path.base)),
        rate_most_bps: facts.path.capacity * 8.0,
        retransmitted: counted.resent,
        offload: facts.totals.offload,
    };
    (diagnosis, whole)
}

/// The limits until `end` if one end was not captured or the times are wrong: unknown but for the handshake, whose end the first `data` shows.
fn not_shown(phases: &Phases, end: u64, data: bool) -> (Timeline, Timeline) {
    let (mut timeline, mut hidden) = (Timeline::default(), Timeline::default());
    let open =
        phases.iter().find(|(_, stretch)| stretch.phase != Phase::Opening).map_or(0, |(began, _)| began);
    if data && open > 0 {
        timeline.extend(Time::ZERO + Span::from_ns(open.min(end)), Limit::Handshake);
    }
    let until = Time::ZERO + Span::from_ns(end);
    timeline.extend(until, Limit::Unknown);
    hidden.extend(until, Limit::Unknown);
    (timeline, hidden)
}

/// The limit of each instant until `end`, and what it hides there, or `unknown`; before short intervals are given to their
/// neighbours.
fn limits(facts: &Facts, phases: &Phases, end: u64) -> (Timeline, Timeline) {
    let (mut timeline, mut hidden) = (Timeline::default(), Timeline::default());
    for (began, stretch) in phases.iter() {
        let mut from = began;
        let stretch_end = stretch.until.min(end);
        let mut index = facts.index_at(from);
        while from < stretch_end {
            let slice = facts.slices.get(index).map_or(u64::MAX, |slice| slice.until);
            // ACKs become late within a pause.
            let piece = slice.min(stretch_end).min(facts.incidents.late_edge(from)).max(from + 1);
            let at = u64::midpoint(from, piece);
            let moment = Moment { phase: stretch.phase, from: began, until: stretch_end, at, index };
            from = piece;
            let until = Time::ZERO + Span::from_ns(from);
            let limit = judge(facts, &moment);
            timeline.extend(until, limit);
            hidden.extend(until, masked(facts, &moment, limit).unwrap_or(Limit::Unknown));
            index += usize::from(from >= slice);
        }
    }
    (timeline, hidden)
}

/// How long each limit was hidden by each other one, longest first.
fn sums(hidden: &Timeline, timeline: &Timeline) -> Vec<Masked> {
    let mut all: Vec<Masked> = Vec::new();
    agreement(hidden, timeline, |limit, by, time| {
        if limit == Limit::Unknown || limit == by {
            return;
        }
        match all.iter_mut().find(|each| each.limit == limit && each.by == by) {
            Some(known) => known.time += time,
            None => all.push(Masked { limit, by, time }),
        }
    });
    all.sort_by_key(|each| core::cmp::Reverse(each.time));
    all
}
