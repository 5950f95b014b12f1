//! Captures and what packets tell, for connections of any origin: ours, simulated or live, and other people's.
//!
//! Lives here: reading and writing captures, and conclusions drawn from segments alone. Must not live here: anything that
//! has to look inside a connection or a simulated network.
//!
//! * `capture/`: files that Wireshark and tcptrace read
//! * `conversation.rs`: places in the stream and windows in bytes, from the header fields
//! * `follow/`: connections of a capture, their round-trip times, and why what was sent again
//! * `replay/`: retransmission timers over recorded delays

pub mod capture;
mod conversation;
pub mod follow;
pub mod replay;
mod stamp;

pub use conversation::{Conversation, Side, Told};
pub use stamp::Stamp;
