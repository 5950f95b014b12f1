//! Summarises flows and links in a [`RunResult`].

use crate::host::app::{App, AppSpec};
use crate::host::endpoint::{Endpoint, Host};
use crate::host::session::{ArrivalTally, Session, Tally, VideoTally};
use crate::network::Network;
use crate::network::channel::Channel;
use crate::network::loss::Cause;
use crate::record::datagrams::DatagramResult;
use crate::record::digest::Digest;
use crate::record::held_tail::HeldTails;
use crate::record::result::{FlowResult, GroupResult, LinkResult, Performance, RunResult};
use crate::spec::{LinkSpec, Numbering, WorldSpec};
use netspurt_tcp::Connection;
use netspurt_tcp::state::CloseReason;
use netspurt_tcp::stats::Stats;
use netspurt_tcp::time::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlowRecord {
    /// It has not started.
    Waiting,
    /// It is in progress; the index of the client's endpoint.
    Live(u32),
    /// It is over; the index of its outcome.
    Over(u32),
    /// It has several connections; the index of its session.
    Session(u32),
}

/// What remains of a flow when it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Bytes read by the end that receives the data.
    delivered: u64,
    done: Time,
    delivered_at: Time,
    closed: Option<CloseReason>,
    stats: [Stats; 2],
    digests: [u64; 2],
}

impl Outcome {
    pub(crate) fn new(app: &AppSpec, pair: &[Endpoint]) -> Self {
        let receiver = usize::from(app.client_sends());
        let connection = |end: usize| pair[end].connection.as_ref();
        Self {
            delivered: connection(receiver)
                .map_or_else(|| datagram_bytes(&pair[receiver]), Connection::received),
            done: pair[0].app.done(),
            delivered_at: pair[receiver].app.done(),
            closed: connection(0).and_then(|connection| connection.closed()),
            stats: [0, 1].map(|end| connection(end).map_or_else(Stats::default, Connection::stats)),
            digests: [0, 1].map(|end| pair[end].digest.value()),
        }
    }

    /// Takes over the results of some of its ends from another part of the world.
    pub(crate) fn merge_from(&mut self, other: &Self, ends: [bool; 2], app: &AppSpec) {
        let receiver = usize::from(app.client_sends());
        if ends[receiver] {
            (self.delivered, self.delivered_at) = (other.delivered, other.delivered_at);
        }
        if ends[0] {
            (self.done, self.closed) = (other.done, other.closed);
        }
        for end in [0, 1].into_iter().filter(|&end| ends[end]) {
            self.stats[end] = other.stats[end];
            self.digests[end] = other.digests[end];
        }
    }

    /// The outcome of a session: all its connections.
    fn of_session(session: &Session) -> Self {
        let tally = &session.tally;
        Self {
            delivered: tally.delivered,
            done: session.done(),
            delivered_at: session.done(),
            closed: None,
            stats: tally.stats,
            digests: [tally.digest.value(), tally.pages.count()],
        }
    }

    /// A flow that never started.
    fn nothing() -> Self {
        Self {
            delivered: 0,
            done: Time::NEVER,
            delivered_at: Time::NEVER,
            closed: None,
            stats: [Stats::default(); 2],
            digests: [0; 2],
        }
    }
}

/// What a run leaves when it ends.
pub(crate) struct Course {
    pub(crate) spec: WorldSpec,
    pub(crate) seed: u64,
    pub(crate) network: Network,
    pub(crate) hosts: Vec<Host>,
    pub(crate) endpoints: Vec<Endpoint>,
    /// Each with the counters of all its connections.
    pub(crate) sessions: Vec<Session>,
    pub(crate) numbering: Numbering,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) held_tails: HeldTails,
    pub(crate) late_packets: u64,
    /// The time of the last event.
    pub(crate) now: Time,
}

pub(crate) fn summarise(mut course: Course, interrupted: bool) -> RunResult {
    let horizon = if interrupted { course.now } else { Time::ZERO + course.spec.duration };
    let outcomes: Vec<Outcome> = (0..course.records.len()).map(|flow| outcome(&course, flow)).collect();
    let active = active_until(&outcomes, course.network.channels(), horizon);
    let recording = course.network.close(horizon);
    let spec = &course.spec;
    let flows: Vec<FlowResult> = (0..)
        .zip(&outcomes)
        .map(|(flow, outcome)| {
            let mut result =
                flow_result(spec, course.numbering.locate(flow), outcome, tally(&course, flow), horizon);
            result.video = video(&course, flow, horizon);
            result.arrivals = arrivals(&course, flow).cloned().map(Box::new);
            result.datagrams = datagrams(&course, flow).map(Box::new);
            course.held_tails.report(flow, &spec.flows[course.numbering.locate(flow).0], &mut result);
            result
        })
        .collect();
    RunResult {
        scenario: Arc::clone(&spec.name),
        seed: course.seed,
        digest: format!("{:016x}", digest(&outcomes, course.network.channels())),
        duration_s: spec.duration.as_secs_f64(),
        active_s: active.as_secs_f64(),
        interrupted,
        groups: groups(&flows, &course, horizon),
        flows,
        links: link_results(spec, &course.network, active),
        changes: super::changes::list(&spec.changes, active),
        checksum_drops: course.hosts.iter().map(|host| host.checksum_drops).sum(),
        late_packets: course.late_packets,
        performance: Performance {
            events: course.network.events(),
            data_packets: course.network.data_packets(),
            ..Performance::default()
        },
        recording,
    }
}

