//! Why a packet did not arrive.

/// Why a packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// The queue had no room.
    Queue,
    /// A bit was wrong.
    BitError,
    /// The packet was wrong.
    PacketError,
    /// An exponential gap was over.
    ExponentialGaps,
    /// The two-state chain said so.
    GilbertElliott,
    /// The script said so.
    Script,
    /// Random early detection dropped it.
    Red,
    /// CoDel dropped it.
    Codel,
    /// It collided too often.
    Collisions,
    /// It was a SYN that requests ECN.
    EcnBlackHole,
    /// It was longer than the link takes.
    TooBig,
    /// The policer had no tokens for it.
    Policer,
    /// It was larger than the shaper's bucket.
    Shaper,
    /// A middlebox had forgotten its connection.
    IdleTimeout,
    /// It was an ACK, and a later one took its place.
    AckThinning,
    /// PIE dropped it.
    Pie,
    /// DualPI2 dropped it.
    DualPi2,
    /// CAKE's COBALT dropped it.
    Cobalt,
    /// It was an ACK, and a later ACK in the queue makes it superfluous.
    AckFilter,
}

impl Cause {
    /// Every cause, in declaration order.
    pub const ALL: [Self; 19] = [
        Self::Queue,
        Self::BitError,
        Self::PacketError,
        Self::ExponentialGaps,
        Self::GilbertElliott,
        Self::Script,
        Self::Red,
        Self::Codel,
        Self::Collisions,
        Self::EcnBlackHole,
        Self::TooBig,
        Self::Policer,
        Self::Shaper,
        Self::IdleTimeout,
        Self::AckThinning,
        Self::Pie,
        Self::DualPi2,
        Self::Cobalt,
        Self::AckFilter,
    ];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::BitError => "bit-error",
            Self::PacketError => "packet-error",
            Self::ExponentialGaps => "exponential-gaps",
            Self::GilbertElliott => "gilbert-elliott",
            Self::Script => "script",
            Self::Red => "red",
            Self::Codel => "codel",
            Self::Collisions => "collisions",
            Self::EcnBlackHole => "ecn-black-hole",
            Self::TooBig => "too-big",
            Self::Policer => "policer",
            Self::Shaper => "shaper",
            Self::IdleTimeout => "idle-timeout",
            Self::AckThinning => "ack-thinning",
            Self::Pie => "pie",
            Self::DualPi2 => "dualpi2",
            Self::Cobalt => "cobalt",
            Self::AckFilter => "ack-filter",
        }
    }
}
