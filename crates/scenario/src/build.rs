//! From a scenario to a world: names become numbers, choices become configurations, and flows are counted.

use crate::flow::app::App;
use crate::flow::arrivals::Arrivals;
use crate::flow::{End, Flow};
use crate::network::middlebox::{AckThinning, Aggregation, Middlebox};
use crate::network::tokens::Policer;
use crate::network::trace::Trace;
use crate::network::{self, Hub, Link, Loss, Mtu, Ports, Reorder};
use crate::own::{Algorithms, NoAlgorithms};
use crate::reading::error::ScenarioError;
use crate::scenario::Scenario;
use indexmap::IndexSet;
use netspurt_sim::host::app::AppSpec;
use netspurt_sim::host::own::OwnTcp;
use netspurt_sim::host::processor::{Costs, Handover, Reader};
use netspurt_sim::spec::{
    Access, ChannelSpec, Counted, Duplex, FlowSpec, LinkSpec, LossSpec, NodeId, NodeSpec, QueueSpec,
    ReorderSpec, WorldSpec,
};
use netspurt_tcp::config::Config;
use netspurt_tcp::time::Time;
use std::sync::Arc;

/// Octets of the timestamps option with its padding.
const TIMESTAMP_OPTION: u16 = 12;

/// Octets of the IPv4 and TCP headers without options.
const HEADERS: u32 = 40;

/// The largest number of flows in a world. Each takes some hundred octets before it starts.
const MAX_FLOWS: u64 = 10_000_000;

impl Scenario {
    /// The world that this scenario describes, with the name `name`.
    ///
    /// Nodes are in the order in which links and hubs name them, followed by hubs. Links and flows are in the order of the
    /// file, followed by links to hubs. Connections with equal settings share one configuration.
    pub fn build(&self, name: &str) -> Result<WorldSpec, ScenarioError> {
        self.build_with(name, &NoAlgorithms)
    }

    /// The same for a scenario with algorithms of the user, which `own` finds.
    pub fn build_with(&self, name: &str, own: &dyn Algorithms) -> Result<WorldSpec, ScenarioError> {
        let report = |message: String| ScenarioError {
            file: name.to_owned(),
            line: None,
            column: None,
            override_path: None,
            message,
        };
        let count: u64 = self.flow.iter().map(|flow| u64::from(flow.count)).sum();
        if count > MAX_FLOWS {
            return Err(report(format!("{count} flows are more than one run can hold: {MAX_FLOWS} at most")));
        }
        let nodes: IndexSet<&str> = self.nodes().into_iter().collect();
        let mut configs = Configs::default();
        let mut flows = Vec::with_capacity(self.flow.len());
        let mut labels = Labels::default();
        for (number, flow) in self.flow.iter().enumerate() {
            let mut config = |end| {
                let choices = self.choices(flow, end);
                let config = choices.config().map_err(|error| report(error.message))?;
                let own = choices.own(own).map_err(|message| report(format!("flow {number}: {message}")))?;
                Ok((configs.share(config), own.some()))
            };
            let ends = [config(End::From)?, config(End::To)?];
            let app = flow.app.build(own).map_err(|message| report(format!("flow {number}: {message}")))?;
            let [Some(from), Some(to)] = [&flow.from, &flow.to].map(|node| nodes.get_index_of(node.as_str()))
            else {
                return Err(report(format!("no link has the nodes of flow {number}")));
            };
            let first = labels.first_index(flow);
            flows.push(alike(flow, first, [NodeId(from as u32), NodeId(to as u32)], ends, app));
        }
        let mut spec = WorldSpec {
            links: self.link.iter().map(|(name, link)| build_link(name, link, &nodes)).collect(),
            nodes: nodes.iter().map(|node| self.build_node(node)).collect(),
            flows,
            ..WorldSpec::new(name, self.duration.0)
        };
        for change in &self.change {
            change.apply(&self.link, |link, way, apply| apply(&mut spec.links[link].directions[way]));
            spec.changes.extend(change.announce());
            spec.detours.extend(change.detour(&self.link, |node| nodes.get_index_of(node)));
        }
        for (name, hub) in &self.hub {
            build_hub(&mut spec, name, hub, &nodes);
        }
        for (number, flow) in self.flow.iter().enumerate() {
            if let App::Arrivals(arrivals) = &flow.app {
                set_arrivals(&mut spec, number, arrivals)
                    .map_err(|message| report(format!("flow {number}: {message}")))?;
            }
        }
        Ok(spec)
    }

