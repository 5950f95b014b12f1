//! The Internet checksum (RFC 1071) over pseudo-header and segment (RFC 9293, section 3.1; RFC 8200, section 8.1).

use super::Addresses;

/// A running one's-complement sum.
///
/// The sum covers 32-bit words in the native byte order and is swapped once at the end. RFC 1071, section 2, parts B
/// and C, shows that the result is the same.
#[derive(Clone, Copy, Default)]
pub(super) struct Sum(u64);

impl Sum {
    /// The sum of the pseudo-header of a TCP segment of `len` bytes.
    pub(super) fn pseudo_header(addresses: Addresses, len: u32) -> Self {
        const TCP: u32 = 6;
        let sum = Self::default().number(len).number(TCP);
        match addresses {
            Addresses::V4 { source, destination } => sum.add(&source.octets()).add(&destination.octets()),
            Addresses::V6 { source, destination } => sum.add(&source.octets()).add(&destination.octets()),
        }
    }

    /// Adds bytes. Only the last call may pass a length that is not a multiple of four; it is padded with zeros.
    pub(super) fn add(self, bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(4);
        let mut sum = self.0;
        for word in words.by_ref() {
            sum += u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        }
        let mut last = [0; 4];
        last[..words.remainder().len()].copy_from_slice(words.remainder());
        Self(sum + u64::from(u32::from_ne_bytes(last)))
    }

    /// Adds a 32-bit number in network order.
    fn number(self, n: u32) -> Self {
        self.add(&n.to_be_bytes())
    }

    /// The sum in 16 bits, in network order.
    fn fold(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        u16::from_be(sum as u16)
    }

    /// The value of the checksum field, if the field was zero in the sum.
    pub(super) fn checksum(self) -> u16 {
        !self.fold()
    }

    /// Whether the checksum is correct, if the sum includes the checksum field.
    pub(super) fn is_valid(self) -> bool {
        self.fold() == 0xFFFF
    }
}

/// The sum over the pseudo-header of a TCP segment of `len` bytes. It is the value of the checksum field for an
/// interface with checksum offload, which completes the checksum.
pub fn pseudo_header_sum(addresses: Addresses, len: u32) -> u16 {
    Sum::pseudo_header(addresses, len).fold()
}

/// The checksum of a message without a pseudo-header, such as ICMP. If the checksum field is zero, the result is the
/// value for the field. If the field holds the correct checksum, the result is zero.
pub fn internet_checksum(message: &[u8]) -> u16 {
    Sum::default().add(message).checksum()
}

/// The same for an ICMPv6 message, whose checksum covers a pseudo-header too (RFC 8200, section 8.1). `addresses` are
/// the 32 bytes of source and destination in the packet.
pub fn icmp6_checksum(addresses: &[u8], message: &[u8]) -> u16 {
    const ICMP6: u32 = 58;
    Sum::default().add(addresses).number(message.len() as u32).number(ICMP6).add(message).checksum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_matches_the_example_of_rfc_1071() {
        // Section 3: 0001 f203 f4f5 f6f7 add up to ddf2 in 16 bits with end-around carry.
        let sum = Sum::default().add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.fold(), 0xddf2);
        assert_eq!(sum.checksum(), !0xddf2);
    }

    #[test]
    fn a_pseudo_header_sum_and_the_segment_give_the_full_checksum() {
        let (one, two) = (core::net::Ipv4Addr::new(192, 0, 2, 1), core::net::Ipv4Addr::new(198, 51, 100, 7));
        let addresses = Addresses::V4 { source: one, destination: two };
        let segment: Vec<u8> = (0..61).collect();
        let whole = Sum::pseudo_header(addresses, 61).add(&segment).checksum();
        let undone = pseudo_header_sum(addresses, 61).to_be_bytes();
        assert_eq!(internet_checksum(&[&undone[..], &segment].concat()), whole);
    }

    #[test]
    fn the_sum_over_32_bit_words_equals_the_sum_over_16_bit_words() {
        let bytes: Vec<u8> = (0..1031_u32).map(|n| (n * n % 251) as u8).collect();
        for len in [0, 1, 2, 3, 4, 5, 20, 1030, 1031] {
            let slow = bytes[..len].chunks(2).fold(0_u32, |sum, pair| {
                let sum = sum + u32::from(pair[0]) * 256 + u32::from(*pair.get(1).unwrap_or(&0));
                (sum & 0xFFFF) + (sum >> 16)
            });
            assert_eq!(u32::from(Sum::default().add(&bytes[..len]).fold()), slow, "{len} bytes");
        }
    }
}
