//! Connections from the first SYN to TIME-WAIT.

#[path = "../common/mod.rs"]
mod common;

mod fast_open;
mod handshake;
mod state_machine;
mod time_limits;
