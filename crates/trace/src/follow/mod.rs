//! What a capture tells of its TCP connections.
//!
//! [`follow`] reads a capture and tells a [`Watch`] of every connection: round-trip times, retransmissions and why they
//! were made, reordering, windows, and in the end a [`ConnectionReport`]. Everything is concluded from packets seen at
//! one place, which may be the sender, the receiver, or anywhere between.
//!
//! * `follower.rs`: from packets to segments; `table.rs`: from segments to connections, within limits
//! * `connection.rs`: both directions; `stream.rs`: one of them, where all that follows is put together
//! * `pieces.rs`, `gaps.rs`, `reported.rs`: what is outstanding, was passed over, was reported by SACK
//! * decisions, each a pure function from what is known to a verdict with a name: `rtt.rs`, `retransmission.rs`,
//!   `reordering.rs`, `spurious.rs`, `probes.rs`
//! * `layout.rs`: options without assigned numbers, in either layout
//! * `estimate.rs`, `distribution.rs`: round-trip times, now and over all
//! * `watch.rs`, `report.rs`, `who.rs`: what is told, when, and of whom

mod connection;
mod delivered;
mod distribution;
mod estimate;
mod follower;
mod gaps;
mod layout;
mod pieces;
mod probes;
mod reordering;
mod report;
mod reported;
mod retransmission;
mod rtt;
mod spurious;
mod stream;
mod table;
mod turnaround;
mod watch;
mod who;

pub use distribution::Distribution;
pub use follower::{Follower, Tally, follow};
pub use report::{Closing, ConnectionReport, Opening, StreamReport};
pub use retransmission::Cause;
pub use spurious::Proof;
pub use table::Limits;
pub use watch::{Event, Flight, Happened, Method, RttSample, Seen, Watch};
pub use who::{ConnectionId, Endpoints};
