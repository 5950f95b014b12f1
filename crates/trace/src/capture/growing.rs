//! Reads a pcapng capture while another program writes it, from pieces of any length.

use crate::capture::damage::{Damage, Wrong};
use crate::capture::format::order::Order;
use crate::capture::format::pcapng::PcapNg;
use crate::capture::input::Input;
use crate::capture::packed::Packing;
use crate::capture::packet::CapturedAt;
use crate::capture::writer::Direction;
use crate::stamp::Stamp;
use std::io::Cursor;

/// A packet of a growing capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grown<'a> {
    /// Time of capture; `None` for pcapng's simple packets.
    pub at: Option<Stamp>,
    /// Length on the wire in bytes.
    pub wire_len: u32,
    /// The direction, if the file has it.
    pub direction: Option<Direction>,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// The state between two pieces. An incomplete block waits for the rest of it.
#[derive(Debug, Default)]
pub struct GrowingCapture {
    rest: Vec<u8>,
    format: Option<PcapNg>,
    interfaces: Vec<CapturedAt>,
    packets: u64,
    offset: u64,
}

impl GrowingCapture {
    /// Appends `octets`, and calls `see` for each packet that is complete.
    pub fn feed(&mut self, octets: &[u8], mut see: impl FnMut(Grown<'_>)) -> Result<(), Damage> {
        self.rest.extend_from_slice(octets);
        let rest = self.rest.split_off(self.complete());
        let blocks = core::mem::replace(&mut self.rest, rest);
        let length = blocks.len() as u64;
        if length == 0 {
            return Ok(());
        }
        let mut input = Input::new(Box::new(Cursor::new(blocks)));
        let read = self.packets_of(&mut input, &mut see);
        let damaged = |wrong| Damage {
            packet: self.packets + 1,
            offset: self.offset + input.offset(),
            packing: Packing::Plain,
            wrong,
        };
        read.map_err(damaged)?;
        self.offset += length;
        Ok(())
    }

    fn packets_of(&mut self, input: &mut Input, see: &mut impl FnMut(Grown<'_>)) -> Result<(), Wrong> {
        if self.format.is_none() {
            self.format = Some(PcapNg::recognize(input).ok_or(Wrong::Section)?);
        }
        let Some(format) = &mut self.format else { return Ok(()) };
        while let Some(found) = format.next(input, &mut self.interfaces)? {
            let block = input.peek(usize::try_from(found.whole).unwrap_or(usize::MAX));
            let end = found.start + found.captured as usize;
            let bytes = block.get(found.start..end).ok_or(Wrong::Cut)?;
            let direction = format.direction(block, end);
            see(Grown { at: found.at, wire_len: found.wire_len, direction, bytes });
            self.packets += 1;
            input.skip(found.whole);
        }
        Ok(())
    }

    /// The length of all complete blocks; of everything if a block is invalid, which the parser then reports.
    fn complete(&self) -> usize {
        let Some(format) = &self.format else { return self.complete_from_start() };
        self.complete_blocks(format.order())
    }

    /// The same while no section header has been read.
    fn complete_from_start(&self) -> usize {
        match PcapNg::begins(&self.rest) {
            Some(true) => self.complete_blocks(Order::Little),
            Some(false) => self.rest.len(),
            None => 0,
        }
    }

    fn complete_blocks(&self, before: Order) -> usize {
        const HEAD: usize = 12;
        const LEAST: u32 = 12;
        let (mut order, mut end) = (before, 0);
        while let Some(head) = self.rest.get(end..end + HEAD) {
            let Some(new) = PcapNg::order_of_block(head, order) else { return self.rest.len() };
            order = new;
            let length = order.long(head, 4);
            if length < LEAST {
                return self.rest.len();
            }
            if self.rest.len() - end < length as usize {
                break;
            }
            end += length as usize;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in the byte order that `long` and `short` write.
    struct File {
        bytes: Vec<u8>,
        long: fn(u32) -> [u8; 4],
        short: fn(u16) -> [u8; 2],
    }

    impl File {
        fn new(long: fn(u32) -> [u8; 4], short: fn(u16) -> [u8; 2]) -> Self {
            let mut file = Self { bytes: Vec::new(), long, short };
            let mut body = long(0x1A2B_3C4D).to_vec();
            body.extend([short(1), short(0)].concat());
            body.extend([0xFF; 8]);
            file.block(0x0A0D_0D0A, &body);
            // An interface that counts nanoseconds.
            let body = [&short(101)[..], &short(0), &long(0), &short(9), &short(1), &[9, 0, 0, 0]].concat();
            file.block(1, &body);
            file
        }

        fn block(&mut self, kind: u32, body: &[u8]) {
            let length = (self.long)(body.len() as u32 + 12);
            for part in [&(self.long)(kind)[..], &length, body, &length] {
                self.bytes.extend(part);
            }
        }

        fn packet(&mut self, at_ns: u64, wire_len: u32, flags: Option<u32>) {
            let (long, short) = (self.long, self.short);
            let words = [0, (at_ns >> 32) as u32, at_ns as u32, 5, wire_len];
            let mut body = words.map(long).concat();
            body.extend([1, 2, 3, 4, 5, 0, 0, 0]);
            if let Some(flags) = flags {
                // A comment comes first.
                body.extend(
                    [&short(1)[..], &short(3), b"abc\0", &short(2), &short(4), &long(flags)].concat(),
                );
                body.extend([0; 4]);
            }
            self.block(6, &body);
        }
    }

    fn files() -> [File; 2] {
        [File::new(u32::to_be_bytes, u16::to_be_bytes), File::new(u32::to_le_bytes, u16::to_le_bytes)]
    }

    #[test]
    fn packets_are_found_however_the_capture_is_cut() {
        for mut file in files() {
            file.packet(1 << 40, 1500, Some(1));
            file.block(5, &[0; 8]);
            file.packet(7, 40, Some(2));
            file.packet(8, 60, None);
            for size in [1, 3, 13, 64, 1000] {
                let (mut capture, mut found) = (GrowingCapture::default(), Vec::new());
                for piece in file.bytes.chunks(size) {
                    capture
                        .feed(piece, |packet| {
                            assert_eq!(packet.bytes, [1, 2, 3, 4, 5]);
                            found.push((packet.at, packet.wire_len, packet.direction));
                        })
                        .unwrap();
                }
                let expected = [
                    (Some(Stamp(1 << 40)), 1500, Some(Direction::Inbound)),
                    (Some(Stamp(7)), 40, Some(Direction::Outbound)),
                    (Some(Stamp(8)), 60, None),
                ];
                assert_eq!(found, expected, "pieces of {size}");
            }
        }
    }

    #[test]
    fn an_incomplete_packet_waits_for_its_rest() {
        let [mut file, _] = files();
        file.packet(1, 100, None);
        let (last, first) = (file.bytes.pop().unwrap(), file.bytes);
        let (mut capture, mut count) = (GrowingCapture::default(), 0);
        capture.feed(&first, |_| count += 1).unwrap();
        assert_eq!(count, 0);
        capture.feed(&[last], |_| count += 1).unwrap();
        assert_eq!(count, 1);
    }

    #[test]
    fn damage_is_reported_with_its_place() {
        let mut foreign = GrowingCapture::default();
        let error = foreign.feed(b"this is no capture", |_| ()).unwrap_err();
        assert!(matches!(error.wrong, Wrong::Section), "{error}");
        let [mut file, _] = files();
        file.packet(1, 100, None);
        let intact = file.bytes.len() as u64;
        file.bytes.extend([0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        let (mut capture, mut count) = (GrowingCapture::default(), 0);
        let error = capture.feed(&file.bytes, |_| count += 1).unwrap_err();
        assert_eq!((count, error.packet, error.offset), (1, 2, intact), "{error}");
        assert!(matches!(error.wrong, Wrong::Block { len: 3 }), "{error}");
    }
}
