//! The network of a scenario: links, hubs and hosts, with queues and impairments.

pub(crate) mod change;
pub(crate) mod delay;
pub(crate) mod middlebox;
pub(crate) mod queue;
pub(crate) mod route;
pub(crate) mod tokens;
pub(crate) mod trace;

use crate::network::delay::Delay;
use crate::network::middlebox::{AckThinning, Aggregation, Middlebox};
use crate::network::queue::{Line, Pace, Queue};
use crate::network::tokens::{Policer, Shaper};
use crate::network::trace::Trace;
use crate::tcp::table::TcpTable;
use crate::values::directed::{Directed, OrNone, Several};
use crate::values::form::{Named, OneOrMany};
use crate::values::quantity::{Direction, Duration, Packets, Rate, Size};
use netspurt_sim::host::ports::{self, PortRange};
use netspurt_sim::spec::{self, MtuSpec};
use netspurt_tcp::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link between two nodes.
///
/// Its directions may differ: all keys but `trace`, `mtu`, `loss` and `duplex` take one value, or a list of
/// two, from the first node of `between` to the second and back. `trace`, `mtu` and `loss`, which may have several entries,
/// take a list of two lists.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The two nodes that it joins. A node that no flow starts or ends at is a router.
    pub between: [String; 2],
    /// How fast bits leave, in each direction. Default: infinitely fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Directed<Rate>>,
    /// A recording that the capacity follows, in place of the rate: one table, or a list of one for each direction.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Several::is_empty")]
    pub trace: Several<Trace>,
    /// Propagation delay, one way: always the same, or a table that says how it varies.
    #[serde(default)]
    pub delay: Directed<Delay>,
    /// Whether both directions can be used at once.
    #[serde(default)]
    pub duplex: Duplex,
    /// The queue before the link, one for each direction. Default: a queue without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Directed<Queue>>,
    /// A middlebox that rewrites headers or has an idle timeout. In a list of two, `"none"` means none. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middlebox: Option<Directed<OrNone<Middlebox>>>,
    /// Packets are released in bursts. In a list of two, `"none"` means none. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Directed<OrNone<Aggregation>>>,
    /// Most ACKs are dropped. In a list of two, `"none"` means none. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_thinning: Option<Directed<OrNone<AckThinning>>>,
    /// A token bucket that drops: packets without tokens do not enter the queue. In a list of two, `"none"` means none.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policer: Option<Directed<OrNone<Policer>>>,
    /// A token bucket that delays: packets wait for tokens in the queue of the link. In a list of two, `"none"` means none.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<Directed<OrNone<Shaper>>>,
    /// The MTU: one table, or a list of several in the order of their start times. Default: no limit.
    #[serde(default, skip_serializing_if = "Several::is_empty")]
    pub mtu: Several<Mtu>,
    /// Packet loss: one table, or a list of several that all apply. Default: none.
    #[serde(default, skip_serializing_if = "Several::is_empty")]
    pub loss: Several<Loss>,
    /// Packets that are held back, so that others overtake them. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Directed<Reorder>>,
    /// Packets that arrive twice. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Directed<Duplicate>>,
    /// Packets that arrive damaged, for the receiver's checksum to find. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Directed<Corrupt>>,
}

/// What a packet has at most where nothing else is said: the MTU of an Ethernet.
const LARGEST: u64 = 1500;

impl Link {
    /// The largest packet that is to be expected in a direction.
    pub(crate) fn largest(&self, way: usize) -> u64 {
        self.mtu.of(way).iter().map(|mtu| mtu.size.0).max().unwrap_or(LARGEST).min(LARGEST)
    }

    /// The recording that direction `way` follows. Of two in one list that name no direction, each has its own.
    pub(crate) fn recording(&self, way: usize) -> Option<&Trace> {
        let [from, to] = [&self.between[way], &self.between[1 - way]];
        let here = |trace: &&Trace| trace.direction().is_none_or(|way| way.from == *from && way.to == *to);
        match self.trace.of(way) {
            two @ [first, second] if first.direction().or(second.direction()).is_none() => two.get(way),
            all => all.iter().find(here),
        }
    }

    /// Where the queue of direction `way` stands; `place` is its name in a message.
    pub(crate) fn line<'a>(&self, way: usize, place: &'a str) -> Line<'a> {
        let pace = match &self.rate {
            _ if self.recording(way).is_some() => Pace::Recorded,
            Some(rate) => Pace::Fixed(rate.of(way).0),
            None => Pace::Infinite,
        };
        Line { place, pace, shared: self.duplex == Duplex::Half }
    }
}

