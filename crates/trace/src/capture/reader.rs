//! Packets out of a capture, one after the other.

use super::damage::{Damage, OpenError, Wrong};
use super::input::Input;
use super::link::LinkType;
use super::packed::{Counted, Packing, unpack};
use super::pcap::Pcap;
use super::pcapng::PcapNg;
use crate::stamp::Stamp;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most that is ever captured of one packet; pcap files that say more are damaged (as libpcap has it, too).
pub(super) const MOST_OCTETS: u32 = 262_144;

/// Where packets were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedAt {
    /// The interface's name; empty if the file does not tell.
    pub name: String,
    /// What its packets begin with.
    pub link: LinkType,
    /// Its number in its section of a pcapng file; 0 for pcap.
    pub number: u32,
}

/// One captured packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// When; pcapng's simple packets do not tell.
    pub at: Option<Stamp>,
    /// Which of [`CaptureReader::interfaces`] it was captured at.
    pub interface: u32,
    /// What it begins with.
    pub link: LinkType,
    /// Octets that it had on the wire.
    pub wire_len: u32,
    /// As many of them as were captured.
    pub bytes: &'a [u8],
}

/// A packet before its octets are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) at: Option<Stamp>,
    pub(super) interface: u32,
    pub(super) wire_len: u32,
    /// Where in the record its octets begin, how many there are, and how long the whole record is.
    pub(super) start: usize,
    pub(super) captured: u32,
    pub(super) whole: u64,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Reads a capture in pcap or pcapng, in either byte order, plain or compressed.
///
/// [`CaptureReader::open`], then [`CaptureReader::next`] until it returns `None` or an error: after an error there is
/// nothing more, and everything before it is good. Memory does not grow, whatever the file says; octets are copied once,
/// from the system into a buffer.
#[derive(Debug)]
pub struct CaptureReader {
    input: Input,
    packing: Packing,
    format: Format,
    interfaces: Vec<CapturedAt>,
    packets: u64,
    read: Arc<AtomicU64>,
    /// Octets of the record that was given out last.
    pending: u64,
    over: bool,
}

impl CaptureReader {
    /// Opens a file, or standard input if its name is `-`.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let unreadable = |source| OpenError::Read { path: path.to_owned(), source };
        let source: Box<dyn Read + Send> = if path == Path::new("-") {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(path).map_err(unreadable)?)
        };
        Self::new(source, path)
    }

    /// Reads from anywhere; `name` is for errors only.
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
                None => OpenError::Foreign { path, head },
            });
        };
        Ok(Self { input, packing, format, interfaces, packets: 0, read, pending: 0, over: false })
    }

    /// The places at which packets were captured, as far as the file has told of them.
    pub fn interfaces(&self) -> &[CapturedAt] {
        &self.interfaces
    }

    /// How many packets were read.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// How many octets of the packets and what stands round them were passed, after unpacking.
    pub const fn octets(&self) -> u64 {
        self.input.offset()
    }

    /// How many octets of the file were read, packed as they may be: how far we are.
    pub fn octets_of_file(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// The next packet.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend what stands in its buffer")]
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

    /// The next packet, all of which is there.
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
        // If the source broke, that is why the record is cut.
        let wrong = self.input.failure().map_or(wrong, Wrong::Source);
        Damage { packet: self.packets + 1, offset: self.input.offset(), packing: self.packing, wrong }
    }
}