    fn build_node(&self, name: &str) -> NodeSpec {
        let plain = NodeSpec::new(name);
        let Some(host) = self.host.get(name) else { return plain };
        let (ports, reuse) = host.ports.map_or((plain.ports, plain.reuse), Ports::build);
        NodeSpec {
            latency: host.latency.0,
            processor: host.processor.as_ref().map(build_costs),
            handover: host.handover.map_or(Handover::Whole, |choice| build_handover(choice.0)),
            reader: host.reader.map(build_reader),
            ports,
            reuse,
            ..plain
        }
    }
}

/// Sets when the transfers of a flow arrive. This needs its path.
fn set_arrivals(spec: &mut WorldSpec, number: usize, arrivals: &Arrivals) -> Result<(), String> {
    let flow = &spec.flows[number];
    let data = flow.server.mss - if flow.server.timestamps { TIMESTAMP_OPTION } else { 0 };
    let packet = [u32::from(data), u32::from(flow.server.mss) + HEADERS];
    // Without a path the world cannot be built.
    let idle = netspurt_sim::idle_path(spec, flow.from, flow.to, packet).unwrap_or_default();
    let arriving = arrivals.arriving(idle)?;
    if let AppSpec::Session(session) = &mut spec.flows[number].app {
        Arc::make_mut(session).arrivals = Some(Box::new(arriving));
    }
    Ok(())
}

fn build_costs(processor: &network::Processor) -> Costs {
    Costs {
        request: processor.request.0,
        read: processor.read.0,
        byte_read: processor.byte_read.0,
        write: processor.write.0,
        byte_written: processor.byte_written.0,
        segment_in: processor.segment_in.0,
        ack_in: processor.ack_in.0,
        byte_in: processor.byte_in.0,
        segment_out: processor.segment_out.0,
        ack_out: processor.ack_out.0,
        byte_out: processor.byte_out.0,
    }
}

fn build_reader(reader: network::Reader) -> Reader {
    Reader { buffer: reader.buffer.map(|size| size.0), rate: reader.rate.map(|rate| rate.0) }
}

fn build_handover(handover: network::Handover) -> Handover {
    match handover {
        network::Handover::Whole => Handover::Whole,
        // A single write is never larger than 32 bits.
        network::Handover::Clusters { size } => Handover::Clusters(u32::try_from(size.0).unwrap_or(u32::MAX)),
        network::Handover::Segments => Handover::Segments,
    }
}

/// The configurations in use, each stored once.
#[derive(Default)]
struct Configs(Vec<Arc<Config>>);

impl Configs {
    fn share(&mut self, config: Config) -> Arc<Config> {
        if let Some(known) = self.0.iter().find(|known| ***known == config) {
            return Arc::clone(known);
        }
        let config = Arc::new(config);
        self.0.push(Arc::clone(&config));
        config
    }
}

/// The number of flows of each name, so that two entries with the same name are numbered consecutively.
#[derive(Default)]
struct Labels(indexmap::IndexMap<Arc<str>, u32>);

impl Labels {
    /// The flow's name and the number of the first of them.
    fn first_index(&mut self, flow: &Flow) -> (Arc<str>, u32) {
        let label: Arc<str> = flow.label().into();
        let next = self.0.entry(Arc::clone(&label)).or_default();
        let first = *next;
        *next += flow.count;
        (label, first)
    }
}

/// The flows of one entry. A flow with a start beyond the range of time never starts.
fn alike(
    flow: &Flow,
    (name, first_index): (Arc<str>, u32),
    [from, to]: [NodeId; 2],
    [(client, own_client), (server, own_server)]: [(Arc<Config>, Option<Arc<OwnTcp>>); 2],
    app: AppSpec,
) -> FlowSpec {
    FlowSpec {
        name,
        first_index,
        count: flow.count,
        app,
        from,
        to,
        dscp: flow.dscp.0,
        start: Time::ZERO + flow.start.0,
        stagger: flow.stagger.0,
        client,
        server,
        own: [own_client, own_server],
    }
}

/// The number of a node: every name in a `between`, and every station.
fn node(nodes: &IndexSet<&str>, name: &str) -> NodeId {
    NodeId(nodes.get_index_of(name).expect("names were checked when the file was read") as u32)
}

fn build_link(name: &str, link: &Link, nodes: &IndexSet<&str>) -> LinkSpec {
    let [a, b] = &link.between;
    LinkSpec {
        name: name.into(),
        ends: [node(nodes, a), node(nodes, b)],
        duplex: match link.duplex {
            network::Duplex::Full => Duplex::Full,
            network::Duplex::Half => Duplex::Half,
        },
        directions: [channel(link, 0, [a, b]), channel(link, 1, [b, a])],
    }
}

