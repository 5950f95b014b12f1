//! What may wait for a link, and in which order it leaves, as plain data.

use netspurt_tcp::time::Span;

/// What may wait for a link.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum QueueSpec {
    /// Everything.
    #[default]
    Unlimited,
    /// At most so many packets, the one being transmitted not counted.
    Packets(u32),
    /// At most this many bytes, the packet being transmitted not counted.
    Bytes(u64),
    /// What finds room, and resends leave before all others.
    ResendFirst(Room),
    /// What finds room; what finds more waiting than the second says is marked, if it can be.
    Step(Room, Room),
    /// What finds room, unless random early detection drops it first.
    Red(RedSpec),
    /// What finds room, and is dropped if it has waited too long.
    Codel(Room, CodelSpec),
    /// A queue for each flow, each under CoDel.
    FqCodel(FqCodelSpec),
    /// What finds room, unless PIE drops it on arrival.
    Pie(Room, PieSpec),
    /// A queue for each flow, each under PIE.
    FqPie(FqPieSpec),
    /// A queue for scalable traffic and one for the rest, with one controller.
    DualPi2(DualPi2Spec),
    /// Classes, of which the first that has packets sends.
    Priority(ClassesSpec),
    /// Classes that send in turn.
    Drr(DrrSpec),
    /// A shaper, tins, and flows under COBALT in each.
    Cake(CakeSpec),
}

/// What a queue is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// Packets, whatever their length.
    #[default]
    Packets,
    /// Bytes.
    Bytes,
}

/// Random early detection. [`RedSpec::for_rate`] gives parameters that suit a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedSpec {
    /// How much may wait at most.
    pub room: Room,
    /// What the average and the thresholds count.
    pub unit: Unit,
    /// Below this average nothing is dropped early.
    pub min: f64,
    /// From this average on all is dropped; in the gentle variant from twice that on.
    pub max: f64,
    /// Probability just below `max`.
    pub max_p: f64,
    /// What one arrival counts for in the average.
    pub weight: f64,
    /// The probability rises steadily above `max`, instead of leaping to 1.
    pub gentle: bool,
    /// Bytes of a typical packet: how fast the average falls while the link is idle.
    pub mean_packet: u32,
    /// Packets that can be marked are marked instead of dropped, below the average from which on all would be dropped.
    pub ecn: bool,
}

/// CoDel's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelSpec {
    /// Waits up to this are fine.
    pub target: Span,
    /// For how long they may stay above: a round trip of the slower connections.
    pub interval: Span,
    /// Bytes of the largest packet: as long as no more than that waits, nothing is dropped.
    pub mtu: u32,
    /// Packets that can be marked are marked instead of dropped.
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
    /// How much may wait in all queues together.
    pub room: Room,
    /// What governs each queue.
    pub law: CodelSpec,
    /// Bytes that a queue may send in its turn.
    pub quantum: u32,
    /// Queues.
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
    /// How long packets are to wait.
    pub target: Span,
    /// How often the probability is computed.
    pub update: Span,
    /// By what the probability grows in each interval for each second above the target.
    pub alpha: f64,
    /// By what it grows for each second that the wait has grown.
    pub beta: f64,
    /// For how long a burst passes.
    pub max_burst: Span,
    /// Bytes of a typical packet: while no more than two of them wait, nothing is dropped.
    pub mean_packet: u32,
    /// The probability is for a typical packet, and proportional to the size.
    pub by_size: bool,
    /// Packets that can be marked are marked instead of dropped, as long as the probability is small.
    pub ecn: bool,
    /// By which document.
    pub form: PieForm,
}

