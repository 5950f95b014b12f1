//! The queue of a link as data: what it holds, and in which order packets leave.

use netspurt_tcp::time::Span;

/// The queue of a link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum QueueSpec {
    /// No limit.
    #[default]
    Unlimited,
    /// At most this many packets, not counting the one being transmitted.
    Packets(u32),
    /// At most this many bytes, not counting the packet being transmitted.
    Bytes(u64),
    /// Drop-tail with this limit; retransmissions leave before other packets.
    ResendFirst(Room),
    /// Drop-tail with this limit. A packet that finds more than the second limit is marked, if it can be.
    Step(Room, Room),
    /// Random early detection.
    Red(RedSpec),
    /// CoDel.
    Codel(Room, CodelSpec),
    /// FQ-CoDel: a queue for each flow, each under CoDel.
    FqCodel(FqCodelSpec),
    /// PIE.
    Pie(Room, PieSpec),
    /// FQ-PIE: a queue for each flow, each under PIE.
    FqPie(FqPieSpec),
    /// DualPI2: a queue for scalable traffic and one for other traffic, with one controller.
    DualPi2(DualPi2Spec),
    /// Priorities: the first class with packets sends.
    Priority(ClassesSpec),
    /// Deficit round robin between classes.
    Drr(DrrSpec),
    /// CAKE: a shaper, tins, and flows under COBALT in each tin.
    Cake(CakeSpec),
}

/// The unit of a queue's length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// Packets of any length.
    #[default]
    Packets,
    /// Bytes.
    Bytes,
}

/// Random early detection. [`RedSpec::for_rate`] gives parameters that fit a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedSpec {
    /// The limit of the queue.
    pub room: Room,
    /// The unit of the average and of the thresholds.
    pub unit: Unit,
    /// Below this average no packet is dropped early.
    pub min: f64,
    /// Above this average every packet is dropped; in the gentle variant above twice this average.
    pub max: f64,
    /// Drop probability just below `max`.
    pub max_p: f64,
    /// The weight of one arrival in the average.
    pub weight: f64,
    /// Above `max` the probability rises linearly, instead of jumping to 1.
    pub gentle: bool,
    /// Bytes of a typical packet: this gives how fast the average falls while the link is idle.
    pub mean_packet: u32,
    /// Mark packets that can be marked instead of dropping them, while the average is below the value at which all are
    /// dropped.
    pub ecn: bool,
}

/// CoDel's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelSpec {
    /// The target: waiting times up to this are acceptable.
    pub target: Span,
    /// The interval: how long waiting times may exceed the target. It is a round-trip time of the slower connections.
    pub interval: Span,
    /// Bytes of the largest packet: while no more than this waits, nothing is dropped.
    pub mtu: u32,
    /// Mark packets that can be marked instead of dropping them.
    pub ecn: bool,
}

impl Default for CodelSpec {
    /// The constants of RFC 8289, section 5.3, and the MTU of an Ethernet.
    fn default() -> Self {
        Self { target: Span::from_ms(5), interval: Span::from_ms(100), mtu: 1500, ecn: false }
    }
}

/// FQ-CoDel's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCodelSpec {
    /// The limit of all queues together.
    pub room: Room,
    /// The parameters of each queue.
    pub law: CodelSpec,
    /// The quantum: bytes that a queue may send in one round.
    pub quantum: u32,
    /// Number of queues.
    pub flows: u32,
}

impl Default for FqCodelSpec {
    /// The defaults of RFC 8290, section 5.2.
    fn default() -> Self {
        let (law, room) = (CodelSpec::default(), Room::Packets(10_240));
        Self { room, law, quantum: 1514, flows: 1024 }
    }
}

/// PIE's parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieSpec {
    /// The target waiting time.
    pub target: Span,
    /// How often the probability is computed.
    pub update: Span,
    /// Increase of the probability in each interval, for each second above the target.
    pub alpha: f64,
    /// Increase for each second by which the waiting time has grown.
    pub beta: f64,
    /// Length of a burst that passes without drops.
    pub max_burst: Span,
    /// Bytes of a typical packet: while no more than two of them wait, nothing is dropped.
    pub mean_packet: u32,
    /// The probability applies to a typical packet; for others it is proportional to the size.
    pub by_size: bool,
    /// Mark packets that can be marked instead of dropping them, while the probability is small.
    pub ecn: bool,
    /// The document that it follows.
    pub form: PieForm,
}

