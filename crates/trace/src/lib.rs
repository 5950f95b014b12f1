//! Captures and what packets tell, for connections of any origin: ours, simulated or live, and other people's.
//!
//! Lives here: reading and writing captures, and conclusions drawn from segments alone. Must not live here: anything that
//! has to look inside a connection or a simulated network.
//!
//! * `capture/`: files that Wireshark and tcptrace read
//! * `conversation.rs`: places in the stream and windows in bytes, from the header fields
//! * `replay/`: retransmission timers over recorded delays

pub mod capture;
mod conversation;
pub mod replay;

pub use conversation::{Conversation, Side, Told};
