//! Queues with a separate queue for each class of packets (RFC 2474).

pub(super) mod classes;
pub(super) mod drr;
pub(super) mod priority;
