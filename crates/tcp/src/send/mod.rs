//! The sending half: the send sequence space, what may leave now, and the segment that carries it.

pub(crate) mod held_tail;
pub(crate) mod marks;
pub(crate) mod output;
pub(crate) mod paced;
pub(crate) mod path_mtu;
pub(crate) mod space;
pub mod transmit;
pub(crate) mod tso;
