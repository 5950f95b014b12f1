//! Writes simulated packets to a capture.
//!
//! A capture point is one end of a link. At a host it lies between TCP and the queue of the link, where `netspurt emulate` and
//! a sniffer on that host capture: a packet of the host's own is seen when TCP hands it over, and so is one that the queue
//! drops then. `LINK@NODE` lies on the wire: a packet is seen when its first bit leaves. So it is at a router. Packets that
//! arrive are seen when their last bit has arrived; packets that are lost before are not seen.

use crate::offload::Joiner;
use netspurt_sim::address;
use netspurt_sim::record::changes::comments;
use netspurt_sim::record::probe::{CaptureSink, CapturedPacket, End};
use netspurt_sim::spec::{FlowSpec, NodeId, Numbering, WorldSpec};
use netspurt_tcp::codec::{Addresses, Ports};
use netspurt_tcp::options::Layout;
use netspurt_tcp::time::Time;
use netspurt_trace::capture::{
    CaptureError, CaptureWriter, Checksum, Direction, Host, Interface, Record, Setup, simulated,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Point {
    link: u32,
    /// Which of the link's ends.
    end: usize,
    side: Side,
}

/// On which side of the link's queue a point lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// Between TCP and the queue.
    Host,
    /// Behind the queue.
    Wire,
}

/// The capture points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Points {
    points: Vec<Point>,
    /// Whether each flow is only captured at the host that sends its data.
    senders_only: bool,
}

impl Points {
    /// The points that `names` stand for: a node for all its links, `LINK@NODE` for the wire at one of them, `all` for the wire
    /// at both ends of every link. Without names each flow is seen once: at the host that sends its data.
    pub fn choose(spec: &WorldSpec, names: &[String]) -> Result<Self, String> {
        let ends = |link| [0, 1].map(|end| Point { link, end, side: Side::Wire });
        let all = || (0..spec.links.len() as u32).flat_map(ends);
        let hosts: BTreeSet<NodeId> = spec.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
        let at_node = |point: Point| {
            let side = if hosts.contains(&point.node(spec)) { Side::Host } else { Side::Wire };
            Point { side, ..point }
        };
        if names.is_empty() {
            let senders: BTreeSet<NodeId> = spec.flows.iter().map(sender).collect();
            let points = all().filter(|point| senders.contains(&point.node(spec))).map(at_node).collect();
            return Ok(Self { points, senders_only: true });
        }
        let mut points: Vec<Point> = Vec::new();
        for name in names {
            let before = points.len();
            for point in all() {
                let node = &*spec.nodes[point.node(spec).0 as usize].name;
                let known = |other: &Point| (other.link, other.end) == (point.link, point.end);
                if (name == "all" || name == node || *name == point.name(spec)) && !points.iter().any(known) {
                    points.push(if name == node { at_node(point) } else { point });
                }
            }
            if points.len() == before {
                let known: Vec<String> = all().map(|point| point.name(spec)).collect();
                return Err(format!(
                    "no further capture point \"{name}\": use a node, \"all\", or one of {}",
                    known.join(", ")
                ));
            }
        }
        Ok(Self { points, senders_only: false })
    }
}

impl Point {
    fn node(self, spec: &WorldSpec) -> NodeId {
        spec.links[self.link as usize].ends[self.end]
    }

    fn name(self, spec: &WorldSpec) -> String {
        let link = &spec.links[self.link as usize];
        format!("{}@{}", link.name, spec.nodes[self.node(spec).0 as usize].name)
    }

    fn interface(self, spec: &WorldSpec) -> Interface {
        let link = &spec.links[self.link as usize];
        let [near, far] = [self.end, 1 - self.end].map(|end| &spec.nodes[link.ends[end].0 as usize].name);
        Interface {
            name: self.name(spec),
            description: format!("{near}, on link {} to {far}", link.name),
            speed: link.directions[self.end].rate,
        }
    }
}

/// The host that sends the data of a flow.
const fn sender(flow: &FlowSpec) -> NodeId {
    if flow.app.client_sends() { flow.from } else { flow.to }
}

/// Writes a capture during the simulation. The simulator has one handle, the caller another.
#[derive(Clone)]
pub struct Tap(Arc<Mutex<State>>);

struct State {
    /// `None` when it is complete.
    writer: Option<CaptureWriter>,
    points: Points,
    /// For each direction of each link: the interfaces that capture packets at its start and at its end.
    seen_by: Vec<[Option<u32>; 2]>,
    /// The node of each interface.
    nodes: Vec<NodeId>,
    flows: Vec<FlowSpec>,
    numbering: Numbering,
    end: Time,
    /// Above segmentation offload: joins what a host sends.
    joiner: Option<Joiner>,
}