/// The direction of a link with the number `way`, 0 or 1.
fn channel(link: &Link, way: usize, [from, to]: [&str; 2]) -> ChannelSpec {
    let capacity = link.recording(way).and_then(Trace::build);
    let mean = capacity.as_ref().map(|capacity| capacity.mean_rate());
    let rate = mean.or(link.rate.map(|rate| rate.of(way).0));
    let (delay, varies) = link.delay.of(way).build();
    let channel = ChannelSpec {
        rate,
        delay,
        varies,
        framing: 0,
        least: 0,
        queue: link.queue.as_ref().map_or(QueueSpec::Unlimited, |queue| queue.of(way).spec(rate)),
        loss: build_losses(link.loss.of(way), from, to),
        reorder: link.reorder.map(|reorder| {
            let Reorder { probability, delay } = *reorder.of(way);
            ReorderSpec { probability, extra_delay: delay.0 }
        }),
        duplicate: link.duplicate.map_or(0.0, |duplicate| duplicate.of(way).probability),
        corrupt: link.corrupt.map_or(0.0, |corrupt| corrupt.of(way).probability),
        capacity: None,
        mtu: link.mtu.of(way).iter().map(Mtu::build).collect(),
        middlebox: link
            .middlebox
            .as_ref()
            .and_then(|middlebox| middlebox.of(way).get().map(Middlebox::build)),
        aggregation: link.aggregation.and_then(|all| all.of(way).get().map(Aggregation::build)),
        thinning: link.ack_thinning.and_then(|all| all.of(way).get().map(AckThinning::build)),
        policer: link.policer.and_then(|policer| policer.of(way).get().map(Policer::build)),
        shaper: link.shaper.and_then(|shaper| Some(shaper.of(way).get()?.build(link.largest(way)))),
        ..ChannelSpec::default()
    };
    match capacity {
        Some(capacity) => channel.following(capacity),
        None => channel,
    }
}

/// The losses of one direction.
fn build_losses(all: &[Loss], from: &str, to: &str) -> LossSpec {
    let here = |loss: &&Loss| loss.direction().is_none_or(|way| way.from == from && way.to == to);
    let mut losses: Vec<LossSpec> = all.iter().filter(here).map(build_loss).collect();
    match losses.len() {
        0 => LossSpec::None,
        1 => losses.remove(0),
        _ => LossSpec::Several(losses),
    }
}

/// Adds a hub to the world.
fn build_hub(spec: &mut WorldSpec, name: &str, hub: &Hub, nodes: &IndexSet<&str>) {
    let stations: Vec<NodeId> = hub.stations.iter().map(|station| node(nodes, station)).collect();
    let (rate, framing) = (hub.rate.0, hub.framing.0 as u32);
    let ethernet = ChannelSpec::ethernet(rate, hub.delay.0);
    let station = ChannelSpec {
        framing,
        least: (ethernet.least + ethernet.framing).saturating_sub(framing),
        queue: hub.queue.as_ref().map_or(QueueSpec::Unlimited, |queue| queue.spec(Some(rate))),
        ..ethernet
    };
    let access = match hub.access {
        network::Access::CsmaCd => Access::CsmaCd,
        network::Access::Fifo => Access::FirstCome,
    };
    let first = spec.links.len();
    spec.hub(name, &stations, &station, access);
    for (link, from) in spec.links[first..].iter_mut().zip(&hub.stations) {
        link.directions[0].loss = build_losses(&hub.loss.0, from, name);
    }
}

fn build_loss(loss: &Loss) -> LossSpec {
    match loss {
        Loss::None => LossSpec::None,
        Loss::BitError { rate, .. } => LossSpec::BitError { rate: *rate },
        Loss::PacketError { rate, .. } => LossSpec::PacketError { rate: *rate },
        Loss::ExponentialGaps { mean, .. } => LossSpec::ExponentialGaps { mean_packets: mean.0 as f64 },
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad, .. } => {
            LossSpec::GilbertElliott {
                good_to_bad: *good_to_bad,
                bad_to_good: *bad_to_good,
                loss_good: *loss_good,
                loss_bad: *loss_bad,
            }
        }
        Loss::Script { drop, .. } => LossSpec::Script { counted: Counted::Packets, drop: drop.clone() },
        Loss::EcnBlackHole { .. } => LossSpec::EcnBlackHole,
    }
}
