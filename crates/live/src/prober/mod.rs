//! Measures delays with ICMP echo, as in RFC 889: volleys to one or more hosts, with configurable lengths and
//! intervals, and a result for every packet.
//!
//! Call [`Prober::start`] with a [`Plan`], then [`Prober::wait`] and [`Prober::take`] until it ends or
//! [`Prober::stop`].
//!
//! Without I/O:
//!
//! * `echo.rs`: encodes and parses messages
//! * `ledger.rs`: assigns replies to packets; `row.rs`: the results
//! * `schedule.rs`: when volleys are sent, and the lengths of packets
//! * `plan.rs`: the request and its checks
//!
//! With I/O:
//!
//! * `socket.rs`: ICMP sockets, with and without privilege
//! * `clock.rs`: the two clocks
//! * `run.rs`: the loop, in a thread of its own

mod clock;
mod echo;
mod ledger;
mod plan;
mod row;
mod run;
mod schedule;
mod socket;

pub use clock::Moment;
pub use echo::Family;
pub use plan::{Lengths, Pace, Plan, PlanError, Speed};
pub use row::{Event, Row, Stamped};
pub use run::{Prober, StartError, Tally};
pub use socket::{Denied, Kind};
