//! Writes segments to a pcapng file.

use super::destination::Destination;
use crate::Stamp;
use crate::capture::format::blocks::{self, Captured, Output};
use crate::capture::headers::datagram;
use netspurt_tcp::codec::{self, Addresses, Body, EncodeError, Ip, Ports};
use netspurt_tcp::options::Layout;
use netspurt_tcp::segment::Segment;
use netspurt_tcp::time::{Span, Time};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// Time zero of a simulation in a capture: 2000-01-01 00:00:00 UTC, in seconds since 1970.
///
/// A simulation has no date, but tools display one. At this origin, the displayed time of day is the simulation time.
/// Zero is not used because some tools treat it as a missing time.
pub const EPOCH_S: u64 = 946_684_800;

/// The time of a simulation on the clock of its capture.
pub const fn simulated(at: Time) -> Stamp {
    Stamp(EPOCH_S * 1_000_000_000 + at.as_ps() / 1000)
}

/// Live packets are flushed to the system at most this long after their capture, if another packet follows.
const FLUSHED_EVERY: Span = Span::from_ms(100);

/// No limit. Zero means the same, but some tools do not support it.
const ANY_LENGTH: u32 = 262_144;

/// Packets begin with their IP header (LINKTYPE_RAW).
const RAW: u16 = 101;

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
    /// Comments, in order of time. Each stands on the first packet captured at its time or later.
    pub remarks: Vec<(Stamp, String)>,
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
    /// Whether it is a UDP datagram. Of the segment only the payload's length and the ECN field count then.
    pub datagram: bool,
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
    /// Comments of packets to come.
    remarks: VecDeque<(Stamp, String)>,
    /// Buffer for the packet that is written.
    bytes: Vec<u8>,
    /// Buffer for its block.
    body: Vec<u8>,
    /// When a live packet was last flushed.
    flushed: Stamp,
}

impl CaptureWriter {
    /// Starts a capture named `path`. Fails now if it cannot be written there.
    pub fn create(path: &Path, setup: &Setup) -> Result<Self, CaptureError> {
        Self::begin(path, setup).map_err(|source| CaptureError::Write { path: path.to_owned(), source })
    }

    fn begin(path: &Path, setup: &Setup) -> io::Result<Self> {
        let mut file = blocks::begin(Destination::open(path)?, &setup.application, &setup.comment)?;
        let snaplen = setup.snaplen.unwrap_or(ANY_LENGTH);
        for at in &setup.interfaces {
            blocks::interface(&mut file, RAW, snaplen, &at.name, &at.description, at.speed)?;
        }
        if !setup.hosts.is_empty() {
            let named = setup.hosts.iter().filter(|host| !host.name.is_empty() && !host.name.contains('\0'));
            blocks::names(&mut file, named.map(|host| (host.address, &*host.name)))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            snaplen: setup.snaplen.filter(|&len| len > 0).map_or(usize::MAX, |len| len as usize),
            pending: Vec::new(),
            packets: 0,
            remarks: setup.remarks.iter().cloned().collect(),
            bytes: Vec::new(),
            body: Vec::new(),
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
        let put = || file.into_inner().map_err(|error| error.into_error())?.finish();
        put().map_err(|source| CaptureError::Write { path: path.clone(), source })?;
        Ok(packets)
    }

    /// Replaces the comments of packets to come. A live capture knows their times only when its clock has started.
    pub fn set_remarks(&mut self, remarks: Vec<(Stamp, String)>) {
        self.remarks = remarks.into();
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
        let comment = self.remark(at);
        let captured = Captured {
            interface,
            at_ns: at.0,
            bytes: kept,
            whole: packet.len() as u32,
            flags: Some(flags(direction)),
            comment: comment.as_deref(),
        };
        blocks::packet(&mut self.file, &mut self.body, captured)
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
        self.file.flush()
    }

    fn write(&mut self, record: &Record) -> Result<(), CaptureError> {
        let bytes = &mut self.bytes;
        bytes.clear();
        if record.datagram {
            let Record { addresses, ports, segment, .. } = record;
            let damaged = record.checksum == Checksum::Wrong;
            let len = segment.payload.len;
            if !datagram::encode(*addresses, *ports, segment.ecn, len, damaged, bytes) {
                let source = EncodeError::Length { len: u64::from(len) };
                return Err(CaptureError::Packet { time: record.time, source });
            }
            return self.put(record);
        }
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
        self.put(record)
    }

    /// The comment on a packet of this time: all that came due since the last one.
    fn remark(&mut self, now: Stamp) -> Option<String> {
        let mut due = String::new();
        while let Some((_, text)) = self.remarks.pop_front_if(|(time, _)| *time <= now) {
            due += if due.is_empty() { "" } else { "; " };
            due += &text;
        }
        (!due.is_empty()).then_some(due)
    }

    /// Writes the block of a packet whose headers are in the buffer.
    fn put(&mut self, record: &Record) -> Result<(), CaptureError> {
        let at = simulated(record.time);
        let comment = self.remark(at);
        let bytes = &mut self.bytes;
        let whole = bytes.len() + record.segment.payload.len as usize;
        bytes.resize(whole.min(self.snaplen), 0);
        let captured = Captured {
            interface: record.interface,
            at_ns: at.0,
            bytes,
            whole: whole as u32,
            flags: Some(flags(record.direction)),
            comment: comment.as_deref(),
        };
        blocks::packet(&mut self.file, &mut self.body, captured)
            .map_err(|source| CaptureError::Write { path: self.path.clone(), source })?;
        self.packets += 1;
        Ok(())
    }
}

/// The direction in the flags of a packet.
const fn flags(direction: Direction) -> u32 {
    match direction {
        Direction::Inbound => 1,
        Direction::Outbound => 2,
    }
}