fn outcome(course: &Course, flow: usize) -> Outcome {
    match &course.records[flow] {
        FlowRecord::Waiting => Outcome::nothing(),
        FlowRecord::Live(client) => {
            let pair = &course.endpoints[*client as usize..][..2];
            Outcome::new(&course.spec.flows[pair[0].description as usize].app, pair)
        }
        FlowRecord::Over(outcome) => course.outcomes[*outcome as usize],
        FlowRecord::Session(session) => Outcome::of_session(&course.sessions[*session as usize]),
    }
}

/// The time of the last activity.
fn active_until(outcomes: &[Outcome], channels: &[Channel], horizon: Time) -> Time {
    let flows = outcomes.iter().map(|outcome| outcome.done).max();
    let links = channels.iter().map(|channel| channel.occupied().0).max();
    flows.max(links).unwrap_or(Time::ZERO).min(horizon)
}

fn digest(outcomes: &[Outcome], channels: &[Channel]) -> u64 {
    let mut digest = Digest::default();
    for outcome in outcomes {
        digest.fold(outcome.digests[0]);
        digest.fold(outcome.digests[1]);
        digest.fold(outcome.delivered);
        digest.fold(outcome.done.as_ps());
        for stats in &outcome.stats {
            digest.fold(stats.segments_sent);
            digest.fold(u64::from(stats.retransmitted) << 32 | u64::from(stats.timeouts));
        }
    }
    for channel in channels {
        digest.fold(channel.digest().value());
        digest.fold(channel.counters().packets);
        digest.fold(channel.counters().bytes);
    }
    digest.value()
}

fn flow_result(
    spec: &WorldSpec,
    (description, position): (usize, u32),
    outcome: &Outcome,
    tally: Option<&Tally>,
    horizon: Time,
) -> FlowResult {
    let flow = &spec.flows[description];
    let start = flow.start_of(position);
    let [client, server] = outcome.stats;
    let (sender, receiver) = if flow.app.client_sends() { (client, server) } else { (server, client) };
    let seconds = |time: Time| (!time.is_never()).then(|| time.as_secs_f64());
    let lasted = outcome.done.min(horizon).since(start).as_secs_f64();
    let goodput_bps = if lasted > 0.0 { outcome.delivered as f64 * 8.0 / lasted } else { 0.0 };
    FlowResult {
        flow: Arc::clone(&flow.name),
        index: flow.first_index + position,
        from: Arc::clone(&spec.nodes[flow.from.0 as usize].name),
        to: Arc::clone(&spec.nodes[flow.to.0 as usize].name),
        bytes_asked: tally.map(|tally| tally.bytes_asked).or(flow.app.bytes_asked()),
        bytes_delivered: outcome.delivered,
        start_s: start.as_secs_f64(),
        end_s: seconds(outcome.done),
        delivered_s: seconds(outcome.delivered_at),
        goodput_bps,
        segments_sent: sender.segments_sent,
        retransmitted: sender.retransmitted,
        timeouts: sender.timeouts,
        fast_retransmits: sender.fast_retransmits,
        ecn_capable_sent: sender.ecn_capable_sent,
        ecn_reductions: sender.ecn_reductions,
        marks_received: receiver.marks_received,
        marks_reported: sender.marks_reported,
        naks_sent: receiver.naks_sent,
        rtt_mean_s: (sender.rtt_samples > 0)
            .then(|| sender.rtt_sum_ns as f64 * 1e-9 / sender.rtt_samples as f64),
        completed: !outcome.done.is_never(),
        wrong_bytes: client.foreign_bytes + server.foreign_bytes,
        held_tails: 0,
        held_tail_s: 0.0,
        held_at: None,
        held_by: None,
        held_for: None,
        closed: outcome.closed,
        session: tally.map(|tally| Box::new(tally.result(goodput_bps))),
        video: None,
        arrivals: None,
        datagrams: None,
        client,
        server,
    }
}

