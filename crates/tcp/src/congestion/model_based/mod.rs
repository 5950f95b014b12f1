//! Congestion controls with a model of the path: its bandwidth and its RTT without queueing delay.

pub(super) mod bbr;
pub(super) mod bbr3;
mod path_model;
