//! The simulated world: hosts, links, queues, losses and applications round one TCP.
//!
//! Describe a world as a [`spec::WorldSpec`], run it as a [`World`], read the [`result::RunResult`]. Under the world
//! lies a [`network::Network`], which moves packets and knows nothing of TCP, and under that an
//! [`engine::EventQueue`]. Time and randomness are arguments: the same specification and seed give the same result on
//! every machine.

pub mod app;
pub mod capacity;
pub mod digest;
pub mod distribution;
pub mod engine;
mod fast_open;
pub mod impair;
pub mod link;
pub mod loss;
pub mod medium;
pub mod network;
pub mod own;
pub mod packet;
pub mod ports;
pub mod probe;
pub mod processor;
pub mod queue;
pub mod random;
pub mod result;
pub mod route;
pub mod scenario;
pub mod session;
pub mod sketch;
pub mod spec;
pub mod synthetic;

mod held_tail;
mod host;
mod ring;
mod summary;
#[cfg(test)]
mod testing;
mod world;

pub use host::address;
pub use world::World;