/// The largest packet of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mtu {
    /// Bytes, including the IP header.
    pub size: Size,
    /// What happens to a longer packet.
    #[serde(default)]
    pub too_big: TooBig,
    /// Its start time. Default: the start of the run.
    #[serde(default)]
    pub from: Duration,
}

/// What happens to a packet that is too long for a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TooBig {
    /// It is dropped, and an ICMP message reports the MTU to its sender.
    ///
    /// Document: RFC 1191.
    #[default]
    Icmp,
    /// It is dropped without a message: a black hole.
    ///
    /// Document: RFC 2923, section 2.1.
    Silent,
}

impl Mtu {
    /// The same for the simulator.
    pub(crate) fn build(&self) -> MtuSpec {
        let too_big = match self.too_big {
            TooBig::Icmp => spec::TooBig::Icmp,
            TooBig::Silent => spec::TooBig::Silent,
        };
        let mtu = u32::try_from(self.size.0).unwrap_or(u32::MAX);
        MtuSpec { from: Time::ZERO + self.from.0, mtu, too_big }
    }
}

/// Whether both directions of a link can be used at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Duplex {
    /// Each direction has the rate for itself.
    #[default]
    Full,
    /// One packet at a time, in either direction.
    Half,
}

/// A hub: nodes that share one medium. One frame at a time passes it.
///
/// It is an Ethernet: there is a gap of 96 bits between frames, and a frame has at least 72 bytes with its preamble. In
/// results, each station is a direction `STATION->HUB`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hub {
    /// Its nodes. A node without a flow is a router.
    #[schemars(length(min = 2))]
    pub stations: Vec<String>,
    /// Its rate.
    pub rate: Rate,
    /// The propagation delay between any two stations.
    #[serde(default)]
    pub delay: Duration,
    /// The access method.
    #[serde(default)]
    pub access: Access,
    /// Bytes that a frame adds to its packet. Default: preamble, header and check sequence.
    #[serde(default = "ethernet_framing")]
    pub framing: Size,
    /// The queue of each station. Default: a queue without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Packet loss: one table, or a list of several that all apply. A direction is `STATION->HUB`. Default: none.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub loss: OneOrMany<Loss>,
}

const fn ethernet_framing() -> Size {
    Size(26)
}

/// The access method of a hub.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// CSMA/CD: a station sends if the medium is idle. After a collision it waits for a random time. It drops the frame
    /// after 16
    /// collisions.
    ///
    /// Document: IEEE 802.3, clause 4.
    #[default]
    CsmaCd,
    /// First come, first served over all stations, without overhead.
    Fifo,
}

