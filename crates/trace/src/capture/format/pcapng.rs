//! The pcapng format: sections of blocks (draft-ietf-opsawg-pcapng).

use crate::capture::damage::Wrong;
use crate::capture::format::order::Order;
use crate::capture::format::resolution::Resolution;
use crate::capture::headers::link::LinkType;
use crate::capture::input::{Input, LONGEST};
use crate::capture::packet::{CapturedAt, Found, MOST_OCTETS};
use crate::capture::writer::Direction;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// Limit of the interfaces in a file; no machine has as many.
const MOST_INTERFACES: usize = 1024;
/// Longer names are cut.
const LONGEST_NAME: usize = 256;
/// Type and length before the body of a block, length after it.
const FRAME: u32 = 12;

const END_OF_OPTIONS: u16 = 0;
const IF_NAME: u16 = 2;
const EPB_FLAGS: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// The state of reading.
#[derive(Debug)]
pub(in crate::capture) struct PcapNg {
    order: Order,
    /// The interfaces of this section.
    described: Vec<Described>,
}

/// An interface that a section describes.
#[derive(Clone, Copy, Debug)]
struct Described {
    /// Its number among all interfaces of the file.
    number: u32,
    resolution: Resolution,
}

impl PcapNg {
    /// Recognizes the format by its first bytes; `None` if the file is not pcapng.
    pub(in crate::capture) fn recognize(input: &mut Input) -> Option<Self> {
        let head = input.whole(4)?;
        // The type of a section header is the same in both byte orders.
        (Order::Big.long(head, 0) == SECTION).then_some(Self { order: Order::Big, described: Vec::new() })
    }

    /// Whether these are the first bytes of a pcapng file; `None` if there are too few.
    pub(in crate::capture) fn begins(bytes: &[u8]) -> Option<bool> {
        bytes.get(..4).map(|head| Order::Big.long(head, 0) == SECTION)
    }

    /// The byte order of the present section.
    pub(in crate::capture) fn order(&self) -> Order {
        self.order
    }

    /// The byte order of a block that begins with the twelve bytes of `head`, after blocks in the order `before`; `None` for a
    /// section header that is invalid.
    pub(in crate::capture) fn order_of_block(head: &[u8], before: Order) -> Option<Order> {
        if Order::Big.long(head, 0) != SECTION {
            return Some(before);
        }
        [Order::Little, Order::Big].into_iter().find(|order| order.long(head, 8) == BYTE_ORDER)
    }

    /// The direction of a packet, from the options of its block. The captured bytes end at `end`.
    pub(in crate::capture) fn direction(&self, block: &[u8], end: usize) -> Option<Direction> {
        let options = end.next_multiple_of(4)..block.len().checked_sub(4)?;
        let mut options = block.get(options)?;
        while options.len() >= 4 {
            let (kind, size) = (self.order.short(options, 0), usize::from(self.order.short(options, 2)));
            let value = options.get(4..4 + size).filter(|_| kind != END_OF_OPTIONS)?;
            if kind == EPB_FLAGS && size == 4 {
                return match self.order.long(value, 0) & 3 {
                    1 => Some(Direction::Inbound),
                    2 => Some(Direction::Outbound),
                    _ => None,
                };
            }
            options = options.get(4 + size.next_multiple_of(4)..)?;
        }
        None
    }

    /// Returns the next packet. Adds the interfaces that are described before it to `interfaces`.
    #[inline]
    pub(in crate::capture) fn next(
        &mut self,
        input: &mut Input,
        interfaces: &mut Vec<CapturedAt>,
    ) -> Result<Option<Found>, Wrong> {
        loop {
            let head = input.peek(8);
            if head.len() < 8 {
                return if head.is_empty() { Ok(None) } else { Err(Wrong::Cut) };
            }
            let kind = self.order.long(head, 0);
            if kind == SECTION {
                self.section(input)?;
                continue;
            }
            let len = self.order.long(head, 4);
            if len < FRAME || !len.is_multiple_of(4) {
                return Err(Wrong::Block { len });
            }
            self.check_trailer(input, len)?;
            match kind {
                ENHANCED_PACKET | OBSOLETE_PACKET | SIMPLE_PACKET => {
                    return self.packet(kind, input, len).map(Some);
                }
                INTERFACE => self.describe(input, len, interfaces)?,
                _ => {}
            }
            if input.skip(len.into()) > 0 {
                return Err(Wrong::Cut);
            }
        }
    }

