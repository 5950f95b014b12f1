//! Analysis of the TCP connections in a capture.
//!
//! [`follow`] reads a capture and reports each connection to a [`Watch`]: round-trip times, retransmissions and their
//! causes, reordering, windows, and a [`ConnectionReport`] at the end. The capture point may be the sender, the
//! receiver, or any place between them.
//!
//! * `follower.rs`: from packets to segments; `table.rs`: from segments to connections, within limits
//! * `packet_facts.rs`: what the analysis of a segment needs of its packet
//! * `few_segments.rs`: the segments of a silent connection that has had few
//! * `connection.rs`: both directions; `stream/`: one direction, with outstanding data, gaps, and SACK reports
//! * decisions, each a pure function: `rtt/` (samples, estimates, percentiles) and `retransmission/` (cause, reordering,
//!   spurious retransmissions, probes)
//! * `layout.rs`: encodings of options without assigned numbers
//! * `watch.rs`, `report.rs`, `endpoints.rs`: events, reports and endpoints

mod connection;
mod copies;
mod endpoints;
mod few_segments;
mod follower;
mod layout;
mod packet_facts;
mod report;
mod retransmission;
mod rtt;
mod stream;
mod table;
mod watch;

pub use endpoints::{ConnectionId, Endpoints};
pub use follower::{Follower, Tally, follow};
pub use report::{Closing, ConnectionReport, Opening, StreamReport};
pub use retransmission::Cause;
pub use retransmission::spurious::Proof;
pub use rtt::distribution::Distribution;
pub use table::Limits;
pub use watch::{Event, Flight, Happened, Method, RttSample, Seen, Watch};
