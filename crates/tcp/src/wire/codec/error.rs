//! Errors of decoding and encoding.

use super::Ports;
use crate::wire::segment::Flags;
use crate::wire::seq::Seq;
use core::fmt;

/// Why a segment cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// The options take more than 40 bytes.
    Options {
        /// Their length in bytes.
        len: u8,
    },
    /// The body does not have the payload length of the segment.
    Body {
        /// Bytes in the body.
        body: usize,
        /// The payload length of the segment.
        payload: u32,
    },
    /// The length does not fit into the 16-bit length field of IP.
    Length {
        /// Bytes of the packet (IPv4) or of the IPv6 payload.
        len: u64,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options { len } => write!(f, "the options take {len} bytes; a TCP header has space for 40"),
            Self::Body { body, payload } => {
                write!(f, "the body has {body} bytes, but the segment carries {payload} bytes of payload")
            }
            Self::Length { len } => {
                write!(f, "{len} bytes are too long for an IP packet: the limit is 65535")
            }
        }
    }
}

impl core::error::Error for EncodeError {}

/// Why bytes cannot be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The bytes end inside a header, or before the length in the IP header.
    Short {
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        got: usize,
    },
    /// The IP version is neither 4 nor 6.
    Version(u8),
    /// The lengths in the IP header contradict each other.
    IpLength,
    /// The checksum of the IPv4 header is wrong.
    IpChecksum,
    /// The packet is a fragment. The codec does not reassemble fragments.
    Fragment,
    /// The packet carries this protocol instead of TCP.
    Protocol(u8),
    /// The data offset, in 32-bit words, is below 5 or exceeds the segment (RFC 9293, section 3.1).
    DataOffset(u8),
    /// The TCP checksum is wrong. The segment must be discarded without a reply (RFC 9293, section 3.1, MUST-3).
    Checksum,
    /// An option has an illegal length. Everything else is valid.
    Option(BadOption),
}

/// An option with an illegal length (RFC 9293, section 3.2, MUST-7), and the header fields that a reset needs. The RFC
/// suggests to reset the connection. The driver decides whether it does so, if the segment lies in the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadOption {
    /// The option's kind.
    pub kind: u8,
    /// Its length byte; 0 if it is missing.
    pub length: u8,
    /// The segment's ports.
    pub ports: Ports,
    /// Its sequence number.
    pub seq: Seq,
    /// Its acknowledgment number.
    pub ack: Seq,
    /// Its control bits.
    pub flags: Flags,
    /// SEG.LEN: the number of sequence numbers that the segment occupies.
    pub seq_len: u32,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { needed, got } => write!(f, "truncated: {got} bytes of {needed}"),
            Self::Version(version) => write!(f, "IP version {version}; 4 or 6 expected"),
            Self::IpLength => f.write_str("the lengths in the IP header contradict each other"),
            Self::IpChecksum => f.write_str("wrong checksum in the IPv4 header"),
            Self::Fragment => f.write_str("the packet is an IP fragment"),
            Self::Protocol(protocol) => write!(f, "protocol {protocol}; TCP is 6"),
            Self::DataOffset(words) => {
                write!(f, "data offset of {words} words; at least 5 and within the segment expected")
            }
            Self::Checksum => f.write_str("wrong TCP checksum"),
            Self::Option(BadOption { kind, length, .. }) => {
                write!(f, "TCP option of kind {kind} has the illegal length {length}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}
