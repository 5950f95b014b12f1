//! Our TCP on a wire: connections with real bytes, and applications on them.
//!
//! [`Host`] has neither device nor clock: packets, calls and times go in, packets come out through a [`Wire`]. So two hosts can be
//! joined in a test.
//!
//! * `settings.rs`: what a host is told before it begins
//! * `stack.rs`: the host; `account.rs`: what it tells
//! * `sockets.rs`: all its connections
//! * `stream.rs`: a connection as an application sees it; `ring.rs`: its bytes
//! * `arrival.rs`, `departure.rs`, `burst.rs`: between packets and segments
//! * `app/`: applications
//! * `driver.rs`: the loop of a host on a TUN device, `polling.rs`: when that looks for packets instead of sleeping; `capture.rs`: what passes there, into a file
//! * `service.rs`: all of it on a thread of its own; `setup.rs`: its device; `splice.rs`: a connection for standard input and output; `row.rs`: what is
//!   shown of a connection
//! * `icmp.rs`: paths that take shorter packets only, and echo

mod account;
pub mod app;
mod arrival;
mod burst;
mod capture;
mod departure;
mod driver;
mod icmp;
mod plan;
mod polling;
mod ring;
mod row;
mod service;
mod settings;
mod setup;
mod sockets;
mod splice;
mod stack;
mod stream;

pub use account::{Account, ConnectError, Happening, Tally};
pub use capture::Capture;
pub use departure::Wire;
pub use driver::{Driver, DriverError, Other};
pub use plan::{Plan, Role, Where};
pub use row::Row;
pub use service::{News, Service, Snapshot};
pub use settings::{Limits, Mss, Settings};
pub use setup::StartError;
pub use sockets::Id;
pub use splice::Stdio;
pub use stack::{Accept, Host};
pub use stream::{Application, Elsewhere, Next, Pair, Stream};
