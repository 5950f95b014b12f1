//! The simulated world.

pub mod scenario;
