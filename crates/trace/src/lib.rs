//! Captures and their analysis, for simulated, live and other connections.
//!
//! This crate reads and writes captures, and analyses segments. It must not depend on the state of a connection or of a
//! simulated network.
//!
//! * `capture/`: pcap and pcapng files
//! * `conversation.rs`: stream positions and windows in bytes
//! * `follow/`: connections of a capture, their round-trip times, and causes of retransmissions
//! * `diagnosis/`: what limited each connection, and for how long
//! * `replay/`: retransmission timers replayed over recorded delays

pub mod capture;
mod conversation;
pub mod diagnosis;
pub mod follow;
pub mod replay;
mod stamp;

pub use conversation::{Conversation, Side, StreamFields};
pub use stamp::Stamp;