    /// Reads a section header. The byte order may differ from the one of the section before.
    fn section(&mut self, input: &mut Input) -> Result<(), Wrong> {
        let head = input.whole(16).ok_or(Wrong::Cut)?;
        self.order = match (Order::Little.long(head, 8), Order::Big.long(head, 8)) {
            (BYTE_ORDER, _) => Order::Little,
            (_, BYTE_ORDER) => Order::Big,
            _ => return Err(Wrong::ByteOrder),
        };
        let (len, major) = (self.order.long(head, 4), self.order.short(head, 12));
        if major != 1 {
            return Err(Wrong::Version { major });
        }
        if len < 28 || !len.is_multiple_of(4) {
            return Err(Wrong::Block { len });
        }
        self.check_trailer(input, len)?;
        self.described.clear();
        if input.skip(len.into()) > 0 { Err(Wrong::Cut) } else { Ok(()) }
    }

    /// Compares the length at the end of a block with the one at its start. Blocks longer than the buffer are not
    /// checked.
    #[inline]
    fn check_trailer(&self, input: &mut Input, len: u32) -> Result<(), Wrong> {
        if len as usize > LONGEST {
            return Ok(());
        }
        let block = input.whole(len as usize).ok_or(Wrong::Cut)?;
        let behind = self.order.long(block, len as usize - 4);
        if behind == len { Ok(()) } else { Err(Wrong::Trailer { len, behind }) }
    }

    /// Reads an interface description. In a file merged from several, each section describes its interfaces again.
    fn describe(&mut self, input: &mut Input, len: u32, all: &mut Vec<CapturedAt>) -> Result<(), Wrong> {
        let (this, resolution) = self.interface(input, len)?;
        let number = all.iter().position(|other| *other == this).unwrap_or(all.len());
        if number == all.len() {
            all.push(this);
        }
        if all.len() > MOST_INTERFACES || self.described.len() == MOST_INTERFACES {
            return Err(Wrong::Interfaces { most: MOST_INTERFACES });
        }
        self.described.push(Described { number: number as u32, resolution });
        Ok(())
    }

    fn interface(&self, input: &mut Input, len: u32) -> Result<(CapturedAt, Resolution), Wrong> {
        if len < FRAME + 8 {
            return Err(Wrong::Block { len });
        }
        let block = input.peek(len as usize);
        let link = LinkType(self.order.short(block, 8));
        let (mut name, mut resolution, mut offset_s) = (String::new(), Resolution::MICROSECONDS, 0);
        let mut options = block.get(16..(len as usize - 4).min(block.len())).unwrap_or_default();
        while options.len() >= 4 {
            let (kind, size) = (self.order.short(options, 0), usize::from(self.order.short(options, 2)));
            let Some(value) = options.get(4..4 + size).filter(|_| kind != END_OF_OPTIONS) else { break };
            match (kind, value) {
                (IF_NAME, text) => {
                    let text = &text[..size.min(LONGEST_NAME)];
                    name = String::from_utf8_lossy(text).trim_end_matches('\0').to_owned();
                }
                (IF_TSRESOL, &[exponent]) => resolution = Resolution::new(exponent),
                (IF_TSOFFSET, seconds) if size == 8 => {
                    let [high, low] = match self.order {
                        Order::Big => [0, 4],
                        Order::Little => [4, 0],
                    };
                    let half = |at| u64::from(self.order.long(seconds, at));
                    offset_s = (half(high) << 32 | half(low)).cast_signed();
                }
                _ => {}
            }
            options = options.get(4 + size.next_multiple_of(4)..).unwrap_or_default();
        }
        let at = CapturedAt { name, link, number: self.described.len() as u32 };
        Ok((at, resolution.shifted(offset_s)))
    }

    #[inline]
    fn packet(&self, kind: u32, input: &mut Input, len: u32) -> Result<Found, Wrong> {
        let start = if kind == SIMPLE_PACKET { 12 } else { 28 };
        let room = len.checked_sub(start as u32 + 4).ok_or(Wrong::Block { len })?;
        let block = input.whole(start).ok_or(Wrong::Cut)?;
        let long = |at| self.order.long(block, at);
        let (interface, units, captured, wire_len) = match kind {
            // A simple packet has no time, and its captured length is what fits into the block.
            SIMPLE_PACKET => (0, None, long(8).min(room), long(8)),
            OBSOLETE_PACKET => {
                let interface = u32::from(self.order.short(block, 8));
                (interface, Some((long(12), long(16))), long(20), long(24))
            }
            _ => (long(8), Some((long(12), long(16))), long(20), long(24)),
        };
        if captured > room {
            return Err(Wrong::Packet { captured });
        }
        let seen_by = self.described.get(interface as usize).ok_or(Wrong::Interface { interface })?;
        let units = units.map(|(high, low)| u64::from(high) << 32 | u64::from(low));
        Ok(Found {
            at: units.map(|units| seen_by.resolution.stamp(units)),
            interface: seen_by.number,
            wire_len,
            start,
            captured: captured.min(MOST_OCTETS),
            whole: len.into(),
        })
    }
}
