//! The TCP header (RFC 9293, section 3.1).

use super::checksum::Sum;
use super::error::{BadOption, DecodeError, EncodeError};
use super::{Addresses, Body, Ports, Verify, field, options};
use crate::wire::options::Layout;
use crate::wire::segment::{Flags, Payload, Segment};
use crate::wire::seq::Seq;
use core::ops::Range;

/// Bytes of a TCP header without options.
const BARE: u8 = 20;
/// Offset of the checksum field.
const CHECKSUM: usize = 16;

/// A decoded segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// The segment. The payload has a length, but its offset is 0, because no header carries the sender's stream
    /// offset.
    pub segment: Segment,
    /// The ports.
    pub ports: Ports,
    /// The range of the payload in the decoded bytes.
    pub payload: Range<usize>,
}

/// Appends `segment` as bytes to `out`: header, options, and the body unless it is [`Body::Virtual`].
///
/// The header length follows from the options (20 + [`wire_len`](crate::wire::options::Options::wire_len));
/// `header_len` of the segment is ignored. On an error `out` does not change.
pub fn encode(
    segment: &Segment,
    ports: Ports,
    addresses: Addresses,
    layout: Layout,
    body: Body<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let header_len = check(segment, layout, body)?;
    let len = u32::from(header_len) + segment.payload.len;
    let start = out.len();
    out.extend(ports.source.to_be_bytes());
    out.extend(ports.destination.to_be_bytes());
    out.extend(segment.seq.0.to_be_bytes());
    out.extend(segment.ack.0.to_be_bytes());
    let [reserved, flags] = (segment.flags.0 & Flags::ALL.0).to_be_bytes();
    out.extend([header_len << 2 | reserved, flags]);
    out.extend(segment.window.to_be_bytes());
    out.extend([0, 0]);
    out.extend(segment.urgent.to_be_bytes());
    options::write(&segment.options, layout, out);
    match body {
        Body::Bytes(bytes) => out.extend_from_slice(bytes),
        Body::Split(first, second) => {
            out.extend_from_slice(first);
            out.extend_from_slice(second);
        }
        Body::Virtual => {}
    }
    let checksum = Sum::pseudo_header(addresses, len).add(&out[start..]).checksum();
    out[start + CHECKSUM..start + CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}

/// The header length, if the segment can be encoded.
pub(super) fn check(segment: &Segment, layout: Layout, body: Body<'_>) -> Result<u8, EncodeError> {
    let options = segment.options.wire_len(layout);
    if options > 40 {
        return Err(EncodeError::Options { len: options });
    }
    let payload = segment.payload.len;
    let len = u64::from(BARE + options) + u64::from(payload);
    if len > 0xFFFF {
        return Err(EncodeError::Length { len });
    }
    let body = match body {
        Body::Bytes(bytes) => bytes.len(),
        Body::Split(first, second) => first.len() + second.len(),
        Body::Virtual => payload as usize,
    };
    if body != payload as usize {
        return Err(EncodeError::Body { body, payload });
    }
    Ok(BARE + options)
}

/// Decodes a TCP segment that fills `bytes`.
pub fn decode(
    bytes: &[u8],
    addresses: Addresses,
    layout: Layout,
    verify: Verify,
) -> Result<Decoded, DecodeError> {
    decode_part(bytes, bytes.len(), addresses, layout, verify)
}

/// Decodes a TCP segment of `len` bytes. `bytes` holds all of them, or a prefix with [`Verify::Headers`].
pub(super) fn decode_part(
    bytes: &[u8],
    len: usize,
    addresses: Addresses,
    layout: Layout,
    verify: Verify,
) -> Result<Decoded, DecodeError> {
    let header: [u8; BARE as usize] =
        field(bytes, 0).ok_or(DecodeError::Short { needed: usize::from(BARE), got: bytes.len() })?;
    let header_len = (header[12] >> 4) * 4;
    if header_len < BARE || usize::from(header_len) > len {
        return Err(DecodeError::DataOffset(header_len / 4));
    }
    let needed = usize::from(header_len);
    let cut = bytes.len() < needed;
    if cut && verify != Verify::Headers {
        return Err(DecodeError::Short { needed, got: bytes.len() });
    }
    let there = needed.min(bytes.len());
    if verify == Verify::All && !Sum::pseudo_header(addresses, len as u32).add(bytes).is_valid() {
        return Err(DecodeError::Checksum);
    }
    let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let long = |at: usize| (u32::from(short(at)) << 16) | u32::from(short(at + 2));
    let ports = Ports { source: short(0), destination: short(2) };
    let payload = there..bytes.len();
    let mut segment = Segment {
        seq: Seq(long(4)),
        ack: Seq(long(8)),
        flags: Flags(u16::from_be_bytes([header[12], header[13]]) & Flags::ALL.0),
        header_len,
        window: short(14),
        urgent: short(18),
        payload: Payload { offset: 0, len: (len - needed) as u32 },
        ..Segment::default()
    };
    if cut {
        segment.options = options::read_cut(&bytes[usize::from(BARE)..], layout);
        return Ok(Decoded { segment, ports, payload });
    }
    segment.options =
        options::read(&bytes[usize::from(BARE)..needed], layout).map_err(|(kind, length)| {
            let Segment { seq, ack, flags, .. } = segment;
            DecodeError::Option(BadOption {
                kind,
                length,
                ports,
                seq,
                ack,
                flags,
                seq_len: segment.seq_len(),
            })
        })?;
    Ok(Decoded { segment, ports, payload })
}
