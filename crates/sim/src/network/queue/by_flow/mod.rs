//! Queues with a separate queue for each flow.

pub(super) mod cake;
pub(super) mod fq_codel;
pub(super) mod fq_pie;
pub(super) mod rounds;
