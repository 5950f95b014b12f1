//! A world as plain data, every value resolved: what the scenario file is compiled into, and what tests build by hand.

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
use std::sync::Arc;

/// A node, by its position in [`WorldSpec::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// Where the ticks of a host's timers fall.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimerPhase {
    /// Anywhere within the period: drawn for each host from its own stream.
    #[default]
    Random,
    /// As the connection's configuration says.
    AsConfigured,
}

/// A host or a router: what makes the difference is whether a flow begins or ends there.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Time from the arrival of a packet for this host until its TCP sees it.
    pub latency: Span,
    /// Where the ticks of its timers fall.
    pub timer_phase: TimerPhase,
    /// The ports that its sessions' connections come from.
    pub ports: PortRange,
    /// Whether it takes a port again that it has in TIME-WAIT.
    pub reuse: Reuse,
    /// What its processor takes; `None` for a host that takes no time for anything.
    pub processor: Option<Costs>,
    /// How it hands writes to TCP.
    pub handover: Handover,
    /// How its applications read; `None` for all that there is, infinitely fast.
    pub reader: Option<Reader>,
}

impl NodeSpec {
    /// A node of which there is nothing particular to say.
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

/// Whether the two directions of a link get in each other's way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Duplex {
    /// They do not.
    #[default]
    Full,
    /// One packet at a time, first come, first served.
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

/// Which packets are lost on their way through a link.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum LossSpec {
    /// None.
    #[default]
    None,
    /// Each bit is wrong with this probability, and one wrong bit loses the packet.
    BitError {
        /// Bit error rate.
        rate: f64,
    },
    /// Each packet with this probability.
    PacketError {
        /// Packet error rate.
        rate: f64,
    },
    /// Losses at exponentially distributed distances.
    ExponentialGaps {
        /// Mean distance in packets.
        mean_packets: f64,
    },
    /// A two-state chain (Gilbert 1960, Elliott 1963), one step for each packet.
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
    /// These, the first being 1.
    Script {
        /// What is counted.
        counted: Counted,
        /// The numbers of those that are lost.
        drop: Vec<u64>,
    },
    /// Every SYN that asks for ECN.
    EcnBlackHole,
    /// All of these, none of which is again a list.
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

/// Packets that are held back and may be overtaken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ReorderSpec {
    /// Share of packets held back.
    pub probability: f64,
    /// For how long.
    pub extra_delay: Span,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChannelSpec {
    /// Bits per second; `None` is infinite. Where the capacity follows a recording, its mean.
    pub rate: Option<u64>,
    /// The recording that the capacity follows, if it does. See [`ChannelSpec::following`].
    pub capacity: Option<Arc<Capacity>>,
    /// Propagation delay; where it varies, a typical one.
    pub delay: Span,
    /// How it varies, if it does.
    pub varies: Option<DelaySpec>,
    /// Bytes that the link adds to each packet.
    pub framing: u32,
    /// Shorter packets are filled up to this many bytes.
    pub least: u32,
    /// What may wait.
    pub queue: QueueSpec,
    /// What is lost.
    pub loss: LossSpec,
    /// What is held back.
    pub reorder: Option<ReorderSpec>,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Probability that a packet arrives damaged, to be discarded by the receiving host.
    pub corrupt: f64,
    /// How long a packet may be, from when on; in the order in which they begin.
    pub mtu: Vec<MtuSpec>,
    /// What rewrites headers.
    pub middlebox: Option<MiddleboxSpec>,
    /// When packets are gathered, and released in bursts.
    pub aggregation: Option<Aggregation>,
    /// Which ACKs are left out.
    pub thinning: Option<Thinning>,
    /// What drops or marks packets before the queue.
    pub policer: Option<PolicerSpec>,
    /// What makes packets wait for tokens.
    pub shaper: Option<ShaperSpec>,
    /// What changes, and when.
    pub changes: Changes,
}

/// What changes in one direction of a link, and when.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Bits per second, never zero, of a link without a recording.
    pub rate: Vec<Change<u64>>,
    /// Whether packets can leave: what is being sent is sent, what waits goes on waiting.
    pub up: Vec<Change<bool>>,
    /// Propagation delay.
    pub delay: Vec<Change<Span>>,
    /// How much may wait, where a queue keeps packets out for want of room.
    pub room: Vec<Change<Room>>,
    /// The rate of the loss at this place of [`LossSpec::each`].
    pub loss: Vec<(usize, Change<f64>)>,
}

/// A change in words, for whoever reads results.
#[derive(Clone, PartialEq, Debug)]
pub struct Announced {
    /// What is set, such as `link.up.rate`.
    pub path: Arc<str>,
    /// To what, and when.
    pub change: Change<Arc<str>>,
}

/// How long a packet may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MtuSpec {
    /// From when on.
    pub from: Time,
    /// Bytes, IP header included.
    pub mtu: u32,
    /// What becomes of one that is longer.
    pub too_big: TooBig,
}

/// Whether the sender of a packet that is too long is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooBig {
    /// A message says what would fit (RFC 1191).
    Icmp,
    /// It vanishes without a word (RFC 2923).
    Silent,
}