impl Tap {
    /// Starts a capture of the run of `spec` with `seed`.
    pub fn open(
        path: &Path,
        points: Points,
        spec: &WorldSpec,
        seed: u64,
        snaplen: Option<u32>,
    ) -> Result<Self, CaptureError> {
        let hosts = spec.nodes.iter().zip(0..);
        let setup = Setup {
            application: format!("netspurt {}", env!("CARGO_PKG_VERSION")),
            comment: format!("simulated: {}, seed {seed}", spec.name),
            interfaces: points.points.iter().map(|point| point.interface(spec)).collect(),
            hosts: hosts
                .map(|(node, number)| Host { address: address(number), name: node.name.to_string() })
                .collect(),
            snaplen,
            remarks: comments(&spec.changes, Time::ZERO + spec.duration)
                .into_iter()
                .map(|(at, text)| (simulated(at), text))
                .collect(),
        };
        let mut seen_by = vec![[None; 2]; 2 * spec.links.len()];
        for (point, interface) in points.points.iter().zip(0..) {
            let there = 2 * point.link as usize + point.end;
            seen_by[there][0] = Some(interface);
            seen_by[there ^ 1][1] = Some(interface);
        }
        Ok(Self(Arc::new(Mutex::new(State {
            writer: Some(CaptureWriter::create(path, &setup)?),
            nodes: points.points.iter().map(|point| point.node(spec)).collect(),
            points,
            seen_by,
            flows: spec.flows.clone(),
            numbering: spec.numbering(),
            end: Time::ZERO + spec.duration,
            joiner: None,
        }))))
    }

    /// Captures above segmentation offload: what a host of the capture sends at one instant is one frame of up to 64 KiB.
    #[must_use]
    pub fn with_offload(self) -> Self {
        self.state().joiner = Some(Joiner::default());
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The links to be watched.
    pub fn links(&self) -> Vec<u32> {
        self.state().points.points.iter().map(|point| point.link).collect()
    }

    /// Writes all packets before `now`.
    pub fn settle(&self, now: Time) -> Result<(), CaptureError> {
        let mut state = self.state();
        state.settle_frame(now);
        state.writer.as_mut().map_or(Ok(()), |writer| writer.settle(now))
    }

    /// Completes the capture and renames the file to its name.
    pub fn finish(self) -> Result<(), CaptureError> {
        let mut state = self.state();
        state.settle_frame(Time::NEVER);
        let writer = state.writer.take();
        drop(state);
        writer.map_or(Ok(()), |writer| writer.finish().map(drop))
    }
}

impl CaptureSink for Tap {
    fn packet(&mut self, channel: u32, packet: &CapturedPacket) {
        let mut state = self.state();
        let [leaving, arriving] = state.seen_by[channel as usize];
        if let Some(interface) = leaving.filter(|at| state.side(*at) == Side::Wire) {
            state.see(interface, Direction::Outbound, packet.leaves, packet, packet.corrupted);
        }
        if let Some((interface, time)) = arriving.zip(packet.arrives) {
            for _ in 0..1 + u8::from(packet.doubled) {
                state.see(interface, Direction::Inbound, time, packet, packet.corrupted || packet.damaged);
            }
        }
    }

    fn offered(&mut self, channel: u32, packet: &CapturedPacket) {
        let mut state = self.state();
        let [leaving, _] = state.seen_by[channel as usize];
        if let Some(interface) = leaving.filter(|at| state.side(*at) == Side::Host) {
            state.see(interface, Direction::Outbound, packet.leaves, packet, packet.corrupted);
        }
    }
}

impl State {
    /// On which side of its link's queue an interface lies.
    fn side(&self, interface: u32) -> Side {
        self.points.points[interface as usize].side
    }

    fn see(
        &mut self,
        interface: u32,
        direction: Direction,
        time: Time,
        packet: &CapturedPacket,
        corrupted: bool,
    ) {
        let flow = &self.flows[self.numbering.locate(packet.flow).0];
        let elsewhere = self.points.senders_only && sender(flow) != self.nodes[interface as usize];
        if time > self.end || elsewhere {
            return;
        }
        let record = Record {
            time,
            interface,
            direction,
            addresses: Addresses::V4 {
                source: address(packet.source),
                destination: address(packet.destination),
            },
            ports: Ports { source: packet.source_port, destination: packet.destination_port },
            layout: layout(flow, packet.end),
            checksum: if corrupted { Checksum::Wrong } else { Checksum::Right },
            datagram: packet.datagram,
            segment: packet.segment,
        };
        let of_host = direction == Direction::Outbound && self.side(interface) == Side::Host;
        let record = match &mut self.joiner {
            Some(joiner) if of_host && !packet.datagram => joiner.push(record),
            _ => Some(record),
        };
        self.write(record);
    }

    fn write(&mut self, record: Option<Record>) {
        if let Some((writer, record)) = self.writer.as_mut().zip(record) {
            writer.push(record);
        }
    }

    /// Writes the last frame of a host, if it is older than `now`.
    fn settle_frame(&mut self, now: Time) {
        let frame = self.joiner.as_mut().and_then(|joiner| joiner.settle(now));
        self.write(frame);
    }
}

/// The encoding of options without assigned numbers in a flow.
fn layout(flow: &FlowSpec, end: End) -> Layout {
    match end {
        End::Client => flow.client.layout,
        End::Server => flow.server.layout,
    }
}
