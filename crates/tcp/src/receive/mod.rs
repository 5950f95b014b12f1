//! The receiver: reassembly, the announced window, and the times of ACKs.
//!
//! `Receiver` owns its state. It does not depend on the sender.

pub mod acking;

pub(crate) mod ack_schedule;
mod autotuning;
pub(crate) mod background;
mod marks;
mod old_segments;
mod packet_memory;
mod packet_queue;
mod reassembly;
pub(crate) mod receiver;
mod reports;
pub(crate) mod run;
mod stamps;
mod window;
mod window_growth;
