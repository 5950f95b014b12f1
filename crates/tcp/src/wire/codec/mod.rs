//! Encoding and decoding of segments. No other module contains the byte format.
//!
//! [`encode`] and [`decode`] handle a TCP segment without IP header (RFC 9293, section 3.1). [`encode_packet`] and
//! [`decode_packet`] handle a whole IPv4 or IPv6 packet. The connection has no ports, addresses and checksums, and no
//! segment holds payload bytes. The encoder copies them from a [`Body`]; the decoder returns their range in the input.
//!
//! The decoder accepts arbitrary bytes. It never panics and never reads past the end.
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

/// The two addresses of a packet, both of the same IP version.
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
    /// These bytes. Their number is the payload length of the segment.
    Bytes(&'a [u8]),
    /// These bytes in two parts, as a ring buffer stores them.
    Split(&'a [u8], &'a [u8]),
    /// A payload of zeros that is *not written*. The output contains only the headers; lengths and checksum include the
    /// zeros. A simulator writes small captures with correct checksums in this way.
    Virtual,
}

/// Which checks the decoder applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verify {
    /// Lengths and checksums must be correct, as a host requires.
    All,
    /// Lengths must be correct, checksums are ignored, and an IP length of 0 means "to the end". It is for captures on
    /// a machine whose network interface fills in checksums and lengths.
    Lengths,
    /// Only the headers without TCP's options are required. It is for captures with truncated packets. Of truncated options, those
    /// that are whole count. The payload length follows from the IP length; the payload range ends at the end of the bytes. The first
    /// fragment of a fragmented packet is accepted.
    Headers,
}

/// The `N` bytes from `at` on, if all are available.
fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
