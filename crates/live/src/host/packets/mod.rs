//! Packets to and from the device.

pub(super) mod arrival;
pub(super) mod burst;
pub(super) mod departure;
pub(super) mod icmp;
