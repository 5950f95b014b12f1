//! One TCP, written without I/O.
//!
//! [`Connection`] owns no clock, no socket, no payload bytes and no randomness. Segments, application calls and the time
//! go in; segments, deadlines and events come out. So the same code runs in a deterministic simulator, in a real-time
//! emulator and on the wire.
//!
//! Each mechanism of the literature is one file that bears its name: see [`congestion`], `recovery`, [`rto`],
//! [`transmit`], [`acking`].

pub mod acking;
pub mod codec;
pub mod config;
pub mod congestion;
pub mod event;
pub mod fast_open;
pub mod isn;
pub mod options;
pub mod profile;
pub mod ranges;
pub mod reason;
pub mod rto;
pub mod segment;
pub mod seq;
pub mod state;
pub mod stats;
pub mod syn_cookie;
pub mod time;
pub mod transmit;
pub mod validate;

mod ack;
mod ack_out;
mod adapt;
mod by_time;
mod calls;
mod connection;
mod deadline;
pub mod delivery_rate;
pub mod ecn;
mod handshake;
mod info;
mod input;
mod interface;
mod limits;
mod marks;
mod negotiate;
mod ordinary;
mod output;
mod paced;
mod pacing;
mod path_mtu;
mod predict;
mod rare;
mod receive;
mod recovery;
mod send;
mod sizes;
mod tail;
mod time_wait;
mod timers;
mod tuning;
mod usage;

pub use ack::timestamp;
pub use adapt::Change;
pub use calls::{Behind, WriteError};
pub use connection::{Connection, Departure, Transmission};
pub use handshake::refuse;
pub use info::Info;
pub use limits::{Limit, Limits};
pub use time_wait::TimeWait;