/// Results of a flow's session, if it has one.
fn tally(course: &Course, flow: u32) -> Option<&Tally> {
    let FlowRecord::Session(position) = course.records[flow as usize] else { return None };
    Some(&course.sessions[position as usize].tally)
}

/// Payload of the datagrams that arrived at an end.
fn datagram_bytes(end: &Endpoint) -> u64 {
    if let App::DatagramSink(sink) = &end.app { sink.bytes } else { 0 }
}

/// Results of the video of a flow until `end`, if it plays one.
fn video(course: &Course, flow: u32, end: Time) -> Option<VideoTally> {
    let FlowRecord::Session(position) = course.records[flow as usize] else { return None };
    course.sessions[position as usize].video(end)
}

/// Results of the transfers of a flow, if they arrive in an open loop.
fn arrivals(course: &Course, flow: u32) -> Option<&ArrivalTally> {
    let FlowRecord::Session(position) = course.records[flow as usize] else { return None };
    course.sessions[position as usize].arrivals()
}

/// Results of the datagrams of a flow, if it sends any.
fn datagrams(course: &Course, flow: u32) -> Option<DatagramResult> {
    let FlowRecord::Live(place) = course.records[flow as usize] else { return None };
    DatagramResult::of(&course.endpoints[place as usize..][..2], place, &course.network)
}

/// The flows of each name together, in order of first appearance.
fn groups(flows: &[FlowResult], course: &Course, horizon: Time) -> Vec<GroupResult> {
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut members: Vec<Vec<u32>> = Vec::new();
    for (flow, number) in flows.iter().zip(0..) {
        let position = *positions.entry(&flow.flow).or_insert(members.len());
        if position == members.len() {
            members.push(Vec::new());
        }
        members[position].push(number);
    }
    members.iter().map(|members| group(flows, course, horizon, members)).collect()
}

fn group(flows: &[FlowResult], course: &Course, horizon: Time, members: &[u32]) -> GroupResult {
    let all = || members.iter().map(|&flow| &flows[flow as usize]);
    let bytes_delivered = all().map(|flow| flow.bytes_delivered).sum();
    let first = all().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min);
    let last = all().map(|flow| flow.end_s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
    let lasted = last.min(horizon.as_secs_f64()) - first;
    let goodput_bps = if lasted > 0.0 { bytes_delivered as f64 * 8.0 / lasted } else { 0.0 };
    let mut together: Option<Tally> = None;
    for one in members.iter().filter_map(|&flow| tally(course, flow)) {
        together.get_or_insert_default().merge(one);
    }
    GroupResult {
        flow: Arc::clone(&flows[members[0] as usize].flow),
        flows: members.len() as u32,
        bytes_delivered,
        goodput_bps,
        segments_sent: all().map(|flow| flow.segments_sent).sum(),
        retransmitted: all().map(|flow| u64::from(flow.retransmitted)).sum(),
        timeouts: all().map(|flow| u64::from(flow.timeouts)).sum(),
        session: together.map(|tally| tally.result(goodput_bps)),
        video: all().filter_map(|flow| flow.video).reduce(|mut sum, one| {
            sum.merge(&one);
            sum
        }),
        arrivals: all().filter_map(|flow| flow.arrivals.as_deref()).cloned().reduce(|mut sum, one| {
            sum.merge(&one);
            sum
        }),
        datagrams: all().filter_map(|flow| flow.datagrams.as_deref()).cloned().reduce(|mut sum, one| {
            sum.merge(&one);
            sum
        }),
    }
}

fn link_results(spec: &WorldSpec, network: &Network, active: Time) -> Vec<LinkResult> {
    let ways = spec.links.iter().flat_map(|link| [(link, [0, 1]), (link, [1, 0])]);
    let channels = network.channels().iter().zip(0..);
    let result = |((channel, number), (link, way)): ((&Channel, u32), (&LinkSpec, [usize; 2]))| {
        let [from, to] = way.map(|end| &spec.nodes[link.ends[end].0 as usize].name);
        let (counters, contention) = (channel.counters(), network.contention(number));
        let collisions = contention.map(|_| Cause::Collisions);
        LinkResult {
            link: Arc::clone(&link.name),
            direction: [from, "->", to].concat(),
            packets: counters.packets,
            bytes: counters.bytes,
            drops: channel.drops_by_name(collisions),
            marked: counters.marked,
            held: counters.held,
            duplicated: counters.doubled,
            corrupted: counters.damaged,
            utilisation: channel.utilisation(active),
            queue_mean_packets: channel.queue_mean(active),
            queue_max_packets: counters.queue_max,
            contention,
            colours: channel.colours(),
        }
    };
    channels.zip(ways).map(result).collect()
}
