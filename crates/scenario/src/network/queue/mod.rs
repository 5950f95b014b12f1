//! The queue of a link: its keys. `check` has the checks, `build` the conversion for the simulator.

mod amount;
mod build;
mod check;

pub(crate) use build::room;
pub(crate) use check::{Line, Pace};

use crate::values::dscp::Dscp;
use crate::values::quantity::{Duration, Limit, Rate, Size};
use netspurt_tcp::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The queue before a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// First in, first out; a packet that finds no room is dropped.
    DropTail {
        /// The size, without the packet that is being sent.
        limit: Limit,
        /// Packets that find more than this waiting are marked, if they are ECN-capable. Default: nothing is marked.
        ///
        /// Document: RFC 8257, section 3.1.
        #[serde(skip_serializing_if = "Option::is_none")]
        mark_above: Option<Limit>,
    },
    /// Retransmitted data overtakes all waiting packets, except the packet that is being sent. A packet that arrives at a full
    /// queue is dropped.
    ///
    /// Document: RFC 1106, section 4.1, where lost data is "resent with no delay".
    ResendFirst {
        /// The size, without the packet that is being sent. Default: no limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
    },
    /// Random early detection: packets are dropped on arrival with a probability that increases with the average queue.
    ///
    /// Document: Floyd and Jacobson, "Random early detection gateways for congestion avoidance", 1993; RFC 2309.
    Red {
        /// The size, without the packet that is being sent. Default: no limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Average queue below which no packet is dropped early. Default: half of the data that the link sends in 5 ms, but at
        /// least 5 packets, as in ns-2; a third of `max` if that is given.
        #[serde(skip_serializing_if = "Option::is_none")]
        min: Option<Limit>,
        /// Average queue from which on every packet is dropped. Default: three times `min`.
        #[serde(skip_serializing_if = "Option::is_none")]
        max: Option<Limit>,
        /// Probability of a drop at an average just below `max`.
        #[serde(default = "tenth")]
        #[schemars(range(min = 0.0, max = 1.0))]
        max_p: f64,
        /// The weight of one arrival in the average. Default: 1 - exp(-1/C) for a link that sends C mean packets a second,
        /// as in ns-2: the time constant is about a second.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        weight: Option<f64>,
        /// Between `max` and twice `max` the probability rises from `max_p` to 1, without a step.
        #[serde(default = "yes")]
        gentle: bool,
        /// Size of a typical packet, framing included: for the average while the link is idle, and for the defaults.
        #[serde(default = "bytes_1000")]
        mean_packet: Size,
        /// Packets that are ECN-capable are marked instead of dropped, as long as not all would be dropped.
        ///
        /// Document: RFC 3168, sections 5 and 7.
        #[serde(default)]
        ecn: bool,
    },
    /// Packets are dropped at departure, at decreasing intervals, while the queueing delay is above a target.
    ///
    /// Document: RFC 8289.
    Codel {
        /// The size, without the packet that is being sent.
        #[serde(default = "packets_1000")]
        limit: Limit,
        /// The acceptable queueing delay.
        #[serde(default = "ms_5")]
        target: Duration,
        /// How long the delay may stay above the target: about the RTT of slow connections.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: no packet is dropped while the backlog is at most this.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// Packets that are ECN-capable are marked instead of dropped.
        ///
        /// Document: RFC 3168, section 5; RFC 8289, section 3.4.1.
        #[serde(default)]
        ecn: bool,
    },
    /// A queue for each flow, served in turn, new flows first. CoDel controls each queue.
    ///
    /// Document: RFC 8290.
    FqCodel {
        /// The size of all queues together; the longest queue makes room.
        #[serde(default = "packets_10240")]
        limit: Limit,
        /// The acceptable queueing delay.
        #[serde(default = "ms_5")]
        target: Duration,
        /// How long the delay may stay above the target.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: no packet of a queue is dropped while its backlog is at most this.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// The bytes that a queue may send in its turn.
        #[serde(default = "bytes_1514")]
        quantum: Size,
        /// The number of queues; a hash distributes flows over them.
        #[serde(default = "queues_1024")]
        #[schemars(range(min = 1, max = 65536))]
        flows: u32,
        /// Packets that are ECN-capable are marked by CoDel instead of dropped.
        ///
        /// Document: RFC 3168, section 5; RFC 8290, section 5.
        #[serde(default)]
        ecn: bool,
    },
    /// Packets are dropped on arrival, with a probability that keeps the queueing delay near a target.
    ///
    /// Document: RFC 8033.
    Pie {
        /// The size, without the packet that is being sent.
        #[serde(default = "packets_1000")]
        limit: Limit,
        /// The queueing delay to keep.
        #[serde(default = "ms_15")]
        target: Duration,
        /// How often the probability is computed.
        #[serde(default = "ms_15")]
        update: Duration,
        /// How much the probability grows in each interval, for each second of queueing delay above the target.
        #[serde(default = "eighth")]
        #[schemars(range(min = 0.0, max = 32.0))]
        alpha: f64,
        /// How much it grows for each second by which the queueing delay has grown.
        #[serde(default = "ten_eighths")]
        #[schemars(range(min = 0.0, max = 32.0))]
        beta: f64,
        /// The burst allowance: how long packets pass after the queue was empty.
        #[serde(default = "ms_150")]
        max_burst: Duration,
        /// Size of a typical packet: no packet is dropped while the backlog is at most two of them.
        #[serde(default = "bytes_1500")]
        mean_packet: Size,
        /// The probability is for a typical packet, and proportional to the size.
        #[serde(default)]
        by_size: bool,
        /// Packets that are ECN-capable are marked instead of dropped, while the probability is below 10 %.
        ///
        /// Document: RFC 8033, section 5.1.
        #[serde(default)]
        ecn: bool,
    },
    /// PIE in a cable modem: it knows its rate, permits a burst of a third of its buffer, and drops small packets less often.
    ///
    /// Document: RFC 8034.
    DocsisPie {
        /// The modem's buffer, without the packet being sent.
        #[serde(default = "limit_250_ms")]
        limit: Limit,
        /// The queueing delay to keep.
        #[serde(default = "ms_10")]
        target: Duration,
    },
    /// A queue for each flow, served in turn as by `fq-codel`, each under PIE.
    ///
    /// Document: Linux, `sch_fq_pie.c`.
    FqPie {
        /// The room in all queues together; a packet that finds none is dropped.
        #[serde(default = "packets_10240")]
        limit: Limit,
        /// The queueing delay to keep.
        #[serde(default = "ms_15")]
        target: Duration,
        /// How often the probabilities are computed.
        #[serde(default = "ms_15")]
        update: Duration,
        /// How much a probability grows in each interval, for each second of queueing delay above the target.
        #[serde(default = "eighth")]
        #[schemars(range(min = 0.0, max = 32.0))]
        alpha: f64,
        /// How much it grows for each second by which the queueing delay has grown.
        #[serde(default = "ten_eighths")]
        #[schemars(range(min = 0.0, max = 32.0))]
        beta: f64,
        /// The bytes that a queue may send in its turn.
        #[serde(default = "bytes_1514")]
        quantum: Size,
        /// The number of queues; a hash distributes flows over them.
        #[serde(default = "queues_1024")]
        #[schemars(range(min = 1, max = 65536))]
        flows: u32,
        /// Packets that are ECN-capable are marked instead of dropped, while the probability is below 10 %.
        ///
        /// Document: RFC 8033, section 5.1.
        #[serde(default)]
        ecn: bool,
    },
    /// Two queues with one controller: scalable traffic, with ECT(1) or CE, is marked early and often, and has little
    /// queueing delay.
    ///
    /// Document: RFC 9332, appendix A.
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// The size of both queues together.
        #[serde(default = "packets_10000")]
        limit: Limit,
        /// The queueing delay to keep in the classic queue.
        #[serde(default = "ms_15")]
        target: Duration,
        /// How often the probability is computed.
        #[serde(default = "ms_16")]
        update: Duration,
        /// How much the base probability grows in each interval, for each second of queueing delay above the target.
        #[serde(default = "dual_alpha")]
        #[schemars(range(min = 0.0, max = 32.0))]
        alpha: f64,
        /// How much it grows for each second by which the queueing delay has grown.
        #[serde(default = "dual_beta")]
        #[schemars(range(min = 0.0, max = 32.0))]
        beta: f64,
        /// Scalable traffic is marked with the base probability times this; the classic queue uses the square of the base
        /// probability.
        #[serde(default = "two")]
        #[schemars(range(min = 1.0, max = 32.0))]
        coupling: f64,
        /// Queueing delay above which all scalable traffic is marked.
        #[serde(default = "ms_1")]
        step: Duration,
        /// How many scalable packets must stay behind one for the step to mark it: RFC 9332 has more than one (`Th_len`), Linux
        /// 0. Without it, a line on which a packet takes longer than the step would mark each packet behind another.
        #[serde(default = "step_packets")]
        step_packets: u32,
        /// Width of a ramp above the step, over which the probability of a mark rises to 1.
        #[serde(default)]
        ramp: Duration,
        /// The scheduler of the two queues.
        #[serde(default)]
        scheduler: DualScheduler,
        /// Share of the classic queue in per cent, for the scheduler `wrr`.
        #[serde(default = "ten")]
        #[schemars(range(min = 0, max = 100))]
        classic_share: u8,
        /// Time advantage of scalable traffic, for the scheduler `time-shifted`.
        #[serde(default = "ms_50")]
        shift: Duration,
        /// The reaction to overload, when marks are not enough.
        #[serde(default)]
        overload: DualOverload,
        /// The largest packet: no packet is randomly dropped or marked while the backlog is below two of them.
        #[serde(default = "bytes_1500")]
        mtu: Size,
    },
    /// Strict priority of classes by differentiated services codepoint: the first class with packets sends.
    ///
    /// Document: RFC 2474; RFC 3246.
    Priority {
        /// The codepoints of each class, the highest priority first. All other codepoints are one more class after them.
        #[schemars(length(min = 1, max = 7))]
        classes: Vec<Vec<Dscp>>,
        /// The size of each class.
        #[serde(default = "packets_1000")]
        limit: Limit,
    },
    /// Deficit round robin of classes by differentiated services codepoint: each sends its quantum in turn.
    ///
    /// Document: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", 1996.
    Drr {
        /// The codepoints of each class. All other codepoints are one more class after them.
        #[schemars(length(min = 1, max = 7))]
        classes: Vec<Vec<Dscp>>,
        /// The quantum of each class; the class of all other codepoints is the last one. Default: 1514 bytes each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quanta: Vec<Size>,
        /// The size of each class.
        #[serde(default = "packets_1000")]
        limit: Limit,
    },
    /// A shaper, classes by codepoint (tins), and in each class separate flows with fairness between hosts.
    ///
    /// Document: Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; Linux, `tc-cake(8)`.
    Cake {
        /// The rate of the shaper, with the overhead of the wire. Default: the rate of the link.
        #[serde(skip_serializing_if = "Option::is_none")]
        bandwidth: Option<Rate>,
        /// About the RTT of slow connections. Packets that have waited a twentieth of it may be marked or dropped.
        #[serde(default = "ms_100")]
        rtt: Duration,
        /// The unit of fairness: flows or hosts.
        #[serde(default)]
        isolation: Isolation,
        /// Classes by codepoint.
        #[serde(default)]
        diffserv: Diffserv,
        /// Which ACKs are dropped because a later ACK replaces them.
        #[serde(default)]
        ack_filter: AckFilter,
        /// Bytes that the wire adds to an IP packet.
        #[serde(default = "bytes_0")]
        overhead: Size,
        /// The minimum size of a packet on the wire.
        #[serde(default = "bytes_0")]
        mpu: Size,
        /// The link layer.
        #[serde(default)]
        link_layer: LinkLayer,
        /// The size of all queues together; the longest queue makes room. Default: four times the data that the bandwidth sends
        /// in `rtt`, but at least 4 MiB.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
    },
}

