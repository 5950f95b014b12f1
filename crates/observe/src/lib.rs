//! Observes simulated runs: captures of them, and how well a diagnosis from a capture agrees with what really limited them.
//!
//! * `tap.rs`: simulated packets as a capture
//! * `judge/`: cases with a known truth, and their comparison with the diagnosis

pub mod judge;
pub mod tap;
