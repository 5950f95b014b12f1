//! The segments of a connection that has had few, in packed form. The state of the connection can be made from them again.

use super::endpoints::Sender;
use super::packet_facts::PacketFacts;
use crate::stamp::Stamp;
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;

/// Maximum length in bytes: about nine segments with timestamps.
const MOST: usize = 320;

const HIGH: u8 = 1;
const MSS: u8 = 1 << 1;
const WINDOW_SCALE: u8 = 1 << 2;
const SACK_PERMITTED: u8 = 1 << 3;
const TIMESTAMPS: u8 = 1 << 4;
const IDENTIFICATION: u8 = 1 << 5;
const URGENT: u8 = 1 << 6;

/// All segments of a connection so far, as long as they are few and ordinary.
#[derive(Debug, Default)]
pub(super) struct Early {
    bytes: Vec<u8>,
    before: Before,
    incomplete: bool,
}

/// The numbers of the segment before. The next one is packed as the difference.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    at: u64,
    number: u64,
}

impl Early {
    /// Whether no segment is missing.
    pub(super) const fn is_complete(&self) -> bool {
        !self.incomplete
    }

    /// The packed segments; `None` if some are missing.
    pub(super) fn packed(self) -> Option<Packed> {
        (!self.incomplete).then(|| Packed(self.bytes.into_boxed_slice()))
    }

    /// Appends a segment, unless one is missing already.
    #[inline]
    pub(super) fn push(&mut self, sender: Sender, segment: &Segment, packet: PacketFacts) {
        if !self.incomplete {
            self.pack(sender, segment, packet);
        }
    }

    #[cold]
    fn pack(&mut self, sender: Sender, segment: &Segment, packet: PacketFacts) {
        let Options { mss, window_scale, sack_permitted, timestamps, .. } = segment.options;
        let options = Options { mss, window_scale, sack_permitted, timestamps, ..Options::NONE };
        let payload = Payload { offset: 0, len: segment.payload.len };
        if (Segment { options, payload, ..*segment }) != *segment {
            return self.give_up();
        }
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let head = bit(sender == Sender::High, HIGH)
            | bit(mss.is_some(), MSS)
            | bit(window_scale.is_some(), WINDOW_SCALE)
            | bit(sack_permitted, SACK_PERMITTED)
            | bit(timestamps.is_some(), TIMESTAMPS)
            | bit(packet.identification != 0, IDENTIFICATION)
            | bit(segment.urgent != 0, URGENT);
        let bytes = &mut self.bytes;
        bytes.extend([head, segment.header_len]);
        put_number(bytes, u64::from(segment.flags.0) << 2 | segment.ecn as u64);
        // A clock that was set back gives a negative difference.
        let passed = packet.at.0.wrapping_sub(self.before.at).cast_signed();
        put_number(bytes, (passed << 1 ^ passed >> 63).cast_unsigned());
        put_number(bytes, packet.number.wrapping_sub(self.before.number));
        bytes.extend(segment.seq.0.to_le_bytes());
        bytes.extend(segment.ack.0.to_le_bytes());
        bytes.extend(segment.window.to_le_bytes());
        put_number(bytes, u64::from(payload.len));
        bytes.extend(mss.into_iter().flat_map(u16::to_le_bytes));
        bytes.extend(window_scale);
        if let Some(Timestamps { value, echo }) = timestamps {
            bytes.extend([value.to_le_bytes(), echo.to_le_bytes()].concat());
        }
        for short in [packet.identification, segment.urgent].into_iter().filter(|&short| short != 0) {
            bytes.extend(short.to_le_bytes());
        }
        self.before = Before { at: packet.at.0, number: packet.number };
        if self.bytes.len() > MOST {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        *self = Self { incomplete: true, ..Self::default() };
    }
}

/// The packed segments of a connection.
#[derive(Debug)]
pub(super) struct Packed(Box<[u8]>);

impl Packed {
    /// The segments in order.
    pub(super) fn segments(&self) -> Segments<'_> {
        Segments { rest: &self.0, before: Before::default() }
    }
}

