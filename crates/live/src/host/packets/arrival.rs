//! Parses packets and divides frames into segments.

use crate::tun::{Checksum, Shape};
use netspurt_tcp::codec::{DecodeError, DecodedPacket, Verify, decode_packet};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::{Flags, Segment};
use std::ops::Range;

/// Decodes a packet. A checksum that was verified or is incomplete is accepted.
pub(in crate::host) fn read(
    packet: &[u8],
    shape: &Shape,
    layout: Layout,
) -> Result<DecodedPacket, DecodeError> {
    let verify = match shape.checksum {
        Checksum::Whole => Verify::All,
        Checksum::Verified | Checksum::Partial { .. } => Verify::Lengths,
    };
    decode_packet(packet, layout, verify)
}

/// The segments of a frame, each with the range of its payload in the packet.
pub(in crate::host) fn segments(
    packet: &DecodedPacket,
    shape: &Shape,
) -> impl Iterator<Item = (Segment, Range<usize>)> {
    let (segment, payload) = (packet.tcp.segment, packet.tcp.payload.clone());
    let size = shape.cut.map_or(payload.len(), |cut| usize::from(cut.size)).max(1);
    let count = payload.len().div_ceil(size).max(1);
    (0..count).map(move |n| {
        let from = n * size;
        let len = (payload.len() - from).min(size);
        let mut piece = segment;
        piece.seq = segment.seq.plus(from as u32);
        piece.payload.len = len as u32;
        // As in segmentation: FIN and PSH on the last segment, CWR on the first (RFC 3168, section 6.1.2).
        if n + 1 < count {
            piece.flags.0 &= !(Flags::FIN | Flags::PSH).0;
        }
        if n > 0 {
            piece.flags.0 &= !Flags::CWR.0;
        }
        (piece, payload.start + from..payload.start + from + len)
    })
}
