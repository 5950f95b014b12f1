//! Congestion controls that keep the queueing delay small, measured by the RTT.

pub(super) mod vegas;
