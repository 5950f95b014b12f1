//! What limited each connection of a capture, and for how long.
//!
//! [`Diagnoser`] listens while a capture is followed. Each direction of a connection has a `SenderView`: it records
//! in which phase the sender visibly was, and what was sent, acknowledged and measured. When the connection ends, the rules
//! name the limit of each instant.
//!
//! * `sender/`: the sender's state from its packets, on the sender's own clock
//! * `vantage/`: where the capture was taken
//! * `path/`: round trips, queueing delay and capacity; `facts.rs`: the input of the rules
//! * `rules/`: one file for each family of limits; `moment.rs`: the piece that they judge
//! * `hosts.rs`: what passes between two hosts on their other connections
//! * `transfers.rs`: requests and responses of persistent connections
//! * `range.rs`: a part of the time of a capture, of which alone limits and bytes are counted
//! * `verdict.rs`: the timeline and the budget; `evidence.rs`, `confidence.rs`: what shows each of its lines

mod confidence;
mod diagnoser;
mod evidence;
mod facts;
mod hosts;
mod marks;
mod median;
mod moment;
mod path;
mod range;
mod rules;
mod sender;
mod transfers;
mod vantage;
mod verdict;

pub use diagnoser::Diagnoser;
pub use evidence::Evidence;
pub use range::Range;
pub use transfers::Transfer;
pub use vantage::Vantage;
pub use verdict::{ConnectionDiagnosis, DirectionDiagnosis, Masked};
