//! Captures: packets with the times at which they were captured.
//!
//! Writing:
//!
//! * `writer.rs`: segments and live packets as pcapng
//! * `destination.rs`: the output file or pipe
//!
//! Reading. The parsers are our own: they do not copy packets out of the read buffer, do not allocate memory for a
//! packet, and their errors name the packet and the byte:
//!
//! * `reader.rs`: returns one packet after the other
//! * `growing.rs`: the same for a pcapng capture that is still being written
//! * `input.rs`, `packed.rs`: the buffer, and decompression
//! * `format/`: the two formats, also the blocks that are written
//! * `headers/`: link-layer headers, and the headers of UDP
//! * `filter.rs`, `copy.rs`: which packets are wanted, and a capture of these
//! * `damage.rs`: errors

mod copy;
mod damage;
mod destination;
mod filter;
mod format;
mod growing;
mod headers;
mod input;
mod packed;
mod packet;
mod reader;
mod writer;

pub use copy::PacketCopy;
pub use damage::{Damage, OpenError, Wrong};
pub use filter::Filter;
pub use growing::{GrowingCapture, Grown};
pub use headers::link::LinkType;
pub use headers::protocol::NoNetwork;
pub use packed::Packing;
pub use packet::{CapturedAt, Packet};
pub use reader::CaptureReader;
pub use writer::{
    CaptureError, CaptureWriter, Checksum, Direction, EPOCH_S, Host, Interface, Record, Setup, simulated,
};