impl Queue {
    /// Whether a packet that finds the limit reached is dropped itself, and the limit is one for all packets.
    pub(crate) const fn has_limit_on_arrival(&self) -> bool {
        match self {
            Self::DropTail { .. }
            | Self::ResendFirst { .. }
            | Self::Red { .. }
            | Self::Codel { .. }
            | Self::Pie { .. }
            | Self::DocsisPie { .. }
            | Self::FqPie { .. }
            | Self::DualPi2 { .. } => true,
            Self::FqCodel { .. } | Self::Priority { .. } | Self::Drr { .. } | Self::Cake { .. } => false,
        }
    }
}

/// Between whom `cake` shares equally.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Hosts that send.
    Srchost,
    /// Hosts that receive.
    Dsthost,
    /// Pairs of hosts.
    Hosts,
    /// Hosts that send, and then the flows of each.
    DualSrchost,
    /// Hosts that receive, and then the flows of each.
    DualDsthost,
    /// Hosts on both sides, and then the flows of each.
    #[default]
    TripleIsolate,
}

/// The classes of `cake`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Diffserv {
    /// One.
    Besteffort,
    /// Bulk, best effort and voice.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video and voice.
    Diffserv4,
    /// Eight.
    Diffserv8,
}

/// Which ACKs `cake` drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// The oldest of three.
    Conservative,
    /// The older of two.
    Aggressive,
}