/// The document that a PIE follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PieForm {
    /// RFC 8033.
    #[default]
    Rfc8033,
    /// RFC 8034.
    Docsis {
        /// Bits per second that the modem may send.
        rate: u64,
        /// Size of its buffer in bytes.
        buffer: u64,
    },
}

impl Default for PieSpec {
    /// The constants of RFC 8033, section 4, and the MTU of an Ethernet.
    fn default() -> Self {
        Self {
            target: Span::from_ms(15),
            update: Span::from_ms(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_ms(150),
            mean_packet: 1500,
            by_size: false,
            ecn: false,
            form: PieForm::Rfc8033,
        }
    }
}

impl PieSpec {
    /// The constants of RFC 8034, appendix A.
    pub fn docsis(rate: u64, buffer: u64) -> Self {
        Self {
            target: Span::from_ms(10),
            update: Span::from_ms(16),
            alpha: 0.25,
            beta: 2.5,
            max_burst: Span::from_ms(142),
            mean_packet: 1024,
            by_size: true,
            ecn: false,
            form: PieForm::Docsis { rate, buffer },
        }
    }
}

/// FQ-PIE's parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FqPieSpec {
    /// The limit of all queues together.
    pub room: Room,
    /// The parameters of each queue.
    pub law: PieSpec,
    /// The quantum: bytes that a queue may send in one round.
    pub quantum: u32,
    /// Number of queues.
    pub flows: u32,
}

impl Default for FqPieSpec {
    /// The defaults of Linux.
    fn default() -> Self {
        Self { room: Room::Packets(10_240), law: PieSpec::default(), quantum: 1514, flows: 1024 }
    }
}

/// DualPI2's parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Spec {
    /// The limit of both queues together.
    pub room: Room,
    /// The target waiting time of the C queue.
    pub target: Span,
    /// How often the probability is computed.
    pub update: Span,
    /// Increase of the base probability in each interval, for each second above the target.
    pub alpha: f64,
    /// Increase for each second by which the waiting time has grown.
    pub beta: f64,
    /// The coupling factor k: the L queue marks with k times the base probability.
    pub coupling: f64,
    /// The L queue's own marking begins at this waiting time.
    pub step: Span,
    /// It marks only while at least this many packets of the L queue stay behind the one that leaves.
    pub step_packets: u32,
    /// The range of waiting times above it over which the probability of that mark rises to 1.
    pub ramp: Span,
    /// Which queue sends first.
    pub scheduler: DualScheduler,
    /// What happens when marking is not enough.
    pub overload: Overload,
    /// Bytes of the largest packet: while less than two of them wait, no packet is dropped or marked at random.
    pub mtu: u32,
}

/// Which of DualPI2's queues sends first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DualScheduler {
    /// The L queue, but the C queue gets a share when it has packets.
    WeightedRoundRobin {
        /// The share of the C queue in per cent: 0 … 100.
        classic: u8,
    },
    /// The packet that has waited longer; packets of the L queue count as having waited longer by a fixed time.
    TimeShifted {
        /// That time.
        shift: Span,
    },
}

/// What DualPI2 does when marking is not enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Both queues drop packets with the same probability.
    #[default]
    Drop,
    /// The queues grow up to their limit.
    Overflow,
}

