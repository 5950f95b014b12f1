//! Divides super-segments and completes checksums, so that packets are as on a real network.

use super::shape::{Checksum, Cut, Protocol, Shape};
use netspurt_tcp::codec::{Addresses, internet_checksum, pseudo_header_sum};
use netspurt_tcp::segment::Flags;

const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
/// Position of the checksum in a TCP header.
pub(crate) const TCP_CHECKSUM: u16 = 16;
/// Position of the checksum in a UDP header, where zero means that there is none (RFC 768).
const UDP_CHECKSUM: u16 = 6;

/// Completes the checksum of a packet that only has the sum of its pseudo-header. If the packet is too short for its
/// shape, nothing is changed.
pub fn complete_checksum(packet: &mut [u8], shape: &Shape) {
    let Checksum::Partial { start, offset } = shape.checksum else { return };
    let (start, at) = (usize::from(start), usize::from(start) + usize::from(offset));
    if packet.len() < at + 2 {
        return;
    }
    let checksum = match internet_checksum(&packet[start..]) {
        0 if offset == UDP_CHECKSUM => 0xFFFF,
        checksum => checksum,
    };
    packet[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// The packets of a frame.
#[derive(Debug)]
pub struct Pieces<'p> {
    packet: &'p [u8],
    shape: Shape,
    sums: Sums,
    /// Lengths of the headers, and the segment size; `None` for a packet that is not divided.
    plan: Option<Plan>,
    /// Payload bytes returned so far.
    done: usize,
    over: bool,
}

/// Which checksums are completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sums {
    /// Those of each piece.
    Complete,
    /// None: incomplete checksums stay so.
    Undone,
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    cut: Cut,
    /// Offsets of the TCP header and of the payload.
    tcp: usize,
    payload: usize,
}

impl<'p> Pieces<'p> {
    /// The pieces of `packet`, with complete checksums. A packet whose headers contradict its shape is not divided.
    pub fn new(packet: &'p [u8], shape: Shape) -> Self {
        Self::with(packet, shape, Sums::Complete)
    }

    /// The same, with [checksums](Self::checksum) incomplete if the sender's was.
    pub fn undone(packet: &'p [u8], shape: Shape) -> Self {
        Self::with(packet, shape, Sums::Undone)
    }

    /// The state of the checksum of each piece.
    pub fn checksum(&self) -> Checksum {
        match (self.sums, self.plan) {
            (Sums::Complete, _) => Checksum::Whole,
            (Sums::Undone, None) => self.shape.checksum,
            (Sums::Undone, Some(plan)) => Checksum::Partial { start: plan.tcp as u16, offset: TCP_CHECKSUM },
        }
    }

    fn with(packet: &'p [u8], shape: Shape, sums: Sums) -> Self {
        let plan = shape.cut.and_then(|cut| plan(packet, cut));
        let plan = plan.filter(|plan| packet.len() - plan.payload > usize::from(plan.cut.size));
        Self { packet, shape, sums, plan, done: 0, over: packet.is_empty() }
    }

    /// Writes the next piece to `out`; false if there is none.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> bool {
        if self.over {
            return false;
        }
        out.clear();
        let Some(plan) = self.plan else {
            out.extend_from_slice(self.packet);
            if self.sums == Sums::Complete {
                complete_checksum(out, &self.shape);
            }
            self.over = true;
            return true;
        };
        let from = plan.payload + self.done;
        let size = usize::from(plan.cut.size).min(self.packet.len() - from);
        let (first, last) = (self.done == 0, from + size == self.packet.len());
        out.extend_from_slice(&self.packet[..plan.payload]);
        out.extend_from_slice(&self.packet[from..from + size]);
        number(out, plan, self.done);
        flag(out, plan, first, last);
        measure(out, plan.cut.protocol, plan.tcp);
        if self.sums == Sums::Complete {
            let start = plan.tcp as u16;
            let checksum = Checksum::Partial { start, offset: TCP_CHECKSUM };
            complete_checksum(out, &Shape { checksum, cut: None });
        }
        self.done += size;
        self.over = last;
        true
    }
}

