//! Observes simulated runs: captures of them, and how well a diagnosis from a capture agrees with what really limited them.
//!
//! * `tap.rs`: simulated packets as a capture
//! * `offload.rs`: segments of a host as frames above segmentation offload
//! * `judge/`: cases with a known truth, and their comparison with the diagnosis

pub mod judge;
mod offload;
pub mod tap;