/// What is lost on a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each bit is wrong with the same probability, and a packet with a wrong bit is lost.
    BitError {
        /// Probability for one bit.
        #[schemars(range(min = 0.0, max = 1.0))]
        rate: f64,
        /// Only in this direction. Default: in both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// Each packet is lost with the same probability.
    PacketError {
        /// Probability for one packet.
        #[schemars(range(min = 0.0, max = 1.0))]
        rate: f64,
        /// Only in this direction. Default: in both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// The gaps between losses are distributed exponentially.
    ///
    /// Document: "TCP sending rate control at Tera bits per second", section III.
    ExponentialGaps {
        /// Mean gap.
        mean: Packets,
        /// Only in this direction. Default: in both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// Two states, good and bad, between which each packet may change.
    ///
    /// Document: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, 1963.
    GilbertElliott {
        /// Probability of going from good to bad, for each packet.
        #[schemars(range(min = 0.0, max = 1.0))]
        good_to_bad: f64,
        /// Probability of going from bad to good, for each packet.
        #[schemars(range(min = 0.0, max = 1.0))]
        bad_to_good: f64,
        /// Probability of losing a packet in the good state.
        #[serde(default = "never")]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_good: f64,
        /// Probability of losing a packet in the bad state.
        #[serde(default = "always")]
        #[schemars(range(min = 0.0, max = 1.0))]
        loss_bad: f64,
        /// Only in this direction. Default: in both, each with a state of its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// The packets of these numbers.
    Script {
        /// Numbers of the lost packets, counted from 1 in the order in which they enter the link.
        #[schemars(inner(range(min = 1)))]
        drop: Vec<u64>,
        /// Only in this direction. Default: in both, each counted by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
    /// SYN segments that ask for ECN, which faulty boxes take for an attack.
    ///
    /// Document: RFC 3168, section 6.1.1.1.
    EcnBlackHole {
        /// Only in this direction. Default: in both.
        #[serde(skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
    },
}

const fn never() -> f64 {
    0.0
}

const fn always() -> f64 {
    1.0
}

impl Loss {
    /// The direction to which it is confined.
    pub const fn direction(&self) -> Option<&Direction> {
        match self {
            Self::None => None,
            Self::BitError { direction, .. }
            | Self::PacketError { direction, .. }
            | Self::ExponentialGaps { direction, .. }
            | Self::GilbertElliott { direction, .. }
            | Self::Script { direction, .. }
            | Self::EcnBlackHole { direction } => direction.as_ref(),
        }
    }
}

/// Packets that are held back.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability for one packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// By how much it is delayed beyond the link's own delay.
    pub delay: Duration,
}

/// Packets that arrive twice.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Duplicate {
    /// Probability for one packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// Packets that arrive damaged.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Corrupt {
    /// Probability for one packet.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// Properties of a node.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The processing time of each arriving packet before TCP.
    #[serde(default)]
    pub latency: Duration,
    /// The source ports of connections that this host opens. Default: the dynamic ports (RFC 6335).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// The processing times of its CPU, which does one thing at a time. Default: infinitely fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
    /// How a write of an application is passed to TCP. Default: as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover: Option<Named<Handover>>,
    /// How its applications read. Default: all available data, infinitely fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// TCP settings for the connections of this host.
    #[serde(default, skip_serializing_if = "TcpTable::is_empty")]
    pub tcp: TcpTable,
}

/// The source ports of a host, for applications that open many connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    /// The first port.
    #[serde(default = "first_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub first: u16,
    /// The last.
    #[serde(default = "last_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub last: u16,
    /// Whether a port is taken again that this host has in TIME-WAIT.
    #[serde(default)]
    pub reuse: Reuse,
}

/// Whether a host takes a port again that it has in TIME-WAIT.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// Not before 2 MSL are over.
    #[default]
    Never,
    /// A second later, if the connection offers timestamps.
    ///
    /// Document: RFC 6191, section 2; Linux, `tcp_tw_reuse`.
    ByTimestamp,
}

fn first_port() -> u16 {
    PortRange::default().first
}

fn last_port() -> u16 {
    PortRange::default().last
}

impl Ports {
    /// The same for the simulator.
    pub(crate) const fn build(self) -> (PortRange, ports::Reuse) {
        let reuse = match self.reuse {
            Reuse::Never => ports::Reuse::Never,
            Reuse::ByTimestamp => ports::Reuse::ByTimestamp,
        };
        (PortRange { first: self.first, last: self.last }, reuse)
    }
}

/// Processing times of a CPU. It does one thing at a time; arriving segments have priority over applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// For a request, before the first byte of the response is written.
    #[serde(default)]
    pub request: Duration,
    /// For a read.
    #[serde(default)]
    pub read: Duration,
    /// For each byte read.
    #[serde(default)]
    pub byte_read: Duration,
    /// For a write, independent of how it is passed to TCP.
    #[serde(default)]
    pub write: Duration,
    /// For each byte written.
    #[serde(default)]
    pub byte_written: Duration,
    /// For a received segment with data.
    #[serde(default)]
    pub segment_in: Duration,
    /// For a received segment without data.
    #[serde(default)]
    pub ack_in: Duration,
    /// For each received byte of data.
    #[serde(default)]
    pub byte_in: Duration,
    /// For a sent segment with data.
    #[serde(default)]
    pub segment_out: Duration,
    /// For a sent segment without data.
    #[serde(default)]
    pub ack_out: Duration,
    /// For each sent byte of data.
    #[serde(default)]
    pub byte_out: Duration,
}

/// How applications read: the size of a read, and their rate. Unread data stays in the receive buffer of TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// The maximum size of a read. Default: all available data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Size>,
    /// The rate at which an application processes the data of a read before it continues. Default: infinitely fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// How a write of an application is passed to TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Handover {
    /// As a whole.
    Whole,
    /// In buffers of one size. TCP may send after each buffer; the end of the application data is the end of the last one.
    ///
    /// Document: the mbuf clusters of 4.4BSD and FreeBSD, `sosend`.
    Clusters {
        /// The size of a buffer.
        #[serde(default = "mbuf_cluster")]
        size: Size,
    },
    /// As segments that are formed at the write. The first one completes an unsent segment. After a segment that waits, TCP
    /// does not send before the end of the write.
    ///
    /// Document: Linux 2.2, `tcp_do_sendmsg`.
    Segments,
}

const fn mbuf_cluster() -> Size {
    Size(2048)
}
