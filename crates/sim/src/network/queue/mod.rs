//! Queue disciplines: what may wait for a link. One file each.
//!
//! A [`Discipline`] decides when a packet *arrives*, knowing what is waiting; that is all a FIFO link needs, because
//! the departure of every packet it lets in follows by arithmetic. [`Red`] decides on arrival too, but wants to hear of
//! every packet, and when; so does [`Step`], which marks.
//!
//! Those that change the order (resends first, fair queueing), or decide when a packet *departs* (CoDel), cannot be
//! computed ahead: a channel with such a queue has a `Keeper`, which keeps its packets, has a departure event of its own
//! in the event queue, and is not computed together with the channel before it (see [`crate::network::route`]). A packet that
//! comes to it may be told to wait: a third answer beside "it arrives then" and "it is dropped"; and one that waits may
//! be dropped when others come or leave. Beyond that point nothing is different.

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
    /// Everything waits.
    Unlimited,
    /// Drop-tail, counted in packets.
    DropTailPackets(DropTailPackets),
    /// Drop-tail, counted in bytes.
    DropTailBytes(DropTailBytes),
}

impl Discipline {
    /// Who may wait under `spec`, in whatever order they leave.
    pub const fn new(spec: &QueueSpec) -> Self {
        let room = match spec {
            // Fair queueing lets everybody in and makes room at the expense of whoever holds most; classes have room of their own.
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

    /// Who may wait where there is so much room.
    pub(crate) const fn of(room: Room) -> Self {
        match room {
            Room::Unlimited => Self::Unlimited,
            Room::Packets(limit) => Self::DropTailPackets(DropTailPackets { limit }),
            Room::Bytes(limit) => Self::DropTailBytes(DropTailBytes { limit }),
        }
    }

    /// The room that there is.
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
