//! The simulated world: hosts, links, queues, losses and applications around one TCP.
//!
//! Describe a world as a [`spec::WorldSpec`], run it as a [`World`], read the [`record::result::RunResult`]. A world uses a
//! [`network::Network`], which moves packets and knows nothing of TCP. The network uses an [`engine::EventQueue`]. Time and
//! randomness are arguments: the same specification and seed give the same result on every machine.

pub mod engine;
pub mod host;
pub mod network;
pub mod parallel;
pub mod random;
pub mod record;
pub mod spec;

#[cfg(test)]
mod testing;
mod world;

pub use host::endpoint::address;
pub use world::{World, idle_path};