/// Which document a PIE follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PieForm {
    /// RFC 8033.
    #[default]
    Rfc8033,
    /// RFC 8034.
    Docsis {
        /// Bits per second that the modem may send.
        rate: u64,
        /// Bytes that its buffer holds.
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
    /// How much may wait in all queues together.
    pub room: Room,
    /// What governs each queue.
    pub law: PieSpec,
    /// Bytes that a queue may send in its turn.
    pub quantum: u32,
    /// Queues.
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
    /// How much may wait in both queues together.
    pub room: Room,
    /// How long packets of the C queue are to wait.
    pub target: Span,
    /// How often the probability is computed.
    pub update: Span,
    /// By what the base probability grows in each interval for each second above the target.
    pub alpha: f64,
    /// By what it grows for each second that the wait has grown.
    pub beta: f64,
    /// How many times the base probability the L queue marks with: k.
    pub coupling: f64,
    /// Waits up to this are not marked by the L queue itself.
    pub step: Span,
    /// Over so much more the likelihood of that mark rises to 1.
    pub ramp: Span,
    /// Which queue goes first.
    pub scheduler: DualScheduler,
    /// What happens where marking is not enough.
    pub overload: Overload,
    /// Bytes of the largest packet: while less than two of them wait, chance neither drops nor marks.
    pub mtu: u32,
}

/// Which of DualPI2's queues goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DualScheduler {
    /// The L queue, but the C queue has so many per cent, if it needs them.
    WeightedRoundRobin {
        /// Per cent of the C queue: 0 … 100.
        classic: u8,
    },
    /// Whose packet has waited longer, those of the L queue having a head start.
    TimeShifted {
        /// The head start.
        shift: Span,
    },
}

/// What DualPI2 does where marking is not enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overload {
    /// Both queues drop with the same probability.
    #[default]
    Drop,
    /// The queues grow until there is no room.
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
    /// How much may wait in all queues together.
    pub room: Room,
    /// Bits per second that leave; `None` where the link decides.
    pub bandwidth: Option<u64>,
    /// A round trip of the slower connections.
    pub rtt: Span,
    /// What shares equally.
    pub isolation: Isolation,
    /// Classes by codepoint.
    pub diffserv: Diffserv,
    /// Which ACKs are dropped.
    pub ack_filter: AckFilter,
    /// Bytes that the wire adds to an IP packet.
    pub overhead: u32,
    /// Bytes that the shortest packet takes on the wire.
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

/// What shares equally under CAKE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Hosts that send.
    SrcHost,
    /// Hosts that receive.
    DstHost,
    /// Pairs of hosts.
    Hosts,
    /// Hosts that send, and the flows of each.
    DualSrcHost,
    /// Hosts that receive, and the flows of each.
    DualDstHost,
    /// Hosts on both sides, and the flows of each.
    #[default]
    Triple,
}

/// CAKE's tins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Diffserv {
    /// One.
    BestEffort,
    /// Bulk, the rest, voice.
    #[default]
    Three,
    /// Bulk, the rest, video, voice.
    Four,
    /// Eight.
    Eight,
}

/// Which ACKs CAKE drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// The older of two behind which a third one comes.
    Conservative,
    /// The one behind which another one comes.
    Aggressive,
}

/// How a wire carries packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LinkLayer {
    /// As they are.
    #[default]
    Plain,
    /// In ATM cells, of 53 bytes for 48.
    Atm,
    /// In PTM's code, of 65 bytes for 64.
    Ptm,
}

/// How many classes there can be.
pub const MAX_CLASSES: usize = 8;

/// Classes of packets, told apart by their differentiated services codepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassesSpec {
    /// How much may wait of each class.
    pub room: Room,
    /// The class of each codepoint.
    pub of: [u8; 64],
    /// How many there are.
    pub count: u8,
}

impl ClassesSpec {
    /// Classes of these codepoints, and one behind them of all others; `None` if there are too many, or a codepoint is none.
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
    /// Bytes that each may send in its turn.
    pub quanta: [u32; MAX_CLASSES],
}

impl DrrSpec {
    /// These classes, with this many bytes for each, and an Ethernet's largest frame for those that are not given any.
    pub fn new(classes: ClassesSpec, quanta: &[u32]) -> Self {
        let mut all = [1514; MAX_CLASSES];
        for (to, from) in all.iter_mut().zip(quanta) {
            *to = *from;
        }
        Self { classes, quanta: all }
    }
}

/// How much may wait where the order is not that of arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Room {
    /// Everything.
    #[default]
    Unlimited,
    /// At most so many packets, the one being transmitted not counted.
    Packets(u32),
    /// At most this many bytes, the packet being transmitted not counted.
    Bytes(u64),
}
