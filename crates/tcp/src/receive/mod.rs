//! The receiving half: arriving segments, reassembly, the window, and when to acknowledge.

pub(crate) mod ack_out;
pub mod acking;
pub(crate) mod autotuning;
pub(crate) mod input;
pub(crate) mod space;
