//! Timelines of limits as JSON, and what limited the flows of a simulation.

use netspurt_budget::{Budget, Limit, Timeline};
use netspurt_sim::record::limits::Limited;
use netspurt_sim::record::probe::End;
use netspurt_sim::record::result::FlowResult;
use netspurt_tcp::time::Time;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The intervals of a timeline.
pub(crate) fn intervals(timeline: &Timeline) -> Value {
    timeline
        .intervals()
        .iter()
        .map(|interval| {
            json!({
                "from_s": interval.from.as_secs_f64(),
                "until_s": interval.until.as_secs_f64(),
                "limit": interval.limit.name(),
            })
        })
        .collect()
}

/// What limited each connection of each flow: the simulator's own knowledge, which is certain.
pub(crate) fn flows(limits: &[Limited], flows: &[FlowResult]) -> Value {
    let mut connections: BTreeMap<(u32, u32), Vec<Value>> = BTreeMap::new();
    for limited in limits {
        let key = (limited.direction.flow, limited.direction.connection);
        connections.entry(key).or_default().push(direction(limited));
    }
    connections
        .into_iter()
        .map(|((number, connection), directions)| {
            let flow = flows.get(number as usize);
            json!({
                "flow": flow.map(|flow| &*flow.flow),
                "index": flow.map(|flow| flow.index),
                "from": flow.map(|flow| &*flow.from),
                "to": flow.map(|flow| &*flow.to),
                "connection": connection,
                "directions": directions,
            })
        })
        .collect()
}

fn direction(limited: &Limited) -> Value {
    let budget = Budget::of(&limited.timeline);
    let lines: Value = budget
        .lines()
        .iter()
        .map(|line| {
            json!({
                "limit": line.limit.name(),
                "seconds": line.time.as_secs_f64(),
                "share": line.share,
                "confidence": 1.0,
                "evidence": {},
            })
        })
        .collect();
    json!({
        "from": match limited.direction.end {
            End::Client => "client",
            End::Server => "server",
        },
        "bytes": limited.bytes,
        "start_s": limited.opened.as_secs_f64(),
        "duration_s": limited.timeline.end().since(Time::ZERO).as_secs_f64(),
        "limit": budget.dominant().unwrap_or(Limit::Unknown).name(),
        "rtt_min_s": limited.rtt_least_s,
        "budget": lines,
        "intervals": intervals(&limited.timeline),
    })
}
