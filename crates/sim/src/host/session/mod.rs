//! Sessions: clients that open one connection after another.
//!
//! A flow with a [`SessionSpec`] has a `Session` in place of a single connection. The session is called when a time is
//! reached, when a connection has received data, and when a connection is over. It returns `SessionAction`s: open a connection and
//! request these files, request more over an open one, close one. It only decides; it knows neither packets nor ports.
//! `world/session_actions.rs` carries out the actions, and `tally.rs` sums up the results.
//!
//! A session whose transfers arrive in an open loop (`arrivals.rs`) has no pages. It requests one file after another, at
//! times that do not depend on earlier files, each over a new connection. Any number of them may be in progress.
//!
//! The delay of a page begins when its first connection is opened or, over an open connection, when its first request is
//! written. It ends when the last byte of its last file has been read. The transfer time of a file is measured in the same
//! way.

mod arrivals;
mod client;
mod player;
mod sessions;
mod spec;
mod tally;

pub use arrivals::{ArrivalTally, ArrivalsSpec, IdlePath};
pub(crate) use client::{Session, SessionAction};
pub use player::{Control, VideoSpec, VideoTally};
pub(crate) use sessions::Sessions;
pub use spec::{Closes, Fetch, Lasts, Order, Pattern, SessionSpec};
pub(crate) use tally::Tally;
