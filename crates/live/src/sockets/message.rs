//! Messages and attributes of netlink, from any bytes.
//!
//! A length that does not fit ends the iteration. Nothing panics.

/// Length of the header of a message (netlink(7)).
const HEADER: usize = 16;
/// Length of the header of an attribute.
const ATTRIBUTE_HEADER: usize = 4;
/// Bits of the type of an attribute that are flags.
const ATTRIBUTE_FLAGS: u16 = 0xC000;

/// Numbers at any place of some bytes, in the byte order of the machine. What lies outside is `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Bytes<'_> {
    pub(super) fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }

    pub(super) fn u8(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    pub(super) fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_ne_bytes)
    }

    pub(super) fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_ne_bytes)
    }

    pub(super) fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_ne_bytes)
    }
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    pub(super) sequence: u32,
    pub(super) payload: &'a [u8],
}

/// The messages of a datagram.
pub(super) struct Messages<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let bytes = Bytes(self.0);
        let length = usize::try_from(bytes.u32(0)?).ok()?;
        let (kind, sequence) = (bytes.u16(4)?, bytes.u32(8)?);
        let payload = self.0.get(HEADER..length)?;
        self.0 = self.0.get(aligned(length)..).unwrap_or_default();
        Some(Message { kind, sequence, payload })
    }
}

/// The attributes of a message: types without their flags, and values.
pub(super) struct Attributes<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = Bytes(self.0);
        let (length, kind) = (usize::from(bytes.u16(0)?), bytes.u16(2)?);
        let value = self.0.get(ATTRIBUTE_HEADER..length)?;
        self.0 = self.0.get(aligned(length)..).unwrap_or_default();
        Some((kind & !ATTRIBUTE_FLAGS, value))
    }
}

const fn aligned(length: usize) -> usize {
    length.saturating_add(3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + payload.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(7u32.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(payload);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    #[test]
    fn messages_are_aligned_to_four_bytes() {
        let bytes = [message(20, b"abcde"), message(3, b"")].concat();
        let found: Vec<Message<'_>> = Messages(&bytes).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Message { kind: 20, sequence: 7, payload: b"abcde" });
        assert_eq!(found[1], Message { kind: 3, sequence: 7, payload: b"" });
    }

    #[test]
    fn a_length_that_does_not_fit_ends_the_iteration() {
        let whole = message(20, b"abcdefgh");
        for length in [0u32, 1, 15, 25, 1000, u32::MAX] {
            let mut bytes = whole.clone();
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(Messages(&bytes).count(), 0, "{length}");
        }
        for length in [0u16, 3, 9, u16::MAX] {
            let bytes = [&length.to_ne_bytes()[..], &2u16.to_ne_bytes(), b"abcd"].concat();
            assert_eq!(Attributes(&bytes).count(), 0, "{length}");
        }
    }

    #[test]
    fn the_flags_of_an_attribute_are_no_part_of_its_type() {
        let bytes = [&7u16.to_ne_bytes()[..], &0x8002u16.to_ne_bytes(), b"abc\0"].concat();
        assert_eq!(Attributes(&bytes).collect::<Vec<_>>(), [(2, &b"abc"[..])]);
    }
}
