//! A segment: header fields, options, and the range of stream bytes that it carries. It does not hold the bytes.

use crate::wire::options::Options;
use crate::wire::seq::Seq;
use core::fmt;
use core::ops::BitOr;

/// The control bits of a segment (RFC 9293, section 3.1; CWR and ECE from RFC 3168, AE from RFC 9768).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push: the segment ends a write of the application.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer field is significant.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Self = Self(0x100);

    /// All assigned bits. The other bits are reserved.
    pub const ALL: Self = Self(0x1FF);

    /// Whether every bit of `other` is set here.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set here.
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// These bits, apart from those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 9] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];
        let set: Vec<&str> =
            (0..NAMES.len()).filter(|bit| self.0 >> bit & 1 == 1).map(|bit| NAMES[bit]).collect();
        f.write_str(if set.is_empty() { "-" } else { "" })?;
        f.write_str(&set.join("|"))
    }
}

/// Which bytes a segment carries: `len` bytes of the *sender's* stream from `offset` on.
///
/// The offset is the sender's own 64-bit count. A driver uses it to fetch the bytes from its buffer. A simulator uses
/// it to detect that a receiver takes old bytes for new ones (RFC 1110's objection). The sequence number gives the
/// place in the receiver's stream, the offset identifies the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Payload {
    /// Offset of the first byte in the sender's stream; meaningless if `len` is 0.
    pub offset: u64,
    /// Number of bytes.
    pub len: u32,
}

/// The ECN field (RFC 3168, section 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not support ECN.
    #[default]
    NotEct = 0,
    /// The sender supports ECN: ECT(1).
    Ect1 = 1,
    /// The sender supports ECN: ECT(0).
    Ect0 = 2,
    /// Congestion experienced: a router on the path has marked the packet.
    Ce = 3,
}

impl Ecn {
    /// The codepoint in the two low bits of an IPv4 type of service or an IPv6 traffic class.
    pub const fn from_bits(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a router may mark the packet instead of dropping it, or has marked it.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

/// A TCP segment without ports, checksum and payload bytes. The driver and [`crate::wire::codec`] handle these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first byte, or of the SYN.
    pub seq: Seq,
    /// Next sequence number expected from the other side; significant with [`Flags::ACK`].
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// Length of the TCP header with its options, padded to four bytes: 20 … 60.
    pub header_len: u8,
    /// The ECN field of the IP header of its packet. The driver copies it in both directions.
    pub ecn: Ecn,
    /// The window field of the header: 16 bits, before scaling.
    pub window: u16,
    /// The urgent pointer; significant with [`Flags::URG`].
    pub urgent: u16,
    /// The bytes carried.
    pub payload: Payload,
    /// The options.
    pub options: Options,
}

impl Segment {
    /// SEG.LEN: the number of sequence numbers that the segment occupies, SYN and FIN included (RFC 9293, section 3.4).
    pub const fn seq_len(&self) -> u32 {
        self.payload.len + self.flags.has(Flags::SYN) as u32 + self.flags.has(Flags::FIN) as u32
    }

    /// Bytes of the TCP segment on the wire: header, options, payload.
    pub const fn wire_len(&self) -> u32 {
        self.header_len as u32 + self.payload.len
    }
}
