//! Measures delays with ICMP echo, after RFC 889's fashion: volleys to one host or many, of lengths and at intervals to
//! choose, and what became of every packet.
//!
//! [`Prober::start`] with a [`Plan`]; then [`Prober::wait`] and [`Prober::take`] what has been found, until it is over or
//! [`Prober::stop`]ped.
//!
//! Decided without I/O:
//!
//! * `echo.rs`: messages to octets and back
//! * `ledger.rs`: which answer belongs to which packet, and what it is; `row.rs`: what is told of it
//! * `schedule.rs`: when the next volley leaves, and how long its packets are
//! * `plan.rs`: what is asked for, and whether it may be
//!
//! Done:
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