/// The header lengths of a super-segment, if its headers agree with its shape.
fn plan(packet: &[u8], cut: Cut) -> Option<Plan> {
    let version = packet.first()? >> 4;
    let tcp = match (cut.protocol, version) {
        (Protocol::Tcp4, 4) => usize::from(packet[0] & 0xF) * 4,
        (Protocol::Tcp6, 6) => V6_HEADER,
        _ => return None,
    };
    let payload = tcp + usize::from(packet.get(tcp + 12)? >> 4) * 4;
    let fits = tcp >= V4_HEADER && payload >= tcp + TCP_HEADER && payload <= packet.len();
    fits.then_some(Plan { cut, tcp, payload })
}

/// Sets the TCP sequence number and the IPv4 identification of a piece.
fn number(piece: &mut [u8], plan: Plan, done: usize) {
    let at = plan.tcp + 4;
    let sequence = u32::from_be_bytes([piece[at], piece[at + 1], piece[at + 2], piece[at + 3]]);
    piece[at..at + 4].copy_from_slice(&sequence.wrapping_add(done as u32).to_be_bytes());
    if plan.cut.protocol == Protocol::Tcp4 {
        let nth = (done / usize::from(plan.cut.size)) as u16;
        let identification = u16::from_be_bytes([piece[4], piece[5]]).wrapping_add(nth);
        piece[4..6].copy_from_slice(&identification.to_be_bytes());
    }
}

/// FIN and PSH belong to the last piece, CWR to the first (RFC 3168, section 6.1.2).
fn flag(piece: &mut [u8], plan: Plan, first: bool, last: bool) {
    let flags = &mut piece[plan.tcp + 13];
    if !last {
        *flags &= !((Flags::FIN | Flags::PSH).0 as u8);
    }
    if !first {
        *flags &= !(Flags::CWR.0 as u8);
    }
}

