//! The queue before a link: what a file may say of it. What it must not say is in `check`, what it comes to in `build`.

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
        /// The room, without the packet being sent.
        limit: Limit,
        /// Packets that find more than this waiting are marked, if they are ECN-capable. Default: nothing is marked.
        ///
        /// Document: RFC 8257, section 3.1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark_above: Option<Limit>,
    },
    /// Data that is sent again overtakes all that waits, but not the packet being sent; a packet that finds no room is
    /// dropped.
    ///
    /// Document: RFC 1106, section 4.1, where what was lost is "resent with no delay".
    ResendFirst {
        /// The room, without the packet being sent. Default: without limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
    },
    /// Random early detection: packets are dropped on arrival, the more often the longer the queue is on average.
    ///
    /// Document: Floyd and Jacobson, "Random early detection gateways for congestion avoidance", 1993; RFC 2309.
    Red {
        /// The room, without the packet being sent. Default: without limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Limit>,
        /// Average queue below which nothing is dropped early. Default: half of what the link sends in 5 ms, but at
        /// least 5 packets, as in ns-2; a third of `max` if that is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<Limit>,
        /// Average queue from which on every packet is dropped. Default: three times `min`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<Limit>,
        /// Probability of a drop at an average just below `max`.
        #[serde(default = "tenth")]
        #[schemars(range(min = 0.0, max = 1.0))]
        max_p: f64,
        /// What one arrival counts for in the average. Default: 1 - exp(-1/C), the link sending C mean packets a second,
        /// as in ns-2: the average follows within about a second.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0.0, max = 1.0))]
        weight: Option<f64>,
        /// Between `max` and twice `max` the probability rises from `max_p` to 1 instead of leaping.
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
    /// Packets are dropped on departure while all wait too long, at shrinking intervals.
    ///
    /// Document: RFC 8289.
    Codel {
        /// The room, without the packet being sent.
        #[serde(default = "packets_1000")]
        limit: Limit,
        /// Waits up to this are fine.
        #[serde(default = "ms_5")]
        target: Duration,
        /// For how long they may stay above it: a round trip of the slower connections.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: while no more than that waits, nothing is dropped.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// Packets that are ECN-capable are marked instead of dropped.
        ///
        /// Document: RFC 3168, section 5; RFC 8289, section 3.4.1.
        #[serde(default)]
        ecn: bool,
    },
    /// A queue for each flow, served in turn, new flows first, each under CoDel.
    ///
    /// Document: RFC 8290.
    FqCodel {
        /// The room in all queues together; who holds most makes room.
        #[serde(default = "packets_10240")]
        limit: Limit,
        /// Waits up to this are fine.
        #[serde(default = "ms_5")]
        target: Duration,
        /// For how long they may stay above it.
        #[serde(default = "ms_100")]
        interval: Duration,
        /// The largest packet: while a queue holds no more than that, nothing of it is dropped.
        #[serde(default = "bytes_1500")]
        mtu: Size,
        /// What a queue may send in its turn.
        #[serde(default = "bytes_1514")]
        quantum: Size,
        /// Queues, among which flows are spread by a hash.
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
        /// The room, without the packet being sent.
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
        /// For how long a burst passes that comes to an empty queue.
        #[serde(default = "ms_150")]
        max_burst: Duration,
        /// Size of a typical packet: while no more than two of them wait, nothing is dropped.
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
    /// PIE in a cable modem: it knows its rate, lets a burst of a third of its buffer pass, and drops small packets less often.
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
        /// What a queue may send in its turn.
        #[serde(default = "bytes_1514")]
        quantum: Size,
        /// Queues, among which flows are spread by a hash.
        #[serde(default = "queues_1024")]
        #[schemars(range(min = 1, max = 65536))]
        flows: u32,
        /// Packets that are ECN-capable are marked instead of dropped, while the probability is below 10 %.
        ///
        /// Document: RFC 8033, section 5.1.
        #[serde(default)]
        ecn: bool,
    },
    /// Two queues with one controller: scalable traffic, with ECT(1) or CE, is marked early and often, and hardly waits.
    ///
    /// Document: RFC 9332, appendix A.
    #[serde(rename = "dualpi2")]
    DualPi2 {
        /// The room in both queues together.
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
        /// How many times the base probability scalable traffic is marked with; the classic queue signals with its square.
        #[serde(default = "two")]
        #[schemars(range(min = 1.0, max = 32.0))]
        coupling: f64,
        /// Queueing delay above which scalable traffic is marked in any case.
        #[serde(default = "ms_1")]
        step: Duration,
        /// The mark of the step becomes certain only after so much more delay, and more likely on the way.
        #[serde(default)]
        ramp: Duration,
        /// Which queue goes first.
        #[serde(default)]
        scheduler: DualScheduler,
        /// Share of the classic queue, in per cent, where the scheduler is `wrr`.
        #[serde(default = "ten")]
        #[schemars(range(min = 0, max = 100))]
        classic_share: u8,
        /// Head start of scalable traffic where the scheduler is `time-shifted`.
        #[serde(default = "ms_50")]
        shift: Duration,
        /// What happens where marking is not enough.
        #[serde(default)]
        overload: DualOverload,
        /// The largest packet: while less than two of them wait, nothing is dropped or marked by chance.
        #[serde(default = "bytes_1500")]
        mtu: Size,
    },
    /// Classes of packets by their differentiated services codepoint, of which the first that has packets sends.
    ///
    /// Document: RFC 2474; RFC 3246.
    Priority {
        /// The codepoints of each class, the most urgent class first. All others are a class behind them.
        #[schemars(length(min = 1, max = 7))]
        classes: Vec<Vec<Dscp>>,
        /// The room of each class.
        #[serde(default = "packets_1000")]
        limit: Limit,
    },
    /// Classes of packets by their differentiated services codepoint, which send a quantum each in turn.
    ///
    /// Document: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", 1996.
    Drr {
        /// The codepoints of each class. All others are a class behind them.
        #[schemars(length(min = 1, max = 7))]
        classes: Vec<Vec<Dscp>>,
        /// What each class may send in its turn, that of all others last. Default: 1514 bytes each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        quanta: Vec<Size>,
        /// The room of each class.
        #[serde(default = "packets_1000")]
        limit: Limit,
    },
    /// A shaper, classes by codepoint (tins), and in each of them flows that are kept apart and share equally between hosts.
    ///
    /// Document: Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; Linux, `tc-cake(8)`.
    Cake {
        /// How fast packets leave, in bytes of the wire. Default: as fast as the link takes them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bandwidth: Option<Rate>,
        /// A round trip of the slower connections. Packets that have waited a twentieth of it may be marked or dropped.
        #[serde(default = "ms_100")]
        rtt: Duration,
        /// Between whom the bandwidth is shared equally.
        #[serde(default)]
        isolation: Isolation,
        /// Classes by codepoint.
        #[serde(default)]
        diffserv: Diffserv,
        /// Which ACKs are dropped because a later one says all that they say.
        #[serde(default)]
        ack_filter: AckFilter,
        /// What the wire adds to an IP packet.
        #[serde(default = "bytes_0")]
        overhead: Size,
        /// What the shortest packet takes on the wire.
        #[serde(default = "bytes_0")]
        mpu: Size,
        /// How the wire carries packets.
        #[serde(default)]
        link_layer: LinkLayer,
        /// The room in all queues together; who holds most makes room. Default: four times what the bandwidth sends in the
        /// round trip, but at least 4 MiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// How the wire behind `cake` carries packets.
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

/// Which of the two queues of `dualpi2` goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualScheduler {
    /// Weighted round robin: the classic queue has its share where it needs it.
    #[default]
    Wrr,
    /// The packet that has waited longer, scalable traffic having a head start.
    TimeShifted,
}

/// What `dualpi2` does where marking is not enough.
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