/// A link between two nodes.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name in the scenario.
    pub name: Arc<str>,
    /// Its ends.
    pub ends: [NodeId; 2],
    /// Whether its directions share the medium.
    pub duplex: Duplex,
    /// From `ends[0]` to `ends[1]`, and back.
    pub directions: [ChannelSpec; 2],
}

/// How the stations of a hub take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Access {
    /// Ideally: first come, first served over all stations.
    #[default]
    FirstCome,
    /// Listen, send, back off after a collision (IEEE 802.3, clause 4).
    CsmaCd,
}

/// A medium that several links share, of which one carries a packet at a time.
#[derive(Clone, Debug)]
pub struct HubSpec {
    /// The node at which they meet.
    pub node: NodeId,
    /// How the stations take turns.
    pub access: Access,
    /// Silence between two packets, in bytes.
    pub gap: u32,
    /// The first of its links. Each leads from a station to the hub.
    pub first_link: u32,
    /// How many there are.
    pub stations: u32,
}

/// Flows that are alike but for their start. A flow is a pair of connections and what runs over them.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Their name in the scenario.
    pub name: Arc<str>,
    /// Number of the first of them among all of that name.
    pub first_index: u32,
    /// How many.
    pub count: u32,
    /// What runs over each.
    pub app: AppSpec,
    /// The host that opens the connection.
    pub from: NodeId,
    /// The host that accepts it.
    pub to: NodeId,
    /// The differentiated services codepoint of its packets, in both directions (RFC 2474): 0 … 63.
    pub dscp: u8,
    /// When the first is opened.
    pub start: Time,
    /// How much later than the one before it each of the others is.
    pub stagger: Span,
    /// TCP of `from`.
    pub client: Arc<Config>,
    /// TCP of `to`.
    pub server: Arc<Config>,
    /// What takes the place of built-in algorithms at `from` and `to`.
    pub own: [Option<Arc<OwnTcp>>; 2],
}

impl FlowSpec {
    /// When the flow at `position` among them is opened.
    pub fn start_of(&self, position: u32) -> Time {
        self.start + self.stagger.saturating_mul(u64::from(position))
    }
}

/// How the flows of a world are numbered: through all descriptions, in their order.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// The number of the first flow of each description; at the end, how many there are.
    firsts: Box<[u32]>,
}

impl Numbering {
    /// How many flows there are.
    pub fn count(&self) -> u32 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// The number of the flow at `position` of a description.
    pub fn number(&self, description: usize, position: u32) -> u32 {
        self.firsts[description] + position
    }

    /// The description of a flow, and its position there.
    pub fn locate(&self, flow: u32) -> (usize, u32) {
        let description = self.firsts.partition_point(|&first| first <= flow) - 1;
        (description, flow - self.firsts[description])
    }
}

/// A whole world.
#[derive(Clone, Debug)]
pub struct WorldSpec {
    /// Name of the scenario.
    pub name: Arc<str>,
    /// When the simulation ends.
    pub duration: Span,
    /// Hosts and routers.
    pub nodes: Vec<NodeSpec>,
    /// Links, those to hubs included.
    pub links: Vec<LinkSpec>,
    /// Hubs.
    pub hubs: Vec<HubSpec>,
    /// Flows, those that are alike in one description.
    pub flows: Vec<FlowSpec>,
    /// The changes that the links know of, in words.
    pub changes: Vec<Announced>,
    /// Compute a link that is fed by one other link alone together with that one. It makes no difference but in speed,
    /// and a test holds both ways against each other.
    pub fuse: bool,
}

impl WorldSpec {
    /// An empty world.
    pub fn new(name: &str, duration: Span) -> Self {
        Self {
            name: name.into(),
            duration,
            nodes: Vec::new(),
            links: Vec::new(),
            hubs: Vec::new(),
            flows: Vec::new(),
            changes: Vec::new(),
            fuse: true,
        }
    }

    /// Adds a node.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(NodeSpec::new(name));
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a full-duplex link, the same in both directions, to be refined through the returned reference.
    pub fn link(&mut self, name: &str, ends: [NodeId; 2], both: &ChannelSpec) -> &mut LinkSpec {
        let directions = [both.clone(), both.clone()];
        self.links.push(LinkSpec { name: name.into(), ends, duplex: Duplex::Full, directions });
        let last = self.links.len() - 1;
        &mut self.links[last]
    }

    /// Adds a hub of `access`, an Ethernet otherwise: to it each station is joined by a link whose way to the hub is
    /// `station` and whose way back takes no time. `station` needs a rate, its delay is that between two stations.
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

    /// Adds a flow with the same TCP at both ends, starting at once, to be refined through the returned reference.
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

    /// The same with a capacity that follows a recording. What leaves at delivery opportunities has a TUN device's four
    /// bytes in front, as where they were recorded.
    #[must_use]
    pub fn following(mut self, capacity: Arc<Capacity>) -> Self {
        self.rate = Some(capacity.mean_rate());
        if let Capacity::Deliveries(_) = *capacity {
            self.framing += 4;
        }
        self.capacity = Some(capacity);
        self
    }

    /// The same with a drop-tail queue of so many packets.
    #[must_use]
    pub fn with_queue(mut self, packets: u32) -> Self {
        self.queue = QueueSpec::Packets(packets);
        self
    }

    /// A station of an Ethernet: preamble, header and check take 26 bytes of each packet, and it has at least 46.
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