/// Sets the lengths in the headers of a TCP packet, the IPv4 header checksum, and the sum of the pseudo-header in the
/// TCP checksum, to be completed later. The TCP header is at `tcp`.
pub(crate) fn measure(packet: &mut [u8], protocol: Protocol, tcp: usize) {
    let tcp_len = packet.len() - tcp;
    let addresses = match protocol {
        Protocol::Tcp4 => {
            let len = packet.len() as u16;
            packet[2..4].copy_from_slice(&len.to_be_bytes());
            packet[10..12].copy_from_slice(&[0, 0]);
            let checksum = internet_checksum(&packet[..tcp]);
            packet[10..12].copy_from_slice(&checksum.to_be_bytes());
            Addresses::V4 {
                source: field::<4>(packet, 12).into(),
                destination: field::<4>(packet, 16).into(),
            }
        }
        Protocol::Tcp6 => {
            packet[4..6].copy_from_slice(&(tcp_len as u16).to_be_bytes());
            Addresses::V6 {
                source: field::<16>(packet, 8).into(),
                destination: field::<16>(packet, 24).into(),
            }
        }
    };
    let at = tcp + usize::from(TCP_CHECKSUM);
    let sum = pseudo_header_sum(addresses, tcp_len as u32);
    packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Bytes of a header with a known length.
fn field<const N: usize>(piece: &[u8], at: usize) -> [u8; N] {
    let mut octets = [0; N];
    octets.copy_from_slice(&piece[at..at + N]);
    octets
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::codec::{Addresses, Body, Ip, Ports, Verify, decode_packet, encode_packet};
    use netspurt_tcp::options::Layout;
    use netspurt_tcp::segment::{Payload, Segment};
    use netspurt_tcp::seq::Seq;

    fn frame(addresses: Addresses, len: u32) -> Vec<u8> {
        let flags = Flags::ACK | Flags::PSH | Flags::FIN | Flags::CWR;
        let payload = Payload { offset: 0, len };
        let segment = Segment { seq: Seq(u32::MAX - 500), ack: Seq(9), flags, payload, ..Segment::default() };
        let body: Vec<u8> = (0..len).map(|n| (n * n % 251) as u8).collect();
        let mut packet = Vec::new();
        let ip = Ip { identification: 65_535, ..Ip::new(addresses) };
        let ports = Ports { source: 1, destination: 2 };
        encode_packet(&segment, ports, &ip, Layout::SHARED, Body::Bytes(&body), &mut packet)
            .expect("a packet of that length");
        packet
    }

    fn both() -> [(Addresses, Protocol); 2] {
        let (v4, v6) = (std::net::Ipv4Addr::new(192, 0, 2, 1), std::net::Ipv6Addr::LOCALHOST);
        [
            (Addresses::V4 { source: v4, destination: v4 }, Protocol::Tcp4),
            (Addresses::V6 { source: v6, destination: v6 }, Protocol::Tcp6),
        ]
    }

    #[test]
    fn the_pieces_are_correct_packets_with_all_payload() {
        for (addresses, protocol) in both() {
            let packet = frame(addresses, 3500);
            let cut = Cut { protocol, header_len: 0, size: 1000, ecn: true };
            let shape = Shape { checksum: Checksum::Partial { start: 0, offset: 16 }, cut: Some(cut) };
            let mut pieces = Pieces::new(&packet, shape);
            let (mut piece, mut seq, mut carried, mut flags) =
                (Vec::new(), Seq(u32::MAX - 500), Vec::new(), vec![]);
            while pieces.next_into(&mut piece) {
                let read = decode_packet(&piece, Layout::SHARED, Verify::All).expect("a right packet");
                assert_eq!(read.tcp.segment.seq, seq);
                seq = seq.plus(read.tcp.segment.payload.len);
                flags.push(read.tcp.segment.flags);
                carried.extend_from_slice(&piece[read.tcp.payload]);
            }
            assert_eq!(flags.len(), 4);
            assert_eq!(flags[0], Flags::ACK | Flags::CWR);
            assert_eq!(flags[1], Flags::ACK);
            assert_eq!(flags[3], Flags::ACK | Flags::FIN | Flags::PSH);
            assert_eq!(carried, packet[packet.len() - 3500..]);
        }
    }

    #[test]
    fn pieces_with_incomplete_checksums_are_correct_after_completion() {
        for (addresses, protocol) in both() {
            let packet = frame(addresses, 2500);
            let cut = Cut { protocol, header_len: 0, size: 1000, ecn: true };
            let shape = Shape { checksum: Checksum::Partial { start: 0, offset: 16 }, cut: Some(cut) };
            let (mut whole, mut undone) = (Pieces::new(&packet, shape), Pieces::undone(&packet, shape));
            let (mut one, mut other) = (Vec::new(), Vec::new());
            while whole.next_into(&mut one) {
                assert!(undone.next_into(&mut other));
                assert_ne!(one, other);
                complete_checksum(&mut other, &Shape { checksum: undone.checksum(), cut: None });
                assert_eq!(one, other);
            }
            assert!(!undone.next_into(&mut other));
            assert_eq!(whole.checksum(), Checksum::Whole);
        }
    }

    #[test]
    fn a_partial_checksum_is_completed_correctly() {
        for (addresses, _) in both() {
            let whole = frame(addresses, 701);
            let start = whole.len() - 701 - 20;
            let mut packet = whole.clone();
            // What the field would hold: its complement is the sum of all else, so the pseudo-header's is what is left.
            packet[start + 16..start + 18].copy_from_slice(&[0, 0]);
            let rest = !internet_checksum(&packet[start..]);
            let right = u16::from_be_bytes([whole[start + 16], whole[start + 17]]);
            let pseudo = u32::from(!right) + u32::from(!rest);
            let pseudo = (pseudo + (pseudo >> 16)) as u16;
            packet[start + 16..start + 18].copy_from_slice(&pseudo.to_be_bytes());
            let checksum = Checksum::Partial { start: start as u16, offset: 16 };
            complete_checksum(&mut packet, &Shape { checksum, cut: None });
            assert_eq!(packet, whole);
        }
    }

    #[test]
    fn a_shape_that_contradicts_the_packet_changes_nothing() {
        let (addresses, _) = both()[0];
        let packet = frame(addresses, 10);
        let cut = |protocol, size| Some(Cut { protocol, header_len: 0, size, ecn: false });
        for len in 0..packet.len() {
            let short = &packet[..len];
            for cut in [cut(Protocol::Tcp4, 3), cut(Protocol::Tcp6, 3), cut(Protocol::Tcp4, 10)] {
                let shape = Shape { checksum: Checksum::Partial { start: 60_000, offset: 9 }, cut };
                let (mut pieces, mut out, mut count) = (Pieces::new(short, shape), Vec::new(), 0);
                while pieces.next_into(&mut out) {
                    count += 1;
                }
                assert!(count <= 4, "{count} pieces");
            }
        }
    }
}
