//! A captured packet, and the interface at which it was captured.

use crate::capture::headers::link::LinkType;
use crate::stamp::Stamp;

/// The largest captured length of a packet. As in libpcap, a larger one in a pcap file means that the file is damaged.
pub(super) const MOST_OCTETS: u32 = 262_144;

/// An interface at which packets were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedAt {
    /// Its name; empty if the file has none.
    pub name: String,
    /// Its link type.
    pub link: LinkType,
    /// Its number within its section of a pcapng file; 0 for pcap.
    pub number: u32,
}

/// One captured packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Time of capture; `None` for pcapng's simple packets.
    pub at: Option<Stamp>,
    /// Index into [`CaptureReader::interfaces`](crate::capture::CaptureReader::interfaces).
    pub interface: u32,
    /// The link type.
    pub link: LinkType,
    /// Length on the wire in bytes.
    pub wire_len: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// A packet whose bytes are still in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) at: Option<Stamp>,
    pub(super) interface: u32,
    pub(super) wire_len: u32,
    /// Offset of the packet in its record, captured length, and length of the record.
    pub(super) start: usize,
    pub(super) captured: u32,
    pub(super) whole: u64,
}
