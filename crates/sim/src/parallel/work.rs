//! The work that a run has to do, by node and by channel, and how much of it there is in a second.

use crate::network::route::Routes;
use crate::spec::{FlowSpec, WorldSpec};
use std::collections::BTreeSet;

/// Bytes of a usual packet.
pub(super) const USUAL: f64 = 1500.0;

/// The rate that is assumed for a link without a rate, in bits per second.
const FAST: f64 = 10e9;

/// The work at the sender of the data of a flow for each packet, and at the receiver; in tens of instructions.
const ENDS: [u64; 2] = [38, 27];

/// The work of a router to pass on a packet, before it enters a channel.
const PASS: u64 = 4;

/// The work in a channel.
const CHANNEL: u64 = 4;

/// The further work in the slowest channel of a route, where packets wait.
const QUEUE: u64 = 7;

/// The work that a run has for each packet of all flows.
#[derive(Debug)]
pub(super) struct Loads {
    /// By node, with the channels that begin there.
    pub(super) of_node: Vec<u64>,
    /// By channel.
    pub(super) of_channel: Vec<u64>,
}

/// The work at nodes and channels.
pub(super) fn loads(spec: &WorldSpec, routes: &Routes) -> Loads {
    let mut of_node = vec![0; spec.nodes.len()];
    let mut of_channel = vec![0; 2 * spec.links.len()];
    for flow in &spec.flows {
        let Some((there, back)) = routes.between_in_class(flow.from, flow.to, flow.dscp) else { continue };
        let count = u64::from(flow.count);
        let (ends, data) = if flow.app.client_sends() {
            ([flow.from, flow.to], there)
        } else {
            ([flow.to, flow.from], back)
        };
        for (end, work) in ends.into_iter().zip(ENDS) {
            of_node[end.0 as usize] += work * count;
        }
        for channel in routes.channels(there).chain(routes.channels(back)) {
            of_channel[channel as usize] += CHANNEL * count;
            let [begin, _] = spec.ends_of(channel);
            of_node[begin.0 as usize] += PASS * count;
        }
        if let Some(slowest) = slowest(spec, routes, data) {
            of_channel[slowest as usize] += QUEUE * count;
        }
    }
    for (channel, work) in (0..).zip(&of_channel) {
        let [begin, _] = spec.ends_of(channel);
        of_node[begin.0 as usize] += work;
    }
    Loads { of_node, of_channel }
}

/// The rate of a channel, in bits per second.
fn rate(spec: &WorldSpec, channel: u32) -> f64 {
    spec.links[channel as usize / 2].directions[channel as usize % 2].rate.map_or(FAST, |rate| rate as f64)
}

/// The slowest channel of a route.
fn slowest(spec: &WorldSpec, routes: &Routes, start: u32) -> Option<u32> {
    routes.channels(start).min_by(|&a, &b| rate(spec, a).total_cmp(&rate(spec, b)))
}

/// The approximate number of packets per second: what the slowest link of each route can carry.
pub(super) fn packets_per_second(spec: &WorldSpec, routes: &Routes) -> f64 {
    let of_flow = |flow: &FlowSpec| {
        let (there, back) = routes.between_in_class(flow.from, flow.to, flow.dscp)?;
        slowest(spec, routes, if flow.app.client_sends() { there } else { back })
    };
    let narrow: BTreeSet<u32> = spec.flows.iter().filter_map(of_flow).collect();
    narrow.iter().map(|&channel| rate(spec, channel)).sum::<f64>() / 8.0 / USUAL
}
