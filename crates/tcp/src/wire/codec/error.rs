//! Why bytes are no segment, and why a segment cannot become bytes.

use super::Ports;
use crate::wire::segment::Flags;
use crate::wire::seq::Seq;
use core::fmt;

/// Why a segment cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// The options take more than 40 octets.
    Options {
        /// How many they take.
        len: u8,
    },
    /// The body has not the length that the segment says.
    Body {
        /// Octets in the body.
        body: usize,
        /// Octets that the segment says.
        payload: u32,
    },
    /// The length does not fit into the 16 bits that IP has for it.
    Length {
        /// Octets of the packet (IPv4) or of what follows the header (IPv6).
        len: u64,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options { len } => write!(f, "the options take {len} octets; a TCP header has room for 40"),
            Self::Body { body, payload } => {
                write!(f, "{body} octets given as payload of a segment that carries {payload}")
            }
            Self::Length { len } => write!(f, "{len} octets are too long for an IP packet: 65535 at most"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Why bytes are refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// They end before the header does, or before the length that IP gives.
    Short {
        /// Octets needed.
        needed: usize,
        /// Octets there.
        got: usize,
    },
    /// Neither version 4 nor version 6.
    Version(u8),
    /// The IP header's own lengths contradict each other.
    IpLength,
    /// The checksum of the IPv4 header is wrong.
    IpChecksum,
    /// A fragment: reassembly is not done here.
    Fragment,
    /// Not TCP, but this protocol number.
    Protocol(u8),
    /// The data offset, in 32-bit words, is below 5 or lies behind the end (RFC 9293, section 3.1).
    DataOffset(u8),
    /// The TCP checksum is wrong: to be dropped without a word (RFC 9293, section 3.1, MUST-3).
    Checksum,
    /// An option with a length that cannot be. Everything else was in order.
    Option(BadOption),
}

/// An option with an illegal length (RFC 9293, section 3.2, MUST-7), and what it takes to reset the connection, which
/// is the RFC's suggestion. Whether to follow it, if the segment lies in the window, is the driver's decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadOption {
    /// The option's kind.
    pub kind: u8,
    /// Its length octet; 0 if there was none.
    pub length: u8,
    /// The segment's ports.
    pub ports: Ports,
    /// Its sequence number.
    pub seq: Seq,
    /// Its acknowledgment number.
    pub ack: Seq,
    /// Its control bits.
    pub flags: Flags,
    /// SEG.LEN: the sequence numbers that it occupies.
    pub seq_len: u32,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { needed, got } => write!(f, "cut short: {got} octets, {needed} needed"),
            Self::Version(version) => write!(f, "IP version {version}; 4 or 6 expected"),
            Self::IpLength => f.write_str("the lengths in the IP header contradict each other"),
            Self::IpChecksum => f.write_str("wrong checksum in the IPv4 header"),
            Self::Fragment => f.write_str("a fragment of an IP packet, not a whole one"),
            Self::Protocol(protocol) => write!(f, "protocol {protocol}; TCP is 6"),
            Self::DataOffset(words) => {
                write!(f, "data offset of {words} words; at least 5 and within the segment expected")
            }
            Self::Checksum => f.write_str("wrong TCP checksum"),
            Self::Option(BadOption { kind, length, .. }) => {
                write!(f, "TCP option of kind {kind} with the impossible length {length}")
            }
        }
    }
}

impl core::error::Error for DecodeError {}
