//! Segments to and from bytes: the only place that knows the wire.
//!
//! [`encode`] and [`decode`] deal with a bare TCP segment (RFC 9293, section 3.1), [`encode_packet`] and
//! [`decode_packet`] with a whole IPv4 or IPv6 packet. The connection never sees a port, an address or a checksum, and
//! no segment holds payload bytes: they are copied in from a [`Body`] and pointed at, by a range, on the way back.
//!
//! Whatever the bytes are, decoding returns; it never panics and never reads behind the end.
//!
//! * `segment.rs`: the TCP header
//! * `options.rs`: its options, in both layouts
//! * `ip.rs`: the two IP headers
//! * `checksum.rs`: the Internet checksum and the pseudo-headers

mod checksum;
mod error;
mod ip;
mod options;
mod segment;

pub use crate::wire::segment::Ecn;
pub use checksum::{icmp6_checksum, internet_checksum, pseudo_header_sum};
pub use error::{BadOption, DecodeError, EncodeError};
pub use ip::{DecodedPacket, Ip, decode_packet, encode_packet};
pub use segment::{Decoded, decode, encode};

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The two ports of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

/// The two addresses of a packet: both of one version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// The sender's.
        source: Ipv4Addr,
        /// The receiver's.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// The sender's.
        source: Ipv6Addr,
        /// The receiver's.
        destination: Ipv6Addr,
    },
}

impl Addresses {
    /// The sender's address.
    pub const fn source(self) -> IpAddr {
        match self {
            Self::V4 { source, .. } => IpAddr::V4(source),
            Self::V6 { source, .. } => IpAddr::V6(source),
        }
    }

    /// The receiver's address.
    pub const fn destination(self) -> IpAddr {
        match self {
            Self::V4 { destination, .. } => IpAddr::V4(destination),
            Self::V6 { destination, .. } => IpAddr::V6(destination),
        }
    }
}

/// The payload of a segment that is being encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body<'a> {
    /// These bytes, as many as the segment's payload length says.
    Bytes(&'a [u8]),
    /// These bytes in two parts: what a ring buffer has.
    Split(&'a [u8], &'a [u8]),
    /// As many zeros as the payload length says, *none of which is written*: headers only, with lengths and checksum
    /// as if they were there. So a simulator writes captures that are small and still check.
    Virtual,
}

/// How far the bytes that are being decoded can be believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verify {
    /// Lengths and checksums must be right: what a host demands.
    All,
    /// Lengths must be right, checksums are not looked at, and an IP length of 0 stands for "to the end": a capture on
    /// a machine whose network card fills them in.
    Lengths,
    /// Only the headers need be there: a capture that cut the packets. Payload lengths follow from the IP length,
    /// payload ranges end where the bytes end. Of a fragmented packet the first fragment is read.
    Headers,
}

/// The `N` octets from `at` on, if they are there.
fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
