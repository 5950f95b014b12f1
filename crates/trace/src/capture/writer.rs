//! Segments into a pcapng file, as if a sniffer had seen them.

use super::destination::Destination;
use crate::Stamp;
use netspurt_tcp::codec::{self, Addresses, Body, EncodeError, Ip, Ports};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::{Span, Time};
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption, InterfaceTsResolution,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record as NameRecord};
use pcap_file::pcapng::blocks::opt_common::CommonOption;
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgWriteError, PcapNgWriter};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What time zero of a capture is on the calendar: 2000-01-01 00:00:00 UTC, in seconds since 1970.
///
/// A simulation has no date, but every reader of captures shows one. This one is round, so that the time of day is the
/// time of the simulation, and lies after 1970, where some readers take a time for missing.
pub const EPOCH_S: u64 = 946_684_800;

/// How long a real packet waits at most for the next one, before both are passed on to the system.
const FLUSHED_EVERY: Span = Span::from_ms(100);

/// Longer than any packet. Zero would say the same, but not every reader knows.
const ANY_LENGTH: u32 = 262_144;

/// Where in a TCP header the checksum stands.
const CHECKSUM: usize = 16;

/// A place at which packets are seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// What readers call it.
    pub name: String,
    /// Where it is.
    pub description: String,
    /// Bits per second, if there is a limit.
    pub speed: Option<u64>,
}

/// The name of a host, for readers that show names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its name.
    pub name: String,
}

/// What stands at the head of a capture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// Which program wrote it.
    pub application: String,
    /// What it shows.
    pub comment: String,
    /// The places, numbered in this order.
    pub interfaces: Vec<Interface>,
    /// Names of hosts.
    pub hosts: Vec<Host>,
    /// At most so many octets of each packet are kept; `None`: all.
    pub snaplen: Option<u32>,
}

/// Which way a packet went through an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the host or router.
    Inbound,
    /// Away from it.
    Outbound,
}

/// What the checksum of a packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// That the packet is whole.
    Right,
    /// That it was damaged.
    Wrong,
}

/// One packet that was seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When.
    pub time: Time,
    /// Where: a number into [`Setup::interfaces`].
    pub interface: u32,
    /// Which way it went.
    pub direction: Direction,
    /// From where to where.
    pub addresses: Addresses,
    /// The ports.
    pub ports: Ports,
    /// How the options without numbers look.
    pub layout: Layout,
    /// Whether it is whole.
    pub checksum: Checksum,
    /// The segment. Its payload is written as zeros.
    pub segment: Segment,
}

/// Why there is no capture.
#[derive(thiserror::Error, Debug)]
pub enum CaptureError {
    /// The file cannot be written.
    #[error("cannot write the capture {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A packet cannot be expressed.
    #[error("a packet sent at {} s cannot be captured: {source}", time.as_secs_f64())]
    Packet {
        /// When it was seen.
        time: Time,
        /// Why.
        source: EncodeError,
    },
}

/// Writes a capture.
///
/// [`CaptureWriter::create`], then any number of [`CaptureWriter::push`] with a [`CaptureWriter::settle`] now and then,
/// then [`CaptureWriter::finish`]. Packets may be pushed in any order so long as none is older than the time last
/// settled; they stand in the file in order of time, and in order of pushing where times are equal. Until `finish` the
/// file's name belongs to whatever was there before: a capture is there whole or not at all. Into a pipe or a device it is
/// written as it comes.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    file: Output,
    snaplen: usize,
    pending: Vec<Record>,
    packets: u64,
    /// The packet being written, to be used again.
    bytes: Vec<u8>,
    /// When a real packet was last passed on to the system.
    flushed: Stamp,
}

/// `PcapNgWriter` is not `Debug`.
struct Output(PcapNgWriter<BufWriter<Destination>>);

impl core::fmt::Debug for Output {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.get_ref().get_ref().fmt(f)
    }
}

impl CaptureWriter {
    /// Begins a capture that will be called `path`. Whether it can be written there is found out at once.
    pub fn create(path: &Path, setup: &Setup) -> Result<Self, CaptureError> {
        Self::begin(path, setup).map_err(|source| CaptureError::Write { path: path.to_owned(), source })
    }

