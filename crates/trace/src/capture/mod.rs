//! Captures: packets with the times at which they were seen at some place.
//!
//! Out:
//!
//! * `writer.rs`: pcapng
//! * `destination.rs`: where it goes
//!
//! In, parsed by hand: a packet's octets are never copied out of the buffer that they were read into, nothing is
//! allocated for one, and an error knows its packet and its byte:
//!
//! * `reader.rs`: packets one after the other
//! * `input.rs`, `packed.rs`: the buffer, and what is compressed
//! * `pcap.rs`, `pcapng.rs`, `order.rs`, `resolution.rs`: the two formats
//! * `link.rs`: what stands before the IP packet
//! * `damage.rs`: why a file cannot be read, or not to its end

mod damage;
mod destination;
mod input;
mod link;
mod order;
mod packed;
mod pcap;
mod pcapng;
mod reader;
mod resolution;
mod writer;

pub use damage::{Damage, OpenError, Wrong};
pub use link::{LinkType, NoNetwork};
pub use packed::Packing;
pub use reader::{CaptureReader, CapturedAt, Packet};
pub use writer::{CaptureError, CaptureWriter, Checksum, Direction, EPOCH_S, Host, Interface, Record, Setup};
