//! Queues that serve flows apart from each other.

pub(super) mod cake;
pub(super) mod fq_codel;
pub(super) mod fq_pie;
pub(super) mod rounds;
