//! The receiving half: reassembly, the window that is announced, and when to acknowledge.
//!
//! [`Receiver`](receiver::Receiver) owns its state. It knows nothing of the sender.

pub mod acking;

pub(crate) mod ack_schedule;
mod autotuning;
mod marks;
mod reassembly;
pub(crate) mod receiver;
mod stamps;
