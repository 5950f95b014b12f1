//! The work that the sender of a packet has left undone: `struct virtio_net_hdr`, in the machine's byte order (virtio
//! 1.2, section 5.1.6).

/// Length of the header before each packet.
pub const HEADER_LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const CHECKSUM_IS_VALID: u8 = 2;
const CUT_TCP4: u8 = 1;
const CUT_TCP6: u8 = 4;
const CUT_ECN: u8 = 0x80;

/// The work that is left to do for a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The checksum of its TCP or UDP.
    pub checksum: Checksum,
    /// How to divide it, if it is a super-segment.
    pub cut: Option<Cut>,
}

/// The state of a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Checksum {
    /// It is complete and not verified.
    #[default]
    Whole,
    /// It is verified.
    Verified,
    /// It is the sum of the pseudo-header. The sum of all bytes from `start` on must be added.
    Partial {
        /// Start of the sum: the TCP or UDP header.
        start: u16,
        /// Position of the checksum field, relative to `start`.
        offset: u16,
    },
}

/// How a super-segment is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The protocols of its headers.
    pub protocol: Protocol,
    /// Length of all its headers in bytes; a hint.
    pub header_len: u16,
    /// Payload of each segment but the last.
    pub size: u16,
    /// CWR belongs to the first segment only (RFC 3168, section 6.1.2).
    pub ecn: bool,
}

/// The protocols that can be segmented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
}

impl Shape {
    /// Encodes the header.
    pub fn header(&self) -> [u8; HEADER_LEN] {
        let (flags, start, offset) = match self.checksum {
            Checksum::Whole => (0, 0, 0),
            Checksum::Verified => (CHECKSUM_IS_VALID, 0, 0),
            Checksum::Partial { start, offset } => (NEEDS_CHECKSUM, start, offset),
        };
        let (kind, header_len, size) = self.cut.map_or((0, 0, 0), |cut| {
            let kind = match cut.protocol {
                Protocol::Tcp4 => CUT_TCP4,
                Protocol::Tcp6 => CUT_TCP6,
            };
            (kind | if cut.ecn { CUT_ECN } else { 0 }, cut.header_len, cut.size)
        });
        let mut header = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
        for (field, value) in [header_len, size, start, offset].into_iter().enumerate() {
            header[2 + 2 * field..4 + 2 * field].copy_from_slice(&value.to_ne_bytes());
        }
        header
    }

    /// Parses a header; `None` if it requires segmentation that was not enabled.
    pub fn read(header: &[u8; HEADER_LEN]) -> Option<Self> {
        let number = |field: usize| u16::from_ne_bytes([header[2 + 2 * field], header[3 + 2 * field]]);
        let checksum = match header[0] {
            flags if flags & NEEDS_CHECKSUM != 0 => Checksum::Partial { start: number(2), offset: number(3) },
            flags if flags & CHECKSUM_IS_VALID != 0 => Checksum::Verified,
            _ => Checksum::Whole,
        };
        let protocol = match header[1] & !CUT_ECN {
            0 => return Some(Self { checksum, cut: None }),
            CUT_TCP4 => Protocol::Tcp4,
            CUT_TCP6 => Protocol::Tcp6,
            _ => return None,
        };
        let ecn = header[1] & CUT_ECN != 0;
        let (header_len, size) = (number(0), number(1));
        (size > 0).then_some(Self { checksum, cut: Some(Cut { protocol, header_len, size, ecn }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_encoded_and_parsed_without_change() {
        let checksums = [Checksum::Whole, Checksum::Verified, Checksum::Partial { start: 20, offset: 16 }];
        let cut = |protocol, ecn| Some(Cut { protocol, header_len: 52, size: 1448, ecn });
        let cuts = [None, cut(Protocol::Tcp4, false), cut(Protocol::Tcp6, true)];
        for checksum in checksums {
            for cut in cuts {
                let shape = Shape { checksum, cut };
                assert_eq!(Shape::read(&shape.header()), Some(shape));
            }
        }
    }

    #[test]
    fn unsupported_segmentation_is_rejected() {
        const UDP: u8 = 5;
        let mut header = Shape::default().header();
        header[1] = UDP;
        assert_eq!(Shape::read(&header), None);
        header[1] = CUT_TCP4;
        assert_eq!(Shape::read(&header), None, "segments of no octets");
    }
}
