//! Hosts: endpoints of connections, ports, processors, and the applications.
//!
//! Lives here: the state and decisions of one host. Must not live here: links, queues, and the order of events.

pub mod app;
pub mod datagram;
pub mod endpoint;
pub(crate) mod fast_open;
pub mod own;
pub mod ports;
pub mod processor;
pub mod session;
