//! Packets that have crossed the border between two parts of a network.
//!
//! The other processor has read the memory of this list before. To write a cache line there takes longer than all else that a packet
//! needs at the border, so an ordinary packet has one line.

use crate::network::packet::{Content, Packet, Stage};
use netspurt_tcp::options::{Options, Timestamps};
use netspurt_tcp::segment::{Ecn, Flags, Payload, Segment};
use netspurt_tcp::seq::Seq;

/// Length of a TCP header without options.
const BARE: u8 = 20;

/// Length of a TCP header with timestamps and no other option.
const WITH_TIMESTAMPS: u8 = 32;

/// Packets in flight through border channels into one other part of the network. Packets of the same channel are in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    /// The first `len` places are in use.
    places: Vec<Crossing>,
    len: usize,
    /// The packets that are not ordinary.
    unusual: Vec<Packet>,
}

/// A packet at the border. An ordinary one is here as a whole: it has no option but timestamps. Of another one `len` is its number in
/// the list of unusual packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(align(64))]
pub(in crate::network) struct Crossing {
    /// When it arrives at the far end of its border channel, the last hop of `stage`. If `stage` says that it [is to
    /// enter](Stage::is_to_enter), when it enters its border channel, the next hop.
    pub(in crate::network) at: u64,
    pub(in crate::network) stage: Stage,
    offset: u64,
    len: u32,
    seq: Seq,
    ack: Seq,
    endpoint: u32,
    /// Meaningful with a header of this length.
    timestamps: Timestamps,
    flags: Flags,
    window: u16,
    urgent: u16,
    generation: u16,
    mtu: u16,
    header_len: u8,
    ecn: Ecn,
    content: Content,
    resend: bool,
    is_ordinary: bool,
}

/// Whether a segment has no option but timestamps. All options count in the length of the header, but for one of a SYN.
#[inline(always)]
fn is_ordinary(segment: &Segment) -> bool {
    let is_short = segment.header_len == BARE
        || segment.header_len == WITH_TIMESTAMPS && segment.options.timestamps.is_some();
    is_short && !segment.flags.has(Flags::SYN)
}

impl Crossing {
    /// Writes a packet here, but for its options.
    #[inline(always)]
    fn write(&mut self, at: u64, stage: Stage, packet: &Packet) {
        let Packet { segment, endpoint, size, generation, content, mtu, resend } = packet;
        debug_assert_eq!(*size, stage.size);
        (self.at, self.stage) = (at, stage);
        (self.offset, self.len) = (segment.payload.offset, segment.payload.len);
        (self.seq, self.ack) = (segment.seq, segment.ack);
        (self.flags, self.window, self.urgent) = (segment.flags, segment.window, segment.urgent);
        (self.header_len, self.ecn) = (segment.header_len, segment.ecn);
        (self.endpoint, self.generation, self.mtu) = (*endpoint, *generation, *mtu);
        (self.content, self.resend) = (*content, *resend);
    }

    /// Writes an ordinary packet into a place that holds the content of an earlier one.
    #[inline(always)]
    fn read(&self, packet: &mut Packet) {
        let segment = &mut packet.segment;
        if self.header_len > BARE {
            segment.options = Options { timestamps: Some(self.timestamps), ..Options::NONE };
        } else if segment.header_len != BARE || segment.flags.has(Flags::SYN) {
            segment.options = Options::NONE;
        }
        segment.payload = Payload { offset: self.offset, len: self.len };
        (segment.seq, segment.ack) = (self.seq, self.ack);
        (segment.flags, segment.window, segment.urgent) = (self.flags, self.window, self.urgent);
        (segment.header_len, segment.ecn) = (self.header_len, self.ecn);
        (packet.endpoint, packet.size) = (self.endpoint, self.stage.size);
        (packet.generation, packet.mtu) = (self.generation, self.mtu);
        (packet.content, packet.resend) = (self.content, self.resend);
    }
}

impl Crossings {
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a packet.
    #[inline(always)]
    pub(in crate::network) fn push(&mut self, at: u64, stage: Stage, packet: &Packet) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = &mut self.places[self.len];
        self.len += 1;
        place.write(at, stage, packet);
        place.is_ordinary = is_ordinary(&packet.segment);
        if !place.is_ordinary {
            place.len = self.unusual.len() as u32;
            self.unusual.push(*packet);
        } else if packet.segment.header_len > BARE {
            place.timestamps = packet.segment.options.timestamps.unwrap_or_default();
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.places.push(Crossing::default());
    }

    /// All packets in the list.
    pub(in crate::network) fn all(&self) -> &[Crossing] {
        &self.places[..self.len]
    }

    /// Writes a packet of the list into a place that holds the content of an earlier one.
    #[inline(always)]
    pub(in crate::network) fn read(&self, crossing: &Crossing, packet: &mut Packet) {
        if crossing.is_ordinary {
            crossing.read(packet);
        } else {
            *packet = self.unusual[crossing.len as usize];
        }
    }

    /// Removes all packets from the list.
    pub(in crate::network) fn clear(&mut self) {
        self.len = 0;
        self.unusual.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::options::{BigWindow, SackBlock, SackBlocks};

    fn packet(options: Options, header_len: u8) -> Packet {
        let segment = Segment {
            seq: Seq(1),
            ack: Seq(2),
            flags: Flags(0x19),
            header_len,
            ecn: Ecn::Ce,
            window: 3,
            urgent: 4,
            payload: Payload { offset: 5 << 32, len: 6 },
            options,
        };
        let size = 20 + segment.wire_len();
        Packet { segment, endpoint: 7, size, generation: 8, content: Content::Damaged, mtu: 9, resend: true }
    }

    #[test]
    fn a_place_is_one_cache_line() {
        assert_eq!(size_of::<Crossing>(), 64);
    }

    #[test]
    fn packets_of_all_kinds_arrive_as_they_left_whatever_was_in_their_place() {
        let timestamps = Some(Timestamps { value: 10, echo: 11 });
        let mut sack = SackBlocks::EMPTY;
        sack.push(SackBlock { left: Seq(12), right: Seq(13) });
        let syn = Options { mss: Some(14), sack_permitted: true, nak_permitted: true, ..Options::NONE };
        let mut all = vec![
            packet(Options::NONE, BARE),
            packet(Options { timestamps, ..Options::NONE }, WITH_TIMESTAMPS),
            packet(Options { sack, ..Options::NONE }, WITH_TIMESTAMPS),
            packet(Options { timestamps, sack, ..Options::NONE }, 44),
            packet(Options { big_window: Some(BigWindow::Upper(15)), ..Options::NONE }, 24),
            packet(syn, 28),
            packet(Options::NONE, WITH_TIMESTAMPS),
            Packet { content: Content::Datagram, ..packet(Options::NONE, 8) },
            Packet::default(),
        ];
        let nak_only = Options { nak_permitted: true, ..Options::NONE };
        all.push(packet(nak_only, BARE));
        all.last_mut().unwrap().segment.flags = Flags::SYN;
        let mut crossings = Crossings::default();
        for first in &all {
            for second in &all {
                for (at, packet) in (0..).zip([first, second]) {
                    let stage = Stage { size: packet.size, onward: 16 };
                    crossings.push(at, stage, packet);
                }
                let mut place = *second;
                for (crossing, (due, packet)) in crossings.all().iter().zip((0..).zip([first, second])) {
                    crossings.read(crossing, &mut place);
                    assert_eq!((crossing.at, crossing.stage.size, &place), (due, packet.size, packet));
                }
                crossings.clear();
                assert!(crossings.is_empty() && crossings.all().is_empty());
            }
        }
    }
}
