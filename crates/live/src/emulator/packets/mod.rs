//! Packets between the devices of the hosts and the simulated network.

pub(super) mod cargo;
pub(super) mod carrier;
pub(super) mod manifest;
pub(super) mod rewrite;
pub(super) mod too_big;
pub(super) mod train;
mod ways;
