//! Copies packets of a capture into another one, in pcapng with nanoseconds, link-layer headers and all.

use super::destination::Destination;
use super::packet::{CapturedAt, Packet};
use super::writer::CaptureError;
use crate::capture::format::blocks::{self, Captured, Output};
use std::io;
use std::path::{Path, PathBuf};

/// A capture that is being written.
#[derive(Debug)]
pub struct PacketCopy {
    path: PathBuf,
    file: Output,
    /// Buffer for the block that is written.
    body: Vec<u8>,
    /// The number of each interface of the source that has been described.
    interfaces: Vec<Option<u32>>,
    described: u32,
    packets: u64,
}

impl PacketCopy {
    /// Starts a capture named `path`. Fails now if it cannot be written there.
    pub fn create(path: &Path, application: &str) -> Result<Self, CaptureError> {
        let begin = || blocks::begin(Destination::open(path)?, application, "");
        let file = begin().map_err(|source| CaptureError::Write { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            body: Vec::new(),
            interfaces: Vec::new(),
            described: 0,
            packets: 0,
        })
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
                let name = interfaces.get(place).map_or("", |at| &*at.name);
                blocks::interface(&mut self.file, packet.link.0, 0, name, "", None)?;
                let number = self.described;
                self.interfaces[place] = Some(number);
                self.described += 1;
                number
            }
        };
        self.packets += 1;
        let captured = Captured {
            interface: number,
            at_ns: packet.at.unwrap_or_default().0,
            bytes: packet.bytes,
            whole: packet.wire_len,
            flags: None,
            comment: None,
        };
        blocks::packet(&mut self.file, &mut self.body, captured)
    }

    /// Completes the file. Returns the number of packets.
    pub fn finish(self) -> Result<u64, CaptureError> {
        let Self { path, file, packets, .. } = self;
        let put = || file.into_inner().map_err(|error| error.into_error())?.finish();
        put().map_err(|source| CaptureError::Write { path: path.clone(), source })?;
        Ok(packets)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::CaptureReader;
    use super::*;
    use crate::capture::headers::link::LinkType;
    use crate::stamp::Stamp;

    #[test]
    fn a_copy_keeps_link_layers_times_and_interfaces() {
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
