//! Captures the packets of a device to a file.

use crate::tun::{Shape, complete_checksum};
use netspurt_trace::Stamp;
use netspurt_trace::capture::{CaptureError, CaptureWriter, Direction, Interface, Setup};
use nix::time::{ClockId, clock_gettime};
use std::path::Path;

/// A capture that is being written. As in tcpdump, super-segments are not divided; checksums are completed.
#[derive(Debug)]
pub struct Capture {
    writer: CaptureWriter,
    packet: Vec<u8>,
    failed: Option<CaptureError>,
}

impl Capture {
    /// Starts a capture of the device with this name.
    pub fn create(path: &Path, device: &str) -> Result<Self, CaptureError> {
        let interfaces = vec![Interface { name: device.to_owned(), ..Interface::default() }];
        let application = format!("netspurt {}", env!("CARGO_PKG_VERSION"));
        let setup = Setup { application, interfaces, ..Setup::default() };
        Ok(Self { writer: CaptureWriter::create(path, &setup)?, packet: Vec::new(), failed: None })
    }

    /// Writes a packet, given in parts. A write error is reported at the end, because the traffic continues.
    pub(in crate::host) fn note(&mut self, direction: Direction, shape: &Shape, parts: &[&[u8]]) {
        if self.failed.is_some() {
            return;
        }
        self.packet.clear();
        for part in parts {
            self.packet.extend_from_slice(part);
        }
        complete_checksum(&mut self.packet, shape);
        self.failed = self.writer.write_seen(0, wall(), direction, &self.packet).err();
    }

    /// Completes the capture. Returns the number of packets.
    pub fn finish(self) -> Result<u64, CaptureError> {
        self.failed.map_or_else(|| self.writer.finish(), Err)
    }
}

fn wall() -> Stamp {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).unwrap_or_else(|_| std::time::Duration::ZERO.into());
    let (seconds, nanoseconds) = (now.tv_sec().unsigned_abs(), now.tv_nsec().unsigned_abs());
    Stamp(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
}
