//! Queues that serve the classes of packets (RFC 2474) apart from each other.

pub(super) mod classes;
pub(super) mod drr;
pub(super) mod priority;
