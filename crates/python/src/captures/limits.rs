//! Timelines of limits as JSON, and what limited the flows of a simulation.

use netspurt_budget::{Budget, Limit, Line, Measured, Timeline};
use netspurt_sim::record::limits::{Exchange, Limited};
use netspurt_sim::record::probe::End;
use netspurt_sim::record::result::FlowResult;
use netspurt_tcp::time::{Span, Time};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The intervals of a timeline that begins `began` after the connection.
pub(crate) fn intervals(timeline: &Timeline, began: Span) -> Value {
    timeline
        .intervals()
        .iter()
        .map(|interval| {
            json!({
                "from_s": (interval.from + began).as_secs_f64(),
                "until_s": (interval.until + began).as_secs_f64(),
                "limit": interval.limit.name(),
            })
        })
        .collect()
}

/// The numbers that show a limit, by their names.
pub(crate) fn numbers(limit: Limit, measured: &Measured) -> Map<String, Value> {
    measured.quantities(limit).into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

/// What limited each connection of each flow: the simulator's own knowledge, which is certain. Of a `range` of the run only that part;
/// `in_range` says whether a connection is open in it.
pub(crate) fn flows(limits: &[Limited], flows: &[FlowResult], range: Option<(Time, Time)>) -> Value {
    let mut connections: BTreeMap<(u32, u32), Vec<&Limited>> = BTreeMap::new();
    for limited in limits {
        let key = (limited.direction.flow, limited.direction.connection);
        connections.entry(key).or_default().push(limited);
    }
    let in_range = |directions: &[&Limited]| {
        range.is_none_or(|(from, until)| directions.iter().any(|each| each.touches(from, until)))
    };
    connections
        .into_iter()
        .map(|((number, connection), directions)| {
            let flow = flows.get(number as usize);
            let side = |end: End| {
                let of = directions.iter().find(|limited| limited.direction.end == end);
                of.map_or_else(|| silent(end, &directions), |limited| direction(limited, range))
            };
            json!({
                "flow": flow.map(|flow| &*flow.flow),
                "index": flow.map(|flow| flow.index),
                "from": flow.map(|flow| &*flow.from),
                "to": flow.map(|flow| &*flow.to),
                "connection": connection,
                "in_range": in_range(&directions),
                "directions": [side(End::Client), side(End::Server)],
                "transfers": transfers(&directions),
            })
        })
        .collect()
}

/// The requests of a connection with their responses. Times begin with the connection.
fn transfers(directions: &[&Limited]) -> Value {
    let of = |end| directions.iter().find(|limited| limited.direction.end == end);
    let (Some(client), Some(server)) = (of(End::Client), of(End::Server)) else { return json!([]) };
    client.exchanges.iter().map(|exchange| transfer(exchange, client, server)).collect()
}

/// The limits of the client until the response begins, then those of the server.
fn transfer(exchange: &Exchange, client: &Limited, server: &Limited) -> Value {
    let between = |limited: &Limited, from: Time, until: Time| {
        let on_its_clock = |at: Time| Time::ZERO + at.since(limited.opened);
        limited.timeline.between(on_its_clock(from), on_its_clock(until))
    };
    let until = exchange.until.max(exchange.from);
    let turn = exchange.answered.unwrap_or(until).min(until);
    let mut limits = between(client, exchange.from, turn);
    limits.append(&between(server, turn, until));
    let budget = Budget::of(&limits);
    let seconds = |at: Time| at.since(client.opened).as_secs_f64();
    let line = |line: &Line| json!({"limit": line.limit.name(), "seconds": line.time.as_secs_f64(), "share": line.share});
    json!({
        "from_s": seconds(exchange.from),
        "until_s": seconds(until),
        "request_bytes": exchange.bytes[0],
        "response_bytes": exchange.bytes[1],
        "packets": [null, null],
        "limit": budget.dominant().map(Limit::name),
        "budget": budget.lines().iter().map(line).collect::<Value>(),
    })
}

/// The direction of an end to which no packet of this connection has come.
fn silent(end: End, others: &[&Limited]) -> Value {
    let budget = Budget::of(&Timeline::default());
    let opened = others.iter().map(|other| other.opened).min().unwrap_or(Time::ZERO);
    json!({
        "from": name_of(end),
        "bytes": 0,
        "bytes_in_all": 0,
        "start_s": opened.as_secs_f64(),
        "duration_s": 0.0,
        "sentence": budget.sentence(None),
        "retransmitted": 0,
        "limit": Limit::Unknown.name(),
        "rtt_min_s": 0.0,
        "budget": [],
        "intervals": [],
    })
}

const fn name_of(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

fn direction(whole: &Limited, range: Option<(Time, Time)>) -> Value {
    let part = range.map(|(from, until)| whole.within(from, until));
    let limited = part.as_ref().unwrap_or(whole);
    let budget = Budget::of(&limited.timeline);
    let measured: Vec<Measured> = budget.lines().iter().map(|line| limited.measured(line.limit)).collect();
    let lines: Value = budget
        .lines()
        .iter()
        .zip(&measured)
        .map(|(line, measured)| {
            json!({
                "limit": line.limit.name(),
                "seconds": line.time.as_secs_f64(),
                "share": line.share,
                "confidence": 1.0,
                "sentence": measured.sentence(line.limit, line.time),
                "evidence": numbers(line.limit, measured),
            })
        })
        .collect();
    json!({
        "from": name_of(limited.direction.end),
        "bytes": limited.bytes,
        "bytes_in_all": whole.bytes,
        "start_s": whole.opened.as_secs_f64(),
        "duration_s": limited.timeline.end().since(Time::ZERO).as_secs_f64(),
        "sentence": budget.sentence(measured.first()),
        "retransmitted": limited.retransmitted,
        "limit": budget.dominant().unwrap_or(Limit::Unknown).name(),
        "rtt_min_s": limited.rtt_least_s,
        "budget": lines,
        "intervals": intervals(&limited.timeline, limited.opened.since(whole.opened)),
    })
}
