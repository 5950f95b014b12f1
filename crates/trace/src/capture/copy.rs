//! Copies packets of a capture into another one, in pcapng with nanoseconds, link-layer headers and all.

use super::destination::Destination;
use super::reader::{CapturedAt, Packet};
use super::writer::CaptureError;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const ORDER: u32 = 0x1a2b_3c4d;
/// Options: the program; the name of an interface; the resolution of its timestamps.
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const RESOLUTION: u16 = 9;
const NANOSECONDS: u8 = 9;

/// A capture that is being written.
#[derive(Debug)]
pub struct PacketCopy {
    path: PathBuf,
    file: BufWriter<Destination>,
    /// The number of each interface of the source that has been described.
    interfaces: Vec<Option<u32>>,
    described: u32,
    packets: u64,
}

impl PacketCopy {
    /// Starts a capture named `path`. Fails now if it cannot be written there.
    pub fn create(path: &Path, application: &str) -> Result<Self, CaptureError> {
        let begin = || {
            let mut file = BufWriter::with_capacity(1 << 16, Destination::open(path)?);
            let mut body = Vec::new();
            body.extend(ORDER.to_le_bytes());
            body.extend([1, 0, 0, 0]);
            body.extend(u64::MAX.to_le_bytes());
            option(&mut body, APPLICATION, application.as_bytes());
            block(&mut file, SECTION, &body)?;
            Ok(file)
        };
        let file = begin().map_err(|source| CaptureError::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file, interfaces: Vec::new(), described: 0, packets: 0 })
    }

    /// Copies a packet, which was captured at one of these interfaces.
    pub fn push(&mut self, packet: &Packet<'_>, interfaces: &[CapturedAt]) -> Result<(), CaptureError> {
        let written = self.write(packet, interfaces);
        written.map_err(|source| CaptureError::Write { path: self.path.clone(), source })
    }

    fn write(&mut self, packet: &Packet<'_>, interfaces: &[CapturedAt]) -> io::Result<()> {
        let place = packet.interface as usize;
        if self.interfaces.len() <= place {
            self.interfaces.resize(place + 1, None);
        }
        let number = match self.interfaces[place] {
            Some(number) => number,
            None => {
                let mut body = Vec::new();
                body.extend(packet.link.0.to_le_bytes());
                body.extend([0; 6]);
                if let Some(at) = interfaces.get(place).filter(|at| !at.name.is_empty()) {
                    option(&mut body, NAME, at.name.as_bytes());
                }
                option(&mut body, RESOLUTION, &[NANOSECONDS]);
                block(&mut self.file, INTERFACE, &body)?;
                let number = self.described;
                self.interfaces[place] = Some(number);
                self.described += 1;
                number
            }
        };
        let at = packet.at.unwrap_or_default().0;
        let mut body = Vec::with_capacity(packet.bytes.len() + 24);
        for word in [number, (at >> 32) as u32, at as u32, packet.bytes.len() as u32, packet.wire_len] {
            body.extend(word.to_le_bytes());
        }
        body.extend(packet.bytes);
        self.packets += 1;
        block(&mut self.file, PACKET, &body)
    }

    /// Completes the file. Returns the number of packets.
    pub fn finish(self) -> Result<u64, CaptureError> {
        let Self { path, file, packets, .. } = self;
        let put = || file.into_inner().map_err(|error| error.into_error())?.finish();
        put().map_err(|source| CaptureError::Write { path: path.clone(), source })?;
        Ok(packets)
    }
}

/// An option, padded to 32 bits; options end with an empty one, which readers do not need.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let kept = &value[..value.len().min(usize::from(u16::MAX) - 3)];
    body.extend(code.to_le_bytes());
    body.extend((kept.len() as u16).to_le_bytes());
    body.extend(kept);
    pad(body);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(file: &mut BufWriter<Destination>, kind: u32, body: &[u8]) -> io::Result<()> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = ((body.len() + padding + 12) as u32).to_le_bytes();
    file.write_all(&kind.to_le_bytes())?;
    file.write_all(&length)?;
    file.write_all(body)?;
    file.write_all(&[0; 3][..padding])?;
    file.write_all(&length)
}

#[cfg(test)]
mod tests {
    use super::super::link::LinkType;
    use super::super::reader::CaptureReader;
    use super::*;
    use crate::stamp::Stamp;

    #[test]
    fn a_copy_has_the_packets_with_their_link_layers_times_and_interfaces() {
        let folder = std::env::temp_dir().join(format!("netspurt-copy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("copy.pcapng");
        let at =
            |name: &str, link, number| CapturedAt { name: name.to_owned(), link: LinkType(link), number };
        let interfaces = [at("eth0", 1, 0), at("", 101, 1)];
        let bytes: Vec<u8> = (0..61).collect();
        let packet = |interface: u32, link, ns, length: usize| Packet {
            at: Some(Stamp(ns)),
            interface,
            link: LinkType(link),
            wire_len: 1500,
            bytes: &bytes[..length],
        };
        // The second interface appears first, and gets the first number.
        let sent =
            [packet(1, 101, 1_700_000_000_123_456_789, 61), packet(0, 1, 1_700_000_000_123_456_790, 60)];
        let mut copy = PacketCopy::create(&path, "netspurt").expect("a file");
        sent.iter().for_each(|packet| copy.push(packet, &interfaces).expect("room"));
        assert_eq!(copy.finish().expect("a whole file"), 2);
        let mut reader = CaptureReader::open(&path).expect("a capture");
        for packet in &sent {
            let found = reader.next().expect("undamaged").expect("a packet");
            assert_eq!((found.at, found.link, found.bytes), (packet.at, packet.link, packet.bytes));
            assert_eq!(found.wire_len, 1500);
        }
        assert_eq!(reader.next().expect("undamaged"), None);
        let names: Vec<&str> = reader.interfaces().iter().map(|at| at.name.as_str()).collect();
        assert_eq!(names, ["", "eth0"]);
        std::fs::remove_dir_all(&folder).expect("the folder");
    }
}
