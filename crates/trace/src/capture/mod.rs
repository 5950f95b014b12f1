//! Captures: packets with the times at which they were seen at some place.
//!
//! * `writer.rs`: pcapng out

mod writer;

pub use writer::{CaptureError, CaptureWriter, Checksum, Direction, EPOCH_S, Host, Interface, Record, Setup};
