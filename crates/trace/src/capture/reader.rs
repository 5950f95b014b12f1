//! Reads the packets of a capture in order.

use super::damage::{Damage, OpenError, Wrong};
use super::input::Input;
use super::packed::{Counted, Packing, unpack};
use crate::capture::format::pcap::Pcap;
use crate::capture::format::pcapng::PcapNg;
use crate::capture::packet::{CapturedAt, Found, Packet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Reads a capture in pcap or pcapng format, in either byte order, uncompressed or compressed.
///
/// Call [`CaptureReader::open`], then [`CaptureReader::next`] until it returns `None` or an error. After an error there
/// are no more packets; those before it are valid. Memory is bounded, whatever the file contains. Packets are not
/// copied out of the read buffer.
#[derive(Debug)]
pub struct CaptureReader {
    input: Input,
    packing: Packing,
    format: Format,
    interfaces: Vec<CapturedAt>,
    packets: u64,
    read: Arc<AtomicU64>,
    /// Length of the last returned record, which is skipped by the next call.
    pending: u64,
    over: bool,
}

impl CaptureReader {
    /// Opens a file, or standard input if the name is `-`.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unreadable = |source| OpenError::Read { path: path.to_owned(), source };
        let source: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(unreadable)?)
        };
        Self::new(source, path)
    }

    /// Reads from any source; `name` only appears in errors.
    pub fn new(source: Box<dyn Read + Send>, name: &Path) -> Result<Self, OpenError> {
        let unreadable = |source| OpenError::Read { path: name.to_owned(), source };
        let read = Arc::new(AtomicU64::new(0));
        let source = Box::new(Counted { source, count: Arc::clone(&read) });
        let (packing, source) = unpack(source).map_err(unreadable)?;
        let mut input = Input::new(source);
        let mut interfaces = Vec::new();
        let format = if let Some(pcap) = Pcap::recognize(&mut input) {
            interfaces.push(CapturedAt { name: String::new(), link: pcap.link, number: 0 });
            Format::Pcap(pcap)
        } else if let Some(pcapng) = PcapNg::recognize(&mut input) {
            Format::PcapNg(pcapng)
        } else {
            let (path, head) = (name.to_owned(), input.peek(8).to_vec());
            return Err(match input.failure() {
                Some(source) => OpenError::Read { path, source },
                None if head.is_empty() => OpenError::Empty { path },
                None if Pcap::begins(&head) => OpenError::Cut { path },
                None => OpenError::Foreign { path, head },
            });
        };
        Ok(Self { input, packing, format, interfaces, packets: 0, read, pending: 0, over: false })
    }

    /// The interfaces described so far.
    pub fn interfaces(&self) -> &[CapturedAt] {
        &self.interfaces
    }

    /// Number of packets read so far.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Number of bytes read so far, headers included, after decompression.
    pub const fn octets(&self) -> u64 {
        self.input.offset()
    }

    /// Number of bytes read from the file so far, before decompression; shows the progress.
    pub fn octets_of_file(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Returns the next packet.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot return references to its own buffer"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Packet<'_>>, Damage> {
        if self.over {
            return Ok(None);
        }
        let found = match self.find() {
            Ok(Some(found)) => found,
            Ok(None) => match self.input.failure() {
                None => {
                    self.over = true;
                    return Ok(None);
                }
                Some(error) => return Err(self.damage(Wrong::Source(error))),
            },
            Err(wrong) => return Err(self.damage(wrong)),
        };
        self.packets += 1;
        self.pending = found.whole;
        let Found { at, interface, wire_len, start, captured, .. } = found;
        let link = self.interfaces[interface as usize].link;
        let bytes = &self.input.peek(start + captured as usize)[start..];
        Ok(Some(Packet { at, interface, link, wire_len, bytes }))
    }

    /// Returns the next packet once the buffer contains all of it.
    #[inline]
    fn find(&mut self) -> Result<Option<Found>, Wrong> {
        if self.input.skip(core::mem::take(&mut self.pending)) > 0 {
            return Err(Wrong::Cut);
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.input),
            Format::PcapNg(pcapng) => pcapng.next(&mut self.input, &mut self.interfaces),
        }?;
        let Some(found) = found else { return Ok(None) };
        let octets = found.start + found.captured as usize;
        if self.input.peek(octets).len() < octets { Err(Wrong::Cut) } else { Ok(Some(found)) }
    }

    #[cold]
    fn damage(&mut self, wrong: Wrong) -> Damage {
        self.over = true;
        // If the source failed, its error is the reason for the truncated record.
        let wrong = self.input.failure().map_or(wrong, Wrong::Source);
        Damage { packet: self.packets + 1, offset: self.input.offset(), packing: self.packing, wrong }
    }
}
