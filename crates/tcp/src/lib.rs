//! A TCP implementation without I/O.
//!
//! [`Connection`] owns no clock, no socket, no payload bytes and no randomness. Segments, application calls and the
//! time are its inputs. Segments, deadlines and events are its outputs. Therefore the same code runs in a deterministic
//! simulator, in a real-time emulator and on a real network.
//!
//! Each mechanism of the literature has one file with its name: see [`congestion`], [`recovery`], [`send::transmit`],
//! [`receive::acking`].

// Unit tests share a file with the tests of the public API, which name the crate.
#[cfg(test)]
extern crate self as netspurt_tcp;

pub mod config;
pub mod congestion;
pub mod opening;
pub mod ranges;
pub mod receive;
pub mod record;
pub mod recovery;
pub mod send;
pub mod time;
pub mod wire;

mod connection;
mod context;
mod prediction;

pub use config::{profile, validate};
pub use congestion::{delivery_rate, ecn};
pub use connection::calls::{Behind, WriteError};
pub use connection::prediction::ack_run::AckRun;
pub use connection::prediction::answer::{Answer, Space, Wish};
pub use connection::prediction::data_run::DataRun;
pub use connection::prediction::in_repair::Repair;
pub use connection::socket_options::Change;
pub use connection::syn_cookie;
pub use connection::{Connection, Departure, Transmission};
pub use opening::reply::{reset_for, reset_in_listen_for};
pub use opening::time_wait::TimeWait;
pub use opening::{fast_open, isn, state};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use ranges::work;
pub use receive::acking;
pub use record::info::{Info, Segments};
pub use record::limits::{Limit, Limits};
pub use record::{event, reason, stats};
pub use recovery::rto;
pub use send::transmit;
pub use wire::options::timestamp;
pub use wire::{codec, options, segment, seq};
