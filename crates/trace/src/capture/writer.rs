//! Writes segments to a pcapng file.

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

/// Time zero of a simulation in a capture: 2000-01-01 00:00:00 UTC, in seconds since 1970.
///
/// A simulation has no date, but tools display one. At this origin, the displayed time of day is the simulation time.
/// Zero is not used because some tools treat it as a missing time.
pub const EPOCH_S: u64 = 946_684_800;

/// Live packets are flushed to the system at most this long after their capture, if another packet follows.
const FLUSHED_EVERY: Span = Span::from_ms(100);

/// No limit. Zero means the same, but some tools do not support it.
const ANY_LENGTH: u32 = 262_144;

/// Offset of the checksum in a TCP header.
const CHECKSUM: usize = 16;

/// A capture point.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// The interface name that tools show.
    pub name: String,
    /// Description of the place.
    pub description: String,
    /// Bits per second, if limited.
    pub speed: Option<u64>,
}

/// A host name, for tools that show names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its name.
    pub name: String,
}

/// The header of a capture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// The program that writes it.
    pub application: String,
    /// A comment about its content.
    pub comment: String,
    /// The capture points. Records refer to them by index.
    pub interfaces: Vec<Interface>,
    /// Host names.
    pub hosts: Vec<Host>,
    /// Maximum of captured bytes per packet; `None` for no limit.
    pub snaplen: Option<u32>,
}

/// Direction of a packet through an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To the host or router.
    Inbound,
    /// From the host or router.
    Outbound,
}

/// Whether the checksum of a packet is correct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// It is correct.
    Right,
    /// It is wrong, because the packet was damaged.
    Wrong,
}

/// A captured packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Time of capture.
    pub time: Time,
    /// Capture point: an index into [`Setup::interfaces`].
    pub interface: u32,
    /// Its direction.
    pub direction: Direction,
    /// Source and destination addresses.
    pub addresses: Addresses,
    /// The ports.
    pub ports: Ports,
    /// The encoding of options without assigned numbers.
    pub layout: Layout,
    /// Whether the checksum is correct.
    pub checksum: Checksum,
    /// The segment. Its payload is written as zeros.
    pub segment: Segment,
}

/// Why a capture cannot be written.
#[derive(thiserror::Error, Debug)]
pub enum CaptureError {
    /// The file cannot be written.
    #[error("cannot write the capture {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A segment cannot be encoded.
    #[error("a packet sent at {} s cannot be captured: {source}", time.as_secs_f64())]
    Packet {
        /// Time of capture.
        time: Time,
        /// The encoder's error.
        source: EncodeError,
    },
}

/// Writes a capture.
///
/// Call [`CaptureWriter::create`], any number of [`CaptureWriter::push`] with a [`CaptureWriter::settle`] at intervals,
/// then [`CaptureWriter::finish`]. Packets may be pushed in any order if none is older than the time last settled. The
/// file holds them in order of time, and of pushing where times are equal. An existing file of that name stays until
/// `finish`, so the file is always complete. Output to a pipe or a device appears immediately.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    file: Output,
    snaplen: usize,
    pending: Vec<Record>,
    packets: u64,
    /// Buffer for the packet that is written.
    bytes: Vec<u8>,
    /// When a live packet was last flushed.
    flushed: Stamp,
}

/// A wrapper because `PcapNgWriter` does not implement `Debug`.
struct Output(PcapNgWriter<BufWriter<Destination>>);

impl core::fmt::Debug for Output {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.get_ref().get_ref().fmt(f)
    }
}

impl CaptureWriter {
    /// Starts a capture named `path`. Fails now if it cannot be written there.
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

    /// Adds a packet.
    pub fn push(&mut self, record: Record) {
        self.pending.push(record);
    }

    /// Writes all packets older than `now`. The caller must not push older ones after this.
    pub fn settle(&mut self, now: Time) -> Result<(), CaptureError> {
        self.pending.sort_by_key(|record| record.time);
        let ready = self.pending.partition_point(|record| record.time < now);
        let mut pending = core::mem::take(&mut self.pending);
        let written = pending.drain(..ready).try_for_each(|record| self.write(&record));
        self.pending = pending;
        written
    }

    /// Writes the remaining packets and renames the file to its name. Returns the number of packets.
    pub fn finish(mut self) -> Result<u64, CaptureError> {
        self.settle(Time::NEVER)?;
        let Self { path, file, packets, .. } = self;
        let put = || file.0.into_inner().into_inner().map_err(|error| error.into_error())?.finish();
        put().map_err(|source| CaptureError::Write { path: path.clone(), source })?;
        Ok(packets)
    }

    /// Writes a live packet immediately. Must not be combined with `push`.
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

    /// Flushes at intervals, so that a reader of a pipe sees packets when they are captured.
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
            // Differs from the correct checksum also in one's-complement arithmetic, where 0 and ffff are equal.
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

/// Writes a packet: `kept` are the first of its `whole` bytes; `time` counts from 1970.
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

/// Returns the I/O error. The other errors are about blocks, which this code creates correctly.
fn plain(error: PcapNgWriteError) -> io::Error {
    match error {
        PcapNgWriteError::Io(error) => error,
        other => io::Error::other(other),
    }
}
