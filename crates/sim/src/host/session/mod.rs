//! Sessions: clients that open connection after connection.
//!
//! A flow with a [`SessionSpec`] has no connection of its own but a `Session`: the head of its client. It is told when a
//! time has come, how much has been received over a connection, and that a connection is over; and it answers with
//! `Errand`s: open a connection and ask for these files, ask for more over one that is open, close one. It decides, and
//! knows neither packets nor ports. `world/errands.rs` carries its errands out, `tally.rs` sums up what came of them.
//!
//! A session whose transfers arrive in an open loop (`arrivals.rs`) has no pages: it asks for one file after the other at times
//! of its own, each over a new connection, and any number of them may be under way.
//!
//! A page is asked for at the moment at which its first connection is opened, or, over one that is open, at which its first
//! request is written. It is there when the last byte of its last file has been read. In between lies its delay. The same
//! holds for each file, whose time from asking to its last byte is called its transfer time.

mod arrivals;
mod client;
mod player;
mod sessions;
mod spec;
mod tally;

pub use arrivals::{ArrivalTally, ArrivalsSpec, IdlePath};
pub(crate) use client::{Errand, Session};
pub use player::{Control, VideoSpec, VideoTally};
pub(crate) use sessions::Sessions;
pub use spec::{Closes, Fetch, Lasts, Order, Pattern, SessionSpec};
pub(crate) use tally::Tally;
