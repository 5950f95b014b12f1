//! The pcap format: a file header, then packets (draft-ietf-opsawg-pcap).

use crate::capture::damage::Wrong;
use crate::capture::format::order::Order;
use crate::capture::headers::link::LinkType;
use crate::capture::input::Input;
use crate::capture::packet::{Found, MOST_OCTETS};
use crate::stamp::Stamp;

const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;
const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;

/// The file header.
#[derive(Debug)]
pub(in crate::capture) struct Pcap {
    order: Order,
    /// Unit of the fractional part of a timestamp, in nanoseconds.
    unit: u64,
    pub(in crate::capture) link: LinkType,
}

impl Pcap {
    /// Reads the file header; `None` if the file is not pcap.
    pub(in crate::capture) fn recognize(input: &mut Input) -> Option<Self> {
        let header = input.whole(FILE_HEADER)?;
        let (order, unit) = magic(header)?;
        // The upper half of the field describes Ethernet's frame check sequence.
        let link = LinkType(order.long(header, 20) as u16);
        input.skip(FILE_HEADER as u64);
        Some(Self { order, unit, link })
    }

    /// Whether these are the first bytes of a pcap file, even if the file ends before its header does.
    pub(in crate::capture) fn begins(head: &[u8]) -> bool {
        head.len() >= 4 && magic(head).is_some()
    }

    /// Returns the next packet.
    #[inline]
    pub(in crate::capture) fn next(&self, input: &mut Input) -> Result<Option<Found>, Wrong> {
        let header = input.peek(PACKET_HEADER);
        if header.len() < PACKET_HEADER {
            return if header.is_empty() { Ok(None) } else { Err(Wrong::Cut) };
        }
        let long = |at| self.order.long(header, at);
        let captured = long(8);
        if captured > MOST_OCTETS {
            return Err(Wrong::Packet { captured });
        }
        let nanoseconds = u64::from(long(0)) * 1_000_000_000 + u64::from(long(4)) * self.unit;
        Ok(Some(Found {
            at: Some(Stamp(nanoseconds)),
            interface: 0,
            wire_len: long(12),
            start: PACKET_HEADER,
            captured,
            whole: PACKET_HEADER as u64 + u64::from(captured),
        }))
    }
}

/// Byte order, and the unit of the fractional part of timestamps in nanoseconds, from the first four bytes.
fn magic(header: &[u8]) -> Option<(Order, u64)> {
    [Order::Little, Order::Big].into_iter().find_map(|order| match order.long(header, 0) {
        MICROSECONDS => Some((order, 1000)),
        NANOSECONDS => Some((order, 1)),
        _ => None,
    })
}