    fn begin(path: &Path, setup: &Setup) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 16, Destination::open(path)?);
        let mut file = PcapNgWriter::with_section_header(file, section(setup)).map_err(plain)?;
        for interface in &setup.interfaces {
            file.write_pcapng_block(describe(interface, setup.snaplen)).map_err(plain)?;
        }
        if !setup.hosts.is_empty() {
            file.write_pcapng_block(names(&setup.hosts)).map_err(plain)?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Output(file),
            snaplen: setup.snaplen.filter(|&len| len > 0).map_or(usize::MAX, |len| len as usize),
            pending: Vec::new(),
            packets: 0,
            bytes: Vec::new(),
            flushed: Stamp::default(),
        })
    }

    /// A packet was seen.
    pub fn push(&mut self, record: Record) {
        self.pending.push(record);
    }

    /// No packet older than `now` will be pushed any more: what is older is written.
    pub fn settle(&mut self, now: Time) -> Result<(), CaptureError> {
        self.pending.sort_by_key(|record| record.time);
        let ready = self.pending.partition_point(|record| record.time < now);
        let mut pending = core::mem::take(&mut self.pending);
        let written = pending.drain(..ready).try_for_each(|record| self.write(&record));
        self.pending = pending;
        written
    }

    /// Writes what is left and gives the file its name. Returns how many packets there are.
    pub fn finish(mut self) -> Result<u64, CaptureError> {
        self.settle(Time::NEVER)?;
        let Self { path, file, packets, .. } = self;
        let put = || file.0.into_inner().into_inner().map_err(|error| error.into_error())?.finish();
        put().map_err(|source| CaptureError::Write { path: path.clone(), source })?;
        Ok(packets)
    }

    /// A real packet was seen at a moment of the calendar: it is written at once. Whoever uses this pushes nothing.
    pub fn write_seen(
        &mut self,
        interface: u32,
        at: Stamp,
        direction: Direction,
        packet: &[u8],
    ) -> Result<(), CaptureError> {
        let kept = &packet[..packet.len().min(self.snaplen)];
        let time = Duration::from_nanos(at.0);
        put(&mut self.file, interface, time, direction, packet.len(), kept)
            .and_then(|()| self.pass_on(at))
            .map_err(|source| CaptureError::Write { path: self.path.clone(), source })?;
        self.packets += 1;
        Ok(())
    }

    /// Whoever reads a pipe wants to see what passes, not what passed when a buffer was full.
    fn pass_on(&mut self, now: Stamp) -> io::Result<()> {
        if now.since(self.flushed) < FLUSHED_EVERY {
            return Ok(());
        }
        self.flushed = now;
        self.file.0.get_mut().flush()
    }

    fn write(&mut self, record: &Record) -> Result<(), CaptureError> {
        let bytes = &mut self.bytes;
        bytes.clear();
        let ip = Ip { ecn: record.segment.ecn, ..Ip::new(record.addresses) };
        codec::encode_packet(&record.segment, record.ports, &ip, record.layout, Body::Virtual, bytes)
            .map_err(|source| CaptureError::Packet { time: record.time, source })?;
        if record.checksum == Checksum::Wrong {
            let tcp = match record.addresses {
                Addresses::V4 { .. } => 20,
                Addresses::V6 { .. } => 40,
            };
            // Another checksum than the right one, also in the arithmetic in which 0 and ffff are the same.
            bytes[tcp + CHECKSUM] ^= 0x01;
        }
        let whole = bytes.len() + record.segment.payload.len as usize;
        bytes.resize(whole.min(self.snaplen), 0);
        let time = Duration::from_secs(EPOCH_S) + Duration::from_nanos(record.time.as_ps() / 1000);
        put(&mut self.file, record.interface, time, record.direction, whole, bytes)
            .map_err(|source| CaptureError::Write { path: self.path.clone(), source })?;
        self.packets += 1;
        Ok(())
    }
}

/// Writes one packet: `kept` are the first of its `whole` octets, `time` counts from 1970.
fn put(
    file: &mut Output,
    interface: u32,
    time: Duration,
    direction: Direction,
    whole: usize,
    kept: &[u8],
) -> io::Result<()> {
    let block = EnhancedPacketBlock {
        interface_id: interface,
        timestamp: time,
        original_len: whole as u32,
        data: Cow::Borrowed(kept),
        options: vec![EnhancedPacketOption::Flags(match direction {
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        })],
    };
    file.0.write_pcapng_block(block).map(drop).map_err(plain)
}

fn section(setup: &Setup) -> SectionHeaderBlock<'_> {
    let mut options = vec![SectionHeaderOption::UserApplication(setup.application.as_str().into())];
    if !setup.comment.is_empty() {
        options.push(SectionHeaderOption::Common(CommonOption::Comment(setup.comment.as_str().into())));
    }
    SectionHeaderBlock { options, ..SectionHeaderBlock::default() }
}

fn describe(interface: &Interface, snaplen: Option<u32>) -> InterfaceDescriptionBlock<'_> {
    let mut options = vec![
        InterfaceDescriptionOption::IfName(interface.name.as_str().into()),
        InterfaceDescriptionOption::IfTsResol(InterfaceTsResolution::NANO),
    ];
    if !interface.description.is_empty() {
        options.push(InterfaceDescriptionOption::IfDescription(interface.description.as_str().into()));
    }
    if let Some(speed) = interface.speed {
        options.push(InterfaceDescriptionOption::IfSpeed(speed));
    }
    InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: snaplen.unwrap_or(ANY_LENGTH), options }
}

fn names(hosts: &[Host]) -> NameResolutionBlock<'_> {
    let records = hosts
        .iter()
        .filter(|host| !host.name.is_empty() && !host.name.contains('\0'))
        .map(|host| {
            NameRecord::Ipv4(Ipv4Record { ip_addr: host.address, names: vec![host.name.as_str().into()] })
        })
        .collect();
    NameResolutionBlock { records, options: Vec::new() }
}

/// What is wrong with the file; everything else about blocks is in our own hands.
fn plain(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
