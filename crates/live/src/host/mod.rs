//! Our TCP on a real network: connections with payload, and applications.
//!
//! [`Host`] has no device and no clock: packets, calls and times are arguments, and it sends packets through a
//! [`Wire`]. So a test can connect two hosts.
//!
//! * `settings.rs`: the configuration of a host
//! * `stack.rs`: the host; `serving.rs`, `turns.rs`: in which order it sends; `account.rs`: its events and counters
//! * `sockets.rs`: all its connections; `strangers.rs`: which segments without a connection are answered under load
//! * `stream.rs`: a connection as an application uses it; `ring.rs`: its buffers; `budget.rs`: the memory of all buffers
//! * `packets/`: conversion between packets and segments, and ICMP
//! * `app/`: applications
//! * `service/`: a host on a TUN device, in a thread: its device, its loop, and the capture of its packets
//! * `splice.rs`: a connection for standard input and output; `row.rs`: the variables of a connection that users see

mod account;
pub mod app;
mod budget;
mod id;
mod packets;
mod ring;
mod row;
mod service;
mod serving;
mod settings;
mod sockets;
mod splice;
mod stack;
mod strangers;
mod stream;
mod turns;

pub use account::{Account, ConnectError, Happening, Tally};
pub use id::Id;
pub use packets::departure::Wire;
pub use row::Row;
pub use service::capture::Capture;
pub use service::driver::{Driver, DriverError, Other};
pub use service::plan::{Plan, Role, Where};
pub use service::setup::StartError;
pub use service::{News, Service, Snapshot};
pub use settings::{Limits, Mss, Settings};
pub use splice::Stdio;
pub use stack::{Accept, Host};
pub use stream::{Application, Elsewhere, Next, Pair, Stream};
