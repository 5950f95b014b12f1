//! Packets between the devices of the hosts and the simulated network.

pub(super) mod fields;
pub(super) mod real_network;
pub(super) mod rewrite;
mod routes;
pub(super) mod store;
pub(super) mod too_big;
pub(super) mod train;
