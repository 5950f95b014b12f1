//! What passes at a device, into a file that Wireshark reads.

use crate::tun::{Shape, complete_checksum};
use netspurt_trace::Stamp;
use netspurt_trace::capture::{CaptureError, CaptureWriter, Direction, Interface, Setup};
use nix::time::{ClockId, clock_gettime};
use std::path::Path;

/// A capture that is being written. A super-segment stands there whole, as tcpdump shows it; checksums are completed.
#[derive(Debug)]
pub struct Capture {
    writer: CaptureWriter,
    packet: Vec<u8>,
    failed: Option<CaptureError>,
}

impl Capture {
    /// Begins a capture of the device of this name.
    pub fn create(path: &Path, device: &str) -> Result<Self, CaptureError> {
        let interfaces = vec![Interface { name: device.to_owned(), ..Interface::default() }];
        let application = format!("netspurt {}", env!("CARGO_PKG_VERSION"));
        let setup = Setup { application, interfaces, ..Setup::default() };
        Ok(Self { writer: CaptureWriter::create(path, &setup)?, packet: Vec::new(), failed: None })
    }

    /// A packet passes, in parts. A file that cannot be written to is told of at the end: traffic goes on.
    pub(super) fn note(&mut self, direction: Direction, shape: &Shape, parts: &[&[u8]]) {
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

    /// Ends the capture; how many packets it holds.
    pub fn finish(self) -> Result<u64, CaptureError> {
        self.failed.map_or_else(|| self.writer.finish(), Err)
    }
}

fn wall() -> Stamp {
    let now = clock_gettime(ClockId::CLOCK_REALTIME).unwrap_or_else(|_| std::time::Duration::ZERO.into());
    let (seconds, nanoseconds) = (now.tv_sec().unsigned_abs(), now.tv_nsec().unsigned_abs());
    Stamp(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
}
