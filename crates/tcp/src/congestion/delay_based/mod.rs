//! Congestion controls that keep the queueing delay small, measured by the RTT.

pub(super) mod ledbat;
pub(super) mod vegas;
