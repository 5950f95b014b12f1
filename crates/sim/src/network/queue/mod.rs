//! Queue disciplines. One file each.
//!
//! A [`Discipline`] decides when a packet *arrives*, from the backlog. A FIFO link needs no more, because it can compute the
//! departure of every packet that it accepts. [`Red`] and [`Step`] decide on arrival, too, but must see every packet and
//! its time.
//!
//! Those that change the order (resends first, fair queueing), or decide when a packet *departs* (CoDel), cannot be
//! computed in advance. A channel with such a queue has a `Keeper`, which stores its packets. The channel has its own
//! departure event, and is not computed together with the channel before it (see [`crate::network::route`]). For an arriving
//! packet there is a third result besides an arrival time and a drop: it waits. A waiting packet may be dropped when other
//! packets arrive or leave.

mod admission;
mod aqm;
mod by_class;
mod by_flow;
mod drop_tail;
mod dualpi2;
mod fifo;
mod keeper;
mod order;
mod resend_first;
pub(crate) mod ring;

pub(crate) use admission::OnArrival;
pub(crate) use aqm::early::Early;
pub(crate) use keeper::Keeper;
pub(crate) use order::{Kept, Leaving, Origin, Passing};

pub use admission::{Admission, Backlog};
pub use aqm::red::Red;
pub use aqm::step::Step;
pub use drop_tail::{DropTailBytes, DropTailPackets};

use crate::spec::{QueueSpec, Room};

/// The built-in disciplines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Unlimited.
    Unlimited,
    /// Drop-tail, counted in packets.
    DropTailPackets(DropTailPackets),
    /// Drop-tail, counted in bytes.
    DropTailBytes(DropTailBytes),
}

impl Discipline {
    /// The admission rule of `spec`, for any order of departure.
    pub const fn new(spec: &QueueSpec) -> Self {
        let room = match spec {
            // Fair queueing accepts every packet and drops from the longest flow; classes have limits of their own.
            QueueSpec::Unlimited
            | QueueSpec::FqCodel(_)
            | QueueSpec::Priority(_)
            | QueueSpec::Drr(_)
            | QueueSpec::Cake(_) => Room::Unlimited,
            QueueSpec::Packets(limit) => Room::Packets(*limit),
            QueueSpec::Bytes(limit) => Room::Bytes(*limit),
            QueueSpec::ResendFirst(room) | QueueSpec::Codel(room, _) | QueueSpec::Step(room, _) => *room,
            QueueSpec::Red(red) => red.room,
            QueueSpec::Pie(room, _) => *room,
            QueueSpec::FqPie(spec) => spec.room,
            QueueSpec::DualPi2(spec) => spec.room,
        };
        Self::of(room)
    }

    /// The admission rule of a limit.
    pub(crate) const fn of(room: Room) -> Self {
        match room {
            Room::Unlimited => Self::Unlimited,
            Room::Packets(limit) => Self::DropTailPackets(DropTailPackets { limit }),
            Room::Bytes(limit) => Self::DropTailBytes(DropTailBytes { limit }),
        }
    }

    /// The limit.
    pub(crate) const fn room(self) -> Room {
        match self {
            Self::Unlimited => Room::Unlimited,
            Self::DropTailPackets(DropTailPackets { limit }) => Room::Packets(limit),
            Self::DropTailBytes(DropTailBytes { limit }) => Room::Bytes(limit),
        }
    }
}

impl Admission for Discipline {
    #[inline]
    fn admits(&mut self, backlog: Backlog, size: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::DropTailPackets(queue) => queue.admits(backlog, size),
            Self::DropTailBytes(queue) => queue.admits(backlog, size),
        }
    }
}
