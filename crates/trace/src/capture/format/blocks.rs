//! The blocks of a pcapng file that is written (draft-ietf-opsawg-pcapng), little-endian.

use crate::capture::destination::Destination;
use std::io::{self, BufWriter, Write as _};
use std::net::Ipv4Addr;

/// A capture that is being written.
pub(in crate::capture) type Output = BufWriter<Destination>;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const PACKET: u32 = 6;
/// Tells readers the order of bytes.
const ORDER: u32 = 0x1a2b_3c4d;

/// Options of each block.
const COMMENT: u16 = 1;
/// Options of a section.
const APPLICATION: u16 = 4;
/// Options of an interface.
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const SPEED: u16 = 8;
const RESOLUTION: u16 = 9;
/// Ten to the power of minus this, in seconds.
const NANOSECONDS: u8 = 9;
/// Options of a packet.
const FLAGS: u16 = 2;
/// A record of a name resolution block: a name of an IPv4 address.
const IPV4: u16 = 1;

/// A packet as a block holds it.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture) struct Captured<'a> {
    /// The number of its interface.
    pub(in crate::capture) interface: u32,
    /// Nanoseconds since 1970.
    pub(in crate::capture) at_ns: u64,
    /// The captured bytes.
    pub(in crate::capture) bytes: &'a [u8],
    /// The length of the packet.
    pub(in crate::capture) whole: u32,
    /// Whether it arrived at the interface (1) or left it (2), if known.
    pub(in crate::capture) flags: Option<u32>,
    /// A comment, which tools show beside the packet.
    pub(in crate::capture) comment: Option<&'a str>,
}

/// Opens a file with its first block.
pub(in crate::capture) fn begin(
    destination: Destination,
    application: &str,
    comment: &str,
) -> io::Result<Output> {
    let mut file = BufWriter::with_capacity(1 << 16, destination);
    let mut body = Vec::new();
    body.extend(ORDER.to_le_bytes());
    // Version 1.0, of unknown length.
    body.extend([1, 0, 0, 0]);
    body.extend(u64::MAX.to_le_bytes());
    option(&mut body, APPLICATION, application.as_bytes());
    if !comment.is_empty() {
        option(&mut body, COMMENT, comment.as_bytes());
    }
    end_options(&mut body);
    block(&mut file, SECTION, &body)?;
    Ok(file)
}

/// Describes an interface; its number is the count of those before it. Its timestamps are nanoseconds.
pub(in crate::capture) fn interface(
    file: &mut Output,
    link: u16,
    snaplen: u32,
    name: &str,
    description: &str,
    speed: Option<u64>,
) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(link.to_le_bytes());
    body.extend([0; 2]);
    body.extend(snaplen.to_le_bytes());
    if !name.is_empty() {
        option(&mut body, NAME, name.as_bytes());
    }
    option(&mut body, RESOLUTION, &[NANOSECONDS]);
    if !description.is_empty() {
        option(&mut body, DESCRIPTION, description.as_bytes());
    }
    if let Some(speed) = speed {
        option(&mut body, SPEED, &speed.to_le_bytes());
    }
    end_options(&mut body);
    block(file, INTERFACE, &body)
}

/// Gives addresses names. A name must not contain a zero byte, which ends it.
pub(in crate::capture) fn names<'a>(
    file: &mut Output,
    hosts: impl Iterator<Item = (Ipv4Addr, &'a str)>,
) -> io::Result<()> {
    let mut body = Vec::new();
    for (address, name) in hosts {
        let mut value = address.octets().to_vec();
        value.extend(name.as_bytes());
        value.push(0);
        option(&mut body, IPV4, &value);
    }
    end_options(&mut body);
    block(file, NAMES, &body)
}

/// Writes a packet; `body` is a buffer that calls share.
pub(in crate::capture) fn packet(
    file: &mut Output,
    body: &mut Vec<u8>,
    packet: Captured<'_>,
) -> io::Result<()> {
    body.clear();
    let at = packet.at_ns;
    for word in [packet.interface, (at >> 32) as u32, at as u32, packet.bytes.len() as u32, packet.whole] {
        body.extend(word.to_le_bytes());
    }
    body.extend(packet.bytes);
    if packet.flags.is_some() || packet.comment.is_some() {
        pad(body);
        if let Some(comment) = packet.comment {
            option(body, COMMENT, comment.as_bytes());
        }
        if let Some(flags) = packet.flags {
            option(body, FLAGS, &flags.to_le_bytes());
        }
        end_options(body);
    }
    block(file, PACKET, body)
}

/// An option, padded to 32 bits. Records of names have the same form.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let kept = &value[..value.len().min(usize::from(u16::MAX) - 3)];
    body.extend(code.to_le_bytes());
    body.extend((kept.len() as u16).to_le_bytes());
    body.extend(kept);
    pad(body);
}

fn end_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(file: &mut Output, kind: u32, body: &[u8]) -> io::Result<()> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = ((body.len() + padding + 12) as u32).to_le_bytes();
    file.write_all(&kind.to_le_bytes())?;
    file.write_all(&length)?;
    file.write_all(body)?;
    file.write_all(&[0; 3][..padding])?;
    file.write_all(&length)
}
