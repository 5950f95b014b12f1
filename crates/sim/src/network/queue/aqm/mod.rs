//! Active queue management: packets are dropped or marked before the queue is full.

pub(super) mod codel;
pub(super) mod early;
pub(super) mod pie;
pub(super) mod red;
pub(super) mod step;
