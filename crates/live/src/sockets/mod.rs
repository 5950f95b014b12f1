//! The TCP sockets of this host, live: what limits each of them, from the kernel's own clocks and counts. No privilege
//! is needed.
//!
//! Open a [`Watch`] and call [`Watch::poll`] some times a second. [`Watch::sockets`] has the budget of each socket.
//!
//! Without I/O:
//!
//! * `message.rs`: messages and attributes of netlink
//! * `socket.rs`, `info.rs`: the kernel's report on a socket
//! * `division.rs`: the budget of an interval, with `path_share.rs` and `window.rs`
//! * `table.rs`: the sockets over time
//!
//! With I/O:
//!
//! * `diag.rs`: lists the sockets
//! * `opens.rs`: counts connections that no poll has seen
//! * `processes.rs`: which process has a socket
//! * `namespace.rs`: other network namespaces
//! * `watch.rs`: the polls

mod diag;
mod division;
mod info;
mod message;
mod namespace;
mod opens;
mod path_share;
mod processes;
mod socket;
mod table;
mod watch;
mod window;

pub(crate) use diag::Diag;
pub use division::{LIMITS, Shares};
pub use info::{Avoidance, Bbr, Clocks, TcpInfo, Vegas};
pub use namespace::NamespaceError;
pub use processes::Process;
pub use socket::{Congestion, Memory, Socket, State};
pub use table::{Account, Keep, Owner, Row, Tracked, Volume};
pub use watch::{Counts, Watch, WatchError};