impl Default for DualPi2Spec {
    /// The defaults of RFC 9332, appendix A, as Linux has them.
    fn default() -> Self {
        Self {
            room: Room::Packets(10_000),
            target: Span::from_ms(15),
            update: Span::from_ms(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            step: Span::from_ms(1),
            step_packets: 2,
            ramp: Span::ZERO,
            scheduler: DualScheduler::WeightedRoundRobin { classic: 10 },
            overload: Overload::Drop,
            mtu: 1500,
        }
    }
}

/// CAKE's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CakeSpec {
    /// The limit of all queues together.
    pub room: Room,
    /// The rate of the shaper in bits per second; `None` if the link sets the rate.
    pub bandwidth: Option<u64>,
    /// The round-trip time of the slower connections.
    pub rtt: Span,
    /// Between whom the rate is shared equally.
    pub isolation: Isolation,
    /// Classes by codepoint.
    pub diffserv: Diffserv,
    /// Which ACKs are removed.
    pub ack_filter: AckFilter,
    /// Bytes that the link layer adds to an IP packet.
    pub overhead: u32,
    /// Smallest size of a packet on the wire, in bytes.
    pub mpu: u32,
    /// How the wire carries packets.
    pub link_layer: LinkLayer,
}

impl Default for CakeSpec {
    /// The defaults of Linux.
    fn default() -> Self {
        Self {
            room: Room::Bytes(4 << 20),
            bandwidth: None,
            rtt: Span::from_ms(100),
            isolation: Isolation::Triple,
            diffserv: Diffserv::Three,
            ack_filter: AckFilter::Off,
            overhead: 0,
            mpu: 0,
            link_layer: LinkLayer::Plain,
        }
    }
}

/// Between whom CAKE shares the rate equally.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Sending hosts.
    SrcHost,
    /// Receiving hosts.
    DstHost,
    /// Pairs of hosts.
    Hosts,
    /// Sending hosts, and the flows of each.
    DualSrcHost,
    /// Receiving hosts, and the flows of each.
    DualDstHost,
    /// Hosts on both sides, and the flows of each.
    #[default]
    Triple,
}

/// CAKE's tins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Diffserv {
    /// One tin.
    BestEffort,
    /// Three: bulk, best effort, voice.
    #[default]
    Three,
    /// Four: bulk, best effort, video, voice.
    Four,
    /// Eight.
    Eight,
}

/// Which ACKs CAKE removes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// The older of two ACKs when a third one follows.
    Conservative,
    /// An ACK when another one follows.
    Aggressive,
}

/// How a wire carries packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkLayer {
    /// Unchanged.
    #[default]
    Plain,
    /// In ATM cells: 53 bytes carry 48.
    Atm,
    /// In the encoding of PTM: 65 bytes carry 64.
    Ptm,
}

/// The largest number of classes.
pub const MAX_CLASSES: usize = 8;

/// Classes of packets, by their differentiated services codepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassesSpec {
    /// The limit of each class.
    pub room: Room,
    /// The class of each codepoint.
    pub of: [u8; 64],
    /// Number of classes.
    pub count: u8,
}

impl ClassesSpec {
    /// Classes of these codepoints, and one after them for all others; `None` if there are too many, or a codepoint is
    /// invalid.
    pub fn new(room: Room, classes: &[&[u8]]) -> Option<Self> {
        if classes.len() >= MAX_CLASSES {
            return None;
        }
        let mut of = [classes.len() as u8; 64];
        for (class, codepoints) in (0..).zip(classes) {
            for codepoint in *codepoints {
                *of.get_mut(usize::from(*codepoint))? = class;
            }
        }
        Some(Self { room, of, count: classes.len() as u8 + 1 })
    }
}

/// Deficit round robin's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DrrSpec {
    /// The classes.
    pub classes: ClassesSpec,
    /// The quantum of each class in bytes.
    pub quanta: [u32; MAX_CLASSES],
}

impl DrrSpec {
    /// These classes with these quanta; a class without one gets the largest frame of an Ethernet.
    pub fn new(classes: ClassesSpec, quanta: &[u32]) -> Self {
        let mut all = [1514; MAX_CLASSES];
        for (to, from) in all.iter_mut().zip(quanta) {
            *to = *from;
        }
        Self { classes, quanta: all }
    }
}

/// The limit of a queue that does not send in order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Room {
    /// No limit.
    #[default]
    Unlimited,
    /// At most this many packets, not counting the one being transmitted.
    Packets(u32),
    /// At most this many bytes, not counting the packet being transmitted.
    Bytes(u64),
}