/// The link layer for the overhead of `cake`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayer {
    /// As they are.
    #[default]
    Plain,
    /// In ATM cells, as ADSL does: 53 bytes for 48.
    Atm,
    /// In the code of PTM, as VDSL2 does: 65 bytes for 64.
    Ptm,
}

/// The scheduler of the two queues of `dualpi2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualScheduler {
    /// Weighted round robin: the classic queue gets its share if it needs it.
    #[default]
    Wrr,
    /// The packet that has waited longer, scalable traffic having a head start.
    TimeShifted,
}

/// The reaction of `dualpi2` to overload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualOverload {
    /// Both queues drop with the same probability.
    #[default]
    Drop,
    /// The queues grow up to the limit.
    Overflow,
}

macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)+) => {
        $(const fn $name() -> $type { $value })+
    };
}

defaults! {
    tenth: f64 = 0.1;
    yes: bool = true;
    eighth: f64 = 0.125;
    ten_eighths: f64 = 1.25;
    dual_alpha: f64 = 0.16;
    dual_beta: f64 = 3.2;
    step_packets: u32 = 2;
    two: f64 = 2.0;
    ten: u8 = 10;
    bytes_0: Size = Size(0);
    ms_1: Duration = Duration::ms(1);
    ms_16: Duration = Duration::ms(16);
    ms_50: Duration = Duration::ms(50);
    packets_10000: Limit = Limit::Packets(10_000);
    ms_5: Duration = Duration::ms(5);
    ms_10: Duration = Duration::ms(10);
    ms_15: Duration = Duration::ms(15);
    ms_150: Duration = Duration::ms(150);
    ms_100: Duration = Duration::ms(100);
    bytes_1000: Size = Size(1000);
    bytes_1500: Size = Size(1500);
    bytes_1514: Size = Size(1514);
    limit_250_ms: Limit = Limit::Time(Span::from_ms(250));
    packets_1000: Limit = Limit::Packets(1000);
    packets_10240: Limit = Limit::Packets(10_240);
    queues_1024: u32 = 1024;
}