/// Unpacks segments.
#[derive(Debug)]
pub(super) struct Segments<'a> {
    rest: &'a [u8],
    before: Before,
}

impl Iterator for Segments<'_> {
    type Item = (Sender, Segment, PacketFacts);

    fn next(&mut self) -> Option<Self::Item> {
        let [head, header_len] = self.take()?;
        let has = |bit: u8| head & bit != 0;
        let marks = self.number()?;
        let passed = self.number()?;
        let passed = (passed >> 1).cast_signed() ^ -(passed & 1).cast_signed();
        let number = self.before.number.wrapping_add(self.number()?);
        let at = self.before.at.wrapping_add(passed.cast_unsigned());
        self.before = Before { at, number };
        let seq = Seq(self.long()?);
        let ack = Seq(self.long()?);
        let window = self.short()?;
        let payload = Payload { offset: 0, len: self.number()? as u32 };
        let mss = if has(MSS) { Some(self.short()?) } else { None };
        let window_scale = if has(WINDOW_SCALE) { Some(self.take::<1>()?[0]) } else { None };
        let timestamps =
            if has(TIMESTAMPS) { Some(Timestamps { value: self.long()?, echo: self.long()? }) } else { None };
        let identification = if has(IDENTIFICATION) { self.short()? } else { 0 };
        let urgent = if has(URGENT) { self.short()? } else { 0 };
        let sack_permitted = has(SACK_PERMITTED);
        let segment = Segment {
            seq,
            ack,
            flags: Flags((marks >> 2) as u16),
            header_len,
            ecn: Ecn::from_bits(marks as u8),
            window,
            urgent,
            payload,
            options: Options { mss, window_scale, sack_permitted, timestamps, ..Options::NONE },
        };
        let sender = if has(HIGH) { Sender::High } else { Sender::Low };
        Some((sender, segment, PacketFacts { identification, number, at: Stamp(at) }))
    }
}

impl Segments<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*first)
    }

    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn long(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.take()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

/// Appends a number in groups of seven bits, the lowest first.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::options::SackBlock;

    #[test]
    fn segments_are_unpacked_as_they_were() {
        let syn = Segment {
            seq: Seq(u32::MAX),
            flags: Flags::SYN | Flags::AE,
            header_len: 40,
            window: 65_535,
            options: Options {
                mss: Some(1460),
                window_scale: Some(14),
                sack_permitted: true,
                timestamps: Some(Timestamps { value: 1, echo: u32::MAX }),
                ..Options::NONE
            },
            ..Segment::default()
        };
        let urgent = Segment {
            ack: Seq(7),
            flags: Flags::ACK | Flags::URG | Flags::PSH,
            header_len: 20,
            ecn: Ecn::Ce,
            urgent: 3,
            payload: Payload { offset: 0, len: 1_000_000 },
            ..Segment::default()
        };
        let facts = |at, number, identification| PacketFacts { identification, number, at: Stamp(at) };
        let all = [
            (Sender::Low, syn, facts(u64::MAX, 9, 0)),
            (Sender::High, urgent, facts(5, 10, 77)),
            (Sender::High, Segment::default(), facts(1_700_000_000_000_000_000, u64::MAX, 0)),
        ];
        let mut early = Early::default();
        for (sender, segment, packet) in &all {
            early.push(*sender, segment, *packet);
        }
        let packed = early.packed().unwrap();
        let found: Vec<_> = packed.segments().collect();
        assert_eq!(format!("{found:?}"), format!("{all:?}"));
    }

    #[test]
    fn what_is_long_or_rare_is_not_packed() {
        let facts = PacketFacts { identification: 0, number: 1, at: Stamp(1) };
        let mut early = Early::default();
        for _ in 0..100 {
            early.push(Sender::Low, &Segment::default(), facts);
        }
        assert!(!early.is_complete());
        let mut sack = Segment::default();
        sack.options.sack.push(SackBlock { left: Seq(1), right: Seq(2) });
        let mut early = Early::default();
        early.push(Sender::Low, &sack, facts);
        assert!(early.packed().is_none());
    }
}
