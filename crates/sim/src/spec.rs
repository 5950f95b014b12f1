//! The description of a world as data. A scenario file is compiled into it, and tests build it by hand.

mod queue;

pub use queue::{
    AckFilter, CakeSpec, ClassesSpec, CodelSpec, Diffserv, DrrSpec, DualPi2Spec, DualScheduler, FqCodelSpec,
    FqPieSpec, Isolation, LinkLayer, MAX_CLASSES, Overload, PieForm, PieSpec, QueueSpec, RedSpec, Room, Unit,
};

use crate::host::app::AppSpec;
use crate::host::own::OwnTcp;
use crate::host::ports::{PortRange, Reuse};
use crate::host::processor::{Costs, Handover, Reader};
use crate::network::capacity::Capacity;
use crate::network::delay::DelaySpec;
use crate::network::gather::{Aggregation, Thinning};
use crate::network::middlebox::MiddleboxSpec;
use crate::network::schedule::Change;
use crate::network::token_bucket::policer::PolicerSpec;
use crate::network::token_bucket::shaper::ShaperSpec;
use netspurt_tcp::config::Config;
use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A node, by its position in [`WorldSpec::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// The phase of a host's timer ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimerPhase {
    /// Random within the period, drawn for each host from its own stream.
    #[default]
    Random,
    /// As the configuration of the connection says.
    AsConfigured,
}

/// A host or a router: a node where a flow begins or ends is a host.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Time from the arrival of a packet for this host until its TCP sees it.
    pub latency: Span,
    /// The phase of its timer ticks.
    pub timer_phase: TimerPhase,
    /// The ports for the connections of its sessions.
    pub ports: PortRange,
    /// When it may use a port again that is in TIME-WAIT.
    pub reuse: Reuse,
    /// The processor times of its operations; `None` if nothing takes time.
    pub processor: Option<Costs>,
    /// How it hands writes to TCP.
    pub handover: Handover,
    /// How its applications read; `None` if they read everything at once, in no time.
    pub reader: Option<Reader>,
}

impl NodeSpec {
    /// A node with default settings.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            latency: Span::ZERO,
            timer_phase: TimerPhase::default(),
            ports: PortRange::default(),
            reuse: Reuse::default(),
            processor: None,
            handover: Handover::default(),
            reader: None,
        }
    }
}

/// Whether the two directions of a link share its capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Duplex {
    /// They are independent.
    #[default]
    Full,
    /// One packet at a time, in order of arrival.
    Half,
}

/// What a scripted loss counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Counted {
    /// Every packet that enters the link.
    #[default]
    Packets,
    /// Packets with payload only.
    Data,
}

/// The packets that a link loses.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum LossSpec {
    /// None.
    #[default]
    None,
    /// Each bit is wrong with this probability, and a wrong bit loses the packet.
    BitError {
        /// Bit error rate.
        rate: f64,
    },
    /// Each packet with this probability.
    PacketError {
        /// Packet error rate.
        rate: f64,
    },
    /// Losses at exponentially distributed intervals.
    ExponentialGaps {
        /// Mean interval in packets.
        mean_packets: f64,
    },
    /// A two-state chain (Gilbert 1960, Elliott 1963), with one step for each packet.
    GilbertElliott {
        /// Probability of going from good to bad.
        good_to_bad: f64,
        /// Probability of going from bad to good.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// The packets with these numbers; the first packet is 1.
    Script {
        /// Which packets are counted.
        counted: Counted,
        /// The numbers of the lost packets.
        drop: Vec<u64>,
    },
    /// Every SYN that requests ECN.
    EcnBlackHole,
    /// Several processes, none of which is again a list.
    Several(Vec<LossSpec>),
}

impl LossSpec {
    /// The single processes.
    pub const fn each(&self) -> &[Self] {
        match self {
            Self::Several(all) => all.as_slice(),
            one => core::slice::from_ref(one),
        }
    }
}

/// Packets that are delayed and may be overtaken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReorderSpec {
    /// Share of packets that are delayed.
    pub probability: f64,
    /// The extra delay.
    pub extra_delay: Span,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChannelSpec {
    /// Bits per second; `None` if the rate is infinite. If the capacity follows a recording, its mean.
    pub rate: Option<u64>,
    /// The recording that the capacity follows, if any. See [`ChannelSpec::following`].
    pub capacity: Option<Arc<Capacity>>,
    /// Propagation delay; if it varies, a typical one.
    pub delay: Span,
    /// How the delay varies, if it does.
    pub varies: Option<DelaySpec>,
    /// Bytes that the link adds to each packet.
    pub framing: u32,
    /// Shorter packets are padded to this many bytes.
    pub least: u32,
    /// The queue.
    pub queue: QueueSpec,
    /// Which packets are lost.
    pub loss: LossSpec,
    /// Which packets are delayed and reordered.
    pub reorder: Option<ReorderSpec>,
    /// Probability that a packet is duplicated.
    pub duplicate: f64,
    /// Probability that a packet is damaged; the receiving host discards it.
    pub corrupt: f64,
    /// The MTU from some time on, in order of time.
    pub mtu: Vec<MtuSpec>,
    /// What changes headers.
    pub middlebox: Option<MiddleboxSpec>,
    /// How packets are collected and released in bursts.
    pub aggregation: Option<Aggregation>,
    /// Which ACKs are removed.
    pub thinning: Option<Thinning>,
    /// The policer, which drops or marks packets before the queue.
    pub policer: Option<PolicerSpec>,
    /// The shaper, which delays packets until there are tokens.
    pub shaper: Option<ShaperSpec>,
    /// What changes during the run, and when.
    pub changes: Changes,
}

/// What changes in one direction of a link, and when.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Bits per second, never zero, for a link without a recording.
    pub rate: Vec<Change<u64>>,
    /// Whether the link is up. When it goes down, the packet being transmitted is still sent, and the others wait.
    pub up: Vec<Change<bool>>,
    /// Propagation delay.
    pub delay: Vec<Change<Span>>,
    /// The limit of a queue that drops packets for lack of space.
    pub room: Vec<Change<Room>>,
    /// The rate of the loss process with this index in [`LossSpec::each`].
    pub loss: Vec<(usize, Change<f64>)>,
}

/// A route that packets between two nodes take from a time on, in both directions.
#[derive(Clone, PartialEq, Debug)]
pub struct Detour {
    /// The nodes.
    pub ends: [NodeId; 2],
    /// The channels from the first to the second: twice the number of a link, and one more for its direction back.
    pub channels: Arc<[u32]>,
    /// When. Packets under way stay on their route.
    pub when: Change<()>,
}

/// A change as text, for results.
#[derive(Clone, PartialEq, Debug)]
pub struct Announced {
    /// The key that is set, such as `link.up.rate`.
    pub path: Arc<str>,
    /// The new value, and when it is set.
    pub change: Change<Arc<str>>,
}

/// The MTU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MtuSpec {
    /// When it begins to apply.
    pub from: Time,
    /// Bytes, including the IP header.
    pub mtu: u32,
    /// What happens to a longer packet.
    pub too_big: TooBig,
}

/// Whether the sender of a packet that is too long gets a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooBig {
    /// A message reports the MTU (RFC 1191).
    Icmp,
    /// The packet is dropped without a message (RFC 2923).
    Silent,
}

/// A link between two nodes.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Its ends.
    pub ends: [NodeId; 2],
    /// Whether its directions share the capacity.
    pub duplex: Duplex,
    /// The direction from `ends[0]` to `ends[1]`, and the direction back.
    pub directions: [ChannelSpec; 2],
}

/// How the stations of a hub share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// Ideally: in order of arrival over all stations.
    #[default]
    FirstCome,
    /// Listen, send, back off after a collision (IEEE 802.3, clause 4).
    CsmaCd,
}

/// A medium that several links share; it carries one packet at a time.
#[derive(Clone, Debug)]
pub struct HubSpec {
    /// The node at which they meet.
    pub node: NodeId,
    /// How the stations share it.
    pub access: Access,
    /// Gap between two packets, in bytes.
    pub gap: u32,
    /// The first of its links. Each link joins a station to the hub.
    pub first_link: u32,
    /// Number of links.
    pub stations: u32,
}

/// Flows that differ only in their start. A flow is a pair of connections and the applications on them.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Their name in the scenario.
    pub name: Arc<str>,
    /// Number of the first of them among all of that name.
    pub first_index: u32,
    /// Number of flows.
    pub count: u32,
    /// The application of each flow.
    pub app: AppSpec,
    /// The host that opens the connection.
    pub from: NodeId,
    /// The host that accepts it.
    pub to: NodeId,
    /// The differentiated services codepoint of its packets, in both directions (RFC 2474): 0 … 63.
    pub dscp: u8,
    /// When the first is opened.
    pub start: Time,
    /// The time between the starts of two successive flows.
    pub stagger: Span,
    /// TCP configuration of `from`.
    pub client: Arc<Config>,
    /// TCP configuration of `to`.
    pub server: Arc<Config>,
    /// Algorithms of the user at `from` and `to`.
    pub own: [Option<Arc<OwnTcp>>; 2],
}

impl FlowSpec {
    /// When the flow with this index is opened.
    pub fn start_of(&self, position: u32) -> Time {
        self.start + self.stagger.saturating_mul(u64::from(position))
    }
}

/// How the flows of a world are numbered: through all descriptions, in order.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// The number of the first flow of each description; the last entry is the number of all flows.
    firsts: Box<[u32]>,
}

impl Numbering {
    /// Number of flows.
    pub fn count(&self) -> u32 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// The number of the flow with index `position` in a description.
    pub fn number(&self, description: usize, position: u32) -> u32 {
        self.firsts[description] + position
    }

    /// The description of a flow, and its index there.
    pub fn locate(&self, flow: u32) -> (usize, u32) {
        let description = self.firsts.partition_point(|&first| first <= flow) - 1;
        (description, flow - self.firsts[description])
    }
}

/// The description of a whole world.
#[derive(Clone, Debug)]
pub struct WorldSpec {
    /// Name of the scenario.
    pub name: Arc<str>,
    /// When the simulation ends.
    pub duration: Span,
    /// Hosts and routers.
    pub nodes: Vec<NodeSpec>,
    /// Links, including those to hubs.
    pub links: Vec<LinkSpec>,
    /// Hubs.
    pub hubs: Vec<HubSpec>,
    /// Flows; those that differ only in their start share one description.
    pub flows: Vec<FlowSpec>,
    /// The changes of routes.
    pub detours: Vec<Detour>,
    /// All changes, as text.
    pub changes: Vec<Announced>,
    /// Compute a link together with the one before it, if all its packets come from that link, and let hosts get ahead of
    /// others where they may. This changes only the speed; tests compare both ways.
    pub fuse: bool,
}

impl WorldSpec {
    /// Where a channel begins, and where it ends. The two directions of link *n* are the channels 2 *n* and 2 *n* + 1.
    pub(crate) fn ends_of(&self, channel: u32) -> [NodeId; 2] {
        let [a, b] = self.links[channel as usize / 2].ends;
        if channel.is_multiple_of(2) { [a, b] } else { [b, a] }
    }

    /// The nodes at which flows end.
    pub(crate) fn hosts(&self) -> BTreeSet<NodeId> {
        self.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect()
    }

    /// An empty world.
    pub fn new(name: &str, duration: Span) -> Self {
        Self {
            name: name.into(),
            duration,
            nodes: Vec::new(),
            links: Vec::new(),
            hubs: Vec::new(),
            flows: Vec::new(),
            detours: Vec::new(),
            changes: Vec::new(),
            fuse: true,
        }
    }

    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(NodeSpec::new(name));
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a full-duplex link with equal directions. The returned reference allows changes.
    pub fn link(&mut self, name: &str, ends: [NodeId; 2], both: &ChannelSpec) -> &mut LinkSpec {
        let directions = [both.clone(), both.clone()];
        self.links.push(LinkSpec { name: name.into(), ends, duplex: Duplex::Full, directions });
        let last = self.links.len() - 1;
        &mut self.links[last]
    }

    /// Adds a hub of `access`, otherwise an Ethernet. Each station is joined by a link: the direction to the hub is
    /// `station`, and the direction back takes no time. `station` needs a rate; its delay is that between two stations.
    pub fn hub(&mut self, name: &str, stations: &[NodeId], station: &ChannelSpec, access: Access) {
        let node = self.node(name);
        let first_link = self.links.len() as u32;
        for &end in stations {
            self.link(name, [end, node], station).directions[1] = ChannelSpec::default();
        }
        self.hubs.push(HubSpec { node, access, gap: 12, first_link, stations: stations.len() as u32 });
    }

    /// How the flows are numbered.
    pub fn numbering(&self) -> Numbering {
        let mut next = 0;
        let ends = self.flows.iter().map(|flow| {
            next += flow.count;
            next
        });
        Numbering { firsts: core::iter::once(0).chain(ends).collect() }
    }

    /// Adds a flow with the same TCP at both ends that starts at once. The returned reference allows changes.
    pub fn flow(
        &mut self,
        name: &str,
        ends: [NodeId; 2],
        app: AppSpec,
        config: &Arc<Config>,
    ) -> &mut FlowSpec {
        let [from, to] = ends;
        let before = self.flows.iter().rev().find(|flow| *flow.name == *name);
        let first_index = before.map_or(0, |flow| flow.first_index + flow.count);
        self.flows.push(FlowSpec {
            name: name.into(),
            first_index,
            count: 1,
            app,
            from,
            to,
            dscp: 0,
            start: Time::ZERO,
            stagger: Span::ZERO,
            client: Arc::clone(config),
            server: Arc::clone(config),
            own: [None, None],
        });
        let last = self.flows.len() - 1;
        &mut self.flows[last]
    }
}

impl ChannelSpec {
    /// A link of `rate` bits per second and `delay`, without limits or losses.
    pub fn new(rate: u64, delay: Span) -> Self {
        Self { rate: Some(rate), delay, ..Self::default() }
    }

    /// The same with a capacity that follows a recording. Packets that leave at delivery opportunities have the four bytes
    /// of a TUN device in front, as in the recordings.
    #[must_use]
    pub fn following(mut self, capacity: Arc<Capacity>) -> Self {
        self.rate = Some(capacity.mean_rate());
        if let Capacity::Deliveries(_) = *capacity {
            self.framing += 4;
        }
        self.capacity = Some(capacity);
        self
    }

    /// The same with a drop-tail queue of this many packets.
    #[must_use]
    pub fn with_queue(mut self, packets: u32) -> Self {
        self.queue = QueueSpec::Packets(packets);
        self
    }

    /// A station of an Ethernet: preamble, header and checksum add 26 bytes to each packet, and a packet has at least 46.
    pub fn ethernet(rate: u64, delay: Span) -> Self {
        Self { framing: 26, least: 46, ..Self::new(rate, delay) }
    }

    /// The same with losses.
    #[must_use]
    pub fn with_loss(mut self, loss: LossSpec) -> Self {
        self.loss = loss;
        self
    }
}
